//! Fires, read from a database.

use elasticjob::config::JobSettings;
use elasticjob::fire::ExecutionSource;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::trace::{JobEvent, JobExecutionEvent};

use super::group::Tally;
use super::*;
use crate::testing::start_job;
use crate::testing::traced::{Folder, decision, failed, here, run};

const MINUTE: i64 = 60_000;

/// The last whole minute.
fn minute() -> i64 {
    let now = crate::service::now();
    now - now % MINUTE
}

struct Shown {
    here: Here,
    snapshot: JobSnapshot,
    clock: Clock,
    _folder: Folder,
    _job: elasticjob::runtime::ScheduleJobBootstrap,
}

/// A job with these records; its clock may be ahead, as fires of a schedule are missed only after it was written.
async fn shown(name: &str, ahead: i64, events: impl IntoIterator<Item = JobEvent>) -> Shown {
    let (folder, memory) = (Folder::new(name), MemoryRegistry::new());
    let job = start_job(&memory, "settle", &JobSettings::default()).await;
    folder.write(events).await;
    let console = folder.console(&memory).await;
    let here = here(&console);
    let snapshot = here.views().snapshot(&JobName::new("settle").expect("a name")).await.expect("it is there");
    let clock =
        Clock { now: crate::service::now() + ahead, ..Clock::of(snapshot.usable().and_then(|it| it.schedule())) };
    Shown { here, snapshot, clock, _folder: folder, _job: job }
}

impl Shown {
    async fn list(&self, query: &FireQuery) -> FirePage {
        list(&self.here, &self.snapshot, query, &self.clock, 0).await.expect("it can be read")
    }

    async fn one(&self, id: FireId) -> OneFire {
        one(&self.here, &self.snapshot, id, &self.clock).await.expect("it can be read")
    }
}

fn of(run: JobExecutionEvent) -> JobEvent {
    JobEvent::Execution(run)
}

fn settle(item: u32, scheduled: i64, start: i64, end: impl Into<Option<i64>>) -> JobExecutionEvent {
    run("settle", item, Some(scheduled), start, end.into())
}

#[tokio::test]
async fn runs_of_items_become_fires_that_say_how_they_stand() {
    let at = minute() - 10 * MINUTE;
    let second = |item, scheduled, start, end| JobExecutionEvent {
        source: ExecutionSource::Failover,
        ..settle(item, scheduled, start, end)
    };
    let shown = shown(
        "group",
        0,
        [
            of(settle(0, at, at + 30, at + 1_000)),
            of(settle(1, at, at + 50, at + 3_000)),
            // Item 1 was lost, and run by another instance.
            of(settle(0, at - MINUTE, at - MINUTE + 10, at - MINUTE + 20)),
            of(settle(1, at - MINUTE, at - MINUTE + 11, None)),
            of(second(1, at - MINUTE, at - 7_000, at - 5_000)),
            of(settle(0, at - 2 * MINUTE, at - 2 * MINUTE, at - MINUTE - 30_000)),
            of(failed(settle(1, at - 2 * MINUTE, at - 2 * MINUTE + 1, at - MINUTE - 40_000), "no")),
            of(settle(0, at - 3 * MINUTE, at - 3 * MINUTE, None)),
            of(run("settle", 0, None, at - 4 * MINUTE + 950, Some(at - 4 * MINUTE + 970))),
            of(run("settle", 1, None, at - 4 * MINUTE + 10, Some(at - 4 * MINUTE + 20))),
            of(run("another", 1, Some(at), at, None)),
        ],
    )
    .await;
    let page = shown.list(&FireQuery::default()).await;
    let fires: Vec<_> = page
        .fires
        .iter()
        .map(|fire| (fire.id, fire.outcome(), fire.took(), fire.lateness(), fire.is_failed_over(), fire.runs.len()))
        .collect();
    let planned = |minutes: i64| FireId::Scheduled(at - minutes * MINUTE);
    assert_eq!(
        fires,
        [
            (planned(0), FireOutcome::Succeeded, Some(2_970), Some(30), false, 2),
            (planned(1), FireOutcome::Recovered, Some(54_990), Some(10), true, 3),
            (planned(2), FireOutcome::Failed, Some(30_000), Some(0), false, 2),
            (planned(3), FireOutcome::NoEnd, None, Some(0), false, 1),
            (FireId::Began(at - 4 * MINUTE), FireOutcome::Succeeded, Some(960), None, false, 2),
        ]
    );
    assert!(page.fires[4].is_by_hand() && page.next.is_none());
    assert_eq!(page.fires[1].runs[1].state, RunState::Lost);
    assert_eq!(page.fires[2].tally(), Tally { done: 1, failed: 1, ..Tally::default() });
    for fire in &page.fires {
        let one = shown.one(fire.id).await;
        assert_eq!(one.fire.runs.len(), fire.runs.len(), "{:?}", fire.id);
    }
}

