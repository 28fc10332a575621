//! What a job does and waits for, in one structure.

use super::engine::{JobEngine, Phase};
use super::fire::Fire;
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::schedule::Schedule;

/// The state of a job on this instance. What it waits for has a name here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobStatus {
    /// The id of the instance.
    pub instance: InstanceId,
    /// What it does or waits for.
    pub activity: Activity,
    /// Whether this instance leads.
    pub leader: bool,
    /// The items this instance runs now.
    pub running: Vec<ShardingItem>,
    /// The scheduled fire that was due last, in milliseconds since 1970.
    pub last_fire: Option<i64>,
    /// The next scheduled fire, in milliseconds since 1970.
    pub next_fire: Option<i64>,
    /// How many scheduled fires since the start are over here, with or without items of this instance.
    pub fires: u64,
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
    /// A fire waits for the leader to assign the items.
    AwaitingSharding(Fire),
    /// Items are being run, or their ends written.
    Running(Fire),
    /// Nothing to do until the next fire or trigger.
    Idle,
    /// Asked to leave; runs end first.
    Leaving,
    /// Out of the group.
    Stopped,
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

    /// The schedule in force: that of the registry, or of the program as long as that was not read.
    pub fn schedule(&self) -> Option<&Schedule> {
        self.configuration.as_ref().unwrap_or(&self.local).schedule()
    }

    /// Whether the engine has left for good.
    pub fn is_stopped(&self) -> bool {
        self.phase == Phase::Stopped
    }

    /// What the job does and waits for.
    pub fn status(&self) -> JobStatus {
        let activity = match self.phase {
            Phase::Stopped => Activity::Stopped,
            Phase::Leaving { .. } => Activity::Leaving,
            _ if self.session.connected().is_none() => Activity::AwaitingRegistry,
            Phase::Joining => Activity::Joining,
            Phase::Active if !self.is_registered() => Activity::Rejoining,
            Phase::Active => match (self.runs.regular().or(self.runs.iter().next()), &self.open) {
                (Some(run), _) => Activity::Running(run.fire),
                (None, Some(open)) if !open.looked => Activity::AwaitingSharding(open.fire),
                _ => Activity::Idle,
            },
        };
        JobStatus {
            instance: self.identity.instance.clone(),
            activity,
            leader: self.leadership.is_some(),
            running: self.runs.executing().collect(),
            last_fire: self.calendar.last(),
            next_fire: self.calendar.next(),
            fires: self.fires,
        }
    }
}
