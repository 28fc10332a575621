//! Listeners that every instance calls, and behaviour that all listeners share.

use std::time::Duration;

use super::group::{EPOCH, Group};
use crate::config::{JobConfiguration, JobConfigurationBuilder, wire};
use crate::engine::{Event, KnownListeners, ListenerSpec, Notice};
use crate::fire::{CancelReason, ExecutionSource, Fire, Hook, RunKey, SkipReason};
use crate::job_status::Activity;
use crate::registry::layout::JobPath;

const FIRST: Fire = Fire::Scheduled(EPOCH + 5_000);

/// Every five seconds, with these listeners.
fn listened(total: u32, listeners: &[&str]) -> JobConfigurationBuilder {
    let builder = JobConfiguration::builder("job", total).cron("0/5 * * * * ?");
    listeners.iter().fold(builder, |builder, name| builder.job_listener_type(*name))
}

fn spec(name: &str, order: i32) -> ListenerSpec {
    ListenerSpec { type_name: name.into(), order, once: None }
}

fn specs() -> [ListenerSpec; 2] {
    [spec("audit", i32::MAX), spec("files", 1)]
}

fn both(hook: Hook) -> (Hook, Vec<String>) {
    (hook, vec!["files".to_owned(), "audit".to_owned()])
}

#[test]
fn items_start_when_the_listeners_before_them_were_called_and_the_run_is_over_after_those_after_them() {
    let mut group = Group::listening(1, &listened(2, &["audit", "files"]).build().unwrap(), specs());
    group.run_until(5_000);
    let [call] = &group.hosts[0].calls[..] else { panic!("{:?}", group.hosts[0].calls) };
    assert_eq!((call.key.fire, &call.items[..]), (FIRST, &[0, 1][..]));
    assert!(group.hosts[0].started.is_empty() && group.exists(&JobPath::running(0)), "begun, and not started");
    assert_eq!(group.end_call(0), both(Hook::Before));
    let token = group.tree.get("/job/sharding/0/fire").unwrap().unwrap().stat.mzxid;
    assert_eq!(group.hosts[0].started[0].items, [(0, Some(token)), (1, Some(token))]);

    group.end_items(0, &[0, 1]);
    assert!(!group.exists(&JobPath::running(0)), "ends are written before the listeners after them are called");
    assert_eq!(group.hosts[0].calls[0].items, [0, 1]);
    let status = group.hosts[0].engine.status();
    assert_eq!((status.activity, status.fires), (Activity::Running(FIRST), 0));
    assert_eq!(group.end_call(0), both(Hook::After));
    let status = group.hosts[0].engine.status();
    assert_eq!((status.activity, status.fires), (Activity::Idle, 1));
    assert_eq!(group.hosts[0].commits.len(), 2);
}

#[test]
fn an_item_that_ended_is_written_within_a_second_while_others_run() {
    let mut group = Group::listening(1, &listened(2, &["files"]).build().unwrap(), specs());
    group.run_until(5_000);
    group.end_call(0);
    group.end_items(0, &[1]);
    group.run_until(6_000);
    assert!(!group.exists(&JobPath::running(1)) && group.hosts[0].calls.is_empty());
}

#[test]
fn while_listeners_are_called_the_next_fire_is_missed() {
    let mut group = Group::listening(1, &listened(1, &["files"]).misfire(false).build().unwrap(), specs());
    group.run_until(5_000);
    group.end_call(0);
    group.end_items(0, &[0]);
    group.run_until(10_000);
    let (fire, reason) = (Fire::Scheduled(EPOCH + 10_000), SkipReason::StillRunning { since: FIRST });
    assert!(group.hosts[0].notices.contains(&Notice::Skipped { fire, items: vec![], reason }));
    group.end_call(0);
    group.run_until(15_000);
    assert_eq!(group.hosts[0].calls.len(), 1);
}

#[test]
fn an_instance_without_items_calls_nothing() {
    let mut group = Group::listening(2, &listened(1, &["files"]).build().unwrap(), specs());
    group.run_until(5_000);
    assert_eq!(group.callers().len(), 1);
}

#[test]
fn a_run_that_is_cut_off_calls_nothing_more() {
    let mut group = Group::listening(1, &listened(1, &["files"]).misfire(false).build().unwrap(), specs());
    group.run_until(5_000);
    group.disconnect(0);
    group.run_until(12_000);
    let round = group.hosts[0].calls[0].round;
    assert_eq!((&group.hosts[0].calls_cancelled[..], &group.hosts[0].calls_aborted[..]), (&[round][..], &[][..]));
    let cut = Notice::ListenersCutOff { fire: FIRST, reason: CancelReason::SessionUnproven };
    assert!(group.hosts[0].notices.contains(&cut));
    let key = RunKey::new(FIRST, ExecutionSource::NormalTrigger);
    let not_started = Notice::NotStarted { key, items: vec![0], reason: CancelReason::SessionUnproven };
    assert!(group.hosts[0].notices.contains(&not_started), "its items were not started");
    group.run_until(14_000);
    assert_eq!(group.hosts[0].calls_aborted, [round]);
    group.end_call(0);
    group.connect(0);
    assert!(group.hosts[0].started.is_empty() && group.hosts[0].calls.is_empty());
    assert!(group.text(&JobPath::fire(0)).unwrap().contains("CANCELLED"));
    assert!(!group.exists(&JobPath::running(0)));
}

