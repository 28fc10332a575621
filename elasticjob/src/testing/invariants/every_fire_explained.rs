//! Every item of every scheduled fire is begun, or an instance says why not. While there are faults that is asked of each
//! item by itself: its owner was well for long enough before the next fire came, see [`duty`](super::duty). Without faults
//! it must have been begun.
//!
//! Beside Java instances it holds once the faults are over. What Java leaves out of a fire that is its own, and says so
//! in the model, is accounted for: its only worker was busy, or the item was marked, disabled or taken over.

mod account;
mod evidence;
mod reasons;

use std::collections::{BTreeMap, BTreeSet};

use self::reasons::{is_accepted, is_good, is_run};
use super::duty::{Cause, Due, Duties, engine_of};
use super::fates::Fates;
use super::static_sharding::Kept;
use super::{Observation, Scene};
use crate::config::wire;
use crate::engine::Notice;
use crate::fire::{Fire, FireState, RunKey, SkipReason};
use crate::ident::ShardingItem;
use crate::registry::SessionId;
use crate::registry::layout::JobPath;
use crate::testing::sim::{EPOCH, Millis, Program};

#[derive(Debug)]
pub(super) struct Accounted {
    /// From when there is a fire every so many milliseconds, of so many items.
    schedules: BTreeMap<i64, (i64, u32)>,
    duties: Duties,
    /// What became of them.
    fates: Fates,
    begun: BTreeMap<i64, BTreeSet<ShardingItem>>,
    begun_ahead: Vec<BegunAhead>,
    /// What the records said last of the runs of scheduled fires; a later run of the item takes their place.
    recorded: BTreeMap<(i64, ShardingItem), Recorded>,
    /// Fires that fell into a run that went on, or that waited to be taken over, where misfire is off for the instance.
    fell_into_run: BTreeSet<(i64, ShardingItem)>,
    /// Fires that fell into the run of a trigger that waited to be taken over: an instance that leaves hands its triggers
    /// over, also where there is no fault.
    fell_into_trigger: BTreeSet<(i64, ShardingItem)>,
    /// Items left out as a Java instance may have run them: an operator deleted the node of their owner, as Java leaders do.
    left_to_java: BTreeSet<(i64, ShardingItem)>,
    /// Fires that instances decided against for all their items, by their settings of that time.
    decided_against: BTreeMap<(usize, i64), Cause>,
    /// The fires that records say were decided against so.
    declined: BTreeMap<(i64, ShardingItem), Cause>,
    /// Skipped items of a fire, all when there are none.
    skipped: BTreeMap<i64, Vec<(Vec<ShardingItem>, SkipReason)>>,
    /// The items of instances that skipped a fire as a whole, for a reason that a user accepts.
    left_as_a_whole: BTreeMap<i64, BTreeSet<ShardingItem>>,
    /// Items that a Java instance leaves out of a fire.
    left_out: BTreeMap<i64, BTreeSet<ShardingItem>>,
    /// Beside Java instances: the owner of each item and since when, in milliseconds since 1970.
    owners: BTreeMap<ShardingItem, BTreeMap<i64, String>>,
    incidents: BTreeSet<i64>,
    calm_from: i64,
    until: i64,
    /// The leader in the calm.
    leader: String,
    /// Java instances that never heard of the last cron expression: one that reconnects at the wrong moment misses it.
    out_of_date: BTreeSet<String>,
}

/// What a record said last of a run.
#[derive(Debug)]
struct Recorded {
    state: FireState,
    session: Option<SessionId>,
    /// It began, or was cut off, with failover on for the instance that wrote it: then it is taken over.
    is_taken_over: bool,
    /// An operator cancelled it, which may have come before it was started.
    is_cancelled: bool,
}

/// What an instance ran before its time, by a clock that was ahead.
#[derive(Debug)]
struct BegunAhead {
    at: i64,
    /// Until then a right clock may have begun what the record of the item covers.
    until: i64,
    /// The item, and those that were created again since it was removed.
    items: BTreeSet<ShardingItem>,
}

