//! A namespace that needs authentication.

use std::sync::Arc;

use elasticjob::registry::zookeeper::{ConnectError, ZookeeperRegistryCenter};
use elasticjob_tests::java_peer::JavaPeer;
use elasticjob_tests::records::now_us;
use elasticjob_tests::zookeeper::{ZookeeperBackend, ZookeeperServer};
use tokio::runtime::Handle;

use crate::support::{ITEMS, JOB, Kind, LIMIT, Mixed, each_second};

pub async fn shared(server: Arc<ZookeeperServer>, peer: Arc<JavaPeer>) {
    let jobs = vec![each_second()];
    let mut mixed = Mixed::with_digest(&server, &peer, "digest", jobs, Some("migration:secret")).await;
    let pids = [mixed.start(Kind::Rust).await, mixed.start(Kind::Java).await];
    mixed.split(ITEMS, &pids, 0).await;
    let config = ZookeeperBackend::new(server.clone(), "digest").onlooker();
    let stranger = ZookeeperRegistryCenter::connect(config, &Handle::current()).await;
    assert!(matches!(stranger, Err(ConnectError::Forbidden { .. })), "{stranger:?}");

    let shown = mixed.java_operator().perform("job", &[Some(JOB)]);
    assert_eq!((&shown["instanceCount"], &shown["status"]), (&2.into(), &"OK".into()), "{shown}");
    let gone = now_us() / 1_000;
    mixed.group.end(pids[0], "TERM", LIMIT).await;
    mixed.split(ITEMS, &[pids[1]], gone).await;
    assert_eq!(mixed.leader(JOB).await, Some(pids[1]));
}
