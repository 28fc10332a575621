//! An operator cancels runs.

use std::time::Duration;

use super::group::{Group, every_five};
use super::{FIRST, record_of};
use crate::config::JobConfiguration;
use crate::engine::{Event, Notice};
use crate::fire::{CancelRequest, ExecutionSource, FireState, ItemEnd};
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};

fn request() -> CancelRequest {
    CancelRequest::new("alice", "wrong input")
}

/// What the command line writes.
fn cancel(group: &mut Group, item: ShardingItem) {
    let record = record_of(group, item).cancel(request()).expect("it runs");
    group.set(&JobPath::fire(item), std::str::from_utf8(&record.to_bytes()).unwrap());
}

fn with_failover(total: u32) -> JobConfiguration {
    JobConfiguration::builder("job", total).cron("0/5 * * * * ?").failover(true).build().unwrap()
}

/// How the last run of an item ended, by its record.
fn ended(group: &Group, item: ShardingItem) -> (FireState, Option<String>) {
    let last = record_of(group, item).last.unwrap();
    (last.state, last.error)
}

fn as_cancelled() -> (FireState, Option<String>) {
    (FireState::Failed, Some("cancelled by alice: wrong input".to_owned()))
}

#[test]
fn a_cancelled_run_is_told_once_dropped_after_the_grace_and_has_failed() {
    let mut group = Group::settled(1, &every_five(2));
    group.run_until(5_000);
    cancel(&mut group, 1);
    assert_eq!(group.hosts[0].cancelled, [1], "the other item goes on");
    let told = Notice::CancelledOnRequest { fire: FIRST, item: 1, request: request() };
    assert_eq!(group.hosts[0].notices.iter().filter(|notice| **notice == told).count(), 1);
    group.run_until(6_900);
    assert!(group.hosts[0].aborted.is_empty());
    group.run_until(7_100);
    assert_eq!(group.hosts[0].aborted, [1]);
    group.cut_off_items(0, &[1]);
    group.end_items(0, &[0]);
    assert_eq!(ended(&group, 1), as_cancelled());
    assert_eq!(ended(&group, 0).0, FireState::Succeeded);
    assert_eq!(group.hosts[0].cancelled, [1]);
    group.run_until(10_000);
    assert_eq!(group.hosts[0].started.len(), 2, "the next fire is run");
}

#[test]
fn a_run_that_returns_an_error_when_it_is_cancelled_has_failed_for_that_reason_and_one_that_returns_well_has_not() {
    let mut group = Group::settled(1, &every_five(2));
    group.run_until(5_000);
    cancel(&mut group, 0);
    cancel(&mut group, 1);
    let end = ItemEnd { state: FireState::Failed, took: 3, error: Some("gave up".to_owned()) };
    group.tell(0, Event::ItemEnded { item: 0, end });
    group.end_items(0, &[1]);
    let error = "cancelled by alice: wrong input (it returned: gave up)".to_owned();
    assert_eq!(ended(&group, 0), (FireState::Failed, Some(error)));
    assert_eq!(ended(&group, 1).0, FireState::Succeeded);
}

#[test]
fn a_cancelled_run_is_not_handed_over_also_where_a_shutdown_cut_it_off_first() {
    let mut group = Group::settled(2, &with_failover(2));
    group.run_until(5_000);
    let item = (0..2).find(|item| group.owners(2)[*item as usize] == Some(1)).unwrap();
    group.tell(1, Event::Shutdown { grace: Duration::ZERO });
    assert_eq!(group.hosts[1].cancelled, [item]);
    cancel(&mut group, item);
    group.cut_off_items(1, &[item]);
    group.run_until(9_000);
    assert_eq!(ended(&group, item), as_cancelled());
    assert!(!group.exists(&JobPath::FailoverItem(item)));
    assert_eq!(group.starts(0).len(), 1, "{:?}", group.starts(0));
}

#[test]
fn a_cancelled_run_that_was_lost_is_not_taken_over() {
    let mut group = Group::settled(2, &with_failover(2));
    group.run_until(5_000);
    let item = (0..2).find(|item| group.owners(2)[*item as usize] == Some(1)).unwrap();
    group.hosts[1].connected = false;
    cancel(&mut group, item);
    group.kill(1);
    group.run_until(9_000);
    assert!(group.starts(0).iter().all(|(_, source, _)| *source != ExecutionSource::Failover));
    assert_eq!(ended(&group, item), as_cancelled());
    for left in [JobPath::running(item), JobPath::Item(item, ItemNode::Failovering), JobPath::FailoverItem(item)] {
        assert!(!group.exists(&left), "{left}");
    }
    let is_told = |notice: &&Notice| matches!(notice, Notice::LostAfterCancel { item: lost, .. } if *lost == item);
    assert_eq!(group.hosts[0].notices.iter().filter(is_told).count(), 1);
}
