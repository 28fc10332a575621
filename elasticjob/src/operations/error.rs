//! Errors of operations.

use elasticjob_syntax::suggest::nearest;

use crate::config::Invalid;
use crate::config::wire::WireError;
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::{CommitError, RegistryError};

use super::Target;

/// An operation was not done, or was done only in part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OperationError {
    /// The namespace has no such job.
    #[error("there is no job '{job}' in the namespace; {}", near_or_known(.job, .jobs))]
    NoSuchJob {
        /// The name that was asked for.
        job: JobName,
        /// The jobs that exist.
        jobs: Vec<JobName>,
    },
    /// The job has no configuration: it was never started, or its configuration was removed.
    #[error("job '{job}' has no configuration in the registry center: it is written when an instance starts")]
    NoConfiguration {
        /// The job.
        job: JobName,
    },
    /// Nothing in the registry center matches the target.
    #[error("nothing was done: {}", unmatched(.target, .what))]
    NothingMatched {
        /// The target.
        target: Target,
        /// The kind of thing that it does not match.
        what: &'static str,
    },
    /// The job has no such item.
    #[error("job '{job}' has no item {item}; {}", items(*.count))]
    NoSuchItem {
        /// The job.
        job: JobName,
        /// The item.
        item: ShardingItem,
        /// How many items there are.
        count: usize,
    },
    /// No instance could run it.
    #[error("nothing was triggered: {}", nobody(.target, *.online))]
    NoEnabledInstance {
        /// The target.
        target: Target,
        /// How many instances of it are online.
        online: usize,
    },
    /// Nothing runs that could be cancelled.
    #[error("nothing was cancelled: {}", .why.of(.job, *.item))]
    NothingToCancel {
        /// The job.
        job: JobName,
        /// The item that was meant; `None` for all of them.
        item: Option<ShardingItem>,
        /// Why.
        why: NotCancelled,
    },
    /// A fire cannot be run again.
    #[error("nothing was run again: {}", .why.of(.job))]
    NotRerun {
        /// The job.
        job: JobName,
        /// Why.
        why: NotRerun,
    },
    /// The job runs.
    #[error(
        "job '{job}' was not removed: {} online ({}); shut them down first, or force it",
        if .instances.len() == 1 { "an instance is" } else { "instances are" },
        list(.instances, ", ")
    )]
    InstancesOnline {
        /// The job.
        job: JobName,
        /// The instances that are online.
        instances: Vec<InstanceId>,
    },
    /// A configuration that cannot be used.
    #[error("the configuration of job '{job}' was not changed: {}", list(.problems, "; "))]
    Invalid {
        /// The job.
        job: JobName,
        /// All problems.
        problems: Vec<Invalid>,
    },
    /// The configuration of a carried job: its registration is written over it each time the job starts.
    #[error(
        "the configuration of job '{job}' was not changed: it is a carried job, and its registration would be written over the \
         change; change the registration instead, with `PUT /api/job/update` of a scheduler of `elasticjob cloud`, or on the page \
         of the registered job"
    )]
    CarriedJob {
        /// The job.
        job: JobName,
    },
    /// The configuration in the registry center cannot be read.
    #[error("the configuration of job '{job}' in the registry center cannot be used: {reason}")]
    Unreadable {
        /// The job.
        job: JobName,
        /// The problem.
        reason: WireError,
    },
    /// Another client changed the configuration since it was read.
    #[error(
        "the configuration of job '{job}' was not changed: another operator or program changed it meanwhile; read it again"
    )]
    ChangedMeanwhile {
        /// The job.
        job: JobName,
    },
    /// Other clients wrote each time the operation tried.
    #[error("{done} done, and no more: others changed the same nodes again and again; try again")]
    Contended {
        /// How much was done.
        done: usize,
    },
    /// The registry center did not answer a read.
    #[error(transparent)]
    Read(#[from] RegistryError),
    /// A transaction was not applied, or it is not known whether it was.
    #[error("{}{reason}", if *.done == 0 { String::new() } else { format!("{done} done, then: ") })]
    Write {
        /// How much was done before.
        done: usize,
        /// The error.
        reason: CommitError,
    },
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
    fn of(&self, job: &JobName, item: Option<ShardingItem>) -> String {
        let what = match item {
            Some(item) => format!("item {item} of job '{job}'"),
            None => format!("job '{job}'"),
        };
        match self {
            Self::Idle => format!("{what} does not run at the moment"),
            Self::NotMonitored => format!(
                "monitor-execution of job '{job}' is off, so the registry center does not know what runs; shut its \
                 instances down instead"
            ),
            Self::RunByJava(instance) => {
                let on = instance.as_ref().map_or_else(String::new, |instance| format!(" {instance}"));
                format!("{what} is run by the Java instance{on}, which knows of no cancellation")
            }
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
    Unusable(String),
}

impl NotRerun {
    fn of(&self, job: &JobName) -> String {
        match self {
            Self::NoSuchFire { at, nearest } if nearest.is_empty() => {
                format!("job '{job}' has no fire at {at}, and none before")
            }
            Self::NoSuchFire { at, nearest } => {
                format!("job '{job}' has no fire at {at}; nearest: {}", nearest.join(", "))
            }
            Self::UnknownFire { at, known } if known.is_empty() => {
                format!(
                    "job '{job}' runs after other jobs, and the registry center knows of no fire of it yet, so not of {at}"
                )
            }
            Self::UnknownFire { at, known } => format!(
                "job '{job}' runs after other jobs, and the registry center does not know of a fire at {at}; it knows {}",
                known.join(", ")
            ),
            Self::NotAllowed(_) => {
                format!("a job that runs after job '{job}' may not be run again by this user, and it would run with it")
            }
            Self::NotYet(at) => format!("the fire of job '{job}' at {at} is to come"),
            Self::NoFires => {
                format!("job '{job}' has no fires: it has neither a schedule nor jobs before it; trigger it instead")
            }
            Self::NotMonitored => format!(
                "monitor-execution of job '{job}' is off, so the registry center keeps no records of its fires; trigger it \
                 instead"
            ),
            Self::TriggerWaits(instance) => format!(
                "a manual trigger of job '{job}' waits for {instance}, which takes one at a time; try again when it has begun"
            ),
            Self::FollowerIsBehind(after) => format!(
                "job '{after}', which runs after job '{job}', has as many re-runs to follow as it can keep; try again when it \
                 has begun some of them"
            ),
            Self::Unusable(reason) => {
                format!("the configuration of job '{job}' in the registry center cannot be used: {reason}")
            }
        }
    }
}

impl OperationError {
    /// The text for readers of this job alone: it names no other job.
    pub fn of_its_job(&self) -> String {
        match self {
            Self::NoSuchJob { job, .. } => format!("there is no job '{job}' in the namespace"),
            Self::NotRerun { job, why: NotRerun::FollowerIsBehind(_) } => format!(
                "nothing was run again: a job that runs after job '{job}' has as many re-runs to follow as it can keep; try again \
                 when it has begun some of them"
            ),
            error => error.to_string(),
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

fn list<T: ToString>(parts: &[T], between: &str) -> String {
    parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

fn nobody(target: &Target, online: usize) -> String {
    match (target, online) {
        (Target::Server(_) | Target::ServerOfJob(..), 0) => format!("no instance is online on {target}; start one"),
        (Target::Server(_) | Target::ServerOfJob(..), _) => format!("{target} is disabled; enable it"),
        (Target::Job(_), 0) => format!("no instance of {target} is online; start one"),
        (Target::Job(_), _) => format!("the servers of all instances of {target} are disabled; enable one"),
    }
}

fn unmatched(target: &Target, what: &str) -> String {
    match target {
        Target::Job(job) => format!("job '{job}' has no {what}"),
        Target::Server(ip) => format!("no job has any {what} at '{ip}'"),
        Target::ServerOfJob(job, ip) => format!("job '{job}' has no {what} at '{ip}'"),
    }
}

/// The name that was meant, where one is near; else those that there are.
fn near_or_known(job: &JobName, jobs: &[JobName]) -> String {
    /// More names do not help in one line.
    const SHOWN: usize = 10;
    if let Some(near) = nearest(job.as_str(), jobs.iter().map(JobName::as_str)) {
        return format!("did you mean '{near}'?");
    }
    let names: Vec<&str> = jobs.iter().take(SHOWN).map(JobName::as_str).collect();
    match jobs.len() {
        0 => "it has none".to_owned(),
        count if count > SHOWN => format!("it has {count}, among them {}", names.join(", ")),
        _ => format!("known: {}", names.join(", ")),
    }
}

fn items(count: usize) -> String {
    match count {
        0 => "it has none yet: they are made at the first assignment".to_owned(),
        1 => "it has item 0 alone".to_owned(),
        count => format!("its items are 0 to {}", count - 1),
    }
}
