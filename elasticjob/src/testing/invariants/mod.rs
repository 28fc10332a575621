//! The invariants of every history, one file each.

mod assignment;
mod begun_once;
mod cancelled;
mod clock;
mod dropped;
mod duty;
mod every_fire_explained;
mod fates;
mod follows;
mod group;
mod java_peer;
mod leadership;
mod left_behind;
mod lost_runs_settled;
mod misfire;
pub mod names;
mod once_listeners;
mod one_owner;
mod punctual;
mod reruns;
mod rotation;
mod scene;
mod schedule_noted;
mod static_sharding;
mod takeover_first;
mod triggered;
mod triggers_reach_items;
mod unbegun_fires_reported;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use self::fates::Fates;
pub(crate) use self::follows::Follows;
pub(crate) use self::scene::Scene;
use crate::engine::{Notice, TriggerAnswer};
use crate::fire::{Attempt, ExecutionSource, Fire, Hook, TriggerData};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::tree::Tree;
use crate::registry::{SessionId, Transaction, Zxid};
use crate::testing::sim::{Host, Millis, Shape};

/// Something that invariants look at.
#[derive(Debug, Clone, Copy)]
pub enum Observation<'a> {
    /// The server applied a transaction of a host.
    Committed {
        /// The session it came from.
        session: SessionId,
        /// The host, `None` for an operator.
        host: Option<usize>,
        /// What was applied.
        transaction: &'a Transaction,
        /// The session that led before.
        leader: Option<SessionId>,
    },
    /// The server is about to try a transaction; the tree is what it was before.
    Committing {
        /// The session it comes from.
        session: SessionId,
        /// The host, `None` for an operator.
        host: Option<usize>,
        /// What is to be applied.
        transaction: &'a Transaction,
    },
    /// A host starts to run an item.
    Started {
        /// The host.
        host: usize,
        /// The item.
        item: ShardingItem,
        /// The fire.
        fire: Fire,
        /// Why it is run.
        source: ExecutionSource,
        /// The fencing token.
        token: Option<i64>,
    },
    /// A host calls listeners.
    Called {
        /// The host.
        host: usize,
        /// The fire of their round.
        fire: Fire,
        /// What for.
        hook: Hook,
        /// Their type names.
        listeners: &'a [Arc<str>],
    },
    /// A call of listeners is over.
    CallEnded {
        /// The host.
        host: usize,
        /// The fire of their round.
        fire: Fire,
        /// What for.
        hook: Hook,
        /// Their type names.
        listeners: &'a [Arc<str>],
    },
    /// An engine has something to say.
    Notice {
        /// Its host.
        host: usize,
        /// What it says.
        notice: &'a Notice,
    },
    /// A Java instance does not run items that are its own, as that release has it.
    LeftOut {
        /// Its id.
        instance: &'a InstanceId,
        /// Times of the scheduled fires.
        fires: &'a [i64],
        /// The items that it has now. Those that it had at the time of a fire are meant as well.
        items: &'a [ShardingItem],
    },
    /// The server ended a session.
    SessionEnded {
        /// Which one.
        session: SessionId,
    },
    /// The engine of a host took what was there, and what it wants done is done.
    Attended {
        /// The host.
        host: usize,
    },
    /// An engine answers a manual trigger.
    Triggered {
        /// With this.
        answer: &'a TriggerAnswer,
    },
    /// The nodes of an engine that is gone were cleaned up: another one is about to start in its session.
    CleanedUp {
        /// The host.
        host: usize,
        /// The session, which goes on.
        session: SessionId,
        /// Items whose code goes on.
        busy: &'a BTreeSet<ShardingItem>,
    },
    /// An engine that was connected stopped.
    Left {
        /// Its host.
        host: usize,
        /// Its session.
        session: Option<SessionId>,
        /// Runs it left behind, because they could not be stopped.
        abandoned: &'a BTreeSet<ShardingItem>,
    },
    /// The faults are over for long enough.
    Converged,
    /// A stretch without faults is over.
    Calm {
        /// Its begin, in milliseconds since 1970.
        from: i64,
        /// Its end.
        until: i64,
    },
    /// Every host was asked to leave, and had the time.
    AllLeft,
    /// Time passed.
    Passed {
        /// By how many milliseconds the network delays at most.
        latency: Millis,
        /// Whether the follower has lost its leader.
        lagging: bool,
    },
    /// Nothing follows.
    Over,
}

impl Observation<'_> {
    /// The host that it is of.
    pub(crate) fn host(&mut self) -> Option<&mut usize> {
        match self {
            Self::Committed { host: Some(host), .. }
            | Self::Committing { host: Some(host), .. }
            | Self::Started { host, .. }
            | Self::Called { host, .. }
            | Self::CallEnded { host, .. }
            | Self::Notice { host, .. }
            | Self::Attended { host }
            | Self::CleanedUp { host, .. }
            | Self::Left { host, .. } => Some(host),
            _ => None,
        }
    }
}

