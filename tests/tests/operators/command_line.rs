//! The command line, beside the processes that run the job.

use std::io::{Error, ErrorKind, Write};
use std::sync::Arc;

use elasticjob::operations::dump::DumpService;
use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use elasticjob_tests::command_line::CommandLine;
use elasticjob_tests::records::now_us;
use elasticjob_tests::retry_reads::answered;
use elasticjob_tests::zookeeper::{ZookeeperBackend, ZookeeperServer};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::support::{ITEMS, JOB, LIMIT, Operated, every_second};

pub async fn operated(server: Arc<ZookeeperServer>) {
    let operated = Operated::start(&server, "command-line", every_second(100)).await;
    let operator = CommandLine::new(server.connect_string(), "command-line");
    let jobs = operator.json(&["jobs"]).await;
    assert_eq!(
        (&jobs[0]["job"], &jobs[0]["status"], &jobs[0]["instanceCount"]),
        (&JOB.into(), &"OK".into(), &2.into())
    );
    let shards = operator.json(&["shards", JOB]).await;
    let shards = shards.as_array().expect("a list");
    assert_eq!(shards.len(), ITEMS as usize);
    let ran = |shard: &Value| shard["last"]["at"].is_i64() && shard["nextFire"].is_i64();
    assert!(shards.iter().all(ran), "{shards:?}");
    let status = operator.says(&["status", JOB]).await;
    assert!(status.contains("status     OK") && status.contains("* * * * * ?") && !status.contains('!'), "{status}");

    // Servers and items.
    let ip = operated.children("servers").await.remove(0);
    let said = operator.says(&["disable", "--server", &ip]).await;
    assert_eq!(said, format!("disabled server {ip} of job '{JOB}'\n"));
    let said = operator.says(&["disable", "--server", &ip, "--job", JOB]).await;
    assert_eq!(said, format!("server {ip} of job '{JOB}' is disabled already\n"));
    let why = operator.says(&["why", JOB]).await;
    assert!(why.contains("! all its servers are disabled"), "{why}");
    assert!(operator.fails(1, &["trigger", JOB]).await.contains("enable one"));
    assert!(operator.fails(1, &["trigger", JOB, "--server", &ip]).await.contains("is disabled; enable it"));
    operator.says(&["enable", "--job", JOB]).await;
    assert!(
        operator.fails(1, &["trigger", "--server", "203.0.113.1"]).await.contains("no instance is online on server")
    );
    let triggered = operator.json(&["trigger", JOB, "--server", &ip]).await;
    let asked = ["changed", "unchanged"].map(|list| triggered[list].as_array().map_or(0, Vec::len));
    assert_eq!(asked.iter().sum::<usize>(), 2, "{triggered}");
    runs_are_of_the_trace_of_the_command(&operated, operator.called_by(CALLER)).await;
    let operator = CommandLine::new(server.connect_string(), "command-line");
    let servers = operator.json(&["servers", "--job", JOB]).await;
    assert_eq!((&servers[0]["server"], &servers[0]["status"]), (&ip.as_str().into(), &"ENABLED".into()));
    operator.says(&["disable", "--job", JOB, "--item", "1"]).await;
    let why = operator.says(&["why", JOB, "1"]).await;
    assert!(why.contains("item 1\n  ! the item is disabled (since ") && !why.contains("item 0"), "{why}");
    let help = format!("      to fix it: elasticjob enable --job {JOB} --item 1\n");
    assert!(why.contains(&help), "{why}");
    let told = operator.json(&["why", JOB, "1"]).await;
    let disabled = &told["items"][0]["findings"][0];
    assert_eq!((&disabled["code"], &disabled["arguments"]["item"]), (&"item-disabled".into(), &1.into()), "{told}");
    let since = disabled["since"].as_i64().expect("a time");
    assert!(since.abs_diff(now_us() / 1_000) < 60_000, "{told}");
    operator.says(&["enable", "--job", JOB, "--item", "1"]).await;
    assert!(operator.fails(1, &["disable", "--job", JOB, "--item", "9"]).await.contains("its items are 0 to 3"));

    // The configuration, which running instances follow.
    let changed = now_us() / 1_000;
    let said = operator.says(&["config", "set", JOB, "sharding-total-count=6", "cron=0/2 * * * * ?"]).await;
    assert!(said.contains("sharding-total-count: '4' -> '6'") && said.contains("-> '0/2 * * * * ?'"), "{said}");
    operated.split(6, &operated.pids, changed).await;
    let refused =
        operator.fails(2, &["config", "set", JOB, "cron=0 0 25 * * ?", "failover=true", "monitor-execution=false"]);
    let refused = refused.await;
    assert!(refused.contains("cron: ") && refused.contains("failover: "), "{refused}");
    assert!(operator.fails(2, &["config", "set", JOB, "corn=x"]).await.contains("did you mean 'cron'?"));
    for (wrong, reason) in [
        ("cron=", "cron: it cannot be taken back"),
        ("props.mail.password=hunter2", "application.yaml"),
        ("props.streaming.process=maybe", "expected true or false"),
        ("sharding-total-count=many", "expected a whole number"),
    ] {
        let refused = operator.fails(2, &["config", "set", JOB, wrong]).await;
        assert!(refused.contains(reason) && !refused.contains("hunter2"), "{refused}");
    }
    let said = operator.says(&["config", "set", JOB, "props.http.data=hunter2"]).await;
    assert!(said.starts_with("props.http.data: added\n") && said.contains("props.http.uri.from-registry"), "{said}");
    for shown in [&["config", "get", JOB][..], &["config", "get", JOB, "--json"], &["dump", JOB]] {
        let shown = operator.says(shown).await;
        assert!(shown.contains("http.data") && !shown.contains("hunter2"), "{shown}");
    }

    // Instances.
    assert!(operator.fails(1, &["config", "remove", JOB]).await.contains("online"));
    let left = operator.json(&["shutdown", "--job", JOB]).await;
    assert_eq!(left["changed"].as_array().map(Vec::len), Some(2), "{left}");
    assert_eq!(operator.json(&["jobs", JOB]).await[0]["status"], "CRASHED");
    assert!(operator.fails(1, &["shutdown", "--job", JOB]).await.contains("no instance that is online"));

    // The dump port of an instance shows the same, as soon as the last runs are over and nothing changes any more.
    for item in 0..6 {
        operated.until(&format!("sharding/{item}/running"), |running| running.is_none()).await;
    }
    operated.until("leader/election/instance", |leader| leader.is_none()).await;
    operated.number_of("leader/election/latch", 0).await;
    let port = DumpService::new(operated.registry(), 0).listen().await.expect("a port");
    let address = port.address().to_string();
    let dumped = operator.says(&["dump", JOB, "--from", &address]).await;
    assert_eq!(dumped, operator.says(&["dump", JOB, "--hide-addresses"]).await);
    assert!(dumped.contains(&format!("/{JOB}/servers/ip1 | ENABLED\n")), "{dumped}");
    assert!(operator.fails(1, &["dump", "nobody", "--from", &address]).await.contains("there is no job 'nobody'"));
    operator.says(&["config", "remove", JOB, "--force"]).await;
    assert!(operator.fails(1, &["status", JOB]).await.contains("there is no job"));
}

