//! A process of a group under test: `worker --zookeeper HOST:PORT --namespace NAME --session-timeout-ms N --items N
//! --cron EXPR --run-ms N --records FILE --fence DIR`.
//!
//! One job whose items write to a fenced sink again and again while they run, and record what happens to them, one JSON
//! object a line. SIGTERM is a graceful shutdown. Exit code 0, 1 when it failed, 2 for wrong usage.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::api::{JobError, JobResult, ShardingContext, item_handler};
use elasticjob::config::JobConfiguration;
use elasticjob::registry::zookeeper::ZookeeperConfiguration;
use elasticjob::runtime::{JobEnvironment, ScheduleJobBootstrap, ShutdownMode};
use elasticjob_tests::fence::{Fence, FencedWrite};
use elasticjob_tests::records::{Record, What, now_us};
use elasticjob_tests::usage::arguments;
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "usage: worker --zookeeper HOST:PORT --namespace NAME --session-timeout-ms N --items N --cron EXPR \
                     --run-ms N --records FILE --fence DIR";

/// Time between two writes of a run.
const STEP: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Arguments {
    zookeeper: String,
    namespace: String,
    session_timeout_ms: u64,
    items: u32,
    cron: String,
    run_ms: u64,
    records: PathBuf,
    fence: PathBuf,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut parsed = Arguments::default();
    let mut missing = vec![
        "--zookeeper",
        "--namespace",
        "--session-timeout-ms",
        "--items",
        "--cron",
        "--run-ms",
        "--records",
        "--fence",
    ];
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"));
        missing.retain(|known| *known != name);
        match name.as_str() {
            "--session-timeout-ms" => parsed.session_timeout_ms = number()?,
            "--items" => parsed.items = u32::try_from(number()?).map_err(|error| format!("{name} {value}: {error}"))?,
            "--run-ms" => parsed.run_ms = number()?,
            "--zookeeper" => parsed.zookeeper = value,
            "--namespace" => parsed.namespace = value,
            "--cron" => parsed.cron = value,
            "--records" => parsed.records = value.into(),
            "--fence" => parsed.fence = value.into(),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    if missing.is_empty() { Ok(parsed) } else { Err(format!("missing: {}", missing.join(" "))) }
}

fn main() -> ExitCode {
    let arguments = match arguments(parse, USAGE) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::INFO).with_ansi(false).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let worked = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(work(arguments)));
    match worked {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(1)
        }
    }
}

async fn work(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let mut terminated = signal(SignalKind::terminate())?;
    let environment = JobEnvironment::builder().build()?;
    let mut zookeeper = ZookeeperConfiguration::new(arguments.zookeeper, arguments.namespace);
    zookeeper.session_timeout_milliseconds = arguments.session_timeout_ms;
    zookeeper.base_sleep_time_milliseconds = 100;
    zookeeper.max_sleep_time_milliseconds = 1000;
    zookeeper.max_retries = 20;
    let registry = environment.connect_zookeeper(zookeeper).await?;
    let sink = Arc::new(Sink {
        records: OpenOptions::new().create(true).append(true).open(arguments.records)?,
        fence: Fence::new(arguments.fence)?,
        // Counted, not timed: a process that was frozen in the midst of a run goes on with it.
        writes: arguments.run_ms / STEP.as_millis() as u64,
    });
    let configuration = JobConfiguration::builder("worker", arguments.items).cron(arguments.cron).build()?;
    let handler = item_handler(move |context| run_item(context, sink.clone()));
    let mut job = ScheduleJobBootstrap::new(&environment, registry.clone(), configuration, handler)?;
    job.schedule().await?;
    terminated.recv().await;
    job.shutdown(ShutdownMode::Graceful).await;
    registry.close().await;
    Ok(())
}

/// What the items of this process write to.
struct Sink {
    records: File,
    fence: Fence,
    writes: u64,
}

async fn run_item(context: ShardingContext, sink: Arc<Sink>) -> JobResult {
    let token = context.fencing_token().ok_or_else(|| JobError::message("a monitored run has a fencing token"))?;
    let mut run = RecordedRun { context: context.clone(), token, sink, over: false };
    run.record(What::Begin)?;
    for _ in 0..run.sink.writes {
        tokio::select! {
            biased;
            () = context.cancelled() => {
                // As a program would that learns of it too late.
                run.write()?;
                run.end(What::Cancelled)?;
                return Err(JobError::message("it was cancelled"));
            }
            () = tokio::time::sleep(STEP) => run.write()?,
        }
    }
    run.end(What::End)
}

/// A run that records its end also when it is dropped.
struct RecordedRun {
    context: ShardingContext,
    token: i64,
    sink: Arc<Sink>,
    over: bool,
}

impl RecordedRun {
    fn write(&self) -> JobResult {
        match self.sink.fence.write(self.context.sharding_item(), self.token)? {
            FencedWrite::Accepted => Ok(()),
            FencedWrite::Refused { .. } => self.record(What::Refused),
        }
    }

    fn end(&mut self, what: What) -> JobResult {
        self.over = true;
        self.record(what)
    }

    fn record(&self, what: What) -> JobResult {
        let record = Record {
            what,
            at_us: now_us(),
            item: self.context.sharding_item(),
            scheduled_ms: self.context.scheduled_at().timestamp_millis(),
            token: self.token,
            instance: self.context.instance_id().to_string(),
            pid: std::process::id(),
        };
        // One call a line: a process that is killed leaves no half of one.
        let line = serde_json::to_string(&record)? + "\n";
        (&self.sink.records).write_all(line.as_bytes())?;
        Ok(())
    }
}

impl Drop for RecordedRun {
    fn drop(&mut self) {
        if !self.over
            && let Err(error) = self.record(What::Dropped)
        {
            eprintln!("the end of a run could not be recorded: {error}");
        }
    }
}