/// All invariants of one history.
#[derive(Debug)]
pub struct Invariants {
    shape: Shape,
    /// The job has no schedule: it runs after another one.
    is_after_another: bool,
    total: u32,
    period: u32,
    cron: String,
    calm: bool,
    reads: scene::Reads,
    accounted: every_fire_explained::Accounted,
    assignment: assignment::Assignment,
    begun_once: begun_once::BegunOnce,
    cancelled: cancelled::Cancelled,
    one_owner: one_owner::OneOwner,
    java_peer: java_peer::JavaPeer,
    leadership: leadership::Leadership,
    java_ids: BTreeSet<String>,
    /// When monitoring was switched on or off last; `None` while the registry's configuration cannot be used, as an
    /// instance that did not see the switch before goes on with what it knew.
    switched_at: Option<Millis>,
    kept: static_sharding::Kept,
    made_up: misfire::MadeUp,
    left_behind: left_behind::LeftBehind,
    once: once_listeners::Once,
    punctual: punctual::Punctual,
    reruns: reruns::Reruns,
    takeover_first: takeover_first::TakeoverFirst,
    unbegun_fires_reported: unbegun_fires_reported::UnbegunFiresReported,
    triggered: triggered::Triggered,
    triggers_reach_items: triggers_reach_items::TriggersReachItems,
    turns: rotation::Turns,
}

impl Invariants {
    /// The invariants of a group with so many items, and a fire every `period` seconds.
    pub fn new(total: u32, period: u32, shape: Shape) -> Self {
        Self {
            shape,
            is_after_another: false,
            total,
            period,
            cron: cron_of(period),
            calm: false,
            reads: scene::Reads::default(),
            accounted: every_fire_explained::Accounted::new(period, total),
            assignment: assignment::Assignment::default(),
            begun_once: begun_once::BegunOnce::default(),
            cancelled: cancelled::Cancelled::default(),
            one_owner: one_owner::OneOwner::default(),
            java_peer: java_peer::JavaPeer::new(),
            leadership: leadership::Leadership::default(),
            java_ids: BTreeSet::new(),
            switched_at: Some(0),
            kept: static_sharding::Kept::default(),
            made_up: misfire::MadeUp::default(),
            left_behind: left_behind::LeftBehind::default(),
            once: once_listeners::Once::default(),
            punctual: punctual::Punctual::default(),
            reruns: reruns::Reruns::default(),
            takeover_first: takeover_first::TakeoverFirst::default(),
            unbegun_fires_reported: unbegun_fires_reported::UnbegunFiresReported::default(),
            triggered: triggered::Triggered::default(),
            triggers_reach_items: triggers_reach_items::TriggersReachItems::default(),
            turns: rotation::Turns::default(),
        }
    }

    /// The same for a job that runs after another one: what is about schedules is not looked at.
    #[must_use]
    pub fn of_job_after_another(self) -> Self {
        Self { is_after_another: true, ..self }
    }

    /// Something happened that may cost a fire around that time, in milliseconds since 1970.
    pub fn incident(&mut self, wall: i64) {
        self.accounted.incident(wall);
    }

    /// An instance that is gone began an item for a fire long before its time. Until then its record covers other fires.
    pub fn begun_ahead(&mut self, item: ShardingItem, until: i64, fire: Fire) {
        self.made_up.begun_ahead(item, until, fire);
        self.accounted.begun_ahead(item, until, fire);
        self.begun_once.begun_ahead(item, fire);
        self.takeover_first.begun_ahead(item);
    }

    /// An operator cancelled the run of an item that this attempt began.
    pub fn cancelled(&mut self, now: Millis, item: ShardingItem, fire: Fire, attempt: Attempt) {
        self.cancelled.asked(now, item, fire, attempt);
    }

    /// An operator triggers the job with these data, by this transaction.
    pub(crate) fn triggered(&mut self, trigger: Zxid, data: TriggerData) {
        self.reruns.asked(trigger, data);
    }

    /// This total count, this period in seconds, and these settings are in force from now on.
    pub fn configured(&mut self, now: Millis, total: u32, period: u32, shape: &Shape) {
        // An instance that missed the configuration before the unusable one sees the change now.
        if total != self.total || self.switched_at.is_none() {
            self.kept.total_changed(now);
        }
        if shape.monitored != self.shape.monitored || self.switched_at.is_none() {
            self.switched_at = Some(now);
        }
        // Nothing else takes a fire away that is due.
        let (before, after) = (&self.shape, shape);
        let decides_anew =
            self.cron != cron_of(period) || (before.monitored, before.misfire) != (after.monitored, after.misfire);
        (self.total, self.period, self.cron) = (total, period, cron_of(period));
        self.shape = shape.clone();
        self.made_up.configured(now, shape.misfire);
        self.accounted.scheduled(now, period, total, decides_anew);
        if decides_anew {
            self.unbegun_fires_reported.start_over(now);
        }
    }

    /// An operator did what no watch tells of.
    pub fn damaged(&mut self, now: Millis) {
        self.unbegun_fires_reported.start_over(now);
        self.accounted.damaged(now);
    }