const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Triggers another job, whose instance does not take it.
async fn runs_are_of_the_trace_of_the_command(operated: &Operated, operator: CommandLine) {
    let mut nodes = Transaction::new();
    for (path, data) in [
        ("/apart", ""),
        ("/apart/config", "shardingTotalCount: 1\n"),
        ("/apart/servers", ""),
        ("/apart/servers/10.0.0.1", "ENABLED"),
        ("/apart/instances", ""),
        ("/apart/instances/10.0.0.1@-@7", ""),
        ("/apart/sharding", ""),
        ("/apart/sharding/0", ""),
        ("/apart/sharding/0/instance", "10.0.0.1@-@7"),
    ] {
        let lives = path.starts_with("/apart/instances/");
        nodes.create(path, data, if lives { CreateMode::Ephemeral } else { CreateMode::Persistent });
    }
    operated.commit(nodes).await;
    operator.says(&["trigger", "apart"]).await;
    let registry = operated.registry();
    let trigger = answered(|| registry.get("/apart/trigger/10.0.0.1@-@7")).await.expect("it waits");
    assert_eq!(trigger.data.text(), Some(format!(r#"{{"traceparent":"{CALLER}"}}"#).as_str()));
    operator.says(&["config", "remove", "apart", "--force"]).await;
}

/// Takes what is written, until it is dropped.
struct Reader(mpsc::UnboundedSender<String>);

impl Write for Reader {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        let sent = self.0.send(String::from_utf8_lossy(text).into_owned());
        sent.map(|()| text.len()).map_err(|_| Error::from(ErrorKind::BrokenPipe))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub async fn watched(server: Arc<ZookeeperServer>) {
    let job = every_second(100);
    let operated = Operated::start(&server, "watched", job).await;
    let operator = CommandLine::new(server.connect_string(), "watched");
    let (sender, mut written) = mpsc::unbounded_channel();
    let watch =
        tokio::spawn(async move { operator.write(&["status", JOB, "--watch", "--json"], &mut Reader(sender)).await });
    let mut shown = async |what: &str, is_so: &dyn Fn(&Value) -> bool| {
        let seen = async {
            loop {
                let text = written.recv().await.expect("the command goes on");
                if is_so(&serde_json::from_str(&text).expect("a line of JSON")) {
                    return;
                }
            }
        };
        tokio::time::timeout(LIMIT, seen).await.unwrap_or_else(|_| panic!("never shown: {what}"));
    };
    shown("the job", &|status| status["items"][1]["status"] != "DISABLED").await;
    operated.create("sharding/1/disabled").await;
    shown("the disabled item", &|status| status["items"][1]["status"] == "DISABLED").await;
    operated.delete("sharding/1/disabled").await;
    shown("the enabled item", &|status| status["items"][1]["status"] != "DISABLED").await;
    drop(written);
    let (code, stderr) = tokio::time::timeout(LIMIT, watch).await.expect("it ends").expect("it does not panic");
    assert_eq!((code, stderr.as_str()), (0, ""), "nobody reads it any more");
}

pub async fn mistyped(server: Arc<ZookeeperServer>) {
    let operated = Operated::start_apart(&server, "typed/right", every_second(100)).await;
    let error = CommandLine::new(server.connect_string(), "typed/rihgt").fails(1, &["jobs"]).await;
    assert!(error.contains("has no namespace 'typed/rihgt'"), "{error}");
    // What there is in the namespace above.
    let config = ZookeeperBackend::new(server.clone(), "typed").onlooker();
    let center = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects");
    let names = answered(|| center.children("/")).await;
    assert_eq!(names.as_deref(), Some(&["right".to_owned()][..]));
    drop(operated);
}

#[cfg(feature = "databases")]
pub async fn recorded(server: Arc<ZookeeperServer>) {
    let operated = Operated::start(&server, "recorded", every_second(100)).await;
    let database = elasticjob_tests::databases::Database::file().await;
    let operator = CommandLine::new(server.connect_string(), "recorded").traced_to(database.url());
    operator.says(&["disable", "--job", JOB, "--item", "1", "--reason", "disk full"]).await;
    operator.says(&["config", "set", JOB, "description=night"]).await;
    assert!(operator.fails(1, &["disable", "--job", JOB, "--item", "99"]).await.contains("no item 99"));
    let at = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let told = operator.says(&["why", JOB, "--at", &at]).await;
    // The command line has no environment here: the user is that of the process.
    let own = std::process::Command::new("id").arg("-un").output().expect("id runs");
    let by = format!(" operator {}@", String::from_utf8_lossy(&own.stdout).trim());
    for part in [
        "disable-item item 1, ENABLED -> DISABLED: disk full\n",
        "update-configuration description: '' -> 'night'\n",
        "disable-item (refused: job 'operated' has no item 99",
    ] {
        assert!(told.contains(&by) && told.contains(part), "{part}: {told}");
    }

    // Operators can act while the database is away.
    let away = CommandLine::new(server.connect_string(), "recorded").traced_to("postgres://127.0.0.1:1/none");
    let mut stdout = Vec::new();
    let (code, stderr) = away.write(&["enable", "--job", JOB, "--item", "1"], &mut stdout).await;
    assert_eq!((code, stdout.is_empty()), (0, false), "{stderr}");
    assert!(stderr.starts_with("warning: this action is not recorded in the decision log: "), "{stderr}");
    drop(operated);
}
