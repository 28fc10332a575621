//! The processes of `DAEMON` jobs: what they need, and when they are started and ended.

use std::time::Duration;

use serde_json::Value;

use super::stops::until;
use super::*;
use crate::deaf_script::DEAF;

/// A job with one process whose program is this script; `$DIR` is a folder of the test.
struct Resident {
    host: Host,
    app: Arc<App>,
}

impl Resident {
    fn new(script: &str) -> Self {
        let host = Host { scratch: Scratch::new(), memory: MemoryLimit::Off };
        let app = Arc::new(host.app("resident", &format!("DIR={}\n{script}", host.scratch.path().display())));
        Self { host, app }
    }

    fn job(more: Value) -> CarriedJob {
        let mut job = json!({ "jobName": "resident", "appName": "resident", "jobExecutionType": "DAEMON",
                              "cron": "0 0 3 * * ?", "cpuCount": 0.01, "memoryMB": 16, "shardingTotalCount": 1 });
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        CarriedJob::from_json(job).unwrap()
    }

    fn daemon(&self, instances: u32, more: Value) -> Daemon {
        Daemon { app: self.app.clone(), job: Arc::new(Self::job(more)), instances, registry_center: None }
    }

    fn lines(&self, name: &str) -> usize {
        fs::read_to_string(self.host.scratch.path().join(name)).unwrap_or_default().lines().count()
    }

    fn end(&self) {
        fs::write(self.host.scratch.path().join("end"), "").unwrap();
    }
}

impl Drop for Resident {
    /// No process outlives a test that fails.
    fn drop(&mut self) {
        let _ = fs::write(self.host.scratch.path().join("end"), "");
    }
}

async fn kept(carrier: &ProcessCarrier) -> Vec<DaemonProcess> {
    carrier.kept(&Resident::job(json!({})).job_name).await.unwrap()
}

