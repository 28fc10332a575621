//! A job whose items follow the items with the same number of another job.

use std::sync::Arc;

use super::group::{EPOCH, Group, job};
use crate::config::{JobConfiguration, JobConfigurationBuilder, wire};
use crate::engine::state::clock::ClockCheck;
use crate::engine::{DependencyRecord, Event, ListenerSpec, Notice, OnceTimeouts, ParentItem, ParentView};
use crate::fire::{Attempt, ExecutionSource, Fire, FireRecord, FireState, Hook, ItemEnd, SkipReason};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, SessionId, Transaction};

/// The first fire of the job before it that came after the group was there.
const AT: i64 = EPOCH + 5_000;
const NEXT: i64 = EPOCH + 10_000;

const RUNS: FireState = FireState::Running;
const WELL: FireState = FireState::Succeeded;
const BADLY: FireState = FireState::Failed;

fn extract() -> JobName {
    JobName::new("extract").unwrap()
}

fn after(total: u32) -> JobConfigurationBuilder {
    JobConfiguration::builder("job", total).depends_on(["extract items same"])
}

/// Where each item of the job before stands: the fire that it began last.
fn view(items: &[(i64, FireState)]) -> ParentView {
    let item = |(at, state): &(i64, FireState)| {
        let (instance, attempt) = (InstanceId::of_process("10.0.0.9", 7), Attempt::new(SessionId(9), 7, 1));
        let fire = Fire::Scheduled(*at);
        let record = FireRecord::empty().begin(*at, fire, ExecutionSource::NormalTrigger, instance, attempt);
        let record = match state {
            FireState::Running => record,
            state => record.end(at + 1, &ItemEnd { state: *state, took: 1, error: None }),
        };
        ParentItem { record, written: 0, disabled: false, marked: *state == FireState::Running }
    };
    let total = u32::try_from(items.len()).unwrap();
    let configuration = JobConfiguration::builder("extract", total).cron("0/5 * * * * ?").build().unwrap();
    let items = (0..).zip(items.iter().map(item)).collect();
    let (configuration, scheduled_since) = (Some(Arc::new(configuration)), Some(EPOCH));
    ParentView { configuration, scheduled_since, items, ..ParentView::default() }
}

/// The leader hears how the items of the job before it stand.
fn learn(group: &mut Group, items: &[(i64, FireState)]) {
    for host in 0..group.hosts.len() {
        if group.hosts[host].following == [extract()] && !group.hosts[host].killed {
            group.tell(host, Event::Parent { job: extract(), view: Box::new(view(items)) });
        }
    }
}

/// What was started where, in the order of the hosts.
fn started(group: &Group) -> Vec<(i64, ExecutionSource, ShardingItem)> {
    let starts = (0..group.hosts.len()).flat_map(|host| group.starts(host));
    starts.flat_map(|(fire, source, items)| items.into_iter().map(move |item| (fire.at(), source, item))).collect()
}

/// The same of the usual source.
fn begun(group: &Group) -> Vec<(i64, ShardingItem)> {
    let mut begun: Vec<_> = started(group).into_iter().map(|(at, _, item)| (at, item)).collect();
    begun.sort_unstable();
    begun
}

fn decided(group: &Group) -> DependencyRecord {
    DependencyRecord::parse(group.text(&JobPath::Dependencies).unwrap().as_bytes()).unwrap()
}

fn record(group: &Group, item: ShardingItem) -> FireRecord {
    FireRecord::parse(group.text(&JobPath::fire(item)).unwrap().as_bytes())
}

fn leader(group: &Group) -> usize {
    let leads = |host: &usize| !group.hosts[*host].killed && group.hosts[*host].engine.status().leader;
    (0..group.hosts.len()).find(leads).unwrap()
}

fn notices(group: &Group) -> impl Iterator<Item = &Notice> {
    group.hosts.iter().flat_map(|host| &host.notices)
}

