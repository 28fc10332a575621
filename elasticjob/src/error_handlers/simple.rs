//! Handlers that need nothing.

use crate::api::{JobErrorHandler, JobFailure, JobResult};
use crate::config::LOG;
use crate::log::error;

fn log(failure: &JobFailure) {
    error!(job = %failure.job_name(), "{failure}");
}

/// Logs.
pub(super) struct Log;

impl JobErrorHandler for Log {
    fn type_name(&self) -> &str {
        LOG
    }

    async fn handle(&self, failure: &JobFailure) -> JobResult {
        log(failure);
        Ok(())
    }
}

/// Logs, too. Java throws the error at the thread that runs the job, which logs it; here nothing waits for a run.
pub(super) struct Throw;

impl JobErrorHandler for Throw {
    fn type_name(&self) -> &str {
        "THROW"
    }

    async fn handle(&self, failure: &JobFailure) -> JobResult {
        log(failure);
        Ok(())
    }
}

/// Does nothing. Where execution is monitored the record of the item keeps the error all the same.
pub(super) struct Ignore;

impl JobErrorHandler for Ignore {
    fn type_name(&self) -> &str {
        "IGNORE"
    }

    async fn handle(&self, _: &JobFailure) -> JobResult {
        Ok(())
    }
}
