//! Records what operators do in the decision log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};

use super::recorded_message::recorded;
use super::{
    ConfigurationChange, InstanceOfJob, ItemOfJob, JobRemoved, OperationError, Operations, Origin, Removed,
    ServerOfJob, Target,
};
use crate::config::Message;
use crate::ident::{JobName, ShardingItem};
use crate::registry::CommitError;
use crate::registry::layout::ServerStatus;
use crate::schedule::{TimeZone, format_rfc3339};
use crate::trace::{DecisionKind, JobDecisionEvent, JobEvent, Tracing, cut};

/// How many parts of an action are named.
const MOST_PARTS: usize = 500;

/// The job that the log, which is by job, names in the record of an action on a whole server that no job has, or of many jobs of
/// which it changed nothing.
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
    /// Of actions on many jobs that are one to the operator.
    not_changed: Option<Arc<NotChanged>>,
}

/// Jobs that an action did not change, each with why, where it was refused or failed.
type Unchanged = BTreeMap<JobName, Option<Message>>;

/// An action, its outcome, and the server that it was about, where it was about one.
type Kind = (&'static str, &'static str, Option<String>);

/// What several actions on jobs did not change. It is recorded when the last of them is over.
#[derive(Debug)]
struct NotChanged {
    audit: Audit,
    jobs: Mutex<BTreeMap<Kind, Unchanged>>,
}

impl Drop for NotChanged {
    fn drop(&mut self) {
        let all = std::mem::take(self.jobs.get_mut().unwrap_or_else(PoisonError::into_inner));
        for ((action, outcome, server), jobs) in all {
            self.audit.post_not_changed(action, outcome, server.as_deref(), jobs);
        }
    }
}

impl Audit {
    /// Records what this operator does, for example `alice@build7`.
    pub fn new(tracing: Tracing, actor: impl Into<String>) -> Self {
        let (of_jobs, actor, reason) = (Arc::default(), actor.into(), String::new());
        Self { tracing, of_jobs, actor, origin: None, reason, not_changed: None }
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

    /// Records that an action may have changed these jobs, each at itself, or that it was refused, or had nothing to change. One record
    /// has all of many of these: it would hide those of changes.
    pub(super) fn post_ended(
        &self,
        action: &'static str,
        outcome: &'static str,
        server: Option<&str>,
        jobs: Unchanged,
    ) {
        if ["refused", "unchanged"].contains(&outcome) {
            return self.post_not_changed(action, outcome, server, jobs);
        }
        for (job, why) in jobs {
            let mut detail = failure(why.as_ref());
            detail.extend(server.map(|server| ("parts".to_owned(), json!([part_of_server(server)]))));
            self.post(action, &job, Vec::new(), outcome, detail);
        }
    }

    /// One record of these jobs; none yet where other actions of the same operation follow.
    fn post_not_changed(&self, action: &'static str, outcome: &'static str, server: Option<&str>, jobs: Unchanged) {
        if let Some(kept) = &self.not_changed {
            let mut kept = kept.jobs.lock().unwrap_or_else(PoisonError::into_inner);
            kept.entry((action, outcome, server.map(str::to_owned))).or_default().extend(jobs);
            return;
        }
        let why: BTreeMap<&str, &Message> = jobs.values().flatten().map(|why| (why.as_str(), why)).collect();
        let is_one = why.len() <= 1;
        let mut detail = failure(why.into_values());
        let server = server.map(part_of_server);
        match (jobs.first_key_value(), JobName::new(ALL_JOBS)) {
            (Some(_), Ok(all)) if jobs.len() > 1 => {
                let of_server = server.map(|server| (server, None));
                let of_jobs = jobs.iter().map(|(job, why)| match why {
                    Some(why) if !is_one => (format!("job {job}: {why}"), Some(recorded(why))),
                    _ => (format!("job {job}"), None),
                });
                let parts = of_server.into_iter().chain(of_jobs).take(MOST_PARTS);
                let (parts, why): (Vec<String>, Vec<Option<Value>>) = parts.unzip();
                if !is_one {
                    detail.insert("partMessages".to_owned(), json!(why));
                }
                detail.insert("parts".to_owned(), json!(parts));
                self.post(action, &all, Vec::new(), outcome, detail);
            }
            (Some((job, _)), _) => {
                detail.extend(server.map(|server| ("parts".to_owned(), json!([server]))));
                self.post(action, job, Vec::new(), outcome, detail);
            }
            (None, _) => {}
        }
    }

    fn post(
        &self,
        action: &'static str,
        job: &JobName,
        items: Vec<ShardingItem>,
        outcome: &'static str,
        mut detail: Map<String, Value>,
    ) {
        detail.extend([
            ("action".to_owned(), action.into()),
            ("actor".to_owned(), self.actor.as_str().into()),
            ("outcome".to_owned(), outcome.into()),
        ]);
        detail.extend(self.origin.iter().flat_map(Origin::detail));
        let tracing = self.of_jobs.get(job).unwrap_or(&self.tracing);
        tracing.post(JobEvent::Decision(JobDecisionEvent {
            sharding_items: items,
            reason: cut(self.reason.clone()),
            detail,
            ..JobDecisionEvent::new(job.clone(), DecisionKind::Operator)
        }));
    }
}

/// Why an action was not done: the English text, and the messages that it is made of as long as the text is not cut.
fn failure<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Map<String, Value> {
    let messages: Vec<&Message> = messages.into_iter().collect();
    if messages.is_empty() {
        return Map::new();
    }
    let whole = messages.iter().map(|message| message.as_str()).collect::<Vec<_>>().join("; ");
    let told = cut(whole.clone());
    let is_whole = told == whole;
    let mut detail = Map::from_iter([("error".to_owned(), Value::String(told))]);
    if is_whole {
        let messages = messages.into_iter().map(recorded).collect();
        detail.insert("errorMessages".to_owned(), Value::Array(messages));
    }
    detail
}

/// A server as a part of a record.
fn part_of_server(server: &str) -> String {
    format!("server {server}")
}

/// The end of an action that another part of the program carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ActionEnd {
    /// It was done.
    Done,
    /// It was not done, for this reason: it was wrong.
    Refused(Message),
    /// It was not done, for this reason.
    Failed(Message),
    /// It may have been done: the answer was lost.
    Unknown(Message),
}

