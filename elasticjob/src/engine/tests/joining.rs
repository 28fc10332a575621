//! Fires that come while an instance joins.

use std::time::Duration;

use super::group::{EPOCH, Group, Lost, every_five, job};
use crate::config::{JobConfiguration, wire};
use crate::engine::{Event, Notice};
use crate::fire::Fire;
use crate::job_status::Activity;
use crate::registry::layout::JobPath;
use crate::registry::{CreateMode, Transaction};

fn fires(group: &Group, host: usize) -> Vec<Fire> {
    group.starts(host).into_iter().map(|(fire, _, _)| fire).collect()
}

/// A group of one whose items are given to an instance that joins at this time, in milliseconds, and not begun before.
fn joined_at(at: u64, joins: &JobConfiguration) -> Group {
    let mut group = Group::settled(1, &every_five(1));
    // Its owner does not come to the fire.
    group.disconnect(0);
    group.run_until(at);
    group.join("10.0.0.2", joins);
    let mut moves = Transaction::new();
    moves.set(JobPath::owner_of(0).absolute(&job()), "10.0.0.2@-@7", None);
    group.operate(&moves, false);
    group
}

#[test]
fn a_fire_that_its_owner_did_not_come_to_is_begun_by_who_joined_right_after_it() {
    let group = joined_at(5_300, &every_five(1));
    assert_eq!(fires(&group, 1), [Fire::Scheduled(EPOCH + 5_000)]);
}

#[test]
fn so_is_one_that_came_longer_before() {
    let group = joined_at(9_300, &every_five(1));
    assert_eq!(fires(&group, 1), [Fire::Scheduled(EPOCH + 5_000)]);
}

/// An instance that joins right before the fire at 15 seconds, and waits for its items when that comes. Whether the
/// fire at 10 seconds was begun by the owner of before.
fn waits_for_items_over_a_fire(before_is_begun: bool) -> Group {
    let mut group = Group::settled(1, &every_five(1));
    for at in [5_000, 10_000].into_iter().take(if before_is_begun { 2 } else { 1 }) {
        group.run_until(at);
        group.end_items(0, &[0]);
    }
    // The leader is to share the items, and is cut off.
    group.disconnect(0);
    group.run_until(14_700);
    let mut asks = Transaction::new();
    asks.create("/job/leader/sharding/necessary", "", CreateMode::Persistent);
    group.operate(&asks, true);
    group.join("10.0.0.2", &every_five(1));
    group.run_until(15_000);
    group
}

#[test]
fn an_instance_that_joins_right_before_a_fire_does_not_take_the_one_before_for_missed() {
    let group = waits_for_items_over_a_fire(true);
    let skipped = |notice: &&Notice| matches!(notice, Notice::Skipped { .. });
    assert_eq!(group.hosts[1].notices.iter().find(skipped), None);
}

#[test]
fn what_nobody_began_of_the_one_before_is_said_when_the_next_one_begins() {
    let mut group = waits_for_items_over_a_fire(false);
    let mut moves = Transaction::new();
    moves.set(JobPath::owner_of(0).absolute(&job()), "10.0.0.2@-@7", None);
    moves.delete("/job/leader/sharding/necessary", None);
    group.operate(&moves, false);
    assert_eq!(fires(&group, 1), [Fire::Scheduled(EPOCH + 15_000)]);
    let (from, before) = (EPOCH + 10_000, EPOCH + 15_000);
    let told = Notice::NotBegun { items: vec![0], from, before };
    assert!(group.hosts[1].notices.contains(&told), "{:?}", group.hosts[1].notices);
}

#[test]
fn a_time_that_was_none_by_the_schedule_before_is_no_fire() {
    let other = JobConfiguration::builder("job", 1).cron("4/5 * * * * ?").overwrite(true).build().unwrap();
    let group = joined_at(4_500, &other);
    assert_eq!(fires(&group, 1), []);
}

#[test]
fn a_group_that_starts_right_after_a_fire_does_not_run_it() {
    let mut group = Group::new();
    group.run_until(5_200);
    let mut foreign = Transaction::new();
    for (path, data) in [(JobPath::Root, String::new()), (JobPath::Config, wire::to_yaml(&every_five(1)))] {
        foreign.create(path.absolute(&job()), data, CreateMode::Persistent);
    }
    group.operate(&foreign, true);
    group.join("10.0.0.1", &every_five(1));
    assert_eq!(fires(&group, 0), []);
}

/// A group whose configuration in the registry is this text, before an instance joined.
fn stored(text: &str) -> Group {
    let mut group = Group::new();
    let mut before = Transaction::new();
    for (path, data) in [(JobPath::Root, ""), (JobPath::Config, text)] {
        before.create(path.absolute(&job()), data, CreateMode::Persistent);
    }
    group.operate(&before, true);
    group
}

const BAD: &str = "jobName: job\ncron: nonsense\nshardingTotalCount: 1\n";