#[tokio::test]
async fn pages_have_each_fire_once_and_whole_also_where_a_late_run_began_long_after_its_fire() {
    let at = minute() - 10 * MINUTE;
    let mut events = Vec::new();
    for number in 0..40 {
        let fire = at - number * MINUTE;
        events.push(of(settle(0, fire, fire + 5, fire + 9)));
        // Every third fire has an item that began half an hour later.
        let late = if number % 3 == 0 { 30 * MINUTE } else { 0 };
        events.push(of(settle(1, fire, fire + late + 7, fire + late + 9)));
    }
    let shown = shown("paging", 0, events).await;
    for limit in [1, 7, 39, 40, 41] {
        let (mut query, mut seen) = (FireQuery { limit: Some(limit), ..FireQuery::default() }, Vec::new());
        loop {
            let page = shown.list(&query).await;
            assert!(page.fires.len() <= limit && page.fires.iter().all(|fire| fire.runs.len() == 2), "{limit}");
            seen.extend(page.fires.iter().map(|fire| fire.id.time()));
            let Some(next) = page.next else { break };
            query.cursor = next;
            assert!(seen.len() <= 40, "{limit}: a page comes again");
        }
        let all: Vec<i64> = (0..40).map(|number| at - number * MINUTE).collect();
        assert_eq!(seen, all, "{limit}");
    }
    let wrong = FireQuery { cursor: "x".to_owned(), ..FireQuery::default() };
    let refused = list(&shown.here, &shown.snapshot, &wrong, &shown.clock, 0).await;
    assert_eq!(refused.expect_err("it is no cursor").code(), "bad-request");
}

#[test]
fn the_address_of_the_next_page_keeps_how_many_are_on_one() {
    let query = FireQuery { limit: Some(7), ..FireQuery::default() };
    assert_eq!(query.after("x"), "cursor=x&limit=7");
    let query = crate::service::jobs::JobQuery { limit: Some(7), ..Default::default() };
    assert_eq!(query.after("x"), "cursor=x&limit=7");
    let query = HistoryQuery { limit: Some(7), ..HistoryQuery::default() };
    assert_eq!(query.with(&[("cursor", "x")]), "limit=7&cursor=x");
}

#[tokio::test]
async fn more_records_than_are_read_for_a_page_are_on_the_next_ones() {
    let at = minute() - 600 * MINUTE;
    let fires = (0..70).flat_map(|fire| (0..100).map(move |item| (fire, item)));
    let events = fires.map(|(fire, item)| {
        of(settle(item, at + fire * MINUTE, at + fire * MINUTE + i64::from(item), at + fire * MINUTE + 200))
    });
    let shown = shown("many", 0, events.collect::<Vec<_>>()).await;
    let first = shown.list(&FireQuery { limit: Some(200), ..FireQuery::default() }).await;
    let cursor = first.next.clone().expect("more follow");
    let second = shown.list(&FireQuery { limit: Some(200), cursor, ..FireQuery::default() }).await;
    let both = || first.fires.iter().chain(&second.fires);
    assert!(both().all(|fire| fire.runs.len() == 100 && !fire.is_cut));
    assert_eq!((both().count(), second.next), (70, None));
    assert!(first.fires.len() > 50, "{}", first.fires.len());
}

