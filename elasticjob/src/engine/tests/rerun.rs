//! Past fires that are run again.

use std::sync::Arc;

use super::group::{EPOCH, Group, Lost, every_five, job};
use crate::config::JobConfiguration;
use crate::engine::{DependencyRecord, Event, FollowedRerun, Notice, ParentItem, ParentView};
use crate::fire::{Attempt, ExecutionSource, Fire, FireRecord, FireState, ItemEnd, Rerun, SkipReason, TriggerData};
use crate::ident::{InstanceId, JobName};
use crate::registry::layout::JobPath;
use crate::registry::{CreateMode, SessionId, Transaction};

const FIRE: i64 = EPOCH - 5_000;
const RERUN: Rerun = Rerun { of: FIRE, asked: EPOCH + 4_001 };

/// An operator runs the fire again, on these hosts.
fn ask(group: &mut Group, hosts: &[usize]) {
    let mut transaction = Transaction::new();
    if !group.exists(&JobPath::Triggers) {
        transaction.create(JobPath::Triggers.absolute(&job()), "", CreateMode::Persistent);
    }
    for host in hosts {
        transaction.create(group.own_trigger(*host), TriggerData::from(RERUN).to_bytes(), CreateMode::Persistent);
    }
    group.operate(&transaction, false);
}

fn record(group: &Group, item: u32) -> FireRecord {
    FireRecord::parse(group.text(&JobPath::fire(item)).unwrap().as_bytes())
}

#[test]
fn a_re_run_is_a_trigger_that_knows_its_fire_and_leaves_the_schedule_alone() {
    let mut group = Group::settled(1, &every_five(2));
    ask(&mut group, &[0]);
    let (fire, source, items) = group.starts(0)[0].clone();
    assert_eq!((fire.rerun(), fire.scheduled_for()), (Some(RERUN), FIRE));
    assert_eq!((source, items), (ExecutionSource::NormalTrigger, vec![0, 1]));
    assert!(matches!(fire, Fire::Manual { at, .. } if at >= EPOCH), "{fire}");
    let begun = record(&group, 0);
    assert_eq!((begun.last_fire(), begun.through), (Some(fire), None));
    group.end_items(0, &[0, 1]);
    group.run_until(5_000);
    assert_eq!(group.starts(0)[1].0, Fire::Scheduled(EPOCH + 5_000));
    group.end_items(0, &[0, 1]);
    group.run_until(9_000);
    assert_eq!(group.starts(0).len(), 2, "each is run once");
}

#[test]
fn the_instance_that_takes_a_re_run_over_knows_its_fire() {
    let configuration = JobConfiguration::builder("job", 2).cron("0/5 * * * * ?").failover(true).build().unwrap();
    let mut group = Group::settled(2, &configuration);
    ask(&mut group, &[0, 1]);
    let (fire, _, lost) = group.starts(0)[0].clone();
    group.kill(0);
    let taken = group.starts(1).pop().unwrap();
    assert_eq!(taken, (fire, ExecutionSource::Failover, lost.clone()));
    assert_eq!(taken.0.rerun(), Some(RERUN));
    assert_eq!(record(&group, lost[0]).last.unwrap().rerun(), Some(RERUN));
}

#[test]
fn the_instance_that_runs_it_for_one_that_was_gone_before_knows_its_fire() {
    let configuration = JobConfiguration::builder("job", 2).failover(true).build().unwrap();
    let mut group = Group::settled(2, &configuration);
    let item = (0..2).find(|item| group.owners(2)[*item as usize] == Some(0)).unwrap();
    group.hosts[0].connected = false;
    ask(&mut group, &[0]);
    group.kill(0);
    group.run_until(6_000);
    let starts = group.starts(1);
    assert_eq!(
        starts.iter().map(|start| (start.0.rerun(), &start.2[..])).collect::<Vec<_>>(),
        [(Some(RERUN), &[item][..])]
    );
    assert_eq!(starts[0].1, ExecutionSource::Failover);
}

#[test]
fn a_re_run_whose_begin_was_not_answered_is_begun_once_for_its_fire() {
    let mut group = Group::settled(1, &every_five(1));
    group.hosts[0].lost = Lost::AfterItWasApplied;
    ask(&mut group, &[0]);
    group.run_until(4_900);
    let fires: Vec<Option<Rerun>> = group.starts(0).into_iter().map(|start| start.0.rerun()).collect();
    assert_eq!(fires, [Some(RERUN)]);
}

fn extract() -> JobName {
    JobName::new("extract").unwrap()
}

fn after(when: &str) -> JobConfiguration {
    JobConfiguration::builder("job", 1).depends_on([format!("extract when {when}")]).build().unwrap()
}

/// The job before it, whose item stands so for the re-run; `None` before it has begun.
fn view(state: Option<FireState>) -> ParentView {
    let record = |record: FireRecord, fire: Fire, state| {
        let (instance, attempt) = (InstanceId::of_process("10.0.0.9", 7), Attempt::new(SessionId(9), 7, 1));
        let begun = record.begin(fire.at(), fire, ExecutionSource::NormalTrigger, instance, attempt);
        match state {
            FireState::Running => begun,
            state => begun.end(fire.at() + 1, &ItemEnd { state, took: 1, error: None }),
        }
    };
    let first = record(FireRecord::empty(), Fire::Scheduled(FIRE), FireState::Failed);
    let fire = Fire::manual(90, EPOCH + 4_002, Some(RERUN));
    let last = state.map_or(first.clone(), |state| record(first, fire, state));
    let configuration = JobConfiguration::builder("extract", 1).cron("0/5 * * * * ?").build().unwrap();
    let marked = state == Some(FireState::Running);
    let items = [(0, ParentItem { record: last, written: 0, disabled: false, marked })].into();
    ParentView {
        configuration: Some(Arc::new(configuration)),
        items,
        triggered: state.is_none(),
        ..ParentView::default()
    }
}

