//! Manual triggers: each runs the items of its instance, or it is said why not.

use super::super::{Event, Notice};
use super::group::{Group, Lost, every_five, job};
use crate::fire::Fire;
use crate::registry::layout::JobPath;
use crate::registry::{CreateMode, Transaction, WatchEvent};

#[test]
fn an_instance_without_items_says_that_a_trigger_runs_nothing() {
    let mut group = Group::settled(2, &every_five(1));
    group.run_until(4_000);
    let idle = usize::from(group.owners(1)[0] == Some(0));
    group.tell(0, Event::Trigger(1));
    assert!(!group.exists(&JobPath::Trigger(group.hosts[idle].engine.instance().clone())));
    let nothing = |notice: &&Notice| matches!(notice, Notice::NothingToRun { fire: Fire::Manual { .. } });
    assert_eq!(group.hosts[idle].notices.iter().filter(nothing).count(), 1, "{:?}", group.hosts[idle].notices);
}

#[test]
fn a_trigger_that_comes_with_a_fire_of_which_nothing_is_to_run_waits_for_no_other_event() {
    let mut group = Group::settled(2, &every_five(1));
    let idle = usize::from(group.owners(1)[0] == Some(0));
    let mut trigger = Transaction::new();
    trigger.create(JobPath::Triggers.absolute(&job()), "", CreateMode::Persistent);
    trigger.create(group.own_trigger(idle), "", CreateMode::Persistent);
    group.operate(&trigger, true);
    group.sleep_until(5_000);
    let (now, created) = (group.now(), WatchEvent::Created(group.own_trigger(idle)));
    group.hosts[idle].engine.note(now, Event::Watch(created));
    group.tell(idle, Event::Tick);
    assert!(!group.exists(&JobPath::Trigger(group.hosts[idle].engine.instance().clone())));
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
