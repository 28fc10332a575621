//! Measures schedulers of carried jobs: `carrier_bench process` or `carrier_bench slurm`. Prints one line of JSON.
//!
//! Starts a ZooKeeper, for Slurm also a cluster of two nodes on this machine, and schedulers as processes.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, Instant};

use elasticjob_test_usage::arguments;
use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::measure::{ProcessUse, percentiles};
use elasticjob_tests::scheduler::{SchedulerProcess, SchedulerProgram};
use elasticjob_tests::slurm::SlurmCluster;
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::{Value, json};

/// The fires of which the time to the running item is measured.
const FIRES: usize = 20;
/// The items of the fire of which the rate is measured.
const ITEMS: usize = 300;
/// The jobs of a scheduler at rest.
const JOBS: usize = 1_000;
/// The runs that a scheduler leaves when it is killed.
const WATCHES: usize = 100;

const LIMIT: Duration = Duration::from_secs(600);

struct Bench {
    program: SchedulerProgram,
    _server: ZookeeperServer,
    _cluster: Option<SlurmCluster>,
    _folder: TemporaryFolder,
}

fn is_slurm(mut arguments: impl Iterator<Item = String>) -> Result<bool, String> {
    match arguments.next().as_deref() {
        Some("process") => Ok(false),
        Some("slurm") => Ok(true),
        _ => Err("name a carrier".to_owned()),
    }
}

fn main() -> ExitCode {
    match arguments(is_slurm, "usage: carrier_bench process|slurm") {
        Ok(on_slurm) => measure(on_slurm),
        Err(code) => code,
    }
}

fn measure(on_slurm: bool) -> ExitCode {
    let mut bench = Bench::new(on_slurm);
    let until_running = bench.until_running();
    let items_a_minute = bench.items_a_minute();
    let takeover = bench.takeover();
    let rest = bench.at_rest();
    println!(
        "{}",
        json!({ "carrier": if on_slurm { "SLURM" } else { "PROCESS" }, "fire_to_running_item_ms": until_running,
                "items_a_minute": items_a_minute, "takeover_of_100_runs_ms": takeover, "with_1000_jobs_at_rest": rest })
    );
    ExitCode::SUCCESS
}

impl Bench {
    fn new(on_slurm: bool) -> Self {
        let server = ZookeeperServer::start().expect("ZooKeeper starts");
        let folder = TemporaryFolder::new("carrier-bench").expect("a folder");
        let cluster = on_slurm.then(|| SlurmCluster::start().expect("Slurm starts"));
        let carrier = match &cluster {
            Some(cluster) => vec!["slurm".to_owned(), "--slurm-conf".to_owned(), cluster.conf().display().to_string()],
            // As much as is wanted: what is measured is the scheduler.
            None => ["process", "--memory-limit", "off", "--cpus", "1000", "--memory", "1000000"]
                .map(str::to_owned)
                .to_vec(),
        };
        let program = SchedulerProgram {
            binary: own_folder().join("scheduler"),
            zookeeper: server.connect_string(),
            namespace: "carrier-bench".to_owned(),
            folder: folder.path().to_owned(),
            carrier: [vec!["--carrier".to_owned()], carrier].concat(),
        };
        Self { program, _server: server, _cluster: cluster, _folder: folder }
    }

    /// A fresh namespace and folder for each measurement.
    fn begin(&mut self, name: &str) -> SchedulerProcess {
        self.program.namespace = format!("carrier-bench-{name}");
        self.program.start()
    }

    /// From the time of the fire to the first line of the program, in milliseconds.
    fn until_running(&mut self) -> Value {
        let scheduler = self.begin("latency");
        let app = self.program.app("latency", "echo \"$(date +%s%3N) $ELASTICJOB_SCHEDULED_AT\" >>$DIR/begun");
        scheduler.register(&app, &job("latency", 1, json!({ "cron": "0/3 * * * * ?" })));
        until(|| self.program.lines("begun").len() >= FIRES);
        let late = self.program.lines("begun").into_iter().filter_map(|line| {
            let (begun, scheduled) = line.split_once(' ')?;
            let scheduled = chrono::DateTime::parse_from_rfc3339(scheduled).ok()?.timestamp_millis();
            Some(begun.parse::<i64>().ok()? - scheduled)
        });
        percentiles(late.collect())
    }

