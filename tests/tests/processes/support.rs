//! What the tests share: a job of six items that fires each second, in three processes.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob::registry::{NodeData, RegistryCenter};
use elasticjob_tests::fence::Fence;
use elasticjob_tests::group::{Group, WorkerProgram};
use elasticjob_tests::observer::Observer;
use elasticjob_tests::records::{History, Run};
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::{ZookeeperBackend, ZookeeperServer};
use tokio::runtime::Handle;

pub const JOB: &str = "worker";
pub const ITEMS: u32 = 6;
pub const SESSION_TIMEOUT: Duration = Duration::from_secs(2);

/// Everything that is waited for happens within this, or never.
pub const LIMIT: Duration = Duration::from_secs(20);

/// The processes of a namespace, the sink they write to, and who runs what.
pub struct Three {
    pub server: Arc<ZookeeperServer>,
    namespace: &'static str,
    pub group: Group<WorkerProgram>,
    pub fence: Fence,
    pub pids: [u32; 3],
    /// The first fire that they shared.
    pub from_ms: i64,
}

impl Three {
    /// Starts them and waits until they share the items of a fire.
    pub async fn start(server: Arc<ZookeeperServer>, namespace: &'static str, run: Duration, failover: bool) -> Self {
        let run_ms = u64::try_from(run.as_millis()).expect("a short run");
        let (name, cron) = (JOB.to_owned(), "* * * * * ?".to_owned());
        let job = JobPlan { name, items: ITEMS, cron, run_ms: (run_ms, run_ms), failover, stubborn: false };
        let worker: (&str, &[&str]) = (env!("CARGO_BIN_EXE_worker"), &[]);
        let program = WorkerProgram::new(worker, server.connect_string(), namespace, vec![job], SESSION_TIMEOUT);
        let fence = program.fence();
        let registry: Arc<dyn RegistryCenter> = Arc::new(connect(&server, namespace).await);
        let mut group = Group::new(program).observed_by(Observer::start(&registry, [JOB]));
        let pids = [group.start().await, group.start().await, group.start().await];
        let from_ms = group.wait_split(JOB, ITEMS, &pids, 0, LIMIT).await;
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

    pub async fn node(&self, path: &str) -> Option<NodeData> {
        let center = connect(&self.server, self.namespace).await;
        let node = center.get(path).await.expect("the registry answers");
        center.close().await;
        node
    }

    /// The process that leads.
    pub async fn leader(&self) -> u32 {
        let leader = self.node("/worker/leader/election/instance").await.expect("somebody leads");
        let leader = leader.data.text().expect("an instance id is text");
        elasticjob_tests::records::pid_of(leader).expect("an instance id names the process")
    }

    /// Fails unless all that must hold does, for the fires from the first shared one on.
    pub fn check(&self, until_ms: i64) {
        self.group.check(JOB, ITEMS, self.from_ms, until_ms);
    }
}

async fn connect(server: &Arc<ZookeeperServer>, namespace: &str) -> ZookeeperRegistryCenter {
    let config = ZookeeperBackend::new(server.clone(), namespace).config(server.connect_string());
    ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects")
}

/// The same run, as the records tell of it now.
pub fn now<'a>(history: &'a History, run: &Run) -> Option<&'a Run> {
    history.runs.iter().find(|other| (other.pid, other.number) == (run.pid, run.number))
}

/// Whether a run of a process that could do nothing about it was cancelled before the server could give its item away.
pub fn was_cancelled_in_time(run: &Run, separated_us: i64) -> bool {
    let given_away_us = separated_us + SESSION_TIMEOUT.as_micros() as i64;
    matches!(run.end, Some((at, elasticjob_tests::records::Ending::Cancelled)) if at < given_away_us)
}
