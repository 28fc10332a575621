//! A real Prometheus with the alert rules, which scrapes a program and its console.

use std::fs;
use std::net::SocketAddr;
use std::process::{Command, Stdio};

use elasticjob_tests::group::{TemporaryFolder, TestProcess};
use elasticjob_tests::ports;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::{Duration, Instant, sleep};

use super::prometheus::{LIMIT, Program, get, repository, start};

/// Series that come from the program and from the console.
const SERIES: [&str; 3] = ["elasticjob_item_runs_total", "elasticjob_job_info", "elasticjob_console_registry_up"];

pub async fn scrapes() {
    let Program { app, metrics, console } = start().await;
    let folder = TemporaryFolder::new("prometheus").expect("a folder");
    let (process, server) = prometheus(&folder, [metrics, console]);
    let deadline = Instant::now() + LIMIT;
    while TcpStream::connect(server).await.is_err() || !get(server, "/-/ready").await.contains("Ready") {
        assert!(Instant::now() < deadline, "Prometheus is not ready\n{}", process.log());
        sleep(Duration::from_millis(50)).await;
    }
    loop {
        let missing = missing(server).await;
        if missing.is_empty() {
            break;
        }
        assert!(
            Instant::now() < deadline,
            "{missing:?} are not scraped: {}\n{}",
            ask(server, "targets").await,
            process.log()
        );
        sleep(Duration::from_millis(200)).await;
    }
    let targets = ask(server, "targets").await;
    let targets = targets["data"]["activeTargets"].as_array().expect("targets").clone();
    assert_eq!(targets.len(), 2);
    for target in targets {
        assert_eq!((&target["health"], &target["lastError"]), (&Value::from("up"), &Value::from("")), "{target}");
    }
    let rules = ask(server, "rules").await;
    let rules = rules["data"]["groups"].as_array().expect("groups").clone();
    let rules: Vec<&Value> = rules.iter().flat_map(|group| group["rules"].as_array().expect("rules")).collect();
    assert!(rules.len() > 8, "{rules:?}");
    for rule in rules {
        assert_ne!(rule["health"], "err", "{rule}");
    }
    app.shutdown().await;
}

/// Which of the series it does not have yet.
async fn missing(server: SocketAddr) -> Vec<&'static str> {
    let mut missing = Vec::new();
    for name in SERIES {
        let found = ask(server, &format!("query?query={name}")).await;
        if found["data"]["result"].as_array().is_none_or(Vec::is_empty) {
            missing.push(name);
        }
    }
    missing
}

async fn ask(server: SocketAddr, what: &str) -> Value {
    let answer = get(server, &format!("/api/v1/{what}")).await;
    serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error} in {answer}"))
}

/// Starts a Prometheus with the rules of the documentation; returns its address.
fn prometheus(folder: &TemporaryFolder, targets: [SocketAddr; 2]) -> (TestProcess, SocketAddr) {
    let server: SocketAddr = ([127, 0, 0, 1], ports::free().expect("a free port")).into();
    let [program, console] = targets;
    let rules = repository().join("docs/prometheus/elasticjob.rules.yaml");
    let text = format!(
        "global:\n  scrape_interval: 1s\n  evaluation_interval: 1s\nrule_files: ['{}']\nscrape_configs:\n  \
         - job_name: programs\n    static_configs: [{{ targets: ['{program}'] }}]\n  \
         - job_name: console\n    static_configs: [{{ targets: ['{console}'] }}]\n",
        rules.display()
    );
    let file = folder.path().join("prometheus.yml");
    fs::write(&file, text).expect("the folder is there");
    let mut command = Command::new("prometheus");
    command.arg(format!("--config.file={}", file.display()));
    command.arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()));
    command.arg(format!("--web.listen-address={server}")).arg("--log.level=warn").stdout(Stdio::null());
    (TestProcess::start(command, folder.path().join("prometheus.log")).expect("it starts"), server)
}
