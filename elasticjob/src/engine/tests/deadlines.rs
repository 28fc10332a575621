//! Runs are dropped before the server could have given their items away, also where the engine is asked late.

use std::time::Duration;

use super::group::{Group, every_five};
use crate::engine::Event;

/// A run that began at 5 s, in a group of one whose connection broke then: cancelled at 12 s, dropped at 14 s, and ended
/// by the server at 15 s.
fn cut_off() -> Group {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(5_000);
    group.disconnect(0);
    group
}

fn dropped(group: &Group) -> (&[u32], &[u32]) {
    (&group.hosts[0].cancelled, &group.hosts[0].aborted)
}

#[test]
fn a_cut_off_that_comes_late_gives_what_is_left_of_the_grace() {
    let mut group = cut_off();
    group.sleep_until(13_500);
    group.tell(0, Event::Tick);
    assert_eq!(dropped(&group), (&[0][..], &[][..]));
    group.run_until(14_000);
    assert_eq!(dropped(&group), (&[0][..], &[0][..]));
}

#[test]
fn a_process_that_wakes_up_after_its_session_drops_its_runs_at_once() {
    let mut group = cut_off();
    group.sleep_until(60_000);
    group.tell(0, Event::Tick);
    assert_eq!(dropped(&group), (&[0][..], &[0][..]));
}

#[test]
fn a_run_of_a_session_that_has_ended_is_dropped_at_once() {
    let mut group = cut_off();
    group.expire(group.hosts[0].session);
    group.run_until(8_000);
    group.connect_anew(0);
    assert_eq!(dropped(&group), (&[0][..], &[0][..]));
}

#[test]
fn the_grace_of_a_shutdown_ends_with_the_session_too() {
    let mut group = cut_off();
    group.tell(0, Event::Shutdown { grace: Duration::from_secs(3) });
    group.run_until(8_000);
    assert_eq!(dropped(&group), (&[0][..], &[][..]));
    group.expire(group.hosts[0].session);
    group.connect_anew(0);
    assert_eq!(dropped(&group), (&[0][..], &[0][..]));
}
