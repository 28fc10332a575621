//! Fires that came while their item or server was disabled.

use super::super::group::{Group, job};
use super::{FIRE, NORMAL, kill_and_expire, nightly, skips, through};
use crate::engine::{Event, Notice};
use crate::fire::SkipReason;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, Transaction, WatchEvent};

#[test]
fn an_item_or_server_that_was_disabled_waits_for_the_next_fire_when_it_is_enabled() {
    let (disabled, server) = (JobPath::Item(0, ItemNode::Disabled), JobPath::Server("10.0.0.1".into()));
    for is_server in [false, true] {
        let configuration = nightly(1).build().unwrap();
        let mut group = Group::settled(1, &configuration);
        group.run_until(30_000);
        let mut taken_out = Transaction::new();
        match is_server {
            true => taken_out.set(server.absolute(&job()), "DISABLED", None),
            false => taken_out.create(disabled.absolute(&job()), "", CreateMode::Persistent),
        };
        group.operate(&taken_out, false);
        group.run_until(60_000);
        let mut back = Transaction::new();
        match is_server {
            true => back.set(server.absolute(&job()), "ENABLED", None),
            false => back.delete(disabled.absolute(&job()), None),
        };
        group.operate(&back, false);
        group.run_until(70_000);
        assert_eq!(through(&group, 0), Some(FIRE.at()), "server: {is_server}");
        group.kill(0);
        let next = group.join("10.0.0.3", &configuration);
        group.run_until(90_000);
        assert_eq!((group.starts(0), group.starts(next)), (vec![], vec![]), "server: {is_server}");
    }
}

#[test]
fn a_server_that_is_disabled_while_a_fire_is_still_due_begins_it_when_it_is_enabled() {
    let server = JobPath::Server("10.0.0.1".into());
    for disabled_before in [true, false] {
        let mut group = Group::settled(1, &nightly(1).build().unwrap());
        group.run_until(20_000);
        group.disconnect(0);
        group.run_until(if disabled_before { 30_000 } else { 45_000 });
        let mut taken_out = Transaction::new();
        taken_out.set(server.absolute(&job()), "DISABLED", None);
        group.operate(&taken_out, true);
        group.run_until(50_000);
        group.tell(0, Event::Watch(WatchEvent::Gap));
        group.connect(0);
        group.run_until(60_000);
        let told = Notice::Skipped { fire: FIRE, items: vec![], reason: SkipReason::ServerDisabled };
        assert!(group.hosts[0].notices.contains(&told) && group.starts(0).is_empty());
        group.set(&server, "ENABLED");
        group.run_until(70_000);
        let begun = if disabled_before { vec![] } else { vec![(FIRE, NORMAL, vec![0])] };
        assert_eq!(group.starts(0), begun, "disabled before the fire came: {disabled_before}");
    }
}

#[test]
fn an_item_of_another_server_is_begun_late_also_where_the_own_one_was_disabled_when_the_fire_came() {
    let mut group = Group::settled(2, &nightly(2).build().unwrap());
    let server = JobPath::Server("10.0.0.2".into());
    group.set(&server, "DISABLED");
    group.run_until(25_000);
    assert_eq!(group.owners(2), [Some(0); 2]);
    kill_and_expire(&mut group, 0, 50_000);
    assert_eq!(skips(&group, 1), [(vec![], SkipReason::ServerDisabled)]);
    group.set(&server, "ENABLED");
    group.tell(1, Event::Tick);
    group.run_until(66_000);
    assert_eq!(group.starts(1), [(FIRE, NORMAL, vec![0, 1])]);
}
