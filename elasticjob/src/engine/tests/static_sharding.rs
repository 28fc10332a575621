//! Static sharding: instances come and go, items stay.

use super::group::{EPOCH, Group, Host, every_five};
use crate::config::{JobConfiguration, wire};
use crate::engine::{Event, Notice};
use crate::fire::{Fire, SkipReason};
use crate::ident::InstanceId;
use crate::registry::layout::JobPath;
use crate::registry::{CreateMode, Transaction};

fn configuration(total: u32) -> JobConfiguration {
    let builder = JobConfiguration::builder("job", total).cron("0/5 * * * * ?").static_sharding(true);
    builder.build().unwrap()
}

fn started(host: &Host) -> Vec<u32> {
    host.started.iter().flat_map(|start| &start.items).map(|(item, _)| *item).collect()
}

/// Two instances that have shared two items at the first fire.
fn shared() -> Group {
    let mut group = Group::settled(2, &configuration(2));
    group.run_until(5_000);
    for host in 0..2 {
        let items = started(&group.hosts[host]);
        group.end_items(host, &items);
        group.hosts[host].clear();
    }
    group
}

#[test]
fn the_first_fire_assigns_to_all_that_are_there_by_then() {
    let mut group = Group::settled(2, &configuration(2));
    assert_eq!(group.owners(2), [None, None]);
    group.run_until(5_000);
    assert_eq!(group.owners(2), [Some(1), Some(0)]);
    assert_eq!((started(&group.hosts[1]), started(&group.hosts[0])), (vec![0], vec![1]));
}

#[test]
fn a_manual_trigger_is_a_first_fire_too() {
    let one_off = JobConfiguration::builder("job", 1).static_sharding(true).build().unwrap();
    let mut group = Group::settled(1, &one_off);
    assert_eq!(group.owners(1), [None]);
    group.tell(0, Event::Trigger(1, None));
    assert_eq!(started(&group.hosts[0]), [0]);
}

#[test]
fn items_stay_when_instances_come_and_when_servers_are_disabled() {
    let mut group = shared();
    group.join("10.0.0.3", &configuration(2));
    group.set(&JobPath::Server("10.0.0.2".into()), "DISABLED");
    group.run_until(10_000);
    assert_eq!(group.owners(2), [Some(1), Some(0)]);
    assert!(group.hosts.iter().flat_map(|host| &host.notices).all(|told| !matches!(told, Notice::Resharded { .. })));
}

#[test]
fn items_of_an_instance_that_is_gone_stay_with_it_and_hold_nobody_up() {
    let mut group = shared();
    group.kill(1);
    group.run_until(10_000);
    // Not 5 s later: an owner that is gone is no assignment to wait for.
    assert_eq!(started(&group.hosts[0]), [1]);
    assert_eq!(group.owners(2), [Some(1), Some(0)]);
    let owner = InstanceId::of_process("10.0.0.2", 7);
    let fire = Fire::Scheduled(EPOCH + 10_000);
    let said = Notice::Skipped { fire, items: vec![0], reason: SkipReason::OwnerGone { owner } };
    assert_eq!(group.hosts[0].notices.iter().filter(|told| **told == said).count(), 1, "{:?}", group.hosts[0].notices);
}

#[test]
fn a_new_leader_leaves_the_assignment_alone() {
    let mut group = shared();
    let leader = group.hosts.iter().position(|host| host.engine.status().leader).unwrap();
    let third = group.join("10.0.0.3", &configuration(2));
    group.kill(leader);
    group.run_until(12_000);
    assert!(group.hosts.iter().any(|host| !host.stopped && host.engine.status().leader));
    assert_eq!(group.owners(2), [Some(1), Some(0)]);
    assert_eq!(started(&group.hosts[third]), [0; 0]);
}

#[test]
fn another_total_count_or_strategy_assigns_all_items_to_who_is_there() {
    let mut group = shared();
    group.kill(1);
    group.set(&JobPath::Config, &wire::to_yaml(&configuration(3)));
    assert_eq!(group.owners(3), [Some(0); 3]);
    group.join("10.0.0.3", &configuration(3));
    assert_eq!(group.owners(3), [Some(0); 3]);
    let other = JobConfiguration::builder("job", 3).cron("0/5 * * * * ?").static_sharding(true);
    group.set(&JobPath::Config, &wire::to_yaml(&other.job_sharding_strategy_type("ODEVITY").build().unwrap()));
    assert!(group.owners(3).contains(&Some(2)), "{:?}", group.owners(3));
}

#[test]
fn without_it_again_items_are_shared_at_once() {
    let mut group = shared();
    group.kill(1);
    group.set(&JobPath::Config, &wire::to_yaml(&every_five(2)));
    assert_eq!(group.owners(2), [Some(0), Some(0)]);
}

#[test]
fn an_operator_who_asks_for_resharding_gets_it() {
    let mut group = shared();
    group.kill(1);
    let mut request = Transaction::new();
    request.create("/job/leader/sharding/necessary", "", CreateMode::Persistent);
    group.operate(&request, false);
    assert_eq!(group.owners(2), [Some(0), Some(0)]);
}
