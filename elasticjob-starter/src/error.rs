//! Errors of an application: it did not start, or a handle was not found.

use std::fmt;
use std::io;

use elasticjob::ident::JobName;
use elasticjob::registry::zookeeper::ConnectError;
use elasticjob::runtime::{AddressError, EnvironmentError, StartError, TriggerError};

use crate::plan::PlanError;
use crate::settings::{Origin, SettingError};

/// A problem that keeps an application from starting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A problem of the settings of the program.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A problem of the jobs that code and settings describe together.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A problem of the host.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The host has no address that matches `elasticjob.preferred.network`.
    #[error("{origin}: {reason}")]
    Address {
        /// The place of the settings.
        origin: Origin,
        /// The problem.
        reason: AddressError,
    },
    /// A problem of a job.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// An application did not start, or could not do what the program asked for.
///
/// Its `Debug` is the same as its `Display`, so a program whose `main` returns it prints a readable text.
#[non_exhaustive]
pub enum AppError {
    /// All problems of settings and jobs. There was no connection to a registry center.
    Invalid(Vec<Problem>),
    /// A registry center of the settings was not reached, or refused the connection.
    Connect {
        /// Its section of the settings.
        section: String,
        /// The problem. The keys in its text are below that section.
        error: ConnectError,
    },
    /// The storage of tracing was not reached, or refused the connection.
    Tracing {
        /// The place of the setting.
        origin: Origin,
        /// The setting.
        key: String,
        /// The problem.
        reason: String,
    },
    /// The coordination of a job ended by a bug several times in a row.
    JobFailed {
        /// The job.
        job: JobName,
        /// The cause of the last end.
        why: String,
    },
    /// The dump port could not be opened.
    Dump {
        /// The place of the setting.
        origin: Origin,
        /// The problem.
        reason: String,
    },
    /// The console could not be opened.
    Console {
        /// The place of the setting.
        origin: Origin,
        /// The problem.
        reason: String,
    },
    /// The metrics port could not be opened.
    Metrics {
        /// The place of the setting.
        origin: Origin,
        /// The problem.
        reason: String,
    },
    /// A job could not be started.
    Start(StartError),
    /// No job could be started, as the configurations of all jobs in the registry center cannot be used.
    NoneStarted(Vec<StartError>),
    /// The program asked for a handle by a name that no job of that kind has.
    NoSuchJob {
        /// The name.
        bean: String,
        /// The kind of handle.
        wanted: &'static str,
        /// The names that exist.
        known: String,
    },
    /// The program asked for a handle while `elasticjob.enabled` is false.
    Disabled {
        /// The name.
        bean: String,
    },
    /// A job was not triggered.
    Trigger(TriggerError),
    /// The filter of the log is not valid.
    LogFilter {
        /// The environment variable.
        variable: &'static str,
        /// The problem.
        reason: String,
    },
    /// The program was started for items of a carried job, and they failed, or it does not have them.
    Carried {
        /// The job, where it is known.
        job: Option<JobName>,
        /// Why.
        why: String,
    },
    /// The registry center is closed for good, so that no job runs any more.
    RegistryClosed,
    /// Signals of the operating system cannot be received.
    Signals(io::Error),
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AppError::Invalid(problems) => match problems.as_slice() {
                [only] => write!(f, "no job was started: {only}"),
                several => {
                    write!(f, "no job was started, {} things are wrong:", several.len())?;
                    several.iter().try_for_each(|problem| write!(f, "\n  - {problem}"))
                }
            },
            AppError::Connect { section, error } => write!(f, "no job was started: {section}: {error}"),
            AppError::Tracing { origin, key, reason } => write!(f, "no job was started: {origin}: {key}: {reason}"),
            AppError::Dump { origin, reason } => {
                write!(f, "no job was started: {origin}: elasticjob.dump.port: {reason}")
            }
            AppError::Console { origin, reason } => {
                write!(f, "no job was started: {origin}: elasticjob.console: {reason}")
            }
            AppError::Metrics { origin, reason } => {
                write!(f, "no job was started: {origin}: elasticjob.metrics.port: {reason}")
            }
            AppError::Start(error) => write!(f, "{error}"),
            AppError::NoneStarted(errors) => {
                f.write_str("no job was started:")?;
                errors.iter().try_for_each(|error| write!(f, "\n  - {error}"))
            }
            AppError::NoSuchJob { bean, wanted, known } => write!(f, "no {wanted} has the bean name '{bean}'; {known}"),
            AppError::Disabled { bean } => {
                write!(f, "there is no job '{bean}': `elasticjob.enabled` is false, so no job was started")
            }
            AppError::Trigger(error) => write!(f, "{error}"),
            AppError::Carried { job: Some(job), why } => write!(f, "carried job '{job}': {why}"),
            AppError::Carried { job: None, why } => f.write_str(why),
            AppError::LogFilter { variable, reason } => {
                write!(
                    f,
                    "the environment variable {variable} is not a filter of the log, for example `info,my_app=debug`: {reason}"
                )
            }
            AppError::RegistryClosed => f.write_str(
                "the registry center is closed for good, so no job runs any more: the log says why, for example that it \
                 refused the digest; start the program again when that is mended",
            ),
            AppError::JobFailed { job, why } => write!(
                f,
                "the coordination of job '{job}' ended by a bug again and again, so that the program ends: start it again, and \
                 report the bug: {why}"
            ),
            AppError::Signals(error) => write!(f, "signals cannot be received: {error}"),
        }
    }
}

impl fmt::Debug for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for AppError {}

impl From<TriggerError> for AppError {
    fn from(error: TriggerError) -> Self {
        Self::Trigger(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_main_prints_can_be_read() {
        let error = AppError::Disabled { bean: "x".to_owned() };
        assert_eq!(format!("{error:?}"), "there is no job 'x': `elasticjob.enabled` is false, so no job was started");
    }
}