#[tokio::test]
async fn a_fire_that_should_have_been_is_a_gap_with_what_was_decided_about_it() {
    // The schedule of the job is the turn of the year: its clock is set far ahead.
    let next = chrono::DateTime::parse_from_rfc3339("2041-01-01T00:00:00Z").expect("a time").timestamp_millis();
    let ahead = next + 2 * MINUTE - crate::service::now();
    let skipped = decision("settle", DecisionKind::Skipped, next + 10, Some(next), None);
    let changed = |at| decision("settle", DecisionKind::ConfigurationChanged, at, None, None);
    let shown = shown("missing", ahead, [skipped, changed(next - MINUTE), changed(next - MINUTE + 500)]).await;
    let page = shown.list(&FireQuery::default()).await;
    let kinds = vec!["SKIPPED".to_owned()];
    assert_eq!(page.gaps, [Gap { first: next, last: next, count: 1, is_cut: false, kinds }]);
    assert!(page.planned_since.is_some());
    assert_eq!(page.changes.len(), 1, "two instances saw the same change");
    let one = shown.one(FireId::Scheduled(next)).await;
    assert!(one.fire.runs.is_empty() && one.is_planned == Some(true));
    assert_eq!(
        one.decisions.iter().map(|decision| decision.kind.as_str()).collect::<Vec<_>>(),
        ["CONFIGURATION_CHANGED", "CONFIGURATION_CHANGED", "SKIPPED"]
    );
    assert_eq!(shown.one(FireId::Scheduled(next + 1)).await.is_planned, Some(false));
    assert_eq!(shown.one(FireId::Scheduled(0)).await.is_planned, None, "before the configuration was written");
    let early = FireQuery {
        from: "2040-01-01T00:00:00Z".to_owned(),
        until: "2040-01-02T00:00:00Z".to_owned(),
        ..FireQuery::default()
    };
    assert_eq!(shown.list(&early).await.gaps.len(), 1, "in another range");
}

#[tokio::test]
async fn a_fire_of_which_items_did_not_run_ran_in_part() {
    let next = chrono::DateTime::parse_from_rfc3339("2041-01-01T00:00:00Z").expect("a time").timestamp_millis();
    let ahead = next + 2 * MINUTE - crate::service::now();
    let shown = shown("partial", ahead, [of(settle(0, next, next + 5, next + 9))]).await;
    let total = shown.snapshot.usable().expect("it is usable").sharding_total_count() as usize;
    assert!(total > 1, "{total}");
    let page = shown.list(&FireQuery::default()).await;
    let not_run = Tally { done: 1, not_run: total - 1, ..Tally::default() };
    assert_eq!((page.fires[0].outcome(), page.fires[0].tally()), (FireOutcome::Partial, not_run));
    assert_eq!(shown.one(FireId::Scheduled(next)).await.fire.outcome(), FireOutcome::Partial);
    let days = days(&shown.here, &shown.snapshot, &shown.clock, 1).await.expect("they can be read");
    assert_eq!((days[0].runs.runs, days[0].not_run), (1, total as u64 - 1));

    let known = Total::new(3, next, next + 2 * MINUTE);
    assert_eq!(known.not_run(FireId::Scheduled(next), 1), 2);
    assert_eq!(known.not_run(FireId::Scheduled(next - 1), 1), 0, "the configuration was another one");
    assert_eq!(known.not_run(FireId::Scheduled(next + MINUTE + 1), 1), 0, "others may still begin");
    assert_eq!(known.not_run(FireId::began_at(next), 1), 0, "a trigger may be for one server");
}

#[tokio::test]
async fn each_day_is_counted_by_the_clock_of_the_zone() {
    let today = minute() - minute().rem_euclid(24 * 60 * MINUTE);
    let day = |back: i64, item: u32| settle(item, today, today - back * 24 * 60 * MINUTE, today);
    let events = [of(day(1, 0)), of(failed(day(1, 1), "no")), of(settle(2, 0, today - 1, today)), of(day(3, 0))];
    let shown = shown("days", 0, events).await;
    let days = days(&shown.here, &shown.snapshot, &shown.clock, 4).await.expect("they can be read");
    let counts: Vec<_> = days.iter().map(|day| (day.runs.runs, day.runs.failed, day.is_missing)).collect();
    assert_eq!(counts, [(1, 0, false), (0, 0, false), (3, 1, false), (0, 0, false)]);
    assert_eq!((days[3].from, days[3].until - days[3].from), (today, 24 * 60 * MINUTE));
    assert_eq!(days[3].date.to_string(), chrono::Utc::now().date_naive().to_string());
}
