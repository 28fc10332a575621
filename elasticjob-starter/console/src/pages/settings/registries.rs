//! The registry centers and the databases of traces of the settings, with a test of each connection.

use std::sync::Arc;

use askama::Template;
use axum::Form;
use axum::http::HeaderMap;
use axum::response::Response;

use super::super::form::{self, Fields};
use super::super::outcome::{Said, Tone};
use super::super::time::Clock;
use super::super::{Layout, page};
use crate::access::TokenView;
use crate::here::Who;
use crate::registries::Registry;
use crate::text::t;
use crate::translated;

const PATH: &str = "/settings";

/// So many days before its end a token is named, so that there is time to make another one.
const DAYS_BEFORE_THE_END: i64 = 14;

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    layout: Layout,
    clock: Clock,
    registries: Vec<Arc<Registry>>,
    /// The tokens that have expired, or will soon; the first end first.
    ending: Vec<TokenView>,
    said: Option<Said>,
}

impl SettingsPage {
    fn of(who: &Who) -> Self {
        let registries = who.app.registries.values().cloned().collect();
        let clock = Clock::in_zone(None);
        let soon = clock.now + DAYS_BEFORE_THE_END * 24 * 60 * 60 * 1_000;
        let mut ending: Vec<TokenView> = who.app.tokens.list();
        ending.retain(|token| token.is_over_at(soon));
        ending.sort_by_key(|token| token.expires_at);
        Self { layout: Layout::of_console(who).at(PATH), clock, registries, ending, said: None }
    }

    fn is_over(&self, token: &TokenView) -> bool {
        token.is_over_at(self.clock.now)
    }
}

pub(crate) async fn show(who: Who, headers: HeaderMap) -> Response {
    let shown = page(&SettingsPage { said: Said::of(&who.app, &headers), ..SettingsPage::of(&who) });
    Said::forget(&who.app, shown)
}

/// Tests a connection. The form names one of the settings, and no address.
pub(crate) async fn check(who: Who, Form(given): Fields) -> Response {
    let (name, page) = (form::one(&given, "registry"), SettingsPage::of(&who));
    let checked = match (who.app.registries.get(name), form::one(&given, "action")) {
        (None, _) => None,
        (Some(registry), "traces") => registry.check_traces().await,
        (Some(registry), _) => Some(registry.check().await),
    };
    let said = match checked {
        None => Said::failed(t!(page, "settings-no-such", name = name)),
        Some(check) => match check.problem {
            None => Said::done(t!(page, "settings-answers", name = name, took = check.took_ms)),
            Some(problem) => {
                let why = translated::shown(&who.text, &problem);
                Said::failed(t!(page, "settings-no-answer", name = name, why = why))
            }
        },
    };
    said.at(&who.app, PATH)
}