async fn until_it_runs(carrier: &ProcessCarrier, resident: &Resident) {
    until(async || {
        let state = kept(carrier).await.pop().map(|process| process.state);
        matches!(state, Some(ItemState::Running { since: 1.., .. })) && resident.lines("runs") == 1
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_ends_with_the_grace_that_is_registered_by_then() {
    let resident = Resident::new(DEAF);
    let carrier = resident.host.connect();
    carrier.keep(resident.daemon(1, json!({ "gracePeriodSeconds": 0 }))).await.unwrap();
    until_it_runs(&carrier, &resident).await;
    let patient = json!({ "gracePeriodSeconds": 3_600 });
    carrier.keep(resident.daemon(1, patient.clone())).await.unwrap();
    carrier.keep(resident.daemon(0, patient)).await.unwrap();
    // Without a grace it is killed, and not asked.
    until(async || resident.lines("asked") == 1).await;
    resident.end();
    until(async || kept(&carrier).await.is_empty()).await;
    assert_eq!(resident.lines("runs"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_is_not_wanted_any_more_is_not_fetched_to_the_end_and_never_begins() {
    let resident = Resident::new(DEAF);
    let carrier = resident.host.connect();
    // A web server that takes a request, and has no answer.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/a.sh", silent.local_addr().unwrap());
    let app =
        json!({ "appName": "resident", "appURL": url, "bootstrapScript": "./a.sh", "cpuCount": 0, "memoryMB": 16 });
    let daemon = Daemon { app: Arc::new(App::from_json(app).unwrap()), ..resident.daemon(1, json!({})) };
    carrier.keep(daemon.clone()).await.unwrap();
    let _request = silent.accept().await.unwrap();
    // The same again changes nothing.
    carrier.keep(daemon.clone()).await.unwrap();
    assert_eq!(kept(&carrier).await, []);
    carrier.keep(resident.daemon(1, json!({}))).await.unwrap();
    // The fetch alone would take longer.
    tokio::time::timeout(Duration::from_secs(20), until_it_runs(&carrier, &resident)).await.unwrap();
    resident.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_another_scheduler_started_takes_room_as_long_as_it_lives() {
    let resident = Resident::new(DEAF);
    let first = resident.host.connect();
    first.keep(resident.daemon(1, json!({}))).await.unwrap();
    until_it_runs(&first, &resident).await;
    drop(first);
    let next = resident.host.connect();
    let total = next.shared.budget.total();
    next.keep(resident.daemon(1, json!({}))).await.unwrap();
    let is_taken = || {
        let free = next.shared.budget.free();
        total.millicpus - free.millicpus == 10 && total.megabytes - free.megabytes == 32
    };
    until(async || is_taken()).await;
    next.keep(resident.daemon(0, json!({}))).await.unwrap();
    until(async || resident.lines("asked") == 1).await;
    assert!(is_taken(), "it still lives");
    resident.end();
    until(async || kept(&next).await.is_empty()).await;
    assert_eq!(next.shared.budget.free(), total);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_package_that_is_not_to_be_kept_is_fetched_for_each_start() {
    let resident = Resident::new("echo one >>$DIR/versions");
    let mut app = App::clone(&resident.app);
    app.app_cache_enable = false;
    let carrier = resident.host.connect();
    carrier.keep(Daemon { app: Arc::new(app), ..resident.daemon(1, json!({})) }).await.unwrap();
    until(async || resident.lines("versions") > 0).await;
    let later = resident.host.app("later", &format!("echo two >>{}/versions", resident.host.scratch.path().display()));
    let (later, file) = (later.app_url.replace("file://", ""), resident.app.app_url.replace("file://", ""));
    fs::rename(later, file).unwrap();
    let versions = || fs::read_to_string(resident.host.scratch.path().join("versions")).unwrap();
    until(async || versions().ends_with("two\n")).await;
    carrier.keep(resident.daemon(0, json!({}))).await.unwrap();
    until(async || kept(&carrier).await.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_cannot_begin_has_not_ended() {
    let resident = Resident::new(DEAF);
    let carrier = resident.host.connect();
    let app = json!({ "appName": "resident", "appURL": "file:///no/such/file.sh", "bootstrapScript": "./file.sh" });
    let app = Arc::new(App::from_json(app).unwrap());
    carrier.keep(Daemon { app, ..resident.daemon(1, json!({})) }).await.unwrap();
    let mut why = String::new();
    // The pause after the second attempt.
    until(async || match kept(&carrier).await.pop() {
        Some(DaemonProcess { state: ItemState::Waiting { why: told, .. }, restarts, .. }) => {
            assert_eq!(restarts, 0, "{told}");
            why = told;
            why.ends_with("it is tried again in 2 s")
        }
        _ => false,
    })
    .await;
    assert!(why.starts_with("it cannot begin: '/no/such/file.sh' cannot be read"), "{why}");
}

#[tokio::test]
async fn a_job_whose_processes_need_more_than_the_host_has_is_refused() {
    let resident = Resident::new(DEAF);
    let options = ProcessOptions::new(resident.host.scratch.path().join("work"), "tests");
    let carrier = ProcessCarrier::new(ProcessOptions { cpus: Some(2.0), ..options }).unwrap();
    let problems = |more: Value| {
        let mut of = json!({ "shardingTotalCount": 4, "cpuCount": 1 });
        of.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        carrier.check(&resident.app, &Resident::job(of))
    };
    let wrong = problems(json!({ "instances": 1 }));
    assert_eq!(wrong.iter().map(|problem| problem.field.as_str()).collect::<Vec<_>>(), ["cpuCount"]);
    assert!(
        wrong[0].reason.as_str().contains("with 4 items") && wrong[0].reason.as_str().contains("4 CPU"),
        "{wrong:?}"
    );
    for fits in [json!({ "instances": 2 }), json!({ "instances": 0 }), json!({})] {
        assert_eq!(problems(fits), []);
    }
}
