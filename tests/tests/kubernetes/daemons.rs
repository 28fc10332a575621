//! The process of a `DAEMON` job, with schedulers that are killed or frozen, and what others do to its StatefulSet.

use std::sync::Arc;
use std::time::Duration;

use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::kubernetes::{Cluster, Fault, Gateway};
use elasticjob_tests::scheduler::{SchedulerProcess, SchedulerProgram};
use elasticjob_tests::zookeeper::ZookeeperServer;
use hyper::Method;
use serde_json::{Value, json};

use crate::killed::program;
use crate::support::{LIMIT, until_so};

/// Notes its begin and its end in a folder of the host.
fn app(name: &str, version: u32) -> Value {
    let script = format!(
        "sh -c 'trap \"echo ended {version} >>/notes/runs; exit 0\" TERM; echo begun {version} >>/notes/runs; \
         while :; do sleep 0.1; done'"
    );
    json!({ "appName": name, "appURL": "oci://localhost/box:1", "bootstrapScript": script, "cpuCount": 0, "memoryMB": 16 })
}

/// Registers the job, with one process.
fn register(scheduler: &SchedulerProcess, name: &str) {
    let job = json!({ "jobName": name, "appName": name, "jobExecutionType": "DAEMON", "cron": "0 0 3 1 1 ?", "cpuCount": 0.01,
                      "memoryMB": 16, "shardingTotalCount": 1, "gracePeriodSeconds": 5 });
    scheduler.register(&app(name, 1), &job);
}

/// Gives the process another version.
fn change(scheduler: &SchedulerProcess, name: &str, version: u32) {
    scheduler.done("PUT", "/api/app", &app(name, version).to_string());
}

pub(crate) async fn of_killed_schedulers(cluster: Arc<Cluster>, server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("killed-daemons").unwrap();
    let name = "killed-daemons";
    let program = program(cluster.kubeconfig(), &server, &folder, name);
    let mut schedulers = vec![program.start(), program.start()];
    register(&schedulers[0], name);
    until_lines(&program, &in_turn(1)).await;
    for version in 2..=4 {
        // From the second time on, the oldest scheduler keeps the process: the others came later.
        drop(schedulers.remove(0));
        // Another one keeps it: what changes is done.
        change(&schedulers[0], name, version);
        until_lines(&program, &in_turn(version)).await;
        schedulers.push(program.start());
    }
    end(&program, &schedulers[0], name, 4).await;
}

pub(crate) async fn of_frozen_schedulers(cluster: Arc<Cluster>, server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("frozen-daemons").unwrap();
    let name = "frozen-daemons";
    let program = program(cluster.kubeconfig(), &server, &folder, name);
    let schedulers = [program.start(), program.start()];
    register(&schedulers[0], name);
    until_lines(&program, &in_turn(1)).await;
    for version in 2..=5 {
        let [frozen, other] = if version % 2 == 0 { [0, 1] } else { [1, 0] };
        schedulers[frozen].freeze();
        // The other one keeps it when the session of the frozen one has ended, unless it keeps it already.
        change(&schedulers[other], name, version);
        until_lines(&program, &in_turn(version)).await;
        // The thawed one has the version of before in mind.
        schedulers[frozen].thaw();
        until_so(&program, "the thawed one lists it", || schedulers[frozen].listed() == 1).await;
    }
    end(&program, &schedulers[0], name, 5).await;
}

/// A request that was on its way arrives when the next scheduler has changed the process: it is changed back.
pub(crate) async fn with_a_late_request(cluster: Arc<Cluster>, server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("late-daemons").unwrap();
    let name = "late-daemons";
    let gateway = Gateway::start(&cluster, (Method::PATCH, "statefulsets"), Fault::Late).await.unwrap();
    let first = program(gateway.kubeconfig(), &server, &folder, name).start();
    let program = program(cluster.kubeconfig(), &server, &folder, name);
    register(&first, name);
    let met = tokio::time::timeout(LIMIT, gateway.met()).await;
    assert!(met.is_ok(), "no request met the fault\n{}", program.logs());
    drop(first);
    let second = program.start();
    until_lines(&program, &in_turn(1)).await;
    change(&second, name, 2);
    until_lines(&program, &in_turn(2)).await;
    assert_eq!(gateway.arrive().await, Ok(200));
    let set = set_of(&cluster, name).await;
    until_is(&cluster, &set, "it is changed back", |set| set.to_string().contains("echo begun 2")).await;
    second.done("DELETE", &format!("/api/job/{name}/deregister"), "");
    until_so(&program, "it is ended", || program.noted("begun") == program.noted("ended")).await;
}

/// An administrator removes what the scheduler made, or changes it.
pub(crate) async fn of_another_hand(cluster: Arc<Cluster>, server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("other-hands").unwrap();
    let name = "other-hands";
    let program = program(cluster.kubeconfig(), &server, &folder, name);
    let scheduler = program.start();
    register(&scheduler, name);
    until_lines(&program, &in_turn(1)).await;
    let path = set_of(&cluster, name).await;
    let (status, answer) = cluster.api().send("DELETE", &path, None).await;
    assert_eq!(status, 200, "{answer}");
    until_so(&program, "it is made again", || program.noted("begun") == 2).await;
    let none = json!({ "apiVersion": "apps/v1", "kind": "StatefulSet", "spec": { "replicas": 0 } });
    let (status, answer) =
        cluster.api().send("PATCH", &format!("{path}?fieldManager=tests&force=true"), Some(&none)).await;
    assert_eq!(status, 200, "{answer}");
    until_is(&cluster, &path, "it is scaled again", |set| set["spec"]["replicas"] == 1).await;
    // Its process may not have heard of it.
    until_so(&program, "it runs", || program.noted("begun") == program.noted("ended") + 1).await;
    scheduler.done("DELETE", &format!("/api/job/{name}/deregister"), "");
    until_so(&program, "it is ended", || program.noted("begun") == program.noted("ended")).await;
}

/// Waits until an object of the cluster is so.
async fn until_is(cluster: &Cluster, path: &str, what: &str, is: impl Fn(&Value) -> bool) {
    let waiting = async {
        while !is(&cluster.api().send("GET", path, None).await.1) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    assert!(tokio::time::timeout(LIMIT, waiting).await.is_ok(), "not in time: {what}");
}

/// The path of the StatefulSet of a job.
async fn set_of(cluster: &Cluster, job: &str) -> String {
    let all = "/apis/apps/v1/namespaces/default/statefulsets";
    let (status, answer) = cluster.api().send("GET", all, None).await;
    assert_eq!(status, 200, "{answer}");
    let mut sets = answer["items"].as_array().unwrap().iter();
    let set = sets.find(|set| set["metadata"]["annotations"]["elasticjob/job"] == job).unwrap();
    format!("{all}/{}", set["metadata"]["name"].as_str().unwrap())
}

/// The notes of these versions, of which each began when the one before had ended.
fn in_turn(versions: u32) -> Vec<String> {
    let before = (1..versions).flat_map(|version| [format!("begun {version}"), format!("ended {version}")]);
    before.chain([format!("begun {versions}")]).collect()
}

/// Removes the job. Each of these versions has run once.
async fn end(program: &SchedulerProgram, scheduler: &SchedulerProcess, name: &str, versions: u32) {
    scheduler.done("DELETE", &format!("/api/job/{name}/deregister"), "");
    let mut all = in_turn(versions);
    all.push(format!("ended {versions}"));
    until_lines(program, &all).await;
}

async fn until_lines(program: &SchedulerProgram, lines: &[String]) {
    until_so(program, &format!("{lines:?}"), || program.lines("runs") == lines).await;
}
