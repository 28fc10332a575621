//! Misfire, transaction by transaction.

use std::time::Duration;

use super::group::{EPOCH, Group, Lost, every_five, job};
use crate::config::{JobConfiguration, wire};
use crate::engine::{Event, Notice};
use crate::fire::{ExecutionSource, Fire, SkipReason};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, Transaction, WatchEvent};

const MISFIRE: ExecutionSource = ExecutionSource::Misfire;

fn at(second: i64) -> Fire {
    Fire::Scheduled(EPOCH + second * 1_000)
}

#[test]
fn a_fire_that_falls_into_a_running_one_is_made_up_for_at_once_after_it() {
    let mut group = Group::settled(1, &every_five(2));
    group.run_until(10_000);
    let marked = group.hosts[0].commits.last().unwrap();
    assert!(marked.contains("; +sharding/0/misfire; ") && marked.ends_with("; +sharding/1/misfire"), "{marked}");
    group.end_items(0, &[0, 1]);
    assert_eq!(group.starts(0)[1..], [(at(10), MISFIRE, vec![0, 1])]);
    let begun = group.hosts[0].commits.last().unwrap();
    assert!(begun.ends_with("; -sharding/1/misfire"), "{begun}");
    assert!(!group.exists(&JobPath::Item(0, ItemNode::Misfire)));
    group.end_items(0, &[0, 1]);
    group.run_until(15_000);
    assert_eq!(group.starts(0).len(), 3);
    assert_eq!(group.hosts[0].engine.status().fires, 2);
}

#[test]
fn several_missed_fires_collapse_to_the_latest() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(21_000);
    group.end_items(0, &[0]);
    assert_eq!(group.starts(0)[1..], [(at(20), MISFIRE, vec![0])]);
    let collapsed = |earlier: i64, into: i64| {
        let (earlier, into) = (EPOCH + earlier * 1_000, EPOCH + into * 1_000);
        group.hosts[0].notices.contains(&Notice::Collapsed { earlier, into })
    };
    assert!(collapsed(10, 15) && collapsed(15, 20), "{:?}", group.hosts[0].notices);
    group.end_items(0, &[0]);
    assert_eq!(group.hosts[0].engine.status().fires, 4);
    group.run_until(24_000);
    assert_eq!(group.starts(0).len(), 2);
}

#[test]
fn a_missed_fire_whose_place_the_next_one_takes_is_said_to_be_left_out() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(14_950);
    // The end of the run is written when the next fire is there.
    group.hosts[0].lost = Lost::BeforeItArrived;
    group.end_items(0, &[0]);
    group.run_until(16_000);
    assert_eq!(group.starts(0)[1..], [(at(15), ExecutionSource::NormalTrigger, vec![0])]);
    let collapsed = Notice::Collapsed { earlier: EPOCH + 10_000, into: EPOCH + 15_000 };
    assert_eq!(group.hosts[0].notices.iter().filter(|notice| **notice == collapsed).count(), 1);
    group.end_items(0, &[0]);
    assert_eq!(group.hosts[0].engine.status().fires, 3);
}

#[test]
fn switched_off_nothing_is_marked_and_what_was_is_cleared() {
    let off = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").misfire(false).build().unwrap();
    let mut group = Group::settled(1, &off);
    group.run_until(11_000);
    assert!(!group.exists(&JobPath::Item(0, ItemNode::Misfire)));
    group.end_items(0, &[0]);
    let mut foreign = Transaction::new();
    foreign.create("/job/sharding/0/misfire", "", CreateMode::Persistent);
    group.operate(&foreign, false);
    assert!(!group.exists(&JobPath::Item(0, ItemNode::Misfire)));
    let cleared = group.hosts[0].commits.last().unwrap();
    assert!(cleared.starts_with("?config"), "a leader that has not heard of a change clears nothing: {cleared}");
    assert_eq!(group.starts(0).len(), 1);
}

#[test]
fn the_setting_counts_that_is_in_force_when_the_run_ends() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(10_000);
    let off = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").misfire(false).build().unwrap();
    group.set(&JobPath::Config, &wire::to_yaml(&off));
    group.end_items(0, &[0]);
    assert_eq!(group.starts(0).len(), 1);
    assert!(!group.exists(&JobPath::Item(0, ItemNode::Misfire)));
}

