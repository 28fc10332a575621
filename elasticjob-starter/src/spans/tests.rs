use std::sync::Arc;
use std::time::Duration;

use elasticjob::api::{JobError, blocking_item_handler, item_handler};
use elasticjob::config::JobConfiguration;
use elasticjob::runtime::{JobEnvironment, OneOffJobBootstrap, ShutdownMode};
use elasticjob::trace::{JobEvent, JobExecutionEvent, RunLogOptions, TracingConfiguration, TracingStorage, WriteError};
use opentelemetry::Value;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::*;
use crate::ElasticJobApp;
use crate::settings::Sources;

/// Gives the records of runs that are over.
struct Ends(UnboundedSender<JobExecutionEvent>);

impl TracingStorage for Ends {
    fn type_name(&self) -> &str {
        "ENDS"
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        for event in events {
            if let JobEvent::Execution(run) = event
                && run.complete_time.is_some()
            {
                self.0.send(run.clone()).map_err(|closed| WriteError::Refused(closed.to_string()))?;
            }
        }
        Ok(())
    }
}

/// Runs a job of one item once, and shuts it down when the run is over.
async fn run(name: &str, handler: ItemHandler) -> JobExecutionEvent {
    run_until(name, handler, None).await.expect("the run is over")
}

/// Runs a job of one item once. Cuts it off when its code says that it runs, if it does.
async fn run_until(name: &str, handler: ItemHandler, runs: Option<&Notify>) -> Option<JobExecutionEvent> {
    let (ends, mut ended) = unbounded_channel();
    let tracing = TracingConfiguration::new(Ends(ends)).run_log(RunLogOptions::default());
    let environment = JobEnvironment::builder().build().unwrap().with_tracing(tracing).with_caller_trace(caller_trace);
    let job = JobConfiguration::builder(name, 1).sharding_item_parameters("0=Beijing").build().unwrap();
    let handler = with_spans(handler, "SIMPLE");
    let mut job = OneOffJobBootstrap::new(&environment, environment.embedded_registry(), job, handler).unwrap();
    job.start().await.unwrap();
    job.handle().execute().await.unwrap();
    let limit = Duration::from_secs(20);
    let record = if let Some(runs) = runs {
        tokio::time::timeout(limit, runs.notified()).await.unwrap();
        job.shutdown(ShutdownMode::Now).await;
        None
    } else {
        let record = tokio::time::timeout(limit, ended.recv()).await.unwrap();
        job.shutdown(ShutdownMode::Graceful).await;
        record
    };
    environment.tracing().unwrap().close(limit).await;
    record
}

/// Runs a one-off job of one item in a program, which triggers it.
async fn run_in_program(name: &str) {
    let sources = Sources::in_folder(std::env::temp_dir().join("elasticjob-no-such-folder"));
    let items = format!("--elasticjob.jobs.{name}.sharding-total-count=1");
    let runs = Arc::new(Notify::new());
    let job = {
        let runs = runs.clone();
        item_handler(move |_: ShardingContext| {
            runs.notify_one();
            std::future::ready(())
        })
    };
    let app = ElasticJobApp::builder().sources(sources).args([items]).job(name, job).start().await.unwrap();
    app.one_off_job(&format!("{name}OneOffJobBootstrap")).unwrap().execute().await.unwrap();
    tokio::time::timeout(Duration::from_secs(20), runs.notified()).await.unwrap();
    // It waits for what runs.
    app.shutdown().await;
}

fn attribute(span: &SpanData, name: &str) -> Option<Value> {
    span.attributes.iter().find(|attribute| attribute.key.as_str() == name).map(|attribute| attribute.value.clone())
}

