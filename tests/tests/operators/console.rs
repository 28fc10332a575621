//! `elasticjob console` of several registry centers.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::registry::RegistryCenter;
use elasticjob::registry::zookeeper::{ZookeeperConfiguration, ZookeeperRegistryCenter};
use elasticjob::registry::{CreateMode, Transaction};
#[cfg(feature = "databases")]
use elasticjob::trace::rdb::{DataSource, RdbOptions, RdbTracingStorage};
use elasticjob_cli::Console;
use elasticjob_starter::ElasticJobApp;
use elasticjob_starter::settings::{Settings, Sources};
#[cfg(feature = "databases")]
use elasticjob_tests::databases::{Database, DatabaseServer, Kind};
use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

use crate::support::LIMIT;

pub async fn of_two(server: Arc<ZookeeperServer>) {
    let servers = server.connect_string();
    for namespace in ["console-one", "console-two"] {
        let config = ZookeeperConfiguration::new(&servers, namespace);
        let center = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects");
        if namespace == "console-one" {
            let mut job = Transaction::new();
            job.create("/my.job", "", CreateMode::Persistent);
            job.create("/my.job/config", CONFIGURATION, CreateMode::Persistent);
            job.create("/load", "SCRIPT", CreateMode::Persistent);
            job.create("/load/config", SCRIPT, CreateMode::Persistent);
            center.commit(job).await.expect("they are written");
        }
        center.close().await;
    }
    let folder = TemporaryFolder::new("console-of-two").expect("a folder");
    let yaml = format!(
        "elasticjob:\n  \
           reg-center: {{server-lists: '{servers}', namespace: console-one}}\n  \
           reg-centers:\n    \
             archive: {{server-lists: '{servers}', namespace: console-two}}\n  \
           console: {{anonymous: viewer}}\n"
    );
    std::fs::write(folder.path().join("application.yaml"), yaml).expect("a file");
    let address = free_address();
    let asked = async {
        let exported = get(&address, "/api/v1/registries/default/configurations?job=my.job").await;
        let script = get(&address, "/api/v1/registries/default/configurations?job=load").await;
        let compared = ask(&address, "/api/v1/registries/default/comparison?q=my.job").await;
        (ask(&address, REGISTRIES).await, exported, script, compared)
    };
    let (told, exported, script, compared) = beside(&folder, &address, asked).await;
    let names: Vec<&str> = told.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["archive", "default"], "{told}");
    let only = (&compared["with"], &compared["jobs"][0]["job"], &compared["jobs"][0]["state"]);
    assert_eq!(only, (&json!("archive"), &json!("my.job"), &json!("only-here")), "{compared}");
    is_taken_by_a_program(&exported);
    is_started_by_a_program(&script).await;
}

/// The configuration of a job that has no code.
const SCRIPT: &str = "cron: 0 0 3 * * ?\nshardingTotalCount: 1\nprops:\n  script.command.line: 'true'\n";

/// A program without code starts this job, as the export names its type.
async fn is_started_by_a_program(exported: &str) {
    let folder = TemporaryFolder::new("console-export-script").expect("a folder");
    std::fs::write(folder.path().join("application.yaml"), exported).expect("a file");
    let app = ElasticJobApp::builder().sources(Sources::in_folder(folder.path())).start().await;
    let app = app.unwrap_or_else(|wrong| panic!("{wrong}\n{exported}"));
    assert!(app.schedule_job("loadScheduleJobBootstrap").is_ok(), "{exported}");
    app.shutdown().await;
}

/// The configuration of a job, with what an export must not change or show.
const CONFIGURATION: &str = "cron: 0 0 3 * * ?\nshardingTotalCount: 2\nfailover: true\ndescription: '${HOME}: \"kept\" # here'\n\
    jobListenerTypes:\n- one\n- two\nprops:\n  email.password: hunter2\n  page.size: '10'\n";

