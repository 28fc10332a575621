//! One job that many processes share: what the server sends for a fire.

use std::io;
use std::time::{Duration, Instant};

use elasticjob::ident::JobName;
use elasticjob::registry::RegistryCenter;
use elasticjob::registry::layout::JobPath;
use elasticjob::registry::zookeeper::{ZookeeperConfiguration, ZookeeperRegistryCenter};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::{Case, Party, Stage};
use crate::group::{TemporaryFolder, TestProcess};
use crate::measure::{ProcessUse, ServerReport, sleep_to};
use crate::records::now_us;

/// All instances are there within this.
const START_LIMIT: Duration = Duration::from_secs(120);

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// Shares are settled, and the first fires over, this long after the last instance came.
const SETTLED_MS: i64 = 5_000;

/// What happens at a second is over by then.
const QUIET_MS: i64 = 700;

pub(super) async fn measure(stage: &Stage, case: &Case, party: Party, count: u32) -> io::Result<Option<Value>> {
    if !matches!(party, Party::Before | Party::Now) {
        return Ok(None);
    }
    let namespace = format!("instances-{count}-{}", now_us());
    let server = stage.server.connect_string();
    let folder = TemporaryFolder::new("goals")?;
    let mut processes = Vec::new();
    for number in 0..count {
        let Some(mut command) = stage.program(party, "bench")? else { return Ok(None) };
        command.args(case.options).args(["--jobs", "1", "--seconds", "600"]);
        command.args(["--zookeeper", &server, "--namespace", &namespace]);
        processes.push(TestProcess::start(command, folder.path().join(number.to_string()))?);
    }
    let settings = ZookeeperConfiguration::new(server.as_str(), namespace.as_str());
    let registry = ZookeeperRegistryCenter::connect(settings, &Handle::current()).await.map_err(io::Error::other)?;
    all_came(&registry, count, &mut processes).await?;
    registry.close().await;

    let seconds = i64::from(stage.plan.seconds);
    let first = (now_us() / 1_000 + SETTLED_MS) / 1_000 * 1_000;
    sleep_to(first + QUIET_MS).await;
    let before = packets_sent(&server)?;
    let use_before = server_use(stage);
    sleep_to(first + QUIET_MS + seconds * 1_000).await;
    let sent = packets_sent(&server)? - before;
    let used = server_use(stage) - use_before;
    Ok(Some(json!({
        "packets_per_fire": sent as f64 / seconds as f64,
        "server_cpu_ms_per_s": used as f64 / seconds as f64,
    })))
}

async fn all_came(registry: &ZookeeperRegistryCenter, count: u32, processes: &mut [TestProcess]) -> io::Result<()> {
    let instances = JobPath::Instances.absolute(&JobName::new("bench-0").expect("a name for a job"));
    let deadline = Instant::now() + START_LIMIT;
    loop {
        let there = registry.children(&instances).await.map_err(io::Error::other)?.unwrap_or_default().len();
        if there == count as usize {
            return Ok(());
        }
        if let Some(ended) = processes.iter_mut().find_map(|process| process.exit_status().map(|_| process.log())) {
            return Err(io::Error::other(format!("an instance has ended\n{ended}")));
        }
        if Instant::now() > deadline {
            return Err(io::Error::other(format!("{there} of {count} instances came within {START_LIMIT:?}")));
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn packets_sent(server: &str) -> io::Result<u64> {
    let count = ServerReport::of(server).and_then(|report| report.count("zk_packets_sent"));
    count.ok_or_else(|| io::Error::other("the server does not say how many packets it sent"))
}

/// Processor time of the server so far, in milliseconds.
fn server_use(stage: &Stage) -> u64 {
    stage.server.pid().map(|pid| ProcessUse::of(pid).cpu_ms).unwrap_or_default()
}
