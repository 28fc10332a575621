//! The timeline where nothing is traced.

use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};

use super::*;
use crate::service::fires::{FireId, FireOutcome, Tally};
use crate::service::time::Time;
use crate::testing::console_of;
use crate::testing::traced::here;

const MINUTE: i64 = 60_000;

/// The first whole five minutes after now, so that the configuration was written before.
fn first() -> i64 {
    let now = crate::service::now();
    now - now % (5 * MINUTE) + 5 * MINUTE
}

/// A job that fires every five minutes, with the records of its items.
async fn job(memory: &MemoryRegistry, records: &[&str]) -> impl RegistryCenter {
    let mut nodes = Transaction::new();
    let config =
        format!("shardingTotalCount: {}\ncron: 0 0/5 * * * ?\ntimeZone: UTC\nmonitorExecution: true\n", records.len());
    for (path, data) in [("/settle", ""), ("/settle/config", config.as_str()), ("/settle/sharding", "")] {
        nodes.create(path, data, CreateMode::Persistent);
    }
    for (item, record) in records.iter().enumerate() {
        let path = format!("/settle/sharding/{item}");
        nodes.create(path.clone(), "", CreateMode::Persistent);
        match *record {
            // A Java instance runs it, or ran it and is gone.
            "RUNS" => nodes.create(format!("{path}/running"), "", CreateMode::Ephemeral),
            "RAN" => nodes.create(format!("{path}/running"), "", CreateMode::Persistent),
            _ => nodes.create(format!("{path}/fire"), *record, CreateMode::Persistent),
        };
    }
    let instance = memory.connect();
    instance.commit(nodes).await.expect("they are written");
    instance
}

fn record(at: i64, state: &str) -> String {
    format!(
        r#"{{"through":{at},"last":{{"at":{at},"instance":"a@-@1","attempt":"1-1","began":{},"state":"{state}","ended":{}}}}}"#,
        at + 1_000,
        at + 61_000
    )
}

async fn row_of(memory: &MemoryRegistry, from: i64, now: i64) -> Row {
    let console = console_of(memory);
    let query = TimelineQuery { from: Time(from).to_string(), span: "1h".to_owned(), ..TimelineQuery::default() };
    let found = timeline(&here(&console), &query, now).await.expect("it needs no traces");
    assert!(!found.is_traced);
    found.shown.jobs[0].clone()
}

#[tokio::test]
async fn the_last_runs_of_items_are_shown_with_what_did_not_begin_since_and_what_is_not_known() {
    let (memory, first) = (MemoryRegistry::new(), first());
    let at = |minutes: i64| first + minutes * MINUTE;
    let records = [record(at(10), "SUCCEEDED"), record(at(15), "FAILED"), record(at(15), "SUCCEEDED")];
    let _instance = job(&memory, &records.each_ref().map(String::as_str)).await;
    let row = row_of(&memory, first, at(52)).await;
    let fires: Vec<_> = row.known.fires.iter().map(|fire| (fire.id, fire.outcome, fire.tally)).collect();
    let tally = |done, failed| Tally { done, failed, ..Tally::default() };
    assert_eq!(
        fires,
        [
            (FireId::Scheduled(at(15)), Some(FireOutcome::Failed), tally(1, 1)),
            (FireId::Scheduled(at(10)), Some(FireOutcome::Succeeded), tally(1, 0)),
        ]
    );
    assert_eq!((row.known.fires[0].lateness(), row.known.fires[0].took()), (Some(1_000), Some(60_000)));
    let gap = |first, last, count| Gap { first, last, count, is_cut: false, kinds: Vec::new() };
    assert_eq!(row.known.gaps, [gap(at(20), at(50), 7)], "no item began a fire since");
    assert_eq!(row.known.unsure, Some(gap(at(0), at(5), 2)), "of those before it is not known");
    assert_eq!(row.coming, [at(55), at(60)]);
}

#[tokio::test]
async fn of_java_instances_the_marks_of_runs_are_shown_and_nothing_else_is_said() {
    let (memory, now) = (MemoryRegistry::new(), crate::service::now() + 60 * MINUTE);
    let _instance = job(&memory, &["RUNS", "RAN"]).await;
    let row = row_of(&memory, now - 65 * MINUTE, now).await;
    let tally = Tally { running: 1, no_end: 1, ..Tally::default() };
    let fires: Vec<_> = row.known.fires.iter().map(|fire| (fire.tally, fire.id.scheduled())).collect();
    assert_eq!(fires, [(tally, None)]);
    assert_eq!(row.known.fires[0].drawn_until(now), now, "one goes on");
    assert_eq!(row.known.gaps, [], "they write no records: nothing is missing");
    assert!(row.known.unsure.is_some_and(|unsure| unsure.count >= 11), "of no fire it is known");
}

#[tokio::test]
async fn more_fires_than_are_counted_are_not_known_up_to_the_end() {
    let schedule = Schedule::parse("* * * * * ?", Some("UTC")).expect("it is a schedule");
    let unsure = registered::unsure(&schedule, 0, 24 * 60 * MINUTE, &[]).expect("there are some");
    assert_eq!((unsure.first, unsure.last, unsure.count, unsure.is_cut), (0, 24 * 60 * MINUTE, 1_000, true));
}

#[tokio::test]
async fn a_time_has_a_begin_or_an_end() {
    let query = |from: &str, until: &str| {
        let (from, until) = (from.to_owned(), until.to_owned());
        TimelineQuery { from, until, span: "12h".to_owned(), ..TimelineQuery::default() }
    };
    let (hours, time) = (|hours: i64| hours * 60 * MINUTE, 1_700_000_000_000);
    assert_eq!(query("2023-11-14T22:13:20Z", "").times(0).expect("a begin"), (time, time + hours(12)));
    assert_eq!(query("", "2023-11-14T22:13:20Z").times(0).expect("an end"), (time - hours(12), time));
    assert_eq!(query("", "").times(time).expect("now").1, time + hours(12) / 8);
    let local = query("2023-11-14T22:13", "").times(0).expect("a local time").0;
    assert!((local - time).abs() < hours(15), "{local}");
    for (from, until) in [("2023-11-14T22:13:20Z", "2023-11-14T22:13:20Z"), ("tonight", ""), ("", "tonight")] {
        assert_eq!(query(from, until).times(0).expect_err("it is refused").code(), "bad-request", "{from} {until}");
    }
}