    /// How many items a minute begin, run and are recorded, of a job whose program ends at once.
    fn items_a_minute(&mut self) -> Value {
        let scheduler = self.begin("rate");
        scheduler.register(&self.program.app("rate", "true"), &job("rate", ITEMS, json!({})));
        trigger(&scheduler, "rate");
        let began = Instant::now();
        // The records of all items, as an operator sees them.
        until(|| count(&scheduler, "/api/job/tasks/running") + count(&scheduler, "/api/job/tasks/ready") > 0);
        until(|| count(&scheduler, "/api/job/tasks/running") + count(&scheduler, "/api/job/tasks/ready") == 0);
        json!((ITEMS as f64 * 60.0 / began.elapsed().as_secs_f64()).round())
    }

    /// From the kill of a scheduler that waits for many runs until another one waits for all of them, in milliseconds.
    fn takeover(&mut self) -> Value {
        let first = self.begin("takeover");
        let app = self.program.app("takeover", "exec sleep 3600");
        first.done("POST", "/api/app", &app.to_string());
        let names: Vec<String> = (0..WATCHES).map(|number| format!("takeover-{number}")).collect();
        for name in &names {
            let of_app = json!({ "appName": "takeover" });
            first.done("POST", "/api/job/register", &job(name, 1, of_app).to_string());
        }
        names.iter().for_each(|name| trigger(&first, name));
        until(|| count(&first, "/api/job/tasks/running") == WATCHES);
        let second = self.program.start();
        // Until it has joined all jobs.
        sleep(Duration::from_secs(10));
        drop(first);
        let killed = Instant::now();
        let taken_over = || {
            let (_, tasks) = second.call("GET", "/api/job/tasks/running", "").unwrap_or_default();
            let tasks: Vec<Value> = serde_json::from_str(&tasks).unwrap_or_default();
            tasks.iter().filter(|task| task["type"] == "FAILOVER").count()
        };
        until(|| taken_over() == WATCHES);
        let took = killed.elapsed().as_millis();
        for name in &names {
            second.done("DELETE", &format!("/api/job/{name}/deregister"), "");
        }
        until(|| count(&second, "/api/job/tasks/running") == 0);
        json!(took)
    }

    /// Memory, and processor time of a second, of a scheduler with many jobs that do not fire.
    fn at_rest(&mut self) -> Value {
        let scheduler = self.begin("rest");
        scheduler.done("POST", "/api/app", &self.program.app("rest", "true").to_string());
        for number in 0..JOBS {
            let more = json!({ "appName": "rest", "cron": "0 0 3 1 1 ?" });
            scheduler.done("POST", "/api/job/register", &job(&format!("rest-{number}"), 1, more).to_string());
        }
        sleep(Duration::from_secs(10));
        let (before, began) = (ProcessUse::of(scheduler.id()), Instant::now());
        sleep(Duration::from_secs(20));
        let now = ProcessUse::of(scheduler.id());
        let used = (now.cpu_ms - before.cpu_ms) as f64 / began.elapsed().as_secs_f64();
        json!({ "memory_mb": now.rss_kb / 1_024, "processor_ms_a_second": (used * 10.0).round() / 10.0 })
    }
}

fn own_folder() -> PathBuf {
    let own = std::env::current_exe().expect("this program has a path");
    own.parent().expect("a folder").to_owned()
}

fn job(name: &str, items: usize, more: Value) -> Value {
    let mut job = json!({ "jobName": name, "appName": name, "jobExecutionType": "TRANSIENT", "cpuCount": 0.01, "memoryMB": 16,
                          "shardingTotalCount": items, "gracePeriodSeconds": 0 });
    if let (Value::Object(fields), Value::Object(more)) = (&mut job, more) {
        fields.extend(more);
    }
    job
}

fn trigger(scheduler: &SchedulerProcess, job: &str) {
    until(|| scheduler.call("POST", "/api/job/trigger", job).is_ok_and(|(status, _)| status == 200));
}

/// How many entries the list has that a path answers with.
fn count(scheduler: &SchedulerProcess, path: &str) -> usize {
    let (_, list) = scheduler.call("GET", path, "").expect("the scheduler answers");
    serde_json::from_str::<Vec<Value>>(&list).unwrap_or_else(|error| panic!("{error}: {list}")).len()
}

fn until(is: impl Fn() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !is() {
        assert!(Instant::now() < deadline, "not within {LIMIT:?}");
        sleep(Duration::from_millis(20));
    }
}
