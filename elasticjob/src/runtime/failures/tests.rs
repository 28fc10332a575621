use chrono::DateTime;
use tokio::time::Instant;

use super::*;
use crate::api::{AnyJobErrorHandler, Failed, JobErrorHandler, JobResult};
use crate::config::JobConfiguration;
use crate::ident::InstanceId;
use crate::test_log::Logged;
use crate::type_registry::TypeOrigin;

const LIMIT: Duration = Duration::from_secs(3);

/// Ends when the error of a failure is `well`, panics when it is `panic`, and never ends otherwise.
struct Handler;

impl JobErrorHandler for Handler {
    fn type_name(&self) -> &str {
        "HANDLER"
    }

    async fn handle(&self, failure: &JobFailure) -> JobResult {
        match failure.error.as_str() {
            "well" => Ok(()),
            "panic" => panic!("out of paper"),
            _ => std::future::pending().await,
        }
    }
}

fn failures(runtime: Handle) -> Failures {
    let mut handlers = ErrorHandlers::built_in();
    handlers.add("HANDLER", TypeOrigin::Added, Arc::new(AnyJobErrorHandler::new(Handler))).unwrap();
    Failures::new(Arc::new(handlers), runtime)
}

fn failure(job: &str, error: &str) -> JobFailure {
    let configuration = JobConfiguration::builder(job, 1).job_error_handler_type("HANDLER").build().unwrap();
    let (instance, at) = (InstanceId::of_process("10.0.0.1", 7), DateTime::UNIX_EPOCH.fixed_offset());
    JobFailure::new(Arc::new(configuration), instance, Failed::Item(3), error, at)
}

fn name(job: &str) -> JobName {
    JobName::new(job).unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_is_not_told_in_time_is_logged_once_with_its_text() {
    let logged = Logged::default();
    let _default = tracing::subscriber::set_default(logged.clone());
    let failures = failures(Handle::current());
    let began = Instant::now();
    failures.report(failure("reports", "disk is full"));
    failures.told(&name("others"), LIMIT).await;
    assert_eq!(began.elapsed(), Duration::ZERO, "another job has nothing to tell");
    failures.told(&name("reports"), LIMIT).await;
    assert_eq!(began.elapsed(), LIMIT);
    failures.told(&name("reports"), LIMIT).await;
    assert_eq!(began.elapsed(), LIMIT, "nobody waits for it again");
    let lines = logged.lines();
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(line.contains("not ended in time") && line.contains("Job 'reports': item 3 failed on"), "{line}");
    assert!(line.contains("HANDLER") && line.contains(": disk is full"), "{line}");
}

#[tokio::test(start_paused = true)]
async fn what_is_told_is_not_waited_for() {
    let failures = failures(Handle::current());
    let began = Instant::now();
    (0..3).for_each(|_| failures.report(failure("reports", "well")));
    failures.told(&name("reports"), LIMIT).await;
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_is_logged_with_what_it_was_to_tell() {
    let logged = Logged::default();
    let _default = tracing::subscriber::set_default(logged.clone());
    let failures = failures(Handle::current());
    failures.report(failure("reports", "panic"));
    failures.told(&name("reports"), LIMIT).await;
    let lines = logged.lines();
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(line.contains("the error handler failed: it panicked at") && line.contains("out of paper"), "{line}");
    assert!(line.contains("the failure that it should have reported: Job 'reports': item 3 failed on"), "{line}");
}

#[test]
fn what_goes_with_the_runtime_of_the_program_is_logged() {
    let logged = Logged::default();
    let _default = tracing::subscriber::set_default(logged.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let failures = failures(runtime.handle().clone());
    failures.report(failure("reports", "disk is full"));
    drop(runtime);
    failures.report(failure("reports", "too late"));
    let lines = logged.lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines.iter().all(|line| line.contains("the program ended before the error handler")), "{lines:?}");
    assert!(lines[0].contains(": disk is full") && lines[1].contains(": too late"), "{lines:?}");
}
