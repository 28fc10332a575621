//! The fires of a job: a calendar of the last days, how long each took, and a table of them with those that should have
//! been.

use askama::Template;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use elasticjob::ident::JobName;
use elasticjob::schedule::format_rfc3339;
use i18n_embed_fl::fl;

use super::chart::calendar::{Cell, Field, Shade};
use super::chart::scatter::{Point, Scatter};
use super::chart::sign::Sign;
use super::fires;
use super::job::{Head, snapshot};
use super::query::Query;
use super::time::{Clock, duration};
use super::{Layout, with_status};
use crate::api::Problem;
use crate::here::Here;
use crate::service::fires::{self as service, Day, Fire, FireId, FireOutcome, FirePage, FireQuery, Gap, MOST_OF_DAY};
use crate::service::history::Range;
use crate::text::t;

/// How many days are in the calendar.
const DAYS: u32 = 90;

/// How many fires are in the picture of durations, if as many are read.
const DOTS: usize = 300;

#[derive(Template)]
#[template(path = "runs.html")]
struct RunsPage {
    layout: Layout,
    head: Head,
    clock: Clock,
    /// The answer replaces the table of a page that is open.
    is_update: bool,
    query: FireQuery,
    /// The time range as the fields of the form show it: local times of the zone of the job.
    from: String,
    until: String,
    problem: Option<Problem>,
    rows: Vec<Row>,
    scatter: Option<Scatter>,
    calendar: Option<Calendar>,
    /// Times at which the configuration changed.
    changes: Vec<i64>,
    /// Since when it is known what should have been, if that is later than the range begins.
    planned_since: Option<i64>,
    next: Option<String>,
    here: Here,
}

enum Row {
    Fire(Fire),
    Gap(Gap),
}

struct Calendar {
    field: Field,
    days: Vec<DayCell>,
}

struct DayCell {
    cell: Cell,
    shade: Shade,
    title: String,
    link: String,
}

impl RunsPage {
    fn link(&self, id: &FireId) -> String {
        format!("{}/runs/{id}", self.head.path)
    }

    fn planned(&self, at: &i64) -> String {
        self.link(&FireId::Scheduled(*at))
    }

    fn sign(&self, fire: &Fire) -> Sign {
        fire.outcome().into()
    }

    fn outcome(&self, outcome: &FireOutcome) -> String {
        fires::outcome(&self.layout.text, *outcome)
    }

    fn tally(&self, fire: &Fire) -> String {
        fires::tally(&self.layout.text, fire.tally())
    }

    fn marks(&self, fire: &Fire) -> Vec<(&'static str, String)> {
        fires::marks(&self.layout.text, fire)
    }

    fn kind(&self, kind: &str) -> String {
        fires::kind(&self.layout.text, kind)
    }

    fn no_run(&self, gap: &Gap) -> String {
        fires::no_run(&self.layout.text, gap)
    }

    /// The decisions from the first fire of a gap until after the last one.
    fn decisions(&self, gap: &Gap) -> String {
        fires::history(&self.here, "decisions", &self.head.job, gap.first - service::GRACE, gap.last + service::GRACE)
    }

    fn legend(&self) -> Vec<(Sign, String)> {
        let dots = self.scatter.iter().flat_map(|scatter| &scatter.dots);
        fires::legend(&self.layout.text, dots.map(|dot| dot.point.sign))
    }

    fn days_shown(&self) -> u32 {
        DAYS
    }

    fn weekday(&self, row: usize) -> String {
        match row {
            0 => t!(self, "weekday-monday"),
            2 => t!(self, "weekday-wednesday"),
            _ => t!(self, "weekday-friday"),
        }
    }
}

/// The text of a fire in the picture.
fn point(here: &Here, path: &str, clock: &Clock, fire: &Fire) -> Point {
    let (time, text) = (fire.id.time(), &here.text);
    let took = fire.took().or_else(|| {
        let is_running = fire.outcome() == FireOutcome::Running;
        u64::try_from(clock.now - fire.began()?).ok().filter(|_| is_running)
    });
    let parts = [clock.at(&time), fires::outcome(text, fire.outcome())];
    let took_text = took.map(|took| duration(&took));
    let title =
        parts.into_iter().chain(took_text).chain([fires::tally(text, fire.tally())]).collect::<Vec<_>>().join(" · ");
    Point { time, took, sign: fire.outcome().into(), title, link: format!("{path}/runs/{}", fire.id) }
}