/// The fire of the run comes again in the step that cuts the run off.
#[test]
fn a_run_whose_fire_comes_again_as_the_clock_is_set_right_ends_when_it_is_cut_off() {
    let configuration = listened(1, &["files"]).max_time_diff_seconds(60).build().unwrap();
    let mut group = Group::listening(1, &configuration, specs());
    group.run_until(5_000);
    group.end_call(0);
    group.clock_offset = -3_600_000;
    group.tell(0, Event::Tick);
    group.run_until(6_000);
    group.clock_offset = 0;
    group.tell(0, Event::Tick);
    assert_eq!(group.hosts[0].cancelled, [0]);
    group.cut_off_items(0, &[0]);
    group.run_until(7_500);
    let ended = |notice: &&Notice| matches!(notice, Notice::Finished { key, .. } if key.fire == FIRST);
    assert_eq!(group.hosts[0].notices.iter().filter(ended).count(), 1, "{:?}", group.hosts[0].notices);
    assert_eq!(group.hosts[0].engine.status().activity, Activity::Idle);
    assert!(!group.exists(&JobPath::running(0)) && group.hosts[0].calls.is_empty());
    group.run_until(10_000);
    assert_eq!(group.hosts[0].calls.len(), 1, "the next fire");
}

#[test]
fn a_call_that_outlived_its_session_is_dropped_at_once() {
    let mut group = Group::listening(1, &listened(1, &["files"]).misfire(false).build().unwrap(), specs());
    group.run_until(5_000);
    group.disconnect(0);
    group.sleep_until(60_000);
    group.tell(0, Event::Tick);
    let round = group.hosts[0].calls[0].round;
    assert_eq!((&group.hosts[0].calls_cancelled[..], &group.hosts[0].calls_aborted[..]), (&[round][..], &[round][..]));
}

#[test]
fn a_shutdown_lets_the_listeners_after_the_items_return() {
    let mut group = Group::listening(1, &listened(1, &["files"]).build().unwrap(), specs());
    group.run_until(5_000);
    group.end_call(0);
    group.tell(0, Event::Shutdown { grace: Duration::from_secs(5) });
    group.end_items(0, &[0]);
    assert!(!group.hosts[0].stopped);
    assert_eq!(group.end_call(0).0, Hook::After);
    assert!(group.hosts[0].stopped);
}

#[test]
fn a_listener_that_blocks_does_not_keep_an_instance_from_leaving() {
    let mut group = Group::listening(1, &listened(1, &["files"]).build().unwrap(), specs());
    group.run_until(5_000);
    group.tell(0, Event::Shutdown { grace: Duration::from_secs(5) });
    group.run_until(30_000);
    assert!(group.hosts[0].stopped);
    assert_eq!((group.hosts[0].calls_cancelled.len(), group.hosts[0].calls_aborted.len()), (1, 1));
    assert!(group.hosts[0].notices.contains(&Notice::ListenersAbandoned { fire: FIRST }));
}

#[test]
fn changed_listeners_are_those_of_the_next_fire_and_unknown_ones_are_refused() {
    let mut group = Group::listening(1, &listened(1, &["files"]).build().unwrap(), specs());
    group.run_until(5_000);
    group.set(&JobPath::Config, &wire::to_yaml(&listened(1, &["audit"]).build().unwrap()));
    group.end_call(0);
    group.end_items(0, &[0]);
    assert_eq!(group.end_call(0), (Hook::After, vec!["files".to_owned()]));
    group.run_until(10_000);
    assert_eq!(group.end_call(0), (Hook::Before, vec!["audit".to_owned()]));
    group.end_items(0, &[0]);
    group.end_call(0);

    group.hosts[0].clear();
    group.set(&JobPath::Config, &wire::to_yaml(&listened(1, &["nobody"]).build().unwrap()));
    let [Notice::ConfigurationRefused { why }] = &group.hosts[0].notices[..] else {
        panic!("{:?}", group.hosts[0].notices);
    };
    assert!(why.contains("there is no listener 'nobody' in this program; there are audit (added"), "{why}");
    group.run_until(15_000);
    assert_eq!(group.end_call(0), (Hook::Before, vec!["audit".to_owned()]));
}

#[test]
fn a_start_with_listeners_that_the_registry_has_and_the_program_has_not_waits_for_others() {
    let mut group = Group::listening(1, &listened(1, &["files"]).build().unwrap(), specs());
    group.listeners = KnownListeners::added([]).into();
    let other = group.join("10.0.0.2", &listened(1, &[]).build().unwrap());
    let is_told = |notice: &Notice| matches!(notice, Notice::WaitsForConfiguration { why } if why.contains("no listener 'files'"));
    assert!(group.hosts[other].notices.iter().any(is_told), "{:?}", group.hosts[other].notices);
}

#[test]
fn a_run_that_is_taken_over_has_listeners_of_its_own() {
    let configuration = listened(2, &["files"]).failover(true).build().unwrap();
    let mut group = Group::listening(2, &configuration, specs());
    group.run_until(5_000);
    group.end_call(0);
    group.end_call(1);
    group.kill(0);
    group.run_until(6_000);
    let taken_over = &group.hosts[1].calls[0];
    assert_eq!((taken_over.hook, taken_over.key.fire, taken_over.items.len()), (Hook::Before, FIRST, 1));
    assert_eq!(group.hosts[1].started.len(), 1, "it does not start before");
    group.end_call(1);
    assert_eq!(group.hosts[1].started.len(), 2);
}
