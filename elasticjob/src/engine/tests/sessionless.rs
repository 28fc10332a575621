//! Nodes of instances that no session owns.

use super::group::{EPOCH, Group, every_five, job};
use crate::engine::Notice;
use crate::fire::Fire;
use crate::ident::InstanceId;
use crate::registry::layout::JobPath;
use crate::registry::{CreateMode, Transaction};

fn copy(group: &mut Group, nodes: &[JobPath]) {
    let mut copied = Transaction::new();
    for node in nodes {
        copied.create(node.absolute(&job()), "ENABLED", CreateMode::Persistent);
    }
    group.operate(&copied, false);
}

fn told(group: &Group, node: &JobPath) -> bool {
    group.hosts.iter().flat_map(|host| &host.notices).any(|notice| match notice {
        Notice::SessionlessNodesDeleted { nodes } => nodes.contains(&node.to_string()),
        _ => false,
    })
}

#[test]
fn an_instance_that_no_session_owns_is_given_nothing_and_deleted() {
    let mut group = Group::settled(1, &every_five(2));
    let copied = JobPath::Instance(InstanceId::of_process("10.0.0.9", 1));
    copy(&mut group, &[JobPath::Server("10.0.0.9".into()), copied.clone()]);
    group.run_until(5_000);
    assert!(!group.exists(&copied) && told(&group, &copied));
    let fire = Fire::Scheduled(EPOCH + 5_000);
    assert_eq!(group.starts(0).iter().filter(|(of, _, _)| *of == fire).flat_map(|(_, _, items)| items).count(), 2);
}

#[test]
fn a_group_starts_in_a_copied_namespace() {
    let mut group = Group::settled(1, &every_five(1));
    let owner = group.hosts[0].engine.instance().clone();
    group.kill(0);
    let copied = [
        JobPath::Instance(owner),
        JobPath::LeaderInstance,
        JobPath::Candidate("_c_0-latch-0000000000".into()),
        JobPath::running(0),
    ];
    copy(&mut group, &copied);
    let host = group.join("10.0.0.2", &every_five(1));
    group.run_until(10_000);
    assert_eq!(group.starts(host).len(), 1);
    assert!(told(&group, &copied[0]) && told(&group, &copied[2]));
}
