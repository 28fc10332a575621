//! One fire: the runs of its items as bars and as a table, and what was decided about it and around it.

use askama::Template;
use axum::Form;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use elasticjob::ident::JobName;
use elasticjob::trace::DecisionRecord;
use i18n_embed_fl::fl;

use super::actions::without;
use super::chart::gantt::{Gantt, Span};
use super::chart::sign::Sign;
use super::decisions;
use super::fires;
use super::form::{self, Fields};
use super::job::{Head, failed_by, named, path_of, snapshot};
use super::outcome::Said;
use super::time::{Clock, duration};
use super::{Layout, error, with_status};
use crate::access::Role;
use crate::api::{Problem, scheduled};
use crate::here::Here;
use crate::service::fires::{self as service, Fire, FireId, OneFire, Run, RunState};
use crate::service::rerun;
use crate::text::{Text, t};

/// The lists of records that a fire links to begin and end so long before and after it.
const AROUND: i64 = 10 * 60_000;

#[derive(Template)]
#[template(path = "fire.html")]
struct FirePage {
    layout: Layout,
    head: Head,
    clock: Clock,
    id: FireId,
    problem: Option<Problem>,
    found: Option<OneFire>,
    gantt: Option<Gantt>,
    rows: Vec<Row>,
    /// The reader may run it again.
    may_operate: bool,
    /// The addresses of the records of its time: runs, and decisions.
    history: String,
    around: String,
}

/// The run of an item.
struct Row {
    run: Run,
    sign: Sign,
    state: String,
    source: String,
    /// From the time of the fire, or from the end of the run before, to its begin; in milliseconds.
    waited: Option<u64>,
}

impl FirePage {
    /// The time for which it was scheduled, or at which it began.
    fn name(&self) -> String {
        self.clock.at(&self.id.time())
    }

    fn fire(&self) -> Option<&Fire> {
        self.found.as_ref().map(|found| &found.fire)
    }

    fn sign(&self) -> Sign {
        self.fire().map_or(Sign::Unknown, |fire| fire.outcome().into())
    }

    fn outcome(&self) -> String {
        self.fire().map_or_else(String::new, |fire| fires::outcome(&self.layout.text, fire.outcome()))
    }

    fn tally(&self) -> String {
        self.fire().map_or_else(String::new, |fire| fires::tally(&self.layout.text, fire.tally()))
    }

    fn marks(&self) -> Vec<(&'static str, String)> {
        self.fire().map_or_else(Vec::new, |fire| fires::marks(&self.layout.text, fire))
    }

    fn legend(&self) -> Vec<(Sign, String)> {
        let mut legend = Vec::new();
        for row in &self.rows {
            if !legend.iter().any(|(sign, _)| *sign == row.sign) {
                legend.push((row.sign, row.state.clone()));
            }
        }
        legend
    }

    fn kind(&self, kind: &str) -> String {
        fires::kind(&self.layout.text, kind)
    }

    fn describe(&self, record: &DecisionRecord) -> String {
        decisions::sentence(&self.layout.text, record, &self.clock)
    }
}

fn rows(text: &Text, fire: &Fire) -> Vec<Row> {
    let before = std::iter::once(None).chain(fire.runs.iter().map(Some));
    let row = |(run, before): (&Run, Option<&Run>)| {
        let before = before.filter(|before| before.record.sharding_item == run.record.sharding_item);
        let since = before.map_or(fire.id.scheduled(), Run::end);
        Row {
            sign: run.state.into(),
            state: fires::run_state(text, run.state),
            source: fires::source(text, &run.record.source),
            waited: since.and_then(|since| u64::try_from(run.start() - since).ok()),
            run: run.clone(),
        }
    };
    fire.runs.iter().zip(before).map(row).collect()
}

/// The bar of a run.
fn span(clock: &Clock, row: &Row) -> Span {
    let record = &row.run.record;
    let instance = record.instance.as_deref().unwrap_or(&record.ip);
    let took = row.run.took().map(|took| duration(&took));
    let label = [Some(instance.to_owned()), took, row.run.is_failover().then(|| row.source.clone())];
    let label = label.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let title = format!("{} · {} · {} · {label}", record.sharding_item, row.state, clock.at(&row.run.start()));
    Span { item: record.sharding_item, start: row.run.start(), end: row.run.end(), sign: row.sign, label, title }
}

pub(crate) async fn show(here: Here, Path((_, name, fire)): Path<(String, String, String)>) -> Response {
    let id: FireId = match fire.parse() {
        Ok(id) => id,
        Err(wrong) => return error::problem(&here, &Problem::bad_request(wrong)),
    };
    let snapshot = match snapshot(&here, &name).await {
        Ok(snapshot) => snapshot,
        Err(page) => return *page,
    };
    let clock = Clock::of(snapshot.usable().and_then(|it| it.schedule()));
    let (found, problem) = match service::one(&here, &snapshot, id, &clock).await {
        Ok(found) => (Some(found), None),
        Err(problem) => (None, Some(problem)),
    };
    let status = problem.as_ref().filter(|it| it.code() != "not-traced").map_or(StatusCode::OK, Problem::status);
    let fire = found.as_ref().map(|found| &found.fire);
    let rows = fire.map_or_else(Vec::new, |fire| rows(&here.text, fire));
    let gantt = Gantt::of(rows.iter().map(|row| span(&clock, row)).collect(), id.scheduled(), clock.now, clock.zone);
    let from = fire.and_then(Fire::began).unwrap_or(id.time()).min(id.time()) - AROUND;
    let until = fire.and_then(Fire::ended).unwrap_or(id.time()).max(id.time()) + AROUND;
    let list = |list: &str| fires::history(&here, list, &snapshot.job, from, until);
    let (history, around) = (list("executions"), list("decisions"));
    let goes_on = fire.is_some_and(|fire| fire.runs.iter().any(|run| run.state == RunState::Running));
    let layout = Layout::of(&here);
    let layout = if goes_on { layout.live(&here) } else { layout };
    let head = Head::of(&here, &snapshot.job, "runs");
    let may_operate = here.may(Role::Operator, &snapshot.job) && id.scheduled().is_some();
    with_status(
        status,
        &FirePage { layout, head, clock, id, problem, found, gantt, rows, may_operate, history, around },
    )
}

/// Runs the fire again.
pub(crate) async fn run_again(
    here: Here,
    Path((_, name, fire)): Path<(String, String, String)>,
    Form(fields): Fields,
) -> Response {
    let job = match named(&here, &name) {
        Ok(job) => job,
        Err(page) => return *page,
    };
    let at = match scheduled(&fire) {
        Ok(at) => at,
        Err(problem) => return error::problem(&here, &problem),
    };
    let said = match rerun::run_again(&here, &job, at, &form::reason(&fields)).await {
        Ok(asked) => {
            let follow = asked.follow.iter().filter(|job| here.sees(job)).map(JobName::as_str);
            let done = match follow.collect::<Vec<&str>>().join(", ") {
                jobs if jobs.is_empty() => fl!(here.text.loader(), "done-rerun"),
                jobs => fl!(here.text.loader(), "done-rerun-follow", jobs = jobs),
            };
            Said::done(without(done, &asked.without_instance, &here.text))
        }
        Err(problem) => failed_by(&here, &problem),
    };
    said.at(&here.app, &path_of(&here, &job))
}
