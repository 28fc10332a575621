//! The timeline of runs, one line for each job.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use i18n_embed_fl::fl;

use super::chart::lane::{self, Bar};
use super::chart::scale::Scale;
use super::chart::sign::Sign;
use super::chart::{Px, Tick, ticks};
use super::query::Query;
use super::time::Clock;
use super::{Layout, fires, segment, with_status};
use crate::api::Problem;
use crate::here::Here;
use crate::service::fires::{Fire, FireOutcome, Gap};
use crate::service::time::Time;
use crate::service::timeline::{self as service, MOST_RUNS, Row, Span, Timeline, TimelineQuery};
use crate::text::{Text, t};

/// The length of a line.
const WIDTH: f64 = 900.0;

#[derive(Template)]
#[template(path = "timeline.html")]
struct TimelinePage {
    layout: Layout,
    clock: Clock,
    query: TimelineQuery,
    span: Span,
    problem: Option<Problem>,
    picture: Option<Picture>,
    /// The queries of the time before and after, and of the next page.
    earlier: String,
    later: Option<String>,
    next: Option<String>,
}

struct Picture {
    from: i64,
    until: i64,
    /// Where now is, if it is in the time.
    now: Option<Px>,
    times: Vec<Tick>,
    lines: Vec<Line>,
    signs: Vec<Sign>,
    total: usize,
}

/// A job.
struct Line {
    job: String,
    /// The address of its runs in this time.
    link: String,
    bars: Vec<(Bar, String)>,
    gaps: Vec<Hollow>,
    coming: Vec<Px>,
    is_cut: bool,
    /// How many fires ended how, in words.
    outcomes: String,
    /// How many fires should have been and have no run, in words; empty for none.
    missing: String,
    /// The next fire.
    next: Option<i64>,
}

/// Fires that should have been.
struct Hollow {
    x: Px,
    width: Px,
    title: String,
}

impl TimelinePage {
    fn width(&self) -> Px {
        Px(WIDTH)
    }

    fn height(&self) -> Px {
        Px(lane::HEIGHT)
    }

    /// The time, to the second.
    fn second(&self, time: &i64) -> String {
        self.clock.at(&(time - time.rem_euclid(1_000)))
    }

    fn spans(&self) -> [(Span, String); 3] {
        Span::ALL.map(|span| (span, self.query.with(&[("span", span.as_str())])))
    }

    fn most(&self) -> u32 {
        MOST_RUNS
    }

    fn legend(&self) -> Vec<(Sign, String)> {
        let signs = self.picture.iter().flat_map(|picture| picture.signs.iter().copied());
        fires::legend(&self.layout.text, signs)
    }
}

/// How many fires ended how, such as `12 Succeeded, 1 Failed`.
fn outcomes(text: &Text, fires: &[Fire]) -> String {
    let all = [
        FireOutcome::Failed,
        FireOutcome::Running,
        FireOutcome::NoEnd,
        FireOutcome::Partial,
        FireOutcome::Recovered,
        FireOutcome::Succeeded,
    ];
    let counts = all.map(|outcome| (outcome, fires.iter().filter(|fire| fire.outcome() == outcome).count()));
    let words = counts.into_iter().filter(|(_, count)| *count > 0);
    let words = words.map(|(outcome, count)| format!("{}: {count}", fires::outcome(text, outcome)));
    words.collect::<Vec<_>>().join(&fl!(text.loader(), "list-comma"))
}

