//! Groups of Java instances alone: the model does what was observed of the release, in that order, and is as careless.

use std::collections::BTreeSet;

use crate::ident::ShardingItem;
use crate::registry::layout::JobPath;
use crate::sharding::AVG_ALLOCATION;
use crate::testing::invariants::Invariants;
use crate::testing::rng::Rng;
use crate::testing::sim::Keep;
use crate::testing::sim::clocks::MonoClock;
use crate::testing::sim::happening::Happening;
use crate::testing::sim::host::{Host, Millis};
use crate::testing::sim::listeners::SimListeners;
use crate::testing::sim::shape::Shape;
use crate::testing::sim::world::World;

const SESSION: Millis = 4_000;

/// A group of Java hosts that start one after the other, with a fire every five seconds and runs of up to this time.
fn group(seed: u64, hosts: usize, total: u32, longest_run: Millis, failover: bool) -> World {
    let mut world = World::new(seed, None, Keep::Lines);
    world.agenda.clear();
    world.rng = Rng::new(seed);
    world.shape = Shape {
        monitored: true,
        failover,
        misfire: true,
        unheard: false,
        longest_run,
        static_sharding: false,
        strategy: AVG_ALLOCATION,
        max_time_diff: None,
        listeners: SimListeners::none(),
    };
    (world.session_timeout, world.period, world.latency) = (SESSION, 5, 2);
    world.invariants = Invariants::new(total, 5, world.shape.clone());
    world.hosts = (0..hosts)
        .map(|n| Host {
            ip: format!("10.0.0.{}", n + 1),
            pid: 7,
            process: None,
            clock_offset: 0,
            mono: MonoClock::new(),
            java: true,
            id_reused: false,
        })
        .collect();
    world.configure(total);
    world.at(100, Happening::Expire);
    for host in 0..hosts {
        world.at(500 * host as u64, Happening::Restart { host });
    }
    world
}

/// What was written since the last look, without the name of the job and the names of latch nodes.
fn writes(world: &mut World) -> Vec<String> {
    let lines = world.history.replace(Vec::new()).unwrap_or_default();
    let written = lines.iter().filter_map(|line| line.split_once(" commit by host ").map(|(_, written)| written));
    written
        .map(|written| {
            let (host, ops) = written.split_once(": ").unwrap();
            let ops: Vec<String> = ops.split(", ").map(|op| shorten(op.split('\n').next().unwrap())).collect();
            format!("{host} {}", ops.join(" "))
        })
        .collect()
}

fn shorten(op: &str) -> String {
    let op = op.replace("/job/", "").replace("create ", "+").replace("delete ", "-").replace("check ", "?");
    let op = op.replace("leader/election/", "").replace("leader/sharding/", "");
    match op.split_once("/_c_") {
        Some((latch, _)) => format!("{latch}/candidate"),
        None => op.split("jobInstanceId").next().unwrap().trim_end_matches('=').to_owned(),
    }
}

/// Without the parents, whose creation is no step of its own.
fn without_parents(writes: Vec<String>) -> Vec<String> {
    let parents = ["+leader", "+latch", "+leader/election", "+servers", "+instances", "+leader/sharding", "+sharding"];
    writes.into_iter().filter(|write| !parents.contains(&&write[2..])).collect()
}

fn runners(world: &World, item: ShardingItem) -> Vec<usize> {
    let runs = |host: &Host| host.process.as_ref().is_some_and(|process| process.executions.contains_key(&item));
    (0..world.hosts.len()).filter(|host| runs(&world.hosts[*host])).collect()
}

fn children(world: &World, path: &JobPath) -> Vec<String> {
    world.tree.children(&path.absolute(&world.job)).unwrap().unwrap_or_default()
}

fn text(world: &World, path: &JobPath) -> Option<String> {
    let node = world.tree.get(&path.absolute(&world.job)).unwrap()?;
    node.data.text().map(str::to_owned)
}

fn owners(world: &World) -> BTreeSet<String> {
    (0..9).filter_map(|item| text(world, &JobPath::owner_of(item))).collect()
}

