//! Fires that no process could begin in time: begun late, by whichever process can.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::ident::JobName;
use elasticjob::operations::{Finding, Operations, Reason};
use elasticjob::registry::RegistryCenter;
use elasticjob_tests::group::{Group, WorkerProgram};
use elasticjob_tests::minute::{shortly_before_a_minute, wait_until};
use elasticjob_tests::observer::Observer;
use elasticjob_tests::records::{FaultKind, History, Run, now_us, pid_of};
use elasticjob_tests::retry_reads::answered;
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{JOB, SESSION_TIMEOUT, connect};

/// Once a minute: the next fire is far enough away for a session to end before it.
const CRON: &str = "0 * * * * ?";
const ITEMS: u32 = 2;
/// Of the process that is killed: it ends long after the fire.
const LONG_SESSION: Duration = Duration::from_secs(20);
/// A fire, and what follows it.
const LIMIT: Duration = Duration::from_secs(100);

/// Two processes that share the items of a job.
struct Two {
    server: Arc<ZookeeperServer>,
    group: Group<WorkerProgram>,
    registry: Arc<dyn RegistryCenter>,
    pids: [u32; 2],
}

impl Two {
    async fn start(server: Arc<ZookeeperServer>, namespace: &'static str, session: Duration) -> Self {
        let worker: (&str, &[&str]) = (env!("CARGO_BIN_EXE_worker"), &[]);
        let job = JobPlan { cron: CRON.to_owned(), failover: true, ..JobPlan::each_second(JOB, ITEMS, 100) };
        let program = WorkerProgram::new(worker, server.connect_string(), namespace, vec![job], session);
        let registry: Arc<dyn RegistryCenter> = Arc::new(connect(&server, namespace).await);
        let mut group = Group::new(program).observed_by(Observer::start(&registry, [JOB]));
        let pids = [group.start().await, group.start().await];
        let two = Self { server, group, registry, pids };
        while two.item_of(two.pids[0]).await.is_none() || two.item_of(two.pids[1]).await.is_none() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        two
    }

    /// An item that the registry center leaves to a process.
    async fn item_of(&self, pid: u32) -> Option<u32> {
        for item in 0..ITEMS {
            let path = format!("/{JOB}/sharding/{item}/instance");
            let owner = answered(|| self.registry.get(&path)).await;
            if owner.and_then(|node| node.data.text().and_then(pid_of)) == Some(pid) {
                return Some(item);
            }
        }
        None
    }

    /// Waits for the runs of these items for a fire.
    async fn runs_of(&self, fire_ms: i64, items: &[u32]) -> Vec<Run> {
        let find = |history: &History| {
            let of_fire = history.runs.iter().filter(|run| run.scheduled_ms == fire_ms && items.contains(&run.item));
            let runs: Vec<Run> = of_fire.cloned().collect();
            (runs.len() >= items.len()).then_some(runs)
        };
        self.group.wait("the runs of the fire", LIMIT, find).await
    }

    async fn assert_late(&self, runs: &[Run], fire_ms: i64, least: Duration, why: &str) {
        for run in runs {
            let late_ms = run.began_us / 1_000 - fire_ms;
            assert!(late_ms >= least.as_millis() as i64, "{late_ms} ms late: {run:?}\n{}", self.group.logs());
        }
        self.group.wait_logged(&format!("s late: {why}"), LIMIT).await;
        let logs = self.group.logs();
        let violations = self.group.full_history().check(&[], &[]).violations();
        assert!(violations.is_empty(), "{violations:?}\n{logs}");
    }
}

pub async fn owner_killed(server: Arc<ZookeeperServer>) {
    let mut two = Two::start(server, "late-owner", LONG_SESSION).await;
    let fire_ms = shortly_before_a_minute().await;
    let [dead, other] = two.pids;
    let lost = two.item_of(dead).await.expect("both have an item");
    two.group.kill(&[dead]);
    let runs = two.runs_of(fire_ms, &[lost]).await;
    assert!(runs.iter().all(|run| run.pid == other), "{runs:?}");
    // The server may not give the item away before: it was killed 5 s before the fire at most, and the server had heard of
    // its session a third of the time-out before that at most.
    let least = LONG_SESSION - LONG_SESSION / 3 - Duration::from_secs(5);
    two.assert_late(&runs, fire_ms, least, "the items came to this instance").await;
}

pub async fn all_restarted(server: Arc<ZookeeperServer>) {
    let mut two = Two::start(server, "late-restart", SESSION_TIMEOUT).await;
    let fire_ms = shortly_before_a_minute().await;
    let dead = two.pids;
    two.group.kill(&dead);
    wait_until(fire_ms + 12_000).await;
    two.group.start().await;
    let runs = two.runs_of(fire_ms, &[0, 1]).await;
    two.assert_late(&runs, fire_ms, Duration::from_secs(12), "it was due before this instance was there").await;
}

pub async fn edited_while_all_were_down(server: Arc<ZookeeperServer>) {
    let mut two = Two::start(server, "late-edited", SESSION_TIMEOUT).await;
    let fire_ms = shortly_before_a_minute().await;
    let dead = two.pids;
    two.group.kill(&dead);
    wait_until(fire_ms + 12_000).await;
    let operations = Operations::new(two.registry.clone());
    let job = JobName::new(JOB).expect("a valid name");
    let stored = operations.configuration(&job).await.expect("the job has a configuration");
    let mut settings = stored.configuration.settings();
    settings.description = Some("edited".to_owned());
    operations.update_configuration(&stored, &settings).await.expect("the edit is written");
    let snapshot = operations.snapshot(&job).await.expect("the job can be read");
    for item in 0..ITEMS {
        let told = snapshot.findings_of(item, fire_ms + 12_000);
        let is_told = |finding: &Finding| matches!(finding.reason, Reason::NotBegun { first, .. } if first == fire_ms);
        assert!(told.iter().any(is_told), "item {item}: {told:?}");
    }
    two.group.start().await;
    let runs = two.runs_of(fire_ms, &[0, 1]).await;
    two.assert_late(&runs, fire_ms, Duration::from_secs(12), "it was due before this instance was there").await;
}

pub async fn registry_away(server: ZookeeperServer) {
    let mut two = Two::start(Arc::new(server), "late-away", SESSION_TIMEOUT).await;
    let fire_ms = shortly_before_a_minute().await;
    two.group.note(FaultKind::Outage, now_us());
    two.server.stop();
    wait_until(fire_ms + 12_000).await;
    two.server.resume().expect("the server starts again");
    two.group.note_end(FaultKind::Outage);
    let runs = two.runs_of(fire_ms, &[0, 1]).await;
    two.assert_late(&runs, fire_ms, Duration::from_secs(12), "the registry center was not connected").await;
}
