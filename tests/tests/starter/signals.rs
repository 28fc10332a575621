//! Signals end an application. The one test sends them to its own process: no other test of the program waits for signals
//! meanwhile.
use std::process::{Command, id};
use std::time::Duration;

use elasticjob_starter::elasticjob::runtime::Activity;
use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// Goes on until it is cut off.
#[elastic_job(sharding_total_count = 1)]
async fn endless(context: ShardingContext) {
    context.cancelled().await;
}

/// Held by a test as long as a signal to the process would end its application.
pub static WAITS_FOR_SIGNALS: Mutex<()> = Mutex::const_new(());

fn signal(name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(id().to_string()).status().unwrap();
    assert!(sent.success());
}

#[tokio::test]
async fn the_first_signal_waits_for_running_items_and_the_second_cuts_them_off() {
    let _alone = WAITS_FOR_SIGNALS.lock().await;
    let sources = Sources::in_folder(env!("CARGO_TARGET_TMPDIR")).arguments(["--elasticjob.shutdown.grace=1h"]);
    let app = ElasticJobApp::builder().only_jobs_of(module_path!()).sources(sources).start().await.unwrap();
    let job = app.one_off_job("endlessOneOffJobBootstrap").unwrap();
    let mut status = job.status();
    let mut end = tokio::spawn(app.until_shutdown());
    // Both tasks share one thread: the application listens to signals when this one goes on.
    tokio::task::yield_now().await;
    job.execute().await.unwrap();
    status.wait_for(|status| matches!(status.activity, Activity::Running(_))).await.unwrap();
    signal("TERM");
    status.wait_for(|status| status.activity == Activity::Leaving).await.unwrap();
    // What sends a signal to the process and to its group means one.
    signal("TERM");
    assert!(timeout(Duration::from_millis(1_500), &mut end).await.is_err(), "the item still runs");
    signal("INT");
    timeout(Duration::from_secs(10), end).await.expect("the item is cut off").unwrap().unwrap();
}
