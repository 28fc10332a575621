//! The fields of registrations are the same wherever they are listed: a field that is added in one place alone is found here.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::openapi_document;
use super::pages_tests::{cookie, text};
use super::tests::Server;

/// The fields of ElasticJob-Cloud that are accepted and have no effect here: nothing keeps them, and no form asks for them.
const WITHOUT_EFFECT: [&str; 6] = [
    "jobExecutorServiceHandlerType",
    "jobShardingStrategyType",
    "maxTimeDiffSeconds",
    "monitorExecution",
    "overwrite",
    "reconcileIntervalMinutes",
];

type Names = BTreeSet<String>;

fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> Names {
    names.into_iter().map(str::to_owned).collect()
}

fn keys(object: &Value) -> Names {
    names(object.as_object().unwrap().keys().map(String::as_str))
}

/// The fields that a registration may have, as the refusal of an unknown one lists them.
async fn accepted(server: &Server, token: &str, method: &str, path: &str) -> Names {
    let (status, answer) = server.call(token, method, path, r#"{"no-such-field":1}"#).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
    let problems = answer["problems"].as_array().unwrap();
    let unknown = problems.iter().find(|problem| problem["field"] == "no-such-field").unwrap();
    let (_, fields) = unknown["reason"].as_str().unwrap().split_once("the fields are ").unwrap();
    names(fields.split(", "))
}

fn documented(schema: &str) -> Names {
    keys(&openapi_document()["components"]["schemas"][schema]["properties"])
}

/// The inputs of a form.
async fn form(server: &Server, cookie: &str, path: &str) -> Names {
    let page = text(server, cookie, path).await;
    let form = page.split("<form").find(|form| form.contains(r#"name="appName""#)).unwrap().to_owned();
    let form = form.split("</form>").next().unwrap();
    let inputs = form.split(r#" name=""#).skip(1).filter_map(|rest| rest.split('"').next());
    names(inputs.filter(|name| *name != "base"))
}

/// The fields in the first column of a table of `docs/cloud.md`, by its head.
fn in_the_docs(head: &str) -> Names {
    let docs = include_str!("../../../../docs/cloud.md");
    let table = docs.split(head).nth(1).unwrap().split("\n\n").next().unwrap();
    let cells = table.lines().filter_map(|row| row.strip_prefix("| ")?.split(" | ").next());
    // A value of a field stands in brackets after it.
    let fields = cells.flat_map(|cell| {
        let mut depth = 0;
        let outside = cell.chars().filter(move |letter| {
            depth += i32::from(*letter == '(') - i32::from(*letter == ')');
            depth == 0
        });
        let outside: String = outside.collect();
        outside.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
    });
    fields.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_field_of_an_app_and_of_a_job_is_in_each_place_that_lists_them() {
    let server = Server::start().await;
    let (admin, token) = (cookie(&server, "admin").await, server.token("admin").await);
    let ok = (StatusCode::OK, json!(true));
    let mut app: Value = serde_json::from_str(&server.app("whole", "true")).unwrap();
    let more = json!({ "image": "debian:12", "env": { "A": "1" }, "slurm": { "partition": "night" } });
    app.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assert_eq!(server.call(&token, "POST", "/api/app", &app.to_string()).await, ok);
    let job = |name: &str, more: Value| {
        let mut job = json!({
            "jobName": name, "appName": "whole", "shardingTotalCount": 2, "cpuCount": 0.1, "memoryMB": 16, "failover": true,
            "misfire": true, "timeZone": "UTC", "shardingItemParameters": "0=a", "jobParameter": "p", "props": { "a": "b" },
            "env": { "A": "1" }, "jobErrorHandlerType": "LOG", "description": "d", "disabled": true, "gracePeriodSeconds": 3,
        });
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        job.to_string()
    };
    // No type of job has all of them.
    for (name, more) in [
        ("by-time", json!({ "jobExecutionType": "TRANSIENT", "cron": "0 0 3 * * ?" })),
        ("after", json!({ "jobExecutionType": "TRANSIENT", "dependsOn": "by-time" })),
        ("resident", json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?", "instances": 1 })),
    ] {
        assert_eq!(server.call(&token, "POST", "/api/job/register", &job(name, more)).await, ok, "{name}");
    }
    let (_, apps) = server.call(&token, "GET", "/api/app/list", "").await;
    let (_, jobs) = server.call(&token, "GET", "/api/job/jobs", "").await;
    let answered = |listed: &Value| -> Names { listed.as_array().unwrap().iter().flat_map(keys).collect() };
    let all = server.scheduler.store().registrations().await.unwrap();
    let stored_apps: Names = all.apps.values().flat_map(|app| keys(&serde_json::to_value(&**app).unwrap())).collect();
    let stored_jobs: Names = all.jobs.values().flat_map(|job| keys(&serde_json::to_value(&**job).unwrap())).collect();

    let of_app = accepted(&server, &token, "POST", "/api/app").await;
    assert!(of_app.contains("appURL") && of_app.len() == 10, "{of_app:?}");
    assert_eq!(stored_apps, of_app, "stored form");
    assert_eq!(answered(&apps), of_app, "REST");
    assert_eq!(documented("App"), of_app, "OpenAPI");
    assert_eq!(form(&server, &admin, "/r/default/cloud/new-app").await, of_app, "form");
    assert_eq!(in_the_docs("| app | default | |\n"), of_app, "docs/cloud.md");

    let mut of_job = accepted(&server, &token, "POST", "/api/job/register").await;
    assert_eq!(in_the_docs("| job | default | |\n"), of_job, "docs/cloud.md");
    for name in WITHOUT_EFFECT {
        assert!(of_job.remove(name), "{name}");
    }
    // The carriers that have these two are not that of this test.
    let elsewhere = names(["queueName", "itemsPerProcess"]);
    let and_those = |found: Names| -> Names { found.union(&elsewhere).cloned().collect() };
    assert_eq!(and_those(stored_jobs), of_job, "stored form");
    assert_eq!(and_those(answered(&jobs)), of_job, "REST");
    assert_eq!(documented("Job"), of_job, "OpenAPI");
    assert_eq!(form(&server, &admin, "/r/default/cloud/new-job").await, of_job, "form");
    server.scheduler.shutdown().await;
}
