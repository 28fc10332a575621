//! Measures the web console over many jobs and many rows of traces: `console_bench [--jobs J] [--items N] [--rows R]
//! [--viewers V] [--rounds M] [--only TEXT]`.
//!
//! Starts a ZooKeeper, a PostgreSQL, a program with J jobs of N items and 50 jobs of one item that are not due, and `elasticjob console` as a process of
//! its own; writes R rows of traces of the last 90 days, and of each of the 50 jobs 2,000 runs of the last day. Then V viewers log in as administrators
//! and ask for each page M times, side by side, or for those alone whose names have the text. The last line is one JSON object: for each page its time in milliseconds and its size; the memory of the console; the requests
//! that the server of ZooKeeper got a second at rest, without the console and with it. Exit code 0, 1 when it failed, 2 for
//! wrong usage.

use std::env;
use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use elasticjob::api::item_handler;
use elasticjob::config::JobConfiguration;
use elasticjob::registry::zookeeper::ZookeeperConfiguration;
use elasticjob::runtime::{JobEnvironment, ScheduleJobBootstrap};
use elasticjob::trace::rdb::{DataSource, RdbOptions, RdbTracingStorage, Retention};
use elasticjob_cli::Console;
use elasticjob_starter::settings::Sources;
use elasticjob_test_usage::{arguments, run};
use elasticjob_tests::databases::{Database, DatabaseServer, Kind};
use elasticjob_tests::group::{TemporaryFolder, TestProcess};
use elasticjob_tests::measure::ProcessUse;
use elasticjob_tests::ports;
use elasticjob_tests::zookeeper::ZookeeperServer;
use futures_util::future::try_join_all;
use reqwest::header::{COOKIE, HeaderMap};
use serde_json::{Map, Value, json};

const USAGE: &str = "usage: console_bench [--jobs J] [--items N] [--rows R] [--viewers V] [--rounds M] [--only TEXT]";

/// The role in which this program serves the console; the next argument is the folder with its settings.
const AS_CONSOLE: &str = "as-console";

const NAMESPACE: &str = "scale";
/// The namespace of a second registry center, whose jobs are compared with those of the first one.
const OTHER_NAMESPACE: &str = "other";
/// The jobs that both have, by their numbers: most of those that a page of a comparison shows.
const COMPARED: Range<u64> = 1_000..1_200;
/// What a visitor of the console logs in with, and its hash.
const PASSWORD: &str = "a password of a benchmark";
const PASSWORD_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$6Mh6r5GuFnkpxS3EHV8Ngg$XpZszQfE38bnpTooMpuprK1sASaCRTFnprDJAzkumLA";
/// Stands for the number of the viewer in an address.
const VIEWER: &str = "{viewer}";
/// How many users and how many tokens the console has.
const ACCOUNTS: usize = 100;
/// How many lines the log of a run has: a page shows so many.
const LINES: u64 = 1_000;
/// How many jobs are started at a time.
const STARTED_TOGETHER: usize = 200;
/// How many rows of traces one statement writes.
const WRITTEN_TOGETHER: u64 = 500_000;
/// The jobs that ran often during the last day: a page of the timeline has so many.
const BUSY_JOBS: u64 = 50;
/// How many runs each of them has: more than the timeline shows one by one.
const BUSY_RUNS: u64 = 2_000;
/// How far the traces reach back.
const DAYS: u64 = 90;
/// How long the server's requests are counted.
const AT_REST: Duration = Duration::from_secs(20);
/// A page that takes longer than this is a failure.
const LIMIT: Duration = Duration::from_secs(60);

struct Arguments {
    jobs: u64,
    items: u32,
    rows: u64,
    viewers: usize,
    rounds: usize,
    /// A part of the names of the pages that are measured; empty for all.
    only: String,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut parsed =
        Arguments { jobs: 5_000, items: 20, rows: 10_000_000, viewers: 10, rounds: 10, only: String::new() };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        if name == "--only" {
            parsed.only = value;
            continue;
        }
        let number: u32 = value.parse().map_err(|error| format!("{name} {value}: {error}"))?;
        if number == 0 {
            return Err(format!("{name} is 0"));
        }
        match name.as_str() {
            "--jobs" => parsed.jobs = number.into(),
            "--items" => parsed.items = number,
            "--rows" => parsed.rows = number.into(),
            "--viewers" => parsed.viewers = number as usize,
            "--rounds" => parsed.rounds = number as usize,
            _ => return Err(format!("unknown option {name}")),
        }
    }
    Ok(parsed)
}

