//! Schedulers that are frozen for longer than their session while a job fires: for a while two believe that an item is theirs.

use std::sync::Arc;
use std::time::Duration;

use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::kubernetes::Cluster;
use elasticjob_tests::zookeeper::ZookeeperServer;
use tokio::time::sleep;

use crate::killed::{ITEMS, program, register, stop_and_check, until_ended};

/// How often a scheduler is frozen.
const ROUNDS: u32 = 3;

pub(crate) async fn run_once(cluster: Arc<Cluster>, server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("frozen-schedulers").unwrap();
    let program = program(cluster.kubeconfig(), &server, &folder, "frozen-on-kubernetes");
    let schedulers = [program.start(), program.start()];
    register(&schedulers[0]);
    let mut ended = 0;
    for round in 0..ROUNDS {
        ended = until_ended(&program, ended + ITEMS).await;
        // Another point of a run each time: before the launch, during it, and while it runs.
        sleep(Duration::from_millis(900) * round).await;
        let frozen = &schedulers[round as usize % 2];
        frozen.freeze();
        // The other one takes over what it had, and runs some fires by itself.
        ended = until_ended(&program, ended + 3 * ITEMS).await;
        frozen.thaw();
    }
    until_ended(&program, ended + 2 * ITEMS).await;
    stop_and_check(&program, &schedulers[0]).await;
}
