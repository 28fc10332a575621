//! Explains why a job and its items run, or do not, and what became of a past fire.

use askama::Template;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use elasticjob::ident::ShardingItem;
use elasticjob::operations::{Happened, JobSnapshot, PastFire, shell_operand};
use elasticjob::schedule::format_rfc3339;
use i18n_embed_fl::fl;
use serde::Deserialize;

use super::cloud::tasks::Ready;
use super::decisions;
use super::findings::{self, Help, Line};
use super::history::outcome_of_action;
use super::job::{Head, snapshot};
use super::outcome::{Said, Tone};
use super::query::Query;
use super::time::Clock;
use super::{Layout, error, with_status};
use crate::api::Problem;
use crate::cloud::Cloud;
use crate::here::Here;
use crate::parity::of_registry;
use crate::service::audit::{ActionRecord, last_actions};
use crate::service::part::{Part, on_a_page};
use crate::service::past::past;
use crate::text::t;

/// How many actions of operators are shown.
const LAST_ACTIONS: u32 = 5;

/// What is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WhyQuery {
    /// A time in the past; empty for now.
    at: String,
    /// The item after which the list of items begins; empty for the begin of the list.
    item: String,
}

#[derive(Template)]
#[template(path = "why.html")]
struct WhyPage {
    layout: Layout,
    /// What the button of a finding did.
    said: Option<Said>,
    head: Head,
    clock: Clock,
    /// The time as the field of the form shows it: a local one without a zone.
    at: String,
    past: Option<PastFire>,
    problem: Option<Problem>,
    of_job: Vec<Line>,
    /// A part of the items.
    of_items: Part<(ShardingItem, Vec<Line>)>,
    /// What operators did to it last.
    actions: Result<Vec<ActionRecord>, Problem>,
}

impl WhyPage {
    fn outcome(&self, outcome: &str) -> String {
        outcome_of_action(&self.layout.text, outcome)
    }

    fn at(&self, happened: &Happened) -> String {
        self.clock.at(&happened.at())
    }

    fn happened(&self, happened: &Happened) -> String {
        decisions::happened(&self.layout.text, happened, &self.clock)
    }

    /// The address of the page of all actions on the job.
    fn audit(&self) -> String {
        self.layout.here(&format!("/history/audit?job={}", super::segment(self.head.job.as_str())))
    }

    /// The address of the page of the fire.
    fn fire(&self, past: &PastFire) -> String {
        format!("{}/runs/{}", self.head.path, crate::service::time::Time(past.fire))
    }

    /// The command that answers the same.
    fn command(&self, past: &PastFire) -> String {
        let (fire, operand) = (format_rfc3339(past.fire, self.clock.zone), shell_operand(self.head.job.as_str()));
        of_registry(&format!("elasticjob why --at {fire} {operand}"), &self.layout.registry)
    }
}

pub(crate) async fn show(
    here: Here,
    headers: HeaderMap,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<WhyQuery>,
    // Only a console beside a scheduler of carried jobs has it.
    cloud: Result<Cloud, Response>,
) -> Response {
    let layout = Layout::of(&here);
    let layout = if query.at.trim().is_empty() { layout.live(&here) } else { layout };
    let snapshot = match snapshot(&here, &name).await {
        Ok(snapshot) => snapshot,
        Err(page) => return *page,
    };
    let clock = Clock::of(snapshot.usable().and_then(|it| it.schedule()));
    let (mut at, mut found, mut problem) = (query.at.clone(), None, None);
    if !query.at.trim().is_empty() {
        match past(&here, &snapshot.job, &query.at, clock.zone).await {
            Ok(fire) => {
                at = format_rfc3339(fire.fire, clock.zone).chars().take("2026-11-21T03:00:00".len()).collect();
                found = Some(fire);
            }
            Err(wrong) => problem = Some(wrong),
        }
    }
    let status = problem.as_ref().filter(|it| it.code() != "not-traced").map_or(StatusCode::OK, Problem::status);
    let lines = |findings: &[_]| findings::lines(&here, &snapshot.job, findings, &clock);
    let items: Vec<ShardingItem> = snapshot.items.keys().copied().collect();
    let of_items = match on_a_page(items, |item| *item, &query.item) {
        Ok(part) => part.map(|item| (item, lines(&snapshot.findings_of(item, clock.now)))),
        Err(problem) => return error::problem(&here, &problem),
    };
    let (mut of_job, mut of_items) = (lines(&snapshot.findings(clock.now)), of_items);
    if let (Ok(cloud), None) = (cloud, &found) {
        add_carrier(&cloud, &snapshot, &mut of_job, &mut of_items.elements).await;
    }
    let actions = match found {
        None => last_actions(&here.registry, &snapshot.job, LAST_ACTIONS).await,
        Some(_) => Ok(Vec::new()),
    };
    let page = WhyPage {
        layout,
        said: Said::of(&here.app, &headers),
        head: Head::of(&here, &snapshot.job, "why"),
        of_job,
        of_items,
        clock,
        at,
        past: found,
        problem,
        actions,
    };
    Said::forget(&here.app, with_status(status, &page))
}

/// Adds what a carried job and its items wait for at their carrier: the registry center does not know it.
async fn add_carrier(
    cloud: &Cloud,
    snapshot: &JobSnapshot,
    of_job: &mut Vec<Line>,
    of_items: &mut [(ShardingItem, Vec<Line>)],
) {
    let loader = cloud.here.text.loader();
    let line = |why: String, since: Option<i64>| Line {
        text: fl!(loader, "why-at-carrier", why = why),
        class: "obstacle",
        since,
        command: None,
        help: None,
    };
    match Ready::of(cloud, &snapshot.job).await {
        Err(refusal) => of_job.push(line(refusal.shown(&cloud.here.text), None)),
        Ok(ready) => {
            for ready in ready {
                of_job.extend(ready.why.map(|why| line(why, None)));
                for waiting in ready.items {
                    let shown = of_items.iter_mut().find(|(item, _)| *item == waiting.item).map(|(_, lines)| lines);
                    match shown {
                        Some(lines) => lines.push(line(waiting.why, waiting.since)),
                        // The page with the item says it.
                        None if snapshot.items.contains_key(&waiting.item) => {}
                        None => of_job.push(line(waiting.why, waiting.since)),
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
