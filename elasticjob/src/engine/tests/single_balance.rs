//! SINGLE_SHARDING_BALANCE: the work moves on with each fire.

use super::group::{Group, Host, job};
use crate::config::JobConfiguration;
use crate::engine::{Event, Notice};
use crate::fire::Fire;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, Transaction};

fn configuration(total: u32) -> JobConfiguration {
    let builder = JobConfiguration::builder("job", total).cron("0/5 * * * * ?");
    builder.job_sharding_strategy_type("SINGLE_SHARDING_BALANCE").build().unwrap()
}

/// Lets the next fire come and its items end; returns which host ran which items.
fn fire(group: &mut Group, at: u64) -> Vec<Vec<u32>> {
    group.hosts.iter_mut().for_each(Host::clear);
    group.run_until(at);
    end_all(group)
}

fn end_all(group: &mut Group) -> Vec<Vec<u32>> {
    let started = |host: &Host| -> Vec<u32> {
        host.started.iter().flat_map(|start| &start.items).map(|(item, _)| *item).collect()
    };
    let ran: Vec<Vec<u32>> = group.hosts.iter().map(started).collect();
    for (host, items) in ran.iter().enumerate() {
        group.end_items(host, items);
    }
    ran
}

fn runner(ran: &[Vec<u32>]) -> usize {
    let runners: Vec<usize> = (0..ran.len()).filter(|host| ran[*host] == [0]).collect();
    assert_eq!(runners.len(), 1, "{ran:?}");
    runners[0]
}

#[test]
fn a_single_item_goes_round_all_instances() {
    let mut group = Group::settled(3, &configuration(1));
    let runners: Vec<usize> = (1..=6).map(|n| runner(&fire(&mut group, 5_000 * n))).collect();
    // In the order of the list, which is descending.
    let first = runners[0];
    let expected: Vec<usize> = (0..6).map(|n| (first + 3 - n % 3) % 3).collect();
    assert_eq!(runners, expected);
}

#[test]
fn moving_on_is_one_transaction_of_the_leader() {
    let mut group = Group::settled(3, &configuration(1));
    fire(&mut group, 5_000);
    let ran = runner(&fire(&mut group, 10_000));
    let moves: Vec<&String> =
        group.hosts.iter().flat_map(|host| &host.commits).filter(|c| c.starts_with('?')).collect();
    let next = group.owners(1)[0].unwrap();
    assert_ne!(next, ran);
    let expected = format!(
        "?leader/election/instance; =sharding/0/instance 10.0.0.{}@-@7; +trigger; -trigger; \
         =sharding {}; +leader/sharding/necessary; -leader/sharding/necessary",
        next + 1,
        r#"{"schedule":{"cron":"0/5 * * * * ?","since":1700000001000}}"#
    );
    assert_eq!(moves, [&expected]);
    // Begin, end and the move. No host reads more than the owner and the record, each where it changed.
    assert_eq!(group.hosts.iter().map(|host| host.commits.len()).sum::<usize>(), 3);
    let reads: Vec<usize> = group.hosts.iter().map(|host| host.reads).collect();
    assert!(reads.iter().all(|reads| *reads <= 2), "{reads:?}");
}

#[test]
fn several_items_move_on_together_once_all_have_ended() {
    let mut group = Group::settled(3, &configuration(4));
    group.run_until(5_000);
    let before = group.owners(4);
    let host = before[0].unwrap();
    group.end_items(host, &[0, 3]);
    assert_eq!(group.owners(4), before, "others run");
    let ran = end_all(&mut group);
    assert_eq!(ran[host], [0, 3]);
    let expected: Vec<Option<usize>> = before.iter().map(|owner| owner.map(|owner| (owner + 2) % 3)).collect();
    assert_eq!(group.owners(4), expected);
}

#[test]
fn an_instance_that_is_alone_writes_nothing_for_it() {
    let mut group = Group::settled(1, &configuration(1));
    fire(&mut group, 5_000);
    assert_eq!(group.hosts[0].commits.len(), 2);
}

#[test]
fn a_disabled_item_stops_moving_and_does_not_stop_the_others() {
    let mut group = Group::settled(2, &configuration(2));
    let mut disable = Transaction::new();
    disable.create(JobPath::Item(0, ItemNode::Disabled).absolute(&job()), "", CreateMode::Persistent);
    group.operate(&disable, false);
    let before = group.owners(2);
    fire(&mut group, 5_000);
    assert_eq!(group.owners(2), [before[1], before[0]]);
    disable = Transaction::new();
    disable.create(JobPath::Item(1, ItemNode::Disabled).absolute(&job()), "", CreateMode::Persistent);
    group.operate(&disable, false);
    fire(&mut group, 10_000);
    assert_eq!(group.owners(2), [before[1], before[0]], "nobody ran anything");
}

#[test]
fn a_manual_trigger_moves_on_and_a_joiner_takes_no_turn_away() {
    let mut group = Group::settled(2, &configuration(1));
    let first = runner(&fire(&mut group, 5_000));
    group.hosts.iter_mut().for_each(Host::clear);
    group.tell(0, Event::Trigger(1, None));
    assert_eq!(runner(&end_all(&mut group)), 1 - first);
    assert_eq!(group.owners(1), [Some(first)]);
    group.join("10.0.0.3", &configuration(1));
    assert_eq!(group.owners(1), [Some(first)]);
}

#[test]
fn items_stay_where_a_manual_trigger_waits_for_the_end_of_their_run() {
    let mut group = Group::settled(2, &configuration(1));
    group.run_until(5_000);
    let owner = group.owners(1)[0].unwrap();
    // The other one has nothing to run for it, and has taken it long before the run ends.
    group.tell(0, Event::Trigger(1, None));
    group.hosts.iter_mut().for_each(Host::clear);
    group.end_items(owner, &[0]);
    let manual = &group.hosts[owner].started[0];
    assert!(matches!(manual.key.fire, Fire::Manual { .. }));
    assert_eq!(group.owners(1), [Some(owner)]);
    group.end_items(owner, &[0]);
    assert_eq!(group.owners(1), [Some(1 - owner)], "now it moves on");
}

#[test]
fn a_trigger_that_the_leader_has_not_heard_of_is_not_outrun() {
    let mut group = Group::settled(2, &configuration(1));
    group.run_until(5_000);
    let owner = group.owners(1)[0].unwrap();
    let mut trigger = Transaction::new();
    trigger.create(JobPath::Triggers.absolute(&job()), "", CreateMode::Persistent);
    let id = group.hosts[owner].engine.instance().clone();
    trigger.create(JobPath::Trigger(id).absolute(&job()), "", CreateMode::Persistent);
    group.operate(&trigger, true);
    group.end_items(owner, &[0]);
    assert_eq!(group.owners(1), [Some(owner)]);
}

#[test]
fn a_new_leader_knows_whose_turn_it_is() {
    let mut group = Group::settled(3, &configuration(1));
    let ran = runner(&fire(&mut group, 5_000));
    let next = group.owners(1)[0].unwrap();
    let leader = group.hosts.iter().position(|host| host.engine.status().leader).unwrap();
    group.kill(leader);
    group.run_until(8_000);
    assert!(group.hosts.iter().any(|host| !host.stopped && host.engine.status().leader));
    let now = group.owners(1)[0].unwrap();
    assert!(now == next || leader == next, "{ran} ran, {next} was next, {leader} died, {now} is next now");
    assert!(!group.hosts[now].stopped);
    let told = |host: &Host| host.notices.iter().filter(|n| matches!(n, Notice::Elected)).count();
    assert_eq!(group.hosts.iter().map(told).sum::<usize>(), 1);
}
