//! Tracing of an application to storages of its own, and what is wrong with `elasticjob.tracing`.

use std::path::Path;
use std::time::Duration;

use elasticjob::trace::DecisionKind;
use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(20);

#[elastic_job(sharding_total_count = 1, job_bootstrap_bean_name = "told")]
async fn told_about(_: ShardingContext) {}

#[elastic_job(sharding_total_count = 1, job_bootstrap_bean_name = "untold")]
async fn not_told_about(_: ShardingContext) {}

/// Given to the builder, with what it needs.
struct Sends(UnboundedSender<String>);

impl TracingStorage for Sends {
    fn type_name(&self) -> &str {
        "SENDS"
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        for event in events {
            let text = match event {
                JobEvent::Execution(run) => format!("{} {}", run.job_name, run.success),
                JobEvent::Status(state) => format!("{} {}", state.job_name, state.state),
                JobEvent::Decision(decision) => format!("{} {}", decision.job_name, decision.kind),
                JobEvent::Log(line) => format!("{} {}", line.job_name, line.message),
                other => return Err(WriteError::Refused(format!("not known to this test: {other:?}"))),
            };
            self.0.send(text).map_err(|error| WriteError::Refused(error.to_string()))?;
        }
        Ok(())
    }
}

/// Linked into the program.
struct Nowhere(&'static str);

impl TracingStorage for Nowhere {
    fn type_name(&self) -> &str {
        self.0
    }

    async fn write(&self, _: &[JobEvent]) -> Result<(), WriteError> {
        Ok(())
    }
}

register_tracing_storage!(Nowhere("NOWHERE"));

fn sources(test: &str, tracing: &str) -> Sources {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("starter").join("tracing").join(test);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("application.yaml"), format!("elasticjob:\n  tracing:\n{tracing}")).unwrap();
    Sources::in_folder(folder)
}

#[tokio::test]
async fn a_selected_job_is_traced_to_a_storage_of_the_application() {
    let (sender, mut told) = unbounded_channel();
    let app = ElasticJobApp::builder()
        .only_jobs_of(module_path!())
        .tracing_storage(Sends(sender))
        .sources(sources("own", "    type: SENDS\n    include-job-names: told_about\n"))
        .start()
        .await
        .unwrap();
    app.one_off_job("untold").unwrap().execute().await.unwrap();
    app.one_off_job("told").unwrap().execute().await.unwrap();
    let (mut lines, mut decided) = (Vec::new(), Vec::new());
    while lines.len() < 5 {
        let line = timeout(LIMIT, told.recv()).await.expect("it is told in time").unwrap();
        match DecisionKind::ALL.iter().find(|kind| line.ends_with(kind.as_str())) {
            Some(kind) => decided.push(*kind),
            None => lines.push(line),
        }
    }
    for kind in [DecisionKind::Registered, DecisionKind::Elected, DecisionKind::Resharded] {
        assert!(decided.contains(&kind), "{decided:?}");
    }
    let expected = ["TASK_STAGING", "TASK_RUNNING", "false", "true", "TASK_FINISHED"];
    assert_eq!(lines, expected.map(|text| format!("told_about {text}")));
    let tracing = app.tracing().unwrap().clone();
    app.shutdown().await;
    let after = std::iter::from_fn(|| told.try_recv().ok()).count();
    let written = u64::try_from(lines.len() + decided.len() + after).unwrap();
    assert_eq!((tracing.counts().written, tracing.counts().lost), (written, 0));
}

async fn problem(test: &str, tracing: &str) -> String {
    ElasticJobApp::builder()
        .only_jobs_of(module_path!())
        .sources(sources(test, tracing))
        .start()
        .await
        .map(|_| ())
        .unwrap_err()
        .to_string()
}

#[tokio::test]
async fn a_type_that_there_is_not_lists_those_there_are() {
    let problem = problem("unknown", "    type: NOWERE\n").await;
    for part in ["application.yaml:3: elasticjob.tracing.type: 'NOWERE'", "NOWHERE (linked, ", "RDB (built in)"] {
        assert!(problem.contains(part), "{problem}");
    }
}

#[tokio::test]
async fn a_database_needs_a_driver_and_a_url_or_a_pool() {
    let problem = problem("nothing", "    type: RDB\n").await;
    let driver =
        ["application.yaml:3: elasticjob.tracing.data-source.url is missing", "url: sqlite:trace.db", ".provide(pool)"];
    let none = ["application.yaml:3: elasticjob.tracing.type is not built in", "tracing-sqlite", "Cargo.toml"];
    let says = |parts: [&str; 3]| parts.iter().all(|part| problem.contains(part));
    // Without the feature of this package another one of the same build may bring a driver.
    assert!(says(driver) || (!cfg!(feature = "databases") && says(none)), "{problem}");
}

#[tokio::test]
#[cfg(feature = "databases")]
async fn a_url_that_is_wrong_is_not_shown() {
    let tracing = "    type: RDB\n    data-source:\n      url: jdbc:h2://me:swordfish@host/jobs\n";
    let problem = problem("url", tracing).await;
    for part in ["application.yaml:5: elasticjob.tracing.data-source.url: '***'", "no 'h2' here", "mysql://"] {
        assert!(problem.contains(part), "{problem}");
    }
    assert!(!problem.contains("swordfish"), "{problem}");
}

#[tokio::test]
async fn the_name_of_the_built_in_storage_is_taken() {
    let builder = ElasticJobApp::builder().only_jobs_of(module_path!()).tracing_storage(Nowhere("rdb"));
    let problem = builder.sources(sources("taken", "    type: NOWHERE\n")).start().await.map(|_| ()).unwrap_err();
    for part in ["'RDB'", "built in and added by the program"] {
        assert!(problem.to_string().contains(part), "{problem}");
    }
}
