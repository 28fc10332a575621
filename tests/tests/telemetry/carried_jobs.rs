//! Events and statistics of carried jobs, as a scheduler answers them from the database that it traces to.

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use elasticjob_tests::databases::Database;
use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::scheduler::{SchedulerProcess, SchedulerProgram};
use elasticjob_tests::until::until;
use serde_json::{Value, json};

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(60);

fn ask(scheduler: &SchedulerProcess, path: &str) -> Value {
    let (status, body) = scheduler.call("GET", path, "").expect("the scheduler answers");
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).expect("JSON")
}

/// The values of a column of events.
fn events(scheduler: &SchedulerProcess, of: &str, column: &str) -> Vec<Value> {
    let answer = ask(scheduler, &format!("/api/job/events/{of}"));
    let rows = answer["rows"].as_array().expect("rows");
    assert_eq!((answer["total"].as_u64(), &answer["truncated"]), (Some(rows.len() as u64), &json!(false)));
    rows.iter().map(|row| row[column].clone()).collect()
}

/// The sum of a column of statistics.
fn sum(rows: &Value, column: &str) -> u64 {
    rows.as_array().expect("rows").iter().map(|row| row[column].as_u64().expect("a number")).sum()
}

/// A job of which one item ends well and one fails, once.
pub async fn are_answered(database: Database) {
    let folder = TemporaryFolder::new("carried-events").expect("a folder");
    let program = SchedulerProgram {
        binary: env!("CARGO_BIN_EXE_scheduler").into(),
        zookeeper: String::new(),
        namespace: "carried-events".to_owned(),
        folder: folder.path().to_owned(),
        carrier: ["--carrier", "process", "--memory-limit", "off"].map(str::to_owned).to_vec(),
    };
    let settings = json!({ "elasticjob": { "tracing": { "type": "RDB", "data-source": { "url": database.url() } } } });
    std::fs::write(folder.path().join("application.yaml"), settings.to_string()).expect("a file of settings");
    let scheduler = program.start();
    let job = json!({ "jobName": "settle", "appName": "settle", "jobExecutionType": "TRANSIENT", "cpuCount": 0.1,
                      "memoryMB": 16, "shardingTotalCount": 2 });
    scheduler.register(&program.app("settle", "echo 'no disk' >&2; exit $ELASTICJOB_SHARDING_ITEM"), &job);
    scheduler.done("POST", "/api/job/trigger", "settle");

    let ended = "executions?sort=shardingItem&order=DESC";
    let failed = "statusTraces?jobName=settle&state=TASK_ERROR&source=CLOUD_SCHEDULER&executionType=READY";
    let all_ended = || events(&scheduler, ended, "completeTime").iter().filter(|time| !time.is_null()).count() == 2;
    // The status comes after the runs, maybe with a later batch.
    let all_told = || (all_ended() && !events(&scheduler, failed, "state").is_empty()).then_some(());
    let told = || format!("{:?}\n{}", events(&scheduler, ended, "jobName"), program.logs());
    until(LIMIT, "the ends of both runs, and the status of the failed one", told, all_told).await;
    assert_eq!(events(&scheduler, ended, "shardingItem"), [1, 0]);
    assert_eq!(events(&scheduler, "executions?isSuccess=true", "shardingItem"), [0]);
    let why = events(&scheduler, "executions?isSuccess=false", "failureCause");
    assert!(matches!(&why[..], [Value::String(why)] if why.contains("no disk")), "{why:?}");
    let task = events(&scheduler, ended, "taskId").remove(0);
    let task = task.as_str().expect("a text").replace('@', "%40");
    assert_eq!(events(&scheduler, &format!("executions?taskId={task}"), "jobName"), ["settle", "settle"]);
    // The time zone of the database is not that of the answers, which are in UTC.
    let hours = |hours| (Utc::now() + TimeDelta::hours(hours)).format("%Y-%m-%d%%20%H:%M:%S").to_string();
    let (before, after) = (hours(-1), hours(1));
    for events_of in ["executions", "statusTraces"] {
        let found = |span: &str| events(&scheduler, &format!("{events_of}?{span}"), "jobName").len();
        assert!(found(&format!("startTime={before}&endTime={after}")) >= 2, "{events_of}");
        assert_eq!((found(&format!("startTime={after}")), found(&format!("endTime={before}"))), (0, 0), "{events_of}");
    }
    assert_eq!(events(&scheduler, failed, "state"), ["TASK_ERROR"]);
    assert_eq!(events(&scheduler, "statusTraces?state=TASK_LOST", "state").len(), 0);

    let results = ask(&scheduler, "/api/job/statistics/tasks/results/lastHour");
    assert_eq!((results["successCount"].as_u64(), results["failedCount"].as_u64()), (Some(1), Some(1)), "{results}");
    let minutes = ask(&scheduler, "/api/job/statistics/tasks/results?since=lastHour");
    assert_eq!((sum(&minutes, "successCount"), sum(&minutes, "failedCount")), (1, 1), "{minutes}");
    // A run that ended is running at no full hour, unless it was at the moment when one struck.
    for of in ["tasks", "jobs"] {
        let hours = ask(&scheduler, &format!("/api/job/statistics/{of}/running?since=last24hours"));
        assert!(hours.as_array().is_some_and(|hours| hours.len() == 24), "{hours}");
        assert!(sum(&hours, "runningCount") <= 2, "{hours}");
    }
    assert_eq!(ask(&scheduler, "/api/job/statistics/jobs/executionType")["transientJobCount"], 1);
    let registered = ask(&scheduler, "/api/job/statistics/jobs/register");
    assert_eq!(sum(&registered, "registeredCount"), 1, "{registered}");
}
