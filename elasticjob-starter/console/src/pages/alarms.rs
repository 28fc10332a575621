//! Alarms, and who looks after them.

use askama::Template;
use axum::Form;
use axum::http::HeaderMap;
use axum::response::Response;
use elasticjob::operations::alarms::AlarmKind;
use i18n_embed_fl::fl;

use super::form::{self, Fields};
use super::outcome::{Said, Tone};
use super::overview::{about_concern, name_of_concern};
use super::query::Query;
use super::time::Clock;
use super::{Layout, disabled, error, findings, page};
use crate::here::Here;
use crate::service::alarms::{self, Alarm};
use crate::service::disabled::{Disablings, disablings_of, of_list};
use crate::service::part::{Part, PartQuery};
use crate::text::{Text, t};

#[derive(Template)]
#[template(path = "alarms.html")]
struct AlarmsPage {
    layout: Layout,
    said: Option<Said>,
    part: Part<Row>,
    /// Whether the acknowledgements of alarms outlive the console.
    are_kept: bool,
}

struct Row {
    alarm: Alarm,
    clock: Clock,
    reasons: Vec<findings::Line>,
    /// Who disabled the job, or a part of it.
    disabled: Option<String>,
    may_acknowledge: bool,
}

impl Row {
    fn of(here: &Here, disablings: &Disablings, alarm: Alarm) -> Self {
        let clock = Clock::in_zone(alarm.wrong.job.as_ref().and_then(|job| job.time_zone));
        let reasons = alarm.wrong.job.as_deref().map(|job| findings::lines(here, &job.job, &job.obstacles, &clock));
        let may_acknowledge = alarm.acknowledged.is_none() && alarm.may_acknowledge(here);
        let disabled = alarm.wrong.job.as_deref().and_then(|job| disabled::of_job(&here.text, disablings, job));
        Self { disabled, clock, reasons: reasons.unwrap_or_default(), may_acknowledge, alarm }
    }
}

/// What is wrong, in a few words.
pub(super) fn name(text: &Text, kind: AlarmKind) -> String {
    match kind {
        AlarmKind::RegistryLost => fl!(text.loader(), "alarm-registry-lost"),
        AlarmKind::RunsLong => fl!(text.loader(), "alarm-runs-long"),
        AlarmKind::Concern(concern) => name_of_concern(text, &concern),
        // One of a later release of the library has no words here yet.
        kind => kind.code().to_owned(),
    }
}

/// What that means.
pub(super) fn about(text: &Text, kind: AlarmKind) -> String {
    match kind {
        AlarmKind::RegistryLost => fl!(text.loader(), "alarm-registry-lost-about"),
        AlarmKind::RunsLong => fl!(text.loader(), "alarm-runs-long-about"),
        AlarmKind::Concern(concern) => about_concern(text, &concern),
        _ => String::new(),
    }
}

impl AlarmsPage {
    fn name(&self, row: &Row) -> String {
        name(&self.layout.text, row.alarm.wrong.kind)
    }

    /// What is known about it beyond its name.
    fn detail(&self, row: &Row) -> String {
        match row.alarm.wrong.usual {
            Some(usual) => {
                fl!(self.layout.text.loader(), "alarm-usual", took = super::time::duration(&usual))
            }
            None => about(&self.layout.text, row.alarm.wrong.kind),
        }
    }
}

pub(crate) async fn show(here: Here, headers: HeaderMap, Query(query): Query<PartQuery>) -> Response {
    let layout = Layout::of(&here).live(&here);
    let found = alarms::alarms(&here).await.and_then(|alarms| query.on_a_page(alarms, Alarm::place));
    let part = match found {
        Ok(part) => {
            let disablings =
                disablings_of(&here, of_list(part.elements.iter().filter_map(|alarm| alarm.wrong.job.as_deref())))
                    .await;
            part.map(|alarm| Row::of(&here, &disablings, alarm))
        }
        Err(problem) => return error::problem(&here, &problem),
    };
    let are_kept = here.app.acknowledgements.are_kept();
    let shown = page(&AlarmsPage { layout, said: Said::of(&here.app, &headers), part, are_kept });
    Said::forget(&here.app, shown)
}

/// Says that the reader looks after an alarm.
pub(crate) async fn acknowledge(here: Here, Form(fields): Fields) -> Response {
    match alarms::acknowledge(&here, form::one(&fields, "alarm"), &form::reason(&fields)).await {
        Ok(alarm) => Said::done(format!(
            "{}: {}",
            fl!(here.text.loader(), "alarm-acknowledged"),
            name(&here.text, alarm.wrong.kind)
        ))
        .at(&here.app, &format!("/r/{}/alarms", here.registry.name())),
        Err(problem) => error::problem(&here, &problem),
    }
}
