//! The events of a traced job.

use std::sync::{Arc, Mutex};

use chrono::TimeDelta;
use tokio::sync::Semaphore;

use super::super::ShutdownMode;
use super::super::recorder::Recorder;
use super::*;
use crate::api::{JobError, JobListener, JobResult, ListenerContext, blocking_item_handler};
use crate::engine::Notice;
use crate::fire::{ExecutionSource, Fire, FireRecord, FireState, ItemEnd, Rerun, RunKey};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::{CreateMode, Transaction};
use crate::trace::{
    ExecutionType, JobEvent, JobExecutionEvent, JobSelection, JobStatusTraceEvent, LogLevel, RunLog, RunLogOptions,
    TaskState, TracingConfiguration, TracingStorage, WriteError,
};

#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<JobEvent>>>);

impl TracingStorage for Told {
    fn type_name(&self) -> &str {
        "TOLD"
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        self.0.lock().unwrap().extend_from_slice(events);
        Ok(())
    }
}

impl Told {
    fn traced(&self, jobs: JobSelection) -> JobEnvironment {
        environment().with_tracing(TracingConfiguration::new(self.clone()).jobs(jobs))
    }

    /// The events, in order.
    async fn all(&self, environment: &JobEnvironment) -> Vec<JobEvent> {
        environment.tracing().unwrap().close(LIMIT).await;
        self.0.lock().unwrap().clone()
    }
}

fn states(events: &[JobEvent]) -> Vec<&JobStatusTraceEvent> {
    events.iter().filter_map(|event| if let JobEvent::Status(state) = event { Some(state) } else { None }).collect()
}

fn executions(events: &[JobEvent]) -> Vec<&JobExecutionEvent> {
    events.iter().filter_map(|event| if let JobEvent::Execution(run) = event { Some(run) } else { None }).collect()
}

/// Runs a job once, with a handler for its items, and returns the events.
async fn once(items: u32, handler: ItemHandler) -> Vec<JobEvent> {
    once_with(None, items, handler).await
}