#[test]
fn an_item_begins_when_the_item_with_its_number_has_ended() {
    let mut group = Group::settled(2, &after(2).build().unwrap());
    group.run_until(5_100);
    learn(&mut group, &[(AT, RUNS), (AT, RUNS)]);
    assert_eq!(begun(&group), []);
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL), (AT, RUNS)]);
    assert_eq!(begun(&group), [(AT, 0)]);
    assert_eq!(decided(&group).open().map(|due| due.at), Some(AT));
    let nothing_to_run = |notice: &Notice| matches!(notice, Notice::NothingToRun { .. });
    assert!(!notices(&group).any(nothing_to_run), "the other instance waits for its item");
    group.run_until(60_000);
    learn(&mut group, &[(AT, WELL), (AT, WELL)]);
    assert_eq!(begun(&group), [(AT, 0), (AT, 1)]);
    assert!(!notices(&group).any(|notice| matches!(notice, Notice::BegunLate { .. })), "it is not late");
    assert_eq!((decided(&group).open(), decided(&group).through), (None, AT));
}

#[test]
fn both_items_of_one_instance_are_one_run() {
    let mut group = Group::settled(1, &after(2).build().unwrap());
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL), (AT, RUNS)]);
    group.run_until(7_000);
    learn(&mut group, &[(AT, WELL), (AT, WELL)]);
    group.end_items(0, &[0, 1]);
    group.run_until(9_000);
    let finished = notices(&group).filter(|notice| matches!(notice, Notice::Finished { .. })).count();
    assert_eq!((begun(&group), finished), (vec![(AT, 0), (AT, 1)], 1));
}

#[test]
fn an_item_whose_item_before_failed_is_skipped_by_its_owner_and_the_others_run() {
    let mut group = Group::settled(2, &after(3).build().unwrap());
    group.run_until(6_000);
    learn(&mut group, &[(AT, RUNS), (AT, BADLY), (AT, RUNS)]);
    assert_eq!(decided(&group).due, None, "no item may begin");
    learn(&mut group, &[(AT, WELL), (AT, BADLY), (AT, RUNS)]);
    assert_eq!(begun(&group), [(AT, 0)]);
    assert_eq!((record(&group, 1).through, record(&group, 1).last), (Some(AT), None));
    let reason = SkipReason::ItemDependencyNotMet { job: extract(), end: "failed".to_owned(), when: "succeeded" };
    let told = Notice::Skipped { fire: Fire::Scheduled(AT), items: vec![1], reason };
    assert_eq!(notices(&group).filter(|notice| **notice == told).count(), 1);
    learn(&mut group, &[(AT, WELL), (AT, BADLY), (AT, WELL)]);
    assert_eq!(begun(&group), [(AT, 0), (AT, 2)]);
    let fires = decided(&group).decided;
    assert!(fires[0].skipped.is_none() && fires[0].skipped_items[0].items.contains(1), "{fires:?}");
    group.run_until(30_000);
    assert_eq!(notices(&group).filter(|notice| **notice == told).count(), 1);
}

#[test]
fn a_new_leader_goes_on_from_what_is_written() {
    let mut group = Group::settled(3, &after(3).build().unwrap());
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL), (AT, RUNS), (AT, RUNS)]);
    assert_eq!(begun(&group), [(AT, 0)]);
    let gone = leader(&group);
    let was_begun_there = group.owners(3)[0] == Some(gone);
    group.kill(gone);
    group.run_until(8_000);
    assert_ne!(leader(&group), gone);
    // The items before have run on since.
    learn(&mut group, &[(NEXT, WELL), (AT, WELL), (AT, BADLY)]);
    group.run_until(9_000);
    assert_eq!(begun(&group), [(AT, 0), (AT, 1)], "begun by the leader that is gone: {was_begun_there}");
    assert_eq!(record(&group, 2).through, Some(AT));
}

