//! A job that runs after another one, whose processes are killed between the end of the one and the begin of the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use elasticjob::registry::RegistryCenter;
use elasticjob_tests::group::{Group, WorkerProgram};
use elasticjob_tests::records::{Ending, Run, pid_of};
use elasticjob_tests::retry_reads::answered;
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{LIMIT, SESSION_TIMEOUT, connect};

const NAMESPACE: &str = "depends";
/// The job before, of one item, in a process of its own.
const EXTRACT: &str = "extract";
/// Its records say how a fire ended until the next one: longer than a session that ends, and an election.
const CRON: &str = "0/15 * * * * ?";
/// Longer than what is done to the processes meanwhile.
const RUN_MS: u64 = 2_000;
/// The job after it, in two processes, each with an item.
const LOAD: &str = "load";
const ITEMS: u32 = 2;

struct Stage {
    server: Arc<ZookeeperServer>,
    before: Group<WorkerProgram>,
    after: Group<WorkerProgram>,
}

impl Stage {
    async fn start(server: Arc<ZookeeperServer>) -> Self {
        let extract = JobPlan { cron: CRON.to_owned(), ..JobPlan::each_second(EXTRACT, 1, RUN_MS) };
        let load = JobPlan { after: Some(EXTRACT.to_owned()), ..JobPlan::each_second(LOAD, ITEMS, 0) };
        let group = |job| {
            let worker: (&str, &[&str]) = (env!("CARGO_BIN_EXE_worker"), &[]);
            Group::new(WorkerProgram::new(worker, server.connect_string(), NAMESPACE, vec![job], SESSION_TIMEOUT))
        };
        let (before, after) = (group(extract), group(load));
        let mut stage = Self { before, after, server };
        stage.before.start().await;
        stage
    }

    /// Waits until an item of the job before is in the midst of the run of a fire after some time; returns that fire.
    async fn running_after(&self, after_ms: i64) -> i64 {
        let is_meant = |run: &&Run| run.scheduled_ms > after_ms && run.end.is_none();
        self.before.wait("a run", LIMIT, |history| Some(history.runs.iter().find(is_meant)?.scheduled_ms)).await
    }

    /// Waits until the job before has ended a fire.
    async fn ended(&self, fire: i64) {
        let is_over = |run: &Run| run.scheduled_ms == fire && matches!(run.end, Some((_, Ending::Finished)));
        self.before.wait("the end of the run", LIMIT, |history| history.runs.iter().any(is_over).then_some(())).await;
    }

    async fn leader(&self) -> u32 {
        let center = connect(&self.server, NAMESPACE).await;
        let leader = answered(|| center.get("/load/leader/election/instance")).await.expect("an instance leads");
        center.close().await;
        pid_of(leader.data.text().expect("an instance id is text")).expect("it names the process")
    }

    /// Fails unless each item of the job after ran once for a fire; returns the processes.
    fn ran_once(&self, fire: i64) -> BTreeMap<u32, u32> {
        let history = self.after.history();
        let runs: Vec<&Run> = history.runs.iter().filter(|run| run.scheduled_ms == fire).collect();
        assert_eq!(runs.len(), ITEMS as usize, "{runs:?}\n{}", self.after.logs());
        runs.iter().map(|run| (run.item, run.pid)).collect()
    }
}

pub async fn killed_between(server: Arc<ZookeeperServer>) {
    let mut stage = Stage::start(server).await;
    let pids = [stage.after.start().await, stage.after.start().await];
    let shared = stage.after.wait_split(LOAD, ITEMS, &pids, 0, LIMIT).await;

    // The leader is killed while the job before runs: its successor decides after the end, by what the records say.
    let fire = stage.running_after(shared).await;
    let leader = stage.leader().await;
    stage.after.kill(&[leader]);
    let rest = if pids[0] == leader { pids[1] } else { pids[0] };
    stage.ended(fire).await;
    stage.after.wait_split(LOAD, ITEMS, &[rest], fire - 1, LIMIT).await;
    assert!(stage.ran_once(fire).values().all(|pid| *pid == rest));

    // An owner stands still while the fire becomes due, and is killed before it begins.
    let successor = stage.after.start().await;
    let shared = stage.after.wait_split(LOAD, ITEMS, &[rest, successor], fire, LIMIT).await;
    let fire = stage.running_after(shared).await;
    let (leader, owner) = match stage.leader().await {
        leader if leader == rest => (rest, successor),
        leader => (leader, rest),
    };
    stage.after.freeze(owner);
    stage.ended(fire).await;
    let is_begun = |run: &Run| run.scheduled_ms == fire && run.pid == leader;
    stage.after.wait("the other item", LIMIT, |history| history.runs.iter().any(is_begun).then_some(())).await;
    stage.after.kill(&[owner]);
    stage.after.wait_split(LOAD, ITEMS, &[leader], fire - 1, LIMIT).await;

    // An instance that comes later, and another fire, bring no run of an earlier one.
    let last = stage.after.start().await;
    stage.after.wait_split(LOAD, ITEMS, &[leader, last], fire, LIMIT).await;
    assert!(stage.ran_once(fire).values().all(|pid| *pid == leader));
}
