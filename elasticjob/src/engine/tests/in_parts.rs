//! Tests that what is too much for one transaction takes several, and keeps its promises between them.

use std::sync::Arc;

use super::group::{EPOCH, Group, Host, Lost, every_five, job};
use crate::config::{JobConfiguration, wire};
use crate::engine::{Event, KnownListeners, ListenerSpec, Notice};
use crate::fire::{ExecutionSource, Fire, Hook};
use crate::ident::ShardingItem;
use crate::registry::layout::JobPath;
use crate::registry::{CreateMode, Transaction};

const TOTAL: u32 = 20;
const FIRST: Fire = Fire::Scheduled(EPOCH + 5_000);

/// A group in which a transaction takes about three items.
fn small() -> Group {
    let mut group = Group::new();
    group.full_from = Some(1_200);
    group
}

fn settled(instances: u32, configuration: &JobConfiguration) -> Group {
    let mut group = small();
    for n in 1..=instances {
        group.join(&format!("10.0.0.{n}"), configuration);
    }
    group.run_until(4_000);
    group.hosts.iter_mut().for_each(Host::clear);
    group
}

fn started(group: &Group, host: usize) -> Vec<ShardingItem> {
    let mut items: Vec<ShardingItem> = group.starts(host).into_iter().flat_map(|(.., items)| items).collect();
    items.sort_unstable();
    items
}

fn finished(group: &Group) -> Vec<usize> {
    let items = |notice: &Notice| match notice {
        Notice::Finished { items, .. } => Some(items.len()),
        _ => None,
    };
    group.hosts[0].notices.iter().filter_map(items).collect()
}

#[test]
fn the_request_for_resharding_stays_until_the_last_items_are_assigned() {
    let mut group = small();
    group.join("10.0.0.1", &every_five(TOTAL));
    group.run_until(4_000);
    let parts: Vec<&String> =
        group.hosts[0].commits.iter().filter(|commit| commit.contains("/instance 10.0.0.1")).collect();
    let parts: Vec<&String> = parts.into_iter().filter(|commit| commit.contains("+sharding/")).collect();
    assert!(parts.len() > 3, "{parts:?}");
    let (last, others) = parts.split_last().unwrap();
    assert!(others.iter().all(|part| part.contains("?leader/sharding/necessary")), "{others:?}");
    assert!(last.contains("-leader/sharding/necessary"), "{last}");
    assert!(parts.iter().all(|part| part.starts_with("?leader/election/instance")), "{parts:?}");
    assert_eq!(group.owners(TOTAL), vec![Some(0); TOTAL as usize]);
    let told: Vec<usize> = group.hosts[0].notices.iter().filter_map(moved).collect();
    assert_eq!(told, [TOTAL as usize], "it is told once");
}

fn moved(notice: &Notice) -> Option<usize> {
    match notice {
        Notice::Resharded { moved, .. } => Some(moved.len()),
        _ => None,
    }
}

#[test]
fn another_leader_ends_what_the_one_before_it_began() {
    let mut group = settled(1, &every_five(TOTAL));
    // The request and the first items are written.
    group.hosts[0].answered_before = 2;
    group.hosts[0].lost = Lost::BeforeItArrived;
    group.join("10.0.0.2", &every_five(TOTAL));
    assert!(group.exists(&JobPath::Necessary));
    let owners = group.owners(TOTAL);
    let is_mixed = |host| owners.contains(&Some(host));
    assert!(is_mixed(0) && is_mixed(1), "{owners:?}");
    group.kill(0);
    group.run_until(4_900);
    assert!(!group.exists(&JobPath::Necessary));
    assert_eq!(group.owners(TOTAL), vec![Some(1); TOTAL as usize]);
    group.run_until(5_000);
    assert_eq!(started(&group, 1), Vec::from_iter(0..TOTAL));
}

#[test]
fn a_fire_of_many_items_is_one_run() {
    let mut group = settled(1, &every_five(TOTAL));
    // The first items begin, the next ones do not.
    group.hosts[0].answered_before = 1;
    group.hosts[0].lost = Lost::BeforeItArrived;
    group.run_until(5_000);
    let first = started(&group, 0);
    assert!(!first.is_empty() && first.len() < TOTAL as usize, "{first:?}");
    group.end_items(0, &first);
    assert!(finished(&group).is_empty());
    group.run_until(5_500);
    assert_eq!(started(&group, 0), Vec::from_iter(0..TOTAL));
    let rest: Vec<ShardingItem> = (0..TOTAL).filter(|item| !first.contains(item)).collect();
    group.end_items(0, &rest);
    group.run_until(6_500);
    assert_eq!(finished(&group), [TOTAL as usize]);
    assert!(
        group.starts(0).iter().all(|(fire, source, _)| (*fire, *source) == (FIRST, ExecutionSource::NormalTrigger))
    );
}

