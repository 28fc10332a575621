//! The sessions of browsers.

use std::time::Instant;

use askama::Template;
use axum::Form;
use axum::http::HeaderMap;
use axum::response::Response;

use super::super::form::{self, Fields};
use super::super::outcome::{Said, Tone};
use super::super::time::Clock;
use super::super::{Layout, page};
use super::ended;
use crate::access::SessionView;
use crate::here::Who;
use crate::text::t;

const PATH: &str = "/settings/sessions";

#[derive(Template)]
#[template(path = "sessions.html")]
struct SessionsPage {
    layout: Layout,
    clock: Clock,
    sessions: Vec<SessionView>,
    said: Option<Said>,
}

impl SessionsPage {
    fn of(who: &Who) -> Self {
        let sessions = who.app.sessions.list(Instant::now());
        Self { layout: Layout::of_console(who).at(PATH), clock: Clock::in_zone(None), sessions, said: None }
    }
}

pub(crate) async fn show(who: Who, headers: HeaderMap) -> Response {
    let shown = page(&SessionsPage { said: Said::of(&who.app, &headers), ..SessionsPage::of(&who) });
    Said::forget(&who.app, shown)
}

pub(crate) async fn end(who: Who, Form(given): Fields) -> Response {
    let end = who.end_session(form::one(&given, "id"));
    ended(&who, end, t!(SessionsPage::of(&who), "done-session-ended"), PATH)
}
