//! `elasticjob console` and its commands.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `elasticjob console`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ConsoleArguments {
    #[command(subcommand)]
    pub(crate) command: Option<ConsoleCommand>,
    /// The address to listen on; one that other hosts reach needs elasticjob.console-users [default: settings
    /// elasticjob.console.address and elasticjob.console.port, 127.0.0.1:8899]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// Refuse all changes [setting elasticjob.console.read-only]
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
    pub(crate) data: Option<PathBuf>,
}

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
        data: Option<PathBuf>,
    },
    /// Makes a token for a program, and its hash for elasticjob.console-tokens
    NewToken,
}
