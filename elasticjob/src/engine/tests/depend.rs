//! A job that runs after other jobs.

use std::sync::Arc;

use super::group::{EPOCH, Group, every_five, job};
use crate::config::JobConfiguration;
use crate::engine::{DependencyRecord, Event, Notice, ParentItem, ParentView};
use crate::fire::{Attempt, ExecutionSource, Fire, FireRecord, FireState, ItemEnd, SkipReason};
use crate::ident::{InstanceId, JobName};
use crate::registry::SessionId;
use crate::registry::layout::JobPath;

/// The first fire of the job before it that came after the group was there.
const AT: i64 = EPOCH + 5_000;
const NEXT: i64 = EPOCH + 10_000;

fn extract() -> JobName {
    JobName::new("extract").unwrap()
}

fn after(total: u32) -> JobConfiguration {
    JobConfiguration::builder("job", total).depends_on(["extract"]).build().unwrap()
}

fn view(at: i64, state: FireState) -> ParentView {
    view_of_items(at, &[state])
}

fn view_of_items(at: i64, states: &[FireState]) -> ParentView {
    let (instance, attempt) = (InstanceId::of_process("10.0.0.9", 7), Attempt::new(SessionId(9), 7, 1));
    let begun = FireRecord::empty().begin(at, Fire::Scheduled(at), ExecutionSource::NormalTrigger, instance, attempt);
    let record = |state| match state {
        FireState::Running => begun.clone(),
        state => begun.end(at + 1, &ItemEnd { state, took: 1, error: None }),
    };
    let item =
        |state| ParentItem { record: record(state), written: 0, disabled: false, marked: state == FireState::Running };
    let total = u32::try_from(states.len()).unwrap();
    let configuration = JobConfiguration::builder("extract", total).cron("0/5 * * * * ?").build().unwrap();
    let items = (0..).zip(states.iter().map(|state| item(*state))).collect();
    let (configuration, scheduled_since) = (Some(Arc::new(configuration)), Some(EPOCH));
    ParentView { configuration, scheduled_since, items, ..ParentView::default() }
}

/// The leader of the job before it has ended a fire so.
fn parent_ends(group: &mut Group, at: i64, state: FireState) {
    for host in 0..group.hosts.len() {
        if group.hosts[host].following == [extract()] {
            group.tell(host, Event::Parent { job: extract(), view: Box::new(view(at, state)) });
        }
    }
}

fn decided(group: &Group) -> DependencyRecord {
    DependencyRecord::parse(group.text(&JobPath::Dependencies).unwrap().as_bytes()).unwrap()
}

fn leaders(group: &Group) -> Vec<usize> {
    (0..group.hosts.len()).filter(|host| group.hosts[*host].engine.status().leader).collect()
}

#[test]
fn the_leader_alone_follows_and_all_instances_begin_when_the_job_before_has_ended() {
    let mut group = Group::settled(2, &after(2));
    let following: Vec<usize> = (0..2).filter(|host| group.hosts[*host].following == [extract()]).collect();
    assert_eq!(following, leaders(&group));
    group.run_until(5_100);
    parent_ends(&mut group, AT, FireState::Running);
    assert!(group.starts(0).is_empty() && group.starts(1).is_empty());
    group.run_until(9_000);
    parent_ends(&mut group, AT, FireState::Succeeded);
    let (fire, source) = (Fire::Scheduled(AT), ExecutionSource::NormalTrigger);
    let mut items: Vec<u32> = (0..2)
        .flat_map(|host| {
            let starts = group.starts(host);
            assert!(starts.iter().all(|start| (start.0, start.1) == (fire, source)), "{starts:?}");
            starts.into_iter().flat_map(|start| start.2)
        })
        .collect();
    items.sort_unstable();
    assert_eq!(items, [0, 1]);
    assert_eq!(decided(&group).due.map(|due| (due.at, due.since)), Some((AT, EPOCH + 9_000)));
    let is_late = |notice: &Notice| matches!(notice, Notice::BegunLate { .. });
    assert!(!group.hosts.iter().any(|host| host.notices.iter().any(is_late)), "it is not late");
}

#[test]
fn a_fire_that_failed_before_is_skipped_and_told_once() {
    let mut group = Group::settled(2, &after(1));
    group.run_until(6_000);
    parent_ends(&mut group, AT, FireState::Failed);
    group.run_until(8_000);
    parent_ends(&mut group, AT, FireState::Failed);
    assert!(group.starts(0).is_empty() && group.starts(1).is_empty());
    let reason = SkipReason::DependencyNotMet { job: extract(), end: "failed".to_owned(), when: "succeeded" };
    let told = Notice::Skipped { fire: Fire::Scheduled(AT), items: vec![], reason };
    let times = group.hosts.iter().flat_map(|host| &host.notices).filter(|notice| **notice == told).count();
    assert_eq!(times, 1);
    assert_eq!(decided(&group).through, AT);
    parent_ends(&mut group, NEXT, FireState::Succeeded);
    assert_eq!(group.starts(0).len() + group.starts(1).len(), 1, "the next one is run");
}

