//! The list of the jobs, and actions on many of them.

use std::sync::Arc;

use askama::Template;
use axum::Form;
use axum::http::HeaderMap;
use axum::response::Response;
use elasticjob::fire::FireState;
use elasticjob::ident::JobName;
use elasticjob::operations::alarms::Concern;
use elasticjob::operations::{JobOverview, JobState, Target};
use i18n_embed_fl::fl;

use super::actions::Action;
use super::chart::Px;
use super::chart::sign::Sign;
use super::chart::strip::Strip;
use super::fires::outcome;
use super::form::{self, Fields};
use super::job;
use super::outcome::{List, Said, Tone};
use super::query::Query;
use super::time::Clock;
use super::{Layout, disabled, error, page};
use crate::access::Role;
use crate::api::Problem;
use crate::api::body::checked_count;
use crate::here::Here;
use crate::schedule_words;
use crate::service::disabled::{Disablings, disablings_of, of_list};
use crate::service::jobs::{self, JobQuery};
use crate::service::many_jobs;
use crate::service::strip::{FIRES, Mark, strips};
use crate::text::{Text, t};
use crate::texts;

#[derive(Template)]
#[template(path = "jobs.html")]
struct JobsPage {
    layout: Layout,
    said: Option<Said>,
    query: JobQuery,
    states: Vec<JobState>,
    rows: Vec<Row>,
    total: usize,
    /// The query of the next page.
    next: Option<String>,
    may_operate: bool,
    /// Whether the last fires are known.
    is_traced: bool,
    /// Why they cannot be read.
    unread: Option<String>,
}

/// A job in the list.
struct Row {
    job: Arc<JobOverview>,
    clock: Clock,
    may_operate: bool,
    /// Its schedule.
    words: Option<String>,
    /// The jobs that it runs after.
    after: Option<String>,
    /// Its last fires.
    strip: Option<Strip>,
    /// Who disabled it, or a part of it.
    disabled: Option<String>,
}

impl Row {
    fn of(here: &Here, disablings: &Disablings, job: Arc<JobOverview>, marks: Option<&Vec<Mark>>) -> Self {
        let clock = Clock::in_zone(job.time_zone);
        let strip = marks.filter(|marks| !marks.is_empty()).map(|marks| {
            let title = |mark: &Mark| (mark.outcome.into(), title(&here.text, &clock, mark));
            Strip::of(marks.iter().map(title), FIRES)
        });
        Self {
            may_operate: here.may(Role::Operator, &job.job),
            after: job::after(&job.depends_on),
            disabled: disabled::of_job(&here.text, disablings, &job),
            words: job.cron.as_deref().and_then(|cron| schedule_words::of(&here.text, cron)),
            strip,
            clock,
            job,
        }
    }
}

fn title(text: &Text, clock: &Clock, mark: &Mark) -> String {
    let (at, outcome) = (clock.at(&mark.id.time()), outcome(text, mark.outcome));
    fl!(text.loader(), "strip-fire", at = at, outcome = outcome, done = mark.done, items = mark.items)
}

impl JobsPage {
    fn strip_width(&self) -> Px {
        Strip::width(FIRES)
    }

    /// What the picture of a strip says in one line: how many fires, and how many of them failed.
    fn strip_about(&self, strip: &Strip) -> String {
        let failed = strip.bars.iter().filter(|bar| bar.sign == Sign::Bad).count();
        fl!(self.layout.text.loader(), "strip-about", count = strip.bars.len(), failed = failed)
    }
}

/// The class of a state in the style sheet.
pub(crate) fn class_of(state: &JobState) -> &'static str {
    match state {
        JobState::Ok => "ok",
        JobState::Disabled => "off",
        JobState::ShardingFlag => "wait",
        _ => "bad",
    }
}

/// The class of the end of a run.
pub(crate) fn class_of_end(state: &FireState) -> &'static str {
    match state {
        FireState::Succeeded => "ok",
        FireState::Running => "run",
        _ => "bad",
    }
}

pub(crate) async fn show(here: Here, headers: HeaderMap, Query(query): Query<JobQuery>) -> Response {
    let layout = Layout::of(&here).live(&here);
    let found = match jobs::list(&here, &query).await {
        Ok(found) => found,
        Err(problem) => return error::problem(&here, &problem),
    };
    let (total, next) = (found.total, found.next.map(|cursor| query.after(&cursor)));
    let (marks, unread) = match strips(&here, &found.jobs).await {
        Ok(marks) => (marks, None),
        Err(error) => (None, Some(Problem::from(error).told(&here.text))),
    };
    let is_traced = marks.is_some();
    let marks = marks.unwrap_or_default();
    let disablings = disablings_of(&here, of_list(found.jobs.iter().map(|job| &**job))).await;
    let rows: Vec<Row> = found
        .jobs
        .into_iter()
        .map(|job| {
            let marks = marks.get(job.job.as_str());
            Row::of(&here, &disablings, job, marks)
        })
        .collect();
    let (said, may_operate) = (Said::of(&here.app, &headers), rows.iter().any(|row| row.may_operate));
    let states = JobState::ALL.to_vec();
    let shown = page(&JobsPage { layout, said, query, states, rows, total, next, may_operate, is_traced, unread });
    Said::forget(&here.app, shown)
}

/// Does one thing to many jobs. Each is checked by itself: the path of the request names none.
pub(crate) async fn act(here: Here, Form(fields): Fields) -> Response {
    let back = match form::one(&fields, "back") {
        "overview" => format!("/r/{}", here.registry.name()),
        _ => format!("/r/{}/jobs", here.registry.name()),
    };
    let Some(action) = Action::of(form::one(&fields, "action")) else {
        return error::problem(&here, &Problem::bad_request(texts::no_action()));
    };
    if let Err(problem) = checked_count(form::all(&fields, "job").count()) {
        return error::problem(&here, &problem);
    }
    let jobs: Vec<JobName> = form::all(&fields, "job").filter_map(|name| JobName::new(name).ok()).collect();
    if jobs.is_empty() {
        return Said::failed(fl!(here.text.loader(), "jobs-select")).at(&here.app, &back);
    }
    let operations = here.operations(&form::reason(&fields)).on_many_jobs();
    let actions = jobs.into_iter().map(async |job| match here.may(Role::Operator, &job) {
        false => Err(fl!(here.text.loader(), "job-not-allowed", job = job.as_str())),
        true => match action.on(&operations, &Target::Job(job.clone())).await {
            Ok(ended) => Ok(ended.of(&job, &here.text)),
            Err(error) => Err(format!("{job}: {}", job::failed(&here, &error).text)),
        },
    });
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    many_jobs::ends(actions).await.into_iter().for_each(|ended| match ended {
        Ok(job) => done.push(job),
        Err(why) => failed.push(why),
    });
    let (text, tone) = (&here.text, if failed.is_empty() { Tone::Done } else { Tone::Failed });
    let (count, all) = (failed.len(), failed.len() + done.len());
    let failures = fl!(text.loader(), "many-failed", count = count, all = all);
    let successes = fl!(text.loader(), "many-done", done = action.done(text), count = done.len());
    // The failures come first: what does not fit into the outcome is counted.
    let failed = List { head: failures, parts: failed, between: "; ".to_owned() };
    let done = List { head: successes, parts: done, between: fl!(text.loader(), "list-comma") };
    let lists: Vec<List> = [failed, done].into_iter().filter(|list| !list.parts.is_empty()).collect();
    let said = Said::lists(tone, text, &lists);
    said.at(&here.app, &back)
}
