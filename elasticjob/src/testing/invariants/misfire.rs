//! A fire that fell into a running one is made up for, itself or by a later one, when misfire is on. Nothing else is a
//! misfire, and none is run when misfire is off.

use std::collections::{BTreeMap, BTreeSet};

use super::{Observation, Scene};
use crate::engine::{Notice, ShardingData};
use crate::fire::{ExecutionSource, Fire, FireRecord, SkipReason};
use crate::ident::ShardingItem;
use crate::registry::Op;
use crate::registry::layout::{ItemNode, JobPath};
use crate::sharding::SINGLE_SHARDING_BALANCE;
use crate::testing::sim::{EPOCH, Millis};

/// How long a switch of the setting needs to reach all instances, with the longest run that began before.
const SWITCHED: Millis = 40_000;

/// How soon after the run before a missed fire is made up for, with the writing of both, in milliseconds.
const MOMENT: i64 = 2_500;

#[derive(Debug, Default)]
pub(super) struct MadeUp {
    /// Fires that fell into a running one.
    missed: BTreeSet<i64>,
    /// Of these, items that were running, in the calm.
    owed: BTreeMap<ShardingItem, Owed>,
    /// Items of a mixed group that were ever marked as misfired: Java tells no fire with the mark, and leaves marks there
    /// that are settled, so what is made up for is the last fire.
    marked: BTreeSet<ShardingItem>,
    /// Fires of which an instance said that a later one takes their place.
    collapsed: BTreeSet<i64>,
    /// Of the owed ones, where the run ended that they fell into, and when.
    free: BTreeMap<ShardingItem, (usize, i64)>,
    /// Fires that count as decided for an item, as a clock far ahead began it.
    decided: BTreeMap<ShardingItem, Decided>,
    /// Since when it is off in the registry, in a configuration that can be used.
    off_since: Option<Millis>,
}

/// A fire that is to be made up for.
#[derive(Debug, Clone, Copy)]
struct Owed {
    at: i64,
    /// Since when nothing else came first: manual triggers do.
    since: i64,
}

/// Fires until a time, and one after it.
#[derive(Debug)]
struct Decided {
    until: i64,
    begun: i64,
}

impl Decided {
    fn contains(&self, at: &i64) -> bool {
        *at <= self.until || *at == self.begun
    }
}

impl MadeUp {
    /// An instance that is gone began an item long before the time of the fire.
    pub(super) fn begun_ahead(&mut self, item: ShardingItem, until: i64, fire: Fire) {
        self.decided.insert(item, Decided { until, begun: fire.at() });
    }

    /// A configuration was written.
    pub(super) fn configured(&mut self, now: Millis, misfire: bool) {
        self.off_since = (!misfire).then(|| self.off_since.unwrap_or(now));
    }

