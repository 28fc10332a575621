//! Listeners that are called once for the group, transaction by transaction.

use std::time::Duration;

use super::group::{EPOCH, Group, Lost, job};
use crate::config::{JobConfiguration, JobConfigurationBuilder};
use crate::engine::{Event, ListenerSpec, Notice, OnceCalls, OnceTimeouts};
use crate::fire::{Fire, Hook, SkipReason, WaitedFor};
use crate::ident::{InstanceId, ShardingItem};
use crate::job_status::Activity;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, Transaction};

const FIRST: Fire = Fire::Scheduled(EPOCH + 5_000);

/// Every five seconds, with the listener.
fn listened(total: u32) -> JobConfigurationBuilder {
    JobConfiguration::builder("job", total).cron("0/5 * * * * ?").job_listener_type("settle")
}

fn settle(started: Option<u64>, completed: Option<u64>) -> ListenerSpec {
    let limit = |limit: Option<u64>| limit.map(Duration::from_secs);
    let once = OnceTimeouts { started: limit(started), completed: limit(completed) };
    ListenerSpec { type_name: "settle".into(), order: 0, once: Some(once) }
}

/// A group with an item each, one second before a fire.
fn group(instances: u32, configuration: JobConfigurationBuilder) -> Group {
    Group::listening(instances, &configuration.build().unwrap(), [settle(None, None)])
}

fn items_of(group: &Group, host: usize) -> Vec<ShardingItem> {
    let total = group.tree.children("/job/sharding").unwrap().unwrap().len() as u32;
    (0..total).zip(group.owners(total)).filter(|(_, owner)| *owner == Some(host)).map(|(item, _)| item).collect()
}

fn activity(group: &Group, host: usize) -> Activity {
    group.hosts[host].engine.status().activity
}

fn started(group: &Group) -> Vec<usize> {
    (0..group.hosts.len()).filter(|host| !group.hosts[*host].started.is_empty()).collect()
}

/// Ends the items of these hosts.
fn end_items(group: &mut Group, hosts: &[usize]) {
    for host in hosts {
        let items = items_of(group, *host);
        group.end_items(*host, &items);
    }
}

/// Runs the call before the first fire, after which all items run.
fn begin(group: &mut Group) -> usize {
    group.run_until(5_000);
    let [caller] = group.callers()[..] else { panic!("called by {:?}", group.callers()) };
    assert_eq!(group.end_call(caller), (Hook::Before, vec!["settle".to_owned()]));
    caller
}

#[test]
fn one_instance_calls_and_the_others_wait_for_it() {
    let mut group = group(3, listened(3));
    group.run_until(5_000);
    let [caller] = group.callers()[..] else { panic!("called by {:?}", group.callers()) };
    assert_eq!(items_of(&group, caller), [0], "it is the turn of the lowest item");
    assert!(started(&group).is_empty());
    for host in (0..3).filter(|host| *host != caller) {
        assert_eq!(activity(&group, host), Activity::AwaitingStarted(FIRST));
    }
    group.end_call(caller);
    assert_eq!(started(&group), [0, 1, 2]);

    end_items(&mut group, &[0, 1]);
    assert!(group.callers().is_empty());
    assert_eq!(activity(&group, 0), Activity::AwaitingCompleted(FIRST));
    end_items(&mut group, &[2]);
    assert_eq!(group.callers(), [caller]);
    assert_eq!(group.end_call(caller), (Hook::After, vec!["settle".to_owned()]));
    assert!((0..3).all(|host| activity(&group, host) == Activity::Idle));
    let calls = OnceCalls::parse(group.text(&JobPath::Rounds).unwrap().as_bytes()).calls;
    assert_eq!(
        calls.iter().map(|call| (call.fire(), call.hook)).collect::<Vec<_>>(),
        [(FIRST, Hook::Before), (FIRST, Hook::After)]
    );
    assert_eq!(group.tree.children("/job/guarantee").unwrap().unwrap(), ["rounds"]);
}

#[test]
fn a_fire_costs_four_transactions_more_for_who_calls_and_reads_for_the_others() {
    let mut group = group(3, listened(3));
    let caller = begin(&mut group);
    end_items(&mut group, &[0, 1, 2]);
    group.end_call(caller);
    // From the second fire on the live instances are known.
    group.hosts.iter_mut().for_each(|host| host.clear());
    group.run_until(10_000);
    group.end_call(caller);
    end_items(&mut group, &[0, 1, 2]);
    group.end_call(caller);
    let cost = |host: &super::group::Host| (host.commits.len(), host.reads);
    let (calls, waits): (Vec<_>, Vec<_>) = (0..3).partition(|host| *host == caller);
    assert_eq!(cost(&group.hosts[calls[0]]).0, 6);
    for host in waits {
        let (commits, reads) = cost(&group.hosts[host]);
        // The record four times, and that of each item that still ran when the own one had ended, until it ends.
        assert!(commits == 2 && reads <= 4 + 2 * 2, "{commits} transactions and {reads} reads");
    }
}

