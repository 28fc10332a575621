//! The command line, as types for its parser.

#[cfg(feature = "cloud")]
mod cloud;
#[cfg(feature = "console")]
mod console;
mod parse;
mod registry;
mod traces;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use elasticjob::ident::JobName;

use self::parse::dump_address;

#[cfg(feature = "kubernetes")]
pub(crate) use cloud::KubernetesArguments;
#[cfg(feature = "cloud")]
pub(crate) use cloud::{CarrierType, CloudArguments, MemoryLimitType};
#[cfg(feature = "console")]
pub(crate) use console::{ConsoleArguments, ConsoleCommand};
pub(crate) use registry::{Cancel, ConfigCommand, Jobs, Nodes, Of, RegistryCommand, Rerun, Set, Switch, Trigger};
pub(crate) use traces::{Actions, Decisions, History, Log, States};

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
usage or settings, 3 registry center not reached; of console and cloud 130 and 143: a second signal, Ctrl-C or SIGTERM, \
ended it at once.";

/// Where the jobs are.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Registry center")]
pub(crate) struct Registry {
    /// The registry center of this name, of those in elasticjob.reg-centers, with the tracing of this name; default: that of
    /// elasticjob.reg-center
    #[arg(long, global = true, value_name = "NAME", conflicts_with_all = ["server_lists", "namespace", "digest", "tls",
        "tls_trust_store", "tls_client_certificate", "tls_client_key"])]
    pub(crate) registry: Option<String>,
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

impl Registry {
    /// The name of the registry center; `None` for the one without a name.
    pub(crate) fn name(&self) -> Option<&str> {
        self.registry.as_deref().filter(|name| *name != DEFAULT)
    }
}

/// The registry center without a name, in the console and where names are asked for.
pub(crate) const DEFAULT: &str = "default";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The coming fires of a cron expression; needs no registry center
    Next(Next),
    /// The runs of items, of a job or of all, from the database that elasticjob.tracing names; needs no registry center
    History(History),
    /// The log of a job in a run, from the database that elasticjob.tracing names; needs no registry center
    Log(Log),
    /// Decisions besides normal runs: fires that were skipped, takeovers, leaders; from the same database
    Decisions(Decisions),
    /// The changes of state of runs, from the same database
    States(States),
    /// The actions of operators, also those that failed, from the same database
    Audit(Actions),
    /// What is wrong now, the most urgent first; where elasticjob.tracing names a database, also which runs take long, and who
    /// disabled a job
    Alarms,
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
