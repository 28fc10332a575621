//! Why a job and its items run, or do not run.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use elasticjob::ident::ShardingItem;

use super::findings::{self, Line};
use super::job::{Head, snapshot};
use super::time::Clock;
use super::{Layout, page};
use crate::here::Here;
use crate::text::t;

#[derive(Template)]
#[template(path = "why.html")]
struct WhyPage {
    layout: Layout,
    head: Head,
    clock: Clock,
    of_job: Vec<Line>,
    of_items: Vec<(ShardingItem, Vec<Line>)>,
}

pub(crate) async fn show(here: Here, Path((_, name)): Path<(String, String)>) -> Response {
    let layout = Layout::of(&here).live(&here);
    let snapshot = match snapshot(&here, &name).await {
        Ok(snapshot) => snapshot,
        Err(page) => return *page,
    };
    let clock = Clock::of(snapshot.usable().and_then(|it| it.schedule()));
    let lines = |findings: &[_]| findings::lines(&here.text, &snapshot.job, findings, &clock);
    let of_items = snapshot.items.keys().map(|item| (*item, lines(&snapshot.findings_of(*item, clock.now))));
    page(&WhyPage {
        layout,
        head: Head::of(&here, &snapshot.job, "why"),
        of_job: lines(&snapshot.findings(clock.now)),
        of_items: of_items.collect(),
        clock,
    })
}
