//! Pages, API and files of what was traced, read from a database.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use chrono::{TimeDelta, Utc};
use elasticjob::fire::ExecutionSource;
use elasticjob::ident::{InstanceId, JobName, TaskId};
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::schedule::TimeZone;
use elasticjob::trace::rdb::{RdbOptions, RdbTraceReader, RdbTracingStorage};
use elasticjob::trace::{
    AnyTraceReader, ExecutionType, JobDecisionEvent, JobEvent, JobExecutionEvent, JobStatusTraceEvent, TaskState,
    Tracing, TracingConfiguration,
};
use serde_json::{Map, Value, json};

use super::*;
use crate::access::{Grant, Role, User};
use crate::testing::traced::Folder;
use crate::testing::{Answer, call, cookie_of, hash, request};
use crate::{Console, ConsoleOptions, Registry};

const HOSTILE: &str = "<script>alert(\"1\")</script>'&";

fn run(job: &str, item: u32, minutes_ago: i64, cause: Option<&str>) -> JobEvent {
    let (job, instance) = (JobName::new(job).expect("a name"), InstanceId::of_process("10.0.0.7", 42));
    let start_time = Utc::now() - TimeDelta::minutes(minutes_ago);
    JobEvent::Execution(JobExecutionEvent {
        id: format!("{job}-{item}-{minutes_ago}").into(),
        run_id: "run".into(),
        task_id: TaskId::new(&job, [item], &instance),
        job_name: job,
        hostname: "host".into(),
        instance,
        sharding_item: item,
        source: ExecutionSource::NormalTrigger,
        scheduled_at: Some(start_time),
        attempt: None,
        start_time,
        complete_time: Some(start_time + TimeDelta::milliseconds(1_500)),
        success: cause.is_none(),
        failure_cause: cause.map(ToOwned::to_owned),
    })
}

fn state(job: &str) -> JobEvent {
    let (job, instance) = (JobName::new(job).expect("a name"), InstanceId::of_process("10.0.0.7", 42));
    JobEvent::Status(JobStatusTraceEvent {
        id: format!("state-{job}"),
        run_id: "run".into(),
        task_id: TaskId::new(&job, [0], &instance),
        job_name: job,
        instance,
        execution_type: ExecutionType::Ready,
        scheduled_at: None,
        attempt: None,
        sharding_items: vec![0],
        state: TaskState::Running,
        message: HOSTILE.to_owned(),
        creation_time: Utc::now(),
    })
}

fn action(job: &str) -> JobEvent {
    let Value::Object(mut detail) = json!({"actor": "zhang", "action": "disable-job", "outcome": "done"}) else {
        unreachable!("it is an object")
    };
    if job == "orders" {
        let from = [("surface", "rest"), ("address", "203.0.113.9"), ("request", "deploy-7")];
        detail.extend(from.map(|(name, text)| (name.to_owned(), text.into())));
    }
    let decision = |kind, detail: Map<String, Value>, reason: &str| JobDecisionEvent {
        id: format!("{job}-{kind}"),
        reason: reason.to_owned(),
        detail,
        ..JobDecisionEvent::new(JobName::new(job).expect("a name"), kind)
    };
    JobEvent::Decision(decision(DecisionKind::Operator, detail, HOSTILE))
}

/// A console with traces of jobs of two teams, and a user of each.
async fn console(folder: &Folder) -> Console {
    let (source, zone) = (folder.source(), Some(TimeZone::UTC));
    let mut options = RdbOptions::default();
    options.time_zone = zone;
    let storage = RdbTracingStorage::connect(&source, options).await.expect("the database is made");
    let tracing = Tracing::start(TracingConfiguration::new(storage), &tokio::runtime::Handle::current());
    for job in ["billing-1", "orders"] {
        for minute in 1..=30 {
            tracing.post(run(job, 0, minute, None));
        }
        tracing.post(run(job, 1, 40, Some(&format!("=1+{HOSTILE}\nat line 2"))));
        tracing.post(state(job));
        tracing.post(action(job));
    }
    tracing.post(run("billing-old", 0, 60 * 24 * 8, None));
    tracing.close(Duration::from_secs(10)).await;
    let reader = RdbTraceReader::connect(&source, zone).await.expect("the database is there");
    serve(Some(AnyTraceReader::new(reader)))
}

