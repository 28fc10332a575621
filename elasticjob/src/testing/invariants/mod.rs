//! What must hold in every history, one file each.

mod accounted;
mod assignment;
mod begun_once;
mod leadership;
mod made_up;
mod nothing_left;
mod once;
mod one_owner;
mod punctual;
mod repaired;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::{ExecutionSource, Fire, Hook, Notice};
use crate::ident::{JobName, ShardingItem};
use crate::registry::path::JobPath;
use crate::registry::tree::Tree;
use crate::registry::{SessionId, Transaction};
use crate::testing::sim::{Host, Millis, SimListeners};

/// Something that invariants look at.
#[derive(Debug)]
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
    /// Nothing follows.
    Over,
}

/// What an invariant may look at beside the observation.
pub(crate) struct Scene<'a> {
    pub(crate) now: Millis,
    pub(crate) job: &'a JobName,
    pub(crate) tree: &'a Tree,
    pub(crate) hosts: &'a [Host],
    pub(crate) monitored: bool,
    pub(crate) failover: bool,
    pub(crate) misfire: bool,
    pub(crate) total: u32,
    pub(crate) listeners: &'a SimListeners,
    pub(crate) longest_run: Millis,
    /// Whether clocks ever stepped, so that they may disagree.
    pub(crate) calm: bool,
}

impl Scene<'_> {
    /// Data of a node as text.
    pub(crate) fn text(&self, path: &JobPath) -> Option<String> {
        let node = self.tree.get(&path.absolute(self.job)).ok()??;
        String::from_utf8(node.data).ok()
    }

    /// Names of the children of a node.
    pub(crate) fn children(&self, path: &JobPath) -> Vec<String> {
        self.tree.children(&path.absolute(self.job)).ok().flatten().unwrap_or_default()
    }
}

/// All invariants of one history.
#[derive(Debug)]
pub struct Invariants {
    monitored: bool,
    failover: bool,
    misfire: bool,
    total: u32,
    listeners: SimListeners,
    longest_run: Millis,
    calm: bool,
    accounted: accounted::Accounted,
    assignment: assignment::Assignment,
    begun_once: begun_once::BegunOnce,
    made_up: made_up::MadeUp,
    nothing_left: nothing_left::NothingLeft,
    once: once::Once,
}

impl Invariants {
    /// The invariants of a group with so many items, and a fire every `period` seconds.
    pub(crate) fn new(total: u32, monitored: bool, period: u32, longest_run: Millis, listeners: SimListeners) -> Self {
        Self {
            monitored,
            failover: false,
            misfire: false,
            total,
            listeners,
            longest_run,
            calm: false,
            accounted: accounted::Accounted::new(period),
            assignment: assignment::Assignment::default(),
            begun_once: begun_once::BegunOnce::default(),
            made_up: made_up::MadeUp::default(),
            nothing_left: nothing_left::NothingLeft::default(),
            once: once::Once::default(),
        }
    }

    /// Something happened that may cost a fire around that time, in milliseconds since 1970.
    pub fn incident(&mut self, wall: i64) {
        self.accounted.incident(wall);
    }

    /// These settings are in force from that time on, in milliseconds since 1970; the period in seconds.
    pub fn configured(&mut self, wall: i64, total: u32, failover: bool, misfire: bool, period: u32) {
        self.total = total;
        self.failover = failover;
        self.misfire = misfire;
        self.accounted.scheduled(wall, period);
    }

    /// These listeners are there from now on.
    pub(crate) fn listens(&mut self, listeners: &SimListeners) {
        self.listeners = listeners.clone();
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
        let Self { monitored, failover, misfire, total, longest_run, calm, .. } = *self;
        let listeners = &self.listeners;
        let scene = Scene { now, job, tree, hosts, monitored, failover, misfire, total, listeners, longest_run, calm };
        one_owner::check(&scene, observation).map_err(|why| format!("one live owner: {why}"))?;
        self.begun_once.check(&scene, observation).map_err(|why| format!("begun once: {why}"))?;
        self.made_up.check(&scene, observation).map_err(|why| format!("misfires made up for: {why}"))?;
        self.once.check(&scene, observation).map_err(|why| format!("called once: {why}"))?;
        repaired::check(&scene, observation).map_err(|why| format!("nothing lost is left: {why}"))?;
        self.accounted.check(&scene, observation).map_err(|why| format!("every fire accounted for: {why}"))?;
        self.assignment.check(&scene, observation).map_err(|why| format!("total assignment: {why}"))?;
        leadership::check(&scene, observation).map_err(|why| format!("leader writes: {why}"))?;
        punctual::check(&scene, observation).map_err(|why| format!("no wait past its deadline: {why}"))?;
        self.nothing_left.check(&scene, observation).map_err(|why| format!("nothing left behind: {why}"))
    }
}
