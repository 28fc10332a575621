//! The schedule of a job: its coming fires, the last ones with what became of them, and those of an expression that is tried out.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use elasticjob::schedule::{ClockChange, Schedule, TimeZone, format_rfc3339};
use i18n_embed_fl::fl;
use serde::Deserialize;

use super::chart::sign::Sign;
use super::job::{Head, after, snapshot};
use super::query::Query;
use super::time::Clock;
use super::{Layout, page};
use crate::api::Problem;
use crate::here::Here;
use crate::parity;
use crate::service::fires::{Became, Expected, FireId, Summary, expected};
use crate::text::{Text, t};
use crate::translated;

/// How many fires are shown.
pub(crate) const SHOWN: usize = 20;

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
    /// The last fires with what became of them, or why that is not shown.
    past: Result<Vec<Expected>, Problem>,
    is_traced: bool,
    /// Since when it is known what should have been.
    planned_since: Option<i64>,
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

impl SchedulePage {
    /// The address of a fire; none where nothing is known of its runs.
    fn link(&self, fire: &Summary) -> Option<String> {
        self.is_traced.then(|| format!("{}/runs/{}", self.head.path, fire.id))
    }

    /// The address that says why a fire ran or did not run; without traces that is not known of the past.
    fn why(&self, at: &i64) -> String {
        match self.is_traced {
            true => format!("{}/why?at={}", self.head.path, FireId::Scheduled(*at)),
            false => format!("{}/why", self.head.path),
        }
    }

    fn sign(&self, fire: &Summary) -> Sign {
        fire.outcome.map_or(Sign::Unknown, Sign::from)
    }

    fn outcome(&self, fire: &Summary) -> String {
        fire.outcome.map_or_else(|| t!(self, "not-known"), |outcome| super::fires::outcome(&self.layout.text, outcome))
    }

    fn tally(&self, fire: &Summary) -> String {
        super::fires::tally(&self.layout.text, fire.tally)
    }

    fn kind(&self, kind: &str) -> String {
        super::fires::kind(&self.layout.text, kind)
    }
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
        Some(schedule.map(|schedule| fires(&schedule, now)).map_err(|wrong| translated::shown(text, &wrong.message())))
    }
}

pub(crate) async fn show(here: Here, Path((_, name)): Path<(String, String)>, Query(tried): Query<Try>) -> Response {
    let snapshot = match snapshot(&here, &name).await {
        Ok(snapshot) => snapshot,
        Err(page) => return *page,
    };
    let schedule = snapshot.usable().and_then(|configuration| configuration.schedule());
    let clock = Clock::of(schedule);
    let layout = Layout::of(&here);
    // Without one that is tried out, it is about what the job does.
    let is_own = tried.cron.trim().is_empty();
    let mut layout = if is_own { layout.live_records(&here, Some(&snapshot.job)) } else { layout };
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
        layout.same = parity::of_page(&here.text, &here.identity, &format!("{path}?{query}"));
    }
    page(&SchedulePage {
        layout,
        head: Head::of(&here, &snapshot.job, "schedule"),
        cron: schedule.map(|schedule| schedule.cron().to_string()),
        after: snapshot.usable().and_then(|configuration| after(configuration.depends_on())),
        fires: schedule.map(|schedule| fires(schedule, clock.now)).unwrap_or_default(),
        past: expected(&here, &snapshot, &clock, SHOWN).await,
        is_traced: here.registry.trace_reader().is_some(),
        planned_since: schedule.and(snapshot.configured_since()),
        outcome: tried.outcome(&here.text, clock.now),
        clock,
        tried,
    })
}
