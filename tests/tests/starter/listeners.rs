//! Listeners of an application: linked into it, given to its builder, named in attributes and settings.

use std::path::Path;
use std::time::Duration;

use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

type Lines = UnboundedSender<String>;

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(20);

#[elastic_job(sharding_total_count = 2, listeners = ["added"])]
async fn listened(context: ShardingContext, lines: Inject<Lines>) -> JobResult {
    lines.send(format!("item {}", context.sharding_item()))?;
    Ok(())
}

#[elastic_job(sharding_total_count = 1)]
async fn configured(lines: Inject<Lines>) -> JobResult {
    lines.send("configured".to_owned())?;
    Ok(())
}

/// Linked into the program: it needs nothing of the application.
struct Linked;

impl JobListener for Linked {
    fn type_name(&self) -> &str {
        "linked"
    }

    async fn before_job_executed(&self, context: &ListenerContext) -> JobResult {
        Err(JobError::message(format!("{} is told that something is wrong, and runs", context.job_name())))
    }
}

register_listener!(Linked);

struct LinkedOnce;

impl OnceJobListener for LinkedOnce {
    fn type_name(&self) -> &str {
        "linked-once"
    }
}

register_once_listener!(LinkedOnce);

/// Added with what it needs.
struct Added(Lines);

impl JobListener for Added {
    fn type_name(&self) -> &str {
        "added"
    }

    async fn before_job_executed(&self, context: &ListenerContext) -> JobResult {
        self.0.send(format!("before {} of {}", context.sharding_items().len(), context.job_name()))?;
        Ok(())
    }

    async fn after_job_executed(&self, context: &ListenerContext) -> JobResult {
        self.0.send(format!("after {} of {}", context.sharding_items().len(), context.job_name()))?;
        Ok(())
    }
}

/// Called once for the group, which is this process alone.
struct AddedOnce(Lines);

impl OnceJobListener for AddedOnce {
    fn type_name(&self) -> &str {
        "added-once"
    }

    async fn at_last_completed(&self, context: &ListenerContext) -> JobResult {
        self.0.send(format!("all of {} is through", context.job_name()))?;
        Ok(())
    }
}

fn sources(test: &str, jobs: &str) -> Sources {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("starter").join("listeners").join(test);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("application.yaml"), format!("elasticjob:\n  jobs:\n{jobs}")).unwrap();
    Sources::in_folder(folder)
}

#[tokio::test]
async fn listeners_are_found_wherever_they_come_from_and_are_named() {
    let (lines, mut told) = unbounded_channel();
    let jobs = "    configured:\n      job-listener-types: [linked, added-once, linked-once]\n";
    let app = ElasticJobApp::builder()
        .only_jobs_of(module_path!())
        .provide::<Lines>(lines.clone())
        .listener(Added(lines.clone()))
        .once_listener(AddedOnce(lines))
        .sources(sources("found", jobs))
        .start()
        .await
        .unwrap();
    let mut next = async |count: usize| {
        let mut lines = Vec::new();
        while lines.len() < count {
            lines.push(timeout(LIMIT, told.recv()).await.expect("it happens in time").unwrap());
        }
        lines
    };
    app.one_off_job("listenedOneOffJobBootstrap").unwrap().execute().await.unwrap();
    let mut lines = next(4).await;
    lines[1..3].sort_unstable();
    assert_eq!(lines, ["before 2 of listened", "item 0", "item 1", "after 2 of listened"]);
    app.one_off_job("configuredOneOffJobBootstrap").unwrap().execute().await.unwrap();
    assert_eq!(next(2).await, ["configured", "all of configured is through"]);
    app.shutdown().await;
}

#[tokio::test]
async fn an_unknown_listener_is_an_error_that_names_the_place_and_those_there_are() {
    let jobs = "    configured:\n      job-listener-types: [linkd]\n";
    let (lines, _told) = unbounded_channel();
    let builder =
        ElasticJobApp::builder().only_jobs_of(module_path!()).provide::<Lines>(lines.clone()).listener(Added(lines));
    let error = builder.sources(sources("unknown", jobs)).start().await.unwrap_err().to_string();
    let known =
        "there is no listener 'linkd' in this program; there are added (added by the program), linked (linked, ";
    assert!(
        error.contains("application.yaml:4: job 'configured': job-listener-types") && error.contains(known),
        "{error}"
    );
}

#[tokio::test]
async fn two_listeners_of_one_name_are_an_error_that_tells_where_they_are() {
    let (lines, _told) = unbounded_channel();
    let builder = ElasticJobApp::builder().only_jobs_of(module_path!()).provide::<Lines>(lines).listener(Linked);
    let error = builder.sources(sources("twice", "    configured: {}\n")).start().await.unwrap_err().to_string();
    assert!(error.contains("'linked'") && error.contains("starter/listeners.rs:"), "{error}");
}
