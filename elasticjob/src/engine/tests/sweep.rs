//! The nodes that the leader sweeps up.

use std::time::Duration;

use super::group::{Group, every_five, job};
use crate::config::{JobConfiguration, wire};
use crate::engine::{Event, Notice};
use crate::ident::InstanceId;
use crate::registry::layout::JobPath;
use crate::registry::{CreateMode, Transaction};

fn server(ip: &str) -> JobPath {
    JobPath::Server(ip.into())
}

#[test]
fn servers_without_instances_are_deleted_unless_an_operator_disabled_them() {
    let mut group = Group::settled(2, &every_five(2));
    let mut foreign = Transaction::new();
    // The first is a prefix of the second, which has an instance.
    for (ip, data) in [("10.0.0.3", "ENABLED"), ("10.0.0.4", "DISABLED"), ("10.0.0", "ENABLED")] {
        foreign.create(server(ip).absolute(&job()), data, CreateMode::Persistent);
    }
    group.operate(&foreign, false);
    assert!(group.exists(&server("10.0.0.3")), "while nobody becomes leader it is not looked for");
    let leader = (0..2).find(|host| group.hosts[*host].engine.status().leader).unwrap();
    group.kill(leader);
    group.run_until(59_000);
    assert!(group.exists(&server("10.0.0.3")), "a Java instance may be about to start there");
    group.run_until(64_500);
    assert!(!group.exists(&server("10.0.0.3")) && !group.exists(&server("10.0.0")));
    assert_eq!(group.text(&server("10.0.0.4")).as_deref(), Some("DISABLED"));
    let lives = format!("10.0.0.{}", 2 - leader);
    assert_eq!(group.text(&server(&lives)).as_deref(), Some("ENABLED"));
    let dead = format!("10.0.0.{}", leader + 1);
    assert!(!group.exists(&server(&dead)));
}

#[test]
fn a_server_that_was_swept_up_is_enabled_when_it_comes_back() {
    let mut group = Group::settled(2, &every_five(2));
    group.kill(0);
    group.run_until(64_500);
    assert!(!group.exists(&server("10.0.0.1")));
    group.join("10.0.0.1", &every_five(2));
    assert_eq!(group.text(&server("10.0.0.1")).as_deref(), Some("ENABLED"));
}

fn dropped(instance: InstanceId, items: &[u32]) -> Notice {
    Notice::TriggerDropped { instance, items: items.to_vec() }
}

#[test]
fn a_trigger_for_an_instance_that_is_gone_is_dropped_aloud() {
    let mut group = Group::settled(2, &every_five(2));
    group.run_until(5_000);
    group.tell(0, Event::Trigger(1, None));
    let leader = (0..2).find(|host| group.hosts[*host].engine.status().leader).unwrap();
    let gone = group.hosts[1 - leader].engine.instance().clone();
    let trigger = JobPath::Trigger(gone.clone());
    let items: Vec<u32> = (0..2).filter(|item| group.owners(2)[*item as usize] == Some(1 - leader)).collect();
    assert!(group.exists(&trigger), "it waits for the end of the run");
    group.kill(1 - leader);
    assert!(!group.exists(&trigger));
    assert!(group.hosts[leader].notices.contains(&dropped(gone, &items)));
}

#[test]
fn who_leaves_with_a_trigger_that_waits_says_that_it_is_dropped() {
    let mut group = Group::settled(2, &every_five(2));
    group.run_until(5_000);
    group.tell(0, Event::Trigger(1, None));
    let items: Vec<u32> = group.starts(1).into_iter().flat_map(|(_, _, items)| items).collect();
    group.tell(1, Event::Shutdown { grace: Duration::from_secs(20) });
    group.end_items(1, &items);
    let instance = group.hosts[1].engine.instance().clone();
    assert!(group.hosts[1].notices.contains(&dropped(instance, &[])));
    assert!(group.hosts[1].stopped);
}

#[test]
fn what_failover_hands_over_is_deleted_only_while_the_registry_says_that_it_is_off() {
    let off = JobConfiguration::builder("job", 1).failover(false).build().unwrap();
    let mut group = Group::settled(1, &off);
    group.set(&JobPath::Config, "nonsense");
    let mut foreign = Transaction::new();
    foreign.create("/job/leader/failover", "", CreateMode::Persistent);
    foreign.create("/job/leader/failover/items", "", CreateMode::Persistent);
    foreign.create("/job/leader/failover/items/0", "", CreateMode::Persistent);
    group.operate(&foreign, false);
    group.run_until(8_000);
    assert!(group.exists(&JobPath::FailoverItem(0)), "another instance may go by one with failover on");
    group.hosts[0].clear();
    group.set(&JobPath::Config, &wire::to_yaml(&off));
    assert!(!group.exists(&JobPath::FailoverItem(0)));
    let deleted = group.hosts[0].commits.last().unwrap();
    assert!(deleted.contains("?config"), "a leader that has not heard of a change deletes nothing: {deleted}");
}
