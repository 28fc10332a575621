//! The status of a job: what it does and what it waits for.

use std::sync::Arc;
#[cfg(feature = "testing")]
use std::time::Duration;

use super::engine::JobEngine;
use super::state::fires::Missed;
use super::state::membership::Phase;
use super::state::runs::Run;
use crate::fire::Hook;
use crate::ident::{InstanceId, JobName};
use crate::job_status::{Activity, JobStatus};
use crate::registry::SessionId;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Lookup;
use crate::schedule::Schedule;

/// A configuration that an instance refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) session: SessionId,
    /// The version of the node `config`.
    pub(crate) version: i32,
    pub(crate) why: Arc<str>,
    /// Whether another configuration is in force here.
    pub(crate) joined: bool,
}

/// For the invariants of the simulator.
#[cfg(feature = "testing")]
impl JobEngine {
    /// Until when it asks the registry nothing, by the clock that never steps, after it got no answer.
    pub fn pauses_until(&self) -> Option<Duration> {
        self.link.retry.not_before
    }

    /// The time that a proof of the session lasts.
    pub fn proof_lasts(&self) -> Duration {
        self.session.lasts()
    }
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

    /// The schedule in force: the one of the registry, or the one of the program until that was read.
    pub fn schedule(&self) -> Option<&Schedule> {
        self.configuration.in_force.as_ref().unwrap_or(&self.configuration.local).schedule()
    }

    /// Whether the engine has left for good.
    pub fn is_stopped(&self) -> bool {
        self.phase == Phase::Stopped
    }

    /// The state of the job: its activity, and the events for which it waits.
    pub fn status(&self) -> JobStatus {
        let mut status = JobStatus::of_no_instance();
        self.renew_status(&mut status);
        status
    }

    /// Brings a status up to date, and returns whether it changed. Timers do not count: they move with every proof of the
    /// session, and no reader of the status has to wake for that. It is asked for at each begin and end, so it takes no
    /// memory for what stays as it is.
    pub fn renew_status(&self, known: &mut JobStatus) -> bool {
        let exists = |path| self.mirror.exists(&path);
        let missed_fire = self
            .fires
            .missed
            .map(Missed::at)
            .or(self.fires.missed_items.values().copied().max())
            .or(self.marked_misfire());
        self.next_timers(&mut known.timers);
        let taken_over = || self.runs.iter().filter(|run| run.key.is_takeover()).flat_map(Run::executing);
        let changed = [
            put(&mut known.instance, &self.identity.instance),
            put(&mut known.activity, &self.activity()),
            put(&mut known.session, &self.session.connected()),
            put(&mut known.trouble, &self.link.trouble),
            put(&mut known.leader, &self.leadership.term.is_some()),
            put(&mut known.has_leader, &exists(JobPath::LeaderInstance)),
            put(&mut known.resharding, &(exists(JobPath::Necessary) || exists(JobPath::Processing))),
            put(&mut known.items, &self.fires.own_items_seen),
            put_all(&mut known.running, || self.runs.executing()),
            put_all(&mut known.taken_over, taken_over),
            put(&mut known.missed_fire, &missed_fire),
            put(&mut known.last_fire, &self.fires.calendar.last()),
            put(&mut known.next_fire, &self.fires.calendar.next()),
            put(&mut known.fires, &self.fires.over),
            put(&mut known.last_skip, &self.fires.last_skip),
            put(&mut known.refused_configuration, &self.configuration.refused),
            put(&mut known.refused_values, &self.configuration.refused_values),
        ];
        changed.contains(&true)
    }

    /// What this instance refuses: why, the version of `config`, and its session. `None` where it refuses nothing, or is not
    /// connected.
    pub(crate) fn refused(&self) -> Option<Refused> {
        let why = self.configuration.refused.clone()?;
        let session = self.session.connected()?;
        match self.mirror.lookup(&JobPath::Config) {
            Lookup::Known(known) => {
                Some(Refused { session, version: known.version, why, joined: self.configuration.in_force.is_some() })
            }
            Lookup::Missing | Lookup::Unread => None,
        }
    }

    /// Whether the configuration in the registry center is refused.
    pub(crate) fn refuses(&self) -> bool {
        self.configuration.refused.is_some()
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
                None => Activity::Running(run.key.fire),
                Some(Hook::Before) => Activity::AwaitingStarted(run.key.fire),
                Some(Hook::After) => Activity::AwaitingCompleted(run.key.fire),
            };
        }
        let Some(open) = self.fires.open.as_ref().filter(|open| !open.looked) else { return Activity::Idle };
        if !self.mirror.exists(&JobPath::LeaderInstance) {
            Activity::AwaitingLeader(open.key.fire)
        } else if self.mirror.exists(&JobPath::Necessary) || self.mirror.exists(&JobPath::Processing) {
            Activity::AwaitingSharding(open.key.fire)
        } else {
            Activity::Beginning(open.key.fire)
        }
    }
}

/// Puts a value in the place of another one; returns whether it differs.
fn put<T: PartialEq + Clone>(known: &mut T, value: &T) -> bool {
    let differs = known != value;
    if differs {
        known.clone_from(value);
    }
    differs
}

/// Does the same with values in order.
fn put_all<T: PartialEq, I: Iterator<Item = T>>(known: &mut Vec<T>, values: impl Fn() -> I) -> bool {
    let mut known_values = known.iter();
    let differs = !values().all(|value| known_values.next() == Some(&value)) || known_values.next().is_some();
    if differs {
        known.clear();
        known.extend(values());
    }
    differs
}