#[test]
fn an_item_that_is_held_is_begun_by_the_owner_that_it_has_when_it_is_released() {
    let mut group = Group::settled(3, &after(3).build().unwrap());
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL), (AT, RUNS), (AT, RUNS)]);
    let leads = leader(&group);
    let held = (1..3).find(|item| group.owners(3)[*item as usize] != Some(leads)).unwrap();
    group.kill(group.owners(3)[held as usize].unwrap());
    group.run_until(8_000);
    assert_eq!(begun(&group), [(AT, 0)]);
    learn(&mut group, &[(AT, WELL), (AT, WELL), (AT, WELL)]);
    group.run_until(9_000);
    assert_eq!(begun(&group), [(AT, 0), (AT, 1), (AT, 2)]);
    let other = group.join("10.0.0.7", &after(3).build().unwrap());
    group.run_until(20_000);
    assert!(group.starts(other).is_empty());
}

#[test]
fn the_next_fire_leaves_time_to_items_that_were_released_a_moment_before() {
    let mut group = Group::settled(2, &after(2).build().unwrap());
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL), (AT, RUNS)]);
    let fast = group.owners(2)[0].unwrap();
    group.end_items(fast, &[0]);
    group.run_until(11_000);
    learn(&mut group, &[(NEXT, WELL), (AT, RUNS)]);
    assert_eq!(begun(&group), [(AT, 0)], "an item of the first fire is not decided");
    group.run_until(12_000);
    learn(&mut group, &[(NEXT, WELL), (AT, WELL)]);
    assert_eq!(begun(&group), [(AT, 0), (AT, 1), (NEXT, 0)]);
    assert_eq!(decided(&group).due.map(|due| due.at), Some(NEXT));
    group.end_items(group.owners(2)[1].unwrap(), &[1]);
    learn(&mut group, &[(NEXT, WELL), (NEXT, WELL)]);
    group.run_until(13_000);
    let last = started(&group).into_iter().find(|(at, _, item)| (*at, *item) == (NEXT, 1));
    assert_eq!(last, Some((NEXT, ExecutionSource::Misfire, 1)), "the next one fell into its run");
}

#[test]
fn the_next_fire_does_not_wait_for_ever_for_an_item_that_cannot_begin() {
    let mut group = ran_once(&after(2).build().unwrap());
    group.disconnect(1 - leader(&group));
    group.run_until(11_000);
    learn(&mut group, &[(NEXT, WELL), (NEXT, WELL)]);
    assert_eq!(decided(&group).due.map(|due| due.at), Some(NEXT));
    learn(&mut group, &[(NEXT + 5_000, WELL), (NEXT + 5_000, WELL)]);
    group.run_until(19_000);
    assert_eq!(
        decided(&group).due.map(|due| due.at),
        Some(NEXT),
        "the item of the instance that is cut off is not begun"
    );
    group.run_until(22_000);
    assert_eq!(decided(&group).due.map(|due| due.at), Some(NEXT + 5_000));
}

#[test]
fn the_next_fire_does_not_wait_for_an_item_that_static_sharding_leaves_to_an_instance_that_is_gone() {
    let mut group = ran_once(&after(2).static_sharding(true).build().unwrap());
    group.kill(1 - leader(&group));
    group.run_until(11_000);
    learn(&mut group, &[(NEXT, WELL), (NEXT, WELL)]);
    assert_eq!(decided(&group).due.map(|due| due.at), Some(NEXT));
    learn(&mut group, &[(NEXT + 5_000, WELL), (NEXT + 5_000, WELL)]);
    group.run_until(12_000);
    assert_eq!(decided(&group).due.map(|due| due.at), Some(NEXT + 5_000));
}

/// An instance skips a fire for all its items while one of them runs, and not only for those that run.
#[test]
fn the_next_fire_does_not_wait_for_an_item_whose_instance_still_ran_another_one() {
    let mut group = Group::settled(1, &after(2).misfire(false).build().unwrap());
    group.run_until(6_000);
    learn(&mut group, &[(AT, BADLY), (AT, WELL)]);
    assert_eq!(begun(&group), [(AT, 1)]);
    group.run_until(11_000);
    learn(&mut group, &[(NEXT, WELL), (NEXT, WELL)]);
    group.end_items(0, &[1]);
    group.run_until(16_000);
    assert_eq!(begun(&group), [(AT, 1)], "it fell into the run");
    learn(&mut group, &[(NEXT + 5_000, WELL), (NEXT + 5_000, WELL)]);
    assert_eq!(begun(&group), [(AT, 1), (NEXT + 5_000, 0), (NEXT + 5_000, 1)]);
}

