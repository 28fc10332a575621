//! The counts of the scale simulation, where they are known from real servers.

use elasticjob::testing::scale::{Alignment, Deployment, Rates, cost_of_fire, play};

fn deployment(processes: u32, jobs: u32, instances: u32, items: u32) -> Deployment {
    let (alignment, rates) = (Alignment::Aligned, Rates::default());
    Deployment { processes, jobs, instances, items, alignment, rates, slices: 1, seed: 1 }
}

#[test]
fn a_fire_on_one_instance_is_two_writes() {
    let cost = cost_of_fire(&deployment(1, 1, 1, 2));
    assert_eq!((cost.requests, cost.writes), (2.0, 2.0));
    // A record and a mark of each item at the begin and at the end, of all of which the instance is told.
    assert_eq!((cost.operations, cost.notifications), (8.0, 8.0));
}

#[test]
fn an_instance_is_told_what_a_real_server_tells_it() {
    // As in the table "Many instances" of docs/performance.md. A leader of a large group that owns one of the eight items is
    // told of it once, not twice.
    let of = |instances| cost_of_fire(&deployment(instances, 1, instances, 8));
    for (instances, requests, notifications) in [(1, 2.0, 32.0), (3, 6.0, 96.0), (10, 16.0, 64.0), (30, 16.0, 64.0)] {
        let cost = of(instances);
        assert_eq!(cost.requests, requests, "{cost:?}");
        let is_told_once = instances > 3 && cost.notifications == notifications - 4.0;
        assert!(cost.notifications == notifications || is_told_once, "{cost:?}");
    }
}

#[test]
fn many_jobs_cost_as_many_times_as_much() {
    let one = cost_of_fire(&deployment(3, 1, 3, 3));
    let many = cost_of_fire(&deployment(3, 20, 3, 3));
    assert_eq!(many.operations, 20.0 * one.operations);
    assert_eq!(many.notifications, 20.0 * one.notifications);
    assert_eq!(many.kept.watches, 20 * one.kept.watches);
    // The root is one node of all of them.
    assert_eq!(many.kept.nodes - 1, 20 * (one.kept.nodes - 1));
    // What the jobs of a process begin at the same moment goes out together.
    assert!(many.writes < 10.0 * one.writes, "{} and {}", many.writes, one.writes);
}

#[test]
fn a_seed_decides_everything() {
    let played = || format!("{:?}", play(&Deployment { alignment: Alignment::Spread, ..deployment(10, 20, 3, 3) }));
    assert_eq!(played(), played());
}
