//! The timeline of runs, one line for each job.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use elasticjob::schedule::format_rfc3339;
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
use crate::service::fires::{FireOutcome, Gap, Summary};
use crate::service::time::Time;
use crate::service::timeline::{self as service, Folded, MOST_RUNS, Row, Span, Timeline, TimelineQuery};
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
    /// The begin of the time as the field of the form shows it: a local time of the zone of the host.
    from: String,
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
    is_traced: bool,
    has_folded: bool,
    has_unsure: bool,
    total: usize,
}

/// A job.
struct Line {
    job: String,
    /// The address of its runs in this time; of the job, where they are not traced.
    link: String,
    bars: Vec<(Bar, String)>,
    folded: Vec<(Stretch, Sign)>,
    gaps: Vec<Stretch>,
    unsure: Option<Stretch>,
    coming: Vec<Px>,
    /// How many runs of items are not shown by their fires; 0 for none.
    folded_runs: String,
    /// How many fires ended how, in words.
    outcomes: String,
    /// How many fires should have been and have no run, in words; empty for none.
    missing: String,
    /// The address that says why the first of them did not run.
    why: String,
    /// The next fire.
    next: Option<i64>,
}

/// A part of the time.
struct Stretch {
    x: Px,
    width: Px,
    title: String,
}

impl Stretch {
    fn new(scale: &Scale, from: i64, until: i64, title: String) -> Self {
        let (x, to) = (scale.at_time(from), scale.at_time(until));
        Self { x, width: Px((to.0 - x.0).max(4.0)), title }
    }
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