fn line(here: &Here, clock: &Clock, scale: &Scale, (from, until): (i64, i64), row: &Row) -> Line {
    let text = &here.text;
    // Of the zone of the job, where it has one.
    let clock = &Clock { zone: row.zone.unwrap_or(clock.zone), ..*clock };
    let oldest_first = row.fires.iter().rev();
    let mut spans: Vec<lane::Span> = oldest_first
        .map(|fire| lane::Span {
            start: fire.began().unwrap_or(fire.id.time()),
            end: service::ends(fire, clock.now),
            sign: fire.outcome().into(),
        })
        .collect();
    spans.sort_by_key(|span| span.start);
    let sign_word =
        |sign| fires::legend(text, std::iter::once(sign)).into_iter().map(|(_, word)| word).collect::<String>();
    let bars = lane::pack(&spans, scale).into_iter().map(|bar| {
        let times = format!("{} – {}", clock.at(&bar.start), clock.at(&bar.end));
        let title = match bar.count {
            1 => format!("{} · {times}", sign_word(bar.sign)),
            count => {
                format!("{} · {times}", fl!(text.loader(), "timeline-fires", count = count, sign = sign_word(bar.sign)))
            }
        };
        (bar, title)
    });
    let hollow = |gap: &Gap| {
        let (x, to) = (scale.at_time(gap.first), scale.at_time(gap.last));
        let title = format!("{} · {} – {}", fires::no_run(text, gap), clock.at(&gap.first), clock.at(&gap.last));
        Hollow { x, width: Px((to.0 - x.0).max(4.0)), title }
    };
    let missing = match row.gaps.iter().map(|gap| gap.count).sum::<usize>() {
        0 => String::new(),
        count => fl!(text.loader(), "runs-no-run", count = count),
    };
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("from", Time(from).to_string()), ("until", Time(until).to_string())])
        .finish();
    let base = &here.app.options.base_path;
    Line {
        job: row.job.to_string(),
        link: format!("{base}/r/{}/jobs/{}/runs?{query}", here.registry.name(), segment(row.job.as_str())),
        bars: bars.collect(),
        gaps: row.gaps.iter().map(hollow).collect(),
        coming: lane::places(&row.coming, scale),
        is_cut: row.is_cut,
        outcomes: outcomes(text, &row.fires),
        missing,
        next: row.next,
    }
}

fn picture(here: &Here, clock: &Clock, found: &Timeline) -> Picture {
    let range = (found.from, found.until);
    let scale = Scale::time(range, (0.0, WIDTH));
    let signs = found.rows.iter().flat_map(|row| &row.fires).map(|fire| Sign::from(fire.outcome()));
    let signs: std::collections::BTreeSet<Sign> = signs.collect();
    Picture {
        from: found.from,
        until: found.until,
        now: scale.has(found.now).then(|| scale.at_time(found.now)),
        times: ticks::of_times(&scale, range, clock.zone, 8),
        lines: found.rows.iter().map(|row| line(here, clock, &scale, range, row)).collect(),
        signs: signs.into_iter().collect(),
        total: found.total,
    }
}

pub(crate) async fn show(here: Here, Query(query): Query<TimelineQuery>) -> Response {
    let clock = Clock::of(None);
    let span = query.span().unwrap_or(Span::SixHours);
    let (found, problem) = match service::timeline(&here, &query, clock.now).await {
        Ok(found) => (Some(found), None),
        Err(problem) => (None, Some(problem)),
    };
    let status = problem.as_ref().filter(|it| it.code() != "not-traced").map_or(StatusCode::OK, Problem::status);
    let until = |until: i64| query.with(&[("until", &Time(until).to_string())]);
    let end = found.as_ref().map_or(clock.now, |found| found.until);
    // What is later than now has fires to come alone: the way back to now has no end.
    let is_past = found.as_ref().is_some_and(|found| found.until < clock.now);
    let later = is_past.then(|| match end + span.length() > clock.now {
        true => query.with(&[("until", "")]),
        false => until(end + span.length()),
    });
    let page = TimelinePage {
        layout: Layout::of(&here),
        picture: found.as_ref().map(|found| picture(&here, &clock, found)),
        next: found.and_then(|found| found.next).map(|cursor| query.with(&[("cursor", &cursor)])),
        earlier: until(end - span.length()),
        later,
        clock,
        span,
        problem,
        query,
    };
    with_status(status, &page)
}
