//! Measures jobs on one registry center: `bench --jobs J --items N --seconds S [--zookeeper HOST:PORT [--namespace NAME]]
//! [--instances I] [--cron EXPR] [--no-monitor] [--failover] [--one-off]`.
//!
//! Jobs do nothing. In the same namespace several processes share them; with `--instances` so many instances of this process
//! do, each in a session of its own. After a warm-up fire, the runs of exactly S seconds are counted by their scheduled time.
//! The last line is one JSON object. Exit code 0, 1 when it failed, 2 for wrong usage.

use std::error::Error;
use std::future::poll_fn;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob::api::{ItemHandler, ShardingContext, item_handler};
use elasticjob::config::JobConfiguration;
use elasticjob::registry::zookeeper::ZookeeperConfiguration;
use elasticjob::registry::{RegistryCenter, RequestCount, WatchEvent, WatchStream};
use elasticjob::runtime::{JobEnvironment, OneOffJobBootstrap, ScheduleJobBootstrap, ShutdownMode};
use elasticjob::schedule::Schedule;
use elasticjob_test_usage::{arguments, run};
use elasticjob_tests::measure::{Begins, Begun, ProcessUse, ServerReport, percentiles, sleep_to};
use elasticjob_tests::records::now_us;
use serde_json::json;

const USAGE: &str = "usage: bench --jobs J --items N --seconds S [--zookeeper HOST:PORT [--namespace NAME]] \
                     [--instances I] [--cron EXPR] [--no-monitor] [--failover] [--one-off]";

/// How many jobs are started at a time.
const STARTED_TOGETHER: usize = 200;

/// Everything that was under way in a second is over by then.
const QUIET: Duration = Duration::from_millis(700);

