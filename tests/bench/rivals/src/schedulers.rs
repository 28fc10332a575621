//! The schedulers, each as its documentation shows it.

use std::any::Any;
use std::error::Error;
use std::str::FromStr;
use std::sync::Arc;

use apalis::prelude::{BoxDynError, Data, WorkerBuilder};
use apalis_cron::{CronScheduler, Tick};
use elasticjob_tests::measure::{Begins, sleep_to};
use elasticjob_tests::records::now_us;
use tokio_cron_scheduler::{Job, JobScheduler};

/// Every second, in the dialect that both share.
const EACH_SECOND: &str = "* * * * * *";

/// What fires the schedules.
#[derive(Debug, Clone, Copy)]
pub enum Scheduler {
    /// The crate `tokio-cron-scheduler`.
    TokioCronScheduler,
    /// The crate `apalis-cron`.
    ApalisCron,
    /// No scheduler: a timer of the runtime for each schedule, and a call. No schedule is asked for its next fire.
    Timers,
}

impl FromStr for Scheduler {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "tokio-cron-scheduler" => Ok(Self::TokioCronScheduler),
            "apalis-cron" => Ok(Self::ApalisCron),
            "timers" => Ok(Self::Timers),
            _ => Err(format!("there is no scheduler '{name}'")),
        }
    }
}

impl Scheduler {
    /// Starts so many jobs. They run as long as what is returned lives.
    pub async fn start(self, jobs: usize, begins: &Arc<Begins>) -> Result<Box<dyn Any>, Box<dyn Error>> {
        match self {
            Self::TokioCronScheduler => tokio_cron_scheduler(jobs, begins).await,
            Self::ApalisCron => apalis_cron(jobs, begins),
            Self::Timers => Ok(timers(jobs, begins)),
        }
    }
}

/// A job is not told what time it was scheduled for: the last full second is taken for it.
async fn tokio_cron_scheduler(jobs: usize, begins: &Arc<Begins>) -> Result<Box<dyn Any>, Box<dyn Error>> {
    // The channels of notices hold 200 unless told otherwise; with more jobs some fires would be dropped.
    let channel = (jobs * 2).max(200);
    let scheduler = JobScheduler::new_with_channel_size(channel).await?;
    for _ in 0..jobs {
        let begins = begins.clone();
        let job = Job::new_async(EACH_SECOND, move |_, _| {
            begins.add(now_us() / 1_000_000 * 1_000);
            Box::pin(async {})
        })?;
        scheduler.add(job).await?;
    }
    scheduler.start().await?;
    Ok(Box::new(scheduler))
}

fn apalis_cron(jobs: usize, begins: &Arc<Begins>) -> Result<Box<dyn Any>, Box<dyn Error>> {
    async fn tick(tick: Tick, begins: Data<Arc<Begins>>) -> Result<(), BoxDynError> {
        begins.add(i64::try_from(tick.get_timestamp())? * 1_000);
        Ok(())
    }

    for number in 0..jobs {
        let backend = CronScheduler::new(cron::Schedule::from_str(EACH_SECOND)?);
        let worker = WorkerBuilder::new(format!("worker-{number}")).backend(backend).data(begins.clone()).build(tick);
        tokio::spawn(async move {
            if let Err(error) = worker.run().await {
                eprintln!("a worker of apalis ended: {error}");
            }
        });
    }
    Ok(Box::new(()))
}

fn timers(jobs: usize, begins: &Arc<Begins>) -> Box<dyn Any> {
    for _ in 0..jobs {
        let begins = begins.clone();
        tokio::spawn(async move {
            loop {
                let next_ms = (now_us() / 1_000_000 + 1) * 1_000;
                sleep_to(next_ms).await;
                begins.add(next_ms);
            }
        });
    }
    Box::new(())
}
