//! Figures: how many jobs there are, what runs and waits now, and how runs ended.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, Utc};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::super::chart::columns::{Columns, Count};
use super::super::time::Clock;
use super::super::{Layout, error, page};
use crate::cloud::{Cloud, Refusal};
use crate::text::t;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// How far back the figures go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Span {
    Hour,
    Day,
    Week,
}

impl Span {
    const ALL: [Self; 3] = [Self::Hour, Self::Day, Self::Week];

    /// Its name in the API.
    fn name(self) -> &'static str {
        match self {
            Self::Hour => "lastHour",
            Self::Day => "last24hours",
            Self::Week => "lastWeek",
        }
    }

    /// Its length, and that of a column.
    fn lengths(self) -> (i64, i64) {
        match self {
            Self::Hour => (HOUR, MINUTE),
            Self::Day => (24 * HOUR, HOUR),
            Self::Week => (7 * 24 * HOUR, 6 * HOUR),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wanted {
    since: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Types {
    transient_job_count: usize,
    daemon_job_count: usize,
}

/// How runs ended within a minute.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Results {
    success_count: u64,
    failed_count: u64,
    #[serde(deserialize_with = "time")]
    statistics_time: DateTime<Utc>,
}

/// A time of an answer.
fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DateTime<Utc>, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

/// How many of something ran at an hour.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AtHour {
    running_count: u64,
    #[serde(deserialize_with = "time")]
    statistics_time: DateTime<Utc>,
}

/// How many jobs there were at the end of a day.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Registered {
    registered_count: u64,
    #[serde(deserialize_with = "time")]
    statistics_time: DateTime<Utc>,
}

/// What the traces say.
struct Traced {
    succeeded: u64,
    failed: u64,
    results: Vec<Count>,
    results_picture: Option<Columns>,
    /// Items that ran at each hour, with the jobs that they were of.
    running: Vec<(Count, u64)>,
    running_picture: Option<Columns>,
}

#[derive(Template)]
#[template(path = "cloud.html")]
struct Dashboard {
    layout: Layout,
    clock: Clock,
    span: Span,
    types: Types,
    apps: usize,
    running: usize,
    ready: usize,
    failover: usize,
    registered: Vec<Registered>,
    /// Or why there are no traces.
    traced: Result<Traced, String>,
}

impl Dashboard {
    fn spans(&self) -> [(Span, String); 3] {
        Span::ALL.map(|span| {
            let name = match span {
                Span::Hour => t!(self, "cloud-last-hour"),
                Span::Day => t!(self, "cloud-last-day"),
                Span::Week => t!(self, "cloud-last-week"),
            };
            (span, name)
        })
    }
}

/// The begin of the span of a time.
fn floor(at: i64, length: i64) -> i64 {
    at.div_euclid(length) * length
}

impl Traced {
    async fn read(cloud: &Cloud, span: Span, clock: &Clock) -> Result<Self, Refusal> {
        let since = span.name();
        let results: Vec<Results> = cloud.get(&format!("/api/job/statistics/tasks/results?since={since}")).await?;
        let items: Vec<AtHour> = cloud.get(&format!("/api/job/statistics/tasks/running?since={since}")).await?;
        let jobs: Vec<AtHour> = cloud.get(&format!("/api/job/statistics/jobs/running?since={since}")).await?;
        Ok(Self::of(&results, &items, &jobs, span, clock))
    }

