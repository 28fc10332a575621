//! A job leaves while the registry center does not answer. The session of its process goes on with another job, so the
//! registry center deletes none of its nodes by itself.

use std::sync::atomic::Ordering;

use tokio::time::sleep;

use super::remote::Remote;
use super::*;
use crate::registry::SessionState;
use crate::runtime::ShutdownMode;

/// The outage that keeps the registry center from answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outage {
    /// The connection is lost.
    Cut,
    /// Reads are answered, transactions fail.
    NoWrites,
}

/// The nodes of a job that are in the registry as long as an instance takes part.
async fn nodes(registry: &Arc<dyn RegistryCenter>, job: &str) -> Vec<String> {
    let mut found = Vec::new();
    for parent in ["instances", "trigger", "sessions", "leader/election/latch"] {
        let names = children(registry, &format!("/{job}/{parent}")).await;
        found.extend(names.iter().map(|name| format!("{parent}/{name}")));
    }
    for node in ["leader/election/instance", "sharding/0/running"] {
        let is_there = registry.get(&format!("/{job}/{node}")).await.unwrap().is_some();
        found.extend(is_there.then(|| node.to_owned()));
    }
    found
}

async fn leaves_without_an_answer(outage: Outage, failover: bool) {
    let environment = environment();
    let memory = MemoryRegistry::new();
    let remote = Remote::of(memory.connect_with_timeout(Duration::from_secs(4)));
    let registry: Arc<dyn RegistryCenter> = remote.clone();
    let (handler, mut runs) = reporter();
    let mut stays = scheduled(&environment, &registry, each_second("stays", 1), handler).await;
    let (sender, mut begun) = mpsc::unbounded_channel();
    let endless = item_handler(move |_: ShardingContext| {
        let _ = sender.send(());
        std::future::pending::<()>()
    });
    let mut leaves = scheduled(&environment, &registry, each_second("leaves", 1).failover(failover), endless).await;
    soon(begun.recv()).await.unwrap();

    let SessionState::Connected { id, .. } = *registry.session().borrow() else { panic!("it is connected") };
    match outage {
        Outage::Cut => memory.suspend(id),
        Outage::NoWrites => remote.is_broken.store(true, Ordering::Relaxed),
    }
    soon(leaves.shutdown(ShutdownMode::Now)).await;
    let other: Arc<dyn RegistryCenter> = Arc::new(memory.connect());
    let left = nodes(&other, "leaves").await;
    for node in ["leader/election/instance", "sharding/0/running"] {
        assert!(left.iter().any(|left| left == node), "{left:?}");
    }

    match outage {
        Outage::Cut => memory.resume(id),
        Outage::NoWrites => remote.is_broken.store(false, Ordering::Relaxed),
    }
    soon(async {
        while !nodes(&other, "leaves").await.is_empty() {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let record = other.get("/leaves/sharding/0/fire").await.unwrap().unwrap();
    assert!(record.data.text().unwrap().contains("CANCELLED"), "{:?}", record.data.text());
    let waits_for_another = children(&other, "/leaves/leader/failover/items").await;
    assert_eq!(waits_for_another.len(), usize::from(failover));
    // The other job of the process goes on in the same session.
    while runs.try_recv().is_ok() {}
    soon(runs.recv()).await.unwrap();
    assert_eq!(children(&other, "/stays/instances").await, [environment.instance_id().to_string()]);
    assert_eq!(*registry.session().borrow(), SessionState::Connected { id, timeout: Duration::from_secs(4) });
    soon(stays.shutdown(ShutdownMode::Now)).await;
}

#[tokio::test]
async fn what_a_job_left_while_the_connection_was_lost_is_deleted_when_it_is_back() {
    tokio::join!(leaves_without_an_answer(Outage::Cut, false), leaves_without_an_answer(Outage::Cut, true));
}

#[tokio::test]
async fn what_a_job_left_while_transactions_failed_is_deleted_when_they_are_answered_again() {
    tokio::join!(leaves_without_an_answer(Outage::NoWrites, false), leaves_without_an_answer(Outage::NoWrites, true));
}