    /// The fates of the items of fires, and how many of them were looked at.
    pub fn fates(&self) -> &Fates {
        self.accounted.fates()
    }

    /// A configuration that cannot be used is in the registry from now on.
    pub fn misconfigured(&mut self) {
        self.switched_at = None;
        self.made_up.misconfigured();
    }

    /// The registry has lost its data: what was assigned and missed has no record any more. `is_known` says whether all
    /// instances know whether execution is monitored.
    pub fn data_lost(&mut self, now: Millis, is_known: bool) {
        if !is_known {
            self.switched_at = None;
        }
        self.made_up.misconfigured();
        self.kept.total_changed(now);
        self.begun_once.data_lost(now);
        self.cancelled.data_lost(now);
        self.once.data_lost(now);
        self.triggers_reach_items.data_lost();
        self.unbegun_fires_reported.start_over(now);
        self.accounted.scheduled(now, self.period, self.total, true);
    }

    /// Looks at what happened.
    ///
    /// # Errors
    /// What does not hold, and why.
    pub fn observe(
        &mut self,
        now: Millis,
        job: &JobName,
        tree: &Tree,
        hosts: &[Host],
        observation: &Observation<'_>,
    ) -> Result<(), String> {
        self.calm |= matches!(observation, Observation::Converged);
        if let Observation::Committing { host: Some(host), transaction, .. } = observation
            && hosts[*host].java
        {
            self.java_ids.extend(java_peer::registered(job, transaction));
        }
        let monitored_for = self.switched_at.map_or(0, |since| now - since);
        let scene = Scene {
            now,
            job,
            tree,
            reads: &self.reads,
            hosts,
            shape: &self.shape,
            total: self.total,
            period: self.period,
            cron: &self.cron,
            calm: self.calm,
            monitored_for,
            java_ids: &self.java_ids,
        };
        let is_scheduled = !self.is_after_another;
        if let Observation::Passed { .. } = observation {
            if !is_scheduled {
                return Ok(());
            }
            let checked = self.accounted.check(&scene, observation, &self.kept);
            return checked.map_err(|why| format!("{}: {why}", names::ACCOUNTED_FOR));
        }
        if let Observation::Notice { host, notice: Notice::RulesCircle } = observation {
            return Err(format!("decisions end: the rules of host {host} decide again and again"));
        }
        self.takeover_first.check(&scene, observation).map_err(|why| format!("takeover first: {why}"))?;
        self.kept.check(&scene, observation).map_err(|why| format!("static sharding: {why}"))?;
        dropped::check(&scene, observation).map_err(|why| format!("dropped with the session: {why}"))?;
        self.one_owner.check(&scene, observation).map_err(|why| format!("{}: {why}", names::ONE_LIVE_OWNER))?;
        self.begun_once.check(&scene, observation).map_err(|why| format!("{}: {why}", names::BEGUN_ONCE))?;
        self.cancelled.check(&scene, observation).map_err(|why| format!("cancelled by an operator: {why}"))?;
        self.reruns.check(&scene, observation).map_err(|why| format!("run again: {why}"))?;
        lost_runs_settled::check(&scene, observation).map_err(|why| format!("nothing lost is left: {why}"))?;
        // Static sharding assigns at the first fire, and the job before it may have none that counts.
        if is_scheduled || !self.shape.static_sharding {
            self.assignment.check(&scene, observation).map_err(|why| format!("total assignment: {why}"))?;
        }
        self.leadership.check(&scene, observation).map_err(|why| format!("leader writes: {why}"))?;
        self.triggers_reach_items.check(&scene, observation).map_err(|why| format!("{}: {why}", names::TRIGGERS))?;
        // These look at fires by their schedule.
        if is_scheduled {
            self.triggered.check(&scene, observation).map_err(|why| format!("{}: {why}", names::TRIGGERS))?;
            clock::check(&scene, observation).map_err(|why| format!("clock check: {why}"))?;
            self.turns.check(&scene, observation).map_err(|why| format!("turns: {why}"))?;
            self.made_up.check(&scene, observation).map_err(|why| format!("misfires made up for: {why}"))?;
            self.once.check(&scene, observation).map_err(|why| format!("called once: {why}"))?;
            self.accounted
                .check(&scene, observation, &self.kept)
                .map_err(|why| format!("{}: {why}", names::ACCOUNTED_FOR))?;
            self.unbegun_fires_reported
                .check(&scene, observation)
                .map_err(|why| format!("unbegun fires reported: {why}"))?;
            schedule_noted::check(&scene, observation).map_err(|why| format!("the schedule is noted: {why}"))?;
            self.java_peer.check(&scene, observation).map_err(|why| format!("what Java peers need: {why}"))?;
            self.punctual.check(&scene, observation).map_err(|why| format!("no wait past its deadline: {why}"))?;
        }
        self.left_behind.check(&scene, observation).map_err(|why| format!("nothing left behind: {why}"))
    }
}

/// The cron expression of a fire every so many seconds.
fn cron_of(period: u32) -> String {
    format!("0/{period} * * * * ?")
}
