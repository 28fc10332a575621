//! The recorder of a job: sends events of its runs to the tracing of the environment.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::decisions::{Decision, decision};
use super::environment::JobEnvironment;
use crate::api::{ItemHandler, ItemWork};
use crate::engine::Notice;
use crate::fire::{Attempt, ExecutionSource, Fire, FireState, ItemEnd, RunKey, SkipReason};
use crate::ident::{InstanceId, JobName, ShardingItem, TaskId};
use crate::log::RunSpan;
use crate::trace::{
    JobDecisionEvent, JobEvent, JobExecutionEvent, JobStatusTraceEvent, RunLog, TaskState, Tracing, cut,
};

/// The cause of a run that neither finished nor failed.
const CUT_OFF: &str = "it was cut off before its end";
/// The cause of a run that was begun and then not started.
const NOT_RUN: &str = "it was not started: the clock of this host is off";

/// Follows the runs of a job. There is one only where the job is traced.
pub(super) struct Recorder {
    trace: Trace,
    job: JobName,
    hostname: Arc<str>,
    /// The runs that are not over. Items that began later for the same fire are a run of their own.
    runs: Vec<TracedRun>,
    /// The runs that began so far.
    begun: u64,
}

/// Where the recorder sends events.
#[derive(Clone)]
struct Trace {
    tracing: Tracing,
    environment: JobEnvironment,
}

struct TracedRun {
    run: Arc<RunIdentity>,
    /// The causes of items that did not end well.
    errors: BTreeMap<ShardingItem, String>,
}

/// The values that all events of a run share.
struct RunIdentity {
    id: Arc<str>,
    task_id: TaskId,
    job: JobName,
    instance: InstanceId,
    hostname: Arc<str>,
    key: RunKey,
    attempt: Option<Attempt>,
    items: Vec<ShardingItem>,
    /// Whether it is told from its begin. Of a run between two of a sample only a failure is told.
    is_told: bool,
}

/// The run of one item.
pub(super) struct ItemRecord {
    trace: Trace,
    run: Arc<RunIdentity>,
    item: ShardingItem,
    id: Arc<str>,
    started: OnceLock<DateTime<Utc>>,
    /// What the job logs meanwhile, where that is kept.
    log: Option<RunLog>,
}

impl Recorder {
    /// The recorder of a job, where it is traced.
    pub(super) fn of(environment: &JobEnvironment, job: &JobName) -> Option<Box<Self>> {
        let tracing = environment.tracing().filter(|tracing| tracing.is_of(job))?.clone();
        let hostname = gethostname::gethostname().to_string_lossy().into();
        let trace = Trace { tracing, environment: environment.clone() };
        Some(Box::new(Self { trace, job: job.clone(), hostname, runs: Vec::new(), begun: 0 }))
    }

    /// Records a notice of the engine. `makes_up` says whether a fire that comes while its job runs is made up for.
    pub(super) fn note(&mut self, instance: &InstanceId, makes_up: bool, notice: &Notice) {
        if let Some(decision) = decision(notice) {
            self.decided(instance, decision);
        }
        match notice {
            Notice::Begun { key, attempt, items } => {
                let is_told = self.begun.is_multiple_of(self.trace.tracing.one_run_of().into());
                self.begun += 1;
                let run = self.staged(instance, *key, attempt.clone(), items.clone(), is_told);
                self.runs.push(TracedRun { run, errors: BTreeMap::new() });
            }
            Notice::Finished { key, items } => self.finished(*key, items),
            Notice::RunsAbandoned { items } => self.abandoned(items),
            Notice::Skipped { fire, items, reason: SkipReason::StillRunning { since } } => {
                // Without items it is the whole fire.
                let (items, then) = match (&items[..], makes_up) {
                    ([], true) => (self.items_of(*since), "misfired job will start after previous job completed."),
                    ([], false) => (self.items_of(*since), "the fire is skipped: misfire is off."),
                    (some, _) => (some.to_vec(), "the fire is skipped for these items."),
                };
                let message =
                    format!("Previous job '{}' - shardingItems '{items:?}' is still running, {then}", self.job);
                let run = self.staged(instance, came(*fire), None, items, true);
                self.trace.status(&run, TaskState::Finished, message);
            }
            Notice::NothingToRun { fire } => {
                let run = self.staged(instance, came(*fire), None, Vec::new(), true);
                let message = format!("Sharding item for job '{}' is empty.", self.job);
                self.trace.status(&run, TaskState::Finished, message);
            }
            _ => {}
        }
    }

