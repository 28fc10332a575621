//! The schedule of a job: its coming fires, and those of an expression that is tried out.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use elasticjob::schedule::{ClockChange, Schedule, TimeZone, format_rfc3339};
use i18n_embed_fl::fl;
use serde::Deserialize;

use super::job::{Head, after, snapshot};
use super::query::Query;
use super::time::Clock;
use super::{Layout, page};
use crate::here::Here;
use crate::messages;
use crate::same;
use crate::text::{Text, t};

/// How many fires are shown.
const SHOWN: usize = 20;

/// A longer expression is not parsed.
const LONGEST: usize = 256;

#[derive(Template)]
#[template(path = "schedule.html")]
struct SchedulePage {
    layout: Layout,
    head: Head,
    clock: Clock,
    cron: Option<String>,
    /// The jobs that it runs after, where it has no schedule.
    after: Option<String>,
    fires: Vec<Fire>,
    tried: Try,
    /// What the expression that is tried out gives, or why it cannot be used.
    outcome: Option<Result<Vec<Fire>, String>>,
}

/// An expression that is tried out.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Try {
    cron: String,
    zone: String,
}

struct Fire {
    at: i64,
    /// In the zone of the schedule.
    local: String,
    utc: String,
    change: Option<ClockChange>,
}

fn fires(schedule: &Schedule, now: i64) -> Vec<Fire> {
    let mut after = now;
    let fires = std::iter::from_fn(|| {
        let fire = schedule.next_fire_after(after)?;
        after = fire.at;
        let local = schedule.format_rfc3339(fire.at).replacen('T', " ", 1);
        let utc = format_rfc3339(fire.at, TimeZone::UTC).replacen('T', " ", 1);
        Some(Fire { at: fire.at, local, utc, change: fire.clock_change })
    });
    fires.take(SHOWN).collect()
}

impl Try {
    fn outcome(&self, text: &Text, now: i64) -> Option<Result<Vec<Fire>, String>> {
        let (cron, zone) = (self.cron.trim(), self.zone.trim());
        if cron.is_empty() {
            return None;
        }
        if cron.chars().count() > LONGEST {
            return Some(Err(fl!(text.loader(), "schedule-too-long", most = LONGEST)));
        }
        let schedule = Schedule::parse(cron, Some(zone).filter(|zone| !zone.is_empty()));
        Some(schedule.map(|schedule| fires(&schedule, now)).map_err(|wrong| messages::shown(text, &wrong.message())))
    }
}

pub(crate) async fn show(here: Here, Path((_, name)): Path<(String, String)>, Query(tried): Query<Try>) -> Response {
    let snapshot = match snapshot(&here, &name).await {
        Ok(snapshot) => snapshot,
        Err(page) => return *page,
    };
    let schedule = snapshot.usable().and_then(|configuration| configuration.schedule());
    let clock = Clock::of(schedule);
    let mut layout = Layout::of(&here);
    // The call and the command have the expression that is tried out, else that of the job.
    let shown = match (tried.cron.trim(), schedule) {
        ("", Some(schedule)) => Some((schedule.cron().to_string(), schedule.time_zone().to_string())),
        ("", None) => None,
        (cron, _) => Some((cron.to_owned(), tried.zone.trim().to_owned())),
    };
    if let Some((cron, zone)) = shown {
        let query =
            form_urlencoded::Serializer::new(String::new()).extend_pairs([("cron", &cron), ("zone", &zone)]).finish();
        let path = here.place.split('?').next().unwrap_or_default();
        layout.same = same::of_page(&here.text, &here.identity, &format!("{path}?{query}"));
    }
    page(&SchedulePage {
        layout,
        head: Head::of(&here, &snapshot.job, "schedule"),
        cron: schedule.map(|schedule| schedule.cron().to_string()),
        after: snapshot.usable().and_then(|configuration| after(configuration.depends_on())),
        fires: schedule.map(|schedule| fires(schedule, clock.now)).unwrap_or_default(),
        outcome: tried.outcome(&here.text, clock.now),
        clock,
        tried,
    })
}