#[test]
fn an_instance_joins_when_the_configuration_that_kept_it_out_is_mended() {
    let mut group = stored(BAD);
    let host = group.join("10.0.0.1", &every_five(1));
    let waits = |group: &Group| -> Vec<String> {
        let why = |notice: &Notice| match notice {
            Notice::WaitsForConfiguration { why } => Some(why.clone()),
            _ => None,
        };
        group.hosts[host].notices.iter().filter_map(why).collect()
    };
    assert!(matches!(&waits(&group)[..], [why] if why.contains("'nonsense'")), "{:?}", waits(&group));
    group.run_until(20_000);
    assert_eq!(waits(&group).len(), 1, "it is told once");
    let status = group.hosts[host].engine.status();
    assert_eq!(status.activity, Activity::Joining);
    assert!(status.refused_configuration.is_some_and(|why| why.contains("'nonsense'")));
    assert_eq!(group.text(&JobPath::Instance(status.instance.clone())), None);

    group.set(&JobPath::Config, "jobName: job\nshardingTotalCount: 0\n");
    assert_eq!(waits(&group).len(), 2, "another mistake is told, too");
    group.set(&JobPath::Config, &wire::to_yaml(&every_five(1)));
    assert!(group.text(&JobPath::Instance(status.instance)).is_some());
    assert_eq!(group.hosts[host].engine.status().refused_configuration, None);
    group.run_until(25_000);
    assert_eq!(fires(&group, host), [Fire::Scheduled(EPOCH + 25_000)]);
}

#[test]
fn what_keeps_an_instance_out_goes_with_its_node_and_is_replaced_by_overwrite() {
    let mut group = stored(BAD);
    let host = group.join("10.0.0.1", &every_five(1));
    let mut removed = Transaction::new();
    removed.delete(JobPath::Config.absolute(&job()), None);
    group.operate(&removed, false);
    assert_eq!(group.hosts[host].engine.status().activity, Activity::Idle);

    let mut group = stored(BAD);
    let overwrites = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").overwrite(true).build().unwrap();
    let host = group.join("10.0.0.1", &overwrites);
    assert_eq!(group.hosts[host].engine.status().activity, Activity::Idle);
}

#[test]
fn an_instance_that_waits_for_a_configuration_can_leave() {
    let mut group = stored(BAD);
    let host = group.join("10.0.0.1", &every_five(1));
    group.tell(host, Event::Shutdown { grace: Duration::from_secs(1) });
    assert!(group.hosts[host].engine.is_stopped());
}

/// The state of the server of an instance at its start: without a mark before, and with one of an operator.
fn server_at_start(program: bool, registry: Option<bool>, overwrite: bool) -> [String; 2] {
    let of = |disabled| JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").disabled(disabled);
    [None, Some("DISABLED")].map(|mark| {
        let mut group = Group::new();
        let mut before = Transaction::new();
        let create = |before: &mut Transaction, path: JobPath, data: String| {
            before.create(path.absolute(&job()), data, CreateMode::Persistent);
        };
        create(&mut before, JobPath::Root, String::new());
        if let Some(disabled) = registry {
            create(&mut before, JobPath::Config, wire::to_yaml(&of(disabled).build().unwrap()));
        }
        let server = JobPath::Server("10.0.0.1".into());
        if let Some(mark) = mark {
            create(&mut before, JobPath::Servers, String::new());
            create(&mut before, server.clone(), mark.to_owned());
        }
        group.operate(&before, true);
        group.join("10.0.0.1", &of(program).overwrite(overwrite).build().unwrap());
        group.text(&server).unwrap()
    })
}

#[test]
fn a_server_is_disabled_at_the_start_by_its_program_or_the_registry_and_enabled_by_neither() {
    for (program, registry, overwrite, disabled) in [
        (false, None, false, false),
        (true, None, false, true),
        (true, Some(false), false, true),
        (true, Some(false), true, true),
        (false, Some(true), false, true),
        // The value in the registry is replaced.
        (false, Some(true), true, false),
        (false, Some(false), false, false),
    ] {
        let expected = if disabled { "DISABLED" } else { "ENABLED" };
        let found = server_at_start(program, registry, overwrite);
        assert_eq!(found, [expected, "DISABLED"], "{program} {registry:?} {overwrite}");
    }
}

#[test]
fn an_instance_that_leaves_before_it_heard_of_its_registration_leaves_nothing() {
    let mut group = stored(BAD);
    let host = group.join("10.0.0.1", &every_five(1));
    group.hosts[host].lost = Lost::AfterItWasApplied;
    group.set(&JobPath::Config, &wire::to_yaml(&every_five(1)));
    let node = JobPath::Instance(group.hosts[host].engine.instance().clone());
    assert!(group.exists(&node) && !group.hosts[host].engine.is_registered());
    group.tell(host, Event::Shutdown { grace: Duration::ZERO });
    group.run_until(3_000);
    // Its session goes on with other jobs.
    assert!(group.hosts[host].stopped && !group.exists(&node));
}