fn main() -> ExitCode {
    let mut given = env::args().skip(1);
    if given.next().as_deref() == Some(AS_CONSOLE) {
        return serve(Path::new(&given.next().expect("a folder with settings")));
    }
    match arguments(parse, USAGE) {
        Ok(arguments) => run(measure(arguments)),
        Err(code) => code,
    }
}

/// The console, as `elasticjob console` starts it.
fn serve(folder: &Path) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime starts");
    let (mut stdout, mut stderr) = (std::io::stdout(), std::io::stderr());
    let terminal = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
    let served = elasticjob_cli::run(["elasticjob", "console"], Sources::in_folder(folder), terminal);
    ExitCode::from(runtime.block_on(served))
}

async fn measure(arguments: Arguments) -> Result<String, Box<dyn Error>> {
    let zookeeper = ZookeeperServer::with_memory(1_024)?;
    let server = Arc::new(DatabaseServer::start(Kind::Postgresql).await?);
    let database = Database::on(server, Kind::Postgresql).await;
    let wrote = Instant::now();
    write_traces(&database, &arguments).await?;
    eprintln!("wrote {} rows in {:.0} s", arguments.rows, wrote.elapsed().as_secs_f64());

    let environment = JobEnvironment::builder().build()?;
    let _jobs = start(&arguments, &environment, &zookeeper).await?;
    let other = JobEnvironment::builder().build()?;
    let _compared = start_compared(&arguments, &other, &zookeeper).await?;
    let jobs_alone = requests_a_second(&zookeeper).await?;

    let folder = TemporaryFolder::new("console-bench")?;
    let (process, address) = start_console(&folder, &zookeeper, &database)?;
    let console_unused = requests_a_second(&zookeeper).await?;

    // The client asks for one also where it speaks no TLS.
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| "there is another provider of cryptography")?;
    // One after the other: so many attempts of one address at a time would have to wait.
    let mut clients = Vec::new();
    for _ in 0..arguments.viewers {
        clients.push(logged_in(&address).await?);
    }
    let client = clients.first().ok_or("no viewer")?;
    let first = Instant::now();
    fetch(client, &format!("{address}/r/default/jobs")).await?;
    let first_page_ms = first.elapsed().as_millis();
    let console_used = requests_a_second(&zookeeper).await?;

    let mut pages = Map::new();
    let while_viewed = Viewed { requests: packets(&zookeeper)?, began: Instant::now() };
    let all = addresses(client, &address, &arguments).await?;
    for (name, path) in all.into_iter().filter(|(name, _)| name.contains(&arguments.only)) {
        let figures = view(&clients, &format!("{address}{path}"), &arguments).await?;
        eprintln!("{name}: {figures}");
        pages.insert(name.to_owned(), figures);
    }
    let viewed = while_viewed.rate(&zookeeper)?;
    let used = ProcessUse::of(process.pid());
    Ok(json!({
        "jobs": arguments.jobs,
        "items": arguments.items,
        "rows": arguments.rows,
        "viewers": arguments.viewers,
        "first_page_ms": first_page_ms,
        "pages": pages,
        "console_rss_kb": used.rss_kb,
        "console_threads": used.threads,
        "zookeeper_packets_a_second": {
            "jobs_alone": jobs_alone, "console_unused": console_unused, "console_used": console_used, "viewed": viewed,
        },
    })
    .to_string())
}

