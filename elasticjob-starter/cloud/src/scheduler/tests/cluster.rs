//! Schedulers of tests, on one registry center.

use std::fs;
use std::future::Future;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::fire::{FireRecord, FireState};
use elasticjob::ident::JobName;
use elasticjob::operations::{Operations, Target};
use elasticjob::registry::RegistryCenter;
#[cfg(feature = "kubernetes")]
use elasticjob::registry::SessionState;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::runtime::JobEnvironment;
use serde_json::{Value, json};

use super::UNTIL_TOLD;
use crate::carrier::{Carrier, LaunchId};
use crate::process::{ProcessCarrier, ProcessOptions};
use crate::scheduler::{Scheduler, SchedulerOptions};
use crate::scratch::Scratch;

/// Schedulers on one registry center.
pub(super) struct Cluster {
    pub(super) registry: MemoryRegistry,
    pub(super) scratch: Scratch,
}

/// A scheduler with its connection.
pub(super) struct Member {
    pub(super) scheduler: Scheduler,
    pub(super) center: Arc<dyn RegistryCenter>,
}

impl Cluster {
    pub(super) fn new() -> Self {
        Self { registry: MemoryRegistry::new(), scratch: Scratch::new() }
    }

    /// A scheduler of this host.
    pub(super) async fn scheduler(&self, host: &str) -> Member {
        let carrier = ProcessCarrier::new(ProcessOptions::new(self.scratch.path().join(host), "tests")).unwrap();
        self.scheduler_with(Arc::new(carrier)).await
    }

    pub(super) async fn scheduler_with(&self, carrier: Arc<dyn Carrier>) -> Member {
        self.scheduler_of(carrier, |_| {}).await
    }

    pub(super) async fn scheduler_of(
        &self,
        carrier: Arc<dyn Carrier>,
        set: impl FnOnce(&mut SchedulerOptions),
    ) -> Member {
        let environment = JobEnvironment::builder().build().unwrap();
        let center: Arc<dyn RegistryCenter> = Arc::new(self.registry.connect());
        let mut options = SchedulerOptions::new(environment, center.clone(), carrier);
        set(&mut options);
        Member { scheduler: Scheduler::start(options).await.unwrap(), center }
    }

    /// Cuts a scheduler off from its registry center for good, as `kill -9` does.
    #[cfg(feature = "kubernetes")]
    pub(super) fn kill(&self, member: &Member) {
        let SessionState::Connected { id, .. } = *member.center.session().borrow() else { panic!("it has no session") };
        self.registry.suspend(id);
        self.registry.expire(id);
    }

    /// Has a scheduler run the job `long`, which goes on until it is told to end.
    pub(super) async fn run_long(&self, member: &Member) {
        member.register(self.app("long", UNTIL_TOLD), job("long", "long", json!({}))).await;
        member.trigger("long").await;
        until("it runs", || async { self.lines("runs").len() == 1 }).await;
    }

