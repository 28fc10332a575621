//! The page and the API of a fire in the past, read from a database.

use axum::http::header::ACCEPT_LANGUAGE;
use elasticjob::config::JobSettings;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::trace::{DecisionKind, JobDecisionEvent, JobEvent};
use serde_json::{Value, json};

use chrono::DateTime;

use super::*;
use crate::Console;
use crate::service::time::Time;
use crate::testing::traced::{Folder, decision, run};
use crate::testing::{Answer, call, console_of, cookie_of, request, start_job};

async fn get(console: &Console, path: &str, language: &str) -> Answer {
    let cookie = cookie_of(console, "viewer").await;
    let mut request = request("GET", path, Some(&cookie));
    request.headers_mut().insert(ACCEPT_LANGUAGE, language.parse().expect("a value"));
    call(console, request).await
}

/// What the instance decided against item 1, for a reason that has a code.
fn skipped(at: i64) -> JobEvent {
    let JobEvent::Decision(made) = decision("settle", DecisionKind::Skipped, at + 7, Some(at), None) else {
        unreachable!("a decision is made")
    };
    let detail = json!({"code": "too-late", "lateSeconds": 31, "limitSeconds": 20});
    let detail = detail.as_object().cloned().unwrap_or_default();
    JobEvent::Decision(JobDecisionEvent { sharding_items: vec![1], detail, ..made })
}

#[tokio::test]
async fn a_fire_in_the_past_is_explained_on_the_page_and_by_the_api() {
    let (folder, memory) = (Folder::new("why-past"), MemoryRegistry::new());
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    // Midnight of this year: the only fire that the schedule has.
    let at = DateTime::parse_from_rfc3339("2026-01-01T00:00:00Z").expect("a time").timestamp_millis();
    let ran = JobEvent::Execution(run("settle", 0, Some(at), at + 5, Some(at + 50)));
    folder.write([ran, skipped(at), decision("settle", DecisionKind::Elected, at - 9_000, None, None)]).await;
    let console = folder.console(&memory).await;

    let page = "/r/default/jobs/settle/why?at=2025-12-31T23:59:30";
    let english = get(&console, page, "en").await;
    assert_eq!(english.status, StatusCode::OK, "{}", english.body);
    for part in ["The fire of 2026-01-01 00:00:00+00:00", "Succeeded", "not run here: the reason", "became the leader"]
    {
        assert!(english.body.contains(part), "{part}: {}", english.body);
    }
    assert!(english.body.contains("elasticjob why --at 2026-01-01T00:00:00+00:00 settle"), "{}", english.body);
    let chinese = get(&console, page, "zh").await.body;
    for part in ["成为主节点", "已延迟 31 秒，最多允许延迟 20 秒"] {
        assert!(chinese.contains(part), "{part}: {chinese}");
    }

    let path = "/api/v1/registries/default/jobs/settle/past?at=";
    let answer = get(&console, &format!("{path}{}", Time(at)), "en").await;
    let past: Value = serde_json::from_str(&answer.body).expect("JSON");
    assert_eq!((&past["fire"], &past["inSchedule"]), (&json!(Time(at).to_string()), &json!(true)), "{past}");
    assert_eq!(
        (&past["items"]["0"][0]["kind"], &past["items"]["0"][0]["outcome"]),
        (&json!("RUN"), &json!("SUCCEEDED"))
    );
    let told = &past["items"]["1"][0];
    assert_eq!(
        (&told["kind"], &told["obstacle"], &told["detail"]["lateSeconds"]),
        (&json!("SKIPPED"), &json!(true), &json!(31))
    );
    assert_eq!(past["around"][0]["kind"], "ELECTED", "{past}");
    let one: Value =
        serde_json::from_str(&get(&console, &format!("{path}{}&item=1", Time(at)), "en").await.body).expect("JSON");
    assert_eq!(one["items"].as_object().map(|items| items.len()), Some(1), "{one}");

    let nothing = get(&console, "/r/default/jobs/settle/why?at=2026-03-01T12:00", "en").await.body;
    assert!(nothing.contains("no fire at this time") && nothing.contains("No run and no decision"), "{nothing}");
    for wrong in ["yesterday", ""] {
        assert_eq!(get(&console, &format!("{path}{wrong}"), "en").await.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    let refused = get(&console, "/r/default/jobs/settle/why?at=yesterday", "en").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("is no time"), "{}", refused.body);
}

#[tokio::test]
async fn without_traces_the_past_is_not_known_and_the_page_says_so() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    let page = get(&console, "/r/default/jobs/settle/why?at=2026-01-01T00:00", "en").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("elasticjob.tracing"), "{}", page.body);
}

#[tokio::test]
async fn who_disabled_a_job_and_why_stands_beside_the_reasons() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    let before = get(&console, "/r/default/jobs/settle/why", "en").await.body;
    assert!(!before.contains("What operators did last"), "{before}");
    let (admin, body) = (cookie_of(&console, "admin").await, json!({ "enabled": false, "reason": "<kernel> update" }));
    let off = crate::testing::json("PUT", "/api/v1/registries/default/jobs/settle/state", &admin, &body);
    assert_eq!(call(&console, off).await.status, StatusCode::OK);
    console.app().registries["default"].close_kept(std::time::Duration::from_secs(10)).await;
    let page = get(&console, "/r/default/jobs/settle/why", "en").await.body;
    for part in ["What operators did last", "admin: <code>disable-servers</code>", "&#60;kernel&#62; update", ">done<"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("/r/default/history/audit?job=settle\""), "{page}");
}