/// Jobs of which none is due: what the server gets are their pings. Each tenth one runs after the one before it.
async fn start(
    arguments: &Arguments,
    environment: &JobEnvironment,
    zookeeper: &ZookeeperServer,
) -> Result<Vec<ScheduleJobBootstrap>, Box<dyn Error>> {
    let configuration = ZookeeperConfiguration::new(zookeeper.connect_string(), NAMESPACE);
    let registry = environment.connect_zookeeper(configuration).await?;
    let mut jobs = Vec::new();
    for number in 0..BUSY_JOBS {
        let job = JobConfiguration::builder(format!("busy-{number}"), 1).cron("0 0 0 1 1 ?").build()?;
        jobs.push(ScheduleJobBootstrap::new(environment, registry.clone(), job, item_handler(async |_| {}))?);
    }
    for number in 0..arguments.jobs {
        let job = JobConfiguration::builder(format!("job-{number}"), arguments.items);
        let job = match number % 10 {
            9 => job.depends_on([format!("job-{}", number - 1)]),
            _ => job.cron("0 0 0 1 1 ?"),
        };
        let job = job.build()?;
        jobs.push(ScheduleJobBootstrap::new(environment, registry.clone(), job, item_handler(async |_| {}))?);
    }
    schedule(jobs).await
}

/// Jobs of the same names in another namespace, which have another number of items.
async fn start_compared(
    arguments: &Arguments,
    environment: &JobEnvironment,
    zookeeper: &ZookeeperServer,
) -> Result<Vec<ScheduleJobBootstrap>, Box<dyn Error>> {
    let configuration = ZookeeperConfiguration::new(zookeeper.connect_string(), OTHER_NAMESPACE);
    let registry = environment.connect_zookeeper(configuration).await?;
    let mut jobs = Vec::new();
    for number in COMPARED.filter(|number| *number < arguments.jobs) {
        let job =
            JobConfiguration::builder(format!("job-{number}"), arguments.items + 1).cron("0 0 0 1 1 ?").build()?;
        jobs.push(ScheduleJobBootstrap::new(environment, registry.clone(), job, item_handler(async |_| {}))?);
    }
    schedule(jobs).await
}

async fn schedule(mut jobs: Vec<ScheduleJobBootstrap>) -> Result<Vec<ScheduleJobBootstrap>, Box<dyn Error>> {
    for together in jobs.chunks_mut(STARTED_TOGETHER) {
        try_join_all(together.iter_mut().map(ScheduleJobBootstrap::schedule)).await?;
    }
    Ok(jobs)
}