#[test]
fn a_leader_that_comes_after_the_end_decides_by_what_the_records_say() {
    let mut group = Group::settled(3, &after(1));
    let gone = leaders(&group)[0];
    group.run_until(5_500);
    group.kill(gone);
    group.run_until(7_000);
    let [leader] = leaders(&group).into_iter().filter(|host| *host != gone).collect::<Vec<_>>()[..] else {
        panic!("no leader")
    };
    assert_eq!(group.hosts[leader].following, [extract()]);
    parent_ends(&mut group, AT, FireState::Succeeded);
    let runs: usize = (0..3).filter(|host| *host != gone).map(|host| group.starts(host).len()).sum();
    assert_eq!(runs, 1);
}

#[test]
fn an_instance_that_is_killed_between_the_end_and_its_begin_leaves_the_fire_to_the_next_owner_and_nobody_runs_it_twice()
{
    let mut group = Group::settled(2, &after(1));
    let owner = group.owners(1)[0].unwrap();
    let other = 1 - owner;
    group.run_until(5_500);
    // The owner hears of nothing any more.
    group.hosts[owner].connected = false;
    if group.hosts[other].following.is_empty() {
        group.kill(owner);
        group.run_until(7_000);
    }
    parent_ends(&mut group, AT, FireState::Succeeded);
    if !group.hosts[owner].killed {
        group.kill(owner);
    }
    group.run_until(9_000);
    assert_eq!(group.starts(other), [(Fire::Scheduled(AT), ExecutionSource::NormalTrigger, vec![0])]);
    group.end_items(other, &[0]);
    group.join("10.0.0.7", &after(1));
    group.run_until(20_000);
    let again = group.starts(2);
    assert!(again.is_empty(), "{again:?}");
}

#[test]
fn what_was_scheduled_before_the_job_was_there_is_not_for_it() {
    let mut group = Group::settled(1, &after(1));
    parent_ends(&mut group, EPOCH, FireState::Succeeded);
    group.run_until(9_000);
    assert!(group.starts(0).is_empty());
}

#[test]
fn a_leader_whose_clock_is_ahead_at_its_start_leaves_no_fire_out() {
    let mut group = Group::new();
    group.clock_offset = 20_000;
    group.join("10.0.0.1", &after(1));
    group.run_until(4_000);
    assert!(decided(&group).through < AT);
    group.clock_offset = 0;
    group.run_until(6_000);
    parent_ends(&mut group, AT, FireState::Succeeded);
    group.run_until(7_000);
    assert_eq!(group.starts(0).len(), 1);
}

#[test]
fn a_leader_that_looks_at_everything_again_still_knows_how_items_of_other_jobs_ended() {
    let configuration = JobConfiguration::builder("job", 1).depends_on(["extract"]).reconcile_interval_minutes(1);
    let mut group = Group::settled(2, &configuration.build().unwrap());
    group.run_until(5_100);
    let leader = leaders(&group)[0];
    let tell = |group: &mut Group, at, states: [FireState; 2]| {
        group.tell(leader, Event::Parent { job: extract(), view: Box::new(view_of_items(at, &states)) });
    };
    tell(&mut group, AT, [FireState::Succeeded, FireState::Running]);
    group.run_until(90_000);
    assert!(group.hosts[leader].notices.contains(&Notice::Reconciling));
    assert!(decided(&group).decided.is_empty(), "an item still runs");
    // The other item ended too, and both have begun the next fire.
    tell(&mut group, NEXT, [FireState::Running, FireState::Running]);
    group.run_until(91_000);
    let decided: Vec<(i64, bool)> =
        decided(&group).decided.iter().map(|fire| (fire.at, fire.skipped.is_some())).collect();
    assert_eq!(decided, [(AT, true)], "it is not known how it ended, and that is said");
}

#[test]
fn what_was_seen_of_other_jobs_before_the_registry_center_lost_its_data_counts_no_more() {
    let mut group = Group::new();
    // All that is seen lies after the time of this clock, and so after the time from which the job follows others.
    group.clock_offset = -60_000;
    group.join("10.0.0.1", &after(1));
    group.run_until(5_500);
    parent_ends(&mut group, AT, FireState::Succeeded);
    assert_eq!(group.starts(0).len(), 1);
    group.end_items(0, &[0]);
    group.lose_data();
    group.connect_anew(0);
    group.run_until(6_000);
    assert_eq!(group.hosts[0].following, [extract()]);
    let mut lost = view(AT, FireState::Succeeded);
    lost.items.clear();
    group.tell(0, Event::Parent { job: extract(), view: Box::new(lost) });
    group.run_until(8_000);
    assert_eq!(group.starts(0).len(), 1);
    parent_ends(&mut group, NEXT, FireState::Succeeded);
    assert_eq!(group.starts(0).len(), 2);
}

