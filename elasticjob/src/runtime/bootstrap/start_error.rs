//! Says why a job cannot be started.

use super::START_TIMEOUT;
use crate::ident::JobName;

/// A job that cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A job of this kind needs a schedule, or must not have one.
    #[error("job '{job}': {reason}")]
    Kind {
        /// The job.
        job: JobName,
        /// The reason.
        reason: &'static str,
    },
    /// Settings that this version, or this program, does not support.
    #[error("job '{job}': {}", .refused.join("; "))]
    Unsupported {
        /// The job.
        job: JobName,
        /// The settings.
        refused: Vec<String>,
    },
    /// The configuration in the registry cannot be used, or the program leaves to it what it does not have. The job was started
    /// all the same: it joins its group as soon as the configuration there can be used. Shut the job down to give up.
    #[error(
        "job '{job}' waits for a configuration in the registry that it can use: {why}; correct it there, or start once with \
         `overwrite: true` where the program has all of it"
    )]
    WaitsForConfiguration {
        /// The job.
        job: JobName,
        /// The reason why the configuration cannot be used.
        why: String,
    },
    /// It was started before.
    #[error("job '{job}' was started before")]
    StartedBefore {
        /// The job.
        job: JobName,
    },
    /// The group refused the job.
    #[error("job '{job}' did not start: {why}")]
    Refused {
        /// The job.
        job: JobName,
        /// Why, and what to do.
        why: String,
    },
    /// The registry center did not answer.
    #[error("job '{job}' did not start: the registry center did not answer within {} s", START_TIMEOUT.as_secs())]
    TimedOut {
        /// The job.
        job: JobName,
    },
}
