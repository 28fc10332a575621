//! Pages of traces: runs of items, changes of state, decisions.

use askama::Template;
use axum::response::Response;
use chrono::DateTime;
use elasticjob::ident::JobName;
use elasticjob::operations::{ALL_JOBS, Surface};
use elasticjob::schedule::format_rfc3339;
use elasticjob::trace::{DecisionKind, DecisionRecord, ExecutionOutcome, ExecutionRecord, StateRecord};

use super::decisions;
use super::fires;
use super::query::Query;
use super::time::Clock;
use super::{Layout, with_problem};
use crate::access::{Permission, Role};
use crate::api::Problem;
use crate::here::Here;
use crate::service::audit::ActionRecord;
use crate::service::history::{Found, HistoryQuery, LONGEST, Range, STATES, Traced, find};
use crate::service::history_file::{self, Row};
use crate::text::{Text, t};

/// What the three pages have in common.
struct Frame {
    clock: Clock,
    query: HistoryQuery,
    /// The time range as the fields of the form show it: local times without a zone.
    from: String,
    until: String,
    /// Why there is nothing to show.
    problem: Option<Problem>,
    /// The query of the next page, and that of the file.
    next: Option<String>,
    file: String,
}

impl Frame {
    /// Reads what the query asks for.
    async fn read<T: Traced>(here: &Here, query: HistoryQuery) -> (Self, Vec<T>) {
        let clock = Clock::of(None);
        let now = DateTime::from_timestamp_millis(clock.now).unwrap_or_default();
        let (range, found) = match query.range(now, clock.zone) {
            Ok(range) => (Some(range), find::<T>(here, &query, range).await),
            Err(problem) => (None, Err(problem)),
        };
        let field = |at: i64| format_rfc3339(at, clock.zone).chars().take("2026-11-21T03:00".len()).collect();
        let (from, until) = match range {
            Some(Range { from, until }) => {
                (field(from.timestamp_millis()), until.map_or(String::new(), |until| field(until.timestamp_millis())))
            }
            None => (query.from.clone(), query.until.clone()),
        };
        let (file, mut frame_next, mut problem, mut records) =
            (query.with(&[("format", "csv")]), None, None, Vec::new());
        match found {
            Ok(Found { records: found, next }) => {
                frame_next = next.map(|next| query.with(&[("cursor", &next)]));
                records = found;
            }
            Err(wrong) => problem = Some(wrong),
        }
        (Self { clock, query, from, until, problem, next: frame_next, file }, records)
    }

    /// The query of the first page.
    fn first(&self) -> String {
        self.query.with(&[])
    }

    fn days(&self) -> i64 {
        LONGEST.num_days()
    }

    /// The problem that the status tells. Pages say by themselves that nothing is configured: that is no error.
    fn failure(&self) -> Option<Problem> {
        self.problem.clone().filter(|problem| problem.code() != "not-traced")
    }

    fn is_not_configured(&self) -> bool {
        self.problem.as_ref().is_some_and(|problem| problem.code() == "not-traced")
    }

    fn is_unreadable(&self) -> bool {
        self.problem.as_ref().is_some_and(|problem| problem.code() == "traces-unreadable")
    }
}

/// The link to a job; none for a name that is no name of a job, and for all jobs.
pub(super) fn job_link(layout: &Layout, job: &str) -> Option<String> {
    let named = JobName::new(job).ok().filter(|job| job.as_str() != ALL_JOBS);
    named.map(|job| layout.here(&format!("/jobs/{}", super::segment(job.as_str()))))
}

#[derive(Template)]
#[template(path = "executions.html")]
struct ExecutionsPage {
    layout: Layout,
    frame: Frame,
    records: Vec<ExecutionRecord>,
}

#[derive(Template)]
#[template(path = "states.html")]
struct StatesPage {
    layout: Layout,
    frame: Frame,
    records: Vec<StateRecord>,
}

#[derive(Template)]
#[template(path = "decisions.html")]
struct DecisionsPage {
    layout: Layout,
    frame: Frame,
    records: Vec<DecisionRecord>,
}

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    layout: Layout,
    frame: Frame,
    records: Vec<ActionRecord>,
    /// The reader may see who came in to this console.
    may_administer: bool,
    /// The actions outlive the console.
    are_kept: bool,
}