fn serve(reader: Option<AnyTraceReader>) -> Console {
    let user = |name: &str, grant: Grant| User::new(name, hash(), [grant]);
    let viewer = || Grant::everywhere(Role::Viewer);
    let users = vec![user("all", viewer()), user("billing", viewer().jobs("billing-*"))];
    let registry = Registry::new("default", Arc::new(MemoryRegistry::new().connect()));
    let registry = match reader {
        Some(reader) => registry.traces(reader),
        None => registry,
    };
    Console::new(ConsoleOptions { users, ..ConsoleOptions::default() }, [registry]).expect("the options are right")
}

async fn get(console: &Console, user: &str, path: &str) -> Answer {
    let cookie = cookie_of(console, user).await;
    call(console, request("GET", path, Some(&cookie))).await
}

async fn api(console: &Console, user: &str, path: &str) -> Value {
    let answer = get(console, user, &format!("/api/v1/registries/default/{path}")).await;
    serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("no JSON: {}", answer.body))
}

fn jobs(page: &Value) -> Vec<&str> {
    page["records"].as_array().into_iter().flatten().filter_map(|record| record["job"].as_str()).collect()
}

#[tokio::test]
async fn pages_follow_each_other_without_a_gap_and_filters_leave_what_is_meant() {
    let folder = Folder::new("pages");
    let console = console(&folder).await;
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = api(&console, "all", &format!("executions?limit=25&cursor={cursor}")).await;
        all.extend(jobs(&page).into_iter().map(ToOwned::to_owned));
        match page["next"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(all.len(), 62, "the last week: {all:?}");
    for (query, count) in [
        ("job=orders", 31),
        ("job=orders&item=1", 1),
        ("result=FAILED", 2),
        ("result=SUCCEEDED&limit=100", 60),
        ("ip=10.0.0.7&limit=100", 62),
        ("ip=10.0.0.7@-@42&limit=100", 62),
        ("ip=10.0.0.8", 0),
        ("source=MISFIRE", 0),
        ("result=NO_END", 0),
    ] {
        assert_eq!(jobs(&api(&console, "all", &format!("executions?{query}")).await).len(), count, "{query}");
    }
    assert_eq!(jobs(&api(&console, "all", "states?state=TASK_RUNNING").await).len(), 2);
    for state in ["TASK_ERROR", "TASK_FAILED", "TASK_KILLED"] {
        assert_eq!(api(&console, "all", &format!("states?state={state}")).await["records"], json!([]), "{state}");
    }
    let states = get(&console, "all", "/r/default/history/states?state=TASK_KILLED").await.body;
    assert!(states.contains(r#"<option value="TASK_KILLED" selected>Killed</option>"#), "{states}");
    assert!(states.contains(r#"<option value="TASK_FAILED">Failed</option>"#), "{states}");
    assert_eq!(jobs(&api(&console, "all", "decisions?kind=OPERATOR").await).len(), 2);
    let month = (Utc::now() - TimeDelta::days(20)).to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    assert_eq!(jobs(&api(&console, "all", &format!("executions?from={month}&job=billing-old")).await).len(), 1);
}

#[tokio::test]
async fn a_run_is_found_by_the_id_that_the_list_has_by_those_alone_who_may_see_its_job() {
    let folder = Folder::new("one-run");
    let console = console(&folder).await;
    for query in ["job=orders&item=1", "job=billing-1&item=1"] {
        let listed = api(&console, "all", &format!("executions?{query}")).await["records"][0].clone();
        let path = format!("executions/{}", listed["id"].as_str().expect("a text"));
        assert_eq!(api(&console, "all", &path).await, listed);
        match query.contains("billing") {
            true => assert_eq!(api(&console, "billing", &path).await, listed),
            false => {
                let hidden = get(&console, "billing", &format!("/api/v1/registries/default/{path}")).await;
                assert_eq!(hidden.status, StatusCode::NOT_FOUND, "{}", hidden.body);
                assert!(hidden.body.contains("no-such-run") && !hidden.body.contains("10.0.0.7"), "{}", hidden.body);
            }
        }
    }
    let none = get(&console, "all", "/api/v1/registries/default/executions/none").await;
    assert_eq!(
        (none.status, &none.headers[CONTENT_TYPE]),
        (StatusCode::NOT_FOUND, &"application/problem+json".parse().expect("a value"))
    );
    assert_eq!(api(&console, "all", "executions/none").await["code"], "no-such-run");
    assert_eq!(api(&serve(None), "all", "executions/none").await["code"], "not-traced");
}

#[tokio::test]
async fn a_registry_center_is_as_in_the_list_of_them() {
    let console = serve(None);
    let listed = get(&console, "all", "/api/v1/registries").await;
    let listed: Value = serde_json::from_str(&listed.body).expect("JSON");
    let one = get(&console, "all", "/api/v1/registries/default").await;
    let one: Value = serde_json::from_str(&one.body).expect("JSON");
    assert_eq!((&listed[0], one["name"].as_str()), (&one, Some("default")));
    let none = get(&console, "all", "/api/v1/registries/none").await;
    assert!(none.status == StatusCode::NOT_FOUND && none.body.contains("no-such-registry"), "{}", none.body);
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused() {
    let folder = Folder::new("refused");
    let console = console(&folder).await;
    for query in [
        "executions?from=2026-01-01T00:00Z&until=2026-03-01T00:00Z",
        "executions?result=GOOD",
        "executions?item=x",
        "executions?cursor=x",
        "executions?job=a%2Fb",
        "states?state=x",
        "decisions?kind=x",
    ] {
        assert_eq!(api(&console, "all", query).await["code"], "bad-request", "{query}");
    }
}

#[tokio::test]
async fn nobody_sees_what_was_traced_of_jobs_of_others() {
    let folder = Folder::new("grants");
    let console = console(&folder).await;
    for list in ["executions", "states", "decisions"] {
        let seen = api(&console, "billing", list).await;
        let jobs = jobs(&seen);
        assert!(!jobs.is_empty() && jobs.iter().all(|job| job.starts_with("billing-")), "{list}: {jobs:?}");
        assert_eq!(api(&console, "billing", &format!("{list}?job=orders")).await["code"], "forbidden", "{list}");
        for form in ["", "?format=csv", "?job=orders", "?job=orders&format=csv"] {
            let page = get(&console, "billing", &format!("/r/default/history/{list}{form}")).await;
            let without_form = page.body.replace(r#"name="job" value="orders""#, "").replace("job=orders", "");
            assert!(!without_form.contains("orders"), "{list}{form}: {}", page.body);
        }
    }
}

#[tokio::test]
async fn texts_of_others_are_escaped_on_pages_and_no_formula_in_files() {
    let folder = Folder::new("hostile");
    let console = console(&folder).await;
    for list in ["executions", "states", "decisions"] {
        let page = get(&console, "all", &format!("/r/default/history/{list}?limit=500")).await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(page.body.contains("&#60;script&#62;alert"), "{list}: {}", page.body);
        assert!(!page.body.contains("<script>"), "{list}");
        assert!(
            page.body.contains("records=true") && page.body.contains("<tr id=\"record-"),
            "{list} is kept up to date"
        );
        let query = get(&console, "all", &format!("/r/default/history/{list}?ip=%22%3E%3Cscript%3E")).await;
        assert!(!query.body.contains("<script>"), "{list}");
        let over = get(&console, "all", &format!("/r/default/history/{list}?until=2030-01-01T00:00")).await;
        assert!(!over.body.contains("sse:connect"), "{list}: a time with an end is not");
    }
    let file = get(&console, "all", "/r/default/history/executions?format=csv&result=FAILED").await;
    assert!(file.headers[CONTENT_DISPOSITION].to_str().is_ok_and(|name| name.contains("default-executions.csv")));
    assert!(file.body.contains("\"'=1+<script>alert(\"\"1\"\")"), "{}", file.body);
}

#[tokio::test]
async fn a_console_that_knows_nothing_says_so() {
    let page = get(&serve(None), "all", "/r/default/history/executions").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("elasticjob.tracing") && !page.body.contains("Nothing was traced"), "{}", page.body);
    assert!(page.body.contains("From (") && page.body.contains("Until ("), "the fields have the zone: {}", page.body);
    assert_eq!(api(&serve(None), "all", "executions").await["code"], "not-traced");
    // No program traced to this database: it has no table.
    let folder = Folder::new("empty");
    std::fs::write(folder.0.join("traces.db"), "").expect("the file can be made");
    let reader = RdbTraceReader::connect(&folder.source(), None).await.expect("an empty file is an empty database");
    let page = get(&serve(Some(AnyTraceReader::new(reader))), "all", "/r/default/history/states").await;
    assert_eq!(page.status, StatusCode::BAD_GATEWAY);
    assert!(page.body.contains("JOB_STATUS_TRACE_LOG"), "{}", page.body);
}

#[tokio::test]
async fn every_kind_of_decision_has_a_text_in_each_language() {
    let folder = Folder::new("kinds");
    let console = console(&folder).await;
    for language in crate::Language::ALL {
        for kind in DecisionKind::ALL {
            let text = console.app().texts.of(language);
            assert!(text.loader().has(&kind_id(kind.as_str())), "{language} {kind}");
        }
    }
}

#[tokio::test]
async fn the_audit_tells_who_did_what_and_is_filtered_by_both() {
    let folder = Folder::new("audit");
    let console = console(&folder).await;
    for (query, count) in
        [("", 2), ("who=ZHA", 2), ("who=root", 0), ("what=disable", 2), ("what=trigger", 0), ("job=orders", 1)]
    {
        let found = api(&console, "all", &format!("audit?{query}")).await;
        assert_eq!(jobs(&found).len(), count, "{query}");
    }
    let one = &api(&console, "billing", "audit").await["records"];
    assert_eq!(one.as_array().map(Vec::len), Some(1), "{one}");
    let told = [&one[0]["who"], &one[0]["action"], &one[0]["job"], &one[0]["outcome"], &one[0]["reason"]];
    assert_eq!(told, ["zhang", "disable-job", "billing-1", "done", HOSTILE]);
    let page = get(&console, "all", "/r/default/history/audit?who=zhang").await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(page.body.contains("disable-job") && !page.body.contains("<script>"), "{}", page.body);
    let file = get(&console, "all", "/r/default/history/audit?format=csv").await.body;
    assert!(file.contains("time,who,action,job") && file.contains("zhang,disable-job"), "{file}");
    assert!(file.contains(",error,surface,address,request") && file.contains(",rest,203.0.113.9,deploy-7"), "{file}");
    let page = page.body;
    assert!(
        page.contains("REST API") && page.contains("203.0.113.9") && page.contains("<code>deploy-7</code>"),
        "{page}"
    );
    let found = api(&console, "all", "audit").await;
    let from = |at: usize| ["surface", "address", "requestId"].map(|name| found["records"][at][name].clone());
    let expected = ["rest", "203.0.113.9", "deploy-7"].map(Value::from);
    assert!([from(0), from(1)].contains(&expected), "{found}");
    assert!(
        [from(0), from(1)].contains(&[Value::Null, Value::Null, Value::Null]),
        "an older release wrote it: {found}"
    );
}