    fn decided(&self, instance: &InstanceId, decision: Decision) {
        let Decision { kind, scheduled_at, scheduled_until, items, related, reason, detail } = decision;
        self.trace.tracing.post(JobEvent::Decision(JobDecisionEvent {
            id: Uuid::now_v7().to_string(),
            job_name: self.job.clone(),
            at: self.trace.now(),
            kind,
            scheduled_at,
            scheduled_until,
            sharding_items: items,
            instance: Some(instance.clone()),
            related_instance: related,
            reason: cut(reason),
            detail,
        }));
    }

    /// Records that items start.
    pub(super) fn running(&self, items: impl Iterator<Item = ShardingItem>) {
        let mut told: Vec<&Arc<RunIdentity>> = Vec::new();
        for run in items.filter_map(|item| self.run_of(item)) {
            if run.is_told && !told.iter().any(|known| Arc::ptr_eq(known, run)) {
                self.trace.status(run, TaskState::Running, String::new());
                told.push(run);
            }
        }
    }

    /// The record of an item that is about to start.
    pub(super) fn item(&self, item: ShardingItem) -> Option<Arc<ItemRecord>> {
        let run = self.run_of(item)?.clone();
        let (trace, id): (_, Arc<str>) = (self.trace.clone(), Uuid::now_v7().to_string().into());
        let log = |options| {
            let (tracing, attempt) = (trace.tracing.clone(), run.attempt.clone());
            RunLog::new(tracing, options, id.clone(), attempt, self.job.clone())
        };
        let log = trace.tracing.run_log().filter(|_| run.is_told).map(log);
        Some(Arc::new(ItemRecord { trace, run, item, id, started: OnceLock::new(), log }))
    }

    /// Records the end of an item.
    pub(super) fn item_ended(&mut self, item: ShardingItem, end: &ItemEnd) {
        let place = self.place_of(item);
        if let (Some(place), Some(cause)) = (place, failure(end)) {
            self.runs[place].errors.insert(item, cause);
        }
    }

    fn run_of(&self, item: ShardingItem) -> Option<&Arc<RunIdentity>> {
        self.place_of(item).map(|place| &self.runs[place].run)
    }

    /// The last run that has the item. An item is in several runs only while the listeners after an earlier run are
    /// still called.
    fn place_of(&self, item: ShardingItem) -> Option<usize> {
        self.runs.iter().rposition(|run| run.run.items.contains(&item))
    }

    fn items_of(&self, fire: Fire) -> Vec<ShardingItem> {
        let runs = self.runs.iter().filter(|run| run.run.key.fire == fire);
        let mut items: Vec<ShardingItem> = runs.flat_map(|run| run.run.items.iter().copied()).collect();
        items.sort_unstable();
        items
    }

    fn staged(
        &self,
        instance: &InstanceId,
        key: RunKey,
        attempt: Option<Attempt>,
        mut items: Vec<ShardingItem>,
        is_told: bool,
    ) -> Arc<RunIdentity> {
        items.sort_unstable();
        let run = Arc::new(RunIdentity {
            id: Uuid::new_v4().to_string().into(),
            task_id: TaskId::new(&self.job, items.iter().copied(), instance),
            job: self.job.clone(),
            instance: instance.clone(),
            hostname: self.hostname.clone(),
            key,
            attempt,
            items,
            is_told,
        });
        if is_told {
            self.trace.status(&run, TaskState::Staging, format!("Job '{}' execute begin.", self.job));
        }
        run
    }

    fn finished(&mut self, key: RunKey, items: &[(ShardingItem, FireState)]) {
        let is_over = |run: &mut TracedRun| {
            let of_it = |item: &ShardingItem| items.iter().any(|(finished, _)| finished == item);
            run.run.key == key && run.run.items.iter().any(of_it)
        };
        let over: Vec<TracedRun> = self.runs.extract_if(.., is_over).collect();
        for TracedRun { run, mut errors, .. } in over {
            // Items that never started have no end of their own; their cause comes from here.
            for (item, state) in items.iter().filter(|(item, _)| run.items.contains(item)) {
                if let Some(cause) = cause(*state) {
                    errors.entry(*item).or_insert_with(|| cause.to_owned());
                }
            }
            self.trace.over(&run, &errors);
        }
    }

    /// Records that the instance leaves without these items: no notice will report the end of their runs.
    fn abandoned(&mut self, items: &[ShardingItem]) {
        let mut left: BTreeMap<usize, Vec<ShardingItem>> = BTreeMap::new();
        for item in items {
            if let Some(place) = self.place_of(*item) {
                left.entry(place).or_default().push(*item);
            }
        }
        // From the last place, so that the earlier places stay valid.
        for (place, items) in left.into_iter().rev() {
            let TracedRun { run, mut errors, .. } = self.runs.remove(place);
            errors.extend(items.into_iter().map(|item| (item, CUT_OFF.to_owned())));
            self.trace.over(&run, &errors);
        }
    }
}

