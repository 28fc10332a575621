//! The metrics of a running program, and the alert rules over them, as Prometheus itself reads them.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, io, thread};

use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;
use elasticjob_tests::harness::Harness;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// What happens within this, or never.
pub const LIMIT: Duration = Duration::from_secs(20);

#[elastic_job(cron = "* * * * * ?", sharding_total_count = 2)]
async fn scraped(_: ShardingContext) {}

/// Takes everything.
struct Taken;

impl TracingStorage for Taken {
    fn type_name(&self) -> &str {
        "TAKEN"
    }

    async fn write(&self, _: &[JobEvent]) -> Result<(), WriteError> {
        Ok(())
    }
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text_of(file: &str) -> String {
    fs::read_to_string(repository().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The page, as a client that knows only the older format gets it.
async fn page(address: SocketAddr) -> String {
    get(address, "/metrics").await
}

/// What a server answers, in one piece: HTTP/1.0 knows no chunks.
pub async fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let request = format!("GET {path} HTTP/1.0\r\nhost: localhost\r\naccept: text/plain\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it takes the request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    answer.split_once("\r\n\r\n").expect("an answer has a head").1.to_owned()
}

/// A program with a job, and the addresses of its metrics and of its console.
pub struct Program {
    pub app: ElasticJobApp,
    pub metrics: SocketAddr,
    pub console: SocketAddr,
}

/// Starts one, and waits for a fire of its job.
pub async fn start() -> Program {
    let arguments = ["--elasticjob.metrics.port=0", "--elasticjob.tracing.type=TAKEN", "--elasticjob.console.port=0"];
    let app = ElasticJobApp::builder()
        .only_jobs_of(module_path!())
        .sources(Sources::of_arguments(arguments.map(str::to_owned)));
    let app = app.tracing_storage(Taken).start().await.expect("it starts");
    let metrics = app.metrics_address().expect("the port is open");
    let ended = "elasticjob_item_runs_total{job_name=\"scraped\",registry=\"default\",result=\"succeeded\"} 2";
    let fired = timeout(LIMIT, async {
        while !page(metrics).await.lines().any(|line| line == ended) {
            sleep(Duration::from_millis(20)).await;
        }
    });
    fired.await.expect("a fire comes each second");
    let console = app.console_url().and_then(|url| url.strip_prefix("http://")?.strip_suffix('/')?.parse().ok());
    Program { metrics, console: console.expect("the console has an address"), app }
}

/// What a program answers after a fire of its job, by itself and by its console.
struct Scrape {
    program: String,
    console: String,
}

async fn scrape() -> Scrape {
    let Program { app, metrics, console } = start().await;
    let scraped = Scrape { program: page(metrics).await, console: page(console).await };
    app.shutdown().await;
    scraped
}

/// The names that stand in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("elasticjob_")).collect()
}

fn names_of_scrape(page: &str) -> BTreeSet<&str> {
    page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect()
}

async fn guide() {
    let (Scrape { program, console }, guide) = (scrape().await, text_of("docs/guide/metrics.md"));
    let (of_programs, of_console) = guide.split_once("## Metrics of the console").expect("the guide has both");
    for (page, guide, least) in [(program, of_programs, 25), (console, of_console, 15)] {
        let named = names(guide);
        let scraped = names_of_scrape(&page);
        assert!(scraped.len() > least, "{scraped:?}");
        let missing: Vec<_> = scraped.difference(&named).collect();
        assert!(missing.is_empty(), "docs/guide/metrics.md does not name {missing:?}");
    }
}

async fn exported() {
    let Scrape { program, console } = scrape().await;
    let known: BTreeSet<&str> = names_of_scrape(&program).into_iter().chain(names_of_scrape(&console)).collect();
    for file in ["docs/prometheus/elasticjob.rules.yaml", "docs/prometheus/elasticjob.grafana.json"] {
        let text = text_of(file);
        let of_series = |name: &str| name.trim_end_matches("_bucket").to_owned();
        let used: BTreeSet<String> = names(&text).into_iter().map(of_series).collect();
        assert!(used.len() > 8, "{file}: {used:?}");
        let strange: Vec<_> = used.iter().filter(|name| !known.contains(name.as_str())).collect();
        assert!(strange.is_empty(), "{file} uses {strange:?}, which nothing exports");
    }
}

/// Runs promtool beside the rules, and returns whether it is content, and all that it says.
fn promtool(arguments: &[&str], input: &str) -> io::Result<(bool, String)> {
    let mut command = Command::new("promtool");
    command.args(arguments).current_dir(repository().join("docs/prometheus"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_owned();
    let written = thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output()?;
    written.join().expect("the writer does not panic")?;
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
    Ok((output.status.success(), said))
}

async fn rules() {
    for arguments in [["check", "rules", "elasticjob.rules.yaml"], ["test", "rules", "elasticjob.rules.test.yaml"]] {
        let (ok, said) = promtool(&arguments, "").expect("promtool runs");
        assert!(ok && said.contains("SUCCESS"), "{said}");
    }
    let tested = text_of("docs/prometheus/elasticjob.rules.test.yaml");
    let rules = text_of("docs/prometheus/elasticjob.rules.yaml");
    for alert in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        let example =
            tested.split(&format!("alertname: {alert}\n")).nth(1).unwrap_or_else(|| panic!("no example of {alert}"));
        assert!(example.trim_start().starts_with("exp_alerts:\n"), "{alert}: the first example fires");
    }
}

async fn lint() {
    let Scrape { program, console } = scrape().await;
    for page in [program, console] {
        let (ok, said) = promtool(&["check", "metrics"], &page).expect("promtool runs");
        assert!(ok && said.is_empty(), "{said}");
    }
    // Or findings would not be seen.
    let (ok, said) =
        promtool(&["check", "metrics"], "# TYPE elasticjob_runs counter\nelasticjob_runs 1\n").expect("it runs");
    assert!(!ok && said.contains("_total"), "{said}");
}

pub fn add_tests(harness: &mut Harness) {
    let missing = || {
        let error = Command::new("promtool").arg("--version").output().err()?;
        Some(format!("promtool does not run: {error}; install the package prometheus"))
    };
    harness.test("the_guide_names_every_metric_of_a_scrape", guide);
    harness.test("rules_and_board_use_metrics_that_are_exported", exported);
    harness.with_service("promtool", missing(), "each_rule_fires_in_its_example", rules);
    harness.with_service(
        "promtool",
        missing(),
        "a_prometheus_scrapes_a_program_and_its_console",
        super::server::scrapes,
    );
    harness.with_service("promtool", missing(), "a_scrape_of_a_running_program_has_no_findings", lint);
}