#[test]
fn the_first_instance_writes_in_the_order_of_the_release() {
    let mut world = group(1, 1, 2, 10, false);
    world.run_until(3_000).unwrap();
    let written = without_parents(writes(&mut world));
    let id = "10.0.0.1@-@7";
    let expected = [
        "0 +latch/candidate".to_owned(),
        format!("0 +instance={id}"),
        "0 -latch/candidate".to_owned(),
        "0 +servers/10.0.0.1=ENABLED".to_owned(),
        format!("0 +instances/{id}"),
        "0 +necessary".to_owned(),
    ];
    assert_eq!(written, expected);
}

#[test]
fn a_fire_reshards_marks_its_items_and_takes_the_marks_away() {
    let mut world = group(1, 1, 2, 10, false);
    world.run_until(3_000).unwrap();
    writes(&mut world);
    world.run_until(9_000).unwrap();
    let written = without_parents(writes(&mut world));
    let id = "10.0.0.1@-@7";
    let expected = [
        "0 +processing".to_owned(),
        "0 +sharding/0".to_owned(),
        "0 +sharding/1".to_owned(),
        format!("0 +sharding/0/instance={id} +sharding/1/instance={id} -necessary -processing"),
        format!("0 +sharding/0/running={id}"),
        format!("0 +sharding/1/running={id}"),
        "0 -sharding/0/running".to_owned(),
        "0 -sharding/1/running".to_owned(),
    ];
    assert_eq!(written, expected);
}

#[test]
fn a_run_of_a_crashed_instance_is_queued_taken_run_and_forgotten() {
    let mut world = group(1, 3, 3, 4_000, true);
    world.run_until(5_200).unwrap();
    let crashed = runners(&world, 2)[0];
    let id = world.hosts[crashed].instance();
    world.run_until(5_300).unwrap();
    writes(&mut world);
    world.kill(crashed);
    world.run_until(30_000).unwrap();
    let lost: Vec<String> = (writes(&mut world).into_iter().map(|write| write[2..].to_owned()))
        .filter(|write| write.contains("failover"))
        .collect();
    let steps =
        ["+leader/failover/items/2", "+sharding/2/failover=", "+sharding/2/failovering=", "-leader/failover/items/2"];
    let mut at = 0;
    for step in steps.into_iter().chain(["-sharding/2/failover", "-sharding/2/failovering"]) {
        let found = lost[at..].iter().position(|write| write.starts_with(step));
        at += found.unwrap_or_else(|| panic!("{step} after {at} in {lost:?}")) + 1;
    }
    assert!(!children(&world, &JobPath::Instances).contains(&id.to_string()));
    assert_eq!(text(&world, &JobPath::running(2)), None);
    assert!(!owners(&world).contains(id.as_str()));
}

#[test]
fn a_missed_fire_is_made_up_for_after_the_next_regular_one() {
    let mut world = group(1, 1, 1, 6_001, false);
    world.shortest_run = 6_000;
    world.run_until(31_000).unwrap();
    let history = world.history.take().unwrap();
    let marks = |what: &str| -> Vec<u64> {
        let lines = history.iter().filter(|line| line.contains(what));
        lines.map(|line| line.trim_start().split(' ').next().unwrap().parse::<u64>().unwrap() / 1_000).collect()
    };
    // :05 to :11, the flag at :11, the regular run at :15 to :21, the make-up run until :27, the flag again.
    assert_eq!(marks("create /job/sharding/0/running"), [5, 15, 21, 30]);
    assert_eq!(marks("create /job/sharding/0/misfire"), [11, 27]);
}

#[test]
fn a_trigger_makes_every_idle_instance_run_its_items_and_is_dropped_by_a_busy_one() {
    let mut world = group(1, 2, 2, 2_001, false);
    world.shortest_run = 2_000;
    world.run_until(8_000).unwrap();
    writes(&mut world);
    world.trigger(0);
    world.run_until(8_500).unwrap();
    assert!(children(&world, &JobPath::Triggers).is_empty());
    assert_eq!([runners(&world, 0).len(), runners(&world, 1).len()], [1, 1]);
    world.trigger(1);
    world.run_until(9_500).unwrap();
    assert!(children(&world, &JobPath::Triggers).is_empty());
    world.run_until(10_050).unwrap();
    let begun = writes(&mut world).iter().filter(|write| write.contains("/running=")).count();
    assert_eq!(begun, 2, "the second trigger was dropped");
}

