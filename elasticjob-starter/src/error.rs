//! Why an application did not start or a handle was not found.

use std::fmt;
use std::io;

use elasticjob::ident::JobName;
use elasticjob::registry::zookeeper::ConnectError;
use elasticjob::runtime::address::AddressError;
use elasticjob::runtime::{EnvironmentError, StartError, TriggerError};

use crate::plan::PlanError;
use crate::settings::{Origin, SettingError};

/// One thing that keeps an application from starting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The settings of the program.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The jobs that code and settings describe together.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The host.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The host has no address as `elasticjob.preferred.network` wants it.
    #[error("{origin}: {reason}")]
    Address {
        /// Where the settings stand.
        origin: Origin,
        /// What is wrong with them.
        reason: AddressError,
    },
    /// A job.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// Why an application did not start, or what it was asked for could not be done.
///
/// Its `Debug` is its `Display`: what a program prints whose `main` returns it can be read.
#[non_exhaustive]
pub enum AppError {
    /// Everything that is wrong with settings and jobs. No registry center was touched.
    Invalid(Vec<Problem>),
    /// A registry center of the settings was not reached, or refused.
    Connect {
        /// Its section of the settings.
        section: String,
        /// What is wrong. The keys in its text are those below the section.
        error: ConnectError,
    },
    /// The storage that runs are traced to was not reached, or refused.
    Tracing {
        /// Where the setting stands.
        origin: Origin,
        /// The setting.
        key: String,
        /// What is wrong.
        reason: String,
    },
    /// The coordination of a job ended by a bug again and again.
    JobFailed {
        /// The job.
        job: JobName,
        /// What ended it last.
        why: String,
    },
    /// The dump port could not be opened.
    Dump {
        /// Where the setting stands.
        origin: Origin,
        /// What is wrong.
        reason: String,
    },
    /// A job could not be started.
    Start(StartError),
    /// No job could be started, as the configurations of all of them in the registry center cannot be used.
    NoneStarted(Vec<StartError>),
    /// A handle was asked for by a name that no job of its kind has.
    NoSuchJob {
        /// The name.
        bean: String,
        /// What was asked for.
        wanted: &'static str,
        /// What there is.
        known: String,
    },
    /// A handle was asked for while `elasticjob.enabled` is false.
    Disabled {
        /// The name.
        bean: String,
    },
    /// A job was not triggered.
    Trigger(TriggerError),
    /// The filter of the log.
    LogFilter {
        /// The environment variable.
        variable: &'static str,
        /// What is wrong with it.
        reason: String,
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
