//! Commands on a registry of this process.

use std::io;
use std::sync::Arc;

use elasticjob::registry::memory::{MemoryRegistry, MemoryRegistryCenter};
use elasticjob::registry::{CreateMode, RegistryCenter, SessionState, Transaction};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::{Duration, timeout};

use super::*;

/// Everything that a test waits for happens within this time, or never.
const LIMIT: Duration = Duration::from_secs(20);

const CONFIG: &str = "cron: 0 0 0 1 1 ?\nshardingTotalCount: 1\ntimeZone: GMT\n";

/// A registry with a job, and the session of its instance.
struct Group {
    registry: MemoryRegistry,
    instance: MemoryRegistryCenter,
}

/// A job with one instance.
async fn group(config: &str) -> Group {
    let registry = MemoryRegistry::new();
    let mut nodes = Transaction::new();
    for (path, data) in [
        ("/tick", ""),
        ("/tick/config", config),
        ("/tick/servers", ""),
        ("/tick/servers/10.0.0.1", "ENABLED"),
        ("/tick/instances", ""),
        ("/tick/instances/10.0.0.1@-@7", ""),
        ("/tick/sharding", ""),
        ("/tick/sharding/0", ""),
        ("/tick/sharding/0/instance", "10.0.0.1@-@7"),
    ] {
        let lives = path.starts_with("/tick/instances/");
        nodes.create(path, data, if lives { CreateMode::Ephemeral } else { CreateMode::Persistent });
    }
    let instance = registry.connect();
    instance.commit(nodes).await.unwrap();
    Group { registry, instance }
}

/// The output of a command, or the exit code and the text of its failure.
async fn says(group: &Group, arguments: &[&str]) -> Result<String, (u8, String)> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut console = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
    let request = CancelRequest::new("alice", "wrong input");
    let as_json = arguments.contains(&"--json");
    let done = on_registry(command(arguments), &operations(group), &request, as_json, &mut console).await;
    done.map_err(|failure| (failure.exit_code(), failure.to_string()))
}

fn command(arguments: &[&str]) -> RegistryCommand {
    let arguments = Arguments::try_parse_from(["elasticjob"].iter().chain(arguments)).unwrap();
    let Command::OnRegistry(command) = arguments.command else { panic!("{arguments:?}") };
    command
}

fn operations(group: &Group) -> Operations {
    Operations::new(Arc::new(group.registry.connect()))
}

#[tokio::test]
async fn a_configuration_that_cannot_be_read_is_said_and_how_to_repair_it() {
    let group = group("cron: [").await;
    let status = says(&group, &["status", "tick"]).await.unwrap();
    for part in [
        "status     CONFIGURATION_REFUSED\n",
        "fires      not known: its configuration cannot be used\n",
        "! its configuration in the registry center cannot be used: ",
    ] {
        assert!(status.contains(part), "{status}");
    }
    for arguments in [&["config", "get", "tick"][..], &["config", "set", "tick", "failover=true"]] {
        let (code, error) = says(&group, arguments).await.unwrap_err();
        assert_eq!(code, 1, "{error}");
        for part in ["`elasticjob dump tick`", "`overwrite: true`", "`elasticjob config remove --force tick`"] {
            assert!(error.contains(part), "{error}");
        }
    }
}