struct Arguments {
    zookeeper: Option<String>,
    /// A fresh one where it is not given.
    namespace: Option<String>,
    instances: usize,
    jobs: usize,
    items: u32,
    seconds: u64,
    cron: String,
    monitored: bool,
    failover: bool,
    one_off: bool,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut parsed = Arguments {
        zookeeper: None,
        namespace: None,
        instances: 1,
        jobs: 0,
        items: 0,
        seconds: 0,
        cron: "* * * * * ?".to_owned(),
        monitored: true,
        failover: false,
        one_off: false,
    };
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{name} needs a value"));
        let number = |text: String| text.parse().map_err(|error| format!("{name} {text}: {error}"));
        match name.as_str() {
            "--zookeeper" => parsed.zookeeper = Some(value()?),
            "--namespace" => parsed.namespace = Some(value()?),
            "--instances" => parsed.instances = number(value()?)? as usize,
            "--jobs" => parsed.jobs = number(value()?)? as usize,
            "--items" => parsed.items = number(value()?)? as u32,
            "--seconds" => parsed.seconds = number(value()?)?,
            "--cron" => parsed.cron = value()?,
            "--no-monitor" => parsed.monitored = false,
            "--failover" => parsed.failover = true,
            "--one-off" => parsed.one_off = true,
            _ => return Err(format!("unknown option {name}")),
        }
    }
    match (parsed.jobs, parsed.items, parsed.seconds) {
        (0, ..) => Err("--jobs is missing, or 0".to_owned()),
        (_, 0, _) => Err("--items is missing, or 0".to_owned()),
        (.., 0) => Err("--seconds is missing, or 0".to_owned()),
        _ if parsed.instances == 0 => Err("--instances is 0".to_owned()),
        _ if parsed.instances > 1 && parsed.zookeeper.is_none() => {
            Err("--instances needs --zookeeper: the embedded registry is for one instance".to_owned())
        }
        _ if parsed.namespace.is_some() && parsed.zookeeper.is_none() => {
            Err("--namespace needs --zookeeper: the embedded registry has none".to_owned())
        }
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

fn recorder(begins: &Arc<Begins>) -> ItemHandler {
    let begins = begins.clone();
    item_handler(move |context: ShardingContext| {
        begins.add(context.scheduled_at().timestamp_millis());
        async {}
    })
}

enum Job {
    Schedule(ScheduleJobBootstrap),
    OneOff(OneOffJobBootstrap),
}

/// One instance of each job.
struct Instance {
    registry: Arc<dyn RegistryCenter>,
    environment: JobEnvironment,
    jobs: Vec<Job>,
}

/// The instances, which have not started yet.
async fn connect(arguments: &Arguments) -> Result<Vec<Instance>, Box<dyn Error>> {
    let fresh = || format!("bench-{}-{}", std::process::id(), now_us());
    let namespace = arguments.namespace.clone().unwrap_or_else(fresh);
    let mut instances = Vec::with_capacity(arguments.instances);
    for _ in 0..arguments.instances {
        let environment = JobEnvironment::builder().build()?;
        let registry = match &arguments.zookeeper {
            None => environment.embedded_registry(),
            Some(server) => {
                let config = ZookeeperConfiguration::new(server.as_str(), namespace.as_str());
                environment.connect_zookeeper(config).await?
            }
        };
        instances.push(Instance { registry, environment, jobs: Vec::new() });
    }
    Ok(instances)
}

async fn measure(arguments: Arguments) -> Result<String, Box<dyn Error>> {
    let mut instances = connect(&arguments).await?;
    let registries: Vec<Arc<dyn RegistryCenter>> = instances.iter().map(|each| each.registry.clone()).collect();
    let resharding = tokio::spawn(last_resharding(registries[0].watch("/bench-0")));
    let begins = Arc::new(Begins::default());
    // Right after the begin of a second, so that a small number of jobs starts between two fires.
    sleep_to(now_us() / 1_000_000 * 1_000 + 1_020).await;
    let starting = Instant::now();
    for instance in &mut instances {
        instance.jobs = start(&arguments, &instance.environment, &instance.registry, &begins).await?;
    }
    let start_ms = starting.elapsed().as_millis();
    settled(&registries).await;
    // Some of many jobs fire before all have started: their begins share requests, a few a second.
    let requests_start = requests(&registries).requests;
    let reshard_ms = resharding.await?.map(|took| took.as_secs_f64() * 1_000.0);

    // One warm-up fire, then S seconds.
    let first = (now_us() / 1_000_000 + 3) * 1_000;
    let end = first + i64::try_from(arguments.seconds)? * 1_000;
    let quiet = i64::try_from(QUIET.as_millis())?;
    sleep_to(first - 1_000 + quiet).await;
    let before = Sample::take(&arguments, &registries);
    let latencies =
        if arguments.one_off { execute(&instances[0].jobs, &begins, arguments.seconds).await? } else { Vec::new() };
    sleep_to(end - 1_000 + quiet).await;
    let after = Sample::take(&arguments, &registries);

    let schedule = Schedule::parse(&arguments.cron, None)?;
    let fires = if arguments.one_off {
        usize::try_from(arguments.seconds)?
    } else {
        schedule.upcoming(first - 1).take_while(|at| *at < end).count()
    };
    let counts = |begun: &&Begun| arguments.one_off || (first..end).contains(&begins.scheduled_ms(**begun));
    let counted: Vec<i64> = begins.all().iter().filter(counts).map(|begun| begun.late_us()).collect();
    let per_fire = |count: u64| count as f64 / (fires.max(1) * arguments.jobs) as f64;
    let window = after.at.duration_since(before.at).as_secs_f64();
    let mut line = json!({
        "start_ms": start_ms,
        "instances": arguments.instances,
        "last_reshard_ms": reshard_ms,
        "registry_requests_start": requests_start,
        "item_runs": counted.len(),
        "expected_runs": arguments.jobs * arguments.items as usize * fires,
        "lateness_us": percentiles(counted),
        "registry_requests_per_fire": per_fire(after.requests - before.requests),
        "registry_writes_per_fire": per_fire(after.writes - before.writes),
        "rss_kb": after.process.rss_kb,
        "threads": after.process.threads,
        "cpu_ms_per_s": ((after.process.cpu_ms - before.process.cpu_ms) as f64 / window).round(),
    });
    if arguments.one_off {
        line["latency_us"] = percentiles(latencies);
    }
    if let (Some(before_packets), Some(after_packets)) = (before.packets, after.packets) {
        eprintln!(
            "the server counts {} packets in {window:.1} s, of which {} are requests of this program; the rest are pings",
            after_packets.received - before_packets.received,
            after.requests - before.requests
        );
        let received = after_packets.received - before_packets.received;
        let sent = after_packets.sent - before_packets.sent;
        // Each request is answered, and each ping: the rest are notifications of watches.
        line["packets_sent_per_fire"] = per_fire(sent).into();
        line["notifications_per_fire"] = per_fire(sent.saturating_sub(received)).into();
    }
    for instance in &mut instances {
        for job in &mut instance.jobs {
            match job {
                Job::Schedule(job) => job.shutdown(ShutdownMode::Now).await,
                Job::OneOff(job) => job.shutdown(ShutdownMode::Now).await,
            }
        }
        instance.registry.close().await;
    }
    Ok(line.to_string())
}

async fn start(
    arguments: &Arguments,
    environment: &JobEnvironment,
    registry: &Arc<dyn RegistryCenter>,
    begins: &Arc<Begins>,
) -> Result<Vec<Job>, Box<dyn Error>> {
    let mut jobs = Vec::with_capacity(arguments.jobs);
    for number in 0..arguments.jobs {
        let mut builder = JobConfiguration::builder(format!("bench-{number}"), arguments.items)
            .monitor_execution(arguments.monitored)
            .failover(arguments.failover);
        if !arguments.one_off {
            builder = builder.cron(arguments.cron.as_str());
        }
        let (configuration, handler) = (builder.build()?, recorder(begins));
        jobs.push(if arguments.one_off {
            Job::OneOff(OneOffJobBootstrap::new(environment, registry.clone(), configuration, handler)?)
        } else {
            Job::Schedule(ScheduleJobBootstrap::new(environment, registry.clone(), configuration, handler)?)
        });
    }
    for together in jobs.chunks_mut(STARTED_TOGETHER) {
        let start = together.iter_mut().map(async |job| match job {
            Job::Schedule(job) => job.schedule().await,
            Job::OneOff(job) => job.start().await,
        });
        futures_util::future::try_join_all(start).await?;
    }
    Ok(jobs)
}

/// Waits until the registry has had nothing to do for a moment: elections and sharding are over.
async fn settled(registries: &[Arc<dyn RegistryCenter>]) {
    let mut before = requests(registries).requests;
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = requests(registries).requests;
        if now == before {
            return;
        }
        before = now;
    }
}

