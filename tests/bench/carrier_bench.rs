//! Measures schedulers of carried jobs: `carrier_bench process`, `slurm` or `kubernetes`. Prints one line of JSON.
//!
//! Starts a ZooKeeper, the cluster of the carrier on this machine, and schedulers as processes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, Instant, UNIX_EPOCH};

use elasticjob_test_usage::arguments;
use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::kubernetes::Cluster;
use elasticjob_tests::measure::{ProcessUse, percentiles};
use elasticjob_tests::scheduler::{SchedulerProcess, SchedulerProgram};
use elasticjob_tests::slurm::SlurmCluster;
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::{Value, json};

/// The fires of which the time to the running item is measured.
const FIRES: usize = 20;
/// The runs that a scheduler leaves when it is killed.
const WATCHES: usize = 100;
/// The jobs of a scheduler at rest.
const JOBS: usize = 1_000;

const LIMIT: Duration = Duration::from_secs(600);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// What carries the items, for as long as it is there.
enum Place {
    Host,
    Slurm(SlurmCluster),
    Kubernetes(Cluster),
}

struct Bench {
    program: SchedulerProgram,
    place: Place,
    _server: ZookeeperServer,
    _folder: TemporaryFolder,
}

/// How the place of the carrier that is named is started.
fn place(mut arguments: impl Iterator<Item = String>) -> Result<fn() -> Place, String> {
    match arguments.next().as_deref() {
        Some("process") => Ok(|| Place::Host),
        Some("slurm") => Ok(|| Place::Slurm(SlurmCluster::start().expect("Slurm starts"))),
        Some("kubernetes") => Ok(|| Place::Kubernetes(Cluster::start().expect("Kubernetes starts"))),
        _ => Err("name a carrier".to_owned()),
    }
}

fn main() -> ExitCode {
    match arguments(place, "usage: carrier_bench process|slurm|kubernetes") {
        Ok(start) => measure(start()),
        Err(code) => code,
    }
}

fn measure(place: Place) -> ExitCode {
    let mut bench = Bench::new(place);
    let mut measured = json!({ "carrier": bench.place.name() });
    measured["fire_to_running_item_ms"] = bench.until_running();
    measured["rate"] = bench.rate();
    measured["takeover"] = bench.takeover();
    measured["with_1000_jobs_at_rest"] = bench.at_rest();
    println!("{measured}");
    ExitCode::SUCCESS
}

impl Place {
    fn name(&self) -> &'static str {
        match self {
            Self::Host => "PROCESS",
            Self::Slurm(_) => "SLURM",
            Self::Kubernetes(_) => "KUBERNETES",
        }
    }

    /// The options of the carrier. Items on Kubernetes see the folder as `/notes`.
    fn options(&self, folder: &Path) -> Vec<String> {
        match self {
            // As much as is wanted: what is measured is the scheduler.
            Self::Host => ["process", "--memory-limit", "off", "--cpus", "1000", "--memory", "1000000"]
                .map(str::to_owned)
                .to_vec(),
            Self::Slurm(cluster) => {
                vec!["slurm".to_owned(), "--slurm-conf".to_owned(), cluster.conf().display().to_string()]
            }
            Self::Kubernetes(cluster) => {
                let template = json!({ "spec": {
                    "volumes": [{ "name": "notes", "hostPath": { "path": folder } }],
                    "containers": [{ "name": "item", "volumeMounts": [{ "name": "notes", "mountPath": "/notes" }] }]
                } });
                let file = folder.join("template.json");
                std::fs::write(&file, template.to_string()).expect("a file");
                let (kubeconfig, file) = (cluster.kubeconfig().display().to_string(), file.display().to_string());
                ["kubernetes", "--kubeconfig", &kubeconfig, "--pod-template", &file].map(str::to_owned).to_vec()
            }
        }
    }

    /// The items of the fire of which the rate is measured. Fewer on Kubernetes, where each takes a pod and so the most time.
    fn items(&self) -> usize {
        if matches!(self, Self::Kubernetes(_)) { 100 } else { 300 }
    }

    /// How often it is asked what runs. Each question goes to the cluster, and so takes from it what is measured.
    fn pause(&self) -> Duration {
        match self {
            Self::Host => PAUSE,
            Self::Slurm(_) => Duration::from_millis(250),
            Self::Kubernetes(_) => Duration::from_secs(1),
        }
    }
}

