//! The command line, as types for its parser.

use chrono::{DateTime, Utc};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use elasticjob::fire::ExecutionSource;
use elasticjob::ident::{InstanceId, JobName, ShardingItem};
use elasticjob::trace::{Cursor, LogLevel};

/// Looks at the jobs of a registry center and operates them.
#[derive(Debug, Parser)]
#[command(name = "elasticjob", version, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Write JSON, for programs. Times are in milliseconds since 1970 unless they are texts.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Why it is done, for the decision log of the job
    #[arg(long, global = true, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) registry: Registry,
}

const AFTER_HELP: &str = "The registry center is that of application.yaml and the environment, as the program of the \
jobs reads them: elasticjob.reg-center.*, ELASTICJOB_REG_CENTER_*.\n\nExit codes: 0 done, 1 failed or not found, 2 wrong \
usage or settings, 3 registry center not reached.";

/// Where the jobs are.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Registry center")]
pub(crate) struct Registry {
    /// ZooKeeper servers, host:port with commas between them [setting elasticjob.reg-center.server-lists]
    #[arg(long, global = true, value_name = "SERVERS")]
    pub(crate) server_lists: Option<String>,
    /// Node below which the jobs are [setting elasticjob.reg-center.namespace]
    #[arg(long, global = true)]
    pub(crate) namespace: Option<String>,
    /// user:password; others on this machine can see it here, so better set ELASTICJOB_REG_CENTER_DIGEST
    #[arg(long, global = true, value_name = "USER:PASSWORD")]
    pub(crate) digest: Option<String>,
    /// Reach the servers with TLS [setting elasticjob.reg-center.tls.enabled]
    #[arg(long, global = true)]
    pub(crate) tls: bool,
    /// PEM file with the CAs to trust; turns TLS on [setting elasticjob.reg-center.tls.trust-store]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) tls_trust_store: Option<String>,
    /// PEM file with the own certificate; turns TLS on [setting elasticjob.reg-center.tls.client-certificate]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) tls_client_certificate: Option<String>,
    /// PEM file with the key of that certificate; turns TLS on [setting elasticjob.reg-center.tls.client-key]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) tls_client_key: Option<String>,
    /// File or folder of the settings, instead of the usual places
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<String>,
    /// Profiles of the settings, with commas between them
    #[arg(long, global = true)]
    pub(crate) profile: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The coming fires of a cron expression; needs no registry center
    Next(Next),
    /// The runs of a job, from the database that elasticjob.tracing names; needs no registry center
    History(History),
    /// What a job logged in a run, from the database that elasticjob.tracing names; needs no registry center
    Log(Log),
    #[command(flatten)]
    OnRegistry(RegistryCommand),
    /// All nodes of a job, with secrets masked
    Dump(Dump),
    /// The web console: pages and a REST API for the jobs of the registry center
    #[cfg(feature = "console")]
    Console(ConsoleArguments),
    /// The scheduler of carried jobs: each sharding item is a process of its own; with a REST API and the web console
    #[cfg(feature = "cloud")]
    Cloud(CloudArguments),
    /// The script that completes commands in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// `elasticjob console`.
#[cfg(feature = "console")]
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ConsoleArguments {
    #[command(subcommand)]
    pub(crate) command: Option<ConsoleCommand>,
    /// The address to listen on; one that other hosts reach needs elasticjob.console-users [default: settings
    /// elasticjob.console.address and elasticjob.console.port, 127.0.0.1:8899]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// Nobody may change anything [setting elasticjob.console.read-only]
    #[arg(long)]
    pub(crate) read_only: bool,
    /// The path before all others, behind a proxy [setting elasticjob.console.base-path]
    #[arg(long, value_name = "PATH")]
    pub(crate) base_path: Option<String>,
    /// The names by which visitors without a login may call it, beside those of this host, with commas between [setting
    /// elasticjob.console.allowed-hosts]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) allowed_hosts: Vec<elasticjob_console::HostName>,
    /// The file that keeps what has to outlive the console; it is made where it is missing [setting elasticjob.console.data;
    /// default: memory]
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<std::path::PathBuf>,
}

/// `elasticjob cloud`.
#[cfg(feature = "cloud")]
#[derive(Debug, Args)]
pub(crate) struct CloudArguments {
    /// What runs the processes
    #[arg(long, value_enum, default_value = "process")]
    pub(crate) carrier: CarrierType,
    /// The address to listen on; one that other hosts reach needs elasticjob.console-users [default: settings
    /// elasticjob.console.address and elasticjob.console.port, 127.0.0.1:8899]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// Everybody on this host may do everything; only on a loopback address
    #[arg(long)]
    pub(crate) no_authentication: bool,
    /// The names by which visitors without a login may call it, beside those of this host, with commas between [setting
    /// elasticjob.console.allowed-hosts]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) allowed_hosts: Vec<elasticjob_console::HostName>,
    /// Where packages, logs and outcomes are kept, and without a registry center the registrations; with the carrier slurm all
    /// nodes and schedulers share it
    #[arg(long, value_name = "DIR", default_value = "elasticjob-cloud")]
    pub(crate) work: std::path::PathBuf,
    /// The CPUs that all processes together may take [default: those of the host]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) cpus: Option<f64>,
    /// The memory in MB that all processes together may take [default: that of the host]
    #[arg(long, value_name = "MB")]
    pub(crate) memory: Option<f64>,
    /// How the memory of a process is limited [default: auto]
    #[arg(long, value_enum)]
    pub(crate) memory_limit: Option<MemoryLimitType>,
    /// The settings of the cluster, for the carrier slurm [default: the variable SLURM_CONF, or what Slurm finds]
    #[cfg(feature = "slurm")]
    #[arg(long, value_name = "FILE")]
    pub(crate) slurm_conf: Option<std::path::PathBuf>,
    /// The folder of Slurm's commands, for the carrier slurm [default: PATH]
    #[cfg(feature = "slurm")]
    #[arg(long, value_name = "DIR")]
    pub(crate) slurm_commands: Option<std::path::PathBuf>,
    #[cfg(feature = "kubernetes")]
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesArguments,
}

/// What the carrier kubernetes is told.
#[cfg(feature = "kubernetes")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Carrier kubernetes")]
pub(crate) struct KubernetesArguments {
    /// The file that names the cluster [default: that of KUBECONFIG, ~/.kube/config, or the cluster that the scheduler runs in]
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<std::path::PathBuf>,
    /// The context of that file [default: its current one]
    #[arg(long, value_name = "NAME")]
    pub(crate) kube_context: Option<String>,
    /// The namespace of the cluster for the Jobs [default: that of the context, or of the scheduler's pod]
    #[arg(long, value_name = "NAME")]
    pub(crate) kube_namespace: Option<String>,
    /// A pod is given up when its node did not answer for so long; it may still run there [default: it is waited for]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) lost_after: Option<u64>,
    /// A pod template (YAML or JSON, with metadata and spec) to which the carrier adds what a job needs
    #[arg(long, value_name = "FILE")]
    pub(crate) pod_template: Option<std::path::PathBuf>,
}

/// A carrier.
#[cfg(feature = "cloud")]
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum CarrierType {
    /// Processes of this host
    Process,
    /// Pods of a cluster
    #[cfg(feature = "kubernetes")]
    Kubernetes,
    /// Jobs of a Slurm cluster
    #[cfg(feature = "slurm")]
    Slurm,
}

/// A way to limit memory.
#[cfg(feature = "cloud")]
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum MemoryLimitType {
    /// A control group where one can be made, else the address space
    Auto,
    /// The address space; programs on a JVM or of Go do not start so
    AddressSpace,
    /// None
    Off,
}

#[cfg(feature = "console")]
#[derive(Debug, Subcommand)]
pub(crate) enum ConsoleCommand {
    /// Reads a password from the standard input, and writes its hash for elasticjob.console-users
    HashPassword,
    /// Gives a user of the data file of a console that is stopped another password: the one on the standard input; where that
    /// is empty, one is made and printed
    SetPassword {
        /// The user
        user: String,
        /// The data file [default: setting elasticjob.console.data]
        #[arg(long, value_name = "FILE")]
        data: Option<std::path::PathBuf>,
    },
    /// Makes a token for a program, and its hash for elasticjob.console-tokens
    NewToken,
}

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
    /// Which job runs after which, as a tree, with --json or --dot as data
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
            | Self::Graph { .. } => false,
            Self::Config { command: ConfigCommand::Get { .. } } => false,
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
pub(crate) struct Next {
    /// Seconds, minutes, hours, day of month, month, day of week, and year if wanted
    #[arg(value_name = "EXPR")]
    pub(crate) expression: String,
    /// Time zone, an IANA name or GMT+8:00; default: that of this process
    #[arg(long)]
    pub(crate) zone: Option<String>,
    /// Only fires after this time, for example 2024-03-10T00:00:00-05:00; default: now
    #[arg(long, value_name = "RFC3339")]
    pub(crate) from: Option<String>,
    /// How many fires
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) count: u32,
}

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
    /// The page after this cursor, which the page before told
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
    /// Made up for, as the fire came while the run before was going on.
    Misfire,
    /// Taken over, as the run before was lost with its instance.
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
    /// Settings as application.yaml names them, for example cron="0 0 3 * * ?" or props.key=value; empty takes back, but for cron
    #[arg(value_name = "SETTING=VALUE", required_unless_present = "remove_prop")]
    pub(crate) settings: Vec<String>,
    /// A property to remove; may be repeated
    #[arg(long, value_name = "KEY")]
    pub(crate) remove_prop: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Dump {
    /// The job
    pub(crate) job: JobName,
    /// Write ip1, ip2 and so on for addresses
    #[arg(long)]
    pub(crate) hide_addresses: bool,
    /// Ask the dump port of an instance, host:port, instead of the registry center
    #[arg(long, value_name = "ADDRESS", value_parser = dump_address, conflicts_with = "hide_addresses")]
    pub(crate) from: Option<String>,
}

