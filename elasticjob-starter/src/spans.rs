//! A span of OpenTelemetry for each run of an item.
//!
//! Spans go to the tracer provider that the program has set with
//! [`opentelemetry::global::set_tracer_provider`](opentelemetry::global::set_tracer_provider); without one they go nowhere.
//! The names of attributes are those of the Java instrumentation of ElasticJob, so that a group of Rust and Java
//! instances looks the same; those that Java does not have begin with `elasticjob.`.

use std::sync::Arc;

use elasticjob::__private::log::guarded;
use elasticjob::api::{ItemHandler, ItemWork, JobResult, ShardingContext};
use elasticjob::fire::TraceParent;
use elasticjob::trace::RunLog;
use opentelemetry::context::FutureExt;
use opentelemetry::trace::{
    Link, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceId, TraceState, Tracer,
    TracerProvider,
};
use opentelemetry::{Context, InstrumentationScope, KeyValue, global};

/// The name of the scope of these spans.
const SCOPE: &str = "elasticjob";

/// The trace context of the code that calls, for the jobs that it triggers. `None` where no span is current. The
/// [handles](crate::ElasticJobApp::schedule_job) of jobs ask for it themselves;
/// [`Operations`](elasticjob::operations::Operations) are told:
///
/// ```no_run
/// # use std::sync::Arc;
/// use elasticjob_starter::elasticjob::operations::Operations;
/// # fn with(registry: Arc<dyn elasticjob_starter::elasticjob::registry::RegistryCenter>) {
/// let operations = Operations::new(registry).caused_by(elasticjob_starter::caller_trace());
/// # }
/// ```
pub fn caller_trace() -> Option<TraceParent> {
    let mut found = None;
    guarded(|| {
        found = Context::map_current(|context| {
            let caller = context.span().span_context().clone();
            let (trace, span) = (caller.trace_id().to_bytes(), caller.span_id().to_bytes());
            TraceParent::new(u128::from_be_bytes(trace), u64::from_be_bytes(span), caller.trace_flags().to_u8())
        });
    });
    found
}

/// A handler whose runs have spans. `job_type` is the name of the type of the job.
pub(crate) fn with_spans(handler: ItemHandler, job_type: &str) -> ItemHandler {
    let job_type: Arc<str> = job_type.into();
    handler.around(move |context, work| {
        // It begins when the work does: an item may have to wait for its turn before.
        let (context, job_type) = (context.clone(), job_type.clone());
        let begin = move || RunSpan::begin(&context, &job_type);
        match work {
            ItemWork::Async(run) => ItemWork::Async(Box::pin(async move {
                let span = begin();
                let result = run.with_context(span.context.clone()).await;
                span.end(result)
            })),
            ItemWork::Blocking(run) => ItemWork::Blocking(Box::new(move || {
                let span = begin();
                let result = {
                    let _current = span.context.clone().attach();
                    run()
                };
                span.end(result)
            })),
        }
    })
}

/// The span of a run. One that is dropped before its end was cut off, or panicked.
struct RunSpan {
    context: Context,
    has_ended: bool,
}

impl RunSpan {
    fn begin(run: &ShardingContext, job_type: &str) -> Self {
        // A fire is no part of what happens to be current where the program started its jobs.
        let mut context = Context::new();
        guarded(|| {
            let scope = InstrumentationScope::builder(SCOPE).with_version(env!("CARGO_PKG_VERSION")).build();
            let tracer = global::tracer_provider().tracer_with_scope(scope);
            let span = tracer
                .span_builder(run.job_name().to_string())
                .with_kind(SpanKind::Internal)
                .with_attributes(attributes(run, job_type))
                .with_links(run.fire().trace_parent().map(link_to).into_iter().collect());
            let span = tracer.build_with_context(span, &Context::new());
            context = Context::new().with_span(span);
        });
        Self { context, has_ended: false }
    }

    fn end(mut self, result: JobResult) -> JobResult {
        self.has_ended = true;
        let (word, error) = match &result {
            Ok(()) => ("success", None),
            Err(error) => ("failure", Some(error.to_string())),
        };
        self.close(word, error);
        result
    }

    fn close(&self, result: &'static str, error: Option<String>) {
        guarded(|| {
            let span = self.context.span();
            span.set_attribute(KeyValue::new("elasticjob.result", result));
            match error {
                Some(error) => {
                    span.set_attribute(KeyValue::new("error.type", result));
                    span.set_status(Status::error(error));
                }
                None => span.set_status(Status::Ok),
            }
            span.end();
        });
    }
}

impl Drop for RunSpan {
    fn drop(&mut self) {
        if !self.has_ended {
            let (result, error) = match std::thread::panicking() {
                true => ("panic", "it panicked"),
                false => ("cancellation", "it was cut off before its end"),
            };
            self.close(result, Some(error.to_owned()));
        }
    }
}

/// The link to the caller that triggered the run.
fn link_to(caller: TraceParent) -> Link {
    let (trace, span) = (TraceId::from(caller.trace_id()), SpanId::from(caller.span_id()));
    let context = SpanContext::new(trace, span, TraceFlags::new(caller.flags()), true, TraceState::NONE);
    Link::with_context(context)
}

fn attributes(run: &ShardingContext, job_type: &str) -> Vec<KeyValue> {
    let mut attributes = vec![
        KeyValue::new("job.system", "elasticjob"),
        KeyValue::new("scheduling.apache-elasticjob.job.name", run.job_name().to_string()),
        KeyValue::new("scheduling.apache-elasticjob.job.type", job_type.to_owned()),
        KeyValue::new("scheduling.apache-elasticjob.task.id", run.task_id().to_string()),
        KeyValue::new("scheduling.apache-elasticjob.sharding.item.index", i64::from(run.sharding_item())),
        KeyValue::new("scheduling.apache-elasticjob.sharding.total.count", i64::from(run.sharding_total_count())),
        KeyValue::new("elasticjob.instance.id", run.instance_id().to_string()),
        KeyValue::new("elasticjob.execution.source", run.source().to_string()),
        KeyValue::new("elasticjob.fire.scheduled_time", run.scheduled_at().to_rfc3339()),
    ];
    let parameter = run.sharding_parameter();
    let parameter =
        parameter.map(|it| KeyValue::new("scheduling.apache-elasticjob.sharding.item.parameter", it.to_owned()));
    attributes.extend(parameter);
    if let Some(log) = RunLog::current() {
        attributes.push(KeyValue::new("elasticjob.execution.id", log.execution_id().to_owned()));
        attributes.extend(log.attempt().map(|attempt| KeyValue::new("elasticjob.attempt", attempt.to_string())));
    }
    attributes
}

#[cfg(test)]
mod tests;
