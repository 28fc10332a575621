//! Fires that came while an item had no live owner: whoever begins the item next says so, whoever that is.

use super::super::group::{EPOCH, Group};
use super::{NORMAL, at};
use crate::config::{JobConfiguration, wire};
use crate::engine::Notice;
use crate::ident::ShardingItem;
use crate::registry::layout::JobPath;

fn every(seconds: u32, total: u32) -> JobConfiguration {
    JobConfiguration::builder("job", total).cron(format!("0/{seconds} * * * * ?")).build().unwrap()
}

/// What a host said of fires that nobody began: for which items, from which second on, and before which.
fn said(group: &Group, host: usize) -> Vec<(Vec<ShardingItem>, i64, i64)> {
    let seconds = |time: i64| (time - EPOCH) / 1_000;
    let said = group.hosts[host].notices.iter().filter_map(|notice| match notice {
        Notice::NotBegun { items, from, before } => Some((items.clone(), seconds(*from), seconds(*before))),
        _ => None,
    });
    said.collect()
}

/// Goes on until then. What a host begins at the full seconds of a fire ends at once.
fn run_until(group: &mut Group, host: usize, seconds: u64, period: u64) {
    let mut second = (group.now().mono.as_secs() / period + 1) * period;
    while second <= seconds {
        group.run_until(1_000 * second);
        let begun: Vec<ShardingItem> = group
            .starts(host)
            .into_iter()
            .filter(|(fire, ..)| *fire == at(second as i64))
            .flat_map(|(.., items)| items)
            .collect();
        if !begun.is_empty() {
            group.end_items(host, &begun);
        }
        second += period;
    }
    group.run_until(1_000 * seconds);
}

/// A process ends without a word. Another one goes on, until the session of that process ends.
fn dies(group: &mut Group, dead: usize, other: usize, seconds: u64, period: u64) {
    group.hosts[dead].killed = true;
    group.hosts[dead].connected = false;
    run_until(group, other, seconds, period);
    let session = group.hosts[dead].session;
    group.expire(session);
}

fn end_own(group: &mut Group, total: u32) {
    for host in [0, 1] {
        let own = owned(group, total, host);
        group.end_items(host, &own);
    }
}

fn owned(group: &Group, total: u32, host: usize) -> Vec<ShardingItem> {
    (0..total).filter(|item| group.owners(total)[*item as usize] == Some(host)).collect()
}

#[test]
fn the_instance_that_made_the_job_says_what_nobody_began() {
    let mut group = Group::settled(2, &every(10, 2));
    group.run_until(10_000);
    let lost = owned(&group, 2, 1);
    end_own(&mut group, 2);
    dies(&mut group, 1, 0, 45, 10);
    assert!(group.starts(0).contains(&(at(40), NORMAL, lost.clone())), "{:?}", group.starts(0));
    assert_eq!(said(&group, 0), [(lost, 20, 40)]);
}

#[test]
fn a_process_that_comes_back_as_the_same_instance_says_what_nobody_began() {
    let configuration = every(20, 1);
    let mut group = Group::settled(1, &configuration);
    group.run_until(20_000);
    group.end_items(0, &[0]);
    group.kill(0);
    group.run_until(85_000);
    let back = group.join("10.0.0.1", &configuration);
    group.run_until(86_000);
    assert_eq!(group.hosts[back].engine.instance(), group.hosts[0].engine.instance());
    assert_eq!(group.starts(back), [(at(80), NORMAL, vec![0])]);
    assert_eq!(said(&group, back), [(vec![0], 40, 80)]);
}

#[test]
fn an_item_that_was_never_begun_is_said_too() {
    let mut group = Group::settled(2, &every(20, 2));
    group.run_until(10_000);
    let lost = owned(&group, 2, 1);
    dies(&mut group, 1, 0, 65, 20);
    assert!(group.starts(0).contains(&(at(60), NORMAL, lost.clone())), "{:?}", group.starts(0));
    assert_eq!(said(&group, 0), [(lost, 20, 60)]);
}

#[test]
fn an_item_that_comes_back_to_who_began_it_last_is_said_too() {
    let configuration = every(20, 2);
    let mut group = Group::settled(1, &configuration);
    group.run_until(20_000);
    group.end_items(0, &[0, 1]);
    let second = group.join("10.0.0.2", &configuration);
    group.run_until(30_000);
    let lost = owned(&group, 2, second);
    assert_eq!(lost.len(), 1);
    dies(&mut group, second, 0, 65, 20);
    assert_eq!(said(&group, 0), [(lost, 40, 60)]);
}

