//! Tests of `elasticjob history`, `decisions`, `states` and `audit`.

use chrono::{DateTime, TimeDelta, Utc};
use clap::Parser;
use elasticjob::fire::ExecutionSource;
use elasticjob::ident::{InstanceId, JobName, TaskId};
use elasticjob::trace::{
    AnyTraceReader, DecisionKind, ExecutionType, JobDecisionEvent, JobEvent, JobExecutionEvent, JobStatusTraceEvent,
    TaskState, TracingStorage,
};
use serde_json::{Map, Value, json};

use super::trace_database::TraceDatabase;
use crate::Console;
use crate::args::{Arguments, Command};

fn at(minute: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(1_768_476_840_000).unwrap() + TimeDelta::minutes(minute)
}

fn decision(job: &str, kind: DecisionKind, minute: i64, detail: Value) -> JobEvent {
    JobEvent::Decision(JobDecisionEvent {
        id: format!("{job}-{minute}"),
        job_name: JobName::new(job).unwrap(),
        at: at(minute),
        kind,
        scheduled_at: (kind == DecisionKind::Skipped).then(|| at(minute)),
        scheduled_until: None,
        sharding_items: vec![0],
        instance: None,
        related_instance: None,
        reason: "disk full".to_owned(),
        detail: detail.as_object().cloned().unwrap_or_else(Map::new),
    })
}

fn state(job: &str, state: TaskState, minute: i64) -> JobEvent {
    let (job_name, instance) = (JobName::new(job).unwrap(), InstanceId::of_process("192.0.2.2", 7));
    JobEvent::Status(JobStatusTraceEvent {
        id: format!("{job}-{state}"),
        run_id: "run".into(),
        task_id: TaskId::new(&job_name, [0], &instance),
        job_name,
        instance,
        execution_type: ExecutionType::Ready,
        scheduled_at: None,
        attempt: None,
        sharding_items: vec![0],
        state,
        message: String::new(),
        creation_time: at(minute),
    })
}

fn run(job: &str, minute: i64, failure: Option<&str>) -> JobEvent {
    let (job_name, instance) = (JobName::new(job).unwrap(), InstanceId::of_process("192.0.2.2", 7));
    JobEvent::Execution(JobExecutionEvent {
        id: format!("{job}-{minute}").into(),
        run_id: "run".into(),
        task_id: TaskId::new(&job_name, [0], &instance),
        job_name,
        instance,
        hostname: "host".into(),
        source: ExecutionSource::NormalTrigger,
        scheduled_at: Some(at(minute)),
        attempt: None,
        sharding_item: 0,
        start_time: at(minute),
        complete_time: Some(at(minute)),
        success: failure.is_none(),
        failure_cause: failure.map(str::to_owned),
    })
}