/// Two instances with an item each that have run the first fire.
fn ran_once(configuration: &JobConfiguration) -> Group {
    let mut group = Group::settled(2, configuration);
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL), (AT, WELL)]);
    for (item, owner) in (0..).zip(group.owners(2)) {
        group.end_items(owner.unwrap(), &[item]);
    }
    group.run_until(8_000);
    group
}

#[test]
fn how_late_an_item_may_begin_counts_from_its_release() {
    let configuration = after(2).misfire(false).build().unwrap();
    let mut group = Group::settled(2, &configuration);
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL), (AT, RUNS)]);
    group.run_until(40_000);
    learn(&mut group, &[(AT, WELL), (AT, WELL)]);
    assert_eq!(begun(&group), [(AT, 0), (AT, 1)]);
    let too_late = |notice: &&Notice| matches!(notice, Notice::Skipped { reason: SkipReason::TooLate { .. }, .. });
    assert_eq!(notices(&group).find(too_late), None);
}

#[test]
fn a_fire_that_falls_into_a_run_is_made_up_for_item_by_item() {
    let mut group = Group::settled(1, &after(2).build().unwrap());
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL), (AT, WELL)]);
    group.run_until(11_000);
    learn(&mut group, &[(NEXT, WELL), (NEXT, RUNS)]);
    assert_eq!(begun(&group), [(AT, 0), (AT, 1)]);
    assert!(group.exists(&JobPath::Item(1, ItemNode::Misfire)), "it is noted for both");
    group.end_items(0, &[0, 1]);
    group.run_until(13_000);
    assert_eq!(started(&group).last(), Some(&(NEXT, ExecutionSource::Misfire, 0)));
    group.end_items(0, &[0]);
    group.run_until(40_000);
    assert_eq!(begun(&group).len(), 3, "item 1 is held");
    learn(&mut group, &[(NEXT, WELL), (NEXT, BADLY)]);
    group.run_until(41_000);
    assert_eq!((begun(&group).len(), record(&group, 1).through), (3, Some(NEXT)), "it is skipped");
    assert!(!group.exists(&JobPath::Item(1, ItemNode::Misfire)));
}

#[test]
fn a_missed_fire_is_refused_once_by_an_instance_that_does_not_know_the_time_of_the_server() {
    let configuration = after(2).max_time_diff_seconds(1).build().unwrap();
    let mut group = Group::settled(2, &configuration);
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL), (AT, WELL)]);
    group.run_until(11_000);
    let (leads, owners) = (leader(&group), group.owners(2));
    let missing = owners.iter().position(|owner| *owner != Some(leads)).unwrap();
    let ends = |end| [0, 1].map(|item| (NEXT, if item == missing { end } else { WELL }));
    learn(&mut group, &ends(RUNS));
    group.kill(owners[missing].unwrap());
    let newcomer = group.join("10.0.0.3", &configuration);
    group.run_until(12_000);
    let missed = JobPath::Item(missing as ShardingItem, ItemNode::Misfire);
    assert_eq!((group.owners(2)[missing], group.exists(&missed)), (Some(newcomer), true));
    // The answer to its registration was lost.
    group.hosts[newcomer].engine.clock = ClockCheck::default();
    learn(&mut group, &ends(BADLY));
    group.run_until(13_000);
    let is_refused =
        |notice: &&Notice| matches!(notice, Notice::Skipped { reason: SkipReason::ItemDependencyNotMet { .. }, .. });
    assert_eq!(notices(&group).filter(is_refused).count(), 1);
    let through = record(&group, missing as ShardingItem).through;
    assert_eq!((through, group.exists(&missed)), (Some(NEXT), false));
}

