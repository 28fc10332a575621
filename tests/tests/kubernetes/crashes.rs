//! Requests and answers that are lost, and schedulers that are killed at that moment.

use std::sync::Arc;
use std::time::Duration;

use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::kubernetes::{Cluster, Fault, Gateway};
use elasticjob_tests::scheduler::SchedulerProcess;
use elasticjob_tests::zookeeper::ZookeeperServer;
use hyper::Method;
use serde_json::{Value, json};

use crate::killed::{ITEMS, SCRIPT, check, program, until_ended};
use crate::support::{LIMIT, until_so};

const PODS: &str = "/api/v1/namespaces/default/pods";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";

/// A fault at a point of the life of a launch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crash {
    /// The name of the test, and of its job.
    pub(crate) name: &'static str,
    at: At,
    fault: Fault,
    /// Whether the scheduler is killed at that moment, and another one goes on.
    kills: bool,
    failover: bool,
}

/// The request that the fault is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Launch,
    /// The one that asks a pod to end.
    Stop,
    /// The one that removes what has ended.
    Removal,
}

impl At {
    fn request(self) -> (Method, &'static str) {
        match self {
            Self::Launch => (Method::POST, "jobs"),
            Self::Stop => (Method::PATCH, "pods"),
            Self::Removal => (Method::DELETE, "jobs"),
        }
    }
}

pub(crate) const ALL: [Crash; 9] = {
    use Fault::{AnswerLost, Late, RequestLost};
    const fn crash(name: &'static str, at: At, fault: Fault, kills: bool, failover: bool) -> Crash {
        Crash { name, at, fault, kills, failover }
    }
    [
        crash("a_scheduler_that_dies_before_its_request_runs_it_once", At::Launch, RequestLost, true, true),
        // It may have run: the scheduler had noted that it launches.
        crash(
            "a_scheduler_that_dies_before_its_request_loses_it_without_failover",
            At::Launch,
            RequestLost,
            true,
            false,
        ),
        crash("a_scheduler_that_dies_after_its_request_runs_it_once", At::Launch, AnswerLost, true, false),
        crash("a_request_that_arrives_after_the_takeover_runs_nothing", At::Launch, Late, true, true),
        crash("a_request_that_is_lost_is_sent_again", At::Launch, RequestLost, false, false),
        crash("a_request_whose_answer_is_lost_runs_it_once", At::Launch, AnswerLost, false, false),
        crash("a_scheduler_that_dies_before_it_asks_an_item_to_end_leaves_none", At::Stop, RequestLost, true, false),
        crash("a_scheduler_that_dies_when_it_has_asked_an_item_to_end_leaves_none", At::Stop, AnswerLost, true, false),
        crash("a_scheduler_that_dies_before_it_removes_a_launch_leaves_none", At::Removal, RequestLost, true, false),
    ]
};

pub(crate) async fn play(crash: Crash, cluster: Arc<Cluster>, server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("crashes").unwrap();
    let gateway = Gateway::start(&cluster, crash.at.request(), crash.fault).await.unwrap();
    let first = program(gateway.kubeconfig(), &server, &folder, crash.name).start();
    let program = program(cluster.kubeconfig(), &server, &folder, crash.name);
    register(&first, crash);
    until_so(&program, "the job is triggered", || {
        first.call("POST", "/api/job/trigger", crash.name).is_ok_and(|(status, _)| status == 200)
    })
    .await;
    match crash.at {
        At::Launch => {}
        At::Stop => {
            until_so(&program, "all items run", || program.noted("begun") == ITEMS).await;
            assert_eq!(objects(&cluster, PODS, crash.name, is_alive).await, ITEMS);
            first.done("POST", &format!("/api/job/{}/disable", crash.name), "");
        }
        At::Removal => {
            until_ended(&program, ITEMS).await;
            assert_eq!(objects(&cluster, JOBS, crash.name, |_| true).await, 1);
            first.done("DELETE", &format!("/api/job/{}/deregister", crash.name), "");
        }
    }
    let met = tokio::time::timeout(LIMIT, gateway.met()).await;
    assert!(met.is_ok(), "no request met the fault\n{}", program.logs());
    let _goes_on = if crash.kills {
        drop(first);
        program.start()
    } else {
        gateway.go_on();
        first
    };
    match crash.at {
        At::Launch if crash.kills && crash.fault == Fault::RequestLost && !crash.failover => {
            let told = || program.logs().matches("does not know it; with `failover`").count() >= ITEMS;
            until_so(&program, "the items are lost", told).await;
            assert_eq!(program.lines("runs"), [""; 0]);
        }
        At::Launch => {
            if crash.fault == Fault::Late {
                until_so(&program, "another scheduler has launched it", || program.noted("begun") == ITEMS).await;
                // The Job of that name is there already.
                assert_eq!(gateway.arrive().await, Ok(409));
            }
            until_ended(&program, ITEMS).await;
            check(&program);
            assert_eq!(program.noted("begun"), ITEMS);
        }
        At::Stop => {
            no_more(&cluster, PODS, crash.name, is_alive).await;
            assert_eq!((program.noted("begun"), program.noted("ended")), (ITEMS, 0), "{}", program.logs());
        }
        At::Removal => no_more(&cluster, JOBS, crash.name, |_| true).await,
    }
}

fn register(scheduler: &SchedulerProcess, crash: Crash) {
    let script = if crash.at == At::Stop { SCRIPT.replace("sleep 2", "sleep 600") } else { SCRIPT.to_owned() };
    let app = json!({ "appName": crash.name, "appURL": "oci://localhost/box:1", "bootstrapScript": script, "cpuCount": 0, "memoryMB": 16 });
    let job = json!({ "jobName": crash.name, "appName": crash.name, "jobExecutionType": "TRANSIENT", "cpuCount": 0.01, "memoryMB": 16,
                      "shardingTotalCount": ITEMS, "failover": crash.failover, "gracePeriodSeconds": 1 });
    scheduler.register(&app, &job);
}

fn is_alive(pod: &Value) -> bool {
    matches!(pod["status"]["phase"].as_str(), Some("Pending" | "Running"))
}

/// How many objects of a job there are that count.
async fn objects(cluster: &Cluster, path: &str, job: &str, counts: impl Fn(&Value) -> bool) -> usize {
    let (status, answer) = cluster.api().send("GET", path, None).await;
    assert_eq!(status, 200, "{answer}");
    let objects = answer["items"].as_array().unwrap().iter();
    objects.filter(|object| object["metadata"]["annotations"]["elasticjob/job"] == job && counts(object)).count()
}

/// Waits until none of them is left.
async fn no_more(cluster: &Cluster, path: &str, job: &str, counts: impl Fn(&Value) -> bool + Copy) {
    let gone = async {
        while objects(cluster, path, job, counts).await > 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    assert!(tokio::time::timeout(LIMIT, gone).await.is_ok(), "objects of {job} are left in {path}");
}
