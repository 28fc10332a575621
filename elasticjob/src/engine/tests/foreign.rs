//! Nodes that an operator made by hand below nodes of the job.

use super::group::{Group, every_five, job};
use crate::config::wire;
use crate::engine::{Event, Notice};
use crate::ident::InstanceId;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, Transaction};

fn make(group: &mut Group, nodes: &[String]) {
    let mut by_hand = Transaction::new();
    for node in nodes {
        by_hand.create(node.clone(), "ENABLED", CreateMode::Persistent);
    }
    group.operate(&by_hand, false);
}

fn below(path: &JobPath) -> [String; 2] {
    let path = path.absolute(&job());
    [format!("{path}/by-hand"), format!("{path}/by-hand/deeper")]
}

fn is_told(group: &Group, above: &JobPath) -> bool {
    let told = Notice::ForeignNodesDeleted {
        above: above.to_string(),
        nodes: vec![format!("{above}/by-hand"), format!("{above}/by-hand/deeper")],
    };
    group.hosts.iter().any(|host| host.notices.contains(&told))
}

#[test]
fn servers_and_triggers_of_the_gone_are_deleted_with_what_is_below_them() {
    let mut group = Group::settled(2, &every_five(2));
    let trigger = JobPath::Trigger(InstanceId::of_process("10.0.0.9", 1));
    let server = JobPath::Server("10.0.0.9".into());
    make(&mut group, &[JobPath::Triggers.absolute(&job())]);
    for above in [&trigger, &server] {
        make(&mut group, &[&[above.absolute(&job())], &below(above)[..]].concat());
    }
    let leader = (0..2).find(|host| group.hosts[*host].engine.status().leader).unwrap();
    group.kill(leader);
    group.run_until(64_500);
    for above in [&trigger, &server] {
        assert!(!group.exists(above) && is_told(&group, above), "{above}");
    }
}

#[test]
fn a_removed_item_is_deleted_with_what_is_below_its_nodes() {
    let mut group = Group::settled(1, &every_five(3));
    let note = JobPath::Item(2, ItemNode::Other(Box::new("note".into())));
    make(&mut group, &[note.absolute(&job())]);
    for above in [&note, &JobPath::owner_of(2)] {
        make(&mut group, &below(above));
    }
    group.set(&JobPath::Config, &wire::to_yaml(&every_five(2)));
    group.run_until(4_500);
    assert!(!group.exists(&JobPath::Item(2, ItemNode::Dir)));
    assert!(is_told(&group, &note) && is_told(&group, &JobPath::owner_of(2)));
    assert!(!group.exists(&JobPath::Necessary));
}

#[test]
fn a_trigger_is_begun_whatever_is_below_its_node() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(5_000);
    group.tell(0, Event::Trigger(1, None));
    let trigger = JobPath::Trigger(group.hosts[0].engine.instance().clone());
    make(&mut group, &below(&trigger));
    group.hosts[0].clear();
    group.end_items(0, &[0]);
    assert!(!group.exists(&trigger) && is_told(&group, &trigger));
    assert_eq!(group.starts(0).len(), 1);
}

#[test]
fn more_than_can_be_looked_at_stays_is_said_once_and_holds_nothing_up() {
    let mut group = Group::settled(1, &every_five(2));
    let note = JobPath::Item(1, ItemNode::Other(Box::new("note".into())));
    make(&mut group, &[note.absolute(&job())]);
    let many: Vec<String> = (0..10_001).map(|number| format!("{}/{number}", note.absolute(&job()))).collect();
    many.chunks(1_000).for_each(|some| make(&mut group, some));
    group.set(&JobPath::Config, &wire::to_yaml(&every_five(1)));
    group.run_until(16_000);
    assert!(group.exists(&note) && !group.exists(&JobPath::Necessary));
    let told = |notice: &&Notice| matches!(notice, Notice::ForeignNodesKept { .. });
    assert_eq!(group.hosts[0].notices.iter().filter(told).count(), 1);
    assert_eq!(group.starts(0).first().map(|(_, _, items)| items.clone()), Some(vec![0]));
}
