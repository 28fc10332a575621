//! The leader looks at everything again, and finds what is wrong.

use super::group::{Group, every_five, job};
use crate::config::{JobConfiguration, wire};
use crate::engine::{Event, Notice};
use crate::registry::layout::JobPath;
use crate::registry::{CreateMode, Transaction};

fn every_minutes(minutes: i32) -> JobConfiguration {
    let builder = JobConfiguration::builder("job", 2).cron("0 0 0 1 1 ?");
    builder.reconcile_interval_minutes(minutes).build().unwrap()
}

/// Another client writes, and no watch reports it.
fn unheard(group: &mut Group, write: impl FnOnce(&mut Transaction)) {
    let mut transaction = Transaction::new();
    write(&mut transaction);
    group.operate(&transaction, true);
}

fn damaged(minutes: i32) -> Group {
    let mut group = Group::settled(2, &every_minutes(minutes));
    unheard(&mut group, |transaction| {
        transaction.delete(JobPath::owner_of(1).absolute(&job()), None);
        transaction.create(JobPath::running(0).absolute(&job()), "10.0.0.9@-@1", CreateMode::Persistent);
    });
    group
}

#[test]
fn what_no_watch_told_of_is_repaired_at_the_interval() {
    let mut group = damaged(1);
    group.run_until(90_000);
    assert!(group.text(&JobPath::owner_of(1)).is_some());
    assert!(!group.exists(&JobPath::running(0)), "a mark of an instance that does not exist");
    assert!(group.hosts.iter().any(|host| host.notices.contains(&Notice::Reconciling)));
}

#[test]
fn it_goes_on_at_every_interval_and_costs_no_write_when_nothing_is_wrong() {
    let mut group = Group::settled(3, &every_minutes(1));
    group.run_until(600_000);
    let times: usize = group.hosts.iter().map(|host| count(&host.notices)).sum();
    assert!((9..=11).contains(&times), "{times}");
    assert!(group.hosts.iter().all(|host| host.commits.is_empty()));
}

fn count(notices: &[Notice]) -> usize {
    notices.iter().filter(|notice| **notice == Notice::Reconciling).count()
}

#[test]
fn below_one_it_is_switched_off() {
    for minutes in [0, -1] {
        let mut group = damaged(minutes);
        group.run_until(3_600_000);
        assert_eq!(group.text(&JobPath::owner_of(1)), None);
    }
}

#[test]
fn a_fire_that_has_come_is_looked_at_before_everything_is_listed() {
    // It is due after 50.5 s, and the fire 52 s after the start.
    let configuration = JobConfiguration::builder("job", 1).cron("12 * * * * ?").reconcile_interval_minutes(1);
    let mut group = Group::settled(1, &configuration.build().unwrap());
    group.sleep_until(52_000);
    group.tell(0, Event::Tick);
    let told = |is: fn(&Notice) -> bool| group.hosts[0].notices.iter().position(is);
    let begun = told(|notice| matches!(notice, Notice::Begun { .. }));
    let reconciling = told(|notice| *notice == Notice::Reconciling);
    assert!(begun.is_some() && begun < reconciling, "{:?}", group.hosts[0].notices);
}

#[test]
fn a_new_leader_looks_at_its_first_fire_before_it_lists_everything() {
    let configuration = JobConfiguration::builder("job", 2).cron("0 * * * * ?").reconcile_interval_minutes(1);
    let mut group = Group::settled(2, &configuration.build().unwrap());
    for at in [41_000, 101_000] {
        group.run_until(at);
        let owners = group.owners(2);
        (0..).zip(owners).for_each(|(item, owner)| group.end_items(owner.unwrap(), &[item]));
    }
    group.run_until(159_000);
    let leader = group.hosts.iter().position(|host| host.engine.status().leader).unwrap();
    let other = 1 - leader;
    group.hosts[other].notices.clear();
    // The session of the leader ends just after the fire. The time to reconcile lies long back by then.
    group.sleep_until(160_200);
    group.kill(leader);
    group.run_until(165_000);
    let told = |is: fn(&Notice) -> bool| group.hosts[other].notices.iter().position(is);
    let begun = told(|notice| matches!(notice, Notice::Begun { .. }));
    let reconciling = told(|notice| *notice == Notice::Reconciling);
    assert!(told(|notice| matches!(notice, Notice::Elected)).is_some() && begun.is_some());
    assert!(reconciling.is_none_or(|at| begun < Some(at)), "{:?}", group.hosts[other].notices);
}

#[test]
fn an_instance_that_goes_by_an_older_total_count_asks_for_no_items_that_are_gone() {
    let mut group = Group::settled(2, &every_five(3));
    group.disconnect(1);
    group.set(&JobPath::Config, &wire::to_yaml(&every_five(2)));
    group.set(&JobPath::Config, "nonsense");
    group.connect(1);
    group.run_until(60_000);
    let asks = |commit: &&String| commit.contains("+leader/sharding/necessary");
    assert_eq!(group.hosts[1].commits.iter().find(asks), None);
}
