//! The process of a DAEMON job, with schedulers that are killed or frozen, and with a request that arrives late.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::scheduler::{SchedulerProcess, SchedulerProgram};
use elasticjob_tests::slurm::SlurmCluster;
use elasticjob_tests::until;
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::json;

use super::{crashes, killed};

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(90);

/// Notes its begin, and whether another process of the job is there at that time.
const SCRIPT: &str =
    "exec 9>>$DIR/lock; flock -n 9 || echo $$ >>$DIR/overlap; echo $$ >>$DIR/begun; while :; do sleep 0.1 9>&-; done";

/// The engine, with the folder of the schedulers.
enum Engine {
    ThisHost(TemporaryFolder),
    Slurm(Arc<SlurmCluster>),
}

/// Schedulers that share a folder, and a job of which they keep one process. The job has the name of their namespace.
struct Ground {
    engine: Engine,
    program: SchedulerProgram,
}

impl Ground {
    fn on_this_host(server: &ZookeeperServer, name: &str) -> Self {
        let folder = TemporaryFolder::new(name).expect("a folder");
        let carrier = ["--carrier", "process", "--memory-limit", "off", "--cpus", "64"].map(str::to_owned).to_vec();
        let program = killed::program(server, folder.path().to_owned(), name, carrier);
        Self { engine: Engine::ThisHost(folder), program }
    }

    fn on_slurm(cluster: Arc<SlurmCluster>, server: &ZookeeperServer, name: &str) -> Self {
        let program = killed::program(server, cluster.shared().join(name), name, killed::carrier_of(&cluster));
        Self { engine: Engine::Slurm(cluster), program }
    }

    /// Registers the job.
    fn register(&self, scheduler: &SchedulerProcess) {
        let name = &self.program.namespace;
        let daemon = json!({ "jobName": name, "appName": "resident", "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?",
                             "cpuCount": 0.1, "memoryMB": 16, "shardingTotalCount": 1, "gracePeriodSeconds": 1 });
        scheduler.register(&self.program.app("resident", SCRIPT), &daemon);
    }

    /// Deregisters it, and waits for its end. All the time there was one process at most.
    async fn end(&self, scheduler: &SchedulerProcess) {
        scheduler.done("DELETE", &format!("/api/job/{}/deregister", self.program.namespace), "");
        self.until("it is ended", || self.running().is_empty()).await;
        if let Engine::Slurm(cluster) = &self.engine {
            self.until("Slurm has no array of it", || self.arrays(cluster).is_empty()).await;
        }
        self.assert_none_beside();
    }

    fn assert_none_beside(&self) {
        assert_eq!(self.program.lines("overlap"), [""; 0], "{}", self.told());
    }

    /// How many processes have begun.
    fn begun(&self) -> usize {
        self.program.lines("begun").len()
    }

    async fn until_begun(&self, times: usize) {
        self.until("it is started", || self.begun() >= times).await;
    }

    /// The processes of the job that are there.
    fn running(&self) -> Vec<String> {
        let is_program = |pid: &String| {
            let command = std::fs::read_to_string(Path::new("/proc").join(pid).join("cmdline")).unwrap_or_default();
            command.contains("resident.sh")
        };
        self.program.lines("begun").into_iter().filter(is_program).collect()
    }

    /// Kills the process that began last.
    fn kill_last(&self) {
        let pid = self.program.lines("begun").pop().expect("it has begun");
        let killed = Command::new("kill").args(["-KILL", &pid]).status().expect("kill is there");
        assert!(killed.success());
    }

