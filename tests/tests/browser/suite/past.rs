//! Runs of the last weeks, so that the pages about the past have something to show: each night three items. Once a week
//! one of them fails, and another one is taken over.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use elasticjob::fire::ExecutionSource;
use elasticjob::ident::{InstanceId, JobName, TaskId};
use elasticjob::trace::rdb::{DataSource, RdbOptions, RdbTracingStorage, Retention};
use elasticjob::trace::{
    DecisionKind, JobDecisionEvent, JobEvent, JobExecutionEvent, JobLogEvent, LogLevel, Tracing, TracingConfiguration,
};
use elasticjob_tests::databases::Database;

/// The job whose past this is.
pub const JOB: &str = "nightly";
const NIGHTS: u32 = 40;
const ITEMS: u32 = 3;

/// What a page says of a night that was missed.
pub const MISSED: &str = "were missed, the process was stopped or the clock stepped";

/// Writes it, as an instance would have.
pub async fn write(database: &Database) {
    write_but(database, None).await;
}

/// Writes it with a night in which no item ran, as no instance was there at three.
pub async fn write_but(database: &Database, missed: Option<u32>) {
    let source = DataSource::new(database.url()).expect("an address");
    let mut options = RdbOptions::default();
    options.run_log = Some(Retention::default());
    let storage = RdbTracingStorage::connect(&source, options).await.expect("the tables are there");
    let tracing = Tracing::start(TracingConfiguration::new(storage), &tokio::runtime::Handle::current());
    if let Some(night) = missed {
        tracing.post(JobEvent::Decision(JobDecisionEvent {
            id: format!("missed-{night}"),
            job_name: JobName::new(JOB).expect("a name"),
            at: fire(night) + TimeDelta::hours(2),
            kind: DecisionKind::Missed,
            scheduled_at: Some(fire(night)),
            scheduled_until: Some(fire(night) + TimeDelta::days(1)),
            sharding_items: (0..ITEMS).collect(),
            instance: Some(instance(7)),
            related_instance: None,
            reason: "the host was restarted".to_owned(),
            detail: serde_json::Map::new(),
        }));
    }
    for night in (0..NIGHTS).filter(|night| Some(*night) != missed) {
        for run in (0..ITEMS).flat_map(|item| runs(night, item)) {
            log(&run).for_each(|line| tracing.post(JobEvent::Log(line)));
            tracing.post(JobEvent::Execution(run));
        }
    }
    tracing.close(Duration::from_secs(10)).await;
}

/// When the job fired so many nights before the last one: at 3:00 in Shanghai. Each seventh of them, the last one among them, has a failure.
pub fn fire(night: u32) -> DateTime<Utc> {
    let last = Utc::now().date_naive().and_hms_opt(19, 0, 0).expect("a time").and_utc() - TimeDelta::days(1);
    last - TimeDelta::days(night.into())
}

/// The runs of an item in a night.
fn runs(night: u32, item: u32) -> Vec<JobExecutionEvent> {
    let at = fire(night);
    let took = TimeDelta::milliseconds(i64::from(40_000 + night * 7_919 % 30_000 + item * 90_000));
    let run = run(item, at, at + TimeDelta::milliseconds(12), took);
    match (night % 7, item) {
        (0, 1) => vec![failed(run)],
        (0, 2) => {
            let lost = JobExecutionEvent { complete_time: None, success: false, ..run };
            let other = self::run(item, at, lost.start_time + TimeDelta::minutes(2), took);
            let instance = instance(8);
            let task_id = TaskId::new(&other.job_name, [item], &instance);
            vec![lost, JobExecutionEvent { source: ExecutionSource::Failover, instance, task_id, ..other }]
        }
        _ => vec![run],
    }
}

fn run(item: u32, at: DateTime<Utc>, start: DateTime<Utc>, took: TimeDelta) -> JobExecutionEvent {
    let (job_name, instance) = (JobName::new(JOB).expect("a name"), instance(7));
    let name = format!("{item}-{}", start.timestamp());
    JobExecutionEvent {
        id: name.as_str().into(),
        run_id: name.into(),
        task_id: TaskId::new(&job_name, [item], &instance),
        job_name,
        hostname: "books-1.example.com".into(),
        instance,
        sharding_item: item,
        source: ExecutionSource::NormalTrigger,
        scheduled_at: Some(at),
        attempt: None,
        start_time: start,
        complete_time: Some(start + took),
        success: true,
        failure_cause: None,
    }
}

/// What it logged: a line of each level, one of them of several lines, and a gap.
fn log(run: &JobExecutionEvent) -> impl Iterator<Item = JobLogEvent> {
    let line = |number: u32, level, message: &str, left_out| JobLogEvent {
        execution_id: run.id.clone(),
        job_name: run.job_name.clone(),
        line: number,
        at: run.start_time + TimeDelta::milliseconds(i64::from(number) * 1_250),
        level,
        target: "books::nightly".to_owned(),
        message: message.to_owned(),
        left_out,
    };
    let (info, debug) = (LogLevel::Info, LogLevel::Debug);
    let last = run.failure_cause.as_deref().map(|cause| line(5, LogLevel::Error, cause, 0));
    let lines = [
        line(1, info, "5321 accounts to close 待关账 rows=5321", 0),
        line(2, debug, "statement\n  SELECT account, SUM(amount)\n  FROM books GROUP BY account", 0),
        line(3, LogLevel::Warn, "account 17 was changed meanwhile, reading it again", 0),
        line(4, info, "all accounts are read", 37),
    ];
    lines.into_iter().chain(last)
}

fn failed(run: JobExecutionEvent) -> JobExecutionEvent {
    let cause = "the books of account 4711 do not balance: 12.50 is missing\n  at the line 312 of /var/books/2026.csv";
    JobExecutionEvent { success: false, failure_cause: Some(cause.to_owned()), ..run }
}

fn instance(host: u8) -> InstanceId {
    InstanceId::of_process(&format!("192.0.2.{host}"), 4711)
}
