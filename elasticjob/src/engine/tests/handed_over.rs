//! Manual triggers that waited for an instance that is gone.

use std::time::Duration;

use super::group::{Group, job};
use crate::config::JobConfiguration;
use crate::engine::{Event, ExecutionSource, Fire, FireRecord, FireState, Notice};
use crate::registry::path::{ItemNode, JobPath};
use crate::registry::{CreateMode, Transaction};

/// Two instances of a job with two items; host 0 is asked to run its item, and is not told.
fn asked(failover: bool) -> (Group, u32) {
    let configuration = JobConfiguration::builder("job", 2).failover(failover).build().unwrap();
    let mut group = Group::settled(2, &configuration);
    let item = (0..2).find(|item| group.owners(2)[*item as usize] == Some(0)).unwrap();
    group.hosts[0].connected = false;
    let mut trigger = Transaction::new();
    trigger.create(JobPath::Triggers.absolute(&job()), "", CreateMode::Persistent);
    let mut of = Transaction::new();
    of.create(group.own_trigger(0), "", CreateMode::Persistent);
    group.operate(&trigger, false);
    group.operate(&of, false);
    (group, item)
}

fn record(group: &Group, item: u32) -> FireRecord {
    FireRecord::parse(group.text(&JobPath::fire(item)).unwrap().as_bytes())
}

#[test]
fn with_failover_its_items_are_taken_over_once() {
    let (mut group, item) = asked(true);
    let gone = group.hosts[0].engine.instance().clone();
    group.kill(0);
    group.run_until(6_000);
    let starts = group.starts(1);
    assert_eq!(starts.len(), 1, "{starts:?}");
    assert!(matches!(starts[0], (Fire::Manual { .. }, ExecutionSource::Failover, ref items) if *items == [item]));
    assert!(group.hosts[1].notices.contains(&Notice::TriggerHandedOver { instance: gone, items: vec![item] }));
    group.end_items(1, &[item]);
    group.run_until(20_000);
    assert_eq!(group.starts(1).len(), 1);
    for left in [JobPath::FailoverItem(item), JobPath::Item(item, ItemNode::Failover)] {
        assert!(!group.exists(&left), "{left}");
    }
}

#[test]
fn without_failover_it_is_told_and_written_that_they_are_not_run() {
    let (mut group, item) = asked(false);
    let gone = group.hosts[0].engine.instance().clone();
    group.kill(0);
    group.run_until(6_000);
    assert_eq!(group.starts(1), []);
    assert!(group.hosts[1].notices.contains(&Notice::TriggerDropped { instance: gone.clone(), items: vec![item] }));
    let last = record(&group, item).last.unwrap();
    assert_eq!((last.manual, last.instance, last.state), (true, gone, FireState::Cancelled));
}

#[test]
fn an_instance_that_leaves_hands_over_too() {
    let (mut group, item) = asked(true);
    // It has heard of nothing, and leaves when it is asked to.
    group.hosts[0].connected = true;
    group.tell(0, Event::Shutdown { grace: Duration::ZERO });
    group.run_until(6_000);
    let of_item = |(_, _, items): &(Fire, ExecutionSource, Vec<u32>)| items.contains(&item);
    let runs = group.starts(0).iter().chain(&group.starts(1)).filter(|start| of_item(start)).count();
    assert_eq!(runs, 1);
}