/// A program with these settings has the job as it is in the registry center, but for its secret.
fn is_taken_by_a_program(exported: &str) {
    let folder = TemporaryFolder::new("console-export").expect("a folder");
    std::fs::write(folder.path().join("application.yaml"), exported).expect("a file");
    let settings = Settings::load(&Sources::in_folder(folder.path()), &[]);
    let settings = settings.unwrap_or_else(|wrong| panic!("{wrong:?}\n{exported}"));
    assert_eq!(settings.jobs.len(), 1, "{exported}");
    let job = &settings.jobs[0];
    assert_eq!(job.name, "my.job");
    let of = &job.settings;
    assert_eq!((of.cron.as_deref(), of.sharding_total_count, of.failover), (Some("0 0 3 * * ?"), Some(2), Some(true)));
    assert_eq!(of.description.as_deref(), Some("${HOME}: \"kept\" # here"));
    assert_eq!(of.job_listener_types.as_deref(), Some(&["one".to_owned(), "two".to_owned()][..]));
    assert_eq!(of.props, Some([("page.size".to_owned(), "10".to_owned())].into()), "{exported}");
    assert!(!exported.contains("hunter2"), "{exported}");
}

/// A registry center and the database of its traces are away when the console starts, and come later.
#[cfg(feature = "databases")]
pub async fn of_one_that_is_away() {
    let [server, late] = [(); 2].map(|()| ZookeeperServer::start().expect("it starts"));
    let (here, late_servers) = (server.connect_string(), late.connect_string());
    for (servers, namespace) in [(&here, "console-here"), (&late_servers, "console-late")] {
        let config = ZookeeperConfiguration::new(servers, namespace);
        let center = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects");
        let mut job = Transaction::new();
        job.create("/report", "", CreateMode::Persistent);
        job.create("/report/config", "shardingTotalCount: 1\ncron: 0 0 3 * * ?\n", CreateMode::Persistent);
        center.commit(job).await.expect("they are written");
        center.close().await;
    }
    late.stop();
    let databases = Arc::new(DatabaseServer::start(Kind::Postgresql).await.expect("it starts"));
    let database = Database::on(databases.clone(), Kind::Postgresql).await;
    let url = database.url();
    let source = DataSource::new(url).expect("an address");
    RdbTracingStorage::connect(&source, RdbOptions::default()).await.expect("the tables are made");
    databases.stop();
    let folder = TemporaryFolder::new("console-late").expect("a folder");
    let yaml = format!(
        "elasticjob:\n  \
           reg-center: {{server-lists: '{here}', namespace: console-here}}\n  \
           reg-centers:\n    \
             archive: {{server-lists: '{late_servers}', namespace: console-late, base-sleep-time-milliseconds: 100, \
                        max-sleep-time-milliseconds: 200}}\n  \
           tracings:\n    \
             archive: {{type: RDB, data-source: {{url: '{url}'}}}}\n  \
           console: {{anonymous: viewer}}\n"
    );
    std::fs::write(folder.path().join("application.yaml"), yaml).expect("a file");
    let address = free_address();
    let runs = "/api/v1/registries/archive/executions";
    let jobs = "/api/v1/registries/archive/jobs";
    let checks = async {
        let told = ask(&address, REGISTRIES).await;
        let [archive, default] = [&told[0], &told[1]];
        assert_eq!((&archive["session"], &default["session"]), (&json!("CONNECTING"), &json!("CONNECTED")), "{told}");
        assert!(archive["since"].is_string() && default["problem"].is_null(), "{told}");
        assert!(archive["problem"].as_str().is_some_and(|why| why.contains("no ZooKeeper server")), "{told}");
        assert_eq!(ask(&address, "/api/v1/registries/default/jobs").await["total"], 1);
        for (path, why) in [(jobs, "no ZooKeeper server"), (runs, "cannot be read")] {
            let told = ask(&address, path).await.to_string();
            assert!(told.contains("it is away since 20") && told.contains(why), "{path}: {told}");
        }
        let page = get(&address, "/r/archive/jobs").await;
        let told = ["The registry center is lost since 20", "is dialled again", "no ZooKeeper server"];
        assert!(told.iter().all(|told| page.contains(told)), "{page}");
        databases.resume().await.expect("it starts again");
        until(&address, runs, |told| told["records"] == json!([])).await;
        late.resume().expect("it starts again");
        until(&address, jobs, |told| told["jobs"][0]["job"] == "report").await;
        let told = ask(&address, REGISTRIES).await;
        assert_eq!((&told[0]["session"], &told[0]["problem"]), (&json!("CONNECTED"), &Value::Null), "{told}");
        // It is followed: a job that comes is there.
        let config = ZookeeperConfiguration::new(&late_servers, "console-late");
        let center = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects");
        let mut job = Transaction::new();
        job.create("/another", "", CreateMode::Persistent);
        job.create("/another/config", "shardingTotalCount: 1\n", CreateMode::Persistent);
        center.commit(job).await.expect("they are written");
        center.close().await;
        until(&address, jobs, |told| told["total"] == 2).await;
    };
    beside(&folder, &address, checks).await;
}