/// Finding 1: who joins while the leader waits for running items stays without any, as its request is served with the
/// one before it.
#[test]
fn a_request_for_resharding_gets_lost_in_some_histories() {
    let lost = (0..60).find(|seed| {
        let mut world = group(*seed, 4, 8, 9_000, false);
        world.agenda.clear();
        world.at(100, Happening::Expire);
        for (host, at) in [(0, 0), (1, 500), (2, 6_000), (3, 10_500 + 100 * seed)] {
            world.at(at, Happening::Restart { host });
        }
        world.run_until(45_000).unwrap();
        let asked = text(&world, &JobPath::Necessary).is_some();
        !asked && owners(&world).len() < children(&world, &JobPath::Instances).len()
    });
    assert!(lost.is_some());
}

/// Whether this is so some time after the connection of one of three that run something was cut, in one of sixty histories.
fn happens_after_a_cut(is_so: impl Fn(&World, Millis) -> bool) -> bool {
    (0..60).any(|seed| {
        let mut world = group(seed, 3, 3, 9_000, true);
        world.run_until(6_000).unwrap();
        let host = world.rng.below(3) as usize;
        world.cut(host, 1_500);
        (6_000..20_000).step_by(20).any(|at| {
            world.run_until(at).unwrap();
            is_so(&world, at)
        })
    })
}

/// Findings 7, 23 and 24: a connection that comes back takes the marks of runs away that go on, and another instance
/// begins them.
#[test]
fn two_instances_run_one_item_in_some_histories() {
    assert!(happens_after_a_cut(|world, _| (0..3).any(|item| runners(world, item).len() > 1)));
}

/// Finding 7: what another instance marked is deleted by who ends first.
#[test]
fn an_instance_deletes_the_mark_of_another_one_in_some_histories() {
    assert!(happens_after_a_cut(|world, at| {
        (0..3).any(|item| {
            !runners(world, item).is_empty() && at > 8_500 && text(world, &JobPath::running(item)).is_none()
        })
    }));
}

/// Finding 5: the owner of an item is read from the cache right after the assignment.
#[test]
fn the_cache_lags_behind_the_server() {
    let mut world = group(1, 1, 1, 10, false);
    world.run_until(3_000).unwrap();
    world.latency = 200;
    let server = JobPath::Server("10.0.0.1".into());
    world.operator_sets(&server, "DISABLED");
    let cached = |world: &mut World| {
        let java = world.hosts[0].process.as_mut().and_then(|process| process.program.java()).unwrap();
        java.cached("servers/10.0.0.1")
    };
    assert_eq!(cached(&mut world).as_deref(), Some("ENABLED"));
    world.run_until(4_500).unwrap();
    assert_eq!(cached(&mut world).as_deref(), Some("DISABLED"));
}

/// Finding 8: the owners are deleted one by one before the new ones are written.
#[test]
fn a_leader_that_crashes_while_it_assigns_leaves_items_without_owners() {
    let mut world = group(1, 2, 4, 10, false);
    world.agenda.clear();
    world.at(100, Happening::Expire);
    world.at(0, Happening::Restart { host: 0 });
    world.at(7_000, Happening::Restart { host: 1 });
    world.run_until(9_000).unwrap();
    let owned = |world: &World| (0..4).filter(|item| text(world, &JobPath::owner_of(*item)).is_some()).count();
    assert_eq!(owned(&world), 4);
    let wiped = (9_000..11_000).find(|at| {
        world.run_until(*at).unwrap();
        owned(&world) < 4
    });
    assert!(wiped.is_some());
    world.kill(0);
    world.run_until(wiped.unwrap() + SESSION / 2).unwrap();
    assert!(owned(&world) < 4);
}