#[test]
fn of_a_new_schedule_the_fires_that_nobody_began_are_said() {
    let mut group = Group::settled(2, &every(10, 2));
    group.run_until(10_000);
    let lost = owned(&group, 2, 1);
    end_own(&mut group, 2);
    (group.hosts[1].killed, group.hosts[1].connected) = (true, false);
    group.run_until(12_000);
    group.set(&JobPath::Config, &wire::to_yaml(&every(15, 2)));
    // The fires come 10, 25, 40 s after the start.
    group.run_until(25_000);
    let own = owned(&group, 2, 0);
    group.end_items(0, &own);
    group.run_until(50_000);
    let session = group.hosts[1].session;
    group.expire(session);
    assert_eq!(said(&group, 0), [(lost, 25, 40)]);
}

/// A clock far ahead decides against fires that come again at their time, by the schedule then in force.
#[test]
fn what_was_said_by_a_clock_far_ahead_hides_no_fire_that_comes_at_its_time() {
    for other in [20, 10] {
        let every = |seconds: u32| {
            let builder = JobConfiguration::builder("job", 2).cron(format!("0/{seconds} * * * * ?"));
            builder.max_time_diff_seconds(2).build().unwrap()
        };
        let mut group = Group::settled(1, &every(20));
        group.run_until(20_000);
        group.end_items(0, &[0, 1]);
        group.clock_offset = 200_000;
        group.run_until(41_000);
        assert!(group.hosts[0].notices.iter().any(|notice| matches!(notice, Notice::Missed { .. })));
        group.set(&JobPath::Config, &wire::to_yaml(&every(other)));
        group.clock_offset = 0;
        group.run_until(44_000);
        let second = group.join("10.0.0.2", &every(other));
        group.run_until(48_000);
        let lost = owned(&group, 2, second);
        assert_eq!(lost.len(), 1);
        dies(&mut group, second, 0, 105, 20);
        assert_eq!(said(&group, 0).last().map(|(items, _, before)| (items, *before)), Some((&lost, 100)));
    }
}

#[test]
fn what_was_said_by_the_schedule_before_says_nothing_of_fires_of_the_new_one() {
    let every =
        |cron: &str| JobConfiguration::builder("job", 1).cron(cron).misfire(false).failover(false).build().unwrap();
    let new = every("0/15 * * * * ?");
    let first_unsaid = |group: &Group, at: i64| {
        let next_after = |at| new.schedule().and_then(|schedule| schedule.next_after(at));
        group.hosts[0].engine.fires.reported.first_unsaid(0, EPOCH + at, next_after)
    };
    let mut group = Group::settled(1, &every("0/10 * * * * ?"));
    group.run_until(35_000);
    assert_eq!(group.starts(0).len(), 1, "the fires 20 s and 30 s after the start fell into the run of the first one");
    assert_eq!(first_unsaid(&group, 25_000), Some(EPOCH + 40_000));
    group.set(&JobPath::Config, &wire::to_yaml(&new));
    assert_eq!(first_unsaid(&group, 25_000), Some(EPOCH + 25_000));
}

#[test]
fn what_an_instance_said_of_its_own_items_is_not_said_again() {
    let mut group = Group::settled(1, &every(20, 1));
    group.run_until(20_000);
    group.end_items(0, &[0]);
    group.disconnect(0);
    group.run_until(85_000);
    group.connect(0);
    assert!(group.starts(0).contains(&(at(80), NORMAL, vec![0])), "{:?}", group.starts(0));
    assert_eq!(said(&group, 0), []);
}

#[test]
fn the_first_begin_of_items_that_the_leader_made_reads_none_of_them() {
    let mut group = Group::settled(2, &every(10, 6));
    group.run_until(10_000);
    let begun: Vec<ShardingItem> = (0..2).flat_map(|host| group.starts(host)).flat_map(|(.., items)| items).collect();
    assert_eq!(begun.len(), 6);
    let leader = (0..2).find(|host| group.hosts[*host].engine.status().leader).unwrap();
    // When the job was registered.
    assert_eq!(group.hosts[leader].reads, 1);
}
