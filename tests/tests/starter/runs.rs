//! Applications on the embedded registry, from start to shutdown.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::signals::WAITS_FOR_SIGNALS;

type Lines = UnboundedSender<String>;

#[elastic_job(cron = "* * * * * ?", sharding_total_count = 2, params = "0=Beijing,1=Shanghai")]
async fn every_second(context: ShardingContext, lines: Inject<Lines>) -> JobResult {
    let parameter = context.sharding_parameter().unwrap_or_default();
    lines.send(format!("{} {} {parameter}", context.job_name(), context.sharding_item()))?;
    Ok(())
}

#[elastic_job(sharding_total_count = 1, job_parameter = "attribute", job_bootstrap_bean_name = "reportBean")]
async fn report(context: ShardingContext, lines: Inject<Lines>, #[bean("suffix")] suffix: Inject<String>) -> JobResult {
    lines.send(format!("report {}{}", context.job_parameter(), *suffix))?;
    Ok(())
}

/// Runs until it is told to end.
#[elastic_job(sharding_total_count = 1)]
async fn long(context: ShardingContext, lines: Inject<Lines>, go: Inject<Arc<tokio::sync::Notify>>) -> JobResult {
    lines.send("long begins".to_owned())?;
    tokio::select! {
        () = go.notified() => lines.send("long ends".to_owned())?,
        () = context.cancelled() => lines.send("long is cancelled".to_owned())?,
    }
    Ok(())
}

/// Triggers the report through its handle.
#[elastic_job(sharding_total_count = 1)]
async fn ask(#[bean("reportBean")] report: OneOffJob) -> JobResult {
    report.execute().await?;
    Ok(())
}

fn sources(test: &str, yaml: &str) -> Sources {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("starter").join("runs").join(test);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("application.yaml"), yaml).unwrap();
    Sources::in_folder(folder)
}

struct Running {
    app: ElasticJobApp,
    lines: UnboundedReceiver<String>,
    go: Arc<tokio::sync::Notify>,
}

async fn started(sources: Sources) -> Running {
    let (sender, lines) = unbounded_channel();
    let go: Arc<tokio::sync::Notify> = Arc::default();
    let app = ElasticJobApp::builder()
        .only_jobs_of(module_path!())
        .provide::<Lines>(sender)
        .provide(Arc::clone(&go))
        .provide_named("suffix", "!".to_owned())
        .sources(sources)
        .start()
        .await
        .unwrap();
    Running { app, lines, go }
}

impl Running {
    /// Waits for a line that begins like this.
    async fn line(&mut self, begin: &str) -> String {
        let next = async {
            loop {
                let line = self.lines.recv().await.expect("the jobs hold the sender");
                if line.starts_with(begin) {
                    return line;
                }
            }
        };
        timeout(Duration::from_secs(10), next).await.unwrap_or_else(|_| panic!("no line '{begin}'"))
    }
}

const QUIET: &str = "elasticjob: {jobs: {every_second: {cron: 0 0 3 1 1 ?}}}";

#[tokio::test]
async fn a_scheduled_job_runs_its_items_by_itself_and_counts_its_fires() {
    let mut running = started(sources("scheduled", "")).await;
    assert_eq!(running.line("every_second 0").await, "every_second 0 Beijing");
    assert_eq!(running.line("every_second 1").await, "every_second 1 Shanghai");
    let mut status = running.app.schedule_job("every_secondScheduleJobBootstrap").unwrap().status();
    timeout(Duration::from_secs(10), status.wait_for(|status| status.fires >= 2)).await.unwrap().unwrap();
    running.app.shutdown().await;
}

#[tokio::test]
async fn a_one_off_job_runs_when_it_is_asked_to_from_the_program_and_from_another_job() {
    let mut running =
        started(sources("one_off", QUIET).arguments(["--elasticjob.jobs.report.job-parameter=argument"])).await;
    assert_eq!(running.app.one_off_job("reportBean").unwrap().execute().await.unwrap(), Triggered::Queued);
    assert_eq!(running.line("report").await, "report argument!");
    running.app.one_off_job("askOneOffJobBootstrap").unwrap().execute().await.unwrap();
    assert_eq!(running.line("report").await, "report argument!");
    running.app.shutdown().await;
}

#[tokio::test]
async fn a_scheduled_job_can_be_triggered_beside_its_schedule() {
    let mut running = started(sources("trigger", QUIET)).await;
    running.app.schedule_job("every_secondScheduleJobBootstrap").unwrap().trigger().await.unwrap();
    running.line("every_second 0").await;
    running.app.shutdown().await;
}

#[tokio::test]
async fn a_handle_of_the_wrong_kind_or_name_lists_the_right_ones() {
    let running = started(sources("handles", QUIET)).await;
    let error = running.app.one_off_job("every_secondScheduleJobBootstrap").unwrap_err().to_string();
    assert!(error.contains("it is a scheduled job: ask for it with `schedule_job`"), "{error}");
    let error = running.app.one_off_job("nobody").unwrap_err().to_string();
    assert!(error.contains("'nobody'; known: askOneOffJobBootstrap, longOneOffJobBootstrap, reportBean"), "{error}");
    running.app.shutdown().await;
}

#[tokio::test]
async fn a_shutdown_lets_a_running_item_finish() {
    let mut running = started(sources("finish", QUIET)).await;
    let job = running.app.one_off_job("longOneOffJobBootstrap").unwrap();
    job.execute().await.unwrap();
    running.line("long begins").await;
    let app = running.app;
    let shutdown = tokio::spawn(app.shutdown());
    running.go.notify_one();
    timeout(Duration::from_secs(10), shutdown).await.unwrap().unwrap();
    assert_eq!(running.lines.recv().await.as_deref(), Some("long ends"));
    assert!(job.execute().await.unwrap_err().to_string().contains("not running"), "the job has left");
}

#[tokio::test]
async fn a_shutdown_cuts_off_what_does_not_finish_within_the_grace_time() {
    let mut running = started(sources("grace", QUIET).arguments(["--elasticjob.shutdown.grace=100ms"])).await;
    running.app.one_off_job("longOneOffJobBootstrap").unwrap().execute().await.unwrap();
    running.line("long begins").await;
    timeout(Duration::from_secs(10), running.app.shutdown()).await.unwrap();
    assert_eq!(running.lines.recv().await.as_deref(), Some("long is cancelled"));
}

#[tokio::test]
async fn the_application_ends_when_the_program_says_so() {
    let _alone = WAITS_FOR_SIGNALS.lock().await;
    let running = started(sources("end", QUIET)).await;
    timeout(Duration::from_secs(10), running.app.until_shutdown_or(async {})).await.unwrap().unwrap();
}