fn parent_stands(group: &mut Group, state: Option<FireState>) {
    for host in 0..group.hosts.len() {
        if group.hosts[host].following == [extract()] {
            group.tell(host, Event::Parent { job: extract(), view: Box::new(view(state)) });
        }
    }
}

fn decided(group: &Group) -> DependencyRecord {
    DependencyRecord::parse(group.text(&JobPath::Dependencies).unwrap().as_bytes()).unwrap()
}

/// An operator runs the fire of the job before it again.
fn noted(group: &mut Group) {
    let record = decided(group).with_rerun(FollowedRerun::new(RERUN, extract(), vec![]));
    group.set(&JobPath::Dependencies, &String::from_utf8(record.to_bytes()).unwrap());
}

fn runs(group: &Group) -> Vec<Option<Rerun>> {
    (0..group.hosts.len()).flat_map(|host| group.starts(host)).map(|start| start.0.rerun()).collect()
}

#[test]
fn the_job_after_it_runs_once_for_the_same_fire_when_it_has_ended_well() {
    let mut group = Group::settled(2, &after("succeeded"));
    let through = decided(&group).through;
    noted(&mut group);
    parent_stands(&mut group, None);
    parent_stands(&mut group, Some(FireState::Running));
    assert_eq!(runs(&group), [], "it has not ended");
    parent_stands(&mut group, Some(FireState::Succeeded));
    assert_eq!(runs(&group), [Some(RERUN)]);
    let told = Notice::RerunFollowed { rerun: RERUN, from: extract() };
    assert_eq!(group.hosts.iter().flat_map(|host| &host.notices).filter(|notice| **notice == told).count(), 1);
    let record = decided(&group);
    assert_eq!((record.through, record.due, record.reruns[0].decided), (through, None, Some(EPOCH + 4_000)));
    let owner = group.owners(1)[0].unwrap();
    group.end_items(owner, &[0]);
    parent_stands(&mut group, Some(FireState::Succeeded));
    // The next leader finds that it was decided.
    let leader = (0..2).find(|host| group.hosts[*host].engine.status().leader).unwrap();
    group.kill(leader);
    group.run_until(7_000);
    parent_stands(&mut group, Some(FireState::Succeeded));
    group.run_until(9_000);
    assert_eq!(runs(&group), [Some(RERUN)]);
}

#[test]
fn it_is_skipped_and_told_once_where_the_job_before_it_fails_again() {
    let mut group = Group::settled(2, &after("succeeded"));
    noted(&mut group);
    parent_stands(&mut group, Some(FireState::Failed));
    parent_stands(&mut group, Some(FireState::Failed));
    assert_eq!(runs(&group), []);
    let reason = SkipReason::DependencyNotMet { job: extract(), end: "failed".to_owned(), when: "succeeded" };
    let told = Notice::RerunSkipped { rerun: RERUN, reason };
    assert_eq!(group.hosts.iter().flat_map(|host| &host.notices).filter(|notice| **notice == told).count(), 1);
    assert!(decided(&group).reruns[0].skipped.is_some());
    let mut group = Group::settled(1, &after("failed"));
    noted(&mut group);
    parent_stands(&mut group, Some(FireState::Failed));
    assert_eq!(runs(&group), [Some(RERUN)]);
}

#[test]
fn a_leader_that_dies_leaves_the_re_run_to_the_next_one() {
    let mut group = Group::settled(3, &after("ended"));
    noted(&mut group);
    let leader = (0..3).find(|host| group.hosts[*host].engine.status().leader).unwrap();
    group.kill(leader);
    group.run_until(7_000);
    parent_stands(&mut group, Some(FireState::Failed));
    assert_eq!(runs(&group), [Some(RERUN)]);
}

#[test]
fn a_re_run_that_no_item_begins_is_decided_some_time_after_its_triggers_were_taken() {
    let mut group = Group::settled(1, &after("failed"));
    noted(&mut group);
    parent_stands(&mut group, None);
    group.run_until(30_000);
    assert_eq!(decided(&group).reruns[0].decided, None, "a trigger waits");
    let mut taken = ParentView { triggered: false, ..view(None) };
    // Long before the re-run was asked for.
    taken.items.values_mut().for_each(|item| item.written = FIRE - 60_000);
    group.tell(0, Event::Parent { job: extract(), view: Box::new(taken) });
    group.run_until(41_900);
    assert_eq!(decided(&group).reruns[0].decided, None, "an item may come to an instance");
    group.run_until(42_100);
    assert_eq!(runs(&group), [Some(RERUN)], "it was not run");
}

#[test]
fn it_waits_for_a_trigger_that_waits_and_for_an_instance_that_may_run_it() {
    let mut group = Group::settled(1, &after("succeeded"));
    group.tell(0, Event::Trigger(1, None));
    group.tell(0, Event::Trigger(2, None));
    assert_eq!(runs(&group), [None]);
    noted(&mut group);
    parent_stands(&mut group, Some(FireState::Succeeded));
    assert_eq!(runs(&group), [None], "the second trigger waits for the run of the first");
    group.end_items(0, &[0]);
    assert_eq!(runs(&group), [None, None]);
    group.end_items(0, &[0]);
    assert_eq!(runs(&group), [None, None, Some(RERUN)]);
}