#[test]
fn a_fire_from_before_the_registry_center_lost_its_data_does_not_begin_again_where_a_clock_ahead_made_it_due() {
    let any_clock =
        JobConfiguration::builder("job", 1).depends_on(["extract"]).max_time_diff_seconds(-1).build().unwrap();
    let mut group = Group::new();
    group.clock_offset = 2_000_000;
    group.join("10.0.0.1", &any_clock);
    group.join("10.0.0.2", &any_clock);
    group.run_until(6_000);
    parent_ends(&mut group, AT, FireState::Succeeded);
    let owner = group.owners(1)[0].unwrap();
    assert_eq!((group.starts(owner).len(), group.starts(1 - owner).len()), (1, 0));
    group.end_items(owner, &[0]);
    group.lose_data();
    group.clock_offset = 0;
    group.connect_anew(1 - owner);
    group.run_until(9_000);
    assert_eq!(group.owners(1), [Some(1 - owner)]);
    assert!(group.starts(1 - owner).is_empty());
}

#[test]
fn a_leader_whose_clock_is_behind_at_its_start_runs_no_fire_from_before_the_job() {
    let mut group = Group::new();
    group.clock_offset = -60_000;
    group.run_until(10_000);
    group.join("10.0.0.1", &after(1));
    group.run_until(14_000);
    parent_ends(&mut group, AT, FireState::Succeeded);
    group.clock_offset = 0;
    group.run_until(16_000);
    parent_ends(&mut group, AT, FireState::Succeeded);
    assert!(group.starts(0).is_empty());
}

#[test]
fn with_static_sharding_the_first_fire_assigns_the_items_at_once() {
    let configuration = JobConfiguration::builder("job", 1).depends_on(["extract"]).static_sharding(true);
    let mut group = Group::settled(1, &configuration.build().unwrap());
    group.run_until(6_000);
    parent_ends(&mut group, AT, FireState::Succeeded);
    assert_eq!(group.starts(0).len(), 1);
}

#[test]
fn a_fire_that_comes_during_a_run_is_made_up_for() {
    let mut group = Group::settled(1, &after(1));
    group.run_until(6_000);
    parent_ends(&mut group, AT, FireState::Succeeded);
    group.run_until(11_000);
    parent_ends(&mut group, NEXT, FireState::Succeeded);
    assert_eq!(group.starts(0).len(), 1);
    group.end_items(0, &[0]);
    group.run_until(12_000);
    assert_eq!(group.starts(0)[1..], [(Fire::Scheduled(NEXT), ExecutionSource::Misfire, vec![0])]);
}

#[test]
fn a_job_with_a_schedule_follows_nobody() {
    let group = Group::settled(1, &every_five(1));
    assert!(group.hosts[0].following.is_empty() && !group.exists(&JobPath::Dependencies));
    assert_eq!(job().as_str(), "job");
}

/// A host whose clock was an hour ahead ran a fire of the job before this one.
#[test]
fn a_fire_that_a_clock_ran_before_its_time_keeps_no_fire_in_between_and_comes_at_its_time() {
    const AHEAD: i64 = EPOCH + 30_000;
    let configuration = JobConfiguration::builder("job", 1).depends_on(["extract"]).max_time_diff_seconds(1);
    let mut group = Group::settled(1, &configuration.build().unwrap());
    let ahead = |record_of: ParentView| {
        let items = record_of.items.into_iter().map(|(number, item)| {
            let record = FireRecord { ahead: Some(AHEAD), ..item.record };
            (number, ParentItem { record, ..item })
        });
        ParentView { items: items.collect(), ..record_of }
    };
    let learns = |group: &mut Group, view: ParentView| {
        group.tell(0, Event::Parent { job: extract(), view: Box::new(view) });
    };
    learns(&mut group, view(AHEAD, FireState::Succeeded));
    assert!(group.starts(0).is_empty());
    group.run_until(6_000);
    learns(&mut group, ahead(view(AT, FireState::Succeeded)));
    assert_eq!(group.starts(0).iter().map(|start| start.0).collect::<Vec<_>>(), [Fire::Scheduled(AT)]);
    group.end_items(0, &[0]);
    group.run_until(29_000);
    learns(&mut group, ahead(view(EPOCH + 25_000, FireState::Succeeded)));
    assert_eq!(group.starts(0).last().map(|start| start.0), Some(Fire::Scheduled(EPOCH + 25_000)));
    group.end_items(0, &[0]);
    assert_eq!(group.starts(0).len(), 2);
    group.run_until(31_000);
    assert_eq!(group.starts(0).last().map(|start| start.0), Some(Fire::Scheduled(AHEAD)));
}