    /// A scheduler of this host that has ended while its job `long` runs on.
    pub(super) async fn left_running(&self, host: &str) -> Member {
        let first = self.scheduler(host).await;
        self.run_long(&first).await;
        first.scheduler.shutdown().await;
        assert_eq!(first.running("long").await, 1, "it goes on");
        first
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// An application whose program is this script; `$DIR` is a folder of the test.
    pub(super) fn app(&self, name: &str, script: &str) -> Value {
        let file = self.file(&format!("{name}.sh"));
        fs::write(&file, format!("#!/bin/sh\nDIR={}\n{script}\n", self.scratch.path().display())).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        json!({ "appName": name, "appURL": format!("file://{}", file.display()), "bootstrapScript": format!("{name}.sh"),
                "cpuCount": 0, "memoryMB": 16 })
    }

    pub(super) fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.file(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

pub(super) fn job(name: &str, app: &str, more: Value) -> Value {
    let mut job = json!({ "jobName": name, "appName": app, "jobExecutionType": "TRANSIENT", "cpuCount": 0.01, "memoryMB": 32,
                          "shardingTotalCount": 1, "gracePeriodSeconds": 1 });
    if let (Value::Object(fields), Value::Object(more)) = (&mut job, more) {
        fields.extend(more);
    }
    job
}

pub(super) fn name(name: &str) -> JobName {
    JobName::new(name).unwrap()
}

/// The most that [`until`] waits: the pauses of a `DAEMON` process that ends double, and a busy machine adds to each of them.
pub(super) const MOST: Duration = Duration::from_secs(180);

/// Waits until something is so.
pub(super) async fn until<F: Future<Output = bool>>(what: &str, is: impl FnMut() -> F) {
    assert!(is_within(is).await, "not within {MOST:?}: {what}");
}

/// Whether something is so within the time that is waited.
async fn is_within<F: Future<Output = bool>>(mut is: impl FnMut() -> F) -> bool {
    let waiting = async {
        while !is().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(MOST, waiting).await.is_ok()
}

impl Member {
    /// Waits until something is so of a job; else tells how its item 0 stands.
    pub(super) async fn until_of<F: Future<Output = bool>>(&self, job: &str, what: &str, is: impl FnMut() -> F) {
        if is_within(is).await {
            return;
        }
        let record = self.record(job).await;
        let fire = record.as_ref().and_then(FireRecord::last_fire);
        let id = fire.map(|fire| LaunchId { job: name(job), fire });
        let waiting = id.as_ref().map(|id| self.scheduler.launches.waiting(id));
        let states = match &id {
            Some(id) => Some(self.scheduler.carrier().states(id).await),
            None => None,
        };
        let launches = self.scheduler.carrier().launches().await;
        let troubles = self.scheduler.troubles();
        let triggers = self.center.children(&format!("/{job}/trigger")).await;
        panic!(
            "not within {MOST:?}: {what}\nrecord {record:?}\nwaiting {waiting:?}\nstates {states:?}\nlaunches {launches:?}\n\
             troubles {troubles:?}\ntriggers {triggers:?}"
        );
    }

    pub(super) fn operations(&self) -> Operations {
        self.scheduler.operations()
    }

    pub(super) async fn register(&self, app: Value, job: Value) {
        self.scheduler.store().add_app(app).await.unwrap();
        let name = job["jobName"].as_str().unwrap().to_owned();
        self.scheduler.store().add_job(job).await.unwrap();
        self.until_online(&name, 1).await;
    }

    /// Waits until a job has so many instances.
    pub(super) async fn until_online(&self, job: &str, instances: usize) {
        until("the instances are online", || async {
            self.operations().snapshot(&name(job)).await.is_ok_and(|job| job.instances().count() >= instances)
        })
        .await;
    }

    pub(super) async fn trigger(&self, job: &str) {
        self.operations().trigger(&Target::Job(name(job))).await.unwrap();
    }

    /// The record of item 0.
    pub(super) async fn record(&self, job: &str) -> Option<FireRecord> {
        let mut snapshot = self.operations().snapshot(&name(job)).await.ok()?;
        Some(snapshot.items.remove(&0)?.record)
    }

    /// The state and the error of the last run of item 0.
    pub(super) async fn last(&self, job: &str) -> Option<(FireState, Option<String>)> {
        let last = self.record(job).await?.last?;
        Some((last.state, last.error))
    }

    pub(super) async fn until_last(&self, job: &str, state: FireState) -> Option<String> {
        let has_ended = || async { self.last(job).await.is_some_and(|(last, _)| last == state) };
        self.until_of(job, "the run has ended", has_ended).await;
        self.last(job).await.and_then(|(_, error)| error)
    }

    pub(super) async fn running(&self, job: &str) -> usize {
        let mut running = 0;
        for id in self.scheduler.carrier().launches().await.unwrap() {
            let states = self.scheduler.carrier().states(&id).await.unwrap().unwrap_or_default();
            running += states.values().filter(|state| id.job.as_str() == job && state.outcome().is_none()).count();
        }
        running
    }
}
