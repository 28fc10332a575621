//! Chooses the hosts of a group that run Java, and plays the handle of Java's one-off jobs.

use std::rc::Rc;

use super::jvm::Jvm;
use super::nodes::{INSTANCES, TRIGGER};
use crate::testing::rng::Rng;

/// In one of six histories some hosts but not all are Java. Drawn apart from everything else of a seed, so that groups
/// without Java are what they would be without this.
pub(in crate::testing::sim) fn java_hosts(seed: u64, hosts: usize) -> Vec<bool> {
    let mut rng = Rng::new(seed ^ 0x4a61_7661);
    let mut java = vec![false; hosts];
    // Three of four groups have two hosts and more.
    if hosts < 2 || rng.below(9) >= 2 {
        return java;
    }
    let count = rng.between(1, hosts as u64);
    for _ in 0..count {
        let place = rng.below(hosts as u64) as usize;
        java[place] = true;
    }
    java
}

/// Asks every online instance to run: first what others asked for is deleted, then a node is made for each.
pub(super) async fn operator(jvm: Rc<Jvm>) {
    loop {
        jvm.wait(None, || jvm.operators.get() > 0).await;
        jvm.operators.set(jvm.operators.get() - 1);
        jvm.remove_if_existed(TRIGGER).await;
        for id in jvm.children(INSTANCES).await {
            jvm.persist(&format!("{TRIGGER}/{id}"), "").await;
        }
    }
}
