//! Errors of operations.

use std::fmt;

use elasticjob_syntax::suggest::nearest;

use crate::config::wire::WireError;
use crate::config::{Invalid, Message};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::{CommitError, RegistryError};
use crate::texts;

use super::Target;

/// An operation was not done, or was done only in part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OperationError {
    /// The namespace has no such job.
    NoSuchJob {
        /// The name that was asked for.
        job: JobName,
        /// The jobs that exist.
        jobs: Vec<JobName>,
    },
    /// The job has no configuration: it was never started, or its configuration was removed.
    NoConfiguration {
        /// The job.
        job: JobName,
    },
    /// Nothing in the registry center matches the target.
    NothingMatched {
        /// The target.
        target: Target,
        /// The kind of thing that it does not match.
        what: &'static str,
    },
    /// The job has no such item.
    NoSuchItem {
        /// The job.
        job: JobName,
        /// The item.
        item: ShardingItem,
        /// How many items there are.
        count: usize,
    },
    /// No instance could run it.
    NoEnabledInstance {
        /// The target.
        target: Target,
        /// How many instances of it are online.
        online: usize,
        /// Whether the registration of the carried job, or its application, is disabled: then no scheduler runs it.
        is_disabled: bool,
    },
    /// Nothing runs that could be cancelled.
    NothingToCancel {
        /// The job.
        job: JobName,
        /// The item that was meant; `None` for all of them.
        item: Option<ShardingItem>,
        /// Why.
        why: NotCancelled,
    },
    /// A fire cannot be run again.
    NotRerun {
        /// The job.
        job: JobName,
        /// Why.
        why: NotRerun,
    },
    /// The job runs.
    InstancesOnline {
        /// The job.
        job: JobName,
        /// The instances that are online.
        instances: Vec<InstanceId>,
    },
    /// A configuration that cannot be used.
    Invalid {
        /// The job.
        job: JobName,
        /// All problems.
        problems: Vec<Invalid>,
    },
    /// The configuration of a carried job: its registration is written over it each time the job starts.
    CarriedJob {
        /// The job.
        job: JobName,
    },
    /// The configuration in the registry center cannot be read.
    Unreadable {
        /// The job.
        job: JobName,
        /// The problem.
        reason: WireError,
    },
    /// Another client changed the configuration since it was read.
    ChangedMeanwhile {
        /// The job.
        job: JobName,
    },
    /// Other clients wrote each time the operation tried.
    Contended {
        /// How much was done.
        done: usize,
    },
    /// The registry center did not answer a read.
    Read(RegistryError),
    /// A transaction was not applied, or it is not known whether it was.
    Write {
        /// How much was done before.
        done: usize,
        /// The error.
        reason: CommitError,
    },
}

impl From<RegistryError> for OperationError {
    fn from(error: RegistryError) -> Self {
        Self::Read(error)
    }
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

/// Why no run can be cancelled.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotCancelled {
    /// It does not run.
    Idle,
    /// It has no record, as execution is not monitored.
    NotMonitored,
    /// A Java instance runs it, which knows of no cancellation.
    RunByJava(Option<InstanceId>),
}

impl NotCancelled {
    fn message(&self, job: &JobName, item: Option<ShardingItem>) -> Message {
        let what = match item {
            Some(item) => texts::runs_of_item(item, job.as_str()),
            None => texts::runs_of_job(job.as_str()),
        };
        match self {
            Self::Idle => texts::not_cancelled_idle(what),
            Self::NotMonitored => texts::not_cancelled_unmonitored(job.as_str()),
            Self::RunByJava(None) => texts::not_cancelled_java(what),
            Self::RunByJava(Some(instance)) => texts::not_cancelled_java_on(what, instance.as_str()),
        }
    }
}

/// Why a fire cannot be run again. Times are of RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotRerun {
    /// The schedule of the job has no fire at that time.
    NoSuchFire {
        /// That time.
        at: String,
        /// The fire before it and the one after it, as far as there are any.
        nearest: Vec<String>,
    },
    /// The job runs after others, and the registry center does not know of a fire at that time.
    UnknownFire {
        /// That time.
        at: String,
        /// The fires that it knows and that are nearest.
        known: Vec<String>,
    },
    /// The fire at that time is to come.
    NotYet(String),
    /// The job has neither a schedule nor jobs before it.
    NoFires,
    /// Its fires have no records, as execution is not monitored.
    NotMonitored,
    /// A manual trigger waits for this instance, which has one at a time.
    TriggerWaits(InstanceId),
    /// This job, which runs after it, has as many re-runs to follow as it can keep.
    FollowerIsBehind(JobName),
    /// This job runs after it, and the caller may not let it run again. The text of the error does not name it, as the caller
    /// need not know of it.
    NotAllowed(JobName),
    /// The configuration of the job cannot be used, as this text says.
    Unusable(Message),
}

