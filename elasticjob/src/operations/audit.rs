//! Records what operators do in the decision log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    ConfigurationChange, InstanceOfJob, ItemOfJob, JobRemoved, OperationError, Operations, Origin, Removed,
    ServerOfJob, Target,
};
use crate::ident::{JobName, ShardingItem};
use crate::registry::CommitError;
use crate::registry::layout::ServerStatus;
use crate::schedule::{TimeZone, format_rfc3339};
use crate::trace::{DecisionKind, JobDecisionEvent, JobEvent, Tracing, cut};

/// How many parts of an action are named.
const MOST_PARTS: usize = 500;

/// The job that the log, which is by job, names in the record of an action on a whole server that no job has, or that changed
/// nothing of many jobs.
pub const ALL_JOBS: &str = "*";

/// The operator whose actions are recorded. Events go through the bounded queue of a tracing, so that no action waits for
/// a database. A program that has to know whether they were written closes the tracing and looks at its counts.
#[derive(Debug, Clone)]
pub struct Audit {
    tracing: Tracing,
    of_jobs: Arc<BTreeMap<JobName, Tracing>>,
    actor: String,
    origin: Option<Origin>,
    reason: String,
}

impl Audit {
    /// Records what this operator does, for example `alice@build7`.
    pub fn new(tracing: Tracing, actor: impl Into<String>) -> Self {
        Self { tracing, of_jobs: Arc::default(), actor: actor.into(), origin: None, reason: String::new() }
    }

    /// Records actions on these jobs by tracings of their own: where a job is traced, its history is read.
    #[must_use]
    pub fn of_jobs(self, tracings: Arc<BTreeMap<JobName, Tracing>>) -> Self {
        Self { of_jobs: tracings, ..self }
    }

    /// From where the operator acts. Without it the records do not say that.
    #[must_use]
    pub fn origin(self, origin: Origin) -> Self {
        Self { origin: Some(origin), ..self }
    }

    /// The reason that the operator gave.
    #[must_use]
    pub fn reason(self, reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), ..self }
    }
}

/// The end of an action that another part of the program carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ActionEnd {
    /// It was done.
    Done,
    /// It was not done, for this reason: it was wrong.
    Refused(String),
    /// It was not done, for this reason.
    Failed(String),
    /// It may have been done: the answer was lost.
    Unknown(String),
}

/// An action on parts of jobs.
pub(super) struct Action {
    pub(super) name: &'static str,
    /// The job that is meant, where the action is about one job.
    pub(super) job: Option<JobName>,
    /// The server that is meant in all its jobs, where the action is about one.
    pub(super) server: Option<String>,
    /// The states of each part before and after it.
    pub(super) states: Option<[ServerStatus; 2]>,
    /// The scheduled time of the fire that is meant, in milliseconds since 1970.
    pub(super) fire: Option<i64>,
}

impl Action {
    pub(super) fn on(name: &'static str, target: &Target) -> Self {
        let (job, server) = match target {
            Target::Job(job) | Target::ServerOfJob(job, _) => (Some(job.clone()), None),
            Target::Server(server) => (None, Some(server.clone())),
        };
        Self { name, job, server, states: None, fire: None }
    }

    /// An action that enables or disables: a part that it changes had the other status before.
    pub(super) fn to(self, status: ServerStatus) -> Self {
        let (on, off) = (ServerStatus::Enabled, ServerStatus::Disabled);
        let states = if status == on { [off, on] } else { [on, off] };
        Self { states: Some(states), ..self }
    }

    /// An action on a fire.
    pub(super) fn fire(self, at: i64) -> Self {
        Self { fire: Some(at), ..self }
    }
}

/// A part of a job that an action changes.
pub(super) trait Part {
    fn job(&self) -> &JobName;
    fn name(&self) -> String;

    fn item(&self) -> Option<ShardingItem> {
        None
    }
}

impl Part for InstanceOfJob {
    fn job(&self) -> &JobName {
        &self.job
    }

    fn name(&self) -> String {
        format!("instance {}", self.instance)
    }
}