impl AuditPage {
    fn outcome(&self, outcome: &str) -> String {
        outcome_of_action(&self.layout.text, outcome)
    }

    /// What the operator used, in words; a surface of a later release by its name.
    fn surface(&self, surface: &str) -> String {
        match Surface::ALL.into_iter().find(|known| known.as_str() == surface) {
            Some(Surface::Page) => t!(self, "audit-by-page"),
            Some(Surface::Rest) => t!(self, "audit-by-rest"),
            Some(Surface::CommandLine) => t!(self, "audit-by-command-line"),
            _ => surface.to_owned(),
        }
    }
}

/// How an action of an operator ended, in words.
pub(super) fn outcome_of_action(text: &Text, outcome: &str) -> String {
    let id = match outcome {
        "done" => "audit-done",
        "unchanged" => "audit-unchanged",
        "refused" => "audit-refused",
        "failed" => "outcome-failed",
        "unknown" => "not-known",
        other => return other.to_owned(),
    };
    text.loader().get(id)
}

impl ExecutionsPage {
    fn outcomes(&self) -> [(ExecutionOutcome, String); 3] {
        [ExecutionOutcome::Succeeded, ExecutionOutcome::Failed, ExecutionOutcome::NoEnd]
            .map(|outcome| (outcome, self.outcome(&outcome)))
    }

    fn outcome(&self, outcome: &ExecutionOutcome) -> String {
        match outcome {
            ExecutionOutcome::Succeeded => t!(self, "outcome-succeeded"),
            ExecutionOutcome::Failed => t!(self, "outcome-failed"),
            ExecutionOutcome::NoEnd => t!(self, "outcome-no-end"),
        }
    }

    fn source(&self, source: &str) -> String {
        fires::source(&self.layout.text, source)
    }
}

impl StatesPage {
    fn states(&self) -> [&'static str; 6] {
        STATES
    }

    /// The names of Java for states, in words.
    fn state(&self, state: &str) -> String {
        match state {
            "TASK_STAGING" => t!(self, "state-staging"),
            "TASK_RUNNING" => t!(self, "state-running"),
            "TASK_FINISHED" => t!(self, "state-finished"),
            "TASK_ERROR" => t!(self, "state-error"),
            "TASK_FAILED" => t!(self, "state-failed"),
            "TASK_KILLED" => t!(self, "state-killed"),
            other => other.to_owned(),
        }
    }
}

impl DecisionsPage {
    fn kinds(&self) -> Vec<(&'static str, String)> {
        DecisionKind::ALL.iter().map(|kind| (kind.as_str(), self.kind(kind.as_str()))).collect()
    }

    fn kind(&self, kind: &str) -> String {
        kind_name(&self.layout.text, kind)
    }

    fn describe(&self, record: &DecisionRecord) -> String {
        decisions::sentence(&self.layout.text, record, &self.frame.clock)
    }

    fn items(&self, record: &DecisionRecord) -> String {
        record.sharding_items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

/// A kind of decision in words; the name itself for one of a later release.
pub(super) fn kind_name(text: &Text, kind: &str) -> String {
    let id = kind_id(kind);
    if text.loader().has(&id) { text.loader().get(&id) } else { kind.to_owned() }
}

/// The id of the text for a kind of decision.
fn kind_id(kind: &str) -> String {
    format!("kind-{}", decisions::code_of(kind))
}

pub(super) fn class_of_outcome(outcome: &ExecutionOutcome) -> &'static str {
    match outcome {
        ExecutionOutcome::Succeeded => "ok",
        ExecutionOutcome::Failed => "bad",
        ExecutionOutcome::NoEnd => "unknown",
    }
}

pub(super) fn class_of_state(state: &str) -> &'static str {
    match state {
        "TASK_STAGING" => "wait",
        "TASK_RUNNING" => "run",
        "TASK_FINISHED" => "ok",
        "TASK_ERROR" | "TASK_FAILED" => "bad",
        _ => "unknown",
    }
}

