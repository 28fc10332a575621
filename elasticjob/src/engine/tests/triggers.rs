//! Manual triggers: each runs the items of its instance, or it is said why not.

use super::super::{Event, Notice, TriggerAnswer};
use super::group::{Group, Lost, every_five, job};
use crate::config::JobConfiguration;
use crate::fire::Fire;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::JobPath;
use crate::registry::{CreateMode, Transaction, WatchEvent};

#[test]
fn an_instance_without_items_says_that_a_trigger_runs_nothing() {
    let mut group = Group::settled(2, &every_five(1));
    group.run_until(4_000);
    let idle = usize::from(group.owners(1)[0] == Some(0));
    group.tell(0, Event::Trigger(1, None));
    assert!(!group.exists(&JobPath::Trigger(group.hosts[idle].engine.instance().clone())));
    let nothing = |notice: &&Notice| matches!(notice, Notice::NothingToRun { fire: Fire::Manual { .. } });
    assert_eq!(group.hosts[idle].notices.iter().filter(nothing).count(), 1, "{:?}", group.hosts[idle].notices);
}

#[test]
fn a_trigger_that_waited_for_a_fire_without_own_items_is_taken_after_it() {
    for monitored in [true, false] {
        let configuration = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").monitor_execution(monitored);
        let mut group = Group::settled(2, &configuration.build().unwrap());
        group.run_until(4_000);
        let idle = usize::from(group.owners(1)[0] == Some(0));
        let mut trigger = Transaction::new();
        trigger.create(JobPath::Triggers.absolute(&job()), "", CreateMode::Persistent);
        trigger.create(group.own_trigger(idle), "", CreateMode::Persistent);
        group.sleep_until(5_000);
        group.operate(&trigger, true);
        // It is heard of together with the fire, and nothing more comes.
        let (now, created) = (group.now(), WatchEvent::Created(group.own_trigger(idle)));
        group.hosts[idle].engine.note(now, Event::Watch(created));
        group.tell(idle, Event::Tick);
        assert!(!group.exists(&JobPath::Trigger(group.hosts[idle].engine.instance().clone())));
    }
}

#[test]
fn a_trigger_that_comes_while_the_begin_of_another_is_unknown_runs_after_it() {
    let mut group = Group::settled(1, &every_five(1));
    group.hosts[0].lost = Lost::AfterItWasApplied;
    group.trigger(0);
    let mut second = Transaction::new();
    second.create(group.own_trigger(0), "", CreateMode::Persistent);
    group.operate(&second, false);
    group.run_until(4_500);
    group.end_items(0, &[0]);
    let manual: Vec<Fire> = group.starts(0).into_iter().map(|(fire, ..)| fire).collect();
    assert!(matches!(manual[..], [Fire::Manual { .. }, Fire::Manual { .. }]), "{manual:?}");
}

#[test]
fn at_most_one_manual_trigger_waits() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(5_000);
    group.tell(0, Event::Trigger(1, None));
    group.tell(0, Event::Trigger(2, None));
    assert_eq!(group.hosts[0].answers, [TriggerAnswer::Queued, TriggerAnswer::AlreadyPending]);
    assert_eq!(group.hosts[0].started.len(), 1);
    group.end_items(0, &[0]);
    let manual = &group.hosts[0].started[1];
    assert!(matches!(manual.key.fire, Fire::Manual { .. }));
    let begun = group.hosts[0].commits.last().unwrap();
    assert!(begun.starts_with("-trigger/10.0.0.1@-@7; =sharding/0/fire"), "{begun}");
    group.end_items(0, &[0]);
    assert_eq!(group.hosts[0].started.len(), 2);
}

#[test]
fn a_trigger_that_the_registry_cannot_be_asked_for_is_given_up() {
    let mut group = Group::settled(1, &every_five(1));
    group.disconnect(0);
    group.tell(0, Event::Trigger(1, None));
    group.run_until(13_900);
    assert_eq!(group.hosts[0].answers, []);
    group.run_until(14_100);
    let [TriggerAnswer::Registry(why)] = &group.hosts[0].answers[..] else { panic!("{:?}", group.hosts[0].answers) };
    assert!(why.contains("within 10 s"), "{why}");
    group.hosts[0].clear();
    group.connect_anew(0);
    group.run_until(14_900);
    assert!(group.hosts[0].started.iter().all(|start| matches!(start.key.fire, Fire::Scheduled(_))));
    assert!(!group.exists(&JobPath::Trigger(group.hosts[0].engine.instance().clone())));
}

#[test]
fn a_trigger_that_only_seems_to_wait_does_not_swallow_another() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(5_000);
    let trigger = JobPath::Trigger(group.hosts[0].engine.instance().clone()).absolute(&job());
    let mut foreign = Transaction::new();
    if !group.exists(&JobPath::Triggers) {
        foreign.create("/job/trigger", "", CreateMode::Persistent);
    }
    foreign.create(&trigger, "", CreateMode::Persistent);
    group.operate(&foreign, false);
    let mut taken = Transaction::new();
    taken.delete(&trigger, None);
    group.operate(&taken, true);
    group.tell(0, Event::Trigger(1, None));
    group.run_until(6_000);
    assert_eq!(group.hosts[0].answers, [TriggerAnswer::Queued]);
    group.end_items(0, &[0]);
    assert!(matches!(group.hosts[0].started[1].key.fire, Fire::Manual { .. }));
}