/// A time of RFC 3339; seconds may be left out.
fn time_with_offset(text: &str) -> Result<DateTime<Utc>, String> {
    let without_seconds = || DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M%:z");
    let time = DateTime::parse_from_rfc3339(text).or_else(|_| without_seconds());
    time.map(Into::into)
        .map_err(|_| "expected a date, a time and an offset from UTC, for example 2026-11-21T03:00+08:00".to_owned())
}

fn dump_address(text: &str) -> Result<String, &'static str> {
    let wrong = "expected HOST:PORT, where the port is that of `elasticjob.dump.port`, for example localhost:9888";
    let (host, port) = text.rsplit_once(':').ok_or(wrong)?;
    let is_host = !host.is_empty() && (!host.contains(':') || (host.starts_with('[') && host.ends_with(']')));
    let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
    if is_host && is_port { Ok(text.to_owned()) } else { Err(wrong) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_time_has_an_offset_and_may_have_seconds() {
        let three = time_with_offset("2026-11-21T03:00+08:00");
        assert_eq!(three.as_ref().map(DateTime::timestamp), Ok(1_795_201_200));
        assert_eq!(time_with_offset("2026-11-20T19:00:00Z"), three);
        for wrong in ["2026-11-21T03:00", "03:00", "2026-11-21", "yesterday"] {
            assert!(time_with_offset(wrong).is_err_and(|why| why.contains("offset")), "{wrong}");
        }
    }

    #[test]
    fn an_address_of_a_dump_port_has_a_host_and_a_port() {
        for right in ["localhost:9888", "10.0.0.1:1", "[::1]:9888"] {
            assert_eq!(dump_address(right).as_deref(), Ok(right));
        }
        for wrong in ["localhost", "localhost:", ":9888", "localhost:0", "localhost:99999", "::1", "::1:9888"] {
            assert!(dump_address(wrong).is_err_and(|why| why.contains("HOST:PORT")), "{wrong}");
        }
    }
}
