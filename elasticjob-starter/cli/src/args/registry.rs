//! The commands that need the registry center.

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::operations::NodePath;

use super::parse::time_with_offset;

#[derive(Debug, Subcommand)]
pub(crate) enum RegistryCommand {
    /// The jobs of the namespace
    Jobs(Jobs),
    /// The servers of the namespace, or of a job
    Servers {
        /// The servers of this job alone
        #[arg(long)]
        job: Option<JobName>,
    },
    /// The items of a job
    Shards {
        /// The job
        job: JobName,
    },
    /// A job with its instances, servers and items, and what is wrong with it
    Status {
        /// The job
        job: JobName,
        /// Write it again whenever something changes, until Ctrl-C
        #[arg(long)]
        watch: bool,
    },
    /// Why the items of a job run, do not run, or did not run
    Why {
        /// The job
        job: JobName,
        /// One of its items
        item: Option<ShardingItem>,
        /// What became of the fire at this time in the past, for example 2026-11-21T03:00+08:00; from the database that
        /// elasticjob.tracing names
        #[arg(long, value_name = "TIME", value_parser = time_with_offset)]
        at: Option<DateTime<Utc>>,
    },
    /// The jobs and the jobs after which they run, as a tree, with --json or --dot as data
    Graph {
        /// The jobs that are connected with this one alone
        job: Option<JobName>,
        /// Write it for Graphviz
        #[arg(long, conflicts_with = "json")]
        dot: bool,
        /// How the jobs stand for the fire of this time, for example 2026-11-21T03:00+08:00; default: the latest fire of each
        #[arg(long, value_name = "TIME", value_parser = time_with_offset, conflicts_with = "dot")]
        at: Option<DateTime<Utc>>,
    },
    /// A node of the registry center with its children, secrets masked
    Nodes(Nodes),
    /// Run a job now, on all enabled instances or on those of a server
    Trigger(Trigger),
    /// Run a past fire of a job again, and the jobs that run after it; give --reason
    Rerun(Rerun),
    /// Cancel what runs: it is not run again for its fire; give --reason
    Cancel(Cancel),
    /// Let servers, or an item, run again
    Enable(Switch),
    /// Keep servers, or an item, from running from the next fire on
    Disable(Switch),
    /// Make instances leave: what runs may finish, the process goes on without the job
    Shutdown(Of),
    /// Make instances leave and forget their servers
    Remove(Of),
    /// The configuration of a job in the registry center
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
}

impl RegistryCommand {
    /// Whether it changes anything.
    pub(crate) fn changes(&self) -> bool {
        match self {
            Self::Jobs(_)
            | Self::Servers { .. }
            | Self::Shards { .. }
            | Self::Status { .. }
            | Self::Why { .. }
            | Self::Graph { .. }
            | Self::Nodes(_) => false,
            Self::Config { command: ConfigCommand::Get { .. } } => false,
            Self::Config { command: ConfigCommand::Set(set) } if set.dry_run => false,
            Self::Trigger(_)
            | Self::Rerun(_)
            | Self::Cancel(_)
            | Self::Enable(_)
            | Self::Disable(_)
            | Self::Shutdown(_)
            | Self::Remove(_) => true,
            Self::Config { command: ConfigCommand::Set(_) | ConfigCommand::Remove { .. } } => true,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Jobs {
    /// This job alone
    #[arg(conflicts_with = "server")]
    pub(crate) job: Option<JobName>,
    /// The jobs that know this server
    #[arg(long, value_name = "IP")]
    pub(crate) server: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Nodes {
    /// Its path below the namespace, for example /settle/config
    #[arg(default_value = "/")]
    pub(crate) path: NodePath,
    /// Children after the one with this name, as printed by the previous page
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub(crate) after: String,
    /// How many children
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u8).range(1..=200))]
    pub(crate) limit: u8,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Trigger {
    /// The job; with --server: on this server alone
    pub(crate) job: Option<JobName>,
    /// The server; without a job: all jobs on it
    #[arg(long, value_name = "IP")]
    pub(crate) server: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Rerun {
    /// The job
    pub(crate) job: JobName,
    /// The scheduled time of the fire, for example 2026-11-21T03:00+08:00; the job sees it as its scheduled time again
    #[arg(long, value_name = "TIME", value_parser = time_with_offset)]
    pub(crate) fire: DateTime<Utc>,
}

#[derive(Debug, Args)]
pub(crate) struct Cancel {
    /// The job
    pub(crate) job: JobName,
    /// The run of this item alone
    #[arg(long)]
    pub(crate) item: Option<ShardingItem>,
}

/// A job, a server, or a server of a job.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Of {
    /// The job; with --server: this server of the job alone
    #[arg(long)]
    pub(crate) job: Option<JobName>,
    /// The server; without --job: in all jobs
    #[arg(long, value_name = "IP")]
    pub(crate) server: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Switch {
    #[command(flatten)]
    pub(crate) of: Of,
    /// An item of the job, instead of servers
    #[arg(long, requires = "job", conflicts_with = "server")]
    pub(crate) item: Option<ShardingItem>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show it, with secrets masked
    Get {
        /// The job
        job: JobName,
    },
    /// Change settings; running instances follow at once
    Set(Set),
    /// Remove the job with all that the registry center has of it
    Remove {
        /// The job
        job: JobName,
        /// Also when instances are online; they leave
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Set {
    /// The job
    pub(crate) job: JobName,
    /// Settings as application.yaml names them, for example cron="0 0 3 * * ?" or props.key=value; an empty value restores
    /// the default (not for cron)
    #[arg(value_name = "SETTING=VALUE", required_unless_present = "remove_prop")]
    pub(crate) settings: Vec<String>,
    /// A property to remove; may be repeated
    #[arg(long, value_name = "KEY")]
    pub(crate) remove_prop: Vec<String>,
    /// Check the change and say what it would change; write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
