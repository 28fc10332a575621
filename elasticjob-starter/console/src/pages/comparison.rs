//! The configurations of two registry centers, side by side.

use askama::Template;
use axum::response::Response;
use i18n_embed_fl::fl;

use super::query::Query;
use super::time::Clock;
use super::{Layout, page, with_problem};
use crate::api::Problem;
use crate::here::Here;
use crate::service::configurations::compared::{Beside, CompareQuery, Compared, compared, others};
use crate::text::t;

#[derive(Template)]
#[template(path = "comparison.html")]
struct ComparisonPage {
    layout: Layout,
    query: CompareQuery,
    /// The names of the registry centers that this one can be compared with.
    others: Vec<String>,
    with: String,
    jobs: Vec<Compared>,
    same: usize,
    total: usize,
    /// The query of the next part.
    next: Option<String>,
    /// Since when the other registry center is lost; the frame of the page has it of this one.
    with_lost_since: Option<String>,
    /// The problem that keeps them from being compared.
    problem: Option<Problem>,
}

impl ComparisonPage {
    /// The state of a job, and its class in the style sheet.
    fn state(&self, beside: &Beside) -> (String, &'static str) {
        let loader = self.layout.text.loader();
        let (here, there) = (self.layout.registry.as_str(), self.with.as_str());
        match beside {
            Beside::OnlyHere => (fl!(loader, "compare-only", registry = here), "warn"),
            Beside::OnlyThere => (fl!(loader, "compare-only", registry = there), "warn"),
            Beside::Differs(_) => (fl!(loader, "compare-differs"), "wait"),
            Beside::Unusable { there: None, .. } => (fl!(loader, "compare-unusable", registry = here), "bad"),
            Beside::Unusable { here: None, .. } => (fl!(loader, "compare-unusable", registry = there), "bad"),
            Beside::Unusable { .. } => (fl!(loader, "compare-unusable-both"), "bad"),
        }
    }

    /// The address of the configuration that there is to look at.
    fn link(&self, one: &Compared) -> String {
        match one.beside {
            Beside::OnlyThere | Beside::Unusable { here: None, .. } => self.address(&self.with, one),
            _ => self.address(&self.layout.registry, one),
        }
    }

    fn address(&self, registry: &str, one: &Compared) -> String {
        self.layout.url(&format!("/r/{registry}/jobs/{}/configuration", super::segment(one.job.as_str())))
    }
}

pub(crate) async fn show(here: Here, Query(query): Query<CompareQuery>) -> Response {
    let layout = Layout::of(&here);
    let others: Vec<String> = others(&here).map(|one| one.name().to_owned()).collect();
    let mut shown = ComparisonPage {
        layout,
        others,
        with: String::new(),
        jobs: Vec::new(),
        same: 0,
        total: 0,
        next: None,
        with_lost_since: None,
        problem: None,
        query: query.clone(),
    };
    if shown.others.is_empty() && query.with.is_empty() {
        return page(&shown);
    }
    match compared(&here, &query).await {
        Ok(found) => {
            shown.next = found.next.map(|cursor| query.after(&found.with, &cursor));
            shown.with_lost_since = found.with_lost_since.map(|since| Clock::in_zone(None).at(&since));
            (shown.with, shown.jobs, shown.same, shown.total) = (found.with, found.jobs, found.same, found.total);
        }
        Err(problem) => (shown.with, shown.problem) = (query.with, Some(problem)),
    }
    with_problem(shown.problem.as_ref(), &shown)
}

#[cfg(test)]
mod tests;
