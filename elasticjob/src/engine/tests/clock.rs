//! The check of clocks, at start and with each fire.

use std::time::Duration;

use super::group::{EPOCH, Group, Lost, job};
use crate::config::{JobConfiguration, JobConfigurationBuilder};
use crate::engine::{Event, Notice};
use crate::fire::{ExecutionSource, Fire, FireRecord, SkipReason};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, Transaction};

fn builder(limit: i32) -> JobConfigurationBuilder {
    JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").max_time_diff_seconds(limit)
}

fn told_clock(group: &Group) -> Vec<&'static str> {
    let told = group.hosts[0].notices.iter().filter_map(|told| match told {
        Notice::ClockOff { .. } => Some("off"),
        Notice::ClockRight => Some("right"),
        Notice::Skipped { reason: SkipReason::ClockOff { .. }, .. } => Some("skipped"),
        Notice::Begun { .. } => Some("begun"),
        _ => None,
    });
    told.collect()
}

#[test]
fn items_that_a_clock_far_ahead_decided_are_told_where_clocks_are_not_compared() {
    let unchecked = JobConfiguration::builder("job", 2).cron("0/5 * * * * ?").max_time_diff_seconds(-1);
    let mut group = Group::settled(1, &unchecked.build().unwrap());
    let hours_ahead = EPOCH + 5_000 + 8 * 3_600_000;
    group.set(&JobPath::fire(1), &format!(r#"{{"through":{hours_ahead}}}"#));
    group.run_until(5_000);
    assert_eq!(group.starts(0).len(), 1);
    let reason = SkipReason::DecidedAhead { by: None, seconds: 8 * 3_600 };
    let skipped = Notice::Skipped { fire: Fire::Scheduled(EPOCH + 5_000), items: vec![1], reason };
    assert!(group.hosts[0].notices.contains(&skipped), "{:?}", group.hosts[0].notices);
    group.end_items(0, &[0]);
    let mut transaction = Transaction::new();
    transaction.delete(JobPath::fire(1).absolute(&job()), None);
    group.operate(&transaction, false);
    group.run_until(10_000);
    assert_eq!(group.starts(0)[1].2, [0, 1]);
}

#[test]
fn a_host_with_a_wrong_clock_does_not_take_part_and_leaves_nothing_behind() {
    for (offset, side) in
        [(4_000, "2023-11-14T22:13:25+00:00, that of the registry center 2023-11-14T22:13:21"), (-4_000, ":17")]
    {
        let mut group = Group::new();
        group.clock_offset = offset;
        let host = group.join("10.0.0.1", &builder(3).build().unwrap());
        let why = group.hosts[host].notices.iter().find_map(|told| match told {
            Notice::StartFailed { why } => Some(why.clone()),
            _ => None,
        });
        let why = why.expect("the start fails");
        for part in [side, "`max-time-diff-seconds` allows 3", "correct the clock"] {
            assert!(why.contains(part), "no {part:?} in: {why}");
        }
        assert!(group.hosts[host].stopped);
        assert!(!group.hosts[host].notices.iter().any(|told| matches!(told, Notice::Registered { .. })));
        assert_eq!(group.text(&JobPath::Instance(group.hosts[host].engine.instance().clone())), None);
    }
}

#[test]
fn a_clock_within_the_limit_and_a_check_that_is_off_cost_nothing() {
    for (limit, offset) in [(3, 3_000), (3, -3_000), (-1, 100_000)] {
        let mut group = Group::new();
        group.clock_offset = offset;
        group.join("10.0.0.1", &builder(limit).build().unwrap());
        group.run_until(11_000);
        assert!(!group.hosts[0].started.is_empty(), "{limit} {offset}");
        assert_eq!(told_clock(&group)[..1], ["begun"], "{limit} {offset}");
    }
}

#[test]
fn fires_are_skipped_while_the_clock_is_off_and_that_is_said_once() {
    let mut group = Group::settled(1, &builder(2).build().unwrap());
    group.clock_offset = 3_000;
    group.run_until(16_000);
    assert_eq!(group.hosts[0].started.len(), 0);
    assert_eq!(told_clock(&group), ["off", "skipped", "skipped", "skipped"]);
    assert_eq!(group.text(&JobPath::fire(0)).unwrap(), "", "a wrong clock writes no record");
    assert_eq!(group.hosts[0].commits.len(), 3, "the time is asked for once a fire");
    let skipped = group.hosts[0].engine.status().last_skip.unwrap();
    assert_eq!(skipped.reason, SkipReason::ClockOff { difference: 3_000 });
    group.hosts[0].clear();
    group.clock_offset = 0;
    group.run_until(21_000);
    assert_eq!(told_clock(&group), ["right", "begun"]);
}

#[test]
fn a_begin_whose_answer_tells_that_the_clock_is_off_is_not_started() {
    let mut group = Group::settled(1, &builder(2).build().unwrap());
    // The clock of the server is set: no answer showed that before.
    group.set_all_clocks(-3_000);
    group.clock_offset = 3_000;
    group.run_until(5_000);
    assert_eq!(group.hosts[0].started.len(), 0);
    assert_eq!(told_clock(&group), ["off", "skipped"]);
    let record = group.text(&JobPath::fire(0)).unwrap();
    assert!(record.contains("\"NOT_RUN\"") && record.contains("3 s ahead of that of the registry center"), "{record}");
    assert_eq!(group.text(&JobPath::running(0)), None);
}

#[test]
fn the_check_costs_no_transaction() {
    let commits = |limit| {
        let mut group = Group::settled(1, &builder(limit).build().unwrap());
        group.run_until(5_000);
        group.end_items(0, &[0]);
        group.hosts[0].commits.clone()
    };
    assert_eq!(commits(2), commits(-1));
}

#[test]
fn a_begin_whose_answer_got_lost_is_checked_when_it_is_adopted() {
    let mut group = Group::settled(1, &builder(2).build().unwrap());
    group.hosts[0].lost = Lost::AfterItWasApplied;
    group.run_until(5_000);
    group.clock_offset = -3_000;
    group.run_until(12_000);
    assert_eq!(group.hosts[0].started.len(), 0);
    assert!(group.text(&JobPath::fire(0)).unwrap().contains("3 s behind that of the registry center"));
}

#[test]
fn without_monitoring_the_time_is_asked_for_while_fires_are_skipped_only() {
    let mut group = Group::settled(1, &builder(2).monitor_execution(false).build().unwrap());
    group.run_until(5_000);
    group.end_items(0, &[0]);
    assert_eq!((group.hosts[0].started.len(), group.hosts[0].commits.len()), (1, 0));
    group.clock_offset = 3_000;
    group.run_until(11_000);
    let asked = "=instances/10.0.0.1@-@7 jobInstanceId: 10.0.0.1@-@7\nserverIp: 10.0.0.1\n# elasticjob for Rust\n";
    // A clock that leapt ahead is asked about first: the machine may have been suspended.
    assert_eq!((group.hosts[0].started.len(), &group.hosts[0].commits[..]), (1, &[asked.to_owned()][..]));
    group.clock_offset = 0;
    group.run_until(16_000);
    assert_eq!((group.hosts[0].started.len(), group.hosts[0].commits.len()), (2, 1));
}

#[test]
fn a_manual_trigger_on_a_host_with_a_wrong_clock_is_taken_and_not_run() {
    for monitored in [true, false] {
        let one_off = JobConfiguration::builder("job", 1).max_time_diff_seconds(2).monitor_execution(monitored);
        let mut group = Group::settled(1, &one_off.build().unwrap());
        group.clock_offset = 10_000;
        group.tell(0, Event::Trigger(1, None));
        assert_eq!(group.hosts[0].started.len(), 0, "{monitored}");
        assert_eq!(group.text(&JobPath::Trigger(group.hosts[0].engine.instance().clone())), None, "{monitored}");
        assert_eq!(told_clock(&group), ["off", "skipped"], "{monitored}");
    }
}

#[test]
fn an_instance_that_registers_again_asks_for_the_time_too() {
    let mut group = Group::settled(1, &builder(2).build().unwrap());
    group.connect_anew(0);
    let registered = &group.hosts[0].commits[0];
    assert!(
        registered.ends_with(
            "; =instances/10.0.0.1@-@7 jobInstanceId: 10.0.0.1@-@7\nserverIp: 10.0.0.1\n# elasticjob for Rust\n"
        ),
        "{registered}"
    );
}

/// The record that an instance which is gone wrote at this moment by a clock an hour ahead.
fn began_an_hour_ahead(group: &mut Group, item: u32) -> i64 {
    let at = EPOCH + 5_000 + 3_600_000;
    let last = r#"{"at":AT,"instance":"10.0.9.9@-@1","attempt":"2-00000000.1","state":"SUCCEEDED"}"#;
    let record = format!(r#"{{"through":AT,"last":{last}}}"#).replace("AT", &at.to_string());
    group.set(&JobPath::fire(item), &record);
    at
}

#[test]
fn a_host_an_hour_ahead_that_is_gone_blocks_its_items_for_no_longer_than_clocks_may_differ() {
    let every_minute = JobConfiguration::builder("job", 2).cron("25 * * * * ?").build().unwrap();
    let mut group = Group::settled(1, &every_minute);
    let ahead = began_an_hour_ahead(&mut group, 1);
    for (fire, items) in [(5_000, vec![0]), (65_000, vec![0]), (125_000, vec![0, 1]), (185_000, vec![0, 1])] {
        group.run_until(fire);
        let begun = group.starts(0).last().map(|(fire, _, items)| (*fire, items.clone()));
        assert_eq!(begun, Some((Fire::Scheduled(EPOCH + fire as i64), items.clone())));
        group.end_items(0, &items);
    }
    let record = group.text(&JobPath::fire(1)).unwrap();
    assert!(record.starts_with(&format!(r#"{{"through":{},"ahead":{ahead},"#, EPOCH + 185_000)), "{record}");
}

#[test]
fn the_fire_that_a_host_an_hour_ahead_began_is_not_begun_again_at_its_time() {
    let mut group = Group::settled(1, &JobConfiguration::builder("job", 1).cron("25 13 * * * ?").build().unwrap());
    // The host whose clock is an hour ahead begins the fire after this one: by its clock that fire is due now.
    group.run_until(5_000);
    group.end_items(0, &[0]);
    group.sleep_until(6_000);
    let ahead = began_an_hour_ahead(&mut group, 0);
    group.run_until(3_606_000);
    assert_eq!(group.starts(0).len(), 1);
    let is_that = |told: &Notice| matches!(told, Notice::Skipped { fire, reason: SkipReason::AlreadyBegun { .. }, .. } if *fire == Fire::Scheduled(ahead));
    assert!(group.hosts[0].notices.iter().any(is_that), "{:?}", group.hosts[0].notices);
    group.run_until(7_206_000);
    assert_eq!(group.starts(0).len(), 2, "the next one");
}

#[test]
fn a_clock_that_was_an_hour_ahead_for_a_while_costs_the_fires_of_that_while_alone() {
    for monitored in [true, false] {
        let configuration = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").monitor_execution(monitored);
        let mut group = Group::settled(1, &configuration.build().unwrap());
        group.clock_offset = 3_600_000;
        group.run_until(16_000);
        assert_eq!(group.starts(0).len(), 0, "{monitored}");
        group.clock_offset = 0;
        group.run_until(21_000);
        let begun = (Fire::Scheduled(EPOCH + 20_000), ExecutionSource::NormalTrigger, vec![0]);
        assert_eq!(group.starts(0), [begun], "{monitored}");
        // The first comes with the step of the clock.
        let told = ["off", "skipped", "skipped", "skipped", "skipped", "right", "begun"];
        assert_eq!(told_clock(&group), told, "{monitored}");
    }
}

#[test]
fn a_clock_that_is_set_with_that_of_the_server_costs_no_fire() {
    let unmonitored = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").monitor_execution(false);
    let mut group = Group::settled(1, &unmonitored.build().unwrap());
    // As with the embedded registry, whose clock is that of the host.
    group.set_all_clocks(-100_000);
    group.run_until(106_000);
    assert_eq!((group.starts(0).len(), told_clock(&group)[..1].to_vec()), (1, vec!["begun"]));
}

#[test]
fn a_fire_of_a_wrong_clock_that_falls_into_a_run_elsewhere_leaves_the_records_as_they_are() {
    let mut group = Group::settled(1, &builder(2).build().unwrap());
    let mut foreign = Transaction::new();
    foreign.create("/job/sharding/0/running", "10.0.0.9@-@1", CreateMode::Ephemeral);
    group.operate(&foreign, false);
    group.clock_offset = 3_000;
    group.run_until(6_000);
    assert_eq!(told_clock(&group), ["off", "skipped"]);
    assert_eq!(group.text(&JobPath::fire(0)).unwrap(), "");
    assert!(!group.exists(&JobPath::Item(0, ItemNode::Misfire)));
}

#[test]
fn a_fire_that_was_let_go_of_comes_again_also_when_the_clock_is_set_right_just_before_it() {
    let mut group = Group::settled(1, &builder(2).build().unwrap());
    group.run_until(6_000);
    group.clock_offset = 14_000;
    group.run_until(18_000);
    group.clock_offset = 0;
    group.run_until(19_000);
    group.end_items(0, &[0]);
    assert_eq!(group.starts(0).len(), 1);
    group.run_until(20_000);
    assert_eq!(group.starts(0)[1..], [(Fire::Scheduled(EPOCH + 20_000), ExecutionSource::NormalTrigger, vec![0])]);
}

#[test]
fn a_run_that_ends_in_a_new_session_while_its_instance_leaves_decides_no_fire_of_a_clock_far_ahead() {
    for engine_falls in [false, true] {
        let mut group = Group::settled(1, &builder(60).misfire(false).build().unwrap());
        group.run_until(6_000);
        group.disconnect(0);
        group.clock_offset = 3_600_000;
        group.run_until(12_000);
        let leave = Event::Shutdown { grace: Duration::from_secs(30) };
        group.tell(0, leave);
        let early = |at: i64| at > EPOCH + 100_000;
        if engine_falls {
            let left = group.hosts[0].engine.left_runs();
            assert!(!left.is_empty() && left.iter().all(|left| !left.skipped.is_some_and(early)), "{left:?}");
            continue;
        }
        group.expire(group.hosts[0].session);
        group.end_items(0, &[0]);
        group.connect_anew(0);
        group.run_until(13_000);
        let record = FireRecord::parse(group.text(&JobPath::fire(0)).unwrap().as_bytes());
        assert!(record.running().is_none() && !record.through.is_some_and(early), "{record:?}");
    }
}
