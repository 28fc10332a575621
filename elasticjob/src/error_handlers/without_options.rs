//! Error handlers that need no options: `LOG`, `THROW` and `IGNORE`.

use crate::api::{JobErrorHandler, JobFailure, JobResult};
use crate::config::LOG;
use crate::escaped::Escaped;
use crate::log::error;

fn log(failure: &JobFailure) {
    error!(job = %failure.job_name(), "{}", Escaped(failure));
}

/// Logs the failure.
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

/// Logs the failure, too. Java throws the error at the thread that runs the job, and that thread logs it; here no
/// thread waits for a run.
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

/// Does nothing. Where execution is monitored, the record of the item still keeps the error.
pub(super) struct Ignore;

impl JobErrorHandler for Ignore {
    fn type_name(&self) -> &str {
        "IGNORE"
    }

    async fn handle(&self, _: &JobFailure) -> JobResult {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::api::{Failed, fixture::context};
    use crate::test_log::Logged;

    use super::*;

    #[test]
    fn an_error_forges_no_line_of_the_log() {
        let logged = Logged::default();
        let context = context("job", "", "", &[]);
        let (configuration, instance) = (context.configuration().clone().into(), context.instance_id().clone());
        let error = "boom\n2026-01-01T00:00:00Z  INFO all is well\u{1b}[2K";
        let failure = JobFailure::new(configuration, instance, Failed::Item(0), error, context.scheduled_at());
        tracing::subscriber::with_default(logged.clone(), || log(&failure));
        let lines = logged.lines();
        assert!(lines[0].contains(r"boom\n2026-01-01T00:00:00Z  INFO all is well\u{1b}[2K"), "{lines:?}");
        assert!(!lines[0].contains(['\n', '\u{1b}']), "{lines:?}");
    }
}