#[test]
fn an_item_that_is_added_after_a_fire_was_decided_does_not_miss_that_fire() {
    let mut group = Group::settled(1, &after(1).build().unwrap());
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL)]);
    group.run_until(11_000);
    learn(&mut group, &[(NEXT, WELL)]);
    assert!(group.exists(&JobPath::Item(0, ItemNode::Misfire)), "it fell into the run");
    group.set(&JobPath::Config, &wire::to_yaml(&after(2).build().unwrap()));
    group.run_until(12_000);
    assert!(group.exists(&JobPath::fire(1)));
    assert!(!group.exists(&JobPath::Item(1, ItemNode::Misfire)));
    group.end_items(0, &[0]);
    group.run_until(13_000);
    assert_eq!(begun(&group), [(AT, 0), (NEXT, 0)]);
    // A leader that did not know better noted it.
    group.set(&JobPath::fire(1), &format!(r#"{{"missed":{NEXT}}}"#));
    let mut transaction = Transaction::new();
    transaction.create(JobPath::Item(1, ItemNode::Misfire).absolute(&job()), "", CreateMode::Persistent);
    group.operate(&transaction, false);
    group.end_items(0, &[0]);
    group.run_until(15_000);
    assert_eq!(begun(&group).len(), 2);
    assert!(!group.exists(&JobPath::Item(1, ItemNode::Misfire)), "no instance would act on it");
}

/// A group that calls a listener once for each fire.
fn listened(total: u32) -> Group {
    let once = Some(OnceTimeouts { started: None, completed: None });
    let settle = ListenerSpec { type_name: "settle".into(), order: 0, once };
    Group::listening(2, &after(total).job_listener_type("settle").build().unwrap(), [settle])
}

#[test]
fn a_listener_of_the_group_waits_for_held_items_after_the_others_and_not_before_them() {
    let mut group = listened(2);
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL), (AT, RUNS)]);
    let [first, second] = [0, 1].map(|item| group.owners(2)[item].unwrap());
    assert_eq!(group.callers(), [first], "item 1 is held");
    assert_eq!(group.end_call(first).0, Hook::Before);
    assert_eq!(begun(&group), [(AT, 0)]);
    group.end_items(first, &[0]);
    group.run_until(30_000);
    assert!(group.callers().is_empty(), "item 1 is a part of the fire");
    learn(&mut group, &[(AT, WELL), (AT, WELL)]);
    assert_eq!(begun(&group), [(AT, 0), (AT, 1)], "the call before the items was made");
    assert!(group.callers().is_empty());
    group.end_items(second, &[1]);
    let [caller] = group.callers()[..] else { panic!("called by {:?}", group.callers()) };
    assert_eq!(group.end_call(caller).0, Hook::After);
    group.run_until(40_000);
    assert!(group.callers().is_empty(), "each call is made once");
}

#[test]
fn a_listener_of_the_group_does_not_wait_for_an_item_that_is_skipped() {
    let mut group = listened(2);
    group.run_until(6_000);
    let leads = leader(&group);
    let own = (0..2).find(|item| group.owners(2)[*item as usize] == Some(leads)).unwrap();
    group.disconnect(1 - leads);
    let ends = [0, 1].map(|item| (AT, if item == own { WELL } else { BADLY }));
    learn(&mut group, &ends);
    assert_eq!(group.callers(), [leads], "the instance that skips the other item has not written it yet");
    group.end_call(leads);
    group.end_items(leads, &[own]);
    assert_eq!(group.callers(), [leads]);
    assert_eq!(group.end_call(leads).0, Hook::After);
}

