//! Servers and instances that operators take away.

use std::sync::Arc;

use elasticjob_tests::records::{History, Reason, Skip};
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{ITEMS, JOB, LIMIT, Operated, every_second};

pub async fn disabled(server: Arc<ZookeeperServer>) {
    let mut operated = Operated::start(&server, "disabled-server", every_second(100)).await;
    // All processes of this host.
    let ip = operated.children("servers").await.remove(0);
    let node = format!("servers/{ip}");
    let disabled = operated.set(&node, "DISABLED").await;
    operated.until("leader/election/instance", |leader| leader.is_none()).await;
    let skipped = |pid| {
        move |history: &History| {
            let skip =
                |skip: &&Skip| skip.pid == pid && skip.reason == Reason::ServerDisabled && skip.from_ms > disabled;
            history.skips.iter().find(skip).map(|skip| skip.from_ms)
        }
    };
    let mut last = 0;
    for pid in operated.pids {
        last = last.max(operated.wait("a fire that is skipped", skipped(pid)).await);
    }
    let begun = |after: i64| operated.group.history().fires(JOB).range(after + 1..).count();
    // One that was due at that very moment may have been begun.
    assert_eq!(begun(disabled + 1_000), 0, "{}", operated.group.logs());

    // An instance that starts now does not change what the operator said.
    let gone = operated.pids[0];
    let left = operated.group.end(gone, "TERM", LIMIT).await;
    assert!(left.success(), "{left}\n{}", operated.group.logs());
    let joined = operated.group.start().await;
    operated.wait("a fire that the joiner skips", skipped(joined)).await;
    assert_eq!(operated.node(&node).await.as_deref(), Some("DISABLED"));
    assert_eq!(operated.group.history().fires(JOB).range(disabled + 1_001..).count(), 0, "{}", operated.group.logs());

    let enabled = operated.set(&node, "ENABLED").await;
    operated.split(ITEMS, &[joined, operated.pids[1]], enabled).await;
    assert!(operated.node("leader/election/instance").await.is_some());
}

pub async fn removed(server: Arc<ZookeeperServer>) {
    let mut operated = Operated::start(&server, "removed-instance", every_second(100)).await;
    let [gone, rest] = operated.pids;
    let instances = operated.children("instances").await;
    let id = instances.iter().find(|id| id.ends_with(&format!("@-@{gone}"))).expect("it is registered");
    let removed = operated.delete(&format!("instances/{id}")).await;
    operated.split(ITEMS, &[rest], removed).await;
    assert_eq!(operated.children("instances").await.len(), 1);
    // It left by itself, and its program with it once nothing is left to do.
    let log = operated.group.logs();
    assert!(log.contains("an operator removed the instance from the registry"), "{log}");
    let left = operated.group.end(gone, "TERM", LIMIT).await;
    assert!(left.success(), "{left}\n{}", operated.group.logs());
}