    /// The new configuration cannot be used: an instance that did not see the one before goes on with what it knew.
    pub(super) fn misconfigured(&mut self) {
        self.off_since = None;
    }

    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        match observation {
            Observation::Committing { host: Some(_), transaction, .. } if scene.is_mixed() => {
                for op in transaction.ops() {
                    if let (Op::Create { .. }, Some(JobPath::Item(item, ItemNode::Misfire))) =
                        (op, JobPath::parse(scene.job, op.path()))
                    {
                        self.marked.insert(item);
                    }
                }
                Ok(())
            }
            Observation::Notice {
                host,
                notice:
                    Notice::Skipped {
                        fire: Fire::Scheduled(at),
                        items,
                        reason:
                            SkipReason::StillRunning { .. }
                            | SkipReason::BeginUnknown
                            | SkipReason::RunsElsewhere { .. }
                            | SkipReason::AwaitingFailover,
                    },
            } => {
                self.missed.insert(*at);
                if scene.calm && scene.shape.misfire {
                    let running = scene.hosts[*host].process.iter().flat_map(|process| process.executions.keys());
                    let items: Vec<ShardingItem> =
                        if items.is_empty() { running.copied().collect() } else { items.clone() };
                    // By a clock that is ahead, an item was begun for the fire before it moved to where that comes now.
                    let is_begun = |item: &ShardingItem| {
                        let record = scene.data(&JobPath::fire(*item));
                        record.is_some_and(|data| FireRecord::parse(&data).covers(Fire::Scheduled(*at)))
                    };
                    let is_decided = |item: &ShardingItem| {
                        is_begun(item) || self.decided.get(item).is_some_and(|fires| fires.contains(at))
                    };
                    // Items that are made again count as begun for what a clock ahead began of removed ones.
                    let of_removed = scene.data(&JobPath::Sharding).map(|data| ShardingData::parse(&data).removed);
                    if of_removed.is_some_and(|mark| mark.ahead == Some(*at)) {
                        return Ok(());
                    }
                    for item in items.into_iter().filter(|item| *item < scene.total && !is_decided(item)) {
                        self.owed.entry(item).or_insert(Owed { at: *at, since: *at });
                    }
                }
                Ok(())
            }
            // The clock leapt over it, back into a run of the same fire: an item that is added then is begun for it too.
            Observation::Notice { notice: Notice::Missed { until, .. }, .. } => {
                self.missed.insert(*until);
                Ok(())
            }
            // The last of the items of a fire that takes several transactions: the next fire came before theirs, and waits for
            // the others.
            Observation::Notice {
                notice: Notice::Skipped { items, reason: SkipReason::NotBegunInTime, .. }, ..
            } => {
                self.free.retain(|item, _| !items.contains(item));
                Ok(())
            }
            Observation::Notice { notice: Notice::Collapsed { earlier, .. }, .. } => {
                self.collapsed.insert(*earlier);
                Ok(())
            }
            // With each fire an item may move on, and come back.
            Observation::Notice { host, notice: Notice::Finished { items, .. } }
                if scene.shape.strategy != SINGLE_SHARDING_BALANCE =>
            {
                // A Java peer may run it meanwhile. What was taken over ends beside a run that goes on.
                let is_busy = scene.hosts[*host].process.as_ref().is_some_and(|process| !process.executions.is_empty());
                let runs = |item: ShardingItem| is_busy || scene.text(&JobPath::running(item)).is_some();
                for (item, _) in items.iter().filter(|(item, _)| self.owed.contains_key(item) && !runs(*item)) {
                    self.free.insert(*item, (*host, EPOCH + scene.now as i64));
                }
                Ok(())
            }
            // They go on for as long as they like, and no instance runs these items meanwhile.
            Observation::Notice { notice: Notice::RunsAbandoned { items, .. }, .. } => {
                self.owed.retain(|item, _| !items.contains(item));
                Ok(())
            }
            // Items move, and come back.
            Observation::Notice { notice: Notice::Left | Notice::Resharded { .. }, .. } => {
                self.free.clear();
                Ok(())
            }
            Observation::Started { host, item, fire: Fire::Manual { .. }, .. } => {
                self.free.retain(|_, (by, _)| by != host);
                if let Some(owed) = self.owed.get_mut(item) {
                    owed.since = EPOCH + scene.now as i64;
                }
                Ok(())
            }
            Observation::Started { host, item, fire: Fire::Scheduled(at), source, .. } => {
                // The instance that got the item meanwhile may have been busy.
                let free = self.free.remove(item).filter(|(by, since)| by == host && *at > since + MOMENT);
                // Of several the last counts, and that was begun before its time.
                let is_early = |owed: &Owed| {
                    self.decided.get(item).is_some_and(|fires| owed.at < fires.begun && fires.begun < *at)
                };
                let owed = self.owed.get(item).filter(|owed| !is_early(owed));
                if let (Some((_, since)), Some(owed), true) = (free, owed, scene.shape.misfire) {
                    return Err(format!(
                        "host {host} was free from {since} on and left the fire at {} of item {item} out",
                        owed.at
                    ));
                }
                if let Some(owed) = self.owed.get(item).copied().filter(|owed| owed.at <= *at) {
                    self.owed.remove(item);
                    let is_silent = owed.at < *at && !self.collapsed.contains(&owed.at);
                    if is_silent && scene.shape.misfire && scene.shape.monitored && !scene.is_mixed() {
                        return Err(format!(
                            "host {host} begins item {item} of the fire at {at} in the place of the one at {}, and nobody said so",
                            owed.at
                        ));
                    }
                }
                let by_java = self.marked.contains(item);
                if *source != ExecutionSource::Misfire {
                    return Ok(());
                }
                if by_java {
                    self.missed.insert(*at);
                }
                if !self.missed.contains(at) {
                    return Err(format!(
                        "host {host} makes up for the fire at {at} of item {item}, which nobody missed"
                    ));
                }
                match self.off_since.filter(|since| scene.now > since + SWITCHED) {
                    Some(_) => Err(format!("host {host} makes up for the fire at {at} although misfire is off")),
                    None => Ok(()),
                }
            }
            Observation::Calm { until, .. } => {
                // The last ones still have the time that the longest round takes, and one for a trigger after it.
                let due = until - 2 * scene.shape.longest_round() as i64 - MOMENT;
                // A Java instance that takes an item over may be busy with another one for as long as it likes.
                let is_taken = |item: &ShardingItem| {
                    let taker = scene.text(&JobPath::Item(*item, ItemNode::Failover));
                    taker.is_some_and(|taker| scene.java_ids.contains(&taker))
                };
                match self.owed.iter().find(|(item, owed)| owed.since < due && !is_taken(item)) {
                    Some((item, owed)) => Err(format!("nobody made up for the fire at {} of item {item}", owed.at)),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}
