//! The most that a ZooKeeper server gives fires of many jobs: `registry_limit --jobs J --seconds S --zookeeper HOST:PORT`.
//!
//! Each second, every job writes what a monitored fire of one item writes: a record and a mark at its begin, and at its end, which
//! follows at once. Transactions share requests as those of jobs do. There is no engine, no schedule, no watch and no run. What
//! `bench` measures beside that is the cost of the jobs, and of the watches that tell the server's clients. The last line is one
//! JSON object, with the lateness of the answers to the begins. Exit code 0, 1 when it failed, 2 for wrong usage.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::registry::zookeeper::ZookeeperConfiguration;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use elasticjob::runtime::JobEnvironment;
use elasticjob_test_usage::{arguments, run};
use elasticjob_tests::measure::{Begins, ProcessUse, percentiles, sleep_to};
use elasticjob_tests::records::now_us;
use futures_util::future::try_join_all;
use serde_json::json;

const USAGE: &str = "usage: registry_limit --jobs J --seconds S --zookeeper HOST:PORT";

/// Bytes of a record while its run goes on, and once it has ended, of which both kinds of job have as many.
const RECORD: [usize; 2] = [185, 220];

/// Everything that was under way in a second is over by then.
const QUIET: Duration = Duration::from_millis(700);

struct Arguments {
    zookeeper: String,
    jobs: usize,
    seconds: i64,
}

fn parse(mut given: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let (mut zookeeper, mut jobs, mut seconds) = (None, 0, 0);
    while let Some(name) = given.next() {
        let value = given.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u32>().map_err(|error| format!("{name} {value}: {error}"));
        match name.as_str() {
            "--jobs" => jobs = number()? as usize,
            "--seconds" => seconds = i64::from(number()?),
            "--zookeeper" => zookeeper = Some(value),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    match (zookeeper, jobs, seconds) {
        (None, ..) => Err("--zookeeper is missing".to_owned()),
        (_, 0, _) => Err("--jobs is missing, or 0".to_owned()),
        (.., 0) => Err("--seconds is missing, or 0".to_owned()),
        (Some(zookeeper), jobs, seconds) => Ok(Arguments { zookeeper, jobs, seconds }),
    }
}

fn main() -> ExitCode {
    let arguments = match arguments(parse, USAGE) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    run(measure(arguments))
}

async fn measure(arguments: Arguments) -> Result<String, Box<dyn Error>> {
    let environment = JobEnvironment::builder().build()?;
    let namespace = format!("limit-{}-{}", std::process::id(), now_us());
    let settings = ZookeeperConfiguration::new(arguments.zookeeper.as_str(), namespace.as_str());
    let registry = environment.connect_zookeeper(settings).await?;
    try_join_all((0..arguments.jobs).map(|number| make(&registry, number))).await?;

    // One warm-up fire, then so many seconds.
    let first = (now_us() / 1_000_000 + 2) * 1_000;
    let end = first + arguments.seconds * 1_000;
    let begins = Arc::new(Begins::default());
    let jobs: Vec<_> = (0..arguments.jobs)
        .map(|number| tokio::spawn(fires(registry.clone(), number, begins.clone(), first - 1_000, end)))
        .collect();
    let quiet = i64::try_from(QUIET.as_millis())?;
    sleep_to(first - 1_000 + quiet).await;
    let (before, requests_before) = (ProcessUse::take(), registry.requests());
    for job in try_join_all(jobs).await? {
        job?;
    }
    sleep_to(end - 1_000 + quiet).await;
    let (after, requests_after) = (ProcessUse::take(), registry.requests());
    registry.close().await;

    let all = begins.all();
    let counted: Vec<i64> =
        all.iter().filter(|begun| begins.scheduled_ms(**begun) >= first).map(|begun| begun.late_us()).collect();
    let due = arguments.jobs * usize::try_from(arguments.seconds)?;
    let line = json!({
        "item_runs": counted.len(),
        "expected_runs": due,
        "lateness_us": percentiles(counted),
        "registry_requests_per_fire": (requests_after.requests - requests_before.requests) as f64 / due as f64,
        "cpu_ms_per_s": ((after.cpu_ms - before.cpu_ms) as f64 / arguments.seconds as f64).round(),
    });
    Ok(line.to_string())
}

/// The nodes of an item that a fire finds.
async fn make(registry: &Arc<dyn RegistryCenter>, number: usize) -> Result<(), Box<dyn Error>> {
    let mut transaction = Transaction::new();
    let [job, sharding] = [format!("/bench-{number}"), format!("/bench-{number}/sharding")];
    let item = format!("{sharding}/0");
    for path in [job, sharding, item.clone(), format!("{item}/fire")] {
        transaction.create(path, "", CreateMode::Persistent);
    }
    registry.commit(transaction).await?;
    Ok(())
}

/// The transactions of one job, at each second from the first until the end.
async fn fires(
    registry: Arc<dyn RegistryCenter>,
    number: usize,
    begins: Arc<Begins>,
    first: i64,
    end: i64,
) -> Result<(), String> {
    let record = format!("/bench-{number}/sharding/0/fire");
    let mark = format!("/bench-{number}/sharding/0/running");
    let [begun, ended] = RECORD.map(|length| " ".repeat(length));
    let mut version = 0;
    for fire in (first..end).step_by(1_000) {
        sleep_to(fire).await;
        let mut begin = Transaction::new();
        begin.set(record.as_str(), begun.as_str(), Some(version));
        begin.create(mark.as_str(), "10.0.0.1@-@1", CreateMode::Ephemeral);
        registry.commit(begin).await.map_err(|error| error.to_string())?;
        begins.add(fire);
        let mut finish = Transaction::new();
        finish.set(record.as_str(), ended.as_str(), Some(version + 1));
        finish.delete(mark.as_str(), None);
        registry.commit(finish).await.map_err(|error| error.to_string())?;
        version += 2;
    }
    Ok(())
}