#[test]
fn without_monitoring_it_is_made_up_for_too_and_the_registry_asked_nothing() {
    let configuration = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").monitor_execution(false);
    let mut group = Group::settled(1, &configuration.build().unwrap());
    group.run_until(10_000);
    group.end_items(0, &[0]);
    assert_eq!(group.starts(0)[1..], [(at(10), MISFIRE, vec![0])]);
    assert_eq!(group.hosts[0].commits.len(), 0);
}

#[test]
fn what_was_missed_before_monitoring_was_off_for_a_fire_is_not_made_up_for_when_it_is_on_again() {
    let edit = |group: &mut Group, configuration: &JobConfiguration| {
        let mut transaction = Transaction::new();
        transaction.set(JobPath::Config.absolute(&job()), wire::to_yaml(&configuration.for_registry(None)), None);
        group.operate(&transaction, false);
    };
    let monitored = every_five(1);
    let unmonitored = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").monitor_execution(false).build();
    let mut group = Group::settled(1, &monitored);
    group.run_until(9_000);
    // The fire of the tenth second is missed, and the registry does not hear of that.
    group.disconnect(0);
    group.run_until(10_500);
    edit(&mut group, &unmonitored.unwrap());
    group.connect(0);
    group.end_items(0, &[0]);
    group.run_until(15_500);
    group.end_items(0, &[0]);
    edit(&mut group, &monitored);
    group.run_until(19_000);
    let fires: Vec<Fire> = group.starts(0).into_iter().map(|(fire, ..)| fire).collect();
    assert_eq!(fires, [at(5), at(15)], "{:?}", group.hosts[0].notices);
    let collapsed = Notice::Collapsed { earlier: EPOCH + 10_000, into: EPOCH + 15_000 };
    assert!(group.hosts[0].notices.contains(&collapsed), "{:?}", group.hosts[0].notices);
}

#[test]
fn an_item_that_another_instance_still_runs_is_made_up_for_by_its_owner() {
    let mut group = Group::settled(1, &every_five(1));
    let mut foreign = Transaction::new();
    foreign.create("/job/sharding/0/running", "10.0.0.9@-@1", CreateMode::Ephemeral);
    group.operate(&foreign, false);
    group.run_until(6_000);
    assert_eq!(group.starts(0), []);
    assert!(group.exists(&JobPath::Item(0, ItemNode::Misfire)));
    let mut ends = Transaction::new();
    ends.delete("/job/sharding/0/running", None);
    group.operate(&ends, false);
    assert_eq!(group.starts(0), [(at(5), MISFIRE, vec![0])]);
}

#[test]
fn an_item_that_became_free_before_the_fire_was_looked_at_is_made_up_for_right_after_the_look() {
    let mut group = Group::settled(1, &every_five(2));
    let mut foreign = Transaction::new();
    foreign.create("/job/sharding/0/running", "10.0.0.9@-@1", CreateMode::Ephemeral);
    group.operate(&foreign, false);
    // The begin of item 1 goes astray. Before it is tried again, another instance has begun it, and item 0 is free.
    group.hosts[0].lost = Lost::BeforeItArrived;
    group.run_until(5_000);
    assert_eq!(group.starts(0), []);
    let mut meanwhile = Transaction::new();
    meanwhile.set("/job/sharding/1/fire", format!("{{\"through\":{}}}", EPOCH + 5_000), None);
    meanwhile.delete("/job/sharding/0/running", None);
    group.operate(&meanwhile, false);
    group.run_until(6_000);
    assert_eq!(group.starts(0), [(at(5), MISFIRE, vec![0])]);
}

#[test]
fn a_fire_that_falls_into_the_last_run_of_a_leaving_instance_is_made_up_for_by_its_successor() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(5_000);
    group.tell(0, Event::Shutdown { grace: Duration::from_secs(20) });
    group.run_until(10_000);
    let reason = SkipReason::StillRunning { since: at(5) };
    let skipped = Notice::Skipped { fire: at(10), items: vec![], reason };
    assert!(group.hosts[0].notices.contains(&skipped), "{:?}", group.hosts[0].notices);
    let successor = group.join("10.0.0.2", &every_five(1));
    group.end_items(0, &[0]);
    assert!(group.hosts[0].stopped);
    assert_eq!(group.starts(successor), [(at(10), MISFIRE, vec![0])]);
}

#[test]
fn fires_missed_while_the_process_was_stopped_are_no_misfire() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(5_000);
    group.end_items(0, &[0]);
    group.disconnect(0);
    group.run_until(11_000);
    group.connect(0);
    group.run_until(12_000);
    assert!(group.starts(0).iter().all(|(_, source, _)| *source == ExecutionSource::NormalTrigger));
    assert!(!group.hosts[0].notices.iter().any(|notice| matches!(notice, Notice::Collapsed { .. })));
    assert!(!group.exists(&JobPath::Item(0, ItemNode::Misfire)));
}

