//! The assignments of leaders of both kinds.

use std::collections::BTreeMap;
use std::sync::Arc;

use elasticjob::registry::{CreateMode, Transaction};
use elasticjob_tests::java_peer::JavaPeer;
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{Kind, LIMIT, Mixed};

/// Those that give the same result whenever they are asked. Both kinds have them.
const STRATEGIES: [&str; 3] = ["AVG_ALLOCATION", "ODEVITY", "ROUND_ROBIN"];

/// Fewer items than instances, as many, and more.
const SIZES: [u32; 4] = [2, 4, 7, 12];

type Owners = BTreeMap<u32, String>;

pub async fn assign_alike(server: Arc<ZookeeperServer>, peer: Arc<JavaPeer>) {
    let plan = |strategy: &str, items: u32| JobPlan {
        strategy: Some(strategy.to_owned()),
        ..JobPlan::each_second(&format!("{}-{items}", strategy.to_lowercase()), items, 0)
    };
    let plans: Vec<JobPlan> = STRATEGIES.iter().flat_map(|strategy| SIZES.map(|items| plan(strategy, items))).collect();
    let mut mixed = Mixed::new(&server, &peer, "leaders", plans.clone()).await;
    let mut pids = BTreeMap::new();
    for kind in [Kind::Rust, Kind::Java, Kind::Java, Kind::Rust] {
        pids.insert(mixed.start(kind).await, kind);
    }
    for job in &plans {
        let name = job.name.as_str();
        mixed
            .until(&format!("all instances of {name}"), async || {
                (mixed.children(name, "instances").await.len() == pids.len()).then_some(())
            })
            .await;
        let mut assigned = Vec::new();
        for kind in Kind::BOTH {
            lead(&mixed, name, &|leader| pids.get(&leader) == Some(&kind)).await;
            assigned.push(assign_anew(&mixed, job).await);
        }
        assert_eq!(assigned[0], assigned[1], "{name}: by a Rust leader, and by a Java leader");
    }
}

/// Ends one leadership after the other until a wanted process leads.
async fn lead(mixed: &Mixed, job: &str, is_wanted: &dyn Fn(u32) -> bool) {
    // The kind that hears of it first mostly wins: where the machine is busy, that is the same for long.
    let deadline = tokio::time::Instant::now() + 3 * LIMIT;
    loop {
        let leader = mixed.until("a leader", async || mixed.leader(job).await).await;
        if is_wanted(leader) {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "{job}: always a leader of the other kind");
        let mut transaction = Transaction::new();
        transaction.delete(format!("/{job}/leader/election/instance"), None);
        // Refused when the leadership has ended by itself.
        let _ = mixed.registry().commit(transaction).await;
    }
}

/// Takes all owners away, and returns those that the leader gives.
async fn assign_anew(mixed: &Mixed, job: &JobPlan) -> Owners {
    let name = job.name.as_str();
    let assigned = async || {
        let owners = mixed.owners(name, job.items).await;
        let is_asked_for = mixed.node(name, "leader/sharding/necessary").await.is_some();
        (owners.len() == job.items as usize && !is_asked_for).then_some(owners)
    };
    let mut transaction = Transaction::new();
    for item in 0..job.items {
        transaction.delete(format!("/{name}/sharding/{item}/instance"), None);
    }
    transaction.create(format!("/{name}/leader/sharding/necessary"), "", CreateMode::Persistent);
    let taken_away = async || {
        // A resharding that goes on would put its own owners in the place of those that are taken away.
        assigned().await?;
        // Refused when another one has begun meanwhile.
        mixed.registry().commit(transaction.clone()).await.ok()
    };
    mixed.until(&format!("the first owners of {name}, taken away"), taken_away).await;
    mixed.until(&format!("new owners of {name}"), &assigned).await
}