    fn spans(&self) -> [Span; 4] {
        Span::ALL
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
fn outcomes(text: &Text, fires: &[Summary]) -> String {
    let all = [
        FireOutcome::Failed,
        FireOutcome::Running,
        FireOutcome::NoEnd,
        FireOutcome::Partial,
        FireOutcome::Recovered,
        FireOutcome::Succeeded,
    ];
    let counts = all.map(|outcome| (outcome, fires.iter().filter(|fire| fire.outcome == Some(outcome)).count()));
    let words = counts.into_iter().filter(|(_, count)| *count > 0);
    let words = words.map(|(outcome, count)| format!("{}: {count}", fires::outcome(text, outcome)));
    words.collect::<Vec<_>>().join(&fl!(text.loader(), "list-comma"))
}

fn line(here: &Here, clock: &Clock, scale: &Scale, (from, until): (i64, i64), row: &Row) -> Line {
    let text = &here.text;
    // Of the zone of the job, where it has one.
    let clock = &Clock { zone: row.zone.unwrap_or(clock.zone), ..*clock };
    let known = &row.known;
    let drawn = |fire: &Summary| {
        let start = fire.began.unwrap_or(fire.id.time());
        Some(lane::Span { start, end: fire.drawn_until(clock.now), sign: fire.outcome?.into() })
    };
    let mut spans: Vec<lane::Span> = known.fires.iter().rev().filter_map(drawn).collect();
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
    let between = |gap: &Gap, what: String| {
        let title = format!("{what} · {} – {}", clock.at(&gap.first), clock.at(&gap.last));
        Stretch::new(scale, gap.first, gap.last, title)
    };
    let hollow = |gap: &Gap| {
        let kinds = gap.kinds.iter().map(|kind| fires::kind(text, kind));
        let words: Vec<String> = std::iter::once(fires::no_run(text, gap)).chain(kinds).collect();
        between(gap, words.join(&fl!(text.loader(), "list-comma")))
    };
    let missing = match known.gaps.iter().map(|gap| gap.count).sum::<usize>() {
        0 => String::new(),
        count => fl!(text.loader(), "runs-no-run", count = count),
    };
    let at = |time: i64| Time(time).to_string();
    let query =
        |fields: &[(&str, String)]| form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let path = format!("{}/r/{}/jobs/{}", here.app.options.base_path, here.registry.name(), segment(row.job.as_str()));
    let is_traced = here.registry.trace_reader().is_some();
    Line {
        job: row.job.to_string(),
        link: match is_traced {
            true => format!("{path}/runs?{}", query(&[("from", at(from)), ("until", at(until))])),
            false => path.clone(),
        },
        // Only traces have what became of a fire in the past.
        why: match known.gaps.last().filter(|_| is_traced) {
            Some(gap) => format!("{path}/why?{}", query(&[("at", at(gap.first))])),
            None => format!("{path}/why"),
        },
        bars: bars.collect(),
        folded: known.folded.iter().map(|part| folded(text, clock, scale, part)).collect(),
        gaps: known.gaps.iter().map(hollow).collect(),
        unsure: known.unsure.as_ref().map(|gap| between(gap, unsure(text, gap))),
        coming: lane::places(&row.coming, scale),
        folded_runs: match known.folded.iter().map(|part| part.runs.runs).sum::<u64>() {
            0 => String::new(),
            runs if known.folded.iter().any(|part| part.is_cut) => {
                fl!(text.loader(), "timeline-cut-more", folded = runs)
            }
            runs => fl!(text.loader(), "timeline-cut", folded = runs),
        },
        outcomes: outcomes(text, &known.fires),
        missing,
        next: row.next,
    }
}

/// Runs of items that are counted.
fn folded(text: &Text, clock: &Clock, scale: &Scale, part: &Folded) -> (Stretch, Sign) {
    let (runs, failed, no_end) = (part.runs.runs, part.runs.failed, part.runs.no_end);
    let sign = match (failed, no_end) {
        (1.., _) => Sign::Bad,
        // Among those that are not counted some may have failed.
        (0, 1..) => Sign::Unknown,
        (0, 0) if part.is_cut => Sign::Unknown,
        (0, 0) => Sign::Ok,
    };
    let count = match part.is_cut {
        false => fl!(text.loader(), "timeline-folded", runs = runs, failed = failed, noEnd = no_end),
        true => fl!(text.loader(), "timeline-folded-more", runs = runs, failed = failed, noEnd = no_end),
    };
    let title = format!("{count} · {} – {}", clock.at(&part.from), clock.at(&part.until));
    (Stretch::new(scale, part.from, part.until, title), sign)
}

/// Fires of which nothing is known, in words.
fn unsure(text: &Text, gap: &Gap) -> String {
    match gap.is_cut {
        false => fl!(text.loader(), "timeline-unsure-count", count = gap.count),
        true => fl!(text.loader(), "timeline-unsure-count-more", count = gap.count),
    }
}

fn picture(here: &Here, clock: &Clock, found: &Timeline) -> Picture {
    let shown = &*found.shown;
    let range = (shown.from, shown.until);
    let scale = Scale::time(range, (0.0, WIDTH));
    let fires = shown.jobs.iter().flat_map(|row| &row.known.fires);
    let signs = fires.filter_map(|fire| fire.outcome).map(Sign::from);
    let signs: std::collections::BTreeSet<Sign> = signs.collect();
    Picture {
        from: shown.from,
        until: shown.until,
        now: scale.has(shown.now).then(|| scale.at_time(shown.now)),
        times: ticks::of_times(&scale, range, clock.zone, 8),
        lines: shown.jobs.iter().map(|row| line(here, clock, &scale, range, row)).collect(),
        signs: signs.into_iter().collect(),
        is_traced: found.is_traced,
        has_folded: shown.jobs.iter().any(|row| !row.known.folded.is_empty()),
        has_unsure: shown.jobs.iter().any(|row| row.known.unsure.is_some()),
        total: found.total,
    }
}

pub(crate) async fn show(here: Here, Query(query): Query<TimelineQuery>) -> Response {
    let clock = Clock::of(None);
    let layout = Layout::of(&here);
    // A time that is over does not change any more.
    let layout = if query.is_of_now() { layout.live_records(&here, None) } else { layout };
    let span = query.span().unwrap_or(Span::SixHours);
    let (found, problem) = match service::timeline(&here, &query, clock.now).await {
        Ok(found) => (Some(found), None),
        Err(problem) => (None, Some(problem)),
    };
    let status = problem.as_ref().map_or(StatusCode::OK, Problem::status);
    let until = |until: i64| query.with(&[("from", ""), ("until", &Time(until).to_string())]);
    let end = found.as_ref().map_or(clock.now, |found| found.shown.until);
    // What is later than now has fires to come alone: the way back to now has no end.
    let is_past = found.as_ref().is_some_and(|found| found.shown.until < clock.now);
    let later = is_past.then(|| match end + span.length() > clock.now {
        true => query.with(&[("from", ""), ("until", "")]),
        false => until(end + span.length()),
    });
    // As it was typed where it cannot be read; of the time around now, which goes on, there is no begin.
    let from = match &found {
        Some(found) if !query.is_of_now() => local(found.shown.from, &clock),
        _ => query.from.clone(),
    };
    let page = TimelinePage {
        layout,
        picture: found.as_ref().map(|found| picture(&here, &clock, found)),
        next: found.and_then(|found| found.next).map(|cursor| query.with(&[("cursor", &cursor)])),
        earlier: until(end - span.length()),
        later,
        clock,
        span,
        from,
        problem,
        query,
    };
    with_status(status, &page)
}

/// A time as a field for one has it.
fn local(at: i64, clock: &Clock) -> String {
    format_rfc3339(at, clock.zone).chars().take("2026-11-21T03:00".len()).collect()
}
