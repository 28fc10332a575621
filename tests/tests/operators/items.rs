//! Items that operators take away, or whose nodes they damage.

use std::sync::Arc;

use elasticjob_tests::records::{History, now_us};
use elasticjob_tests::worker::JobPlan;
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
    let next = operated.next_fire(fire).await;
    // By then all that is to be begun of the one before is.
    operated.next_fire(next).await;
    assert!(!operated.group.history().owners(JOB, next).contains_key(&1), "{}", operated.group.logs());
    let enabled = operated.delete("sharding/1/disabled").await;
    operated.split(ITEMS, &operated.pids, enabled).await;
}

pub async fn kept(server: Arc<ZookeeperServer>) {
    let job = JobPlan { static_sharding: true, ..every_second(100) };
    let mut operated = Operated::start_apart(&server, "static", job).await;
    operated.number_of("instances", 2).await;
    // One of them may have had the first fire for itself.
    operated.next_fire(0).await;
    let asked = operated.create("leader/sharding/necessary").await;
    let fire = operated.split(ITEMS, &operated.pids, asked).await;
    let [dead, rest] = operated.pids;
    let owners = operated.group.history().owners(JOB, fire);
    let of = |pid: u32| owners.iter().filter(|(_, owner)| **owner == pid).map(|(item, _)| *item).collect::<Vec<_>>();
    operated.group.kill(&[dead]);
    operated.number_of("instances", 1).await;
    let mut fire = operated.next_fire(now_us() / 1_000).await;
    for _ in 0..2 {
        fire = operated.next_fire(fire).await;
        let kept = operated.wait("a fire of the others", |history| {
            let items: Vec<u32> = history.owners(JOB, fire).into_keys().collect();
            (items.len() >= of(rest).len()).then_some(items)
        });
        assert_eq!(kept.await, of(rest), "{}", operated.group.logs());
    }
    for item in of(dead) {
        let owner = operated.node(&format!("sharding/{item}/instance")).await.unwrap_or_default();
        assert!(owner.ends_with(&format!("@-@{dead}")), "{owner}");
    }
    let changed = operated.configure(&[("shardingTotalCount", "6")]).await;
    operated.split(6, &[rest], changed).await;
}

pub async fn without_owner(server: Arc<ZookeeperServer>) {
    let operated = Operated::start(&server, "no-owner", every_second(100)).await;
    let deleted = operated.delete("sharding/2/instance").await;
    operated.until("sharding/2/instance", |owner| owner.is_some()).await;
    let fire = operated.split(ITEMS, &operated.pids, deleted).await;
    assert!(fire - deleted < 3_000, "after {} ms\n{}", fire - deleted, operated.group.logs());
}