impl ItemRecord {
    /// A handler that records the start when its work begins: an item may have to wait for its turn before.
    pub(super) fn around(self: &Arc<Self>, handler: &ItemHandler) -> ItemHandler {
        let (record, handler) = (self.clone(), handler.clone());
        ItemHandler::new(move |context| {
            let record = record.clone();
            match record.logged(|| handler.work(context)) {
                ItemWork::Async(run) => ItemWork::Async(Box::pin(async move {
                    record.start();
                    run.await
                })),
                ItemWork::Blocking(run) => ItemWork::Blocking(Box::new(move || {
                    record.start();
                    run()
                })),
            }
        })
    }

    /// Work whose lines go to the log of the run.
    fn logged(&self, make: impl FnOnce() -> ItemWork) -> ItemWork {
        let Some(log) = self.log.clone() else { return make() };
        let span = log.clone().sync_scope(|| RunSpan::new(self.run.job.as_str(), self.item));
        match log.clone().sync_scope(make) {
            ItemWork::Async(run) => ItemWork::Async(Box::pin(log.scope(span.around(run)))),
            ItemWork::Blocking(run) => ItemWork::Blocking(Box::new(move || log.sync_scope(|| span.within(run)))),
        }
    }

    fn start(&self) {
        let at = *self.started.get_or_init(|| self.trace.now());
        if self.run.is_told {
            self.post(at, None, None);
        }
    }

    /// Records the end of the item, which may not have started.
    pub(super) fn ended(&self, end: &ItemEnd) {
        // Its last lines come before its end: a reader that sees the end has seen all lines.
        self.log.iter().for_each(RunLog::end);
        let (now, failure) = (self.trace.now(), failure(end));
        if self.run.is_told || failure.is_some() {
            self.post(*self.started.get_or_init(|| now), Some(now), failure);
        }
    }

    fn post(&self, start_time: DateTime<Utc>, complete_time: Option<DateTime<Utc>>, failure_cause: Option<String>) {
        let run = &self.run;
        self.trace.tracing.post(JobEvent::Execution(JobExecutionEvent {
            id: self.id.clone(),
            run_id: run.id.clone(),
            job_name: run.job.clone(),
            task_id: run.task_id.clone(),
            hostname: run.hostname.clone(),
            instance: run.instance.clone(),
            sharding_item: self.item,
            source: run.key.source,
            scheduled_at: scheduled_at(run.key.fire),
            attempt: run.attempt.clone(),
            start_time,
            complete_time,
            success: complete_time.is_some() && failure_cause.is_none(),
            failure_cause,
        }));
    }
}

impl Trace {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(self.environment.now().wall).unwrap_or_default()
    }

    /// Records that the run is over, with the causes of the items that did not end well.
    fn over(&self, run: &RunIdentity, errors: &BTreeMap<ShardingItem, String>) {
        if errors.is_empty() {
            if run.is_told {
                self.status(run, TaskState::Finished, String::new());
            }
        } else {
            let errors: Vec<String> = errors.iter().map(|(item, cause)| format!("{item}={cause}")).collect();
            self.status(run, TaskState::Error, format!("{{{}}}", errors.join(", ")));
        }
    }

    fn status(&self, run: &RunIdentity, state: TaskState, message: String) {
        self.tracing.post(JobEvent::Status(JobStatusTraceEvent {
            id: Uuid::now_v7().to_string(),
            run_id: run.id.clone(),
            job_name: run.job.clone(),
            task_id: run.task_id.clone(),
            instance: run.instance.clone(),
            execution_type: run.key.source.into(),
            scheduled_at: scheduled_at(run.key.fire),
            attempt: run.attempt.clone(),
            sharding_items: run.items.clone(),
            state,
            message: cut(message),
            creation_time: self.now(),
        }));
    }
}

/// The run of a fire that came, also where none of its items begins.
fn came(fire: Fire) -> RunKey {
    RunKey::new(fire, ExecutionSource::NormalTrigger)
}

/// The scheduled time of a fire, of a re-run that of the fire that is run again; a trigger has none.
fn scheduled_at(fire: Fire) -> Option<DateTime<Utc>> {
    match fire {
        Fire::Manual { rerun: None, .. } => None,
        Fire::Scheduled(_) | Fire::Manual { .. } => DateTime::from_timestamp_millis(fire.scheduled_for()),
    }
}

/// The cause of an item that did not end well.
fn failure(end: &ItemEnd) -> Option<String> {
    let cause = cause(end.state)?;
    Some(end.error.as_ref().map_or_else(|| cause.to_owned(), |error| cut(error.clone())))
}

/// The cause where the item gave none.
fn cause(state: FireState) -> Option<&'static str> {
    match state {
        FireState::Succeeded => None,
        FireState::NotRun => Some(NOT_RUN),
        FireState::Running | FireState::Failed | FireState::Cancelled => Some(CUT_OFF),
    }
}