impl BegunAhead {
    fn covers(&self, item: ShardingItem, at: i64) -> bool {
        self.items.contains(&item) && (at <= self.until || at == self.at)
    }
}

impl Accounted {
    pub(super) fn new(period: u32, total: u32) -> Self {
        Self {
            schedules: BTreeMap::from([(0, (i64::from(period) * 1_000, total))]),
            duties: Duties::default(),
            fates: Fates::default(),
            begun: BTreeMap::new(),
            begun_ahead: Vec::new(),
            recorded: BTreeMap::new(),
            fell_into_run: BTreeSet::new(),
            fell_into_trigger: BTreeSet::new(),
            left_to_java: BTreeSet::new(),
            decided_against: BTreeMap::new(),
            declined: BTreeMap::new(),
            skipped: BTreeMap::new(),
            left_as_a_whole: BTreeMap::new(),
            left_out: BTreeMap::new(),
            owners: BTreeMap::new(),
            incidents: BTreeSet::new(),
            calm_from: i64::MAX,
            until: 0,
            leader: String::new(),
            out_of_date: BTreeSet::new(),
        }
    }

    pub(super) fn scheduled(&mut self, now: Millis, period: u32, total: u32, decides_anew: bool) {
        self.schedules.insert(EPOCH + now as i64, (i64::from(period) * 1_000, total));
        self.duties.configured(decides_anew);
    }

    pub(super) fn damaged(&mut self, now: Millis) {
        self.duties.damaged(now);
    }

    pub(super) fn fates(&self) -> &Fates {
        &self.fates
    }

    pub(super) fn incident(&mut self, wall: i64) {
        self.incidents.insert(wall);
    }

    /// An instance that is gone ran it.
    pub(super) fn begun_ahead(&mut self, item: ShardingItem, until: i64, fire: Fire) {
        self.begun_ahead.push(BegunAhead { at: fire.at(), until, items: BTreeSet::from([item]) });
    }

    pub(super) fn check(
        &mut self,
        scene: &Scene<'_>,
        observation: &Observation<'_>,
        kept: &Kept,
    ) -> Result<(), String> {
        match observation {
            Observation::Started { item, fire: Fire::Scheduled(at), .. } => {
                self.begun.entry(*at).or_default().insert(*item);
            }
            // They may wait for listeners before they start.
            Observation::Notice {
                notice: Notice::Begun { key: RunKey { fire: Fire::Scheduled(at), .. }, items, .. },
                ..
            } => {
                self.begun.entry(*at).or_default().extend(items);
            }
            Observation::Passed { latency, lagging } if !scene.is_mixed() && !scene.calm => {
                for due in self.duties.look(scene, *latency, *lagging) {
                    self.demand(scene, &due)?;
                }
            }
            // The answer to its begin may have been lost with the instance: it has begun by its record, and that is over.
            Observation::Notice { notice: Notice::LostAfterCancel { fire: Fire::Scheduled(at), item, .. }, .. } => {
                self.begun.entry(*at).or_default().insert(*item);
            }
            Observation::Notice { host, notice: Notice::Skipped { fire: Fire::Scheduled(at), items, reason } } => {
                if items.is_empty() && is_accepted(reason) {
                    self.left_as_a_whole.entry(*at).or_default().extend(owned_on(scene, *host));
                }
                self.note_decision(scene, *host, *at, items, reason);
                self.skipped.entry(*at).or_default().push((items.clone(), reason.clone()));
            }
            // Starting and leaving is no fault where the record tells which instance begins what.
            Observation::Notice { notice: Notice::Registered { .. } | Notice::Left, .. } if !scene.shape.monitored => {
                self.incident(EPOCH + scene.now as i64);
            }
            // No instance is there to say anything.
            Observation::Notice { notice: Notice::Left, .. } if scene.children(&JobPath::Instances).is_empty() => {
                self.incident(EPOCH + scene.now as i64);
            }
            Observation::LeftOut { instance, fires, items } => {
                for fire in *fires {
                    let then = self.owned_by(&instance.to_string(), *fire);
                    self.left_out.entry(*fire).or_default().extend(items.iter().copied().chain(then));
                }
            }
            Observation::Committed { transaction, .. } if scene.is_mixed() => self.note_owners(scene, transaction),
            Observation::Committed { transaction, host, .. } => {
                self.note_records(scene, *host, transaction);
                self.note_marks(scene, transaction);
            }
            Observation::Calm { from, until } => {
                (self.calm_from, self.until) = (*from, *until);
                self.leader = scene.text(&JobPath::LeaderInstance).unwrap_or_default();
                self.out_of_date = out_of_date(scene);
            }
            Observation::Over => return self.settle(scene, kept),
            _ => {}
        }
        Ok(())
    }

