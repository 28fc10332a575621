//! The status of a job: what it does and what it waits for.

use std::sync::Arc;

use super::engine::JobEngine;
use super::fire::{ExecutionSource, Fire};
use super::listeners::Hook;
use super::reasons::Skip;
use super::state::membership::Phase;
use super::state::runs::Run;
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::SessionId;
use crate::registry::mirror::Lookup;
use crate::registry::path::JobPath;
use crate::schedule::Schedule;

/// The state of a job on this instance: what it does, what it waits for, and why a fire was not run here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobStatus {
    /// The id of the instance.
    pub instance: InstanceId,
    /// What it does or waits for.
    pub activity: Activity,
    /// The session with the registry center, `None` while there is no connection.
    pub session: Option<SessionId>,
    /// Why the registry center did not do what was asked last, as long as it does not.
    pub trouble: Option<Arc<str>>,
    /// Whether this instance leads.
    pub leader: bool,
    /// Whether the group has a leader, as far as this instance knows.
    pub has_leader: bool,
    /// Whether the leader has still to assign items.
    pub resharding: bool,
    /// The items that this instance owned when it looked last, which it does at a fire.
    pub items: Vec<ShardingItem>,
    /// The items this instance runs now, its own and those that it took over.
    pub running: Vec<ShardingItem>,
    /// The running items that it took over.
    pub taken_over: Vec<ShardingItem>,
    /// The scheduled fire that fell into a run and is made up for after it, in milliseconds since 1970.
    pub missed_fire: Option<i64>,
    /// The scheduled fire that was due last, in milliseconds since 1970.
    pub last_fire: Option<i64>,
    /// The next scheduled fire, in milliseconds since 1970.
    pub next_fire: Option<i64>,
    /// How many scheduled fires since the start are over here, with or without items of this instance.
    pub fires: u64,
    /// The last fire, or items of it, that was not run here, and why.
    pub last_skip: Option<Arc<Skip>>,
    /// Why the configuration in the registry is not the one in force.
    pub refused_configuration: Option<Arc<str>>,
    /// Values of the configuration in the registry that this program does not take from there, and what to do: commands,
    /// and addresses that its secrets would be sent to.
    pub refused_values: Option<Arc<str>>,
}

impl JobStatus {
    /// The status of a job for which no instance is made.
    pub(crate) fn of_no_instance() -> Self {
        Self {
            instance: InstanceId::of_process("0.0.0.0", 0),
            activity: Activity::NotStarted,
            session: None,
            trouble: None,
            leader: false,
            has_leader: false,
            resharding: false,
            items: Vec::new(),
            running: Vec::new(),
            taken_over: Vec::new(),
            missed_fire: None,
            last_fire: None,
            next_fire: None,
            fires: 0,
            last_skip: None,
            refused_configuration: None,
            refused_values: None,
        }
    }
}

/// What a job does or waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Made, and not started yet.
    NotStarted,
    /// Not in the group yet.
    Joining,
    /// The registry center is not connected.
    AwaitingRegistry,
    /// In a new session, not registered again yet.
    Rejoining,
    /// A fire waits for a leader, which assigns the items.
    AwaitingLeader(Fire),
    /// A fire waits for the leader to assign the items.
    AwaitingSharding(Fire),
    /// A fire waits for the session to be proven, or for data of the registry center.
    Beginning(Fire),
    /// Items are being run, or their ends written.
    Running(Fire),
    /// Items have begun and wait for a listener that is called once for the group before they start.
    AwaitingStarted(Fire),
    /// The items ended, and a listener is called once for the group when the items of all other instances ended too.
    AwaitingCompleted(Fire),
    /// Nothing to do until the next fire or trigger.
    Idle,
    /// Asked to leave; runs end first.
    Leaving,
    /// Its coordination ended by a bug. What it left in the registry is cleaned up, then the coordination starts again.
    Restarting,
    /// Out of the group.
    Stopped,
    /// Out of the group, as its coordination ended by a bug again and again: restart the program.
    Failed,
}

impl JobEngine {
    /// Name of the job.
    pub fn job_name(&self) -> &JobName {
        &self.job
    }

    /// The id of the instance.
    pub fn instance(&self) -> &InstanceId {
        &self.identity.instance
    }

    /// Whether a fire that falls into a run is made up for.
    pub fn makes_up(&self) -> bool {
        self.configuration.in_force.as_ref().is_some_and(|configuration| configuration.misfire())
    }

    /// The schedule in force: the one of the registry, or the one of the program until that was read.
    pub fn schedule(&self) -> Option<&Schedule> {
        self.configuration.in_force.as_ref().unwrap_or(&self.configuration.local).schedule()
    }

    /// Whether the engine has left for good.
    pub fn is_stopped(&self) -> bool {
        self.phase == Phase::Stopped
    }

    /// What the job does and waits for.
    pub fn status(&self) -> JobStatus {
        let taken_over = self.runs.iter().filter(|run| run.source == ExecutionSource::Failover);
        let exists = |path| self.mirror.exists(&path);
        JobStatus {
            instance: self.identity.instance.clone(),
            activity: self.activity(),
            session: self.session.connected(),
            trouble: self.link.trouble.clone(),
            leader: self.leadership.term.is_some(),
            has_leader: exists(JobPath::LeaderInstance),
            resharding: exists(JobPath::Necessary) || exists(JobPath::Processing),
            items: self.fires.own_items_seen.clone(),
            running: self.runs.executing().collect(),
            taken_over: taken_over.flat_map(Run::executing).collect(),
            missed_fire: self
                .fires
                .missed
                .or(self.fires.missed_items.values().copied().max())
                .or(self.marked_misfire()),
            last_fire: self.fires.calendar.last(),
            next_fire: self.fires.calendar.next(),
            fires: self.fires.over,
            last_skip: self.fires.last_skip.clone(),
            refused_configuration: self.configuration.refused.clone(),
            refused_values: self.configuration.refused_values.clone(),
        }
    }

    /// The missed fire of own items that the registry center knows of.
    fn marked_misfire(&self) -> Option<i64> {
        let marked = self.mirror.misfired_items().filter(|item| self.fires.own_items_seen.contains(item));
        let missed = marked.filter_map(|item| match self.mirror.lookup(&JobPath::fire(item)) {
            Lookup::Known(known) => self.read_record(known).to_make_up(),
            Lookup::Missing | Lookup::Unread => None,
        });
        missed.max()
    }

    fn activity(&self) -> Activity {
        match self.phase {
            Phase::Stopped => return Activity::Stopped,
            Phase::Leaving { .. } => return Activity::Leaving,
            _ if self.session.connected().is_none() => return Activity::AwaitingRegistry,
            Phase::Joining => return Activity::Joining,
            Phase::Active if !self.is_registered() => return Activity::Rejoining,
            Phase::Active => {}
        }
        if let Some(run) = self.runs.regular().or(self.runs.iter().next()) {
            return match run.waiting().map(|waits| waits.hook) {
                None => Activity::Running(run.fire),
                Some(Hook::Before) => Activity::AwaitingStarted(run.fire),
                Some(Hook::After) => Activity::AwaitingCompleted(run.fire),
            };
        }
        let Some(open) = self.fires.open.as_ref().filter(|open| !open.looked) else { return Activity::Idle };
        if !self.mirror.exists(&JobPath::LeaderInstance) {
            Activity::AwaitingLeader(open.fire)
        } else if self.mirror.exists(&JobPath::Necessary) || self.mirror.exists(&JobPath::Processing) {
            Activity::AwaitingSharding(open.fire)
        } else {
            Activity::Beginning(open.fire)
        }
    }
}