/// Where none of the registry centers is reached there is nothing to show, and a mistake of the settings is likely.
pub async fn of_none(server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("console-of-none").expect("a folder");
    let away = "server-lists: '127.0.0.1:1', namespace: none, base-sleep-time-milliseconds: 100, max-sleep-time-milliseconds: 100";
    let here = format!("server-lists: '{}', namespace: console-mistyped", server.connect_string());
    for (archive, wrong) in [(away, "no ZooKeeper server"), (here.as_str(), "has no namespace 'console-mistyped'")] {
        let yaml = format!("elasticjob:\n  reg-center: {{{away}}}\n  reg-centers:\n    archive: {{{archive}}}\n");
        std::fs::write(folder.path().join("application.yaml"), yaml).expect("a file");
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let console = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
        let arguments = ["elasticjob", "console", "--listen", &free_address()];
        let ended = elasticjob_cli::run(arguments, Sources::in_folder(folder.path()), console);
        let code = tokio::time::timeout(LIMIT, ended).await.expect("it ends");
        let said = String::from_utf8_lossy(&stderr);
        assert!(code != 0 && said.contains(wrong), "{code}: {said}");
    }
}

const REGISTRIES: &str = "/api/v1/registries";

fn free_address() -> String {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    free.local_addr().expect("an address").to_string()
}

/// What comes of this while `elasticjob console` with the settings of a folder listens there.
async fn beside<T>(folder: &TemporaryFolder, address: &str, done: impl Future<Output = T>) -> T {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let console = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
    let arguments = ["elasticjob", "console", "--listen", address];
    let served = elasticjob_cli::run(arguments, Sources::in_folder(folder.path()), console);
    tokio::select! {
        code = served => panic!("it ended: {code}\n{}", String::from_utf8_lossy(&stderr)),
        done = tokio::time::timeout(LIMIT * 3, done) => done.expect("it answers"),
    }
}

/// Waits until the console answers so.
#[cfg(feature = "databases")]
async fn until(address: &str, path: &str, holds: impl Fn(&Value) -> bool) {
    let mut told = Value::Null;
    let waited = tokio::time::timeout(LIMIT, async {
        loop {
            told = ask(address, path).await;
            if holds(&told) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    if waited.await.is_err() {
        panic!("{path} answers {told}");
    }
}

async fn ask(address: &str, path: &str) -> Value {
    let body = get(address, path).await;
    serde_json::from_str(&body).unwrap_or_else(|_| panic!("{body}"))
}

/// The body of an answer of the console, once it listens.
async fn get(address: &str, path: &str) -> String {
    let mut stream = loop {
        match TcpStream::connect(address).await {
            Ok(stream) => break stream,
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer}"));
    body.to_owned()
}