impl Bench {
    fn new(place: Place) -> Self {
        let server = ZookeeperServer::start().expect("ZooKeeper starts");
        let folder = TemporaryFolder::new("carrier-bench").expect("a folder");
        let program = SchedulerProgram {
            binary: own_folder().join("scheduler"),
            zookeeper: server.connect_string(),
            namespace: "carrier-bench".to_owned(),
            folder: folder.path().to_owned(),
            carrier: [vec!["--carrier".to_owned()], place.options(folder.path())].concat(),
        };
        Self { program, place, _server: server, _folder: folder }
    }

    /// An application whose program is this script.
    fn app(&self, name: &str, script: &str) -> Value {
        match self.place {
            Place::Host | Place::Slurm(_) => self.program.app(name, script),
            Place::Kubernetes(_) => {
                let command = format!("sh -c '{}'", script.replace("$DIR", "/notes"));
                json!({ "appName": name, "appURL": "oci://localhost/box:1", "bootstrapScript": command, "cpuCount": 0,
                        "memoryMB": 16 })
            }
        }
    }

    /// A fresh namespace and folder for each measurement.
    fn begin(&mut self, name: &str) -> SchedulerProcess {
        self.program.namespace = format!("carrier-bench-{name}");
        self.program.start()
    }

    /// From the time of the fire to the first thing that the program does, which is a file, in milliseconds. The time of a file is up
    /// to 4 ms before that of the clock.
    fn until_running(&mut self) -> Value {
        let begun = self.program.folder.join("begun");
        std::fs::create_dir_all(&begun).expect("a folder");
        let scheduler = self.begin("latency");
        let app = self.app("latency", ": >\"$DIR/begun/$ELASTICJOB_SCHEDULED_AT\"");
        scheduler.register(&app, &job("latency", 1, json!({ "cron": "0/3 * * * * ?" })));
        let files = || std::fs::read_dir(&begun).expect("it is there").map_while(Result::ok);
        until(|| files().count() >= FIRES);
        scheduler.done("DELETE", "/api/job/latency/deregister", "");
        let late = files().filter_map(|file| {
            let scheduled = chrono::DateTime::parse_from_rfc3339(file.file_name().to_str()?).ok()?.timestamp_millis();
            let begun = file.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_millis();
            Some(i64::try_from(begun).ok()? - scheduled)
        });
        percentiles(late.collect())
    }

    /// How many items a minute begin, run and are recorded, of a job whose program ends at once; and the time of a processor that
    /// the scheduler takes of it.
    fn rate(&mut self) -> Value {
        let items = self.place.items();
        let scheduler = self.begin("rate");
        scheduler.register(&self.app("rate", "true"), &job("rate", items, json!({})));
        trigger(&scheduler, "rate");
        let (before, began) = (ProcessUse::of(scheduler.id()), Instant::now());
        // The records of all items, as an operator sees them.
        let open = || count(&scheduler, "/api/job/tasks/running") + count(&scheduler, "/api/job/tasks/ready");
        until_each(self.place.pause(), || open() > 0);
        until_each(self.place.pause(), || open() == 0);
        let (took, now) = (began.elapsed().as_secs_f64(), ProcessUse::of(scheduler.id()));
        json!({ "items": items, "items_a_minute": (items as f64 * 60.0 / took).round(), "seconds": (took * 10.0).round() / 10.0,
                "processor_ms_of_the_scheduler": now.cpu_ms - before.cpu_ms })
    }

    /// From the kill of a scheduler that waits for many runs until another one waits for all of them, in milliseconds.
    fn takeover(&mut self) -> Value {
        let first = self.begin("takeover");
        let app = self.app("takeover", "exec sleep 3600");
        first.done("POST", "/api/app", &app.to_string());
        let names: Vec<String> = (0..WATCHES).map(|number| format!("takeover-{number}")).collect();
        for name in &names {
            let of_app = json!({ "appName": "takeover" });
            first.done("POST", "/api/job/register", &job(name, 1, of_app).to_string());
        }
        names.iter().for_each(|name| trigger(&first, name));
        until_each(self.place.pause(), || count(&first, "/api/job/tasks/running") == WATCHES);
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
        until_each(self.place.pause(), || count(&second, "/api/job/tasks/running") == 0);
        json!({ "runs": WATCHES, "ms": took })
    }

    /// Memory, and processor time of a second, of a scheduler with many jobs that do not fire.
    fn at_rest(&mut self) -> Value {
        let scheduler = self.begin("rest");
        scheduler.done("POST", "/api/app", &self.app("rest", "true").to_string());
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
    until_each(PAUSE, is);
}

/// Looks again after this pause.
fn until_each(pause: Duration, is: impl Fn() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !is() {
        assert!(Instant::now() < deadline, "not within {LIMIT:?}");
        sleep(pause);
    }
}
