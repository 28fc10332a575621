//! The layer that keeps what jobs log within their runs.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use elasticjob::trace::{LogLevel, RunLog};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// Keeps what jobs log within their runs, where `elasticjob.tracing.run-log` asks for it. [`init_logging`](crate::init_logging)
/// adds it; a program with a subscriber of its own adds it there:
///
/// ```
/// use elasticjob_starter::RunLogLayer;
/// use elasticjob_starter::tracing_subscriber::filter::LevelFilter;
/// use elasticjob_starter::tracing_subscriber::prelude::*;
/// use elasticjob_starter::tracing_subscriber::{fmt, registry};
///
/// let lines = fmt::layer().with_filter(LevelFilter::WARN);
/// let of_runs = RunLogLayer::new().with_filter(LevelFilter::INFO);
/// registry().with(lines).with(of_runs).init();
/// ```
///
/// A line belongs to the run whose code logs it. A task that a job spawns takes the run along with its span, by
/// `.in_current_span()` or `#[tracing::instrument]`, or with [`RunLog::scope`].
///
/// Where no logs of runs are kept, a line costs a look at a thread-local value.
#[derive(Debug, Default)]
pub struct RunLogLayer {
    /// Whether there was ever a run whose log is kept: only then its spans are looked for.
    is_used: AtomicBool,
}

impl RunLogLayer {
    /// Makes the layer.
    pub fn new() -> Self {
        Self::default()
    }
}

/// The log of the run that a span is in.
struct OfRun(RunLog);

impl<S> Layer<S> for RunLogLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, _: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(log) = RunLog::current() else { return };
        self.is_used.store(true, Ordering::Relaxed);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(OfRun(log));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let of_span = || {
            let mut spans = self.is_used.load(Ordering::Relaxed).then(|| context.event_scope(event)).flatten()?;
            spans.find_map(|span| span.extensions().get::<OfRun>().map(|of| of.0.clone()))
        };
        let Some(log) = RunLog::current().or_else(of_span) else { return };
        let level = level(*event.metadata().level());
        if log.keeps(level) {
            let mut text = Text::default();
            event.record(&mut text);
            let target = text.target.as_deref().unwrap_or(event.metadata().target());
            log.line(level, target, &format!("{}{}", text.message, text.fields));
        }
    }
}

fn level(level: Level) -> LogLevel {
    match level {
        Level::ERROR => LogLevel::Error,
        Level::WARN => LogLevel::Warn,
        Level::INFO => LogLevel::Info,
        Level::DEBUG => LogLevel::Debug,
        Level::TRACE => LogLevel::Trace,
    }
}

/// The text of an event: its message, and the fields after it.
#[derive(Debug, Default)]
struct Text {
    message: String,
    fields: String,
    /// The place that a line of the crate `log` names; its event has another one.
    target: Option<String>,
}

impl Text {
    fn add(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        // Writing to a text does not fail; a value that cannot be shown leaves out the rest of itself.
        let _ = match field.name() {
            "message" => self.message.write_fmt(value),
            "log.target" => self.target.insert(String::new()).write_fmt(value),
            name if name.starts_with("log.") => Ok(()),
            name => self.fields.write_fmt(format_args!(" {name}={value}")),
        };
    }
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, format_args!("{value}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        let mut text = value.to_string();
        let mut cause = value.source();
        while let Some(error) = cause {
            // Writing to a text does not fail.
            let _ = write!(text, ": {error}");
            cause = error.source();
        }
        self.add(field, format_args!("{text}"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use elasticjob::api::{ItemHandler, ShardingContext, item_handler};
    use elasticjob::config::JobConfiguration;
    use elasticjob::runtime::{JobEnvironment, OneOffJobBootstrap, ShutdownMode};
    use elasticjob::trace::{JobEvent, JobLogEvent, RunLogOptions, TracingConfiguration, TracingStorage, WriteError};
    use tokio::sync::Notify;
    use tracing::Instrument;
    use tracing_subscriber::prelude::*;

    use super::*;

    /// The lines that were kept.
    #[derive(Clone, Default)]
    struct Kept {
        lines: Arc<Mutex<Vec<String>>>,
        is_over: Arc<Notify>,
    }

    impl TracingStorage for Kept {
        fn type_name(&self) -> &str {
            "KEPT"
        }

        async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
            for event in events {
                match event {
                    JobEvent::Log(JobLogEvent { level, target, message, .. }) => {
                        self.lines.lock().unwrap().push(format!("{level} {target}: {message}"));
                    }
                    JobEvent::Execution(run) if run.complete_time.is_some() => self.is_over.notify_one(),
                    _ => {}
                }
            }
            Ok(())
        }
    }

    /// Runs a job once and returns what of its log was kept.
    async fn kept(handler: ItemHandler) -> Vec<String> {
        let kept = Kept::default();
        let tracing = TracingConfiguration::new(kept.clone()).run_log(RunLogOptions::default());
        let environment = JobEnvironment::builder().build().unwrap().with_tracing(tracing);
        let job = JobConfiguration::builder("job", 1).build().unwrap();
        let mut job = OneOffJobBootstrap::new(&environment, environment.embedded_registry(), job, handler).unwrap();
        job.start().await.unwrap();
        job.handle().execute().await.unwrap();
        tokio::time::timeout(Duration::from_secs(20), kept.is_over.notified()).await.unwrap();
        job.shutdown(ShutdownMode::Graceful).await;
        std::mem::take(&mut *kept.lines.lock().unwrap())
    }

    fn subscriber() -> impl Subscriber + Send + Sync {
        tracing_subscriber::registry().with(RunLogLayer::new().with_filter(tracing::level_filters::LevelFilter::INFO))
    }

    #[tokio::test]
    async fn the_lines_of_a_job_are_kept_with_their_fields_and_those_of_others_are_not() {
        let _default = tracing::subscriber::set_default(subscriber());
        tracing::info!(target: "test", "before");
        let lines = kept(item_handler(|_: ShardingContext| async {
            tracing::info!(target: "test", rows = 7, "it began");
            tracing::debug!(target: "test", "too fine");
            let error = std::io::Error::other("no disk");
            tracing::error!(target: "test", error = &error as &dyn std::error::Error, "it failed");
        }))
        .await;
        tracing::info!(target: "test", "after");
        assert_eq!(lines, ["INFO test: it began rows=7", "ERROR test: it failed error=no disk"]);
    }

    #[tokio::test]
    async fn a_task_takes_the_run_along_with_its_span() {
        let _default = tracing::subscriber::set_default(subscriber());
        let lines = kept(item_handler(|_: ShardingContext| async {
            let part = async { tracing::warn!(target: "test", "of a task") };
            tokio::spawn(part.in_current_span()).await.unwrap();
            tokio::spawn(async { tracing::warn!(target: "test", "of nobody") }).await.unwrap();
        }))
        .await;
        assert_eq!(lines, ["WARN test: of a task"]);
    }
}
