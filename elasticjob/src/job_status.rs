//! The status of a job on an instance: what it does, what it waits for, and why a fire was not run.

mod refusal;

use std::sync::Arc;

pub use refusal::ConfigurationRefusal;

use crate::fire::{Fire, Skip};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::SessionId;

/// The state of a job on this instance: what it does, what it waits for, and why a fire was not run here.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobStatus {
    /// The id of the instance.
    pub instance: InstanceId,
    /// The activity of the job: what it does or waits for.
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
    /// The timers after which it acts by itself, though nothing happens: the earliest first. A change of these alone does not wake those
    /// who wait for a change of the status.
    pub timers: Vec<NextTimer>,
    /// The number of scheduled fires since the start that are over here, with or without items of this instance.
    pub fires: u64,
    /// The last fire, or items of it, that was not run here, and why.
    pub last_skip: Option<Arc<Skip>>,
    /// Why the configuration in the registry is not the one in force.
    pub refused_configuration: Option<Arc<str>>,
    /// Values of the configuration in the registry that this program does not take from there, and what to do: commands,
    /// and addresses that its secrets would be sent to.
    pub refused_values: Option<Arc<str>>,
}

/// A time at which a job looks at something by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NextTimer {
    /// The time of the timer, in milliseconds since 1970, as the clock of this host shows now.
    pub at: i64,
    /// The purpose of the timer, in English.
    pub what: &'static str,
}

impl NextTimer {
    pub(crate) fn new(at: i64, what: &'static str) -> Self {
        Self { at, what }
    }
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
            timers: Vec::new(),
            fires: 0,
            last_skip: None,
            refused_configuration: None,
            refused_values: None,
        }
    }
}

/// The activity of a job: what it does or waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
