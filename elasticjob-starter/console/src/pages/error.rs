//! Pages that say why there is no page.

use askama::Template;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::problems::meaning_and_remedy;
use super::{Layout, with_problem, with_status};
use crate::access::{Identity, Permission};
use crate::api::Problem;
use crate::app::App;
use crate::cloud::Refusal;
use crate::here::{Here, Who};
use crate::text::{Language, Text, t};
use crate::theme::Theme;
use crate::translated;

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    layout: Layout,
    title: String,
    detail: String,
    /// Whether the detail is English on a page in another language.
    is_english: bool,
    /// What the problem means and what helps, in another language than English: what the detail lacks.
    meaning: Vec<String>,
}

/// The English details say it themselves.
fn meaning(text: &Text, problem: &Problem) -> Vec<String> {
    match text.language() {
        Language::English => Vec::new(),
        Language::Chinese => meaning_and_remedy(text, problem.code()).into(),
    }
}

fn layout(app: &App, identity: &Identity, headers: &HeaderMap) -> Layout {
    let language = Language::of_request(headers, app.options.language);
    Layout::new(app, identity, app.texts.of(language).clone(), Theme::of_request(headers), "/")
}

pub(crate) fn no_such_page(app: &App, identity: &Identity, headers: &HeaderMap) -> Response {
    let mut page = ErrorPage {
        layout: layout(app, identity, headers),
        title: String::new(),
        detail: String::new(),
        is_english: false,
        meaning: Vec::new(),
    };
    (page.title, page.detail) = (t!(page, "error-no-page"), t!(page, "error-no-page-detail"));
    with_status(StatusCode::NOT_FOUND, &page)
}

/// The page for a problem, still without its title.
fn page_of(layout: Layout, problem: &Problem) -> ErrorPage {
    ErrorPage {
        title: String::new(),
        detail: problem.told(&layout.text),
        is_english: !translated::is_translated(&layout.text, problem.detail()),
        meaning: meaning(&layout.text, problem),
        layout,
    }
}

pub(crate) fn forbidden(app: &App, identity: &Identity, headers: &HeaderMap, needs: Permission) -> Response {
    let mut page = page_of(layout(app, identity, headers), &Problem::forbidden(needs, app.options.read_only));
    page.title = t!(page, "error-forbidden");
    with_status(StatusCode::FORBIDDEN, &page)
}

/// The page for a request that no route saw, so that nobody knows the caller.
pub(crate) fn turned_away(app: &App, language: Language, theme: Theme, problem: &Problem) -> Response {
    let text = app.texts.of(language).clone();
    let mut page = page_of(Layout::new(app, &Identity::anonymous(Vec::new()), text, theme, "/"), problem);
    page.title = t!(page, "error-problem");
    with_problem(Some(problem), &page)
}

/// The page for a problem that is about no registry center.
pub(crate) fn problem_of_console(who: &Who, problem: &Problem) -> Response {
    let mut page = page_of(Layout::of_console(who), problem);
    page.title = t!(page, "error-problem");
    with_problem(Some(problem), &page)
}

/// The page of carried jobs on a console that is not beside their scheduler.
pub(crate) fn no_scheduler(here: &Here) -> Response {
    let mut page = ErrorPage {
        layout: Layout::of(here),
        title: String::new(),
        detail: String::new(),
        is_english: false,
        meaning: Vec::new(),
    };
    (page.title, page.detail) = (t!(page, "cloud-none"), t!(page, "cloud-none-detail"));
    with_status(StatusCode::NOT_FOUND, &page)
}

/// The page for what the scheduler of carried jobs refused.
pub(crate) fn refused(here: &Here, refusal: &Refusal) -> Response {
    let mut page = ErrorPage {
        layout: Layout::of(here),
        title: String::new(),
        detail: refusal.shown(&here.text),
        is_english: !translated::is_translated(&here.text, &refusal.refused.message),
        meaning: Vec::new(),
    };
    page.title = t!(page, "error-problem");
    with_status(refusal.status, &page)
}

/// The page for a problem: what the API would answer, in a frame.
pub(crate) fn problem(here: &Here, problem: &Problem) -> Response {
    let mut page = page_of(Layout::of(here), &problem.clone().while_away(&here.registry));
    page.title = match problem.code() {
        "registry-unreachable" => t!(page, "error-registry-away"),
        _ => t!(page, "error-problem"),
    };
    with_problem(Some(problem), &page)
}