#[test]
fn the_last_one_to_begin_is_waited_for() {
    let mut group = group(2, listened(2));
    group.disconnect(1);
    group.run_until(7_000);
    assert!(group.callers().is_empty() && started(&group).is_empty());
    group.connect(1);
    group.run_until(7_500);
    let [caller] = group.callers()[..] else { panic!("called by {:?}", group.callers()) };
    group.end_call(caller);
    assert_eq!(started(&group), [0, 1]);
}

#[test]
fn what_does_not_begin_while_the_fire_is_open_is_not_waited_for() {
    let mut group = group(2, listened(2));
    group.disconnect(1);
    // The session of the other one lives.
    for second in 5..=14 {
        group.run_until(second * 1_000);
        assert!(group.callers().is_empty());
    }
    group.run_until(15_000);
    assert_eq!(group.callers(), [0]);
}

#[test]
fn items_that_are_disabled_or_without_a_live_owner_are_not_waited_for() {
    let mut group = group(3, listened(3));
    let disabled = items_of(&group, 1)[0];
    let mut transaction = Transaction::new();
    transaction.create(JobPath::Item(disabled, ItemNode::Disabled).absolute(&job()), "", CreateMode::Persistent);
    group.operate(&transaction, false);
    group.kill(2);
    group.run_until(5_300);
    assert_eq!(group.callers().len(), 1);
}

#[test]
fn an_item_that_is_busy_with_an_older_fire_is_not_waited_for_and_comes_late() {
    let mut group = group(2, listened(2));
    let caller = begin(&mut group);
    let slow = 1 - caller;
    let taken: Vec<ShardingItem> = items_of(&group, caller);
    // Only one of the two waits for the other: the busy one still runs the first fire.
    group.end_items(caller, &taken);
    group.run_until(9_900);
    assert_eq!(activity(&group, caller), Activity::AwaitingCompleted(FIRST));
    let items = items_of(&group, slow);
    group.end_items(slow, &items);
    let [after] = group.callers()[..] else { panic!("called by {:?}", group.callers()) };
    assert_eq!(group.end_call(after).0, Hook::After);
    group.run_until(10_000);
    assert_eq!(group.callers(), [caller]);
}

#[test]
fn items_of_java_that_ended_before_the_call_was_claimed_are_not_waited_for_again() {
    let mut group = group(2, listened(2));
    // The owner of the lowest item plays a Java instance, which does not wait for the call.
    let java = group.owners(1)[0].unwrap();
    group.disconnect(java);
    let mark = JobPath::running(0).absolute(&job());
    group.run_until(6_000);
    let mut transaction = Transaction::new();
    transaction.create(mark.clone(), "", CreateMode::Ephemeral);
    group.operate(&transaction, false);
    group.run_until(6_100);
    assert!(group.callers().is_empty(), "it is the turn of the lowest item");
    let mut transaction = Transaction::new();
    transaction.delete(mark, None);
    group.operate(&transaction, false);
    assert_eq!(group.callers(), [1 - java]);
}

#[test]
fn a_wait_has_its_time_out_and_the_run_goes_on() {
    let configuration = listened(2).misfire(false).build().unwrap();
    let mut group = Group::listening(2, &configuration, [settle(Some(2), Some(3))]);
    group.disconnect(1);
    group.run_until(6_900);
    assert!(started(&group).is_empty());
    group.run_until(7_100);
    assert_eq!(started(&group), [0]);
    let other = items_of(&group, 1);
    let told = |hook, waited_for| Notice::ListenerTimedOut { fire: FIRST, listener: "settle".into(), hook, waited_for };
    assert!(group.hosts[0].notices.contains(&told(Hook::Before, WaitedFor::Items(other.clone()))));

    // The other one comes late: it is called now, as it was not before, and runs longer than may be waited for.
    group.connect(1);
    group.run_until(7_800);
    assert_eq!(group.callers(), [1]);
    group.end_call(1);
    end_items(&mut group, &[0]);
    group.run_until(10_700);
    assert_eq!(activity(&group, 0), Activity::AwaitingCompleted(FIRST));
    group.run_until(11_000);
    assert!(group.hosts[0].notices.contains(&told(Hook::After, WaitedFor::Items(other))));
    end_items(&mut group, &[1]);
    assert_eq!(group.callers(), [1], "the instance that still waits calls it");
}