#[test]
fn a_listener_of_the_group_does_not_wait_for_ever_for_an_item_that_was_released_and_is_not_begun() {
    let mut group = listened(2);
    group.run_until(6_000);
    let leads = leader(&group);
    let own = (0..2).find(|item| group.owners(2)[*item as usize] == Some(leads)).unwrap();
    learn(&mut group, &[0, 1].map(|item| (AT, if item == own { WELL } else { RUNS })));
    group.end_call(leads);
    group.end_items(leads, &[own]);
    group.disconnect(1 - leads);
    learn(&mut group, &[(AT, WELL), (AT, WELL)]);
    group.run_until(15_900);
    assert!(group.callers().is_empty(), "the instance that is cut off may begin it");
    group.run_until(16_100);
    assert_eq!(group.callers(), [leads]);
}

#[test]
fn a_listener_does_not_wait_for_a_held_item_that_an_operator_disabled() {
    let bell = ListenerSpec { type_name: "bell".into(), order: 0, once: None };
    let mut group = Group::listening(1, &after(2).job_listener_type("bell").build().unwrap(), [bell]);
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL), (AT, RUNS)]);
    assert_eq!(group.end_call(0).0, Hook::Before);
    group.end_items(0, &[0]);
    assert!(group.callers().is_empty(), "item 1 is a part of the fire");
    let mut operator = Transaction::new();
    operator.create(JobPath::Item(1, ItemNode::Disabled).absolute(&job()), "", CreateMode::Persistent);
    group.operate(&operator, false);
    assert_eq!(group.callers(), [0]);
    assert_eq!(group.end_call(0).0, Hook::After);
}

#[test]
fn the_rest_of_a_fire_that_comes_due_as_a_whole_by_a_changed_configuration_is_not_late() {
    let mut group = Group::settled(1, &after(2).misfire(false).build().unwrap());
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL), (AT, RUNS)]);
    group.end_items(0, &[0]);
    group.run_until(30_000);
    let all = JobConfiguration::builder("job", 2).depends_on(["extract"]).misfire(false).build().unwrap();
    group.set(&JobPath::Config, &wire::to_yaml(&all));
    group.run_until(40_000);
    learn(&mut group, &[(AT, WELL), (AT, WELL)]);
    group.run_until(41_000);
    assert_eq!(begun(&group), [(AT, 0), (AT, 1)]);
}

#[test]
fn totals_that_differ_are_told_once_and_nothing_begins_before_they_are_equal() {
    let mut group = Group::settled(1, &after(2).build().unwrap());
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL), (AT, WELL), (AT, RUNS)]);
    learn(&mut group, &[(AT, WELL), (AT, WELL), (AT, WELL)]);
    let told = Notice::TotalsDiffer { other: extract(), of_other: 3, own: 2 };
    assert_eq!(notices(&group).filter(|notice| **notice == told).count(), 1);
    assert_eq!(begun(&group), []);
    learn(&mut group, &[(AT, WELL), (AT, WELL)]);
    assert_eq!(begun(&group), [(AT, 0), (AT, 1)]);
}

#[test]
fn a_manual_trigger_waits_for_nothing() {
    let mut group = Group::settled(1, &after(2).build().unwrap());
    group.run_until(6_000);
    learn(&mut group, &[(AT, WELL), (AT, RUNS)]);
    group.end_items(0, &[0]);
    group.run_until(7_000);
    let trigger = group.own_trigger(0);
    let mut transaction = Transaction::new();
    transaction.create(JobPath::Triggers.absolute(&job()), "", CreateMode::Persistent);
    transaction.create(trigger, "", CreateMode::Persistent);
    group.operate(&transaction, false);
    let manual = |group: &Group| {
        group
            .starts(0)
            .into_iter()
            .filter(|(fire, ..)| matches!(fire, Fire::Manual { .. }))
            .flat_map(|start| start.2)
            .count()
    };
    assert_eq!(manual(&group), 2);
    group.end_items(0, &[0, 1]);
    group.run_until(9_000);
    learn(&mut group, &[(AT, WELL), (AT, WELL)]);
    let (fire, _, items) = group.starts(0).pop().unwrap();
    assert_eq!((fire, items), (Fire::Scheduled(AT), vec![1]));
}
