//! The changes that the instances of a large group hear of.

use super::group::{EPOCH, Group, every_five, job};
use crate::config::JobConfiguration;
use crate::engine::ListenerSpec;
use crate::fire::{ExecutionSource, Fire};
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::Watched;
use crate::registry::{CreateMode, Transaction};

const FIRST: Fire = Fire::Scheduled(EPOCH + 5_000);

/// The items of which a host hears everything; `None` where it hears everything of the job.
fn heard(group: &Group, host: usize) -> Option<Vec<ShardingItem>> {
    let watches = &group.hosts[host].watches;
    let items = watches.iter().filter_map(|watched| match watched {
        Watched { path: JobPath::Item(item, ItemNode::Dir), below: true } => Some(*item),
        _ => None,
    });
    (!watches.contains(&Watched::job())).then(|| items.collect())
}

fn owner(group: &Group, item: ShardingItem) -> usize {
    let owner = group.text(&JobPath::owner_of(item)).unwrap();
    (0..group.hosts.len()).find(|host| group.hosts[*host].engine.instance().as_str() == owner).unwrap()
}

fn leader(group: &Group) -> usize {
    (0..group.hosts.len()).find(|host| group.hosts[*host].engine.status().leader).unwrap()
}

fn with_failover(total: u32) -> JobConfiguration {
    JobConfiguration::builder("job", total).cron("0/5 * * * * ?").failover(true).build().unwrap()
}

#[test]
fn in_a_small_group_each_instance_hears_everything() {
    let group = Group::settled(3, &every_five(6));
    assert_eq!((0..3).map(|host| heard(&group, host)).collect::<Vec<_>>(), [None, None, None]);
}

#[test]
fn in_a_large_group_the_leader_hears_everything_and_the_others_what_they_own() {
    let group = Group::settled(4, &every_five(4));
    let leader = leader(&group);
    for item in 0..4 {
        let owner = owner(&group, item);
        assert_eq!(heard(&group, owner), (owner != leader).then(|| vec![item]));
    }
}

#[test]
fn a_fire_of_an_item_is_news_for_its_owner_and_the_leader_alone() {
    let mut group = Group::settled(6, &every_five(2));
    group.run_until(5_000);
    for item in 0..2 {
        let owner = owner(&group, item);
        group.end_items(owner, &[item]);
    }
    let leader = leader(&group);
    let concerned = [leader, owner(&group, 0), owner(&group, 1)];
    for host in 0..6 {
        // The begin and the end of an item are four changes.
        let told = if host == leader { 8 } else { 4 * usize::from(concerned.contains(&host)) };
        assert_eq!(group.hosts[host].told, told, "host {host}");
    }
}

#[test]
fn an_item_that_comes_to_an_instance_is_heard_of_before_it_begins() {
    let mut group = Group::settled(5, &every_five(5));
    let leader = leader(&group);
    let gone = (0..5).find(|host| *host != leader).unwrap();
    let item = (0..5).find(|item| owner(&group, *item) == gone).unwrap();
    // Only its owner and the leader heard that the item was disabled.
    let disabled = JobPath::Item(item, ItemNode::Disabled).absolute(&job());
    let mut disable = Transaction::new();
    disable.create(disabled, "", CreateMode::Persistent);
    group.operate(&disable, false);
    group.kill(gone);
    group.run_until(5_000);
    let started: Vec<ShardingItem> =
        (0..5).flat_map(|host| group.starts(host)).flat_map(|(_, _, items)| items).collect();
    assert!(!started.contains(&item) && started.len() == 4, "{started:?}");
}

#[test]
fn a_lost_run_is_taken_over_at_once_by_an_instance_that_did_not_hear_of_it() {
    let mut group = Group::settled(6, &with_failover(3));
    group.run_until(5_000);
    let leader = leader(&group);
    let item = (0..3).find(|item| owner(&group, *item) != leader).unwrap();
    let dead = owner(&group, item);
    group.hosts.iter_mut().for_each(|host| host.clear());
    group.kill(dead);
    let taken: Vec<_> = (0..6).flat_map(|host| group.starts(host)).collect();
    assert_eq!(taken, [(FIRST, ExecutionSource::Failover, vec![item])]);
}

#[test]
fn a_new_leader_hears_everything() {
    let mut group = Group::settled(5, &every_five(5));
    let first = leader(&group);
    group.kill(first);
    group.run_until(5_000);
    let second = (0..5).find(|host| *host != first && group.hosts[*host].engine.status().leader).unwrap();
    assert_eq!(heard(&group, second), None);
}

#[test]
fn a_listener_that_is_called_once_for_the_group_needs_the_items_of_all() {
    let once = ListenerSpec { type_name: "once".into(), order: 0, once: Some(Default::default()) };
    let configuration = JobConfiguration::builder("job", 4).cron("0/5 * * * * ?").job_listener_type("once");
    let group = Group::listening(5, &configuration.build().unwrap(), [once]);
    assert!((0..5).all(|host| heard(&group, host).is_none()));
}

#[test]
fn what_is_read_again_after_a_gap_changes_no_watch() {
    let mut group = Group::settled(5, &every_five(5));
    for host in 0..5 {
        group.disconnect(host);
        group.connect(host);
    }
    assert_eq!(group.hosts.iter().map(|host| host.watches_changed).sum::<usize>(), 0);
}

#[test]
fn after_items_have_moved_each_instance_hears_of_its_own() {
    let mut group = Group::settled(4, &every_five(8));
    group.join("10.0.0.5", &every_five(8));
    for host in (0..5).filter(|host| *host != leader(&group)) {
        let owned: Vec<ShardingItem> = (0..8).filter(|item| owner(&group, *item) == host).collect();
        assert_eq!(heard(&group, host), Some(owned), "host {host}");
    }
}

#[test]
fn a_watch_of_each_owner_would_be_too_many() {
    for (total, is_choosy) in [(100, true), (1_001, false)] {
        let group = Group::settled(4, &every_five(total));
        assert_eq!((0..4).any(|host| heard(&group, host).is_some()), is_choosy, "{total}");
    }
}
