//! The process under test.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, id};
use std::sync::Arc;
use std::time::Duration;

use elasticjob::api::item_handler;
use elasticjob::registry::zookeeper::{ZookeeperConfiguration, ZookeeperRegistryCenter};
use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;
use tokio::runtime::Handle;

use super::buggy::Buggy;

/// Names the folder of a process: its settings, and what it records.
pub const FOLDER: &str = "TOLD_FOLDER";

/// The start of the settings of a job that runs until it is cut off, for programs that have one.
pub const ENDLESS: &str = "    endless: ";

/// The start of the settings of a job whose runs end well a moment after they are asked to, for programs that have one.
pub const LASTING: &str = "    lasting: ";

/// Names the ZooKeeper of the registry center with a bug, and its namespace, for programs that have one.
pub const BUGGY: [&str; 2] = ["TOLD_BUGGY_SERVER", "TOLD_BUGGY_NAMESPACE"];

/// Records in a line what it is told.
struct Records(PathBuf);

impl JobErrorHandler for Records {
    fn type_name(&self) -> &str {
        "RECORDS"
    }

    async fn handle(&self, failure: &JobFailure) -> JobResult {
        Ok(record(&self.0, &failure.to_string())?)
    }
}

/// Plays the process, where this is one.
pub fn play() -> Option<ExitCode> {
    let folder = PathBuf::from(std::env::var_os(FOLDER)?);
    let played = tokio::runtime::Runtime::new().unwrap().block_on(run(&folder));
    Some(match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

async fn run(folder: &Path) -> Result<(), AppError> {
    init_logging()?;
    let file = |what: &str| folder.join(format!("{what}-{}", id()));
    let runs = file("runs");
    let works = item_handler(move |context: ShardingContext| {
        let recorded = record(&runs, &format!("{} {}", context.job_name(), context.sharding_item()));
        async move { JobResult::Ok(recorded?) }
    });
    let mut app = ElasticJobApp::builder().only_jobs_of(module_path!()).sources(Sources::in_folder(folder));
    app = app.job("works", works).error_handler(Records(file("failures")));
    if let [Ok(server), Ok(namespace)] = BUGGY.map(std::env::var) {
        let mut config = ZookeeperConfiguration::new(server, namespace);
        config.session_timeout_milliseconds = 6_000;
        let center = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.unwrap();
        app = app.registry_center("buggy", Arc::new(Buggy::new(center, folder)));
    }
    if std::fs::read_to_string(folder.join("application.yaml")).unwrap().contains(ENDLESS) {
        let endless = |context: ShardingContext| async move { context.cancelled().await };
        app = app.job("endless", item_handler(endless));
    }
    if std::fs::read_to_string(folder.join("application.yaml")).unwrap().contains(LASTING) {
        let runs = file("runs");
        let lasting = move |context: ShardingContext| {
            let runs = runs.clone();
            async move {
                record(&runs, "lasting begins")?;
                context.stop_wanted().await;
                tokio::time::sleep(Duration::from_millis(500)).await;
                JobResult::Ok(record(&runs, "lasting ends")?)
            }
        };
        app = app.job("lasting", item_handler(lasting));
    }
    app.run().await
}

/// Adds a line to a file, in one call.
fn record(file: &Path, line: &str) -> std::io::Result<()> {
    let line = format!("{}\n", line.replace('\n', " "));
    OpenOptions::new().create(true).append(true).open(file)?.write_all(line.as_bytes())
}
