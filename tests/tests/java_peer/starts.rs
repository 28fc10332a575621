//! A group whose first process is of either kind, and whose last one is.

use std::sync::Arc;

use elasticjob::config::wire;
use elasticjob_tests::java_peer::JavaPeer;
use elasticjob_tests::records::now_us;
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{ITEMS, JOB, Kind, LIMIT, Mixed, each_second};

pub async fn joined(server: Arc<ZookeeperServer>, peer: Arc<JavaPeer>, first: Kind) {
    let job = each_second();
    let wanted = wire::to_yaml(&job.configuration().expect("a good plan"));
    let mut mixed = Mixed::new(&server, &peer, &format!("started-by-{first:?}"), vec![job]).await;
    let one = mixed.start(first).await;
    let alone = mixed.split(ITEMS, &[one], 0).await;
    assert_eq!(mixed.leader(JOB).await, Some(one));
    assert_eq!(mixed.node(JOB, "config").await, Some(wanted), "as the first instance writes it");

    let other = mixed.start(first.other()).await;
    mixed.split(ITEMS, &[one, other], alone).await;
    assert_eq!(mixed.leader(JOB).await, Some(one));

    let gone = now_us() / 1_000;
    mixed.group.end(one, "TERM", LIMIT).await;
    mixed.split(ITEMS, &[other], gone).await;
    assert_eq!(mixed.leader(JOB).await, Some(other));
    let back = mixed.start(first).await;
    mixed.split(ITEMS, &[other, back], gone).await;
    assert_eq!(mixed.leader(JOB).await, Some(other));
}
