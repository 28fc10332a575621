use std::collections::BTreeSet;

use super::*;

fn job(name: &str) -> JobName {
    JobName::new(name).unwrap()
}

fn ids(ids: &[&str]) -> Vec<InstanceId> {
    ids.iter().map(|id| id.parse().unwrap()).collect()
}

fn three() -> Vec<InstanceId> {
    let mut instances = ids(&["10.0.0.1@-@100", "10.0.0.2@-@200", "10.0.0.10@-@300"]);
    sort_as_java(&mut instances);
    instances
}

/// The items of each instance of a list, in its order.
fn assigned(strategy: &str, name: &str, instances: &[InstanceId], total: u32) -> Vec<Vec<ShardingItem>> {
    let assignment = ShardingStrategies::built_in().get(strategy).unwrap().assign(&job(name), instances, total);
    instances.iter().map(|id| assignment.get(id).cloned().unwrap_or_default()).collect()
}

#[test]
fn instances_are_ordered_as_java_lists_them() {
    let mut instances = ids(&["10.0.0.1@-@10", "10.0.0.10@-@300", "10.0.0.1@-@9", "10.0.0.2@-@200", "10.0.0.1@-@100"]);
    sort_as_java(&mut instances);
    let order = ["10.0.0.2@-@200", "10.0.0.1@-@9", "10.0.0.1@-@100", "10.0.0.1@-@10", "10.0.0.10@-@300"];
    assert_eq!(instances, ids(&order));
}

#[test]
fn the_hash_is_java_s() {
    let hashes = [
        ("demo", 3_079_651),
        ("test", 3_556_498),
        ("myJob", 104_343_153),
        ("test_job", -1_146_456_432),
        ("jobA", 3_267_620),
        ("订单同步", 1_086_104_588),
        ("polygenelubricants", i32::MIN),
    ];
    for (name, hash) in hashes {
        assert_eq!(java_hash(name), hash, "{name}");
    }
}

#[test]
fn average_gives_equal_blocks_and_the_rest_to_the_first() {
    let instances = ids(&["x", "y", "z"]);
    let cases: [(u32, [&[u32]; 3]); 5] = [
        (9, [&[0, 1, 2], &[3, 4, 5], &[6, 7, 8]]),
        (8, [&[0, 1, 6], &[2, 3, 7], &[4, 5]]),
        (10, [&[0, 1, 2, 9], &[3, 4, 5], &[6, 7, 8]]),
        (2, [&[0], &[1], &[]]),
        (1, [&[0], &[], &[]]),
    ];
    for (total, items) in cases {
        assert_eq!(assigned("AVG_ALLOCATION", "job", &instances, total), items, "{total}");
    }
}

#[test]
fn odevity_and_round_robin_depend_on_the_name() {
    // In the order .2, .1, .10.
    let cases: [(&str, &str, [&[u32]; 3]); 6] = [
        ("ODEVITY", "jobA", [&[], &[1], &[0]]),
        ("ODEVITY", "jobB", [&[0], &[1], &[]]),
        ("ODEVITY", "test_job", [&[], &[1], &[0]]),
        ("ROUND_ROBIN", "jobA", [&[1], &[], &[0]]),
        ("ROUND_ROBIN", "simpleJob", [&[], &[0], &[1]]),
        ("ROUND_ROBIN", "myJob", [&[0], &[1], &[]]),
    ];
    for (strategy, name, items) in cases {
        assert_eq!(assigned(strategy, name, &three(), 2), items, "{strategy} {name}");
    }
    assert_eq!(assigned("ROUND_ROBIN", "polygenelubricants", &three(), 3).concat().len(), 3);
}

#[test]
fn a_turn_begins_with_the_owner_and_moves_on_to_the_next() {
    // In the order .2, .1, .10.
    let (second, first, tenth) = ("10.0.0.2@-@200", "10.0.0.1@-@100", "10.0.0.10@-@300");
    let begins = |owner, moves_on| in_turn(&job("jobA"), &three(), owner, moves_on)[0].to_string();
    for (owner, stays, next) in [(second, second, first), (first, first, tenth), (tenth, tenth, second)] {
        assert_eq!((begins(Some(owner), false), begins(Some(owner), true)), (stays.to_owned(), next.to_owned()));
    }
    // An owner that is gone has had its turn: the instance after it in the list goes on, in a circle.
    for (gone, next) in [("10.0.0.2@-@100", first), ("10.0.0.1@-@0", tenth), ("10.0.0.0@-@1", second)] {
        assert_eq!((begins(Some(gone), false), begins(Some(gone), true)), (next.to_owned(), next.to_owned()), "{gone}");
    }
    // As ROUND_ROBIN begins.
    assert_eq!(begins(None, false), tenth);
    assert!(in_turn(&job("jobA"), &[], None, true).is_empty());
}

#[test]
fn every_item_has_exactly_one_owner_at_any_size() {
    for strategy in ShardingStrategies::built_in().names() {
        for count in 0..8 {
            let instances: Vec<InstanceId> = (0..count).map(|n| InstanceId::of_process("10.0.0.1", n)).collect();
            for total in 1..40 {
                let items: Vec<u32> = assigned(strategy, "job", &instances, total).concat();
                let distinct: BTreeSet<u32> = items.iter().copied().collect();
                let expected: BTreeSet<u32> = if count == 0 { BTreeSet::new() } else { (0..total).collect() };
                assert_eq!((items.len(), distinct), (expected.len(), expected), "{strategy} {count} {total}");
            }
        }
    }
}
