//! Transactions stay below what a server takes, however many items there are and wherever the namespace is.

use super::group::{Group, every_five, job};
use crate::config::{JobConfiguration, wire};
use crate::engine::Notice;
use crate::engine::clean_up::CleanUp;
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, Transaction};

/// The length of a long namespace: it makes each path longer by so many bytes.
const NAMESPACE: usize = 121;
/// The most that is possible there.
const TOTAL: u32 = 1_008;

fn in_long_namespace() -> Group {
    let mut group = Group::new();
    group.namespace_bytes = NAMESPACE;
    group
}

// The group checks the weight of each transaction.
#[test]
fn as_many_items_as_are_possible_are_assigned_and_begun_in_a_long_namespace() {
    let mut group = in_long_namespace();
    group.join("10.0.0.1", &every_five(TOTAL));
    group.run_until(6_000);
    assert_eq!(group.hosts[0].started[0].items.len(), TOTAL as usize);
}

#[test]
fn a_total_that_the_namespace_leaves_no_room_for_is_refused_and_told() {
    let mut group = in_long_namespace();
    group.join("10.0.0.1", &every_five(2));
    group.run_until(4_000);
    let too_many = JobConfiguration::builder("job", 1_600).cron("0/5 * * * * ?").build().unwrap();
    group.set(&JobPath::Config, &wire::to_yaml(&too_many));
    let refused = group.hosts[0].notices.iter().find_map(|notice| match notice {
        Notice::ConfigurationRefused { why } => Some(why.as_str()),
        _ => None,
    });
    let told = refused.expect("it is told");
    assert!(told.contains("1600 items do not fit into one transaction") && told.contains("shorter name"), "{told}");
    assert_eq!(group.hosts[0].engine.configuration().unwrap().sharding_total_count(), 2);
}

#[test]
fn what_takes_the_place_of_an_engine_counts_the_namespace_too() {
    let mut group = in_long_namespace();
    group.join("10.0.0.1", &every_five(1));
    let engine = &group.hosts[0].engine;
    assert_eq!(engine.successor(engine.identity().clone()).mirror.namespace_bytes(), NAMESPACE);
    assert_eq!(CleanUp::after(engine).mirror.namespace_bytes(), NAMESPACE);
}

#[test]
fn items_with_many_marks_are_removed_in_several_transactions() {
    let mut group = in_long_namespace();
    group.join("10.0.0.1", &every_five(TOTAL));
    group.run_until(4_000);
    let marks = |item: ShardingItem| {
        let other = |name: &str| ItemNode::Other(Box::new(name.into()));
        [ItemNode::Misfire, ItemNode::Disabled, other("seen"), other("by-hand"), other("note")]
            .map(|node| JobPath::Item(item, node))
    };
    for item in 1..TOTAL {
        let mut foreign = Transaction::new();
        for mark in marks(item) {
            foreign.create(mark.absolute(&job()), "", CreateMode::Persistent);
        }
        group.operate(&foreign, false);
    }
    group.hosts[0].clear();
    group.set(&JobPath::Config, &wire::to_yaml(&every_five(1)));
    let removals = group.hosts[0].commits.iter().filter(|commit| commit.contains("-sharding/")).count();
    assert!(removals > 1, "{removals}");
    assert!((1..TOTAL).all(|item| !group.exists(&JobPath::Item(item, ItemNode::Dir))));
}
