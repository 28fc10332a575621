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
use crate::here::Who;
use crate::registries::Registry;
use crate::text::t;

use crate::translated;
const PATH: &str = "/settings";

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    layout: Layout,
    clock: Clock,
    registries: Vec<Arc<Registry>>,
    said: Option<Said>,
}

impl SettingsPage {
    fn of(who: &Who) -> Self {
        let registries = who.app.registries.values().cloned().collect();
        Self { layout: Layout::of_console(who).at(PATH), clock: Clock::in_zone(None), registries, said: None }
    }
}

pub(crate) async fn show(who: Who, headers: HeaderMap) -> Response {
    let shown = page(&SettingsPage { said: Said::of(&headers), ..SettingsPage::of(&who) });
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
