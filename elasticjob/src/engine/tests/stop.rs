//! Runs that go on are asked to come to an end, once, with the reason.

use std::time::Duration;

use super::group::{Group, every_five, job};
use crate::config::{JobConfiguration, wire};
use crate::engine::{Event, ListenerSpec, Notice};
use crate::fire::StopReason;
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, Transaction, WatchEvent};

/// The items that were asked, and why, of what a host said since it was looked at last.
fn asked(group: &mut Group, host: usize) -> Vec<(Vec<ShardingItem>, StopReason)> {
    let state = &mut group.hosts[host];
    let told = state.notices.iter().filter_map(|notice| match notice {
        Notice::StopAsked { items, reason } => Some((items.clone(), *reason)),
        _ => None,
    });
    let told: Vec<_> = told.collect();
    let acted: Vec<ShardingItem> = std::mem::take(&mut state.asked_to_stop);
    assert_eq!(told.iter().flat_map(|(items, _)| items.clone()).collect::<Vec<_>>(), acted);
    state.clear();
    told
}

#[test]
fn a_run_that_nothing_wants_ended_is_left_alone() {
    let mut group = Group::settled(2, &every_five(2));
    group.run_until(25_000);
    assert_eq!((asked(&mut group, 0), asked(&mut group, 1)), (vec![], vec![]));
}

#[test]
fn an_instance_that_joins_has_all_runs_asked() {
    let mut group = Group::settled(2, &every_five(2));
    group.run_until(5_000);
    group.join("10.0.0.3", &every_five(2));
    assert!(!group.exists(&JobPath::Necessary), "the leader has served it");
    assert_eq!(asked(&mut group, 0), [(vec![1], StopReason::Resharding)]);
    assert_eq!(asked(&mut group, 1), [(vec![0], StopReason::Resharding)]);
}

#[test]
fn a_request_that_came_and_went_between_two_looks_is_heard() {
    let mut group = Group::settled(2, &every_five(2));
    group.run_until(5_000);
    let (now, path) = (group.now(), JobPath::Necessary.absolute(&job()));
    for event in [WatchEvent::Created(path.clone()), WatchEvent::Deleted(path)] {
        group.hosts[1].engine.note(now, Event::Watch(event));
    }
    group.tell(1, Event::Tick);
    assert_eq!(asked(&mut group, 1), [(vec![0], StopReason::Resharding)]);
}

#[test]
fn a_run_that_begins_while_a_request_waits_is_asked_at_once() {
    let mut group = Group::settled(1, &every_five(1));
    let mut foreign = Transaction::new();
    // A leader of Java, which serves the request at its next fire.
    foreign.delete("/job/leader/election/instance", None);
    foreign.create("/job/leader/election/instance", "10.0.0.9@-@1", CreateMode::Ephemeral);
    foreign.create("/job/leader/sharding/necessary", "", CreateMode::Persistent);
    group.operate(&foreign, false);
    group.run_until(15_000);
    assert_eq!(group.hosts[0].started.len(), 1);
    assert_eq!(asked(&mut group, 0), [(vec![0], StopReason::Resharding)]);
}

#[test]
fn instances_that_came_while_nothing_was_heard_have_the_runs_asked() {
    // From four on, an instance hears of parts of the job by watches of their own.
    for instances in [2, 5] {
        let mut group = Group::settled(instances, &every_five(instances));
        group.run_until(5_000);
        let member = group.hosts.iter().position(|host| !host.engine.status().leader).unwrap();
        let own = group.owners(instances).iter().position(|owner| *owner == Some(member)).unwrap();
        group.disconnect(member);
        group.join("10.0.0.9", &every_five(instances));
        group.connect(member);
        assert_eq!(asked(&mut group, member), [(vec![own as ShardingItem], StopReason::Resharding)], "{instances}");
    }
}

#[test]
fn a_reconnect_alone_asks_nobody() {
    let mut group = Group::settled(2, &every_five(2));
    group.run_until(5_000);
    group.disconnect(1);
    group.connect(1);
    group.tell(1, Event::Watch(WatchEvent::Gap));
    assert_eq!(asked(&mut group, 1), []);
}

#[test]
fn what_was_asked_is_still_cut_off_in_time() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(5_000);
    group.tell(0, Event::Shutdown { grace: Duration::from_secs(3) });
    assert_eq!(asked(&mut group, 0), [(vec![0], StopReason::Leaving)]);
    group.run_until(8_000);
    assert_eq!(group.hosts[0].cancelled, [0]);
}

#[test]
fn the_runs_of_a_server_that_is_disabled_are_asked_and_an_item_that_is_disabled_alone() {
    let mut group = Group::settled(1, &every_five(2));
    group.run_until(5_000);
    let mut disable = Transaction::new();
    disable.create(JobPath::Item(1, ItemNode::Disabled).absolute(&job()), "", CreateMode::Persistent);
    group.operate(&disable, false);
    assert_eq!(asked(&mut group, 0), [(vec![1], StopReason::ItemDisabled)]);
    group.set(&JobPath::Server("10.0.0.1".into()), "DISABLED");
    assert_eq!(asked(&mut group, 0), [(vec![0], StopReason::ServerDisabled)]);
}

#[test]
fn changed_properties_have_runs_asked_and_other_settings_do_not() {
    let with = |value: &str, description: &str| {
        let builder = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").description(description);
        builder.prop("streaming.process", value).build().unwrap()
    };
    let mut group = Group::settled(1, &with("true", ""));
    group.run_until(5_000);
    group.set(&JobPath::Config, &wire::to_yaml(&with("true", "said again")));
    assert_eq!(asked(&mut group, 0), []);
    group.set(&JobPath::Config, &wire::to_yaml(&with("false", "said again")));
    assert_eq!(asked(&mut group, 0), [(vec![0], StopReason::PropsChanged)]);
}

#[test]
fn a_wish_waits_for_no_answer_of_the_registry() {
    let mut group = Group::settled(1, &every_five(2));
    group.run_until(5_000);
    group.disconnect(0);
    group.tell(0, Event::Shutdown { grace: Duration::from_secs(60) });
    assert_eq!(asked(&mut group, 0), [(vec![0, 1], StopReason::Leaving)]);
}

#[test]
fn what_is_wanted_while_the_listeners_before_a_run_are_called_reaches_the_run_after_them() {
    let listened = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").job_listener_type("audit");
    let audit = ListenerSpec { type_name: "audit".into(), order: 0, once: None };
    let mut group = Group::listening(1, &listened.build().unwrap(), [audit]);
    group.run_until(5_000);
    let (now, path) = (group.now(), JobPath::Necessary.absolute(&job()));
    for event in [WatchEvent::Created(path.clone()), WatchEvent::Deleted(path)] {
        group.hosts[0].engine.note(now, Event::Watch(event));
    }
    group.tell(0, Event::Tick);
    assert_eq!(asked(&mut group, 0), [], "nothing runs yet");
    group.end_call(0);
    assert_eq!(asked(&mut group, 0), [(vec![0], StopReason::Resharding)]);
}
