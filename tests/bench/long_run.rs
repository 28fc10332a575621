//! Runs jobs for long, and says what grows: `long_run --jobs J --minutes M [--zookeeper HOST:PORT] [--cron EXPR]`.
//!
//! Ten times a second it looks at the memory, threads, file handles and tasks of this process, and with `--zookeeper` at the
//! watches, ephemeral nodes, nodes and connections of the server. The last line is one JSON object: of each of them the mean,
//! how much it grows in an hour by a straight line through means of ten seconds, and the standard error of that. What grows
//! by less than two or three standard errors does not show to grow. Exit code 0, 1 when it failed, 2 for wrong usage.

use std::error::Error;
use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use elasticjob::api::{ItemHandler, ShardingContext, item_handler};
use elasticjob::config::JobConfiguration;
use elasticjob::registry::RegistryCenter;
use elasticjob::registry::zookeeper::ZookeeperConfiguration;
use elasticjob::runtime::{JobEnvironment, ScheduleJobBootstrap, ShutdownMode};
use elasticjob_test_usage::{arguments, run};
use elasticjob_tests::measure::{ProcessUse, Series, ServerReport};
use elasticjob_tests::records::now_us;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::time::{MissedTickBehavior, interval};

const USAGE: &str = "usage: long_run --jobs J --minutes M [--zookeeper HOST:PORT] [--cron EXPR]";

/// How many jobs are started at a time.
const STARTED_TOGETHER: usize = 200;

/// How often it looks.
const LOOK: Duration = Duration::from_millis(100);

/// How many looks make a block.
const BLOCK: u32 = 100;

/// How many blocks an hour has.
const BLOCKS_AN_HOUR: f64 = 360.0;

/// Caches and pools fill at first: that is left out.
const WARM_UP: Duration = Duration::from_secs(60);

struct Arguments {
    zookeeper: Option<String>,
    jobs: usize,
    minutes: u32,
    cron: String,
}

fn parse(mut given: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut parsed = Arguments { zookeeper: None, jobs: 0, minutes: 0, cron: "* * * * * ?".to_owned() };
    while let Some(name) = given.next() {
        let value = given.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u32>().map_err(|error| format!("{name} {value}: {error}"));
        match name.as_str() {
            "--zookeeper" => parsed.zookeeper = Some(value),
            "--jobs" => parsed.jobs = number()? as usize,
            "--minutes" => parsed.minutes = number()?,
            "--cron" => parsed.cron = value,
            _ => return Err(format!("unknown option {name}")),
        }
    }
    match (parsed.jobs, parsed.minutes) {
        (0, _) => Err("--jobs is missing, or 0".to_owned()),
        (_, 0) => Err("--minutes is missing, or 0".to_owned()),
        _ => Ok(parsed),
    }
}

fn main() -> ExitCode {
    let arguments = match arguments(parse, USAGE) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::ERROR).init();
    run(measure(arguments))
}

async fn measure(arguments: Arguments) -> Result<String, Box<dyn Error>> {
    let environment = JobEnvironment::builder().build()?;
    let registry = match &arguments.zookeeper {
        None => environment.embedded_registry(),
        Some(server) => {
            let namespace = format!("long-run-{}-{}", std::process::id(), now_us());
            environment.connect_zookeeper(ZookeeperConfiguration::new(server.as_str(), namespace.as_str())).await?
        }
    };
    let runs = Arc::new(AtomicU64::new(0));
    let mut jobs = start(&arguments, &environment, &registry, &runs).await?;
    tokio::time::sleep(WARM_UP).await;
    let before = runs.load(Ordering::Relaxed);

    let blocks = arguments.minutes * 60 * 1_000 / (LOOK.as_millis() as u32 * BLOCK);
    let mut all: Vec<Series> = Vec::new();
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for _ in 0..blocks {
        for _ in 0..BLOCK {
            looks.tick().await;
            let seen = look(environment.system(), arguments.zookeeper.as_deref());
            if all.is_empty() {
                all = seen.iter().map(|(name, _)| Series::new(name, blocks as usize)).collect();
            }
            // A server that is too busy to answer tells less.
            for (name, value) in seen {
                all.iter_mut().filter(|series| series.name() == name).for_each(|series| series.add(value as f64));
            }
        }
        all.iter_mut().for_each(Series::close_block);
    }

    let done = runs.load(Ordering::Relaxed) - before;
    let mut line = json!({ "jobs": arguments.jobs, "minutes": arguments.minutes, "item_runs": done });
    for series in &all {
        line[series.name()] = series.growth(BLOCKS_AN_HOUR);
    }
    for job in &mut jobs {
        job.shutdown(ShutdownMode::Now).await;
    }
    registry.close().await;
    // What is left when all jobs have left.
    let left: Vec<(&str, Value)> =
        look(environment.system(), None).into_iter().map(|(name, value)| (name, value.into())).collect();
    line["after_all_have_left"] = left.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(line.to_string())
}

fn handler(runs: &Arc<AtomicU64>) -> ItemHandler {
    let runs = runs.clone();
    item_handler(move |_: ShardingContext| {
        runs.fetch_add(1, Ordering::Relaxed);
        async {}
    })
}

async fn start(
    arguments: &Arguments,
    environment: &JobEnvironment,
    registry: &Arc<dyn RegistryCenter>,
    runs: &Arc<AtomicU64>,
) -> Result<Vec<ScheduleJobBootstrap>, Box<dyn Error>> {
    let mut jobs = Vec::with_capacity(arguments.jobs);
    for number in 0..arguments.jobs {
        let configuration = JobConfiguration::builder(format!("long-run-{number}"), 1).cron(arguments.cron.as_str());
        jobs.push(ScheduleJobBootstrap::new(environment, registry.clone(), configuration.build()?, handler(runs))?);
    }
    for together in jobs.chunks_mut(STARTED_TOGETHER) {
        futures_util::future::try_join_all(together.iter_mut().map(ScheduleJobBootstrap::schedule)).await?;
    }
    Ok(jobs)
}

/// What there is now.
fn look(system: &Handle, server: Option<&str>) -> Vec<(&'static str, u64)> {
    let process = ProcessUse::take();
    let handles = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count) as u64;
    let tasks = |runtime: &Handle| runtime.metrics().num_alive_tasks() as u64;
    let mut seen = vec![
        ("rss_kb", process.rss_kb),
        ("anonymous_kb", process.anonymous_kb),
        ("threads", process.threads),
        ("file_handles", handles),
        ("tasks", tasks(&Handle::current())),
        ("system_tasks", tasks(system)),
    ];
    if let Some(report) = server.and_then(ServerReport::of) {
        let counts = [
            ("server_watches", "zk_watch_count"),
            ("server_ephemerals", "zk_ephemerals_count"),
            ("server_nodes", "zk_znode_count"),
            ("server_connections", "zk_num_alive_connections"),
        ];
        seen.extend(counts.into_iter().filter_map(|(name, of)| Some((name, report.count(of)?))));
    }
    seen
}