/// A fire is open for items that move for no longer than half of that.
fn every_twenty(total: u32) -> JobConfiguration {
    JobConfiguration::builder("job", total).cron("0/20 * * * * ?").build().unwrap()
}

/// Another instance comes, which never runs anything.
fn idle_one_comes(group: &mut Group) {
    let mut foreign = Transaction::new();
    let node = "jobInstanceId: 10.0.0.9@-@1\nserverIp: 10.0.0.9\n";
    foreign.create("/job/servers/10.0.0.9", "ENABLED", CreateMode::Persistent);
    foreign.create("/job/instances/10.0.0.9@-@1", node, CreateMode::Ephemeral);
    group.operate(&foreign, false);
}

fn idle_one_goes(group: &mut Group) {
    let mut foreign = Transaction::new();
    foreign.delete("/job/instances/10.0.0.9@-@1", None);
    group.operate(&foreign, false);
}

/// Three items shared with an instance that never runs anything, at the fire that falls into the run of the other
/// instance; and the items that this other instance runs.
fn busy_beside_an_idle_one() -> (Group, Vec<u32>) {
    let mut group = Group::settled(1, &every_twenty(3));
    idle_one_comes(&mut group);
    group.run_until(40_000);
    let own = group.starts(0)[0].2.clone();
    (group, own)
}

#[test]
fn an_item_that_moves_to_a_busy_instance_right_after_the_fire_is_made_up_for_too() {
    let (mut group, own) = busy_beside_an_idle_one();
    idle_one_goes(&mut group);
    assert_eq!(group.owners(3), [Some(0); 3]);
    group.end_items(0, &own);
    assert_eq!(group.starts(0)[1..], [(at(40), MISFIRE, vec![0, 1, 2])]);
    assert!(!group.hosts[0].notices.iter().any(|notice| matches!(notice, Notice::Collapsed { .. })));
}

#[test]
fn an_item_that_moves_to_a_busy_instance_after_it_was_begun_is_not_made_up_for() {
    let (mut group, own) = busy_beside_an_idle_one();
    let others: Vec<u32> = (0..3).filter(|item| !own.contains(item)).collect();
    for item in &others {
        let record = format!("{{\"through\":{}}}", EPOCH + 40_000);
        let mut foreign = Transaction::new();
        match group.text(&JobPath::fire(*item)) {
            Some(_) => foreign.set(format!("/job/sharding/{item}/fire"), record, None),
            None => foreign.create(format!("/job/sharding/{item}/fire"), record, CreateMode::Persistent),
        };
        group.operate(&foreign, false);
    }
    idle_one_goes(&mut group);
    group.end_items(0, &own);
    assert_eq!(group.starts(0)[1..], [(at(40), MISFIRE, own)]);
    assert!(others.iter().all(|item| !group.exists(&JobPath::Item(*item, ItemNode::Misfire))));
}

/// The fire of a run that goes on comes again, as the clock was set back, and other items have moved there meanwhile, or
/// move there after the run. Returns the group, the items of the run, and the other ones.
fn comes_again_into_its_own_run(misfire: bool, after_the_run: bool) -> (Group, Vec<u32>, Vec<u32>) {
    let configuration = JobConfiguration::builder("job", 3).cron("0/20 * * * * ?").max_time_diff_seconds(60);
    let mut group = Group::settled(1, &configuration.misfire(misfire).build().unwrap());
    idle_one_comes(&mut group);
    group.run_until(20_000);
    let own = group.starts(0)[0].2.clone();
    let others: Vec<u32> = (0..3).filter(|item| !own.contains(item)).collect();
    group.clock_offset = -3_600_000;
    group.run_until(21_000);
    if !after_the_run {
        idle_one_goes(&mut group);
    }
    // After the leap the session is proven again, and then the fire comes again.
    group.clock_offset = -1_100;
    group.tell(0, Event::Tick);
    group.run_until(22_000);
    if after_the_run {
        group.end_items(0, &own);
        idle_one_goes(&mut group);
        group.run_until(23_000);
    }
    (group, own, others)
}