#[tokio::test]
async fn a_node_is_written_with_its_children_page_by_page_and_without_its_secrets() {
    let group = group(&format!("{CONFIG}props:\n  mail.password: hunter2\n")).await;
    let job = says(&group, &["nodes", "/tick"]).await.unwrap();
    assert!(job.starts_with("/tick: 0 bytes, version 0, created ") && job.contains("\nNODE "), "{job}");
    let names: Vec<&str> = job.lines().skip(2).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["/tick/config", "/tick/instances", "/tick/servers", "/tick/sharding"], "{job}");
    let configuration = says(&group, &["nodes", "/tick/config"]).await.unwrap();
    assert!(configuration.contains("\n  cron: 0 0 0 1 1 ?\n") && !configuration.contains("NODE"), "{configuration}");
    assert!(!configuration.contains("hunter2"), "{configuration}");
    let instance = says(&group, &["nodes", "/tick/instances"]).await.unwrap();
    let line = instance.lines().last().unwrap();
    assert!(line.starts_with("/tick/instances/10.0.0.1@-@7 ") && !line.ends_with('-'), "it has a session: {instance}");
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut console = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
    let request = CancelRequest::new("alice", "");
    let page = command(&["nodes", "/tick", "--after", "config", "--limit", "2"]);
    let page = on_registry(page, &operations(&group), &request, true, &mut console).await.unwrap();
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    let paths: Vec<_> = page["children"].as_array().unwrap().iter().map(|child| child["path"].clone()).collect();
    assert_eq!(paths, ["/tick/instances", "/tick/servers"]);
    assert_eq!((&page["next"], &page["total"]), (&"servers".into(), &4.into()), "{page}");
    let next = says(&group, &["nodes"]).await.unwrap();
    assert!(next.starts_with("/: ") && next.contains("\n/tick "), "{next}");
    let (code, error) = says(&group, &["nodes", "/none"]).await.unwrap_err();
    assert!(code == 1 && error.contains("no node \"/none\""), "{error}");
}

#[tokio::test]
async fn a_wrong_value_is_wrong_usage_whoever_finds_it() {
    let group = group(CONFIG).await;
    for wrong in [
        "sharding-total-count=many",
        "sharding-total-count=0",
        "cron=x",
        "cron=",
        "failover=perhaps",
        "job-error-handler-type=EMAIL",
    ] {
        let (code, error) = says(&group, &["config", "set", "tick", wrong]).await.unwrap_err();
        assert_eq!(code, 2, "{wrong}: {error}");
    }
    let before = says(&group, &["config", "get", "tick"]).await.unwrap();
    let tried = says(&group, &["config", "set", "tick", "--dry-run", "description=night"]).await.unwrap();
    assert!(tried.contains("description: '' -> 'night'\n"), "{tried}");
    assert!(tried.ends_with("nothing was written, because of --dry-run\n"), "{tried}");
    let tried = says(&group, &["config", "set", "tick", "--dry-run", "description=night", "--json"]).await.unwrap();
    let tried: serde_json::Value = serde_json::from_str(&tried).unwrap();
    assert_eq!((&tried["written"], tried["changes"].as_array().map(Vec::len)), (&false.into(), Some(1)), "{tried}");
    let (code, error) = says(&group, &["config", "set", "tick", "--dry-run", "cron=x"]).await.unwrap_err();
    assert!(code == 2 && error.contains("cron"), "{error}");
    assert_eq!(says(&group, &["config", "get", "tick"]).await.unwrap(), before, "nothing was written");
    let said = says(&group, &["config", "set", "tick", "job-error-handler-type=PAGER"]).await.unwrap();
    let note = "not built in, so the programs of the job have to have it: job-error-handler-type 'PAGER'\n";
    assert_eq!(said, format!("job-error-handler-type: '' -> 'PAGER'\n{note}"));
}

