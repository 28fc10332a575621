//! The status of a job that waits, and why a fire was not run.

use super::group::{EPOCH, Group, Lost, every_five};
use crate::config::JobConfiguration;
use crate::fire::{Fire, Skip, SkipReason};
use crate::job_status::{Activity, JobStatus};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, Transaction};

const FIRST: Fire = Fire::Scheduled(EPOCH + 5_000);

fn status(group: &Group, host: usize) -> JobStatus {
    group.hosts[host].engine.status()
}

#[test]
fn it_tells_fires_items_session_and_leader() {
    let mut group = Group::settled(2, &every_five(2));
    group.run_until(5_000);
    let leading = status(&group, 0);
    assert_eq!(leading.activity, Activity::Running(FIRST));
    assert_eq!((leading.last_fire, leading.next_fire), (Some(EPOCH + 5_000), Some(EPOCH + 10_000)));
    assert_eq!(leading.session, Some(group.hosts[0].session));
    assert!(leading.leader && leading.has_leader && !leading.resharding);
    assert_eq!((&leading.items, &leading.running), (&vec![1], &vec![1]));
    let following = status(&group, 1);
    assert!(!following.leader && following.has_leader);
    assert_eq!(following.items, [0]);
    group.run_until(10_000);
    assert_eq!(status(&group, 0).missed_fire, Some(EPOCH + 10_000));
    let reason = SkipReason::StillRunning { since: FIRST };
    let skip = Skip { fire: Fire::Scheduled(EPOCH + 10_000), items: vec![], reason };
    assert_eq!(status(&group, 0).last_skip, Some(skip.into()));
}

#[test]
fn it_tells_what_it_looks_at_next_and_when() {
    let mut group = Group::settled(1, &every_five(1));
    let told = |group: &Group| -> Vec<(i64, &str)> {
        status(group, 0).timers.iter().map(|timer| (timer.at - EPOCH, timer.what)).collect()
    };
    let idle = told(&group);
    assert_eq!(idle[0], (5_000, "a scheduled fire"));
    assert!(idle.is_sorted() && idle.iter().any(|(_, what)| what.starts_with("the leader reads")), "{idle:?}");
    group.run_until(5_000);
    let busy = told(&group);
    let deadline: Vec<_> = busy.iter().filter(|(_, what)| what.starts_with("the runs are cancelled")).collect();
    assert_eq!(deadline, [&(12_000, "the runs are cancelled unless the session is proven")], "{busy:?}");
}

#[test]
fn a_fire_that_cannot_begin_says_what_it_waits_for() {
    let mut group = Group::settled(1, &every_five(1));
    let mut foreign = Transaction::new();
    foreign.delete("/job/leader/election/instance", None);
    foreign.set("/job/servers/10.0.0.1", "DISABLED", None);
    foreign.delete("/job/sharding/0/instance", None);
    group.operate(&foreign, false);
    group.run_until(5_000);
    assert_eq!(status(&group, 0).activity, Activity::Idle, "a disabled server runs nothing");
    assert_eq!(status(&group, 0).last_skip.unwrap().reason, SkipReason::ServerDisabled);

    let mut group = Group::settled(1, &every_five(1));
    let mut foreign = Transaction::new();
    foreign.delete("/job/leader/election/instance", None);
    foreign.create("/job/leader/election/instance", "10.0.0.9@-@1", CreateMode::Ephemeral);
    foreign.create("/job/leader/sharding/processing", "", CreateMode::Ephemeral);
    group.operate(&foreign, false);
    group.run_until(5_000);
    assert_eq!(status(&group, 0).activity, Activity::AwaitingSharding(FIRST));
    assert!(status(&group, 0).resharding);
}

#[test]
fn fires_that_come_more_often_than_they_wait_for_the_leader_go_on_with_the_items_that_are_assigned() {
    let every_two = JobConfiguration::builder("job", 1).cron("0/2 * * * * ?").build().unwrap();
    let mut group = Group::settled(1, &every_two);
    // The runs of fires that came while the group settled.
    group.end_items(0, &[0]);
    group.end_items(0, &[0]);
    group.hosts[0].clear();
    let mut foreign = Transaction::new();
    foreign.delete("/job/leader/election/instance", None);
    foreign.create("/job/leader/election/instance", "10.0.0.9@-@1", CreateMode::Ephemeral);
    foreign.create("/job/leader/sharding/processing", "", CreateMode::Ephemeral);
    group.operate(&foreign, false);
    group.run_until(8_999);
    assert_eq!(group.starts(0), []);
    for second in [8, 10, 12] {
        group.run_until(1_000 * second + 1_000);
        let started = group.starts(0).last().map(|(fire, ..)| *fire);
        assert_eq!(started, Some(Fire::Scheduled(EPOCH + 1_000 * second as i64)));
        group.end_items(0, &[0]);
    }
}

#[test]
fn it_says_that_the_registry_center_does_not_answer_and_which_configuration_was_refused() {
    let mut group = Group::settled(1, &every_five(1));
    group.hosts[0].lost = Lost::BeforeItArrived;
    group.run_until(5_000);
    assert!(status(&group, 0).trouble.unwrap().contains("the connection was lost"));
    group.run_until(6_000);
    assert_eq!(status(&group, 0).trouble, None);
    group.set(&JobPath::Config, "jobName: job\nshardingTotalCount: 0\n");
    assert!(status(&group, 0).refused_configuration.unwrap().contains("0"));
    group.disconnect(0);
    assert_eq!(status(&group, 0).activity, Activity::AwaitingRegistry);
    assert_eq!(status(&group, 0).session, None);
}

#[test]
fn a_fire_after_one_that_may_have_begun_without_an_answer_falls_into_its_run() {
    let mut group = Group::settled(1, &every_five(1));
    group.hosts[0].lost = Lost::AfterItWasApplied;
    group.run_until(5_000);
    group.disconnect(0);
    group.run_until(10_000);
    assert_eq!(status(&group, 0).last_skip, None);
    assert_eq!(status(&group, 0).activity, Activity::AwaitingRegistry);
    group.connect(0);
    group.run_until(11_000);
    assert_eq!(status(&group, 0).last_skip.unwrap().reason, SkipReason::StillRunning { since: FIRST });
    assert_eq!(group.starts(0).len(), 1);
    group.end_items(0, &[0]);
    assert_eq!(group.starts(0).last().unwrap().0, Fire::Scheduled(EPOCH + 10_000));
}

#[test]
fn it_tells_items_that_were_taken_over_and_those_that_are_disabled() {
    let configuration = JobConfiguration::builder("job", 3).cron("0/5 * * * * ?").failover(true).build().unwrap();
    let mut group = Group::settled(2, &configuration);
    let mut operator = Transaction::new();
    operator.create(JobPath::Item(2, ItemNode::Disabled).absolute(&super::group::job()), "", CreateMode::Persistent);
    group.operate(&operator, false);
    group.run_until(5_000);
    let disabled = |host| status(&group, host).last_skip;
    let skip = Skip { fire: FIRST, items: vec![2], reason: SkipReason::ItemDisabled };
    assert!([disabled(0), disabled(1)].contains(&Some(skip.into())));
    group.kill(1);
    let survivor = status(&group, 0);
    assert_eq!(survivor.taken_over.len(), 1);
    assert_eq!(survivor.running.len(), 2);
}