#[tokio::test]
async fn the_runs_of_a_job_or_of_all_are_written_the_last_ones_first() {
    let database = TraceDatabase::new("history");
    let storage = database.storage().await;
    let events = [run("settle", 1, None), run("report", 2, Some("no disk")), run("settle", 3, Some("no disk"))];
    storage.write(&events).await.unwrap();
    let reader = database.reader().await;
    let jobs = async |arguments: &[&str]| {
        let told = tells(&reader, arguments).await;
        let runs = told["executions"].as_array().unwrap().clone();
        (told["job"].clone(), runs.iter().map(|run| run["job"].as_str().unwrap().to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(jobs(&["history"]).await, (Value::Null, ["settle", "report", "settle"].map(str::to_owned).into()));
    assert_eq!(jobs(&["history", "settle"]).await, ("settle".into(), ["settle", "settle"].map(str::to_owned).into()));
    assert_eq!(jobs(&["history", "--failed", "--limit", "1"]).await.1, ["settle"]);
    let (all, note) = says(&reader, &["history", "--limit", "2"]).await;
    let second: Vec<&str> = all.lines().nth(2).unwrap().split_whitespace().collect();
    assert!(all.starts_with("JOB ") && second[0] == "report", "{all}");
    assert!(note.starts_with("note: there are older runs: add --after '"), "{note}");
    assert!(says(&reader, &["history", "settle"]).await.0.starts_with("STARTED "), "of one job it says no job");
}

/// What a command writes, and its remarks.
async fn says(reader: &AnyTraceReader, arguments: &[&str]) -> (String, String) {
    let arguments = Arguments::parse_from(["elasticjob"].iter().chain(arguments));
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut console = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
    let done = match &arguments.command {
        Command::History(wanted) => crate::history::history(wanted, reader, arguments.json, &mut console).await,
        Command::Decisions(wanted) => crate::decisions::decisions(wanted, reader, arguments.json, &mut console).await,
        Command::States(wanted) => crate::states::states(wanted, reader, arguments.json, &mut console).await,
        Command::Audit(wanted) => crate::audit::actions(wanted, reader, arguments.json, &mut console).await,
        other => panic!("{other:?}"),
    };
    (done.unwrap(), String::from_utf8(stderr).unwrap())
}

/// The same as JSON.
async fn tells(reader: &AnyTraceReader, arguments: &[&str]) -> Value {
    let (text, _) = says(reader, &[arguments, &["--json"]].concat()).await;
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn decisions_states_and_actions_are_written_by_job_kind_and_operator_page_by_page() {
    let database = TraceDatabase::new("records");
    let storage = database.storage().await;
    let disabled = json!({"actor": "Zhang", "action": "disable-item", "outcome": "done", "parts": ["item 0"],
        "before": "ENABLED", "after": "DISABLED"});
    let refused = json!({"actor": "li", "action": "remove-job", "outcome": "refused", "error": "instances are online",
        "surface": "rest", "address": "203.0.113.9", "request": "deploy-7"});
    let events = [
        decision("settle", DecisionKind::Operator, 1, disabled.clone()),
        decision("settle", DecisionKind::Skipped, 2, json!({})),
        decision("report", DecisionKind::Operator, 3, refused),
        decision("settle", DecisionKind::Operator, 4, disabled),
        state("settle", TaskState::Staging, 5),
        state("settle", TaskState::Error, 6),
        state("report", TaskState::Error, 7),
    ];
    storage.write(&events).await.unwrap();
    let reader = database.reader().await;

    let skipped = tells(&reader, &["decisions", "settle", "--kind", "SKIPPED"]).await;
    let [one] = &skipped["decisions"].as_array().unwrap()[..] else { panic!("{skipped}") };
    assert_eq!((&one["scheduledAt"], &one["items"]), (&at(2).timestamp_millis().into(), &json!([0])), "{one}");
    assert_eq!((&one["text"], &skipped["next"]), (&"not run here: disk full".into(), &Value::Null), "{skipped}");
    let both = ["decisions", "--kind", "SKIPPED", "--kind", "OPERATOR", "--item", "0", "--limit", "3"];
    let (text, note) = says(&reader, &both).await;
    assert!(text.starts_with("TIME ") && text.lines().count() == 4, "{text}");
    assert!(text.contains("operator li: remove-job (refused: instances are online)"), "{text}");
    let cursor = note.strip_prefix("note: there are older decisions: add --after '").unwrap();
    let after = [&both[..], &["--after", cursor.trim_end().trim_end_matches('\'')]].concat();
    let (rest, note) = says(&reader, &after).await;
    assert_eq!((rest.lines().count(), note.as_str()), (2, ""), "{rest}");

    for mistyped in [&["decisions", "setle"][..], &["states", "setle"], &["audit", "setle"]] {
        let (text, note) = says(&reader, mistyped).await;
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(note.starts_with("note: the database has no such "), "{note}");
    }

    let errors = tells(&reader, &["states", "--state", "error"]).await;
    let jobs: Vec<_> = errors["states"].as_array().unwrap().iter().map(|state| state["job"].clone()).collect();
    assert_eq!(jobs, ["report", "settle"], "{errors}");
    let (text, _) = says(&reader, &["states", "settle"]).await;
    let states: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(3)).collect();
    assert_eq!(states, ["TASK_ERROR", "TASK_STAGING"], "{text}");

    let zhang = tells(&reader, &["audit", "--who", "zhang", "--what", "disable", "--limit", "1"]).await;
    let [one] = &zhang["actions"].as_array().unwrap()[..] else { panic!("{zhang}") };
    assert_eq!((&one["at"], &one["parts"]), (&at(4).timestamp_millis().into(), &json!(["item 0"])), "{zhang}");
    assert_eq!(
        (&one["before"], &one["after"], &one["reason"]),
        (&"ENABLED".into(), &"DISABLED".into(), &"disk full".into())
    );
    // Between the two is an action of another one.
    let second = ["audit", "--who", "zhang", "--limit", "1", "--after", zhang["next"].as_str().unwrap()];
    let second = tells(&reader, &second).await;
    assert_eq!((&second["actions"][0]["at"], &second["next"]), (&at(1).timestamp_millis().into(), &Value::Null));
    let (text, _) = says(&reader, &["audit", "report"]).await;
    assert!(text.contains("  li   rest 203.0.113.9  remove-job  "), "{text}");
    let told = tells(&reader, &["audit", "report"]).await;
    let from = ["surface", "address", "requestId"].map(|name| told["actions"][0][name].clone());
    assert_eq!(from, ["rest", "203.0.113.9", "deploy-7"].map(Value::from), "{told}");
    let older = ["surface", "address", "requestId"].map(|name| second["actions"][0][name].clone());
    assert_eq!(older, [Value::Null, Value::Null, Value::Null], "an older release did not record it");
    assert!(text.contains("  refused  -") && text.contains("  instances are online\n"), "{text}");
    let until = at(2).to_rfc3339();
    let (text, note) = says(&reader, &["audit", "--until", &until]).await;
    assert!(text.contains("item 0, ENABLED -> DISABLED") && text.lines().count() == 2 && note.is_empty(), "{text}");
}