/// The requests of all sessions.
fn requests(registries: &[Arc<dyn RegistryCenter>]) -> RequestCount {
    let mut all = RequestCount::default();
    for count in registries.iter().map(|registry| registry.requests()) {
        all.requests += count.requests;
        all.writes += count.writes;
    }
    all
}

/// How long the last resharding took, from the request for it to its end, once none has begun for a second.
async fn last_resharding(mut watch: Box<dyn WatchStream>) -> Option<Duration> {
    let is_request = |path: &str| path.ends_with("/leader/sharding/necessary");
    let (mut since, mut took) = (None, None);
    let mut until = Instant::now() + Duration::from_secs(20);
    loop {
        let next = poll_fn(|cx| watch.poll_next(cx));
        match tokio::time::timeout_at(until.into(), next).await {
            Ok(Some(WatchEvent::Created(path))) if is_request(&path) => since = Some(Instant::now()),
            Ok(Some(WatchEvent::Deleted(path))) if is_request(&path) => took = since.map(|at| at.elapsed()),
            Ok(Some(_)) => continue,
            Ok(None) | Err(_) => return took,
        }
        until = Instant::now() + Duration::from_secs(1);
    }
}

/// Triggers every job once a second, and measures the time to the begin of each item.
async fn execute(jobs: &[Job], begins: &Begins, seconds: u64) -> Result<Vec<i64>, Box<dyn Error>> {
    let mut latencies = Vec::new();
    begins.all().clear();
    for _ in 0..seconds {
        for job in jobs {
            let Job::OneOff(job) = job else { continue };
            let before = begins.all().len();
            let asked = now_us();
            job.handle().execute().await?;
            tokio::time::sleep(Duration::from_millis(900 / jobs.len() as u64)).await;
            latencies.extend(begins.all()[before..].iter().map(|begun| begins.began_us(*begun) - asked));
        }
    }
    Ok(latencies)
}

/// Counters at one moment.
struct Sample {
    at: Instant,
    requests: u64,
    writes: u64,
    packets: Option<Packets>,
    process: ProcessUse,
}

impl Sample {
    fn take(arguments: &Arguments, registries: &[Arc<dyn RegistryCenter>]) -> Self {
        let count = requests(registries);
        Self {
            at: Instant::now(),
            requests: count.requests,
            writes: count.writes,
            packets: arguments.zookeeper.as_deref().and_then(Packets::count),
            process: ProcessUse::take(),
        }
    }
}

/// The server's own count of packets.
#[derive(Clone, Copy)]
struct Packets {
    received: u64,
    sent: u64,
}

impl Packets {
    /// Asks the server; `None` where it does not tell.
    fn count(server: &str) -> Option<Self> {
        let report = ServerReport::of(server)?;
        Some(Self { received: report.count("zk_packets_received")?, sent: report.count("zk_packets_sent")? })
    }
}
