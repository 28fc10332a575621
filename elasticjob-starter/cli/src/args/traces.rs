//! `elasticjob history`, `log`, `decisions`, `states` and `audit`: what is read from the database of traces.

use chrono::{DateTime, Utc};
use clap::Args;
use elasticjob::fire::ExecutionSource;
use elasticjob::ident::{InstanceId, JobName, ShardingItem};
use elasticjob::trace::{Cursor, DecisionKind, LogLevel, PageRequest, TaskState};

use super::parse::time_with_offset;

/// Which part of a list of records is written.
#[derive(Debug, Args)]
pub(crate) struct Part {
    /// What was recorded for this time or later, for example 2024-03-10T00:00:00-05:00
    #[arg(long, value_name = "TIME", value_parser = time_with_offset)]
    pub(crate) from: Option<DateTime<Utc>>,
    /// What was recorded for the time before this one
    #[arg(long, value_name = "TIME", value_parser = time_with_offset)]
    pub(crate) until: Option<DateTime<Utc>>,
    /// How many, the last ones first
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
    /// Start after this cursor, as printed by the previous page
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<Cursor>,
}

impl Part {
    pub(crate) fn page(&self) -> PageRequest {
        PageRequest::default().limit(self.limit).after(self.after.clone())
    }
}

#[derive(Debug, Args)]
pub(crate) struct History {
    /// The job; without it the runs of all jobs
    pub(crate) job: Option<JobName>,
    /// Runs of this item alone
    #[arg(long)]
    pub(crate) item: Option<ShardingItem>,
    /// Runs on this instance alone
    #[arg(long, value_name = "ID")]
    pub(crate) instance: Option<InstanceId>,
    /// Runs that failed or were cut off alone
    #[arg(long)]
    pub(crate) failed: bool,
    /// Runs of this kind alone
    #[arg(long, value_name = "KIND")]
    pub(crate) source: Option<Source>,
    #[command(flatten)]
    pub(crate) part: Part,
}

#[derive(Debug, Args)]
pub(crate) struct Decisions {
    /// The job; without it those of all jobs
    pub(crate) job: Option<JobName>,
    /// Decisions about this item alone
    #[arg(long)]
    pub(crate) item: Option<ShardingItem>,
    /// Decisions of this instance alone
    #[arg(long, value_name = "ID")]
    pub(crate) instance: Option<InstanceId>,
    /// Decisions of this kind alone, for example SKIPPED; may be repeated
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Vec<DecisionKind>,
    #[command(flatten)]
    pub(crate) part: Part,
}

#[derive(Debug, Args)]
pub(crate) struct States {
    /// The job; without it those of all jobs
    pub(crate) job: Option<JobName>,
    /// States of runs on this instance alone
    #[arg(long, value_name = "ID")]
    pub(crate) instance: Option<InstanceId>,
    /// This state alone
    #[arg(long)]
    pub(crate) state: Option<State>,
    #[command(flatten)]
    pub(crate) part: Part,
}

#[derive(Debug, Args)]
pub(crate) struct Actions {
    /// The job; without it those on all jobs
    pub(crate) job: Option<JobName>,
    /// Actions on this item alone
    #[arg(long)]
    pub(crate) item: Option<ShardingItem>,
    /// Actions of operators with this part in their name
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) who: String,
    /// Actions with this part in their name, for example disable
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) what: String,
    #[command(flatten)]
    pub(crate) part: Part,
}

/// The states of a run.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum State {
    /// Begun in the registry center.
    Staging,
    /// Its items start.
    Running,
    /// Its items ended well.
    Finished,
    /// It failed, or an item of it.
    Error,
}

impl From<State> for TaskState {
    fn from(state: State) -> Self {
        match state {
            State::Staging => Self::Staging,
            State::Running => Self::Running,
            State::Finished => Self::Finished,
            State::Error => Self::Error,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Log {
    /// The job
    pub(crate) job: JobName,
    /// The run of this item alone
    #[arg(long)]
    pub(crate) item: Option<ShardingItem>,
    /// The fire at this time, or within a minute after it, for example 2026-11-21T03:00+08:00; default: the last one that ran
    #[arg(long, value_name = "TIME", value_parser = time_with_offset)]
    pub(crate) at: Option<DateTime<Utc>>,
    /// Lines of this level and those that matter more: error, warn, info, debug, trace
    #[arg(long)]
    pub(crate) level: Option<LogLevel>,
    /// Lines with this text alone
    #[arg(long, value_name = "TEXT")]
    pub(crate) contains: Option<String>,
    /// Write further lines as they come, until the run is over; with --json one object a line
    #[arg(long)]
    pub(crate) follow: bool,
}

/// Why items run.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Source {
    /// By schedule or by hand.
    Normal,
    /// Misfire: run after the run before it ended.
    Misfire,
    /// Failover: run again after its instance was lost.
    Failover,
}

impl From<Source> for ExecutionSource {
    fn from(source: Source) -> Self {
        match source {
            Source::Normal => Self::NormalTrigger,
            Source::Misfire => Self::Misfire,
            Source::Failover => Self::Failover,
        }
    }
}
