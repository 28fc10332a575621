//! Shared by the tests: a job of six items in three processes.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::fire::ExecutionSource;
use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob::registry::{NodeData, RegistryCenter};
use elasticjob_tests::fence::Fence;
use elasticjob_tests::group::{Group, WorkerProgram};
use elasticjob_tests::observer::Observer;
use elasticjob_tests::records::{Ending, Expected, History, Run, now_us};
use elasticjob_tests::retry_reads::answered;
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::{ZookeeperBackend, ZookeeperServer};
use tokio::runtime::Handle;

pub const JOB: &str = "worker";
pub const ITEMS: u32 = 6;
pub const SESSION_TIMEOUT: Duration = Duration::from_secs(4);

/// When the job fires, and the time between two fires.
const CRON: &str = "0/2 * * * * ?";
pub const EVERY_MS: i64 = 2_000;

/// A run that is caught in its midst, and is over before the next fire.
pub const RUN: Duration = Duration::from_millis(1_200);

/// Everything that is waited for happens within this, or never.
pub const LIMIT: Duration = Duration::from_secs(40);

/// The processes of a namespace, the sink they write to, and the runs of each.
pub struct Three {
    pub server: Arc<ZookeeperServer>,
    namespace: &'static str,
    pub group: Group<WorkerProgram>,
    pub fence: Fence,
    pub pids: [u32; 3],
    /// The fire from which on they share the items, and runs take as long as the test wants.
    pub from_ms: i64,
}

impl Three {
    /// Starts them with a job whose items run for so long.
    pub async fn start(server: Arc<ZookeeperServer>, namespace: &'static str, run: Duration, failover: bool) -> Self {
        Self::start_with(server, namespace, job(run, failover)).await
    }

    /// Starts them and waits until they share the items of a fire. Only then runs take their time.
    pub async fn start_with(server: Arc<ZookeeperServer>, namespace: &'static str, job: JobPlan) -> Self {
        Self::start_lasting(server, namespace, job, SESSION_TIMEOUT).await
    }

    /// The same, with sessions of another time-out.
    pub async fn start_lasting(
        server: Arc<ZookeeperServer>,
        namespace: &'static str,
        job: JobPlan,
        session_timeout: Duration,
    ) -> Self {
        let worker: (&str, &[&str]) = (env!("CARGO_BIN_EXE_worker"), &[]);
        let program = WorkerProgram::new(worker, server.connect_string(), namespace, vec![job], session_timeout);
        let program = program.quick_at_first();
        let fence = program.fence();
        let registry: Arc<dyn RegistryCenter> = Arc::new(connect(&server, namespace).await);
        let mut group = Group::new(program).observed_by(Observer::start(&registry, [JOB]));
        let pids = [group.start().await, group.start().await, group.start().await];
        group.wait_split(JOB, ITEMS, &pids, 0, LIMIT).await;
        let from_ms = slow_down(&group);
        Self { server, namespace, group, fence, pids, from_ms }
    }

    /// All but those.
    pub fn others(&self, but: &[u32]) -> Vec<u32> {
        self.pids.into_iter().filter(|pid| !but.contains(pid)).collect()
    }

    /// Waits for a fire after some time of which exactly these processes begin all items.
    pub async fn split(&self, pids: &[u32], after_ms: i64) -> i64 {
        self.group.wait_split(JOB, ITEMS, pids, after_ms, LIMIT).await
    }

    /// Waits until a process is in the midst of a run: one that has written, and has more to write.
    pub async fn mid_run(&self, pid: u32) {
        let has_written = |run: &Run| self.fence.token(JOB, run.item).expect("the fence can be read") == run.token;
        let find =
            |run: &&Run| run.pid == pid && run.scheduled_ms >= self.from_ms && run.end.is_none() && has_written(run);
        self.group.wait("a run that has written", LIMIT, |history| history.runs.iter().find(find).map(|_| ())).await;
    }

    /// The runs of processes that are going on, as their records say.
    pub fn open_runs(&self, pids: &[u32]) -> Vec<Run> {
        let open = |run: &&Run| pids.contains(&run.pid) && run.end.is_none();
        self.group.history().runs.iter().filter(open).cloned().collect()
    }

    /// Waits until every run that was lost with these processes is done again; returns what was lost.
    pub async fn run_again(&self, dead: &[u32]) -> Vec<Run> {
        let lost = self.open_runs(dead);
        assert!(!lost.is_empty(), "killed in the midst of a run\n{}", self.group.logs());
        let again = |history: &History, lost: &Run| {
            history.runs.iter().any(|run| {
                run.source == ExecutionSource::Failover
                    && (run.item, run.scheduled_ms) == (lost.item, lost.scheduled_ms)
                    && matches!(run.end, Some((_, Ending::Finished)))
            })
        };
        let find = |history: &History| lost.iter().all(|lost| again(history, lost)).then_some(());
        self.group.wait("the lost runs again", LIMIT, find).await;
        lost
    }

    pub async fn node(&self, path: &str) -> Option<NodeData> {
        let center = connect(&self.server, self.namespace).await;
        let node = answered(|| center.get(path)).await;
        center.close().await;
        node
    }

    /// The process that leads.
    pub async fn leader(&self) -> u32 {
        let leader = self.node("/worker/leader/election/instance").await.expect("an instance leads");
        let leader = leader.data.text().expect("an instance id is text");
        elasticjob_tests::records::pid_of(leader).expect("an instance id names the process")
    }

    /// Fails unless all that must hold does, for the fires from the first shared one on.
    pub fn check(&self, until_ms: i64) {
        self.group.check(Expected::every(EVERY_MS, JOB, ITEMS, self.from_ms, until_ms));
    }
}

/// The job, whose items run for so long.
pub fn job(run: Duration, failover: bool) -> JobPlan {
    let run_ms = u64::try_from(run.as_millis()).expect("a short run");
    JobPlan { cron: CRON.to_owned(), failover, ..JobPlan::each_second(JOB, ITEMS, run_ms) }
}

/// Lets runs take their time; returns the first fire of which all do.
fn slow_down(group: &Group<WorkerProgram>) -> i64 {
    let next_ms = (now_us() / 1_000_000 + 2) * 1_000;
    group.program().pace().expect("they are quick at first").slow_down_from(next_ms).expect("the pace can be told");
    // Should this process have been held up so long, some of what began meanwhile did not know yet.
    let begun = group.history().fires(JOB).last().copied();
    begun.map_or(next_ms, |begun| next_ms.max(begun + 1_000))
}

pub async fn connect(server: &Arc<ZookeeperServer>, namespace: &str) -> ZookeeperRegistryCenter {
    let config = ZookeeperBackend::new(server.clone(), namespace).onlooker();
    ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects")
}

/// The same run, as the records tell of it now.
pub fn now<'a>(history: &'a History, run: &Run) -> Option<&'a Run> {
    history.runs.iter().find(|other| (other.pid, other.number) == (run.pid, run.number))
}

/// Whether a run of a process that could do nothing about it was cancelled before the server could give its item away.
pub fn was_cancelled_in_time(run: &Run, separated_us: i64) -> bool {
    let given_away_us = separated_us + SESSION_TIMEOUT.as_micros() as i64;
    matches!(run.end, Some((at, Ending::Cancelled)) if at < given_away_us)
}
