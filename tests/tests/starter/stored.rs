//! Jobs whose configuration in the registry center cannot be used: the others start, and they do when it is mended.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::api::Failed;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use elasticjob::runtime::{Activity, JobStatus};
use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(20);

const BAD: &str = "cron: nonsense\njobName: spoilt\nshardingTotalCount: 1\n";

#[elastic_job(
    cron = "* * * * * ?",
    sharding_total_count = 1,
    registry_center = "store",
    job_error_handler_type = "TELLS"
)]
async fn spoilt(runs: Inject<UnboundedSender<&'static str>>) {
    let _ = runs.send("spoilt");
}

#[elastic_job(cron = "* * * * * ?", sharding_total_count = 1, registry_center = "store")]
async fn sound(runs: Inject<UnboundedSender<&'static str>>) {
    let _ = runs.send("sound");
}

struct Tells(UnboundedSender<JobFailure>);

impl JobErrorHandler for Tells {
    fn type_name(&self) -> &str {
        "TELLS"
    }

    async fn handle(&self, failure: &JobFailure) -> JobResult {
        let _ = self.0.send(failure.clone());
        Ok(())
    }
}

/// A registry center that has such configurations of these jobs.
async fn spoilt_of(jobs: &[&str]) -> (MemoryRegistry, Arc<dyn RegistryCenter>) {
    let store = MemoryRegistry::new();
    let registry: Arc<dyn RegistryCenter> = Arc::new(store.connect());
    let mut before = Transaction::new();
    for job in jobs {
        before.create(format!("/{job}"), "", CreateMode::Persistent);
        before.create(format!("/{job}/config"), BAD, CreateMode::Persistent);
    }
    registry.commit(before).await.unwrap();
    (store, registry)
}

fn sources(test: &str, text: &str) -> Sources {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("starter").join("stored").join(test);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("application.yaml"), text).unwrap();
    Sources::in_folder(folder)
}

#[tokio::test]
async fn the_other_jobs_start_and_the_one_joins_when_its_configuration_is_mended() {
    let (store, registry) = spoilt_of(&["spoilt"]).await;
    let (runs, mut ran) = unbounded_channel::<&'static str>();
    let (failures, mut failed) = unbounded_channel();
    let app = ElasticJobApp::builder()
        .only_jobs_of(module_path!())
        .registry_center("store", Arc::new(store.connect()))
        .provide(runs)
        .error_handler(Tells(failures))
        .sources(sources("one", ""))
        .start()
        .await
        .unwrap();
    let mut next = async || timeout(LIMIT, ran.recv()).await.expect("a run in time").unwrap();
    assert_eq!(next().await, "sound");
    let mut status = app.schedule_job("spoiltScheduleJobBootstrap").unwrap().status();
    let why = status.borrow().refused_configuration.clone().unwrap();
    assert!(why.contains("'nonsense'"), "{why}");
    assert_eq!(status.borrow().activity, Activity::Joining);
    let failure = timeout(LIMIT, failed.recv()).await.expect("it is told in time").unwrap();
    assert_eq!(failure.what, Failed::Configuration);
    assert!(failure.to_string().contains("Job 'spoilt'") && failure.error.contains("'nonsense'"), "{failure}");

    let mut mended = Transaction::new();
    mended.set("/spoilt/config", BAD.replace("nonsense", "'* * * * * ?'"), None);
    registry.commit(mended).await.unwrap();
    while next().await != "spoilt" {}
    let is_well = |status: &JobStatus| status.refused_configuration.is_none();
    timeout(LIMIT, status.wait_for(is_well)).await.expect("it is well in time").unwrap();
    app.shutdown().await;
}

#[tokio::test]
async fn where_no_job_can_start_the_program_is_told_so_and_overwrite_replaces_what_is_stored() {
    let (store, _registry) = spoilt_of(&["spoilt", "sound"]).await;
    let (runs, mut ran) = unbounded_channel::<&'static str>();
    let (failures, _failed) = unbounded_channel();
    let start = async |test: &str, text: &str| {
        let builder =
            ElasticJobApp::builder().only_jobs_of(module_path!()).registry_center("store", Arc::new(store.connect()));
        let builder = builder.provide(runs.clone()).error_handler(Tells(failures.clone()));
        builder.sources(sources(test, text)).start().await
    };
    let error = start("all", "").await.map(|_| ()).unwrap_err();
    assert!(matches!(&error, AppError::NoneStarted(errors) if errors.len() == 2), "{error}");
    for part in
        ["job 'spoilt' waits for a configuration in the registry that it can use: ", "overwrite: true", "'sound'"]
    {
        assert!(error.to_string().contains(part), "{error}");
    }
    let text = "elasticjob.jobs: {spoilt: {overwrite: true}, sound: {overwrite: true}}\n";
    let app = start("overwrite", text).await.unwrap();
    assert!(timeout(LIMIT, ran.recv()).await.expect("a run in time").is_some());
    app.shutdown().await;
}