    /// Ends the process so that a scheduler has to start it again: on Slurm the keeper does it while its array is there.
    fn end_place(&self) {
        let Engine::Slurm(cluster) = &self.engine else { return self.kill_last() };
        // There may be one besides that came too late, and has not ended yet.
        let arrays = self.arrays(cluster);
        assert!(!arrays.is_empty(), "{}", self.told());
        cluster.ask("scancel", &arrays.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// The arrays of the job that have not ended.
    fn arrays(&self, cluster: &SlurmCluster) -> Vec<String> {
        let comment = format!("processes of {}", self.program.namespace);
        let rows = cluster.ask("squeue", &["--noheader", "--format", "%F|%k"]);
        let array = |row: &str| row.split_once('|').filter(|(_, of)| *of == comment).map(|(array, _)| array.to_owned());
        rows.lines().filter_map(array).collect()
    }

    /// Waits until a scheduler lists one process.
    async fn until_listed(&self, scheduler: &SchedulerProcess) {
        self.until("it is listed once", || scheduler.listed() == 1).await;
    }

    fn told(&self) -> String {
        let lines = |name: &str| format!("{name}: {}\n", self.program.lines(name).join(" "));
        let of_cluster = match &self.engine {
            Engine::ThisHost(folder) => folder.path().display().to_string(),
            Engine::Slurm(cluster) => cluster.ask("squeue", &["--states=all"]) + &cluster.logs(),
        };
        lines("begun") + &lines("overlap") + &self.program.logs() + &of_cluster
    }

    async fn until(&self, what: &str, is: impl Fn() -> bool) {
        until::until(LIMIT, what, || self.told(), || is().then_some(())).await;
    }
}

pub async fn frozen_on_this_host(server: Arc<ZookeeperServer>) {
    freeze(Ground::on_this_host(&server, "frozen-daemons")).await;
}

pub async fn frozen_on_slurm(cluster: Arc<SlurmCluster>, server: Arc<ZookeeperServer>) {
    freeze(Ground::on_slurm(cluster, &server, "frozen-daemons-on-slurm")).await;
}

/// The scheduler that keeps a process is frozen for longer than its session: the other one keeps it, and the first one starts none
/// beside it when it goes on.
async fn freeze(ground: Ground) {
    let schedulers = [ground.program.start(), ground.program.start()];
    ground.register(&schedulers[0]);
    ground.until_begun(1).await;
    for round in 1..=3 {
        let [frozen, other] = if round % 2 == 1 { [0, 1] } else { [1, 0] };
        schedulers[frozen].freeze();
        assert_eq!(ground.running().len(), 1, "it goes on");
        // The other one starts it again when the session of the frozen one has ended, unless it keeps it already.
        ground.end_place();
        ground.until_begun(round + 1).await;
        ground.until_listed(&schedulers[other]).await;
        schedulers[frozen].thaw();
        ground.until_listed(&schedulers[frozen]).await;
        assert_eq!(ground.running().len(), 1, "{}", ground.told());
    }
    // Both look at the end of the process that both may have kept.
    ground.end_place();
    ground.until_begun(5).await;
    ground.end(&schedulers[0]).await;
    assert_eq!(ground.begun(), 5, "{}", ground.told());
}

pub async fn killed_on_this_host(server: Arc<ZookeeperServer>) {
    kill(Ground::on_this_host(&server, "killed-daemons")).await;
}

pub async fn killed_on_slurm(cluster: Arc<SlurmCluster>, server: Arc<ZookeeperServer>) {
    kill(Ground::on_slurm(cluster, &server, "killed-daemons-on-slurm")).await;
}

async fn kill(ground: Ground) {
    let mut schedulers = vec![ground.program.start(), ground.program.start()];
    ground.register(&schedulers[0]);
    ground.until_begun(1).await;
    for round in 1..=4 {
        let pid = ground.program.lines("begun").pop().expect("it has begun");
        // From the second round on, the oldest scheduler keeps the process: the others came later.
        drop(schedulers.remove(0));
        assert_eq!(ground.running(), [pid.as_str()], "a scheduler that is killed leaves it");
        // It is started again once: by what keeps it, which is another scheduler or the keeper on a node, and in the even rounds by a
        // scheduler in any case.
        match round % 2 {
            1 => ground.kill_last(),
            _ => ground.end_place(),
        }
        ground.until_begun(round + 1).await;
        ground.until_listed(&schedulers[0]).await;
        schedulers.push(ground.program.start());
        assert_eq!(ground.running().len(), 1, "{}", ground.told());
        assert_eq!(ground.begun(), round + 1, "{}", ground.told());
    }
    ground.end(&schedulers[0]).await;
    assert_eq!(ground.begun(), 5, "{}", ground.told());
}

/// The scheduler is killed with its first request on its way. It arrives when the next one has started the process.
pub async fn late_of_a_killed_one(cluster: Arc<SlurmCluster>, server: Arc<ZookeeperServer>) {
    let how = "kill -9 $PPID; until_begun; \"$real\" \"$@\" >late; exit 0";
    late(Ground::on_slurm(cluster, &server, "late-daemons-killed"), how).await;
}

/// The scheduler is frozen with its first request on its way. It goes on when the next one has started the process, and its request
/// arrives.
pub async fn late_of_a_frozen_one(cluster: Arc<SlurmCluster>, server: Arc<ZookeeperServer>) {
    let how = "kill -STOP $PPID; until_begun; \"$real\" \"$@\" | tee late; kill -CONT $PPID; exit 0";
    late(Ground::on_slurm(cluster, &server, "late-daemons-frozen"), how).await;
}

/// One of two schedulers runs `how` in place of its first `sbatch`.
async fn late(mut ground: Ground, how: &str) {
    let Engine::Slurm(cluster) = &ground.engine else { unreachable!("the command is of Slurm") };
    let (cluster, folder) = (cluster.clone(), ground.program.folder.clone());
    let commands = folder.join("commands");
    std::fs::create_dir_all(&commands).expect("a folder");
    // It begins when the test needs no answer of this scheduler any more.
    let begin = "until_begun() { while [ \"$(wc -l <begun)\" -lt 1 ]; do sleep 0.1; done; }; touch begun; \
                 while [ ! -e registered ]; do sleep 0.1; done";
    crashes::wrap(&commands, &folder, &format!("{begin}; {how}"));
    ground.program.carrier.extend(["--slurm-commands".to_owned(), commands.display().to_string()]);
    let mut schedulers = vec![ground.program.start(), ground.program.start()];
    ground.register(&schedulers[0]);
    std::fs::write(folder.join("registered"), "").expect("a file");
    ground.until_begun(1).await;
    ground.until("the late request has arrived", || !ground.program.lines("late").is_empty()).await;
    let array = ground.program.lines("late").remove(0);
    ground.until("its array has ended", || !ground.arrays(&cluster).contains(&array)).await;
    schedulers.retain_mut(|scheduler| !scheduler.is_gone());
    assert_eq!((ground.begun(), ground.running().len()), (1, 1), "{}", ground.told());
    for scheduler in &schedulers {
        ground.until_listed(scheduler).await;
    }
    // The next one comes after the claim of the first.
    ground.end_place();
    ground.until_begun(2).await;
    ground.end(&schedulers[0]).await;
    assert_eq!(ground.begun(), 2, "{}", ground.told());
}