async fn once_with(log: Option<RunLogOptions>, items: u32, handler: ItemHandler) -> Vec<JobEvent> {
    let told = Told::default();
    let environment = environment().with_tracing(TracingConfiguration::new(told.clone()).run_log(log));
    let registry = environment.embedded_registry();
    let job = JobConfiguration::builder("job", items).build().unwrap();
    let mut job = super::super::OneOffJobBootstrap::new(&environment, registry, job, handler).unwrap();
    job.start().await.unwrap();
    job.handle().execute().await.unwrap();
    let is_over = |event: &JobEvent| matches!(event, JobEvent::Status(state) if matches!(state.state, TaskState::Finished | TaskState::Error));
    soon(async {
        while !told.0.lock().unwrap().iter().any(is_over) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    job.shutdown(ShutdownMode::Graceful).await;
    told.all(&environment).await
}

#[tokio::test]
async fn a_run_is_told_from_its_begin_to_its_end_and_so_is_each_item() {
    let events = once(2, item_handler(|_: ShardingContext| async {})).await;
    let (states, executions) = (states(&events), executions(&events));
    let told: Vec<(TaskState, &str)> = states.iter().map(|state| (state.state, state.message.as_str())).collect();
    assert_eq!(
        told,
        [(TaskState::Staging, "Job 'job' execute begin."), (TaskState::Running, ""), (TaskState::Finished, "")]
    );
    assert!(states.iter().all(|state| state.run_id == states[0].run_id && state.sharding_items == [0, 1]));
    assert!(states.iter().all(|state| state.execution_type == ExecutionType::Ready));
    let instance = states[0].instance.as_str();
    assert_eq!(states[0].task_id.as_str(), format!("job@-@0,1@-@READY@-@{instance}"));
    assert_eq!(executions.len(), 4);
    for item in [0, 1] {
        let both: Vec<_> = executions.iter().filter(|execution| execution.sharding_item == item).collect();
        let [start, end] = both[..] else { panic!("a start and an end: {both:?}") };
        assert!(start.complete_time.is_none() && !start.success);
        assert!(end.complete_time >= Some(end.start_time) && end.success && end.failure_cause.is_none());
        assert_eq!((&start.id, start.start_time), (&end.id, end.start_time));
        assert_eq!((&end.run_id, &end.task_id), (&states[0].run_id, &states[0].task_id));
        assert_eq!(end.source, ExecutionSource::NormalTrigger);
        assert!(!end.hostname.is_empty());
        assert_eq!((start.scheduled_at, end.scheduled_at), (None, None), "a trigger has no scheduled time");
    }
}

#[tokio::test]
async fn errors_and_panics_are_told_with_their_items() {
    let handler = item_handler(|context: ShardingContext| async move {
        match context.sharding_item() {
            0 => Err(JobError::message("no disk")),
            1 => Ok(()),
            _ => panic!("out of range"),
        }
    });
    let events = once(3, handler).await;
    let last = *states(&events).last().unwrap();
    assert_eq!(last.state, TaskState::Error);
    assert!(last.message.starts_with("{0=no disk, 2=it panicked at "), "{}", last.message);
    assert!(last.message.ends_with(": out of range}"), "{}", last.message);
    let ends: Vec<_> = executions(&events).into_iter().filter(|execution| execution.complete_time.is_some()).collect();
    let failed = |item| ends.iter().find(|end| end.sharding_item == item).unwrap().failure_cause.as_deref();
    assert_eq!((failed(0), failed(1)), (Some("no disk"), None));
    assert_eq!(ends.iter().filter(|end| end.success).count(), 1);
}

/// Logs by hand what a layer of the subscriber would.
fn logs(text: &str) {
    RunLog::current().iter().for_each(|log| log.line(LogLevel::Info, "test", text));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_job_logs_is_kept_for_its_run_before_the_end_of_the_run() {
    let handler = item_handler(|context: ShardingContext| {
        logs("made");
        async move {
            tokio::task::yield_now().await;
            logs(&format!("item {}", context.sharding_item()));
        }
    });
    let blocking = blocking_item_handler(|_: ShardingContext| logs("blocks"));
    for (handler, expected) in [(handler, ["made", "item 0"].as_slice()), (blocking, ["blocks"].as_slice())] {
        let events = once_with(Some(RunLogOptions::default()), 1, handler).await;
        let line = |event: &JobEvent| if let JobEvent::Log(line) = event { Some(line.clone()) } else { None };
        let lines: Vec<_> = events.iter().filter_map(line).collect();
        assert_eq!(lines.iter().map(|line| line.message.as_str()).collect::<Vec<_>>(), expected);
        let end = *executions(&events).last().unwrap();
        assert!(lines.iter().all(|line| line.execution_id == end.id && line.job_name == end.job_name));
        let place = |is: &dyn Fn(&JobEvent) -> bool| events.iter().rposition(is).unwrap();
        let last_line = place(&|event| matches!(event, JobEvent::Log(_)));
        assert!(last_line < place(&|event| matches!(event, JobEvent::Execution(run) if run.complete_time.is_some())));
    }
}

#[tokio::test]
async fn without_logs_of_runs_a_job_finds_none() {
    let handler = item_handler(|_: ShardingContext| async { assert!(RunLog::current().is_none()) });
    let events = once(1, handler).await;
    assert!(executions(&events).last().unwrap().success);
}

#[tokio::test]
async fn a_fire_that_falls_into_a_running_one_is_told_and_made_up_for_as_misfire() {
    let told = Told::default();
    let environment = told.traced(JobSelection::All);
    let registry = environment.embedded_registry();
    let free = Arc::new(Semaphore::new(0));
    let gate = free.clone();
    let handler = item_handler(move |context: ShardingContext| {
        let gate = gate.clone();
        async move {
            if context.source() == ExecutionSource::NormalTrigger {
                gate.acquire().await.unwrap().forget();
            }
        }
    });
    let mut job = scheduled(&environment, &registry, each_second("slow", 1), handler).await;
    let mut status = job.handle().status();
    soon(status.wait_for(|status| status.last_skip.is_some())).await.unwrap();
    free.add_permits(1_000);
    soon(async {
        let is_misfire = |event: &JobEvent| matches!(event, JobEvent::Execution(run) if run.source == ExecutionSource::Misfire && run.success);
        while !told.0.lock().unwrap().iter().any(is_misfire) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    job.shutdown(ShutdownMode::Graceful).await;
    let events = told.all(&environment).await;
    let skipped = "Previous job 'slow' - shardingItems '[0]' is still running, misfired job will start after previous job \
                   completed.";
    let skipped: Vec<_> = states(&events).into_iter().filter(|state| state.message == skipped).collect();
    assert!(!skipped.is_empty() && skipped.iter().all(|state| state.state == TaskState::Finished), "{events:?}");
    let run =
        |state: &JobStatusTraceEvent| states(&events).into_iter().filter(|other| other.run_id == state.run_id).count();
    assert_eq!(run(skipped[0]), 2, "it is staged and finished: {events:?}");
}

#[tokio::test]
async fn an_item_that_is_cut_off_and_one_that_never_started_are_told_as_such() {
    let told = Told::default();
    let environment = told.traced(JobSelection::All);
    let registry = environment.embedded_registry();
    let (started, mut starts) = mpsc::unbounded_channel();
    let handler = item_handler(move |_: ShardingContext| {
        let started = started.clone();
        async move {
            started.send(()).unwrap();
            std::future::pending::<()>().await;
        }
    });
    let pool = crate::executor::SINGLE_THREAD;
    let job = each_second("stuck", 2).job_executor_thread_pool_size_provider_type(pool);
    let mut job = scheduled(&environment, &registry, job, handler).await;
    soon(starts.recv()).await.unwrap();
    job.shutdown(ShutdownMode::Now).await;
    let events = told.all(&environment).await;
    let executions = executions(&events);
    assert_eq!(executions.len(), 3, "one start, two ends: {executions:?}");
    let ends = executions.iter().filter(|execution| execution.complete_time.is_some());
    assert!(ends.clone().all(|end| end.failure_cause.as_deref() == Some("it was cut off before its end")));
    let cut = "it was cut off before its end";
    let last = *states(&events).last().unwrap();
    assert_eq!((last.state, last.message.as_str()), (TaskState::Error, format!("{{0={cut}, 1={cut}}}").as_str()));
}

/// A listener whose call before the items does not end.
struct Waiting(mpsc::UnboundedSender<()>);

impl JobListener for Waiting {
    fn type_name(&self) -> &str {
        "waiting"
    }

    async fn before_job_executed(&self, _: &ListenerContext) -> JobResult {
        self.0.send(()).unwrap();
        std::future::pending().await
    }

    async fn after_job_executed(&self, _: &ListenerContext) -> JobResult {
        Ok(())
    }
}

#[tokio::test]
async fn items_that_are_cut_off_while_a_listener_before_them_is_called_are_told_as_such() {
    let (called, mut calls) = mpsc::unbounded_channel();
    let catalog = crate::spi::Catalog::builder().listener(Waiting(called)).build().unwrap();
    let told = Told::default();
    let environment = JobEnvironment::builder().catalog(catalog).build().unwrap();
    let environment = environment.with_tracing(TracingConfiguration::new(told.clone()).jobs(JobSelection::All));
    let registry = environment.embedded_registry();
    let (handler, _runs) = reporter();
    let job = each_second("held", 2).job_listener_type("waiting");
    let mut job = scheduled(&environment, &registry, job, handler).await;
    soon(calls.recv()).await.unwrap();
    job.shutdown(ShutdownMode::Now).await;
    let events = told.all(&environment).await;
    assert!(executions(&events).is_empty(), "none started: {events:?}");
    let last = *states(&events).last().unwrap();
    let cut = "it was cut off before its end";
    assert_eq!((last.state, last.message.as_str()), (TaskState::Error, format!("{{0={cut}, 1={cut}}}").as_str()));
}

const FIRE: Fire = Fire::Scheduled(1_000);

/// The event about the end of a run of two items that began, after these notices and ends.
async fn end_of_two(ends: &[(ShardingItem, FireState)], notices: &[Notice]) -> Vec<(TaskState, String)> {
    let told = Told::default();
    let environment = told.traced(JobSelection::All);
    let mut recorder = Recorder::of(&environment, &JobName::new("job").unwrap()).unwrap();
    let instance: InstanceId = "10.0.0.1@-@7".parse().unwrap();
    let key = RunKey::new(FIRE, ExecutionSource::NormalTrigger);
    recorder.note(&instance, true, &Notice::Begun { key, attempt: None, items: vec![0, 1] });
    recorder.running([0, 1].into_iter());
    for (item, state) in ends {
        recorder.item_ended(*item, &ItemEnd { state: *state, took: 0, error: None });
    }
    notices.iter().for_each(|notice| recorder.note(&instance, true, notice));
    let events = told.all(&environment).await;
    states(&events).into_iter().skip(2).map(|state| (state.state, state.message.clone())).collect()
}

/// The events of so many runs of an item, of which one in three is traced.
async fn of_three(ends: &[FireState]) -> (Vec<(TaskState, i64)>, Vec<(bool, i64)>) {
    let told = Told::default();
    let configuration = TracingConfiguration::new(told.clone()).one_run_of(3);
    let environment = environment().with_tracing(configuration);
    let mut recorder = Recorder::of(&environment, &JobName::new("job").unwrap()).unwrap();
    let instance: InstanceId = "10.0.0.1@-@7".parse().unwrap();
    for (at, state) in ends.iter().enumerate() {
        let key = RunKey::new(Fire::Scheduled(at as i64), ExecutionSource::NormalTrigger);
        recorder.note(&instance, true, &Notice::Begun { key, attempt: None, items: vec![0] });
        recorder.running([0].into_iter());
        let end = ItemEnd { state: *state, took: 0, error: None };
        recorder.item(0).unwrap().ended(&end);
        recorder.item_ended(0, &end);
        recorder.note(&instance, true, &Notice::Finished { key, items: vec![(0, *state)] });
    }
    let events = told.all(&environment).await;
    let at = |time: Option<chrono::DateTime<chrono::Utc>>| time.expect("it was scheduled").timestamp_millis();
    (
        states(&events).into_iter().map(|event| (event.state, at(event.scheduled_at))).collect(),
        executions(&events).into_iter().map(|event| (event.success, at(event.scheduled_at))).collect(),
    )
}

#[tokio::test]
async fn of_a_sample_the_runs_between_are_told_only_where_they_fail() {
    use FireState::{Failed, Succeeded};
    let (states, executions) = of_three(&[Succeeded, Succeeded, Failed, Succeeded, Succeeded]).await;
    let whole = |at| [TaskState::Staging, TaskState::Running, TaskState::Finished].map(|state| (state, at));
    assert_eq!(states, [&whole(0)[..], &[(TaskState::Error, 2)], &whole(3)].concat());
    assert_eq!(executions, [(true, 0), (false, 2), (true, 3)]);
}

#[tokio::test]
async fn a_fire_that_is_run_again_has_its_scheduled_time() {
    let told = Told::default();
    let environment = told.traced(JobSelection::All);
    let mut recorder = Recorder::of(&environment, &JobName::new("job").unwrap()).unwrap();
    let fire = Fire::manual(7, 90_000, Some(Rerun::new(1_000, 89_999)));
    let key = RunKey::new(fire, ExecutionSource::NormalTrigger);
    let begun = Notice::Begun { key, attempt: None, items: vec![0] };
    recorder.note(&"10.0.0.1@-@7".parse().unwrap(), true, &begun);
    recorder.item(0).unwrap().ended(&ItemEnd { state: FireState::Succeeded, took: 0, error: None });
    let events = told.all(&environment).await;
    let at = chrono::DateTime::from_timestamp_millis(1_000);
    assert_eq!((states(&events)[0].scheduled_at, executions(&events)[0].scheduled_at), (at, at));
}

fn finished(items: &[(ShardingItem, FireState)]) -> Notice {
    Notice::Finished { key: RunKey::new(FIRE, ExecutionSource::NormalTrigger), items: items.to_vec() }
}

#[tokio::test]
async fn a_scheduled_fire_has_its_time_and_a_monitored_run_the_attempt_of_its_record() {
    let told = Told::default();
    let environment = told.traced(JobSelection::All);
    let registry = environment.embedded_registry();
    let (handler, mut started) = reporter();
    let mut job = scheduled(&environment, &registry, each_second("job", 1), handler).await;
    soon(started.recv()).await.unwrap();
    job.shutdown(ShutdownMode::Graceful).await;
    let events = told.all(&environment).await;
    let first = executions(&events)[0];
    let at = first.scheduled_at.expect("a scheduled fire has a time");
    let late = first.start_time - at;
    assert!(
        at.timestamp_subsec_millis() == 0 && late >= TimeDelta::zero() && late < TimeDelta::minutes(1),
        "{first:?}"
    );
    let attempt = first.attempt.as_ref().expect("a monitored run has an attempt").to_string();
    let of_run = states(&events).into_iter().filter(|state| state.run_id == first.run_id).collect::<Vec<_>>();
    assert!(of_run.len() >= 2, "{events:?}");
    for state in of_run {
        assert_eq!((state.scheduled_at, state.attempt.as_ref()), (Some(at), first.attempt.as_ref()));
    }
    let record = registry.get("/job/sharding/0/fire").await.unwrap().expect("it has a record");
    let last = FireRecord::parse(&record.data).last.expect("it ran").attempt.to_string();
    let attempts: Vec<String> =
        executions(&events).iter().filter_map(|run| Some(run.attempt.as_ref()?.to_string())).collect();
    assert!(attempts.contains(&attempt) && attempts.contains(&last), "{attempts:?}: {last}");
}

#[tokio::test]
async fn a_run_of_which_an_item_is_abandoned_is_told_as_cut_off() {
    let well = (1, FireState::Succeeded);
    let told = end_of_two(&[well], &[Notice::RunsAbandoned { items: vec![0] }, finished(&[well])]).await;
    assert_eq!(told, [(TaskState::Error, "{0=it was cut off before its end}".to_owned())]);
}

#[tokio::test]
async fn a_run_of_which_all_items_are_abandoned_is_told_as_cut_off() {
    let told = end_of_two(&[], &[Notice::RunsAbandoned { items: vec![0, 1] }, finished(&[])]).await;
    let cut = "it was cut off before its end";
    assert_eq!(told, [(TaskState::Error, format!("{{0={cut}, 1={cut}}}"))]);
}

#[tokio::test]
async fn items_that_were_begun_and_not_started_are_told_as_such() {
    let told = end_of_two(&[], &[finished(&[(0, FireState::NotRun), (1, FireState::NotRun)])]).await;
    let cause = "it was not started: the clock of this host is off";
    assert_eq!(told, [(TaskState::Error, format!("{{0={cause}, 1={cause}}}"))]);
}

#[tokio::test]
async fn a_fire_without_items_here_is_told_as_empty() {
    let told = Told::default();
    let environment = told.traced(JobSelection::All);
    let registry = environment.embedded_registry();
    let mut disable = Transaction::new();
    for path in ["/idle", "/idle/sharding", "/idle/sharding/0", "/idle/sharding/0/disabled"] {
        disable.create(path, Vec::new(), CreateMode::Persistent);
    }
    registry.commit(disable).await.unwrap();
    let (handler, _runs) = reporter();
    let mut job = scheduled(&environment, &registry, each_second("idle", 1), handler).await;
    let mut status = job.handle().status();
    soon(status.wait_for(|status| status.fires >= 1)).await.unwrap();
    job.shutdown(ShutdownMode::Graceful).await;
    let events = told.all(&environment).await;
    let states = states(&events);
    assert_eq!((states[0].state, states[1].state), (TaskState::Staging, TaskState::Finished));
    assert_eq!(states[1].message, "Sharding item for job 'idle' is empty.");
    assert!(states[1].sharding_items.is_empty());
}

#[tokio::test]
async fn only_the_selected_jobs_are_traced() {
    let names = || ["one".to_owned()].into();
    for (selection, expected) in [(JobSelection::Only(names()), "one"), (JobSelection::Except(names()), "other")] {
        let told = Told::default();
        let environment = told.traced(selection);
        let registry = environment.embedded_registry();
        let (handler, _runs) = reporter();
        for name in ["one", "other"] {
            let mut job = scheduled(&environment, &registry, each_second(name, 1), handler.clone()).await;
            let mut status = job.handle().status();
            soon(status.wait_for(|status| status.fires >= 1)).await.unwrap();
            job.shutdown(ShutdownMode::Graceful).await;
        }
        let events = told.all(&environment).await;
        assert!(!events.is_empty() && events.iter().all(|event| event.job_name().as_str() == expected));
    }
}
