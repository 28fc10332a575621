//! Engines beside Java instances, which leave nodes out, leave them behind or take them away. The operator of the group
//! writes for the Java instances.

use super::group::{EPOCH, Group, job};
use crate::config::{JobConfiguration, wire};
use crate::fire::{ExecutionSource, Fire};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::instance_yaml;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, Transaction};

const JAVA: &str = "10.0.0.9@-@1";

fn every_five(total: u32, failover: bool) -> JobConfiguration {
    JobConfiguration::builder("job", total).cron("0/5 * * * * ?").failover(failover).build().unwrap()
}

fn write(group: &mut Group, unheard: bool, ops: impl FnOnce(&mut Transaction)) {
    let mut transaction = Transaction::new();
    ops(&mut transaction);
    group.operate(&transaction, unheard);
}

fn java_node() -> String {
    JobPath::Instance(JAVA.parse().unwrap()).absolute(&job())
}

fn java_registers(group: &mut Group, unheard: bool) {
    let id: InstanceId = JAVA.parse().unwrap();
    write(group, unheard, |java| {
        java.create(java_node(), instance_yaml(&id), CreateMode::Ephemeral);
    });
}

fn java_dies(group: &mut Group) {
    write(group, false, |java| {
        java.delete(java_node(), None);
    });
}

fn java_marks(group: &mut Group, item: ShardingItem) {
    write(group, false, |java| {
        java.create(JobPath::running(item).absolute(&job()), JAVA, CreateMode::Persistent);
    });
}

fn java_unmarks(group: &mut Group, item: ShardingItem) {
    write(group, false, |java| {
        java.delete(JobPath::running(item).absolute(&job()), None);
    });
}

/// Two instances of this implementation and a Java leader, which does nothing.
fn led_by_java(total: u32, failover: bool) -> Group {
    let mut group = Group::settled(2, &every_five(total, failover));
    java_registers(&mut group, false);
    write(&mut group, false, |java| {
        let leader = JobPath::LeaderInstance.absolute(&job());
        java.delete(leader.clone(), None);
        java.create(leader, JAVA, CreateMode::Ephemeral);
    });
    group
}

fn items(group: &Group, host: usize) -> Vec<ShardingItem> {
    group.starts(host).into_iter().flat_map(|(_, _, items)| items).collect()
}

/// The host that runs item 0, and the other one.
fn runner_and_other(group: &Group) -> (usize, usize) {
    let runner = (0..2).find(|host| items(group, *host).contains(&0)).unwrap();
    (runner, 1 - runner)
}

fn moves(group: &mut Group, item: ShardingItem, to: &str) {
    group.set(&JobPath::owner_of(item), to);
}

#[test]
fn a_run_whose_mark_was_taken_away_is_not_begun_beside_it() {
    let mut group = led_by_java(2, true);
    group.run_until(5_000);
    let (runner, other) = runner_and_other(&group);
    group.end_items(other, &[1]);
    java_unmarks(&mut group, 0);
    let new_owner = group.hosts[other].engine.instance().to_string();
    moves(&mut group, 0, &new_owner);
    group.run_until(14_000);
    assert_eq!(items(&group, other), [1, 1], "the record tells that item 0 runs in a live session");
    group.end_items(other, &[1]);
    group.end_items(runner, &[0]);
    group.run_until(15_100);
    assert_eq!(items(&group, other).last(), Some(&0));
}

#[test]
fn a_run_that_a_java_peer_lost_waits_for_ours_beside_which_it_began() {
    let mut group = led_by_java(1, true);
    group.run_until(5_000);
    let (runner, other) = runner_and_other(&group);
    java_unmarks(&mut group, 0);
    java_marks(&mut group, 0);
    java_dies(&mut group);
    group.run_until(9_500);
    assert!(items(&group, other).is_empty());
    group.hosts[runner].clear();
    group.end_items(runner, &[0]);
    group.run_until(12_700);
    let taken: Vec<_> = [runner, other].into_iter().flat_map(|host| group.starts(host)).collect();
    assert_eq!(taken, [(Fire::Scheduled(EPOCH + 5_000), ExecutionSource::Failover, vec![0])]);
}

#[test]
fn a_java_instance_that_made_its_node_anew_keeps_its_run() {
    for is_back in [false, true] {
        let mut group = led_by_java(1, true);
        java_marks(&mut group, 0);
        java_dies(&mut group);
        group.run_until(6_000);
        if is_back {
            // No watch has reported it yet: the takeover itself has to find out.
            java_registers(&mut group, true);
        }
        group.run_until(9_000);
        let taken = (0..2).any(|host| items(&group, host).contains(&0));
        assert_eq!(taken, !is_back);
    }
}

#[test]
fn whoever_misses_an_owner_for_long_asks_the_java_leader_again() {
    let mut group = led_by_java(2, false);
    moves(&mut group, 0, "10.0.0.8@-@1");
    group.run_until(34_900);
    assert!(!group.exists(&JobPath::Necessary));
    group.run_until(36_000);
    assert!(group.exists(&JobPath::Necessary));
}