impl Part for ServerOfJob {
    fn job(&self) -> &JobName {
        &self.job
    }

    fn name(&self) -> String {
        format!("server {}", self.server)
    }
}

impl Part for ItemOfJob {
    fn job(&self) -> &JobName {
        &self.job
    }

    fn name(&self) -> String {
        format!("item {}", self.item)
    }

    fn item(&self) -> Option<ShardingItem> {
        Some(self.item)
    }
}

impl Part for Removed {
    fn job(&self) -> &JobName {
        match self {
            Self::Instance(one) => &one.job,
            Self::Server(one) => &one.job,
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Instance(one) => one.name(),
            Self::Server(one) => one.name(),
        }
    }
}

impl Operations {
    /// The same operations, which record each action with its operator in the decision log.
    #[must_use]
    pub fn audited(self, audit: Audit) -> Self {
        Self { audit: Some(audit.into()), ..self }
    }

    /// Records an action: for each job what was changed, and how it ended.
    pub(super) async fn record<T: Part>(
        &self,
        action: &Action,
        changed: &[T],
        ended: Result<&Vec<T>, &OperationError>,
    ) {
        if self.audit.is_none() {
            return;
        }
        let mut jobs: BTreeMap<&JobName, Vec<&T>> = BTreeMap::new();
        for part in changed {
            jobs.entry(part.job()).or_default().push(part);
        }
        for (job, parts) in &jobs {
            let fire = action.fire.map(|at| format!("fire {}", format_rfc3339(at, TimeZone::UTC)));
            let parts_named = parts.iter().take(MOST_PARTS).map(|part| part.name());
            let names: Vec<String> = fire.into_iter().chain(parts_named).collect();
            let mut detail = Map::from_iter([("parts".to_owned(), json!(names))]);
            if let Some([before, after]) = action.states {
                detail.extend([
                    ("before".to_owned(), before.as_str().into()),
                    ("after".to_owned(), after.as_str().into()),
                ]);
            }
            let items = parts.iter().filter_map(|part| part.item()).collect();
            self.post(action.name, job, items, "done", detail);
        }
        let jobs: BTreeSet<JobName> = jobs.into_keys().cloned().collect();
        match (ended, &action.job) {
            (Ok(unchanged), _) => {
                let named = unchanged.iter().map(Part::job).chain(&action.job).filter(|job| !jobs.contains(*job));
                self.record_unchanged(action, &named.collect());
            }
            (Err(error), Some(job)) => self.record_failure(action.name, job, error),
            (Err(error), None) => {
                // The log is by job: the jobs of the server have what was not done.
                let Some(server) = &action.server else { return };
                let of = self.jobs_of_server(server).await.unwrap_or_default().into_iter().map(|of| of.job);
                let mut of: BTreeSet<JobName> = of.filter(|job| !jobs.contains(job)).collect();
                if of.is_empty() && jobs.is_empty() {
                    of.extend(JobName::new(ALL_JOBS).ok());
                }
                of.iter().for_each(|job| self.record_failure(action.name, job, error));
            }
        }
    }

    /// Records that an action changed nothing of these jobs. One record has all of many: it would hide those of changes.
    fn record_unchanged(&self, action: &Action, jobs: &BTreeSet<&JobName>) {
        let (job, detail) = match (jobs.first(), JobName::new(ALL_JOBS)) {
            (Some(_), Ok(all)) if jobs.len() > 1 => {
                let server = action.server.iter().map(|server| format!("server {server}"));
                let parts = server.chain(jobs.iter().map(|job| format!("job {job}"))).take(MOST_PARTS);
                (all, Map::from_iter([("parts".to_owned(), json!(parts.collect::<Vec<_>>()))]))
            }
            (Some(job), _) => ((*job).clone(), Map::new()),
            (None, _) => return,
        };
        self.post(action.name, &job, Vec::new(), "unchanged", detail);
    }