    fn of(results: &[Results], items: &[AtHour], jobs: &[AtHour], span: Span, clock: &Clock) -> Self {
        let (length, column) = span.lengths();
        let range = (floor(clock.now - length, column), floor(clock.now, column));
        let mut sums: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
        for one in results {
            let (fine, bad) = sums.entry(floor(one.statistics_time.timestamp_millis(), column)).or_default();
            *fine += one.success_count;
            *bad += one.failed_count;
        }
        let title = |at: i64, counts: String| format!("{}: {counts}", clock.at(&at));
        let results: Vec<Count> = sums
            .iter()
            .map(|(at, (fine, bad))| Count {
                at: *at,
                fine: *fine,
                bad: *bad,
                title: title(*at, format!("{fine} / {bad}")),
            })
            .collect();
        let running = items.iter().map(|one| {
            let (at, fine) = (one.statistics_time.timestamp_millis(), one.running_count);
            let of_jobs = jobs.iter().find(|it| it.statistics_time == one.statistics_time);
            let count = Count { at, fine, bad: 0, title: title(at, fine.to_string()) };
            (count, of_jobs.map_or(0, |it| it.running_count))
        });
        let running: Vec<(Count, u64)> = running.collect();
        let counts: Vec<Count> = running.iter().map(|(count, _)| count.clone()).collect();
        Self {
            succeeded: sums.values().map(|(fine, _)| fine).sum(),
            failed: sums.values().map(|(_, bad)| bad).sum(),
            results_picture: Columns::of(&results, range, column, "ok", clock.zone),
            running_picture: Columns::of(
                &counts,
                (floor(range.0, HOUR), floor(range.1, HOUR)),
                HOUR,
                "run",
                clock.zone,
            ),
            results,
            running,
        }
    }
}

async fn read(cloud: &Cloud, span: Span) -> Result<Dashboard, Refusal> {
    let clock = Clock::in_zone(None);
    let count = async |path: &str| Ok::<usize, Refusal>(cloud.get::<Vec<Value>>(path).await?.len());
    // Figures of now are worth seeing where nothing is traced.
    let traced = match Traced::read(cloud, span, &clock).await {
        Ok(traced) => Ok(traced),
        Err(refusal) if refusal.status != StatusCode::FORBIDDEN => Err(refusal.shown(&cloud.here.text)),
        Err(refusal) => return Err(refusal),
    };
    Ok(Dashboard {
        layout: Layout::of(&cloud.here),
        clock,
        span,
        types: cloud.get("/api/job/statistics/jobs/executionType").await?,
        apps: count("/api/app/list").await?,
        running: count("/api/job/tasks/running").await?,
        ready: count("/api/job/tasks/ready").await?,
        failover: count("/api/job/tasks/failover").await?,
        registered: cloud.get("/api/job/statistics/jobs/register").await?,
        traced,
    })
}

pub(crate) async fn show(cloud: Cloud, Query(wanted): Query<Wanted>) -> Response {
    let span = Span::ALL.into_iter().find(|span| span.name() == wanted.since).unwrap_or(Span::Day);
    match read(&cloud, span).await {
        Ok(shown) => page(&shown),
        Err(refusal) => error::refused(&cloud.here, &refusal),
    }
}

#[cfg(test)]
mod tests {
    use elasticjob::schedule::TimeZone;

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().expect("a time")
    }

    #[test]
    fn minutes_are_summed_to_columns_and_jobs_stand_beside_their_items() {
        let clock = Clock { now: at("2026-11-21T03:30:00Z").timestamp_millis(), zone: TimeZone::UTC };
        let minute = |time: &str, success_count, failed_count| Results {
            success_count,
            failed_count,
            statistics_time: at(time),
        };
        let results = [
            minute("2026-11-21T01:00:00Z", 3, 1),
            minute("2026-11-21T01:59:00Z", 4, 0),
            minute("2026-11-21T02:00:00Z", 0, 2),
        ];
        let hour = |running_count| AtHour { running_count, statistics_time: at("2026-11-21T02:00:00Z") };
        let traced = Traced::of(&results, &[hour(7)], &[hour(2)], Span::Day, &clock);
        let columns: Vec<_> =
            traced.results.iter().map(|one| (one.at % (24 * HOUR) / HOUR, one.fine, one.bad)).collect();
        assert_eq!(columns, [(1, 7, 1), (2, 0, 2)]);
        assert_eq!((traced.succeeded, traced.failed), (7, 3));
        assert_eq!(traced.running.iter().map(|(items, jobs)| (items.fine, *jobs)).collect::<Vec<_>>(), [(7, 2)]);
    }
}
