//! Every item of every scheduled fire is begun, or an instance says why not. While there are faults that is asked of each
//! item by itself: its owner was well for long enough before the next fire came, see [`duty`](super::duty). Without faults
//! it must have been begun.
//!
//! Beside Java instances it holds once the faults are over. What Java leaves out of a fire that is its own, and says so
//! in the model, is accounted for: its only worker was busy, or the item was marked, disabled or taken over.

use std::collections::{BTreeMap, BTreeSet};

use super::duty::{Cause, Due, Duties, engine_of};
use super::fates::{Fate, Fates};
use super::static_sharding::Kept;
use super::{Observation, Scene};
use crate::config::wire;
use crate::engine::Notice;
use crate::fire::{Fire, FireRecord, FireState, RunKey, SkipReason};
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, Op, SessionId, Transaction};
use crate::testing::sim::{EPOCH, Host, Millis, Program};

/// How far a fault reaches, in milliseconds: the longest session time-out, then an election, a resharding and the wait
/// of a fire for it.
const REACH: i64 = 25_000;
/// The excuse of an item that only another instance than its owner skipped, with the whole fire.
const SKIPPED_BY_ANOTHER: &str = "skipped_by_another";
/// How long an instance may take to find its place after it has registered.
const JOINED: i64 = 5_000;
/// When the processes of a group have all started.
const STARTED: i64 = 10_000;

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
    /// Fires that fell into a run that waited to be taken over, where misfire is off.
    fell_into_lost: BTreeSet<(i64, ShardingItem)>,
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
            fell_into_lost: BTreeSet::new(),
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

    fn note_records(&mut self, scene: &Scene<'_>, host: Option<usize>, transaction: &Transaction) {
        for op in transaction.ops() {
            let (Op::Create { path, data, .. } | Op::Set { path, data, .. }) = op else { continue };
            let Some(JobPath::Item(item, ItemNode::Fire)) = JobPath::parse(scene.job, path) else { continue };
            let record = FireRecord::parse(data);
            if let Some(host) = host
                && let Some(at) = record.through
                && let Some(cause) = self.decided_against.get(&(host, at))
            {
                self.declined.insert((at, item), *cause);
            }
            if let Some(begun) = record.last.filter(|begun| !begun.manual) {
                let (state, session) = (begun.state, begun.attempt.session());
                // What changes the record and not the run, as a missed fire does, says nothing of it.
                let before = self.recorded.get(&(begun.at, item));
                let before = before.filter(|before| (before.state, before.session) == (state, session));
                let is_taken_over =
                    keeps(scene, transaction, item) || before.is_some_and(|before| before.is_taken_over);
                self.recorded.insert((begun.at, item), Recorded { state, session, is_taken_over });
            }
        }
    }

    /// What an instance decided by misfire that was off for it, and by its server that was disabled, stays when that is
    /// switched.
    fn note_decision(&mut self, scene: &Scene<'_>, host: usize, at: i64, items: &[ShardingItem], reason: &SkipReason) {
        let engine = scene.hosts[host].process.as_ref().and_then(engine_of);
        let Some(engine) = engine.filter(|engine| engine.configuration().is_some()) else { return };
        match reason {
            SkipReason::AwaitingFailover if !engine.makes_up() => {
                let lost = items.iter().filter(|item| is_lost(scene, **item));
                self.fell_into_lost.extend(lost.map(|item| (at, *item)));
            }
            SkipReason::StillRunning { .. } if !engine.makes_up() => {
                self.decided_against.insert((host, at), Cause::Busy);
            }
            SkipReason::MaybeRunByJava => {
                let made_anew = items.iter().filter(|item| is_owner_made_anew(scene, **item));
                self.left_to_java.extend(made_anew.map(|item| (at, *item)));
            }
            SkipReason::ServerDisabled if self.duties.was_disabled(host, at) => {
                self.decided_against.insert((host, at), Cause::ServerDisabled);
            }
            _ => {}
        }
    }

    /// All items that are created again get one high-water mark: any of them may be the one that was run before its time.
    fn note_marks(&mut self, scene: &Scene<'_>, transaction: &Transaction) {
        for op in transaction.ops() {
            let Op::Create { path, data, .. } = op else { continue };
            let Some(JobPath::Item(item, ItemNode::Fire)) = JobPath::parse(scene.job, path) else { continue };
            let ahead = FireRecord::parse(data).ahead;
            self.begun_ahead.iter_mut().filter(|begun| Some(begun.at) == ahead).for_each(|begun| {
                begun.items.insert(item);
            });
        }
    }

    /// Whether an item was begun for a fire, or may have been by a clock that was ahead.
    fn is_begun(&self, item: ShardingItem, at: i64) -> bool {
        self.begun.get(&at).is_some_and(|items| items.contains(&item))
            || self.begun_ahead.iter().any(|begun| begun.covers(item, at))
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

    fn note_owners(&mut self, scene: &Scene<'_>, transaction: &Transaction) {
        for op in transaction.ops() {
            let Some(JobPath::Item(item, ItemNode::Instance)) = JobPath::parse(scene.job, op.path()) else { continue };
            // Java leaders delete all owners for a moment, before they assign the items.
            if let Some(owner) = scene.text(&JobPath::owner_of(item)) {
                self.owners.entry(item).or_default().insert(EPOCH + scene.now as i64, owner);
            }
        }
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

    /// Why an item is not begun any more for a fire that nothing excuses now.
    fn why_decided(&self, scene: &Scene<'_>, item: ShardingItem, at: i64) -> Option<Cause> {
        // By a clock that was ahead a later fire was decided against.
        let declined = self.declined.range((at, 0)..).find(|((_, of), _)| *of == item).map(|(_, cause)| *cause);
        match () {
            () if declined.is_some() => declined,
            () if self.fell_into_lost.contains(&(at, item)) => Some(Cause::Busy),
            () if self.left_to_java.contains(&(at, item)) => Some(Cause::Unheard),
            () if self.was_cut_off(scene, item, at) => Some(Cause::CutOff),
            () => None,
        }
    }

    /// Whether the record of the item said that it was begun for this fire, and the session of the instance that began it
    /// has ended, or that instance leaves and had no answer to its begin: nothing tells that from a run that was lost. With
    /// failover, then and now, it is taken over.
    fn was_cut_off(&self, scene: &Scene<'_>, item: ShardingItem, at: i64) -> bool {
        let lives = |session: SessionId| {
            let is_of = |host: &Host| host.process.as_ref().is_some_and(|process| process.session == Some(session));
            scene.tree.session_timeout(session).is_some() && scene.hosts.iter().any(is_of)
        };
        let recorded = self.recorded.get(&(at, item));
        recorded.filter(|recorded| !(recorded.is_taken_over && scene.shape.failover)).is_some_and(|recorded| {
            match recorded.state {
                FireState::Cancelled => true,
                FireState::Running => !recorded.session.is_some_and(lives),
                FireState::Succeeded | FireState::Failed | FireState::NotRun => false,
            }
        })
    }

    /// Looks at every fire between the start and the end of the calm.
    fn settle(&mut self, scene: &Scene<'_>, kept: &Kept) -> Result<(), String> {
        // With static sharding all owners may be gone before the first fire for good.
        if self.begun.is_empty() && !scene.shape.static_sharding {
            return Err("nothing ever fired".to_owned());
        }
        let last = self.until - 2_000;
        let mut at = EPOCH + STARTED;
        while at <= last {
            let (period, total) = self.schedules.range(..=at).next_back().map_or((1_000, 1), |(_, schedule)| *schedule);
            // Periods divide a minute, so fires are at their multiples.
            if at % period != 0 {
                at += period - at % period;
                continue;
            }
            self.count(scene, at, total);
            self.account(scene, at, kept)?;
            at += period;
        }
        Ok(())
    }

    /// Counts the items of a fire that were not begun, without a good reason, and that an excuse kept from being demanded.
    fn count(&mut self, scene: &Scene<'_>, at: i64, total: u32) {
        let is_calm = at >= self.calm_from;
        let is_disturbed = self.incidents.range(at - REACH..at + REACH).next().is_some();
        for item in 0..total {
            let mut said = self.skipped.get(&at).into_iter().flatten();
            let whole = self.left_as_a_whole.get(&at);
            let is_said = whole.is_some_and(|items| items.contains(&item))
                || said.any(|(items, reason)| items.contains(&item) && is_accepted(reason));
            let is_begun = self.is_begun(item, at);
            let is_demanded = if is_calm { !is_disturbed } else { self.duties.was_looked_at(at, item) };
            self.fates.count(match () {
                () if is_begun => Fate::Begun,
                () if is_said => Fate::Explained,
                // Where the item is demanded, that is taken for a reason as well.
                () if whole.is_some() => Fate::NotLookedAt(SKIPPED_BY_ANOTHER),
                () if is_demanded => Fate::Replaced,
                () if is_calm => Fate::NotLookedAt(Cause::Disturbed.name()),
                () if scene.is_mixed() => Fate::NotLookedAt(Cause::Java.name()),
                () => Fate::NotLookedAt(self.duties.cause(at, item).name()),
            });
        }
    }

    fn account(&self, scene: &Scene<'_>, at: i64, kept: &Kept) -> Result<(), String> {
        let disturbed = self.incidents.range(at - REACH..at + REACH).next().is_some();
        // Before, each item is looked at by itself.
        if disturbed || at < self.calm_from {
            return Ok(());
        }
        let excused = self.skipped.get(&at);
        for item in 0..scene.total {
            let with_reason = excused.is_some_and(|skips| {
                skips.iter().any(|(items, reason)| {
                    let meant = items.is_empty() || items.contains(&item);
                    meant && is_good(reason)
                })
            });
            let by_java = self.left_out.get(&at).is_some_and(|items| items.contains(&item));
            let by_another_schedule = || self.out_of_date.iter().any(|id| self.owned_by(id, at).contains(&item));
            if self.is_begun(item, at) || with_reason || by_java || by_another_schedule() {
                continue;
            }
            // No instance may take the owner's place; the leader says so.
            let gone = kept.was_gone(item, at - JOINED, at + REACH);
            let said = || {
                let is_that = |reason: &SkipReason| matches!(reason, SkipReason::OwnerGone { .. });
                excused
                    .is_some_and(|skips| skips.iter().any(|(items, reason)| items.contains(&item) && is_that(reason)))
            };
            // A Java leader says nothing.
            let by_java = scene.is_mixed() && scene.java_ids.contains(&self.leader);
            if !gone || (at >= self.calm_from && !said() && !by_java) {
                return Err(format!(
                    "item {item} of the fire at {} ({at}) was not begun; skips: {excused:?}",
                    at - EPOCH
                ));
            }
        }
        Ok(())
    }
}

/// The items of the engine on a host. Beside Java instances all, as Java leaders delete all owners for a moment.
fn owned_on(scene: &Scene<'_>, host: usize) -> Vec<ShardingItem> {
    let engine = scene.hosts[host].process.as_ref().and_then(engine_of);
    let owner = engine.map(|engine| engine.instance().to_string());
    let is_owned = |item: &ShardingItem| scene.is_mixed() || scene.text(&JobPath::owner_of(*item)) == owner;
    (0..scene.total).filter(is_owned).collect()
}

/// Whether a transaction begins or cuts off a run of an item so that it is taken over: with failover on.
fn keeps(scene: &Scene<'_>, transaction: &Transaction, item: ShardingItem) -> bool {
    transaction.ops().iter().any(|op| match op {
        Op::Create { path, mode, .. } => match JobPath::parse(scene.job, path) {
            Some(JobPath::Item(of, ItemNode::Running)) => of == item && *mode == CreateMode::Persistent,
            Some(JobPath::FailoverItem(of)) => of == item,
            _ => false,
        },
        _ => false,
    })
}

/// Whether the node of the owner was deleted by an operator and made again, since the record was written.
fn is_owner_made_anew(scene: &Scene<'_>, item: ShardingItem) -> bool {
    let made = scene.node(&JobPath::owner_of(item)).map(|node| node.stat.czxid);
    scene.shape.unheard && made > scene.node(&JobPath::fire(item)).map(|node| node.stat.mzxid)
}

/// Whether a run of an item waits to be taken over, or goes on.
fn is_lost(scene: &Scene<'_>, item: ShardingItem) -> bool {
    [JobPath::FailoverItem(item), JobPath::Item(item, ItemNode::Failover), JobPath::running(item)]
        .iter()
        .any(|path| scene.exists(path))
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

/// Reasons that a run is one of.
fn is_run(reason: &SkipReason) -> bool {
    matches!(reason, SkipReason::StillRunning { .. } | SkipReason::RunsElsewhere { .. })
}

/// Reasons that a user accepts. Static sharding leaves items to an owner that is gone, which the leader says.
fn is_accepted(reason: &SkipReason) -> bool {
    is_good(reason) || matches!(reason, SkipReason::OwnerGone { .. })
}

/// Reasons that hold without any fault.
fn is_good(reason: &SkipReason) -> bool {
    match reason {
        SkipReason::StillRunning { .. }
        | SkipReason::ClockOff { .. }
        | SkipReason::RunsElsewhere { .. }
        | SkipReason::ItemDisabled => true,
        // Only while the owner is gone, which is looked at by itself.
        SkipReason::OwnerGone { .. }
        | SkipReason::AlreadyBegun { .. }
        | SkipReason::DecidedAhead { .. }
        | SkipReason::AwaitingFailover
        | SkipReason::BeginUnknown
        | SkipReason::Refused
        | SkipReason::NotBegunInTime
        | SkipReason::ServerDisabled
        | SkipReason::Leaving
        | SkipReason::RegistryLost
        | SkipReason::TooLate { .. }
        | SkipReason::DependencyNotMet { .. }
        | SkipReason::ItemDependencyNotMet { .. }
        | SkipReason::RegisteredSince { .. }
        | SkipReason::MaybeRunByJava => false,
    }
}
