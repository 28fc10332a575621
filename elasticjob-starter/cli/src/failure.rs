//! Failures of commands, and their exit codes.

use elasticjob::operations::dump::DumpError;
use elasticjob::operations::{OperationError, PastError, shell_operand};
use elasticjob::registry::zookeeper::ConnectError;
use elasticjob::trace::ReadError;
#[cfg(feature = "tracing-rdb")]
use elasticjob::trace::rdb::RdbError;
use elasticjob_starter::settings::SettingError;

/// The reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// The settings are wrong.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  "))]
    Settings(Vec<SettingError>),
    /// There is no session with the registry center.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The operation failed.
    #[error("{}{}", .0, remedy(.0))]
    Operation(#[from] OperationError),
    /// The dump port failed.
    #[error(transparent)]
    Dump(#[from] DumpError),
    /// The job has no such item.
    #[error("job '{job}' has no item {item}: {why}")]
    NoSuchItem {
        /// The job.
        job: String,
        /// The item.
        item: u32,
        /// The items that exist.
        why: String,
    },
    /// No run is recorded.
    #[error("no run of job '{job}'{} is recorded", .at.as_ref().map(|at| format!(" at {at}, or within a minute after it,")).unwrap_or_default())]
    NoRun {
        /// The job.
        job: String,
        /// The time that was asked for.
        at: Option<String>,
    },
    /// No job has such a server.
    #[error("no job has any server at '{0}'")]
    NoServer(String),
    /// The registry center has no such node.
    #[error("the registry center has no node {0:?} in the namespace")]
    NoNode(String),
    /// The database of the traces was not opened.
    #[error(transparent)]
    #[cfg(feature = "tracing-rdb")]
    Traces(#[from] RdbError),
    /// The traces cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The past of a fire cannot be read.
    #[error(transparent)]
    Past(PastError),
    /// The web console does not start, or ended.
    #[error("{0}")]
    #[cfg(feature = "console")]
    Console(String),
    /// The standard output takes no text, for example because its disk is full.
    #[error("what was asked for is done, but its result cannot be written to the standard output: {0}")]
    Output(std::io::Error),
    /// Changes cannot be followed.
    #[error("changes are not followed any more: {0}")]
    Watch(String),
}

/// The commands that help against an error.
fn remedy(error: &OperationError) -> String {
    match error {
        OperationError::Unreadable { job, .. } => {
            let job = shell_operand(job.as_str());
            format!(
                "; `elasticjob dump {job}` shows its text. Start an instance once with `overwrite: true`, which writes that \
                 of its program, or remove the job with `elasticjob config remove --force {job}`, which its next start \
                 makes again"
            )
        }
        OperationError::InstancesOnline { job, .. } => {
            format!(": `elasticjob config remove --force {}` makes them leave", shell_operand(job.as_str()))
        }
        _ => String::new(),
    }
}

impl Failure {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_)
            | Self::Settings(_)
            | Self::Connect(ConnectError::Invalid(_))
            | Self::Operation(OperationError::Invalid { .. }) => 2,
            Self::Connect(ConnectError::Unreachable { .. } | ConnectError::Failed { .. }) | Self::Watch(_) => 3,
            Self::Operation(error) if error.is_unreachable() => 3,
            Self::Connect(_) | Self::Operation(_) | Self::Dump(_) | Self::NoSuchItem { .. } => 1,
            Self::Read(_)
            | Self::Past(_)
            | Self::Output(_)
            | Self::NoRun { .. }
            | Self::NoServer(_)
            | Self::NoNode(_) => 1,
            #[cfg(feature = "console")]
            Self::Console(_) => 1,
            #[cfg(feature = "tracing-rdb")]
            Self::Traces(_) => 1,
        }
    }
}