    fn owned_by(&self, instance: &str, at: i64) -> Vec<ShardingItem> {
        let owner = |owners: &BTreeMap<i64, String>| {
            owners.range(..=at).next_back().is_some_and(|(_, owner)| owner == instance)
        };
        self.owners.iter().filter(|(_, owners)| owner(owners)).map(|(item, _)| *item).collect()
    }

    /// The owner of an item was well for as long as it takes to begin it.
    fn demand(&mut self, scene: &Scene<'_>, due: &Due) -> Result<(), String> {
        let Due { item, at, owner, since } = due;
        // By a clock that was ahead a later one may have been begun, or decided against.
        let is_begun_later = self.begun.range(at..).any(|(_, items)| items.contains(item));
        // What fell into a run is made up for with misfire on, and the run is over by now.
        let is_made_up = scene.shape.monitored && scene.shape.misfire;
        let is_reason = |reason: &SkipReason| is_good(reason) && !(is_made_up && is_run(reason));
        let said = self.skipped.range(at..).flat_map(|(_, said)| said);
        let mut said = said.filter(|(items, reason)| (items.is_empty() || items.contains(item)) && is_reason(reason));
        if is_begun_later || self.is_begun(*item, *at) || said.next().is_some() {
            return Ok(());
        }
        if let Some(cause) = self.why_decided(scene, *item, *at) {
            self.duties.excuse(*at, *item, cause);
            return Ok(());
        }
        Err(format!(
            "item {item} of the fire at {} ({at}) is not begun at {}, and its owner on host {owner} is well since {since}; \
             skips: {:?}",
            at - EPOCH,
            scene.now,
            self.skipped.get(at)
        ))
    }
}

/// The items of the engine on a host. Beside Java instances all, as Java leaders delete all owners for a moment.
fn owned_on(scene: &Scene<'_>, host: usize) -> Vec<ShardingItem> {
    let engine = scene.hosts[host].process.as_ref().and_then(engine_of);
    let owner = engine.map(|engine| engine.instance().to_string());
    let is_owned = |item: &ShardingItem| scene.is_mixed() || scene.text(&JobPath::owner_of(*item)) == owner;
    (0..scene.total).filter(is_owned).collect()
}

/// Java instances that follow another cron expression than that of the registry.
fn out_of_date(scene: &Scene<'_>) -> BTreeSet<String> {
    let data = scene.text(&JobPath::Config).unwrap_or_default();
    let configuration = wire::from_yaml(scene.job, data.as_bytes()).ok();
    let Some(schedule) = configuration.as_ref().and_then(|configuration| configuration.schedule()) else {
        return BTreeSet::new();
    };
    let java = scene.hosts.iter().filter_map(|host| match &host.process.as_ref()?.program {
        Program::Java(java) if java.differs(schedule.cron().as_str()) => Some(java.id().to_string()),
        _ => None,
    });
    java.collect()
}