/// A group with a job that has a listener, up to the moment when the first items of its fire were begun and the second
/// part of them was not. Returns these items.
fn listened_in_parts() -> (Group, Vec<ShardingItem>) {
    let configuration =
        JobConfiguration::builder("job", TOTAL).cron("0/5 * * * * ?").job_listener_type("audit").build().unwrap();
    let mut group = small();
    group.listeners =
        Arc::new(KnownListeners::added([ListenerSpec { type_name: "audit".into(), order: 0, once: None }]));
    group.join("10.0.0.1", &configuration);
    group.run_until(4_000);
    group.hosts[0].clear();
    group.hosts[0].answered_before = 1;
    group.hosts[0].lost = Lost::BeforeItArrived;
    group.run_until(5_000);
    assert_eq!(group.end_call(0).0, Hook::Before);
    let first = started(&group, 0);
    assert!(!first.is_empty() && first.len() < TOTAL as usize, "{first:?}");
    (group, first)
}

/// Lets the other items run, and holds that one call after all of them follows.
fn end_with_one_call(mut group: Group, first: &[ShardingItem]) {
    assert!(group.hosts[0].calls.is_empty(), "the listeners after the items wait for all of them");
    assert_eq!(started(&group, 0), Vec::from_iter(0..TOTAL));
    let rest: Vec<ShardingItem> = (0..TOTAL).filter(|item| !first.contains(item)).collect();
    group.end_items(0, &rest);
    group.run_until(9_500);
    assert_eq!(group.hosts[0].calls.len(), 1);
    let call = &group.hosts[0].calls[0];
    assert_eq!((call.hook, call.items.len()), (Hook::After, TOTAL as usize));
    group.end_call(0);
    assert_eq!(finished(&group), [TOTAL as usize]);
}

#[test]
fn its_listeners_are_called_once() {
    let (mut group, first) = listened_in_parts();
    group.end_items(0, &first);
    assert!(group.hosts[0].calls.is_empty(), "the listeners after the items wait for all of them");
    group.run_until(5_500);
    end_with_one_call(group, &first);
}

#[test]
fn its_listeners_are_called_once_where_the_first_items_end_before_the_others_begin() {
    let (mut group, first) = listened_in_parts();
    group.disconnect(0);
    group.end_items(0, &first);
    group.run_until(7_000);
    group.connect(0);
    assert!(first.iter().all(|item| !group.exists(&JobPath::running(*item))), "their ends are written");
    group.run_until(7_500);
    end_with_one_call(group, &first);
}

#[test]
fn the_rest_of_a_fire_begins_alone_where_execution_is_no_longer_monitored() {
    let mut group = settled(1, &every_five(TOTAL));
    group.hosts[0].answered_before = 1;
    group.hosts[0].lost = Lost::BeforeItArrived;
    group.run_until(5_000);
    let first = started(&group, 0);
    assert!(!first.is_empty() && first.len() < TOTAL as usize, "{first:?}");
    group.disconnect(0);
    group.end_items(0, &first);
    let unmonitored = JobConfiguration::builder("job", TOTAL).cron("0/5 * * * * ?").monitor_execution(false);
    group.set(&JobPath::Config, &wire::to_yaml(&unmonitored.build().unwrap()));
    group.run_until(7_000);
    group.connect(0);
    group.run_until(8_000);
    assert_eq!(started(&group, 0), Vec::from_iter(0..TOTAL), "each of them once");
}

#[test]
fn a_trigger_stays_until_its_last_items_are_begun() {
    let configuration = JobConfiguration::builder("job", TOTAL).failover(true).build().unwrap();
    let mut group = settled(2, &configuration);
    let mine: Vec<ShardingItem> = (0..TOTAL).filter(|item| group.owners(TOTAL)[*item as usize] == Some(0)).collect();
    group.hosts[0].answered_before = 1;
    group.hosts[0].lost = Lost::BeforeItArrived;
    for path in [JobPath::Triggers.absolute(&job()), group.own_trigger(0)] {
        let mut trigger = Transaction::new();
        trigger.create(path, "", CreateMode::Persistent);
        group.operate(&trigger, false);
    }
    let first = started(&group, 0);
    assert!(!first.is_empty() && first.len() < mine.len(), "{first:?}");
    let trigger = JobPath::Trigger(group.hosts[0].engine.instance().clone());
    assert!(group.exists(&trigger));
    group.kill(0);
    group.run_until(9_000);
    assert_eq!(started(&group, 1), mine, "those that were begun are taken over, and so are the others");
    assert!(!group.exists(&trigger));
}

#[test]
fn a_fire_that_comes_with_the_answer_to_the_first_part_of_a_begin_does_not_cut_the_others_off() {
    let every_second = JobConfiguration::builder("job", 5).cron("0/1 * * * * ?").misfire(false).build().unwrap();
    let mut group = small();
    group.join("10.0.0.1", &every_second);
    group.run_until(2_500);
    group.end_items(0, &[0, 1, 2, 3, 4]);
    group.run_until(2_990);
    group.hosts[0].clear();
    group.sleep_until(3_000);
    group.tell_unanswered(0, Event::Tick);
    group.sleep_until(4_000);
    group.tell(0, Event::Tick);
    assert_eq!(started(&group, 0), [0, 1, 2, 3, 4]);
    assert!(group.starts(0).len() > 1, "it takes several transactions");
    assert!(group.starts(0).iter().all(|(fire, ..)| *fire == Fire::Scheduled(EPOCH + 3_000)), "{:?}", group.starts(0));
}
