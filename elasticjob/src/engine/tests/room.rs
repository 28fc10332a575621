//! Transactions stay below what a server takes, however many items there are and wherever the namespace is.

use super::group::{Group, every_five, job};
use crate::config::wire;
use crate::engine::clean_up::CleanUp;
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, Transaction};

/// The length of a long namespace: it makes each path longer by so many bytes.
const NAMESPACE: usize = 121;
/// More than fit into one transaction there.
const TOTAL: u32 = 1_600;

fn in_long_namespace() -> Group {
    let mut group = Group::new();
    group.namespace_bytes = NAMESPACE;
    group
}

// The group checks the weight of each transaction.
#[test]
fn more_items_than_fit_into_a_transaction_are_assigned_and_begun_in_a_long_namespace() {
    let mut group = in_long_namespace();
    group.join("10.0.0.1", &every_five(TOTAL));
    group.run_until(6_000);
    let started: usize = group.hosts[0].started.iter().map(|start| start.items.len()).sum();
    assert_eq!(started, TOTAL as usize);
    assert!(group.hosts[0].started.len() > 1, "one transaction took all");
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
    const MARKED: u32 = 1_008;
    let mut group = in_long_namespace();
    group.join("10.0.0.1", &every_five(MARKED));
    group.run_until(4_000);
    let marks = |item: ShardingItem| {
        let other = |name: &str| ItemNode::Other(Box::new(name.into()));
        [ItemNode::Misfire, ItemNode::Disabled, other("seen"), other("by-hand"), other("note")]
            .map(|node| JobPath::Item(item, node))
    };
    for item in 1..MARKED {
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
    assert!((1..MARKED).all(|item| !group.exists(&JobPath::Item(item, ItemNode::Dir))));
}