    /// Records an action that another part of the program carried out, with the parts that it was about, such as the fields that were
    /// changed. Give no secrets. Without an [`Audit`] nothing is recorded.
    pub fn record_action(&self, action: &'static str, job: &JobName, parts: Vec<String>, ended: ActionEnd) {
        let (outcome, error) = match ended {
            ActionEnd::Done => ("done", None),
            ActionEnd::Refused(why) => ("refused", Some(why)),
            ActionEnd::Failed(why) => ("failed", Some(why)),
            ActionEnd::Unknown(why) => ("unknown", Some(why)),
        };
        let parts: Vec<String> = parts.into_iter().take(MOST_PARTS).collect();
        let mut detail = Map::from_iter([("parts".to_owned(), json!(parts))]);
        detail.extend(error.map(|why| ("error".to_owned(), Value::String(cut(why)))));
        self.post(action, job, Vec::new(), outcome, detail);
    }

    pub(super) fn record_configuration(&self, job: &JobName, ended: &Result<ConfigurationChange, OperationError>) {
        const ACTION: &str = "update-configuration";
        match ended {
            Ok(change) => {
                let outcome = if change.changes.is_empty() { "unchanged" } else { "done" };
                let detail = Map::from_iter([("changes".to_owned(), json!(change.changes))]);
                self.post(ACTION, job, Vec::new(), outcome, detail);
            }
            Err(error) => self.record_failure(ACTION, job, error),
        }
    }

    pub(super) fn record_removal(&self, job: &JobName, ended: &Result<JobRemoved, OperationError>) {
        const ACTION: &str = "remove-job";
        match ended {
            Ok(removed) => {
                let names: Vec<String> = removed.instances.iter().map(|id| format!("instance {id}")).collect();
                let detail = [("parts".to_owned(), json!(names)), ("nodes".to_owned(), json!(removed.nodes))];
                self.post(ACTION, job, Vec::new(), "done", Map::from_iter(detail));
            }
            Err(error) => self.record_failure(ACTION, job, error),
        }
    }

    fn record_failure(&self, action: &'static str, job: &JobName, error: &OperationError) {
        // The record is of this job: who reads it need not know of others.
        let detail = Map::from_iter([("error".to_owned(), Value::String(cut(error.of_its_job().into())))]);
        self.post(action, job, Vec::new(), outcome(error), detail);
    }

    fn post(
        &self,
        action: &'static str,
        job: &JobName,
        items: Vec<ShardingItem>,
        outcome: &'static str,
        mut detail: Map<String, Value>,
    ) {
        let Some(audit) = &self.audit else { return };
        detail.extend([
            ("action".to_owned(), action.into()),
            ("actor".to_owned(), audit.actor.as_str().into()),
            ("outcome".to_owned(), outcome.into()),
        ]);
        detail.extend(audit.origin.iter().flat_map(Origin::detail));
        let tracing = audit.of_jobs.get(job).unwrap_or(&audit.tracing);
        tracing.post(JobEvent::Decision(JobDecisionEvent {
            sharding_items: items,
            reason: cut(audit.reason.clone()),
            detail,
            ..JobDecisionEvent::new(job.clone(), DecisionKind::Operator)
        }));
    }
}

/// How an action ended that was not done. A lost answer is no failure: it may have been done.
fn outcome(error: &OperationError) -> &'static str {
    match error {
        OperationError::Write { reason: CommitError::Unknown { .. }, .. } => "unknown",
        OperationError::Write { .. } | OperationError::Read(_) | OperationError::Contended { .. } => "failed",
        OperationError::NoSuchJob { .. }
        | OperationError::NoConfiguration { .. }
        | OperationError::NothingMatched { .. }
        | OperationError::NoSuchItem { .. }
        | OperationError::NoEnabledInstance { .. }
        | OperationError::NothingToCancel { .. }
        | OperationError::NotRerun { .. }
        | OperationError::InstancesOnline { .. }
        | OperationError::Invalid { .. }
        | OperationError::CarriedJob { .. }
        | OperationError::Unreadable { .. }
        | OperationError::ChangedMeanwhile { .. } => "refused",
    }
}
