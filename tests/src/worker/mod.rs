//! A process of a group under test: jobs whose items write to a fenced sink again and again while they run. What happens
//! to them is recorded, one JSON object a line. SIGTERM is a graceful shutdown.

mod listeners;
mod log;
mod pace;
mod plan;
mod recorder;
mod run;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use elasticjob::api::item_handler;
use elasticjob::registry::zookeeper::{ConnectError, ZookeeperConfiguration};
use elasticjob::runtime::{JobEnvironment, ScheduleJobBootstrap, ShutdownMode};
use elasticjob::spi::Catalog;
use futures_util::future::{join_all, try_join_all};
use tokio::signal::unix::{SignalKind, signal};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use self::listeners::{RecordEveryInstance, RecordOnce};
use self::log::RecordSkips;
pub use self::pace::Pace;
pub use self::plan::{Bug, JobPlan, WorkerPlan};
use self::recorder::Recorder;
use self::run::{Sink, run_item};

/// Runs a worker until SIGTERM. Exit code 0, or 1 when it failed.
pub fn main(plan: WorkerPlan) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let worked = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(work(plan)));
    match worked {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(1)
        }
    }
}

async fn work(plan: WorkerPlan) -> Result<(), Box<dyn Error>> {
    let mut terminated = signal(SignalKind::terminate())?;
    let recorder = Arc::new(Recorder::open(&plan.records)?);
    tracing_subscriber::registry()
        .with(tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false))
        .with(RecordSkips::new(recorder.clone()))
        .with(LevelFilter::INFO)
        .init();

    let catalog = Catalog::builder().listener(RecordEveryInstance(recorder.clone()));
    let catalog = catalog.once_listener(RecordOnce(recorder.clone())).build()?;
    let environment = JobEnvironment::builder().catalog(catalog).build()?;
    let mut zookeeper = ZookeeperConfiguration::new(&plan.zookeeper, &plan.namespace);
    zookeeper.session_timeout_milliseconds = plan.session_timeout_ms;
    zookeeper.digest = plan.digest.clone().map(Into::into);
    zookeeper.base_sleep_time_milliseconds = 100;
    zookeeper.max_sleep_time_milliseconds = 1000;
    zookeeper.max_retries = 20;
    let registry = loop {
        let connected = tokio::select! {
            connected = environment.connect_zookeeper(zookeeper.clone()) => connected,
            // As a program is that is stopped while no server answers.
            _ = terminated.recv() => return Ok(()),
        };
        match connected {
            Ok(registry) => break registry,
            // As the supervisor of a program would: faults may last longer than its patience.
            Err(ConnectError::Unreachable { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    };

    let mut jobs = Vec::new();
    for job in &plan.jobs {
        let sink = Arc::new(Sink::new(&plan, job, recorder.clone())?);
        let handler = item_handler(move |context| run_item(context, sink.clone()));
        jobs.push(ScheduleJobBootstrap::new(&environment, registry.clone(), job.configuration()?, handler)?);
    }
    let started = tokio::select! {
        started = try_join_all(jobs.iter_mut().map(ScheduleJobBootstrap::schedule)) => Some(started),
        // As a program is that is stopped while it starts.
        _ = terminated.recv() => None,
    };
    if let Some(started) = started {
        started?;
        terminated.recv().await;
    }
    join_all(jobs.iter_mut().map(|job| job.shutdown(ShutdownMode::Graceful))).await;
    registry.close().await;
    Ok(())
}