pub(super) fn class_of_kind(kind: &str) -> &'static str {
    match kind {
        "MISSED"
        | "NOT_BEGUN"
        | "NOT_STARTED"
        | "RUNS_ABANDONED"
        | "TRIGGER_DROPPED"
        | "TRIGGER_LEAVES_OUT"
        | "CONFIGURATION_REFUSED"
        | "DAEMON_ENDS"
        | "REGISTRY_LOST" => "bad",
        "SKIPPED"
        | "COLLAPSED"
        | "BEGUN_LATE"
        | "TAKEN_OVER"
        | "HANDED_OVER"
        | "PLACE_LOST"
        | "RUNS_CANCELLED"
        | "STALE"
        | "TRIGGER_HANDED_OVER"
        | "TRIGGER_MERGED"
        | "CONFIGURATION_DIFFERS"
        | "STRATEGY_FAILED"
        | "CLOCK_OFF"
        | "ABDICATED" => "warn",
        "OPERATOR" => "run",
        "REGISTERED" | "ELECTED" | "CLOCK_RIGHT" | "REGISTRY_BACK" | "CONFIGURATION_CHANGED" | "RESHARDED" => "ok",
        _ => "off",
    }
}

pub(super) fn class_of_action(outcome: &str) -> &'static str {
    match outcome {
        "done" => "ok",
        "unchanged" => "off",
        "refused" => "warn",
        "failed" => "bad",
        _ => "unknown",
    }
}

/// How long a run took, in milliseconds.
pub(super) fn took(record: &ExecutionRecord) -> Option<u64> {
    u64::try_from((record.complete_time? - record.start_time).num_milliseconds()).ok()
}

/// A text of an error: the line that is always seen, and the rest, which unfolds.
pub(super) fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match line.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// The page, or the file with the same records.
async fn answer<T: Traced + Row + 'static>(
    here: Here,
    query: HistoryQuery,
    page: impl FnOnce(Layout, Frame, Vec<T>) -> Response,
) -> Response {
    if query.format == "csv" {
        let clock = Clock::of(None);
        let range = query.range(DateTime::from_timestamp_millis(clock.now).unwrap_or_default(), clock.zone);
        let file = match range {
            Ok(range) => history_file::answer::<T>(&here, &query, range).await,
            Err(problem) => Err(problem),
        };
        return file.unwrap_or_else(|problem| super::error::problem(&here, &problem));
    }
    let layout = Layout::of(&here);
    // A later page begins after a record, and a time that is over has no more of them.
    let is_newest = query.cursor.trim().is_empty() && query.until.trim().is_empty();
    let layout = match query.job().ok().filter(|_| is_newest) {
        Some(job) => layout.live_records(&here, job.as_ref()),
        None => layout,
    };
    let (frame, records) = Frame::read::<T>(&here, query).await;
    let layout = if frame.problem.is_some() { layout.still() } else { layout };
    page(layout, frame, records)
}

pub(crate) async fn executions(here: Here, Query(query): Query<HistoryQuery>) -> Response {
    answer(here, query, |layout, frame, records| {
        with_problem(frame.failure().as_ref(), &ExecutionsPage { layout, frame, records })
    })
    .await
}

pub(crate) async fn states(here: Here, Query(query): Query<HistoryQuery>) -> Response {
    answer(here, query, |layout, frame, records| {
        with_problem(frame.failure().as_ref(), &StatesPage { layout, frame, records })
    })
    .await
}

pub(crate) async fn decisions(here: Here, Query(query): Query<HistoryQuery>) -> Response {
    answer(here, query, |layout, frame, records| {
        with_problem(frame.failure().as_ref(), &DecisionsPage { layout, frame, records })
    })
    .await
}

pub(crate) async fn audit(here: Here, Query(query): Query<HistoryQuery>) -> Response {
    let may_administer = here.identity.may(Permission::Has(Role::Admin), None, None);
    let are_kept = here.registry.keeps_actions();
    answer(here, query, |layout, frame, records| {
        with_problem(frame.failure().as_ref(), &AuditPage { layout, frame, records, may_administer, are_kept })
    })
    .await
}

#[cfg(test)]
mod tests;
