//! Traced through the starter, as a program is.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use elasticjob::trace::rdb::RdbPool;
use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;
use elasticjob_starter::{AppError, ElasticJobAppBuilder};
use serde_json::{Value, json};

use crate::databases::{Database, Kind};

const LIMIT: Duration = Duration::from_secs(20);

#[elastic_job(sharding_total_count = 2, job_bootstrap_bean_name = "traced")]
async fn traced_by_suite(context: ShardingContext) -> JobResult {
    if context.sharding_item() == 1 {
        return Err(JobError::message("the second item fails"));
    }
    Ok(())
}

struct Folder(PathBuf);

impl Folder {
    /// One with these settings for tracing.
    fn with(database: &Database, tracing: &str) -> Self {
        let place = database.url().replace(['/', ':', '@'], "-");
        let folder = std::env::temp_dir().join(format!("elasticjob-through-{}{place}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let yaml = format!("elasticjob:\n  tracing:\n    type: rdb\n{tracing}");
        fs::write(folder.join("application.yaml"), yaml).expect("a file");
        Self(folder)
    }

    fn builder(&self) -> ElasticJobAppBuilder {
        ElasticJobApp::builder().only_jobs_of(module_path!()).sources(Sources::in_folder(self.0.clone()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs the job once and looks at the rows.
async fn is_traced(database: &Database, builder: ElasticJobAppBuilder) -> Result<(), AppError> {
    let app = builder.start().await?;
    app.one_off_job("traced")?.execute().await?;
    let tracing = app.tracing().expect("it is traced").clone();
    let ends = async {
        // Start, end and states of the run; decisions are written, too.
        while database.count("JOB_STATUS_TRACE_LOG").await < 3 || tracing.counts().waiting() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LIMIT, ends).await.expect("it runs");
    app.shutdown().await;
    let kinds = database.rows("JOB_DECISION_LOG", &["kind"], "job_name = 'traced_by_suite'").await;
    let kinds: Vec<&str> = kinds.iter().filter_map(|row| row[0].as_deref()).collect();
    for kind in ["REGISTERED", "ELECTED", "RESHARDED", "LEFT"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    let rows = database.rows("JOB_STATUS_TRACE_LOG", &["state", "message", "sharding_item"], "1 = 1").await;
    let text = |row: &[Option<String>]| row.iter().map(|text| text.clone().unwrap_or_default()).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| text(row)).collect();
    assert_eq!(
        rows,
        [
            ["TASK_ERROR", "{1=the second item fails}", "[0, 1]"],
            ["TASK_RUNNING", "", "[0, 1]"],
            ["TASK_STAGING", "Job 'traced_by_suite' execute begin.", "[0, 1]"],
        ]
    );
    let rows =
        database.rows("JOB_EXECUTION_LOG", &["sharding_item", "failure_cause"], "complete_time IS NOT NULL").await;
    let rows: Vec<Vec<String>> = rows.iter().map(|row| text(row)).collect();
    assert_eq!(rows, [["0", ""], ["1", "the second item fails"]]);
    Ok(())
}

pub(super) async fn a_job_is_traced_through_the_settings(database: Database) {
    // As a Java program has it.
    let (url, user) = match database.kind() {
        Kind::Sqlite => (format!("jdbc:{}", database.url()), String::new()),
        kind => {
            let (_, place) = database.url().split_once('@').expect("user and password");
            let (scheme, rest) = match kind {
                Kind::Postgresql => ("postgresql", "?ApplicationName=jobs"),
                _ => ("mysql", "?useSSL=false&serverTimezone=UTC&characterEncoding=utf8"),
            };
            let user = "      username: tester\n      password: open sesame\n";
            (format!("jdbc:{scheme}://{place}{rest}"), user.to_owned())
        }
    };
    let source = format!("    data-source:\n      url: {url}\n{user}      driver-class-name: org.example.Driver\n");
    let folder = Folder::with(&database, &format!("{source}    exclude-job-names: [other]\n"));
    is_traced(&database, folder.builder()).await.expect("it is traced");
    history_is_shown(&folder).await;
}

/// Runs `elasticjob` with the settings of the program: exit code, stdout, stderr.
async fn elasticjob(folder: &Folder, arguments: &[&str]) -> (u8, String, String) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let console = elasticjob_cli::Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
    let arguments = ["elasticjob"].iter().chain(arguments);
    let code = elasticjob_cli::run(arguments, Sources::in_folder(folder.0.clone()), console).await;
    let text = |bytes| String::from_utf8(bytes).expect("it is UTF-8");
    (code, text(stdout), text(stderr))
}

async fn history_is_shown(folder: &Folder) {
    let json = async |arguments: &[&str]| -> Value {
        let arguments = [&["history", "traced_by_suite", "--json"], arguments].concat();
        let (code, stdout, stderr) = elasticjob(folder, &arguments).await;
        assert_eq!((code, stderr.as_str()), (0, ""), "{arguments:?}");
        serde_json::from_str(&stdout).expect("it is JSON")
    };
    let items = |told: &Value| -> Vec<u64> {
        let items = told["executions"].as_array().expect("executions").iter();
        let mut items: Vec<u64> = items.map(|run| run["item"].as_u64().expect("an item")).collect();
        items.sort_unstable();
        items
    };
    let all = json(&[]).await;
    assert_eq!((items(&all), &all["next"]), (vec![0, 1], &Value::Null), "{all}");
    let failed = json(&["--failed"]).await;
    let run = &failed["executions"][0];
    assert_eq!((items(&failed), &run["failureCause"]), (vec![1], &json!("the second item fails")), "{failed}");
    assert_eq!((&run["outcome"], &run["source"]), (&json!("FAILED"), &json!("NORMAL_TRIGGER")), "{failed}");
    assert!(run["attempt"].is_string() && run["scheduledAt"].is_null(), "{failed}");
    let instance = run["instance"].as_str().expect("an instance");
    assert_eq!(items(&json(&["--instance", instance, "--source", "normal"]).await), [0, 1]);
    assert_eq!(items(&json(&["--source", "failover"]).await), [0; 0]);
    assert_eq!(items(&json(&["--until", "2020-01-01T00:00:00Z"]).await), [0; 0]);

    let first = json(&["--limit", "1"]).await;
    let next = first["next"].as_str().expect("another page");
    let second = json(&["--limit", "1", "--after", next]).await;
    let mut both = [items(&first), items(&second)].concat();
    both.sort_unstable();
    assert_eq!((both, &second["next"]), (vec![0, 1], &Value::Null));

    let (code, stdout, stderr) = elasticjob(folder, &["history", "traced_by_suite", "--limit", "1"]).await;
    assert!(code == 0 && stdout.starts_with("STARTED ") && stdout.lines().count() == 2, "{stdout}");
    assert!(stderr.starts_with("note: there are older runs: add --after '"), "{stderr}");
    let (code, stdout, stderr) = elasticjob(folder, &["history", "traced_by_suite", "--after", "x"]).await;
    assert!(code == 2 && stdout.is_empty() && stderr.contains("is no cursor"), "{stderr}");
}

pub(super) async fn a_job_is_traced_through_the_pool_of_the_application(database: Database) {
    let folder = Folder::with(&database, "");
    let builder = match database.pool().clone() {
        RdbPool::Sqlite(pool) => folder.builder().provide(pool),
        RdbPool::Postgres(pool) => folder.builder().provide(pool),
        RdbPool::MySql(pool) => folder.builder().provide(pool),
        other => panic!("{other:?}"),
    };
    is_traced(&database, builder).await.expect("it is traced");
}