#[test]
fn an_item_does_not_move_between_a_trigger_and_its_run() {
    let mut group = Group::settled(1, &every_five(2));
    group.run_until(5_000);
    let joiner = group.join("10.0.0.2", &every_five(2));
    group.tell(0, Event::Trigger(1, None));
    // The joiner has no item yet, and is done with the trigger before one could come to it.
    group.end_items(0, &[0, 1]);
    let [(Fire::Manual { .. }, _, items)] = &group.starts(0)[1..] else { panic!("{:?}", group.starts(0)) };
    assert_eq!((&items[..], group.starts(joiner)), (&[0, 1][..], vec![]));
    group.end_items(0, &[0, 1]);
    assert!(group.owners(2).contains(&Some(joiner)), "{:?}", group.owners(2));
}

#[test]
fn an_unmonitored_trigger_whose_answer_got_lost_runs_once() {
    for lost in [Lost::AfterItWasApplied, Lost::BeforeItArrived] {
        let configuration = JobConfiguration::builder("job", 1).monitor_execution(false).build().unwrap();
        let mut group = Group::settled(1, &configuration);
        let trigger = JobPath::Trigger(InstanceId::of_process("10.0.0.1", 7)).absolute(&job());
        let mut transaction = Transaction::new();
        transaction.create("/job/trigger", "", CreateMode::Persistent);
        transaction.create(trigger.as_str(), "", CreateMode::Persistent);
        group.hosts[0].lost = lost;
        group.operate(&transaction, false);
        group.run_until(20_000);
        assert_eq!(group.hosts[0].started.len(), 1, "{lost:?}");
        assert_eq!(group.tree.get(&trigger), Ok(None));
    }
}

/// A group of two whose leader is cut off while an item of its own loses its owner; with the other host and the item.
pub(super) fn unassigned() -> (Group, usize, ShardingItem) {
    let mut group = Group::settled(2, &every_five(2));
    let leader = (0..2).find(|host| group.hosts[*host].engine.status().leader).unwrap();
    let item = (0..2).find(|item| group.owners(2)[*item as usize] == Some(leader)).unwrap();
    group.disconnect(leader);
    let mut damage = Transaction::new();
    damage.delete(JobPath::owner_of(item).absolute(&job()), None);
    group.operate(&damage, false);
    (group, 1 - leader, item)
}

/// What was told of items that a trigger leaves out.
fn left_out(group: &Group) -> Vec<Vec<ShardingItem>> {
    let told = group.hosts.iter().flat_map(|host| &host.notices).filter_map(|notice| match notice {
        Notice::TriggerLeavesOut { items } => Some(items.clone()),
        _ => None,
    });
    told.collect()
}

#[test]
fn a_trigger_is_written_once_all_items_are_assigned() {
    let (mut group, host, _) = unassigned();
    group.tell(host, Event::Trigger(1, None));
    assert!(group.hosts[host].answers.is_empty() && !group.exists(&JobPath::Triggers));
    group.connect(1 - host);
    assert_eq!(group.hosts[host].answers, [TriggerAnswer::Queued]);
    let began: usize =
        (0..2).map(|host| group.starts(host).iter().map(|(_, _, items)| items.len()).sum::<usize>()).sum();
    assert_eq!((began, left_out(&group)), (2, Vec::new()));
}

#[test]
fn a_trigger_does_not_wait_for_ever_and_says_once_what_it_leaves_out() {
    let (mut group, host, item) = unassigned();
    let begun = group.now().mono.as_millis() as u64;
    group.tell(host, Event::Trigger(1, None));
    group.run_until(begun + 4_990);
    assert!(group.hosts[host].answers.is_empty());
    group.run_until(begun + 5_000);
    assert_eq!((&group.hosts[host].answers[..], left_out(&group)), (&[TriggerAnswer::Queued][..], vec![vec![item]]));
}

#[test]
fn an_instance_that_takes_its_trigger_says_once_which_items_have_no_owner() {
    let (mut group, host, item) = unassigned();
    let asked = group.now().mono.as_millis() as u64;
    group.trigger(host);
    group.run_until(asked + 4_990);
    assert_eq!((group.starts(host), left_out(&group)), (vec![], Vec::new()));
    group.run_until(asked + 5_000);
    // The fire that came meanwhile goes first.
    group.end_items(host, &[1 - item]);
    let manual: Vec<Vec<ShardingItem>> = group
        .starts(host)
        .into_iter()
        .filter_map(|(fire, _, items)| matches!(fire, Fire::Manual { .. }).then_some(items))
        .collect();
    assert_eq!((manual, left_out(&group)), (vec![vec![1 - item]], vec![vec![item]]));
    let is_given_up = |notice: &Notice| matches!(notice, Notice::Skipped { fire: Fire::Manual { .. }, .. });
    assert!(!group.hosts[host].notices.iter().any(is_given_up), "the trigger runs: {:?}", group.hosts[host].notices);
}

