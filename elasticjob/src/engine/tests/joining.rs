//! Fires that come while an instance joins.

use super::group::{EPOCH, Group, every_five, job};
use crate::config::{JobConfiguration, wire};
use crate::engine::Fire;
use crate::registry::path::JobPath;
use crate::registry::{CreateMode, Transaction};

fn fires(group: &Group, host: usize) -> Vec<Fire> {
    group.starts(host).into_iter().map(|(fire, _, _)| fire).collect()
}

/// A group of one whose items are given to whoever joins at this time, in milliseconds, and not begun before.
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
