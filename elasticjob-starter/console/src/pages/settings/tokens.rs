//! The tokens of programs: those of the settings, and those that the data file has.

use askama::Template;
use axum::Form;
use axum::http::HeaderMap;
use axum::response::Response;

use super::super::form::{self, Fields};
use super::super::outcome::{Said, Tone};
use super::super::time::Clock;
use super::super::{Layout, page};
use super::{GrantRow, ended, grants};
use crate::access::{NotChanged, Role, TokenView, USUAL_DAYS};
use crate::here::Who;
use crate::text::t;

pub(super) const PATH: &str = "/settings/tokens";

#[derive(Template)]
#[template(path = "tokens.html")]
struct TokensPage {
    layout: Layout,
    clock: Clock,
    tokens: Vec<TokenView>,
    can_be_changed: bool,
    said: Option<Said>,
    /// A token that was made, to be shown this once.
    made: Option<(String, String)>,
}

impl TokensPage {
    fn of(who: &Who) -> Self {
        Self {
            layout: Layout::of_console(who).at(PATH),
            clock: Clock::in_zone(None),
            tokens: who.app.tokens.list(),
            can_be_changed: who.app.users.can_be_changed(),
            said: None,
            made: None,
        }
    }

    fn is_over(&self, token: &TokenView) -> bool {
        token.is_over_at(self.clock.now)
    }
}

pub(crate) async fn show(who: Who, headers: HeaderMap) -> Response {
    let shown = page(&TokensPage { said: Said::of(&who.app, &headers), ..TokensPage::of(&who) });
    Said::forget(&who.app, shown)
}

/// Makes a token, and shows it this once.
pub(crate) async fn add(who: Who, Form(given): Fields) -> Response {
    let name = form::one(&given, "name").trim();
    let days = form::one(&given, "days").trim().parse().unwrap_or_default();
    match who.add_token(name, grants(&given), days).await {
        Ok(token) => page(&TokensPage { made: Some((name.to_owned(), token)), ..TokensPage::of(&who) }),
        Err(problem) => ended(&who, Err::<(), NotChanged>(problem), String::new(), PATH),
    }
}

pub(crate) async fn remove(who: Who, Form(given): Fields) -> Response {
    let name = form::one(&given, "name");
    let removed = who.remove_token(name).await;
    ended(&who, removed, t!(TokensPage::of(&who), "done-account", name = name), PATH)
}