#[test]
fn marks_of_the_dead_that_a_java_leader_leaves_there_are_swept_up_a_little_later() {
    let mut group = led_by_java(2, false);
    // So that no instance begins the item over its mark.
    moves(&mut group, 0, "10.0.0.8@-@1");
    let dead = JobPath::Instance("10.0.0.8@-@1".parse().unwrap()).absolute(&job());
    write(&mut group, false, |java| {
        java.create(dead.clone(), "", CreateMode::Persistent);
        java.create(JobPath::running(0).absolute(&job()), "10.0.0.8@-@1", CreateMode::Persistent);
    });
    group.run_until(4_200);
    write(&mut group, false, |java| {
        java.delete(dead, None);
    });
    group.run_until(14_100);
    assert!(group.exists(&JobPath::running(0)), "a leader of ours would have done it at once");
    group.run_until(14_300);
    assert!(!group.exists(&JobPath::running(0)));
}

#[test]
fn a_dead_mark_is_swept_up_while_the_item_runs_unmonitored() {
    let unmonitored = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").monitor_execution(false);
    let mut group = Group::settled(1, &unmonitored.build().unwrap());
    java_registers(&mut group, false);
    java_marks(&mut group, 0);
    group.run_until(5_000);
    assert_eq!(items(&group, 0), [0]);
    java_dies(&mut group);
    assert!(!group.exists(&JobPath::running(0)));
}

#[test]
fn a_dead_mark_beyond_the_total_count_is_swept_up_unless_the_item_comes_back_before() {
    for (then, taken) in [(None, false), (Some(every_five(1, false)), false), (Some(every_five(2, true)), true)] {
        let mut group = led_by_java(2, true);
        group.set(&JobPath::Config, &wire::to_yaml(&every_five(1, true)));
        write(&mut group, false, |java| {
            java.create(JobPath::running(1).absolute(&job()), "10.0.0.8@-@1", CreateMode::Persistent);
        });
        group.run_until(6_000);
        if let Some(configuration) = &then {
            group.set(&JobPath::Config, &wire::to_yaml(configuration));
        }
        group.run_until(19_500);
        let is_taken = |(_, source, items): &(Fire, ExecutionSource, Vec<ShardingItem>)| {
            *source == ExecutionSource::Failover && *items == [1]
        };
        assert_eq!((0..2).any(|host| group.starts(host).iter().any(is_taken)), taken);
        assert_eq!(group.exists(&JobPath::running(1)), taken);
    }
}

#[test]
fn what_a_java_leader_began_to_assign_and_did_not_end_is_assigned_anew() {
    let mut group = Group::settled(2, &every_five(2, false));
    write(&mut group, false, |java| {
        java.create(JobPath::Processing.absolute(&job()), "", CreateMode::Persistent);
    });
    assert!(!group.exists(&JobPath::Processing));
    assert!(group.owners(2).iter().all(Option::is_some));
}

#[test]
fn an_own_server_that_a_java_peer_took_for_an_offline_one_is_made_anew() {
    let mut group = led_by_java(1, false);
    let server = JobPath::Server("10.0.0.1".into());
    write(&mut group, false, |java| {
        java.delete(server.absolute(&job()), None);
    });
    assert_eq!(group.text(&server).as_deref(), Some("ENABLED"));
}

#[test]
fn a_dead_mark_does_not_keep_a_java_peer_from_the_item_that_it_took() {
    let mut group = Group::settled(2, &every_five(1, true));
    java_registers(&mut group, false);
    write(&mut group, false, |java| {
        java.create(JobPath::Item(0, ItemNode::Failover).absolute(&job()), JAVA, CreateMode::Ephemeral);
    });
    write(&mut group, false, |java| {
        java.create(JobPath::running(0).absolute(&job()), "10.0.0.8@-@1", CreateMode::Persistent);
    });
    assert!(!group.exists(&JobPath::running(0)));
    java_marks(&mut group, 0);
    group.run_until(9_000);
    assert_eq!(group.text(&JobPath::running(0)).as_deref(), Some(JAVA));
}

#[test]
fn fires_wait_for_a_leader_that_waits_for_the_end_of_runs_only_where_it_is_of_java() {
    let configuration = JobConfiguration::builder("job", 2).cron("0/5 * * * * ?").misfire(false).build().unwrap();
    for (is_java, begins_at) in [(true, 54_000), (false, 25_000)] {
        let mut group = Group::settled(2, &configuration);
        let id: InstanceId = JAVA.parse().unwrap();
        let node = instance_yaml(&id);
        let node = if is_java { node.replace("# elasticjob for Rust\n", "") } else { node };
        write(&mut group, false, |other| {
            let leader = JobPath::LeaderInstance.absolute(&job());
            other.create(java_node(), node, CreateMode::Ephemeral);
            other.delete(leader.clone(), None);
            other.create(leader, JAVA, CreateMode::Ephemeral);
            other.create(JobPath::Necessary.absolute(&job()), "", CreateMode::Persistent);
        });
        // These fires waited for some seconds, and runs of theirs go on.
        group.run_until(24_900);
        for host in 0..2 {
            let running = items(&group, host);
            group.end_items(host, &running);
            group.hosts[host].clear();
        }
        group.run_until(begins_at - 10);
        assert!((0..2).all(|host| items(&group, host).is_empty()), "by Java: {is_java}");
        group.run_until(begins_at + 10);
        assert!((0..2).all(|host| items(&group, host).len() == 1), "by Java: {is_java}");
    }
}
