//! A database with made records, and a console that reads it.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use elasticjob::fire::ExecutionSource;
use elasticjob::ident::{InstanceId, JobName, ShardingItem, TaskId};
use elasticjob::operations::{Origin, Surface};
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::schedule::TimeZone;
use elasticjob::trace::rdb::{DataSource, RdbOptions, RdbTraceReader, RdbTracingStorage, Retention};
use elasticjob::trace::{
    AnyTraceReader, DecisionKind, JobDecisionEvent, JobEvent, JobExecutionEvent, JobLogEvent, LogLevel, Tracing,
    TracingConfiguration,
};

use crate::access::{Grant, Identity, Role, User};
use crate::here::Here;
use crate::testing::{hash, with_users};
use crate::text::Language;
use crate::theme::Theme;
use crate::{Console, ConsoleOptions, Registry};

/// A folder that is removed.
pub(crate) struct Folder(pub(crate) std::path::PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("elasticjob-console-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        Self(folder)
    }

    pub(crate) fn source(&self) -> DataSource {
        DataSource::new(&format!("sqlite:{}", self.0.join("traces.db").display())).expect("it is an address")
    }

    /// Writes records.
    pub(crate) async fn write(&self, events: impl IntoIterator<Item = JobEvent>) {
        self.write_with(Some(Retention::default()), events).await;
    }

    /// Writes records to a database that keeps no logs of runs.
    pub(crate) async fn write_without_logs(&self, events: impl IntoIterator<Item = JobEvent>) {
        self.write_with(None, events).await;
    }

    async fn write_with(&self, run_log: Option<Retention>, events: impl IntoIterator<Item = JobEvent>) {
        let mut options = RdbOptions::default();
        options.time_zone = Some(TimeZone::UTC);
        options.run_log = run_log;
        let storage = RdbTracingStorage::connect(&self.source(), options).await.expect("the database is made");
        let tracing = Tracing::start(TracingConfiguration::new(storage), &tokio::runtime::Handle::current());
        for event in events {
            tracing.post(event);
        }
        tracing.close(Duration::from_secs(10)).await;
    }

    /// A console of a registry and these records, with users for each role.
    pub(crate) async fn console(&self, memory: &MemoryRegistry) -> Console {
        self.serve(memory, with_users()).await
    }

    /// The same, with a user `viewer` who has this grant.
    pub(crate) async fn console_with(&self, memory: &MemoryRegistry, grant: Grant) -> Console {
        let users = vec![User::new("viewer", hash(), [grant])];
        self.serve(memory, ConsoleOptions { users, ..ConsoleOptions::default() }).await
    }

    async fn serve(&self, memory: &MemoryRegistry, options: ConsoleOptions) -> Console {
        let reader = RdbTraceReader::connect(&self.source(), Some(TimeZone::UTC)).await.expect("the database is there");
        let registry = Registry::new("default", Arc::new(memory.connect())).traces(AnyTraceReader::new(reader));
        Console::new(options, [registry]).expect("the options are right")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a viewer of a console asks from.
pub(crate) fn here(console: &Console) -> Here {
    let app = console.app().clone();
    let registry = app.registries["default"].clone();
    let identity = Identity::user("viewer", vec![Grant::everywhere(Role::Viewer)]);
    let text = app.texts.of(Language::English).clone();
    let (origin, place) = (Origin::new(Surface::Page), "/".to_owned());
    Here { app, registry, identity, origin, text, theme: Theme::System, place, has_scheduler: false }
}

fn time(at: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(at).expect("it is a time")
}

/// The run of an item: what it was scheduled for, its start and its end, in milliseconds since 1970.
pub(crate) fn run(
    job: &str,
    item: ShardingItem,
    scheduled: Option<i64>,
    start: i64,
    end: Option<i64>,
) -> JobExecutionEvent {
    let (job, instance) = (JobName::new(job).expect("a name"), InstanceId::of_process("10.0.0.7", 42));
    JobExecutionEvent {
        id: format!("{item}-{start}").into(),
        run_id: format!("{start}").into(),
        task_id: TaskId::new(&job, [item], &instance),
        job_name: job,
        hostname: "host".into(),
        instance,
        sharding_item: item,
        source: ExecutionSource::NormalTrigger,
        scheduled_at: scheduled.map(time),
        attempt: None,
        start_time: time(start),
        complete_time: end.map(time),
        success: end.is_some(),
        failure_cause: None,
    }
}

/// The same run, that failed.
pub(crate) fn failed(run: JobExecutionEvent, cause: &str) -> JobExecutionEvent {
    JobExecutionEvent { success: false, failure_cause: Some(cause.to_owned()), ..run }
}

/// A line of the log of a run, one second after the other.
pub(crate) fn line(of: &JobExecutionEvent, line: u32, message: &str) -> JobEvent {
    JobEvent::Log(JobLogEvent {
        execution_id: of.id.clone(),
        job_name: of.job_name.clone(),
        line,
        at: of.start_time + chrono::TimeDelta::seconds(i64::from(line)),
        level: LogLevel::Info,
        target: "billing::settle".to_owned(),
        message: message.to_owned(),
        left_out: 0,
    })
}

/// A decision about a fire.
pub(crate) fn decision(job: &str, kind: DecisionKind, at: i64, scheduled: Option<i64>, until: Option<i64>) -> JobEvent {
    JobEvent::Decision(JobDecisionEvent {
        id: format!("{job}-{kind}-{at}").chars().take(40).collect(),
        job_name: JobName::new(job).expect("a name"),
        at: time(at),
        kind,
        scheduled_at: scheduled.map(time),
        scheduled_until: until.map(time),
        sharding_items: Vec::new(),
        instance: None,
        related_instance: None,
        reason: "the reason".to_owned(),
        detail: serde_json::Map::new(),
    })
}
