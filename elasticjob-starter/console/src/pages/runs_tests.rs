//! The pages of fires and what the API says of them, read from a database.

use axum::http::StatusCode;
use axum::http::header::ACCEPT_LANGUAGE;
use elasticjob::config::JobSettings;
use elasticjob::fire::ExecutionSource;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::trace::{DecisionKind, JobEvent, JobExecutionEvent};
use serde_json::Value;

use crate::Console;
use crate::service::fires::FireId;
use crate::testing::traced::{Folder, decision, failed, run};
use crate::testing::{Answer, call, console_of, cookie_of, request, start_job};

const MINUTE: i64 = 60_000;
const HOSTILE: &str = "<script>alert('1')<script>\"%2F&报表";

async fn get(console: &Console, path: &str, language: &str) -> Answer {
    let cookie = cookie_of(console, "viewer").await;
    let mut request = request("GET", path, Some(&cookie));
    request.headers_mut().insert(ACCEPT_LANGUAGE, language.parse().expect("a value"));
    call(console, request).await
}

/// A job whose name and errors try to become code, with a fire that failed, one that was lost and run again, and a
/// trigger by hand. Returns the scheduled time of the first one.
async fn traced(folder: &Folder, memory: &MemoryRegistry) -> (Console, i64, elasticjob::runtime::ScheduleJobBootstrap) {
    let job = start_job(memory, HOSTILE, &JobSettings::default()).await;
    let now = crate::service::now();
    let at = now - now % MINUTE - 10 * MINUTE;
    let again = JobExecutionEvent {
        source: ExecutionSource::Failover,
        ..run(HOSTILE, 1, Some(at - MINUTE), at - MINUTE + 9_000, Some(at - MINUTE + 12_000))
    };
    let events = [
        run(HOSTILE, 0, Some(at), at + 250, Some(at + 2_250)),
        failed(run(HOSTILE, 1, Some(at), at + 300, Some(at + 900)), &format!("{HOSTILE}\nat line 2")),
        run(HOSTILE, 0, Some(at - MINUTE), at - MINUTE + 10, Some(at - MINUTE + 400)),
        run(HOSTILE, 1, Some(at - MINUTE), at - MINUTE + 11, None),
        again,
        run(HOSTILE, 0, None, at - 2 * MINUTE, Some(at - 2 * MINUTE + 5)),
    ];
    let decisions = [decision(HOSTILE, DecisionKind::TakenOver, at - MINUTE + 8_900, Some(at - MINUTE), None)];
    folder.write(events.map(JobEvent::Execution).into_iter().chain(decisions)).await;
    (folder.console(memory).await, at, job)
}

#[tokio::test]
async fn pages_of_fires_are_there_in_both_languages_and_escape_what_others_wrote() {
    let (folder, memory) = (Folder::new("runs-pages"), MemoryRegistry::new());
    let (console, at, _job) = traced(&folder, &memory).await;
    let path = format!("/r/default/jobs/{}/runs", super::segment(HOSTILE));
    let fire = format!("{path}/{}", FireId::Scheduled(at));
    let missing = format!("{path}/2024-11-21T03:00:00Z");
    for path in [&path, &fire, &missing] {
        for (language, tag) in [("en", "lang=\"en\""), ("zh", "lang=\"zh-CN\"")] {
            let answer = get(&console, path, language).await;
            assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
            assert!(answer.body.contains(tag), "{path}");
            assert!(!answer.body.contains("<script"), "{path}: {}", answer.body);
            assert!(!answer.body.contains("style="), "{path}: the policy of pages forbids it");
        }
    }
    let list = get(&console, &path, "en").await.body;
    for part in ["250 ms", "1 done, 1 failed", "by hand", "Succeeded when run again", "<svg", "runs of items"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let one = get(&console, &fire, "en").await.body;
    for part in
        ["&#60;script&#62;alert", "at line 2", "<rect class=\"bar bad\"", "<rect class=\"bar ok\"", "10.0.0.7@-@42"]
    {
        assert!(one.contains(part), "{part}: {one}");
    }
    let retried = get(&console, &format!("{path}/{}", FireId::Scheduled(at - MINUTE)), "en").await.body;
    for part in ["taken over", "Lost, run again", "Taken over", "<line class=\"wait\""] {
        assert!(retried.contains(part), "{part}: {retried}");
    }
    let none = get(&console, &missing, "en").await.body;
    assert!(none.contains("No run recorded") && none.contains("not known") && !none.contains("<svg"), "{none}");
    assert_eq!(get(&console, &format!("{path}/yesterday"), "en").await.status, StatusCode::BAD_REQUEST);
    assert_eq!(get(&console, &format!("{path}?cursor=x"), "en").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn the_api_says_the_same_as_the_pages() {
    let (folder, memory) = (Folder::new("runs-api"), MemoryRegistry::new());
    let (console, at, _job) = traced(&folder, &memory).await;
    let path = format!("/api/v1/registries/default/jobs/{}/fires", super::segment(HOSTILE));
    let ask = async |end: String| {
        let answer = get(&console, &format!("{path}{end}"), "en").await;
        serde_json::from_str::<Value>(&answer.body).unwrap_or_else(|_| panic!("no JSON: {}", answer.body))
    };
    let first = ask("?limit=2".to_owned()).await;
    assert_eq!(first["fires"][0]["outcome"], "FAILED", "{first}");
    assert_eq!(first["fires"][0]["items"], serde_json::json!({"done": 1, "failed": 1, "running": 0, "noEnd": 0}));
    assert_eq!((&first["fires"][0]["latenessMs"], &first["fires"][0]["durationMs"]), (&250.into(), &2_000.into()));
    assert_eq!(first["fires"][1]["outcome"], "RECOVERED", "{first}");
    let next = first["next"].as_str().expect("one follows");
    let second = ask(format!("?limit=2&cursor={next}")).await;
    assert_eq!((&second["fires"][0]["manual"], &second["next"]), (&true.into(), &Value::Null), "{second}");
    for fire in [&first["fires"][1], &second["fires"][0]] {
        let name = fire["fire"].as_str().expect("it has a name");
        let one = ask(format!("/{name}")).await;
        assert_eq!(one["scheduledAt"], fire["scheduledAt"], "{one}");
        assert!(one["runs"].as_array().is_some_and(|runs| !runs.is_empty()), "{one}");
    }
    let one = ask(format!("/{}", FireId::Scheduled(at - MINUTE))).await;
    let states: Vec<_> = one["runs"].as_array().into_iter().flatten().map(|run| run["state"].as_str()).collect();
    assert_eq!(states, [Some("SUCCEEDED"), Some("LOST"), Some("SUCCEEDED")], "{one}");
    assert_eq!(one["decisions"][0]["kind"], "TAKEN_OVER", "{one}");
    assert_eq!(ask("/yesterday".to_owned()).await["code"], "bad-request");
    assert_eq!(ask("?more=1".to_owned()).await["code"], "bad-request");
}

#[tokio::test]
async fn a_console_without_traces_says_on_the_pages_of_fires_how_to_have_them() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    for path in ["/r/default/jobs/settle/runs", "/r/default/jobs/settle/runs/2026-11-21T03:00:00Z"] {
        let page = get(&console, path, "en").await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(page.body.contains("elasticjob.tracing") && !page.body.contains("<svg"), "{}", page.body);
    }
    let api = get(&console, "/api/v1/registries/default/jobs/settle/fires", "en").await;
    assert!(api.body.contains("not-traced"), "{}", api.body);
}
