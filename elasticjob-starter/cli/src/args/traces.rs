//! `elasticjob history` and `elasticjob log`: what is read from the database of traces.

use chrono::{DateTime, Utc};
use clap::Args;
use elasticjob::fire::ExecutionSource;
use elasticjob::ident::{InstanceId, JobName, ShardingItem};
use elasticjob::trace::{Cursor, LogLevel};

use super::parse::time_with_offset;

#[derive(Debug, Args)]
pub(crate) struct History {
    /// The job
    pub(crate) job: JobName,
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
    /// Runs that started at this time or later, for example 2024-03-10T00:00:00-05:00
    #[arg(long, value_name = "TIME", value_parser = time_with_offset)]
    pub(crate) from: Option<DateTime<Utc>>,
    /// Runs that started before this time
    #[arg(long, value_name = "TIME", value_parser = time_with_offset)]
    pub(crate) until: Option<DateTime<Utc>>,
    /// How many runs, the last ones first
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
    /// Start after this cursor, as printed by the previous page
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<Cursor>,
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
