//! One program as all three: started by hand, and carried as a TRANSIENT and as a DAEMON job. It is that of `examples`.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::scheduler::{SchedulerProcess, SchedulerProgram};
use elasticjob_tests::until::until;
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::{Value, json};

use super::killed;

const PROGRAM: &str = env!("CARGO_BIN_EXE_carried_example");

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(60);

/// What the program prints of the run of an item.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    fire: String,
    item: u32,
    total: u32,
    region: String,
    process: u32,
}

/// The runs in what it wrote, its log beside them. The last line may not be complete.
fn runs(text: &str) -> Vec<Run> {
    let complete = text.rsplit_once('\n').map_or("", |(complete, _)| complete);
    let value = |line: &str, name: &str| {
        let value = line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        value.unwrap_or_else(|| panic!("no {name} in '{line}'")).to_owned()
    };
    let run = |line: &str| Run {
        fire: value(line, "fire"),
        item: value(line, "item").parse().expect("a number"),
        total: value(line, "of").parse().expect("a number"),
        region: value(line, "region"),
        process: value(line, "process").parse().expect("a number"),
    };
    complete.lines().filter(|line| line.starts_with("settle ")).map(run).collect()
}

/// The items of each fire, with the processes that ran them. No item of a fire ran twice.
fn fires(runs: Vec<Run>) -> BTreeMap<String, BTreeMap<u32, Run>> {
    let mut fires: BTreeMap<String, BTreeMap<u32, Run>> = BTreeMap::new();
    for run in runs {
        let before = fires.entry(run.fire.clone()).or_default().insert(run.item, run.clone());
        assert_eq!(before, None, "{run:?} ran before");
    }
    fires
}

fn regions(items: &BTreeMap<u32, Run>) -> Vec<&str> {
    items.values().map(|run| run.region.as_str()).collect()
}

pub async fn runs_exactly_its_items(server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("one-program").expect("a folder");
    alone(folder.path()).await;
    let carrier = ["--carrier", "process", "--memory-limit", "off", "--cpus", "64"].map(str::to_owned).to_vec();
    let program = killed::program(&server, folder.path().to_owned(), "one-program", carrier);
    let scheduler = program.start();
    let app = json!({ "appName": "settle", "appURL": format!("file://{PROGRAM}"), "cpuCount": 0, "memoryMB": 16,
                      "bootstrapScript": format!("./{}", Path::new(PROGRAM).file_name().unwrap_or_default().display()) });
    scheduler.done("POST", "/api/app", &app.to_string());
    transient(&program, &scheduler).await;
    scheduler.done("DELETE", "/api/job/settle/deregister", "");
    daemon(&program, &scheduler).await;
}

/// The program alone, killed with the test.
struct Alone(Child);

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Lite: its own schedule, all items in its own process.
async fn alone(folder: &Path) {
    let file = folder.join("alone");
    let output = File::create(&file).expect("a file");
    let mut command = Command::new(PROGRAM);
    command.arg("--elasticjob.jobs[settle].cron=* * * * * ?").env_clear().current_dir(folder);
    command.stdin(Stdio::null()).stderr(output.try_clone().expect("a second handle")).stdout(output);
    let mut process = Alone(command.spawn().expect("it starts"));
    let written = || std::fs::read_to_string(&file).expect("it is text");
    let items = until(LIMIT, "three items of a fire", written, || {
        fires(runs(&written())).into_values().find(|items| items.len() == 3)
    });
    let items = items.await;
    assert_eq!(regions(&items), ["Beijing", "Shanghai", "Guangzhou"]);
    assert!(items.values().all(|run| (run.process, run.total) == (process.0.id(), 3)), "{items:?}");
    let ended = Command::new("kill").args(["-TERM", &process.0.id().to_string()]).status().expect("kill runs");
    assert!(ended.success());
    assert!(process.0.wait().expect("it ends").success(), "{}", written());
}

/// The job as it is registered, which is not as the program has it.
fn job(kind: &str) -> Value {
    json!({ "jobName": "settle", "appName": "settle", "jobExecutionType": kind, "cpuCount": 0.1, "memoryMB": 64,
            "shardingTotalCount": 4, "shardingItemParameters": "0=north,1=east,2=south,3=west", "gracePeriodSeconds": 5 })
}

const REGISTERED: [&str; 4] = ["north", "east", "south", "west"];

fn runs_in_log(scheduler: &SchedulerProcess, of: &str, number: usize) -> Vec<Run> {
    let answer = scheduler.call("GET", &format!("/api/job/settle/log?{of}={number}"), "");
    let (status, log) = answer.expect("the scheduler answers");
    // There is no log before it has begun.
    if status == 200 { runs(&log) } else { Vec::new() }
}

/// Each item of the one fire is a process, which runs it and nothing else.
async fn transient(program: &SchedulerProgram, scheduler: &SchedulerProcess) {
    scheduler.done("POST", "/api/job/register", &job("TRANSIENT").to_string());
    scheduler.done("POST", "/api/job/trigger", "settle");
    let of_items = until(
        LIMIT,
        "a run of each item",
        || program.logs(),
        || {
            let of_items: Vec<Vec<Run>> = (0..4).map(|item| runs_in_log(scheduler, "item", item)).collect();
            let idle = scheduler.call("GET", "/api/job/tasks/running", "").is_ok_and(|(_, tasks)| tasks == "[]");
            (idle && of_items.iter().all(|runs| !runs.is_empty())).then_some(of_items)
        },
    );
    let of_items = of_items.await;
    for (item, runs) in of_items.iter().enumerate() {
        let [run] = &runs[..] else { panic!("item {item} is not run once by its process: {runs:?}") };
        assert_eq!((run.item as usize, run.total), (item, 4));
    }
    let runs: Vec<Run> = of_items.into_iter().flatten().collect();
    let processes: std::collections::BTreeSet<u32> = runs.iter().map(|run| run.process).collect();
    assert_eq!(processes.len(), 4, "each item has a process of its own: {runs:?}");
    let fires: Vec<_> = fires(runs).into_values().collect();
    let [items] = &fires[..] else { panic!("it was triggered once: {fires:?}") };
    assert_eq!(regions(items), REGISTERED);
}

/// Two processes that stay, which share the items of each fire of the registered schedule.
async fn daemon(program: &SchedulerProgram, scheduler: &SchedulerProcess) {
    let mut job = job("DAEMON");
    job["instances"] = 2.into();
    job["cron"] = "* * * * * ?".into();
    scheduler.done("POST", "/api/job/register", &job.to_string());
    let shared = until(
        LIMIT,
        "a fire whose items two processes share",
        || program.logs(),
        || {
            let runs = (0..2).flat_map(|index| runs_in_log(scheduler, "process", index)).collect();
            fires(runs).into_values().find(|items| {
                let of_first =
                    items.values().filter(|run| Some(run.process) == items.get(&0).map(|first| first.process));
                items.len() == 4 && of_first.count() == 2
            })
        },
    );
    let shared = shared.await;
    assert_eq!(regions(&shared), REGISTERED);
    assert!(shared.values().all(|run| run.total == 4), "{shared:?}");
    scheduler.done("DELETE", "/api/job/settle/deregister", "");
    let is_there = |run: &Run| Path::new("/proc").join(run.process.to_string()).join("exe").exists();
    until(LIMIT, "its processes end", || program.logs(), || (!shared.values().any(is_there)).then_some(())).await;
}
