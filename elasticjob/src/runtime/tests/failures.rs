use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

use super::super::{Activity, ShutdownMode, StartError};
use super::*;
use crate::api::{
    Failed, JobError, JobErrorHandler, JobFailure, JobListener, JobResult, ListenerContext, blocking_item_handler,
};
use crate::fire::{ExecutionSource, Hook};
use crate::spi::Catalog;
use crate::test_log::Logged;

/// Sends what it is called with, and fails itself.
struct Telling(mpsc::UnboundedSender<JobFailure>);

impl JobErrorHandler for Telling {
    fn type_name(&self) -> &str {
        "TELLING"
    }

    async fn handle(&self, failure: &JobFailure) -> JobResult {
        self.0.send(failure.clone())?;
        panic!("as planned");
    }
}

struct Failing;

impl JobListener for Failing {
    fn type_name(&self) -> &str {
        "failing"
    }

    async fn after_job_executed(&self, _: &ListenerContext) -> JobResult {
        Err(JobError::message("no report"))
    }
}

#[tokio::test]
async fn what_fails_is_handed_to_the_handler_of_the_job_which_goes_on() {
    let (sender, mut failures) = mpsc::unbounded_channel();
    let catalog = Catalog::builder().error_handler(Telling(sender)).listener(Failing).build().unwrap();
    let environment = JobEnvironment::builder().catalog(catalog).build().unwrap();
    let registry = connect(&MemoryRegistry::new());
    let handler = item_handler(|context: ShardingContext| async move {
        assert!(context.sharding_item() != 1, "item {} panics", context.sharding_item());
        Err::<(), _>("item 0 fails")
    });
    let job = each_second("failing", 2).job_error_handler_type("TELLING").job_listener_type("failing");
    let mut job = scheduled(&environment, &registry, job, handler).await;
    let mut told = Vec::new();
    // Waits for the failures of two fires: the first ones stop nothing.
    while told.len() < 6 {
        let failure = soon(failures.recv()).await.unwrap();
        assert_eq!(failure.job_name().as_str(), "failing");
        let run = failure.run.expect("it is of a fire");
        assert!(run.scheduled_at <= failure.at && run.scheduled_at.timestamp_subsec_nanos() == 0);
        assert_eq!(run.key.source, ExecutionSource::NormalTrigger);
        let task = format!("failing@-@0,1@-@READY@-@{}", failure.instance);
        assert_eq!(run.task_id.as_str(), task);
        told.push((failure.what, failure.error));
    }
    job.shutdown(ShutdownMode::Now).await;
    let listener = Failed::Listener { type_name: "failing".to_owned(), hook: Hook::After };
    for (what, error) in
        [(Failed::Item(0), "item 0 fails"), (Failed::Item(1), "item 1 panics"), (listener, "no report")]
    {
        let of: Vec<&String> = told.iter().filter(|(of, _)| *of == what).map(|(_, error)| error).collect();
        assert!(of.len() >= 2 && of[0].contains(error), "{told:?}");
    }
}

#[tokio::test]
async fn an_unknown_handler_and_wrong_options_are_errors_before_anything_is_written() {
    let environment = environment();
    let refused = |builder: JobConfigurationBuilder| {
        let (handler, _) = reporter();
        let registry = environment.embedded_registry();
        let made = ScheduleJobBootstrap::new(&environment, registry, builder.build().unwrap(), handler);
        match made.map(drop) {
            Err(StartError::Unsupported { refused, .. }) => refused.join("; "),
            other => panic!("{other:?}"),
        }
    };
    let unknown = refused(each_second("a", 1).job_error_handler_type("FAX"));
    for part in ["job-error-handler-type: there is no error handler 'FAX'", "DINGTALK (built in)", "LOG (built in)"] {
        assert!(unknown.contains(part), "{unknown}");
    }
    let options = refused(each_second("a", 1).job_error_handler_type("WECHAT"));
    assert!(options.contains("props.wechat.webhook: is missing"), "{options}");
    let email = ["host", "username", "password"].map(|option| (option, "here"));
    let email = email.into_iter().chain([("port", "25"), ("from", "a@b.c"), ("to", "a@b.c")]);
    let email = email.chain([("ssl.trusted.certificates", "no/such.pem")]);
    let job = each_second("a", 1).job_error_handler_type("EMAIL");
    let file = refused(email.fold(job, |job, (option, value)| job.prop(format!("email.{option}"), value)));
    assert!(file.contains("props.email.ssl.trusted.certificates: 'no/such.pem': "), "{file}");
}

/// Sends a message when it is called, and what it was called with as soon as it is released.
struct Slow {
    told: mpsc::UnboundedSender<Option<JobFailure>>,
    release: CancellationToken,
}

impl JobErrorHandler for Slow {
    fn type_name(&self) -> &str {
        "SLOW"
    }

    async fn handle(&self, failure: &JobFailure) -> JobResult {
        self.told.send(None)?;
        self.release.cancelled().await;
        self.told.send(Some(failure.clone()))?;
        Ok(())
    }
}

