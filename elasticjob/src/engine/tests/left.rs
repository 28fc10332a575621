//! The runs and nodes that an engine leaves when it ends: to the engine that takes its place, and to the clean-up.

use std::time::Duration;

use super::group::{EPOCH, Group, every_five, job};
use crate::clock::Now;
use crate::config::{JobConfiguration, wire};
use crate::engine::once_calls::CallState;
use crate::engine::txn::JobTransaction;
use crate::engine::{Action, CleanUp, Event, JobEngine, LeftRun, ListenerSpec, Notice, OnceCalls, OnceTimeouts};
use crate::fire::{ExecutionSource, Fire, FireState, Hook, ItemEnd, RunKey};
use crate::job_status::Activity;
use crate::registry::layout::JobPath;
use crate::registry::{CommitError, CreateMode, Op, SessionState, Transaction};

const FIRST: Fire = Fire::Scheduled(EPOCH + 5_000);

fn at(millis: u64) -> Now {
    Now { wall: EPOCH + millis as i64, mono: Duration::from_millis(millis) }
}

/// Cleans up after the engine of a host, which is gone, and whose session goes on.
fn clean_up(group: &mut Group, host: usize) {
    group.hosts[host].killed = true;
    let (now, id) = (at(6_000), group.hosts[host].session);
    let mut clean_up = CleanUp::after(&group.hosts[host].engine);
    clean_up.handle(now, Event::Session(SessionState::Connected { id, timeout: Duration::from_secs(4) }));
    while let Some(action) = clean_up.poll_action() {
        match action {
            Action::List { generation, paths } => {
                for path in paths {
                    let children = Ok(group.tree.children(&path.absolute(&job())).unwrap());
                    clean_up.handle(now, Event::Listed { generation, path, children });
                }
            }
            Action::Read { generation, paths } => {
                for path in paths {
                    let node = Ok(group.tree.get(&path.absolute(&job())).unwrap());
                    clean_up.handle(now, Event::Read { generation, path, node });
                }
            }
            Action::Commit(transaction) => {
                let answer = group.tree.commit(id, &transaction, now.wall).map(|(committed, events)| {
                    group.publish(&events);
                    committed
                });
                clean_up.handle(now, Event::Committed(answer.map_err(CommitError::from)));
            }
            other => panic!("cleans up by {other:?}"),
        }
    }
    assert!(clean_up.is_clean());
}

#[test]
fn what_began_without_failover_waits_to_be_taken_over_where_that_was_switched_on_since() {
    for switched_on in [true, false] {
        let configuration =
            |failover| JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").failover(failover).build().unwrap();
        let mut group = Group::settled(1, &configuration(false));
        group.run_until(5_000);
        assert_eq!(group.starts(0).len(), 1);
        let mut edit = Transaction::new();
        edit.set(JobPath::Config.absolute(&job()), wire::to_yaml(&configuration(switched_on)).as_str(), None);
        group.operate(&edit, true);
        group.disconnect(0);
        group.cut_off_items(0, &[0]);
        clean_up(&mut group, 0);
        assert!(group.text(&JobPath::fire(0)).unwrap().contains("CANCELLED"));
        assert_eq!(group.exists(&JobPath::FailoverItem(0)), switched_on);
    }
}

#[test]
fn a_transaction_of_many_items_checks_the_configuration_once() {
    let group = Group::settled(1, &every_five(2));
    let engine = &group.hosts[0].engine;
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    (0..2).for_each(|_| txn.check_configuration(7));
    let config = JobPath::Config.absolute(&job());
    assert_eq!(txn.build().ops(), [Op::Check { path: config, version: Some(7) }]);
}

#[test]
fn the_engine_that_takes_the_place_of_one_that_leaves_leaves_too() {
    let mut group = Group::settled(1, &every_five(1));
    let engine = &mut group.hosts[0].engine;
    let activity = |engine: &JobEngine| engine.successor(engine.identity().clone()).status().activity;
    assert_ne!(activity(engine), Activity::Leaving);
    engine.handle(at(4_500), Event::Shutdown { grace: Duration::from_secs(5) });
    assert_eq!(activity(engine), Activity::Leaving);
}

#[test]
fn code_that_was_left_behind_and_returns_before_its_engine_is_gone_is_not_waited_for() {
    let mut group = Group::settled(1, &every_five(1));
    let engine = &mut group.hosts[0].engine;
    engine.handle(at(4_500), Event::Shutdown { grace: Duration::ZERO });
    let source = ExecutionSource::NormalTrigger;
    engine.membership.abandoned.push(LeftRun {
        item: 0,
        key: RunKey::new(FIRST, source),
        attempt: None,
        skipped: None,
        end: None,
    });
    let end = ItemEnd { state: FireState::Failed, took: 1, error: None };
    engine.handle(at(4_600), Event::ItemEnded { item: 0, end });
    let left = engine.left_runs();
    assert_eq!(left[0].end.as_ref().map(|end| end.state), Some(FireState::Cancelled), "it was told to end before");
    assert_eq!(CleanUp::after(engine).busy().count(), 0);
}

#[test]
fn a_call_that_ended_with_its_engine_is_cut_off_for_the_group() {
    let configuration = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").job_listener_type("settle");
    let once = Some(OnceTimeouts { started: None, completed: None });
    let listener = ListenerSpec { type_name: "settle".into(), order: 0, once };
    let mut group = Group::listening(1, &configuration.build().unwrap(), [listener]);
    group.run_until(5_000);
    let state = |group: &Group| {
        let calls = group.text(&JobPath::Rounds).unwrap();
        OnceCalls::parse(calls.as_bytes()).find(FIRST, "settle", Hook::Before).map(|call| call.state)
    };
    assert_eq!(state(&group), Some(CallState::Calling));
    clean_up(&mut group, 0);
    assert_eq!(state(&group), Some(CallState::CutOff));
}

#[test]
fn a_mark_is_cleaned_up_with_what_an_operator_made_below_it() {
    let configuration = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").failover(true).build().unwrap();
    let mut group = Group::settled(1, &configuration);
    group.run_until(5_000);
    let mark = JobPath::running(0);
    assert!(group.exists(&mark));
    let mut by_hand = Transaction::new();
    by_hand.create(format!("{}/by-hand", mark.absolute(&job())), "", CreateMode::Persistent);
    group.operate(&by_hand, false);
    group.disconnect(0);
    group.end_items(0, &[0]);
    clean_up(&mut group, 0);
    assert!(!group.exists(&mark));
}

#[test]
fn a_trigger_stays_for_the_leader_which_says_what_becomes_of_it() {
    let mut group = Group::settled(2, &every_five(2));
    group.run_until(5_000);
    group.tell(0, Event::Trigger(1, None));
    let gone = group.hosts[0].engine.instance().clone();
    let trigger = JobPath::Trigger(gone.clone());
    clean_up(&mut group, 0);
    assert!(group.exists(&trigger) && !group.exists(&JobPath::Instance(gone.clone())));
    group.run_until(20_000);
    assert!(!group.exists(&trigger));
    let is_told = |notice: &Notice| matches!(notice, Notice::TriggerDropped { instance, .. } if *instance == gone);
    assert!(group.hosts[1].notices.iter().any(is_told), "{:?}", group.hosts[1].notices);
}

#[test]
fn the_session_of_code_that_goes_on_is_shown_also_without_failover() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(5_000);
    let session = JobPath::Session(group.hosts[0].session);
    assert!(!group.exists(&session));
    clean_up(&mut group, 0);
    assert!(group.exists(&session), "a Java leader deletes the mark, which said so before");
}