impl NotRerun {
    fn message(&self, job: &JobName) -> Message {
        let of = job.as_str();
        match self {
            Self::NoSuchFire { at, nearest } if nearest.is_empty() => texts::not_rerun_no_fires_before(of, at),
            Self::NoSuchFire { at, nearest } => texts::not_rerun_no_such_fire(of, at, nearest.join(", ")),
            Self::UnknownFire { at, known } if known.is_empty() => texts::not_rerun_no_fire_known(of, at),
            Self::UnknownFire { at, known } => texts::not_rerun_unknown_fire(of, at, known.join(", ")),
            Self::NotAllowed(_) => texts::not_rerun_not_allowed(of),
            Self::NotYet(at) => texts::not_rerun_not_yet(of, at),
            Self::NoFires => texts::not_rerun_no_fires(of),
            Self::NotMonitored => texts::not_rerun_unmonitored(of),
            Self::TriggerWaits(instance) => texts::not_rerun_trigger_waits(of, instance.as_str()),
            Self::FollowerIsBehind(after) => texts::not_rerun_follower_behind(of, after.as_str()),
            Self::Unusable(reason) => texts::not_rerun_unusable(of, reason.clone()),
        }
    }
}

impl OperationError {
    /// The message: what was not done, why, and what helps.
    pub fn message(&self) -> Message {
        match self {
            Self::NoSuchJob { job, jobs } => no_such_job(job, jobs),
            Self::NoConfiguration { job } => texts::no_configuration(job.as_str()),
            Self::NothingMatched { target, what } => match target {
                Target::Job(job) => texts::no_match_of_job(job.as_str(), *what),
                Target::Server(ip) => texts::no_match_at(ip, *what),
                Target::ServerOfJob(job, ip) => texts::no_match_of_job_at(job.as_str(), ip, *what),
            },
            Self::NoSuchItem { job, item, count: 0 } => texts::no_items_yet(job.as_str(), *item),
            Self::NoSuchItem { job, item, count: 1 } => texts::no_such_item_of_one(job.as_str(), *item),
            Self::NoSuchItem { job, item, count } => texts::no_such_item(job.as_str(), *item, count - 1),
            Self::NoEnabledInstance { target: Target::Job(job), is_disabled: true, .. } => {
                texts::not_triggered_carried(job.as_str())
            }
            Self::NoEnabledInstance { target, online, .. } => not_triggered(target, *online),
            Self::NothingToCancel { job, item, why } => why.message(job, *item),
            Self::NotRerun { job, why } => why.message(job),
            Self::InstancesOnline { job, instances } => {
                let names = list(instances);
                match instances.len() {
                    1 => texts::instance_online(job.as_str(), names),
                    _ => texts::instances_online(job.as_str(), names),
                }
            }
            Self::Invalid { job, problems } => {
                let problems: Vec<Message> = problems.iter().map(Invalid::message).collect();
                texts::configuration_invalid(job.as_str(), problems)
            }
            Self::CarriedJob { job } => texts::carried_job(job.as_str()),
            Self::Unreadable { job, reason } => texts::configuration_unreadable(job.as_str(), reason.message()),
            Self::ChangedMeanwhile { job } => texts::changed_meanwhile(job.as_str()),
            Self::Contended { done } => texts::contended(*done),
            Self::Read(reason) => reason.message(),
            Self::Write { done: 0, reason } => reason.message(),
            Self::Write { done, reason } => texts::done_then(*done, reason.message()),
        }
    }

    /// The text for readers of this job alone: it names no other job.
    pub fn of_its_job(&self) -> Message {
        match self {
            Self::NoSuchJob { job, .. } => texts::no_such_job(job.as_str()),
            Self::NotRerun { job, why: NotRerun::FollowerIsBehind(_) } => {
                texts::not_rerun_a_follower_behind(job.as_str())
            }
            error => error.message(),
        }
    }

    /// Whether the registry center was not reached, or its answer was lost.
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Read(error) => matches!(error, RegistryError::NoAnswer { .. }),
            Self::Write { reason, .. } => !matches!(reason, CommitError::Refused { .. }),
            _ => false,
        }
    }
}

fn list<T: ToString>(parts: &[T]) -> String {
    parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn not_triggered(target: &Target, online: usize) -> Message {
    let server = match target {
        Target::Job(job) if online == 0 => return texts::not_triggered_offline(job.as_str()),
        Target::Job(job) => return texts::not_triggered_disabled(job.as_str()),
        Target::Server(ip) => texts::target_server(ip),
        Target::ServerOfJob(job, ip) => texts::target_server_of_job(ip, job.as_str()),
    };
    match online {
        0 => texts::not_triggered_server_offline(server),
        _ => texts::not_triggered_server_disabled(server),
    }
}

/// With the name that was meant, where one is near; else with those that there are.
fn no_such_job(job: &JobName, jobs: &[JobName]) -> Message {
    /// More names do not help in one line.
    const SHOWN: usize = 10;
    let name = job.as_str();
    if let Some(near) = nearest(name, jobs.iter().map(JobName::as_str)) {
        return texts::no_such_job_near(name, near);
    }
    let names = list(&jobs[..jobs.len().min(SHOWN)]);
    match jobs.len() {
        0 => texts::no_jobs(name),
        count if count > SHOWN => texts::no_such_job_of_many(name, count, names),
        _ => texts::no_such_job_known(name, names),
    }
}