/// An action on parts of jobs.
pub(super) struct Action {
    pub(super) name: &'static str,
    /// The job that is meant, where the action is about one job.
    pub(super) job: Option<JobName>,
    /// The server that is meant, in all its jobs or in that one.
    pub(super) server: Option<String>,
    /// The states of each part before and after it.
    pub(super) states: Option<[ServerStatus; 2]>,
    /// The scheduled time of the fire that is meant, in milliseconds since 1970.
    pub(super) fire: Option<i64>,
}

impl Action {
    pub(super) fn on(name: &'static str, target: &Target) -> Self {
        let (job, server) = match target {
            Target::Job(job) => (Some(job.clone()), None),
            Target::ServerOfJob(job, server) => (Some(job.clone()), Some(server.clone())),
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
        part_of_server(&self.server)
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

    /// The same operations for what an operator asks of many jobs at once. Each job that is changed has its record; those that are
    /// not have one together for each action, outcome and server, which is written when the last clone of these operations is dropped.
    #[must_use]
    pub fn on_many_jobs(&self) -> Self {
        let together = |audit: &Arc<Audit>| {
            let not_changed = NotChanged { audit: Audit::clone(audit), jobs: Mutex::default() };
            Arc::new(Audit { not_changed: Some(Arc::new(not_changed)), ..Audit::clone(audit) })
        };
        Self { audit: self.audit.as_ref().map(together), ..self.clone() }
    }

    /// Records an action: for each job what was changed, and how it ended.
    pub(super) async fn record<T: Part>(
        &self,
        action: &Action,
        changed: &[T],
        ended: Result<&Vec<T>, &OperationError>,
    ) {
        let Some(audit) = &self.audit else { return };
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
            audit.post(action.name, job, items, "done", detail);
        }
        let jobs: BTreeSet<JobName> = jobs.into_keys().cloned().collect();
        match (ended, &action.job) {
            (Ok(unchanged), _) => {
                let named = unchanged.iter().map(Part::job).chain(&action.job).filter(|job| !jobs.contains(*job));
                let named = named.map(|job| (job.clone(), None)).collect();
                audit.post_not_changed(action.name, "unchanged", action.server.as_deref(), named);
            }
            (Err(error), Some(job)) => self.record_failure(action.name, action.server.as_deref(), job, error),
            (Err(error), None) => {
                let Some(server) = &action.server else { return };
                let of = self.jobs_of_server(server).await.unwrap_or_default().into_iter().map(|of| of.job);
                let mut of: BTreeSet<JobName> = of.filter(|job| !jobs.contains(job)).collect();
                if of.is_empty() && jobs.is_empty() {
                    of.extend(JobName::new(ALL_JOBS).ok());
                }
                let why = error.of_its_job();
                let of = of.into_iter().map(|job| (job, Some(why.clone()))).collect();
                audit.post_ended(action.name, outcome(error), Some(server), of);
            }
        }
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
        detail.extend(failure(error.as_ref()));
        self.post(action, job, outcome, detail);
    }

    pub(super) fn record_configuration(&self, job: &JobName, ended: &Result<ConfigurationChange, OperationError>) {
        const ACTION: &str = "update-configuration";
        match ended {
            Ok(change) => {
                let outcome = if change.changes.is_empty() { "unchanged" } else { "done" };
                let detail = Map::from_iter([("changes".to_owned(), json!(change.changes))]);
                self.post(ACTION, job, outcome, detail);
            }
            Err(error) => self.record_failure(ACTION, None, job, error),
        }
    }

    pub(super) fn record_removal(&self, job: &JobName, ended: &Result<JobRemoved, OperationError>) {
        const ACTION: &str = "remove-job";
        match ended {
            Ok(removed) => {
                let names: Vec<String> = removed.instances.iter().map(|id| format!("instance {id}")).collect();
                let detail = [("parts".to_owned(), json!(names)), ("nodes".to_owned(), json!(removed.nodes))];
                self.post(ACTION, job, "done", Map::from_iter(detail));
            }
            Err(error) => self.record_failure(ACTION, None, job, error),
        }
    }

    fn record_failure(&self, action: &'static str, server: Option<&str>, job: &JobName, error: &OperationError) {
        let Some(audit) = &self.audit else { return };
        // The record is of this job: who reads it need not know of others.
        let why = Unchanged::from([(job.clone(), Some(error.of_its_job()))]);
        audit.post_ended(action, outcome(error), server, why);
    }

    fn post(&self, action: &'static str, job: &JobName, outcome: &'static str, detail: Map<String, Value>) {
        if let Some(audit) = &self.audit {
            audit.post(action, job, Vec::new(), outcome, detail);
        }
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