fn calendar(here: &Here, head: &Head, days: &[Day]) -> Option<Calendar> {
    let dates: Vec<_> = days.iter().map(|day| day.date).collect();
    let field = Field::of(&dates)?;
    let loader = here.text.loader();
    let cell = |day: &Day| {
        let (runs, date) = (day.runs, day.date.to_string());
        let shade = Shade::of(runs.runs, runs.failed, runs.no_end, day.not_run, day.is_missing);
        let title = match (runs.runs, runs.runs >= MOST_OF_DAY.into()) {
            (0, _) if day.is_missing => fl!(loader, "runs-day-missing", date = date),
            (0, _) => fl!(loader, "runs-day-none", date = date),
            (count, false) if shade == Shade::Partial => {
                fl!(loader, "runs-day-partial", date = date, count = count, missing = day.not_run)
            }
            (count, false) => {
                fl!(loader, "runs-day", date = date, count = count, failed = runs.failed, noEnd = runs.no_end)
            }
            (count, true) => {
                fl!(loader, "runs-day-more", date = date, count = count, failed = runs.failed, noEnd = runs.no_end)
            }
        };
        let link = fires::history(here, "executions", &head.job, day.from, day.until);
        DayCell { cell: field.cell(day.date), shade, title, link }
    };
    Some(Calendar { days: days.iter().map(cell).collect(), field })
}

/// The rows of the table, the newest first.
fn rows(fires: Vec<Fire>, gaps: Vec<Gap>) -> Vec<Row> {
    let mut rows: Vec<Row> = fires.into_iter().map(Row::Fire).chain(gaps.into_iter().map(Row::Gap)).collect();
    rows.sort_by_key(|row| {
        std::cmp::Reverse(match row {
            Row::Fire(fire) => fire.id.time(),
            Row::Gap(gap) => gap.last,
        })
    });
    rows
}

pub(crate) async fn show(
    here: Here,
    Path((_, name)): Path<(String, String)>,
    headers: HeaderMap,
    Query(query): Query<FireQuery>,
) -> Response {
    // An update takes the table alone: the pictures are read from many more records.
    let is_update = headers.contains_key("hx-request");
    let is_newest = query.cursor.trim().is_empty() && query.until.trim().is_empty();
    let layout = Layout::of(&here);
    let layout = match JobName::new(&name).ok().filter(|_| is_newest) {
        Some(job) => layout.live_records(&here, Some(&job)),
        None => layout,
    };
    let snapshot = match snapshot(&here, &name).await {
        Ok(snapshot) => snapshot,
        Err(page) => return *page,
    };
    let clock = Clock::of(snapshot.usable().and_then(|it| it.schedule()));
    let head = Head::of(&here, &snapshot.job, "runs");
    let range = query.range(&clock).ok();
    let read = async {
        let dots = if is_update { 0 } else { DOTS };
        let page = service::list(&here, &snapshot, &query, &clock, dots).await?;
        // The calendar is that of today, whatever page is shown: it stands on the first one.
        let days = match query.cursor.is_empty() && !is_update {
            true => service::days(&here, &snapshot, &clock, DAYS).await?,
            false => Vec::new(),
        };
        Ok::<_, Problem>((page, days))
    };
    let (found, problem) = match read.await {
        Ok(found) => (Some(found), None),
        Err(problem) => (None, Some(problem)),
    };
    let field = |at: i64| format_rfc3339(at, clock.zone).chars().take("2026-11-21T03:00".len()).collect::<String>();
    let (from, until) = match range {
        Some(Range { from, until }) => {
            (field(from.timestamp_millis()), until.map_or(String::new(), |until| field(until.timestamp_millis())))
        }
        None => (query.from.clone(), query.until.clone()),
    };
    let status =
        problem.as_ref().filter(|problem| problem.code() != "not-traced").map_or(StatusCode::OK, Problem::status);
    let mut page = RunsPage {
        layout: if problem.is_some() { layout.still() } else { layout },
        is_update,
        clock,
        from,
        until,
        problem,
        rows: Vec::new(),
        scatter: None,
        calendar: None,
        changes: Vec::new(),
        planned_since: None,
        next: None,
        query,
        head,
        here,
    };
    if let Some((found, days)) = found {
        let FirePage { fires, gaps, planned_since, beyond, changes, next } = found;
        let here = &page.here;
        let points = beyond.iter().chain(&fires).map(|fire| point(here, &page.head.path, &clock, fire)).collect();
        page.changes = changes.iter().map(|change| change.at.timestamp_millis()).collect();
        let mark = |at: &i64| (*at, format!("{} {}", fl!(here.text.loader(), "runs-changed"), clock.at(at)));
        let marks: Vec<_> = page.changes.iter().map(mark).collect();
        page.scatter = Scatter::of(points, &marks, clock.zone).filter(|_| !is_update);
        page.calendar = calendar(here, &page.head, &days);
        page.planned_since =
            planned_since.filter(|since| range.is_some_and(|range| *since > range.from.timestamp_millis()));
        (page.rows, page.next) = (rows(fires, gaps), next);
    }
    with_status(status, &page)
}