/// A group whose leader has run its items for a trigger that the other instance, which is cut off, has not taken; then one of these
/// items moved to the other instance. With the leader and the item.
fn moved_to_an_older_trigger() -> (Group, usize, ShardingItem) {
    let mut group = Group::settled(2, &every_five(3));
    let leader = (0..2).find(|host| group.hosts[*host].engine.status().leader).unwrap();
    group.disconnect(1 - leader);
    group.tell(leader, Event::Trigger(1, None));
    let [(Fire::Manual { .. }, _, items)] = &group.starts(leader)[..] else { panic!("{:?}", group.starts(leader)) };
    let items = items.clone();
    group.end_items(leader, &items);
    let other = group.hosts[1 - leader].engine.instance().to_string();
    group.set(&JobPath::owner_of(items[0]), &other);
    group.tell(leader, Event::Trigger(2, None));
    assert_eq!(group.hosts[leader].answers, [TriggerAnswer::Queued], "the second one waits");
    (group, leader, items[0])
}

#[test]
fn an_item_that_came_to_an_instance_with_an_older_trigger_is_run_for_the_next_one() {
    let (mut group, leader, item) = moved_to_an_older_trigger();
    group.connect(1 - leader);
    let older = group.starts(1 - leader).pop().expect("it takes the older one");
    assert!(!older.2.contains(&item), "{older:?}");
    group.end_items(1 - leader, &older.2);
    let [.., (Fire::Manual { .. }, _, items)] = &group.starts(1 - leader)[..] else { panic!("it was not asked again") };
    assert!(items.contains(&item), "{items:?}");
    assert_eq!((group.hosts[leader].answers.len(), left_out(&group)), (2, Vec::new()));
}

#[test]
fn an_item_that_came_to_an_instance_with_an_older_trigger_is_named_when_that_is_not_taken() {
    let (mut group, leader, item) = moved_to_an_older_trigger();
    let asked = group.now().mono.as_millis() as u64;
    group.run_until(asked + 4_990);
    assert_eq!(group.hosts[leader].answers.len(), 1);
    group.run_until(asked + 5_000);
    assert_eq!((group.hosts[leader].answers.len(), left_out(&group)), (2, vec![vec![item]]));
}

#[test]
fn an_item_without_an_owner_that_comes_to_an_instance_which_was_not_asked_is_told_as_left_out() {
    let mut group = Group::settled(2, &every_five(2));
    let leader = (0..2).find(|host| group.hosts[*host].engine.status().leader).unwrap();
    let item = (0..2).find(|item| group.owners(2)[*item as usize] == Some(leader)).unwrap();
    group.run_until(5_000);
    group.end_items(leader, &[item]);
    // It runs, so its trigger waits.
    group.trigger(1 - leader);
    let mut damage = Transaction::new();
    damage.delete(JobPath::owner_of(item).absolute(&job()), None);
    group.operate(&damage, false);
    group.run_until(6_000);
    assert_eq!(group.owners(2)[item as usize], Some(leader));
    assert_eq!(left_out(&group), [vec![item]]);
}

#[test]
fn an_item_that_moves_before_a_begin_without_records_is_tried_again_is_told_as_left_out() {
    let configuration = JobConfiguration::builder("job", 2).monitor_execution(false).build().unwrap();
    let mut group = Group::settled(2, &configuration);
    let item = (0..2).find(|item| group.owners(2)[*item as usize] == Some(0)).unwrap();
    group.hosts[0].lost = Lost::AfterItWasApplied;
    group.trigger(0);
    assert_eq!(
        (group.starts(0), group.exists(&JobPath::Trigger(group.hosts[0].engine.instance().clone()))),
        (vec![], false)
    );
    let other = group.hosts[1].engine.instance().clone();
    group.set(&JobPath::owner_of(item), other.as_str());
    group.disconnect(0);
    group.connect(0);
    group.run_until(3_000);
    assert_eq!((group.starts(0), left_out(&group)), (vec![], vec![vec![item]]));
}

#[test]
fn a_trigger_that_a_begin_without_records_may_have_taken_is_told_when_the_registry_center_stays_away() {
    let configuration = JobConfiguration::builder("job", 1).monitor_execution(false).build().unwrap();
    let mut group = Group::settled(1, &configuration);
    group.hosts[0].lost = Lost::AfterItWasApplied;
    group.trigger(0);
    let trigger = JobPath::Trigger(group.hosts[0].engine.instance().clone());
    assert_eq!((group.starts(0), group.exists(&trigger)), (vec![], false));
    group.disconnect(0);
    group.run_until(16_000);
    group.connect(0);
    group.run_until(20_000);
    let is_told = |notice: &Notice| matches!(notice, Notice::Skipped { fire: Fire::Manual { .. }, .. });
    assert!(group.hosts[0].notices.iter().any(is_told), "{:?}", group.hosts[0].notices);
    assert_eq!(group.starts(0), []);
}