#[tokio::test]
async fn a_job_that_leaves_waits_until_its_failures_are_told() {
    let (told, mut tells) = mpsc::unbounded_channel();
    let release = CancellationToken::new();
    let slow = Slow { told, release: release.clone() };
    let environment =
        JobEnvironment::builder().catalog(Catalog::builder().error_handler(slow).build().unwrap()).build().unwrap();
    let handler = item_handler(|context: ShardingContext| async move {
        context.stop_wanted().await;
        Err::<(), _>("half done")
    });
    let registry = environment.embedded_registry();
    let job = each_second("slow", 1).job_error_handler_type("SLOW");
    let mut job = scheduled(&environment, &registry, job, handler).await;
    let mut status = job.handle().status();
    soon(status.wait_for(|status| !status.running.is_empty())).await.unwrap();
    let mut leaving = std::pin::pin!(job.shutdown(ShutdownMode::Graceful));
    assert!(leaving.as_mut().now_or_never().is_none());
    soon(status.wait_for(|status| status.activity == Activity::Stopped)).await.unwrap();
    assert!(soon(tells.recv()).await.unwrap().is_none());
    assert!(leaving.as_mut().now_or_never().is_none(), "it has left, and is still telling");
    release.cancel();
    soon(leaving).await;
    let failure = tells.try_recv().unwrap().expect("it was told before the shutdown was over");
    assert_eq!((failure.what, failure.error.as_str()), (Failed::Item(0), "half done"));
}

/// The reports of a job whose only run is cut off at once and uses this handler.
async fn told_of_cut_off(handler: ItemHandler) -> Vec<JobFailure> {
    let (begins, mut begun) = mpsc::unbounded_channel();
    // A run that is cut off before its begin ends in another way.
    let handler = ItemHandler::new(move |context| {
        begins.send(()).expect("the test goes on");
        handler.work(context)
    });
    let (sender, mut failures) = mpsc::unbounded_channel();
    let catalog = Catalog::builder().error_handler(Telling(sender)).build().unwrap();
    let environment = JobEnvironment::builder().catalog(catalog).build().unwrap();
    let registry = environment.embedded_registry();
    let job = each_second("cut", 1).job_error_handler_type("TELLING");
    let mut job = scheduled(&environment, &registry, job, handler).await;
    soon(begun.recv()).await.unwrap();
    soon(job.shutdown(ShutdownMode::Now)).await;
    std::iter::from_fn(|| failures.try_recv().ok()).collect()
}

#[tokio::test]
async fn a_run_that_is_cut_off_is_told_once_unless_it_ends_well() {
    let dropped = told_of_cut_off(item_handler(|_| std::future::pending::<()>())).await;
    let [failure] = dropped.as_slice() else { panic!("{dropped:?}") };
    let why = "the shutdown waits no longer";
    assert_eq!((&failure.what, &failure.error), (&Failed::Item(0), &format!("it was cut off before its end: {why}")));
    assert!(failure.run.is_some());

    let gave_up = told_of_cut_off(item_handler(|context: ShardingContext| async move {
        let before = context.cut_reason();
        context.cancelled().await;
        Err::<(), _>(format!("{before:?}, then {:?}", context.cut_reason()))
    }));
    let gave_up = gave_up.await;
    let [failure] = gave_up.as_slice() else { panic!("{gave_up:?}") };
    assert_eq!(failure.error, format!("None, then Some(Shutdown) (it was cut off: {why})"));

    let well = told_of_cut_off(item_handler(|context: ShardingContext| async move { context.cancelled().await }));
    assert!(well.await.is_empty());
}

#[tokio::test]
async fn a_run_that_cannot_be_cut_off_is_told_when_the_instance_leaves_without_it() {
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = std::sync::Mutex::new(released);
    let blocks = blocking_item_handler(move |_| {
        let _ = released.lock().unwrap().recv();
    });
    let told = told_of_cut_off(blocks).await;
    drop(release);
    let [failure] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(failure.what, Failed::Item(0));
    assert!(failure.error.contains("does not end, as its code blocks"), "{}", failure.error);
}

#[tokio::test]
async fn properties_that_nobody_reads_are_warned_of_at_the_start() {
    let logged = Logged::default();
    let _default = ::tracing::subscriber::set_default(logged.clone());
    let environment = environment();
    let registry = environment.embedded_registry();
    let script = environment.catalog().job_types().get("SCRIPT").unwrap().handler().clone();
    let job = each_second("odd", 1).elastic_job_type("SCRIPT").job_error_handler_type("DINGTALK");
    let job = job.prop("script.command.line", "true").prop("script.timeout.miliseconds", "5");
    let job = job.prop("dingtalk.webhook", "http://robot").prop("dingtalk.keywrod", "x").prop("email.hots", "x");
    let mut job = scheduled(&environment, &registry, job, script).await;
    job.shutdown(ShutdownMode::Now).await;
    let lines = logged.lines();
    let said: Vec<&String> = lines.iter().filter(|line| line.contains("is not known")).collect();
    let [timeout, keyword] = said.as_slice() else { panic!("{lines:?}") };
    assert!(timeout.starts_with("WARN props.script.timeout.miliseconds: "), "{timeout}");
    assert!(timeout.contains("did you mean 'script.timeout.milliseconds'?") && timeout.contains("odd"), "{timeout}");
    assert!(keyword.contains("did you mean 'dingtalk.keyword'?"), "{keyword}");
}