#[test]
fn a_call_that_does_not_end_is_waited_for_no_longer_than_allowed() {
    let configuration = listened(2).build().unwrap();
    let mut group = Group::listening(2, &configuration, [settle(Some(2), None)]);
    group.run_until(5_000);
    let [caller] = group.callers()[..] else { panic!("called by {:?}", group.callers()) };
    group.run_until(7_100);
    assert_eq!(started(&group), [1 - caller]);
    let by = group.hosts[caller].engine.instance().clone();
    let is_told = |notice: &Notice| matches!(notice, Notice::ListenerTimedOut { waited_for: WaitedFor::Call { by: told }, .. } if *told == by);
    assert!(group.hosts[1 - caller].notices.iter().any(is_told));
    group.end_call(caller);
    assert_eq!(started(&group), [0, 1]);
}

#[test]
fn when_the_one_that_calls_dies_the_others_go_on_and_it_is_not_called_again() {
    for hook in [Hook::Before, Hook::After] {
        let mut group = group(3, listened(3));
        if hook == Hook::After {
            begin(&mut group);
            end_items(&mut group, &[0, 1, 2]);
        } else {
            group.run_until(5_000);
        }
        let [caller] = group.callers()[..] else { panic!("called by {:?}", group.callers()) };
        let by = group.hosts[caller].engine.instance().clone();
        group.kill(caller);
        group.hosts[caller].calls.clear();
        let rest: Vec<usize> = (0..3).filter(|host| *host != caller).collect();
        for host in &rest {
            let interrupted =
                Notice::ListenerInterrupted { fire: FIRST, listener: "settle".into(), hook, by: by.clone() };
            assert!(group.hosts[*host].notices.contains(&interrupted), "{:?}", group.hosts[*host].notices);
        }
        assert!(group.callers().is_empty());
        match hook {
            Hook::Before => assert!(rest.iter().all(|host| started(&group).contains(host))),
            Hook::After => assert!(rest.iter().all(|host| activity(&group, *host) == Activity::Idle)),
        }
    }
}

#[test]
fn a_claim_whose_answer_got_lost_is_acted_on_once() {
    for lost in [Lost::AfterItWasApplied, Lost::BeforeItArrived] {
        let mut group = group(1, listened(1));
        group.run_until(4_999);
        group.hosts[0].clear();
        (group.hosts[0].answered_before, group.hosts[0].lost) = (1, lost);
        group.run_until(6_000);
        assert_eq!(group.hosts[0].calls.len(), 1, "{lost:?}");
        group.end_call(0);
        assert_eq!(started(&group), [0], "{lost:?}");
    }
}

#[test]
fn items_that_are_taken_over_belong_to_the_round_and_it_is_called_once() {
    let mut group = group(3, listened(3).failover(true));
    let caller = begin(&mut group);
    let rest: Vec<usize> = (0..3).filter(|host| *host != caller).collect();
    let own = [caller, rest[1]].map(|host| items_of(&group, host));
    group.kill(rest[0]);
    group.end_items(caller, &own[0]);
    group.run_until(5_900);
    let taker = [caller, rest[1]].into_iter().find(|host| !group.hosts[*host].engine.status().taken_over.is_empty());
    let taker = taker.expect("an instance took the item over");
    let taken = group.hosts[taker].engine.status().taken_over;
    assert!(group.callers().is_empty(), "it starts without another call");
    group.end_items(rest[1], &own[1]);
    group.run_until(7_000);
    assert!(group.callers().is_empty(), "the item that was taken over has not ended");
    group.end_items(taker, &taken);
    group.run_until(8_500);
    let [after] = group.callers()[..] else { panic!("called by {:?}", group.callers()) };
    assert_eq!(group.end_call(after).0, Hook::After);
    assert!(group.callers().is_empty());
}

#[test]
fn a_fire_that_is_made_up_for_where_others_ran_it_is_not_called_again() {
    let mut group = group(2, listened(2));
    let caller = begin(&mut group);
    let slow = 1 - caller;
    end_items(&mut group, &[caller]);
    group.run_until(10_500);
    // Both missed the second fire, as one of them waits for the other.
    end_items(&mut group, &[slow]);
    let [after] = group.callers()[..] else { panic!("called by {:?}", group.callers()) };
    group.end_call(after);
    group.run_until(10_900);
    let mut calls = 0;
    while let Some(host) = group.callers().first().copied() {
        assert_eq!(group.hosts[host].calls[0].key.fire, Fire::Scheduled(EPOCH + 10_000));
        group.end_call(host);
        group.run_until(10_950);
        calls += 1;
    }
    assert_eq!(calls, 1);
    assert!((0..2).all(|host| group.starts(host).len() == 2));
}

#[test]
fn a_job_that_is_not_monitored_is_with_such_a_listener() {
    let mut group = group(1, listened(1).monitor_execution(false));
    begin(&mut group);
    assert!(group.exists(&JobPath::running(0)));
    assert!(group.hosts[0].started[0].items[0].1.is_some(), "there is a token");
}