/// Of twenty rows sixteen are runs, three are states of runs, and one is a decision. Of a hundred runs one failed, and of a hundred
/// decisions one is of an operator.
async fn write_traces(database: &Database, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut options = RdbOptions::default();
    options.run_log = Some(Retention::default());
    RdbTracingStorage::connect(&DataSource::new(database.url())?, options).await?;
    let (jobs, items) = (arguments.jobs, u64::from(arguments.items));
    let runs = arguments.rows * 4 / 5;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    // The items of one fire have one scheduled time.
    let columns = |from: u64, rows: u64| {
        let (fires, to) = (rows.div_ceil(jobs * items), rows.min(from + WRITTEN_TOGETHER));
        let apart = u128::from(DAYS) * 86_400_000 / u128::from(fires.max(1));
        format!(
            "(SELECT k, 'job-' || k / {items} % {jobs} AS job, k % {items} AS item, \
             {now} - ({fires} - k / {all}) * {apart}::bigint AS at FROM generate_series({from}::bigint, {to} - 1) AS k) AS rows",
            all = jobs * items
        )
    };
    for from in (0..runs).step_by(WRITTEN_TOGETHER as usize) {
        let rows = columns(from, runs);
        database
            .execute(format!(
                "INSERT INTO JOB_EXECUTION_LOG SELECT 'run-' || k, job, job || '@-@' || item || '@-@READY@-@192.0.2.1@-@1', \
                 'host', '192.0.2.1', item, 'NORMAL_TRIGGER', CASE WHEN k % 100 = 99 THEN 'the file is not there' END, \
                 k % 100 <> 99, to_timestamp(at / 1000.0) AT TIME ZONE 'UTC', \
                 to_timestamp(at / 1000.0 + 2) AT TIME ZONE 'UTC', 'run-' || k, at, '192.0.2.1@-@1', 'a-' || k FROM {rows}"
            ))
            .await;
    }
    database
        .execute(format!(
            "INSERT INTO JOB_EXECUTION_LOG SELECT 'busy-' || k, job, job || '@-@0@-@READY@-@192.0.2.1@-@1', 'host', '192.0.2.1', \
             0, 'NORMAL_TRIGGER', NULL, TRUE, to_timestamp(at / 1000.0) AT TIME ZONE 'UTC', \
             to_timestamp(at / 1000.0 + 2) AT TIME ZONE 'UTC', 'busy-' || k, at, '192.0.2.1@-@1', 'b-' || k FROM \
             (SELECT k, 'busy-' || k % {BUSY_JOBS} AS job, {now} - k / {BUSY_JOBS} * {apart}::bigint AS at \
             FROM generate_series(0, {rows} - 1) AS k) AS rows",
            apart = 86_400_000 / BUSY_RUNS,
            rows = BUSY_JOBS * BUSY_RUNS,
        ))
        .await;
    // The log of the last run of the first of them.
    database
        .execute(format!(
            "INSERT INTO JOB_RUN_LOG SELECT 'busy-0', line, 'busy-0', {now} + line, 'INFO', 'settle::orders', \
             'order ' || line || ' of customer ' || line % 100 || ' is settled', 0 FROM generate_series(1, {LINES}) AS line"
        ))
        .await;
    let decisions = arguments.rows / 20;
    let states = arguments.rows - runs - decisions;
    for from in (0..states).step_by(WRITTEN_TOGETHER as usize) {
        let rows = columns(from, states);
        database
            .execute(format!(
                "INSERT INTO JOB_STATUS_TRACE_LOG SELECT 'state-' || k, job, '', job || '@-@' || item, '192.0.2.1', 'READY', \
                 item::text, 'TASK_FINISHED', '', to_timestamp(at / 1000.0) AT TIME ZONE 'UTC', 'run-' || k, at, \
                 '192.0.2.1@-@1', 'a-' || k FROM {rows}"
            ))
            .await;
    }
    for from in (0..decisions).step_by(WRITTEN_TOGETHER as usize) {
        let rows = columns(from, decisions);
        database
            .execute(format!(
                "INSERT INTO JOB_DECISION_LOG SELECT 'decision-' || k, job, at, \
                 CASE WHEN k % 100 = 99 THEN 'OPERATOR' ELSE 'SKIPPED' END, at, NULL, item::text, '192.0.2.1@-@1', NULL, \
                 CASE WHEN k % 100 = 99 THEN 'disk full' ELSE 'it still runs for an earlier fire' END, \
                 CASE WHEN k % 100 = 99 \
                 THEN '{{\"actor\":\"alice\",\"action\":\"disable-item\",\"outcome\":\"done\"}}' ELSE '{{}}' END FROM {rows}"
            ))
            .await;
    }
    database.execute("ANALYZE").await;
    Ok(())
}