#[tokio::test]
async fn the_instance_of_a_run_is_told_where_the_item_has_moved_since() {
    let group = group(CONFIG).await;
    let of = async |instance: &str| {
        let record =
            format!(r#"{{"last":{{"at":1,"instance":"{instance}","attempt":"2-00000007.1","state":"RUNNING"}}}}"#);
        let mut begin = Transaction::new();
        begin.create("/tick/sharding/0/fire", record, CreateMode::Persistent);
        group.instance.commit(begin).await.unwrap();
        let said = says(&group, &["shards", "tick"]).await.unwrap();
        let mut forget = Transaction::new();
        forget.delete("/tick/sharding/0/fire", None);
        group.instance.commit(forget).await.unwrap();
        said
    };
    let moved = of("10.0.0.1@-@8").await;
    assert!(moved.contains("  RUNNING on 10.0.0.1@-@8  "), "{moved}");
    let stayed = of("10.0.0.1@-@7").await;
    assert!(stayed.contains("  RUNNING  ") && !stayed.contains(" on "), "{stayed}");
}

#[tokio::test]
async fn a_job_that_is_online_is_removed_with_the_command_that_the_error_names() {
    let group = group(CONFIG).await;
    let (code, error) = says(&group, &["config", "remove", "tick"]).await.unwrap_err();
    assert!(code == 1 && error.contains("`elasticjob config remove --force tick`"), "{error}");
}

#[tokio::test]
async fn an_address_that_no_job_knows_is_not_a_server_without_jobs() {
    let group = group(CONFIG).await;
    for as_json in [&["jobs", "--server", "10.0.0.9"][..], &["--json", "jobs", "--server", "10.0.0.9"]] {
        let (code, error) = says(&group, as_json).await.unwrap_err();
        assert!(code == 1 && error.contains("no job has any server at '10.0.0.9'"), "{error}");
    }
    let said = says(&group, &["jobs", "--server", "10.0.0.1"]).await.unwrap();
    assert!(said.contains("tick"), "{said}");
}

#[tokio::test]
async fn a_job_is_triggered_on_one_server_and_its_servers_are_listed() {
    let group = group(CONFIG).await;
    let error = says(&group, &["trigger", "tick", "--server", "10.0.0.9"]).await.unwrap_err();
    assert_eq!(error.0, 1, "{error:?}");
    let said = says(&group, &["trigger", "--server", "10.0.0.1"]).await.unwrap();
    assert_eq!(said, "triggered job 'tick' on 10.0.0.1@-@7\n");
    let said = says(&group, &["servers", "--job", "tick"]).await.unwrap();
    assert_eq!(said, "SERVER    STATUS   INSTANCES\n10.0.0.1  ENABLED  1\n");
}

/// Sends every text that is written.
struct Handed(UnboundedSender<String>);

impl Write for Handed {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let sent = self.0.send(String::from_utf8_lossy(text).into_owned());
        sent.map(|()| text.len()).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn next(written: &mut UnboundedReceiver<String>, part: &str) -> String {
    let mut all = String::new();
    let seen = async {
        while !all.contains(part) {
            all.push_str(&written.recv().await.expect("it goes on"));
        }
    };
    timeout(LIMIT, seen).await.unwrap_or_else(|_| panic!("never written: {part}"));
    all
}

/// `status --watch` of the job, with what it writes.
fn watching(
    operations: Operations,
    stdout: UnboundedSender<String>,
    stderr: UnboundedSender<String>,
) -> JoinHandle<Result<String, ()>> {
    tokio::spawn(async move {
        let (mut stdout, mut stderr) = (Handed(stdout), Handed(stderr));
        let mut console = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
        let request = CancelRequest::new("", "");
        let watch = command(&["status", "tick", "--watch"]);
        on_registry(watch, &operations, &request, false, &mut console).await.map_err(drop)
    })
}

#[tokio::test]
async fn who_watches_is_told_that_the_registry_center_is_away_and_when_each_look_was() {
    let group = group(CONFIG).await;
    let operations = operations(&group);
    let SessionState::Connected { id, .. } = *operations.registry().session().borrow() else { panic!("connected") };
    let ((stdout, mut shown), (stderr, mut told)) = (unbounded_channel(), unbounded_channel());
    let watch = watching(operations, stdout, stderr);
    let screen = next(&mut shown, "job        tick").await;
    let (at, _) = screen.split_once("\n\n").unwrap();
    assert!(chrono::DateTime::parse_from_rfc3339(at).is_ok(), "{screen}");
    for _ in 0..2 {
        group.registry.suspend(id);
        next(&mut told, "waiting for the registry center: the connection is lost\n").await;
        group.registry.resume(id);
        next(&mut shown, "job        tick").await;
    }
    drop(shown);
    let other = group.registry.connect();
    let mut change = Transaction::new();
    change.set("/tick/servers/10.0.0.1", "DISABLED", None);
    other.commit(change).await.unwrap();
    assert_eq!(timeout(LIMIT, watch).await.unwrap().unwrap(), Ok(String::new()), "nobody reads it any more");
    assert_eq!(told.recv().await, None, "it was told once each time");
}

#[tokio::test]
async fn after_a_change_only_what_changed_is_read_again() {
    let group = group(CONFIG).await;
    let operations = operations(&group);
    let center = operations.registry().clone();
    let ((stdout, mut shown), (stderr, _told)) = (unbounded_channel(), unbounded_channel());
    let watch = watching(operations, stdout, stderr);
    next(&mut shown, "job        tick").await;
    let first = center.requests().requests;
    let other = group.registry.connect();
    let mut change = Transaction::new();
    change.set("/tick/servers/10.0.0.1", "DISABLED", None);
    other.commit(change).await.unwrap();
    next(&mut shown, "job        tick").await;
    assert_eq!(center.requests().requests, first + 1, "the node of the server");
    watch.abort();
}

#[tokio::test]
async fn a_run_is_cancelled_once_and_what_does_not_run_says_so() {
    let group = group(&format!("{CONFIG}monitorExecution: true\n")).await;
    let idle = says(&group, &["cancel", "tick"]).await.unwrap_err();
    assert_eq!(idle, (1, "nothing was cancelled: job 'tick' does not run at the moment".to_owned()));
    let record = r#"{"last":{"at":1,"instance":"10.0.0.1@-@7","attempt":"2-00000007.1","state":"RUNNING"}}"#;
    let mut begin = Transaction::new();
    begin.create("/tick/sharding/0/fire", record, CreateMode::Persistent);
    begin.create("/tick/sharding/0/running", "10.0.0.1@-@7", CreateMode::Ephemeral);
    group.instance.commit(begin).await.unwrap();
    let asked = says(&group, &["cancel", "tick", "--item", "0"]).await.unwrap();
    assert_eq!(asked, "asked the run of item 0 of job 'tick' to end\n");
    let again = says(&group, &["cancel", "tick"]).await.unwrap();
    assert_eq!(again, "the run of item 0 of job 'tick' was asked to end before\n");
    let record = group.registry.connect().get("/tick/sharding/0/fire").await.unwrap().unwrap();
    let record = record.data.text().unwrap();
    assert!(record.contains(r#""cancel":{"by":"alice","reason":"wrong input"}"#), "{record}");
}

#[tokio::test]
async fn a_past_fire_is_run_again_and_what_cannot_be_says_why() {
    let group = group(&format!("{CONFIG}monitorExecution: true\n")).await;
    let other = group.registry.connect();
    let mut after = Transaction::new();
    after.create("/load", "", CreateMode::Persistent);
    let config = "shardingTotalCount: 1\nmonitorExecution: true\nprops:\n  elasticjob.depends-on: tick\n";
    after.create("/load/config", config, CreateMode::Persistent);
    after.create("/load/dependencies", r#"{"through":1}"#, CreateMode::Persistent);
    other.commit(after).await.unwrap();
    let fire = "2026-01-01T08:00+08:00";
    let asked = says(&group, &["rerun", "tick", "--fire", fire]).await.unwrap();
    assert_eq!(
        asked,
        "running the fire of 2026-01-01T00:00:00+00:00 of job 'tick' again on 10.0.0.1@-@7\nafter it, as it ends: load\n"
    );
    let trigger = other.get("/tick/trigger/10.0.0.1@-@7").await.unwrap().unwrap();
    assert!(trigger.data.text().unwrap().starts_with(r#"{"of":1767225600000,"asked":"#), "{:?}", trigger.data.text());
    let noted = other.get("/load/dependencies").await.unwrap().unwrap();
    assert!(noted.data.text().unwrap().contains(r#""from":"tick""#), "{:?}", noted.data.text());
    let again = says(&group, &["rerun", "tick", "--fire", fire]).await.unwrap_err();
    assert!(again.0 == 1 && again.1.contains("waits for 10.0.0.1@-@7"), "{again:?}");
    let none = says(&group, &["rerun", "tick", "--fire", "2026-01-01T00:00:05Z"]).await.unwrap_err();
    let nearest = "has no fire at 2026-01-01T00:00:05+00:00; nearest: 2026-01-01T00:00:00+00:00";
    assert!(none.0 == 1 && none.1.contains(nearest), "{none:?}");
    let usage = Arguments::try_parse_from(["elasticjob", "rerun", "tick", "--fire", "yesterday"]).unwrap_err();
    assert_eq!(usage.exit_code(), 2);
}