#[test]
fn a_fire_that_is_skipped_while_others_are_waited_for_is_written_for_those_who_began_it() {
    let mut group = group(2, listened(2).misfire(false));
    let caller = begin(&mut group);
    end_items(&mut group, &[caller]);
    group.run_until(10_100);
    let skipped = SkipReason::StillRunning { since: FIRST };
    let notice = Notice::Skipped { fire: Fire::Scheduled(EPOCH + 10_000), items: vec![], reason: skipped };
    assert!(group.hosts[caller].notices.contains(&notice));
    let item = items_of(&group, caller)[0];
    assert!(group.text(&JobPath::fire(item)).unwrap().contains(&format!("\"through\":{}", EPOCH + 10_000)));
}

#[test]
fn a_fire_that_is_skipped_is_written_for_items_that_moved_here_during_the_run() {
    let mut group = group(2, listened(2).misfire(false));
    begin(&mut group);
    let item = items_of(&group, 1)[0];
    end_items(&mut group, &[1]);
    group.run_until(7_000);
    let session = group.hosts[1].session;
    group.kill(1);
    group.expire(session);
    group.run_until(10_100);
    assert!(items_of(&group, 0).contains(&item));
    assert!(group.text(&JobPath::fire(item)).unwrap().contains(&format!("\"through\":{}", EPOCH + 10_000)));
    assert_eq!(group.starts(0).len(), 1);
}

#[test]
fn a_fire_is_not_skipped_for_an_item_that_ended_and_moved_on() {
    let mut group = group(1, listened(2).misfire(false));
    begin(&mut group);
    group.end_items(0, &[0]);
    group.run_until(7_000);
    let joiner = group.join("10.0.0.2", &listened(2).misfire(false).build().unwrap());
    group.run_until(10_000);
    assert_eq!(items_of(&group, joiner), [0], "item 1 runs");
    let reason = SkipReason::StillRunning { since: FIRST };
    let skipped = Notice::Skipped { fire: Fire::Scheduled(EPOCH + 10_000), items: vec![], reason };
    assert!(group.hosts[0].notices.contains(&skipped));
    assert!(group.text(&JobPath::fire(0)).unwrap().contains(&format!("\"at\":{}", EPOCH + 10_000)), "it was begun");
}

#[test]
fn whoever_leaves_does_not_wait_for_the_items_of_others_and_the_last_one_calls() {
    let mut group = group(2, listened(2));
    let caller = begin(&mut group);
    let other = 1 - caller;
    group.tell(caller, Event::Shutdown { grace: Duration::from_secs(5) });
    group.tell(other, Event::Shutdown { grace: Duration::from_secs(5) });
    end_items(&mut group, &[caller]);
    assert!(group.hosts[caller].stopped);
    assert!(!group.hosts[other].stopped);
    let items = group.hosts[other].engine.status().running;
    group.end_items(other, &items);
    group.run_until(6_000);
    assert_eq!(group.end_call(other).0, Hook::After);
    assert!(group.hosts[other].stopped);
    let call = OnceCalls::parse(group.text(&JobPath::Rounds).unwrap().as_bytes()).calls.pop().unwrap();
    assert_eq!(call.instance, InstanceId::of_process(&format!("10.0.0.{}", other + 1), 7));
}

#[test]
fn an_instance_that_leaves_does_not_wait_for_others_to_begin() {
    let mut group = group(2, listened(2));
    group.disconnect(1);
    group.run_until(5_100);
    assert_eq!(activity(&group, 0), Activity::AwaitingStarted(FIRST));
    // The other one may leave too, and begin nothing more.
    group.tell(0, Event::Shutdown { grace: Duration::from_secs(25) });
    group.run_until(6_000);
    assert_eq!(group.callers(), [0]);
    assert_eq!(group.end_call(0), (Hook::Before, vec!["settle".to_owned()]));
    assert_eq!(started(&group), [0]);
}

#[test]
fn a_call_that_is_cut_off_is_heard_of_when_the_item_is_begun_again_before_it_ends() {
    let mut group = group(2, listened(1).failover(true));
    let first = group.owners(1)[0].unwrap();
    let heir = 1 - first;
    group.run_until(4_999);
    // The item begins, and the call is never claimed.
    (group.hosts[first].answered_before, group.hosts[first].lost) = (1, Lost::BeforeItArrived);
    group.run_until(5_000);
    group.kill(first);
    assert_eq!(group.callers(), [heir]);
    group.disconnect(heir);
    group.run_until(12_000);
    assert_eq!((group.hosts[heir].calls_cancelled.len(), group.hosts[heir].calls.len()), (1, 1));
    group.connect(heir);
    assert!(group.exists(&JobPath::running(0)) && started(&group).is_empty(), "it waits for the end of the call");
    group.end_call(heir);
    assert_eq!(started(&group), [heir]);
}