#[test]
fn a_fire_that_comes_again_into_its_own_run_is_begun_for_items_that_move_there() {
    for (misfire, after_the_run) in [(true, false), (true, true), (false, false), (false, true)] {
        let (mut group, own, others) = comes_again_into_its_own_run(misfire, after_the_run);
        let begun = (at(20), ExecutionSource::NormalTrigger, others.clone());
        assert_eq!(group.starts(0)[1..], [begun], "misfire {misfire}, after the run {after_the_run}");
        group.end_items(0, if after_the_run { &others } else { &[0, 1, 2] });
        group.run_until(42_000);
        assert_eq!(group.starts(0)[2..], [(at(40), ExecutionSource::NormalTrigger, vec![0, 1, 2])], "{own:?}");
        let skipped = |notice: &&Notice| matches!(notice, Notice::Skipped { fire, .. } if *fire == at(20));
        assert_eq!(group.hosts[0].notices.iter().filter(skipped).count(), 0, "{:?}", group.hosts[0].notices);
    }
}

#[test]
fn an_instance_that_leaves_while_its_fire_comes_again_leaves_when_its_run_ends() {
    let configuration = JobConfiguration::builder("job", 1).cron("0/20 * * * * ?").max_time_diff_seconds(60);
    let mut group = Group::settled(1, &configuration.build().unwrap());
    group.run_until(20_000);
    group.clock_offset = -3_600_000;
    group.run_until(21_000);
    group.tell(0, Event::Shutdown { grace: Duration::from_secs(20) });
    group.clock_offset = -1_100;
    group.tell(0, Event::Tick);
    group.run_until(22_000);
    group.end_items(0, &[0]);
    assert!(group.hosts[0].stopped && !group.hosts[0].notices.contains(&Notice::LeftUnanswered));
    assert!(!group.exists(&JobPath::running(0)));
}

#[test]
fn marks_stay_while_the_configuration_cannot_be_used() {
    let off = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").misfire(false).build().unwrap();
    let mut group = Group::settled(1, &off);
    group.set(&JobPath::Config, "nonsense");
    let mut foreign = Transaction::new();
    foreign.create("/job/sharding/0/misfire", "", CreateMode::Persistent);
    group.operate(&foreign, false);
    assert!(group.exists(&JobPath::Item(0, ItemNode::Misfire)), "another instance may go by one with misfire on");
    group.set(&JobPath::Config, &wire::to_yaml(&off));
    assert!(!group.exists(&JobPath::Item(0, ItemNode::Misfire)));
}

#[test]
fn a_process_that_stood_still_asks_which_items_are_disabled_before_it_leaves_one_out() {
    let mut group = Group::settled(1, &every_five(2));
    let disabled = JobPath::Item(1, ItemNode::Disabled).absolute(&job());
    let mut operator = Transaction::new();
    operator.create(disabled.clone(), "", CreateMode::Persistent);
    group.operate(&operator, false);
    group.run_until(6_000);
    assert_eq!(group.starts(0), [(at(5), ExecutionSource::NormalTrigger, vec![0])]);
    let mut operator = Transaction::new();
    operator.delete(disabled, None);
    group.operate(&operator, true);
    group.hosts[0].connected = false;
    group.sleep_until(21_000);
    group.tell(0, Event::Tick);
    group.disconnect(0);
    // The watch is read before the session.
    group.tell(0, Event::Watch(WatchEvent::Gap));
    group.connect(0);
    group.end_items(0, &[0]);
    group.run_until(21_900);
    assert_eq!(group.starts(0)[1..], [(at(20), MISFIRE, vec![0, 1])]);
}

#[test]
fn a_missed_fire_of_a_disabled_item_is_said_to_be_decided_against_once_also_where_the_answer_is_lost() {
    for lost in [Lost::No, Lost::AfterItWasApplied, Lost::BeforeItArrived] {
        let mut group = Group::settled(1, &every_five(2));
        group.run_until(11_000);
        assert!(group.exists(&JobPath::Item(1, ItemNode::Misfire)));
        group.hosts[0].lost = lost;
        let mut operator = Transaction::new();
        operator.create(JobPath::Item(1, ItemNode::Disabled).absolute(&job()), "", CreateMode::Persistent);
        group.operate(&operator, false);
        group.run_until(14_000);
        assert!(!group.exists(&JobPath::Item(1, ItemNode::Misfire)));
        let told = |notice: &&Notice| matches!(notice, Notice::Skipped { fire, reason: SkipReason::ItemDisabled, .. } if *fire == at(10));
        assert_eq!(group.hosts[0].notices.iter().filter(told).count(), 1, "{:?}", group.hosts[0].notices);
    }
}