/// One test, as the provider is that of the whole process.
#[tokio::test]
async fn each_run_of_an_item_is_a_span_with_the_attributes_of_java_and_how_it_ended() {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    global::set_tracer_provider(provider.clone());

    let child = || drop(global::tracer("job").start("step"));
    let record = run("well", item_handler(move |_: ShardingContext| async move { child() })).await;
    run("blocks", blocking_item_handler(move |_: ShardingContext| child())).await;
    let fails = item_handler(|_: ShardingContext| async { Err::<(), _>(JobError::message("no disk")) });
    run("fails", fails).await;
    let panics = item_handler(|run: ShardingContext| async move { assert_ne!(run.sharding_item(), 0, "out of range") });
    run("panics", panics).await;
    let runs = Arc::new(Notify::new());
    let endless = {
        let runs = runs.clone();
        item_handler(move |_: ShardingContext| {
            runs.notify_one();
            std::future::pending::<()>()
        })
    };
    run_until("endless", endless, Some(&runs)).await;
    let caller = Context::new().with_span(global::tracer("job").start("request"));
    run("linked", item_handler(|_: ShardingContext| async {})).with_context(caller.clone()).await;
    run_in_program("program").with_context(caller.clone()).await;
    caller.span().end();
    provider.force_flush().unwrap();

    let spans = exporter.get_finished_spans().unwrap();
    let of = |name: &str| {
        let found: Vec<_> = spans.iter().filter(|span| span.name == name).collect();
        let [span] = found[..] else { panic!("one span of {name}: {found:?}") };
        span
    };
    let well = of("well");
    for (name, value) in [
        ("job.system", Value::from("elasticjob")),
        ("scheduling.apache-elasticjob.job.name", "well".into()),
        ("scheduling.apache-elasticjob.job.type", "SIMPLE".into()),
        ("scheduling.apache-elasticjob.sharding.item.index", 0.into()),
        ("scheduling.apache-elasticjob.sharding.total.count", 1.into()),
        ("scheduling.apache-elasticjob.sharding.item.parameter", "Beijing".into()),
        ("elasticjob.execution.source", "NORMAL_TRIGGER".into()),
        ("elasticjob.execution.id", record.id.to_string().into()),
        ("elasticjob.attempt", record.attempt.expect("execution is monitored").to_string().into()),
        ("elasticjob.result", "success".into()),
    ] {
        assert_eq!(attribute(well, name), Some(value), "{name}");
    }
    let task = attribute(well, "scheduling.apache-elasticjob.task.id").unwrap();
    assert!(task.as_str().starts_with("well@-@0@-@READY@-@"), "{task}");
    assert_eq!((&well.status, well.span_kind.clone()), (&Status::Ok, SpanKind::Internal));
    for name in ["well", "blocks", "fails", "panics", "endless"] {
        assert_eq!(of(name).parent_span_id, SpanId::INVALID, "{name} is the root of its trace");
        assert!(of(name).links.is_empty(), "no span was current where {name} was triggered");
    }
    let request = &of("request").span_context;
    for linked in ["linked", "program"].map(of) {
        assert_eq!(linked.parent_span_id, SpanId::INVALID, "a caller is no parent");
        assert_ne!(linked.span_context.trace_id(), request.trace_id());
        let links: Vec<_> = linked.links.iter().map(|link| &link.span_context).collect();
        let [link] = links[..] else { panic!("one link of {}: {links:?}", linked.name) };
        assert_eq!((link.trace_id(), link.span_id()), (request.trace_id(), request.span_id()));
        assert!(link.is_sampled() && link.is_remote());
    }
    for name in ["well", "blocks"] {
        let of_run = of(name).span_context.span_id();
        assert!(
            spans.iter().any(|span| span.name == "step" && span.parent_span_id == of_run),
            "what {name} does is below it"
        );
    }
    for (name, result, text) in [
        ("fails", "failure", "no disk"),
        ("panics", "panic", "it panicked"),
        ("endless", "cancellation", "it was cut off before its end"),
    ] {
        assert_eq!(attribute(of(name), "error.type"), Some(result.into()), "{name}");
        assert_eq!(of(name).status, Status::error(text));
    }
}