fn start_console(
    folder: &TemporaryFolder,
    zookeeper: &ZookeeperServer,
    database: &Database,
) -> Result<(TestProcess, String), Box<dyn Error>> {
    let port = ports::free()?;
    let servers = zookeeper.connect_string();
    let (users, tokens): (String, String) = (0..ACCOUNTS)
        .map(|number| {
            let user = format!("    user-{number}: {{password-hash: '{PASSWORD_HASH}', role: admin}}\n");
            (user, format!("    program-{number}: {{token-hash: 'sha256:{number:064x}', role: viewer}}\n"))
        })
        .unzip();
    let settings = format!(
        "elasticjob:\n  reg-center: {{server-lists: '{servers}', namespace: {NAMESPACE}}}\n  \
         reg-centers:\n    other: {{server-lists: '{servers}', namespace: {OTHER_NAMESPACE}}}\n  tracing:\n    type: RDB\n    \
         data-source: {{url: '{}'}}\n  console: {{port: {port}}}\n  console-users:\n{users}  console-tokens:\n{tokens}",
        database.url(),
    );
    fs::write(folder.path().join("application.yaml"), settings)?;
    let mut command = Command::new(env::current_exe()?);
    command.arg(AS_CONSOLE).arg(folder.path()).stdout(Stdio::null());
    let mut process = TestProcess::start(command, folder.path().join("console.log"))?;
    let deadline = Instant::now() + LIMIT;
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        if process.exit_status().is_some() || Instant::now() > deadline {
            return Err(format!("the console does not listen\n{}", process.log()).into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok((process, format!("http://127.0.0.1:{port}")))
}

/// The pages, with what makes each of them long.
async fn addresses(
    client: &reqwest::Client,
    address: &str,
    arguments: &Arguments,
) -> Result<Vec<(&'static str, String)>, Box<dyn Error>> {
    let job = format!("job-{}", arguments.jobs / 2);
    let of_job = format!("/r/default/jobs/{job}");
    let api = "/api/v1/registries/default";
    let fires: Value = serde_json::from_str(&fetch(client, &format!("{address}{api}/jobs/{job}/fires")).await?)?;
    let fire = latest(&fires).ok_or_else(|| format!("no fire of {job} is known: {fires}"))?;
    let servers: Value = serde_json::from_str(&fetch(client, &format!("{address}{api}/servers")).await?)?;
    let server = servers[0]["server"].as_str().ok_or_else(|| format!("no server is known: {servers}"))?;
    let following = format!("/r/default/jobs/job-{}", 9.min(arguments.jobs - 1));
    Ok(vec![
        ("overview", "/r/default".to_owned()),
        ("jobs", "/r/default/jobs".to_owned()),
        ("jobs, searched", "/r/default/jobs?q=job-4".to_owned()),
        ("job, now", of_job.clone()),
        ("job, why", format!("{of_job}/why")),
        ("job, why at a fire", format!("{of_job}/why?at={fire}")),
        ("job, runs and heat map", format!("{of_job}/runs")),
        ("busy job, runs and heat map", "/r/default/jobs/busy-0/runs".to_owned()),
        ("fire", format!("{of_job}/runs/{fire}")),
        ("job, schedule", format!("{of_job}/schedule")),
        ("job, configuration", format!("{of_job}/configuration")),
        ("job, edit page of the configuration", format!("{of_job}/configuration/edit")),
        ("job, its changes", format!("{of_job}/configuration/history")),
        ("job, graph", format!("{following}/graph")),
        ("job, dump", format!("{of_job}/dump")),
        ("graph of all jobs", "/r/default/graph".to_owned()),
        ("timeline of 24 hours", "/r/default/timeline?span=24h&q=job-".to_owned()),
        ("timeline of 24 hours, busy jobs", "/r/default/timeline?span=24h&q=busy-".to_owned()),
        // Pages of 40 to 49 of the jobs.
        (
            "timeline of 24 hours, busy jobs, another page for each viewer",
            format!("/r/default/timeline?span=24h&q=busy-&limit=4{VIEWER}"),
        ),
        ("log of a run", "/r/default/jobs/busy-0/log/busy-0".to_owned()),
        ("comparison of two registry centers", "/r/default/comparison?with=other&q=job-1".to_owned()),
        ("export of all configurations", "/r/default/configurations".to_owned()),
        ("servers", "/r/default/servers".to_owned()),
        ("server", format!("/r/default/servers/{server}")),
        ("alarms", "/r/default/alarms".to_owned()),
        ("nodes", "/r/default/nodes".to_owned()),
        ("nodes of a job", format!("/r/default/nodes?path=/{job}")),
        ("history trace", "/r/default/history/executions".to_owned()),
        ("history trace, failures", "/r/default/history/executions?result=FAILED".to_owned()),
        ("history trace, a job", format!("/r/default/history/executions?job={job}")),
        ("history status", "/r/default/history/states".to_owned()),
        ("decisions", "/r/default/history/decisions".to_owned()),
        ("audit", "/r/default/history/audit".to_owned()),
        ("settings", "/settings".to_owned()),
        ("users", "/settings/users".to_owned()),
        ("tokens", "/settings/tokens".to_owned()),
        ("sessions", "/settings/sessions".to_owned()),
        ("access", "/access".to_owned()),
        ("help", "/help".to_owned()),
        ("help, API", "/help/api".to_owned()),
        ("help, problems", "/help/problems".to_owned()),
        ("API: jobs", format!("{api}/jobs")),
        ("API: executions", format!("{api}/executions")),
        ("metrics", "/metrics".to_owned()),
    ])
}

/// The time of the latest fire that ran.
fn latest(fires: &Value) -> Option<String> {
    let ran = |fire: &&Value| fire.get("items").is_some_and(|items| items != &json!(0) && items != &json!([]));
    let list =
        fires.as_array().or_else(|| fires.get("items")?.as_array()).or_else(|| fires.get("fires")?.as_array())?;
    Some(list.iter().find(ran).or(list.first())?.get("scheduledAt")?.as_str()?.to_owned())
}

/// A viewer with a session of an administrator. It follows no redirection: a page that leads to another one is not measured.
async fn logged_in(address: &str) -> Result<reqwest::Client, Box<dyn Error>> {
    let client = || reqwest::Client::builder().timeout(LIMIT).redirect(reqwest::redirect::Policy::none());
    let form = format!("name=user-0&password={}&next=%2F", PASSWORD.replace(' ', "+"));
    let login = client().build()?.post(format!("{address}/login")).header("origin", address);
    let answer = login.header("content-type", "application/x-www-form-urlencoded").body(form).send().await?;
    let status = answer.status();
    let cookie = answer.headers().get("set-cookie").ok_or_else(|| format!("the login is answered with {status}"))?;
    let cookie = cookie.to_str()?.split(';').next().unwrap_or_default().parse()?;
    Ok(client().default_headers(HeaderMap::from_iter([(COOKIE, cookie)])).build()?)
}

async fn fetch(client: &reqwest::Client, address: &str) -> Result<String, Box<dyn Error>> {
    let answer = client.get(address).send().await?;
    let status = answer.status();
    let text = answer.text().await?;
    if status.is_success() { Ok(text) } else { Err(format!("{address} answered {status}: {text}").into()) }
}

/// All viewers ask for one page side by side, each again as soon as it has it. [`VIEWER`] in the address is the number of the viewer.
async fn view(clients: &[reqwest::Client], address: &str, arguments: &Arguments) -> Result<Value, Box<dyn Error>> {
    let viewer = async |(number, client): (usize, &reqwest::Client)| {
        let address = address.replace(VIEWER, &number.to_string());
        let mut took = Vec::new();
        let mut bytes = 0;
        for _ in 0..arguments.rounds {
            let began = Instant::now();
            bytes = fetch(client, &address).await?.len();
            took.push(began.elapsed().as_secs_f64() * 1_000.0);
        }
        Ok::<_, Box<dyn Error>>((took, bytes))
    };
    let viewed = try_join_all(clients.iter().enumerate().map(viewer)).await?;
    let bytes = viewed.first().map(|(_, bytes)| *bytes);
    let mut took: Vec<f64> = viewed.into_iter().flat_map(|(took, _)| took).collect();
    took.sort_unstable_by(f64::total_cmp);
    let at =
        |part: f64| took.get(((took.len() - 1) as f64 * part).round() as usize).map(|ms| (ms * 10.0).round() / 10.0);
    Ok(json!({ "p50": at(0.5), "p95": at(0.95), "max": at(1.0), "bytes": bytes }))
}

struct Viewed {
    requests: f64,
    began: Instant,
}

impl Viewed {
    fn rate(&self, zookeeper: &ZookeeperServer) -> Result<f64, Box<dyn Error>> {
        let requests = packets(zookeeper)? - self.requests;
        Ok((requests / self.began.elapsed().as_secs_f64() * 10.0).round() / 10.0)
    }
}

/// What the server got, pings and this question among it.
fn packets(zookeeper: &ZookeeperServer) -> Result<f64, Box<dyn Error>> {
    Ok(zookeeper.mntr("zk_packets_received")?)
}

async fn requests_a_second(zookeeper: &ZookeeperServer) -> Result<f64, Box<dyn Error>> {
    // What began before is over by then.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let viewed = Viewed { requests: packets(zookeeper)?, began: Instant::now() };
    tokio::time::sleep(AT_REST).await;
    viewed.rate(zookeeper)
}