#[test]
fn a_fire_before_the_latest_one_is_begun_where_the_registry_center_lost_that_one() {
    const LATEST: i64 = EPOCH + 60_000;
    const LATER: i64 = EPOCH + 15_000;
    let mut group = Group::settled(1, &after(1));
    let fires = |group: &Group| group.starts(0).iter().map(|start| start.0).collect::<Vec<_>>();
    group.set(&JobPath::Dependencies, &format!(r#"{{"through":{LATEST},"due":{{"at":{LATEST},"since":{AT}}}}}"#));
    assert_eq!(fires(&group), [Fire::Scheduled(LATEST)]);
    group.end_items(0, &[0]);
    group.lose_data();
    group.connect_anew(0);
    group.run_until(16_000);
    parent_ends(&mut group, LATER, FireState::Succeeded);
    assert_eq!(fires(&group), [LATEST, LATER].map(Fire::Scheduled));
}

#[test]
fn a_fire_that_an_item_missed_with_its_owner_is_told_when_it_begins_the_next_one() {
    let mut group = Group::settled(2, &after(2));
    group.run_until(6_000);
    parent_ends(&mut group, AT, FireState::Succeeded);
    for host in 0..2 {
        let items = group.starts(host)[0].2.clone();
        group.end_items(host, &items);
    }
    let leader = leaders(&group)[0];
    let gone = 1 - leader;
    let lost = group.starts(gone)[0].2.clone();
    // It hears of nothing any more, and the registry center does not know that yet.
    (group.hosts[gone].killed, group.hosts[gone].connected) = (true, false);
    for second in [10, 25, 40] {
        group.run_until(second * 1_000 + 1_000);
        parent_ends(&mut group, EPOCH + second as i64 * 1_000, FireState::Succeeded);
        let items = group.starts(leader).last().unwrap().2.clone();
        group.end_items(leader, &items);
    }
    let session = group.hosts[gone].session;
    group.expire(session);
    group.run_until(45_000);
    let (missed, last) = (EPOCH + 10_000, EPOCH + 40_000);
    let begun = (Fire::Scheduled(last), ExecutionSource::NormalTrigger, lost.clone());
    assert!(group.starts(leader).contains(&begun), "{:?}", group.starts(leader));
    let said = Notice::NotBegun { items: lost, from: missed, before: last };
    assert!(group.hosts[leader].notices.contains(&said), "{:?}", group.hosts[leader].notices);
}

#[test]
fn a_fire_that_nobody_saw_is_skipped_with_a_reason_and_earlier_ones_are_told_together() {
    const NAMED: usize = 15;
    for (fires, when) in [(4, "succeeded"), (4, "ended"), (20, "succeeded")] {
        let configuration = JobConfiguration::builder("job", 1).depends_on([format!("extract when {when}")]);
        let mut group = Group::settled(1, &configuration.build().unwrap());
        group.run_until(6_000);
        parent_ends(&mut group, AT, FireState::Succeeded);
        group.end_items(0, &[0]);
        // Its leader hears of nothing while the job before it runs on.
        let last = AT + fires * 5_000;
        group.run_until((last - EPOCH) as u64 + 100);
        let told = group.hosts[0].notices.len();
        parent_ends(&mut group, last, FireState::Running);
        assert_eq!(decided(&group).through, AT, "it costs no write of its own");
        parent_ends(&mut group, last, FireState::Succeeded);
        assert_eq!(group.starts(0).iter().map(|start| start.0).collect::<Vec<_>>(), [AT, last].map(Fire::Scheduled));
        let unseen: Vec<i64> = (1..fires).map(|fire| AT + fire * 5_000).collect();
        let (earlier, latest) = unseen.split_at(unseen.len().saturating_sub(NAMED));
        let end = "has begun a later fire since, and how this one ended is not known any more".to_owned();
        let when = if when == "ended" { "ended" } else { "succeeded" };
        let reason = SkipReason::DependencyNotMet { job: extract(), end, when };
        let mut expected: Vec<Notice> = Vec::new();
        if let [from, ..] = earlier {
            expected.push(Notice::NotBegun { items: vec![0], from: *from, before: latest[0] });
        }
        let skipped = |at: &i64| Notice::Skipped { fire: Fire::Scheduled(*at), items: vec![], reason: reason.clone() };
        expected.extend(latest.iter().map(skipped));
        let is_of_fire = |notice: &&Notice| matches!(notice, Notice::Skipped { .. } | Notice::NotBegun { .. });
        let notices = group.hosts[0].notices[told..].iter().filter(is_of_fire).cloned().collect::<Vec<_>>();
        assert_eq!(notices, expected, "{when}");
        assert!(latest.iter().all(|at| decided(&group).decided.iter().any(|fire| fire.at == *at)));
    }
}
