use super::super::{ShutdownMode, StartError};
use super::*;
use crate::api::{ElasticJobListener, Failed, JobError, JobErrorHandler, JobFailure, JobResult, ListenerContext};
use crate::engine::Hook;
use crate::spi::Catalog;

/// Tells what it is called with, and fails itself.
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

impl ElasticJobListener for Failing {
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
    // Of two fires: the first ones stop nothing.
    while told.len() < 6 {
        let failure = soon(failures.recv()).await.unwrap();
        assert_eq!(failure.job_name().as_str(), "failing");
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
}
