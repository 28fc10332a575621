//! Manual triggers that waited for an instance that has ended.

use std::time::Duration;

use super::group::{EPOCH, Group, Lost, every_five, job};
use crate::config::JobConfiguration;
use crate::engine::{Event, Notice};
use crate::fire::{Attempt, ExecutionSource, Fire, FireRecord, FireState, ItemEnd, SkipReason};
use crate::ident::InstanceId;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, SessionId, Transaction};

/// Two instances of a job with two items; a trigger asks host 0 to run its item, and host 0 does not hear of it.
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

/// Ends host 0. Of what host 1 writes then the answer that comes after so many is lost, and its connection breaks for a moment.
fn take_over_with_a_lost_answer(group: &mut Group, answered: usize) {
    (group.hosts[1].answered_before, group.hosts[1].lost) = (answered, Lost::AfterItWasApplied);
    group.kill(0);
    let killed = group.now().mono.as_millis() as u64;
    group.run_until(killed + 3_000);
    group.disconnect(1);
    group.connect(1);
    group.run_until(killed + 6_000);
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

#[test]
fn it_waits_for_the_last_instance_that_leaves_to_start_again_and_for_no_other() {
    let leaves = [Event::Restart, Event::Shutdown { grace: Duration::ZERO }];
    for (leaves, runs) in leaves.into_iter().zip([1, 0]) {
        let configuration = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").failover(true).build().unwrap();
        let mut group = Group::settled(1, &configuration);
        group.run_until(5_000);
        // It waits for the run of the fire to end.
        group.tell(0, Event::Trigger(1, None));
        group.tell(0, leaves);
        group.end_items(0, &[0]);
        assert!(!group.exists(&JobPath::Instance(group.hosts[0].engine.instance().clone())));
        let again = group.join("10.0.0.1", &configuration);
        group.run_until(9_000);
        let manual = group.starts(again).into_iter().filter(|(fire, ..)| matches!(fire, Fire::Manual { .. })).count();
        assert_eq!(manual, runs, "{:?}", group.hosts[0].notices);
    }
}

#[test]
fn an_item_whose_own_run_was_lost_too_is_taken_over_for_that_run_alone_and_told() {
    let configuration = JobConfiguration::builder("job", 2).cron("0/5 * * * * ?").failover(true).build().unwrap();
    let mut group = Group::settled(2, &configuration);
    let item = (0..2).find(|item| group.owners(2)[*item as usize] == Some(0)).unwrap();
    group.run_until(5_000);
    assert_eq!(group.starts(0).len(), 1);
    // It waits for the run of each instance to end, and that of host 0 does not.
    group.tell(1, Event::Trigger(1, None));
    let gone = group.hosts[0].engine.instance().clone();
    group.kill(0);
    let merged = Notice::TriggerMerged { instance: gone, items: vec![item] };
    assert_eq!(group.hosts[1].notices.iter().filter(|notice| **notice == merged).count(), 1);
    group.run_until(6_000);
    let of_item =
        |(fire, source, items): (Fire, ExecutionSource, Vec<u32>)| items.contains(&item).then_some((fire, source));
    let runs: Vec<_> = group.starts(1).into_iter().filter_map(of_item).collect();
    assert!(matches!(runs[..], [(Fire::Scheduled(_), ExecutionSource::Failover)]), "{runs:?}");
}

#[test]
fn an_item_without_an_owner_that_has_not_run_for_it_is_told_as_left_out() {
    let mut group = Group::settled(2, &JobConfiguration::builder("job", 2).failover(true).build().unwrap());
    let item = (0..2).find(|item| group.owners(2)[*item as usize] == Some(0)).unwrap();
    group.disconnect(0);
    group.tell(1, Event::Trigger(1, None));
    assert!(matches!(&group.starts(1)[..], [(Fire::Manual { .. }, _, items)] if *items == [1 - item]));
    group.end_items(1, &[1 - item]);
    // What comes to host 1 from now on is not begun for this trigger any more.
    group.run_until(20_000);
    let mut damage = Transaction::new();
    for item in 0..2 {
        damage.delete(JobPath::owner_of(item).absolute(&job()), None);
    }
    group.operate(&damage, false);
    group.kill(0);
    group.run_until(22_000);
    let told: Vec<&Notice> =
        group.hosts[1].notices.iter().filter(|notice| matches!(notice, Notice::TriggerLeavesOut { .. })).collect();
    assert_eq!(told, [&Notice::TriggerLeavesOut { items: vec![item] }]);
    assert_eq!(group.starts(1).len(), 1);
}

#[test]
fn it_is_told_that_disabled_items_are_not_run() {
    let (mut group, item) = asked(true);
    let mut disable = Transaction::new();
    disable.create(JobPath::Item(item, ItemNode::Disabled).absolute(&job()), "", CreateMode::Persistent);
    group.operate(&disable, false);
    group.kill(0);
    group.run_until(6_000);
    assert_eq!(group.starts(1), []);
    let is_told = |notice: &Notice| matches!(notice, Notice::Skipped { items, reason: SkipReason::ItemDisabled, .. } if *items == [item]);
    assert!(group.hosts[1].notices.iter().any(is_told), "{:?}", group.hosts[1].notices);
}

#[test]
fn what_a_clock_far_ahead_began_is_not_begun_again_after_it() {
    let (mut group, item) = asked(true);
    let ahead = EPOCH + 3_600_000;
    let (instance, attempt) = (InstanceId::of_process("10.0.0.9", 1), Attempt::new(SessionId(9), 1, 1));
    let begun =
        FireRecord::empty().begin(ahead, Fire::Scheduled(ahead), ExecutionSource::NormalTrigger, instance, attempt);
    let end = ItemEnd { state: FireState::Succeeded, took: 1, error: None };
    group.set(&JobPath::fire(item), &String::from_utf8(begun.end(ahead, &end).to_bytes()).unwrap());
    group.kill(0);
    group.run_until(6_000);
    assert_eq!(record(&group, item).ahead, Some(ahead));
}

#[test]
fn an_instance_that_takes_the_id_before_the_leader_acts_runs_them_with_failover_and_otherwise_says_that_nobody_does() {
    for failover in [true, false] {
        let configuration = JobConfiguration::builder("job", 1).failover(failover).build().unwrap();
        let mut group = Group::settled(1, &configuration);
        let gone = group.hosts[0].engine.instance().clone();
        group.kill(0);
        group.trigger(0);
        let next = group.join("10.0.0.1", &configuration);
        assert_eq!(*group.hosts[next].engine.instance(), gone);
        group.run_until(6_000);
        let starts = group.starts(next);
        let dropped = group.hosts[next].notices.contains(&Notice::TriggerDropped { instance: gone, items: vec![] });
        assert_eq!((starts.len() == 1, dropped), (failover, !failover), "{starts:?}");
        assert!(!group.exists(&JobPath::Trigger(group.hosts[next].engine.instance().clone())));
    }
}

#[test]
fn what_becomes_of_a_trigger_is_told_also_where_the_answer_to_its_transaction_is_lost() {
    for answered in 0..8 {
        let (mut group, item) = asked(false);
        let gone = group.hosts[0].engine.instance().clone();
        take_over_with_a_lost_answer(&mut group, answered);
        assert!(!group.exists(&JobPath::Trigger(gone.clone())), "{answered}");
        let told = Notice::TriggerDropped { instance: gone, items: vec![item] };
        assert!(group.hosts[1].notices.contains(&told), "{answered}: {:?}", group.hosts[1].notices);
    }
}

#[test]
fn what_an_instance_that_leaves_drops_is_told_also_where_the_answer_is_lost() {
    for answered in 0..4 {
        let mut group = Group::settled(1, &every_five(1));
        let me = group.hosts[0].engine.instance().clone();
        group.run_until(5_000);
        group.trigger(0);
        group.tell(0, Event::Shutdown { grace: Duration::from_secs(20) });
        (group.hosts[0].answered_before, group.hosts[0].lost) = (answered, Lost::AfterItWasApplied);
        group.end_items(0, &[0]);
        group.run_until(8_000);
        group.disconnect(0);
        group.connect(0);
        group.run_until(12_000);
        assert!(!group.exists(&JobPath::Trigger(me.clone())), "{answered}");
        let told = Notice::TriggerDropped { instance: me, items: vec![] };
        assert!(group.hosts[0].notices.contains(&told), "{answered}: {:?}", group.hosts[0].notices);
    }
}

#[test]
fn the_items_of_each_part_of_it_are_told_also_where_the_answer_to_a_part_is_lost() {
    for (failover, answered) in
        [(true, 0), (false, 0), (true, 1), (false, 1), (true, 2), (false, 2), (true, 3), (false, 3)]
    {
        let configuration = JobConfiguration::builder("job", 6).failover(failover).build().unwrap();
        let mut group = Group::new();
        group.full_from = Some(700);
        let both = ["10.0.0.1", "10.0.0.2"].map(|ip| group.join(ip, &configuration));
        group.run_until(4_000);
        let owners = group.owners(6);
        let items: Vec<u32> = (0..6).filter(|item| owners[*item as usize] == Some(both[0])).collect();
        group.hosts[0].connected = false;
        group.trigger(0);
        take_over_with_a_lost_answer(&mut group, answered);
        let told = group.hosts[1].notices.iter().filter_map(|notice| match notice {
            Notice::TriggerDropped { items, .. } | Notice::Begun { items, .. } => Some(items.clone()),
            _ => None,
        });
        let mut told = told.flatten().collect::<Vec<_>>();
        told.sort_unstable();
        assert_eq!(told, items, "{failover} {answered}: {:?}", group.hosts[1].notices);
    }
}

#[test]
fn an_instance_whose_registration_is_not_answered_says_once_what_it_drops() {
    for lost in [Lost::AfterItWasApplied, Lost::BeforeItArrived] {
        let configuration = every_five(1);
        let mut group = Group::settled(1, &configuration);
        group.kill(0);
        group.trigger(0);
        let next = group.start("10.0.0.1", &configuration);
        group.hosts[next].lost = lost;
        group.connect_anew(next);
        group.run_until(8_000);
        group.disconnect(next);
        group.connect(next);
        group.run_until(20_000);
        let is_told = |notice: &&Notice| matches!(notice, Notice::TriggerDropped { .. });
        assert_eq!(group.hosts[next].notices.iter().filter(is_told).count(), 1, "{:?}", group.hosts[next].notices);
    }
}
