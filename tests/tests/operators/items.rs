//! Items that operators take away, or whose nodes they damage.

use std::sync::Arc;

use elasticjob_tests::records::History;
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{ITEMS, JOB, Operated, every_second};

pub async fn disabled(server: Arc<ZookeeperServer>) {
    let operated = Operated::start(&server, "disabled-item", every_second(100)).await;
    let disabled = operated.create("sharding/1/disabled").await;
    let items = |from: i64, count: usize| {
        move |history: &History| {
            let fires = history.fires(JOB);
            let items = |fire: &i64| history.owners(JOB, *fire).into_keys().collect::<Vec<u32>>();
            fires.range(from..).find(|fire| items(fire).len() == count).map(|fire| (*fire, items(fire)))
        }
    };
    let (fire, others) = operated.wait("a fire without the item", items(disabled + 1_000, 3)).await;
    assert_eq!(others, [0, 2, 3]);
    let next = operated.next_fire(fire + 1_000).await;
    assert!(!operated.group.history().owners(JOB, next).contains_key(&1), "{}", operated.group.logs());
    let enabled = operated.delete("sharding/1/disabled").await;
    operated.split(ITEMS, &operated.pids, enabled).await;
}

pub async fn without_owner(server: Arc<ZookeeperServer>) {
    let operated = Operated::start(&server, "no-owner", every_second(100)).await;
    let deleted = operated.delete("sharding/2/instance").await;
    operated.until("sharding/2/instance", |owner| owner.is_some()).await;
    let fire = operated.split(ITEMS, &operated.pids, deleted).await;
    assert!(fire - deleted < 3_000, "after {} ms\n{}", fire - deleted, operated.group.logs());
}
