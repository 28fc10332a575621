//! Schedulers that are frozen for longer than their session, again and again, while a job fires: for a while two believe that
//! an item is theirs. No item of a fire begins twice, and none overlaps the one before.

use std::sync::Arc;
use std::time::Duration;

use elasticjob_tests::scheduler::SchedulerProgram;
use elasticjob_tests::slurm::SlurmCluster;
use elasticjob_tests::zookeeper::ZookeeperServer;
use tokio::time::sleep;

use crate::killed::{ITEMS, SCRIPT, carrier_of, check, job, program, stop, until_ended};

/// How often a scheduler is frozen.
const ROUNDS: usize = 4;

pub async fn on_this_host(server: Arc<ZookeeperServer>) {
    let folder = elasticjob_tests::group::TemporaryFolder::new("frozen-schedulers").expect("a folder");
    let carrier = ["--carrier", "process", "--memory-limit", "off", "--cpus", "64"].map(str::to_owned).to_vec();
    freeze(program(&server, folder.path().to_owned(), "frozen-schedulers", carrier)).await;
}

pub async fn on_slurm(cluster: Arc<SlurmCluster>, server: Arc<ZookeeperServer>) {
    let folder = cluster.shared().join("frozen");
    freeze(program(&server, folder, "frozen-on-slurm", carrier_of(&cluster))).await;
}

async fn freeze(program: SchedulerProgram) {
    let schedulers = [program.start(), program.start()];
    schedulers[0].register(&program.app("work", SCRIPT), &job("0/2 * * * * ?"));
    let mut ended = 0;
    for round in 0..ROUNDS {
        // Another point of a run each time.
        ended = until_ended(&program, ended + 2 * ITEMS as usize).await;
        sleep(Duration::from_millis(230) * round as u32).await;
        let frozen = &schedulers[round % 2];
        frozen.freeze();
        // The other one takes over what it had, and runs some fires by itself.
        ended = until_ended(&program, ended + 3 * ITEMS as usize).await;
        frozen.thaw();
    }
    until_ended(&program, ended + 2 * ITEMS as usize).await;
    stop(&program, &schedulers).await;
    check(&program);
}
