//! The pages of fires and what the API says of them, read from a database.

use axum::http::StatusCode;
use axum::http::header::ACCEPT_LANGUAGE;
use elasticjob::config::JobSettings;
use elasticjob::fire::ExecutionSource;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::trace::{DecisionKind, JobEvent, JobExecutionEvent};
use serde_json::Value;

use crate::Console;
use crate::access::{Grant, Role};
use crate::service::fires::FireId;
use crate::testing::traced::{Folder, decision, failed, run};
use crate::testing::{Answer, call, console_of, cookie_of, job_settings, request, start_job};

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
            assert!(!answer.body.contains("<script>"), "{path}: {}", answer.body);
            assert!(!answer.body.contains("style="), "{path}: the policy of pages forbids it");
        }
    }
    let list = get(&console, &path, "en").await.body;
    for part in ["250 ms", "1 done, 1 failed", "by hand", "Succeeded when run again", "<svg", "runs of items"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let cookie = cookie_of(&console, "viewer").await;
    let mut update = request("GET", &path, Some(&cookie));
    update.headers_mut().insert("hx-request", "true".parse().expect("a value"));
    let update = call(&console, update).await.body;
    assert!(
        list.contains("records=true") && list.contains("data-hx-select=\"#fires\""),
        "it is kept up to date: {list}"
    );
    assert!(update.contains("1 done, 1 failed") && !update.contains("<svg"), "the table alone: {update}");
    let later = get(&console, &format!("{path}?until=2030-01-01T00:00"), "en").await.body;
    assert!(!later.contains("sse:connect"), "a time with an end is not: {later}");
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
    assert_eq!(
        first["fires"][0]["items"],
        serde_json::json!({"done": 1, "failed": 1, "running": 0, "noEnd": 0, "notRun": 0})
    );
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

#[tokio::test]
async fn the_timeline_has_the_jobs_of_the_reader_with_what_ran_and_what_is_to_come() {
    let (folder, memory) = (Folder::new("timeline"), MemoryRegistry::new());
    let now = crate::service::now();
    let hourly = job_settings(|settings| settings.cron = Some("0 30 * * * ?".to_owned()));
    let _jobs = [
        start_job(&memory, "billing-1", &hourly).await,
        start_job(&memory, "orders", &JobSettings::default()).await,
        start_job(&memory, HOSTILE, &JobSettings::default()).await,
    ];
    let ago = |minutes: i64| now - minutes * MINUTE;
    let mut events = vec![
        run("billing-1", 0, Some(ago(50)), ago(50), Some(ago(40))),
        failed(run("billing-1", 1, Some(ago(20)), ago(20), Some(ago(19))), "no"),
        run("billing-1", 2, Some(ago(90)), ago(90), Some(ago(30))),
        run("billing-1", 3, Some(ago(100)), ago(100), Some(ago(95))),
    ];
    events.extend((0..600).map(|at| run("orders", 0, Some(ago(40) + at * 1_000), ago(40) + at * 1_000, Some(ago(10)))));
    folder.write(events.into_iter().map(JobEvent::Execution)).await;
    let console = folder.console(&memory).await;
    let api = async |query: &str| {
        let answer = get(&console, &format!("/api/v1/registries/default/timeline{query}"), "en").await;
        serde_json::from_str::<Value>(&answer.body).unwrap_or_else(|_| panic!("no JSON: {}", answer.body))
    };
    let hour = api("?span=1h&q=billing").await;
    let outcomes: Vec<_> =
        hour["jobs"][0]["fires"].as_array().into_iter().flatten().map(|fire| fire["outcome"].as_str()).collect();
    assert_eq!(outcomes, [Some("FAILED"), Some("SUCCEEDED"), Some("SUCCEEDED")], "one began before, and ran: {hour}");
    assert_eq!((&hour["total"], &hour["jobs"][0]["more"]), (&1.into(), &false.into()));
    assert_eq!(api("?span=24h&q=billing").await["jobs"][0]["coming"].as_array().map(Vec::len), Some(3));
    let orders = api("?span=1h&q=orders").await;
    assert_eq!(orders["jobs"][0]["more"], true, "600 runs are more than are read");
    assert_eq!(orders["jobs"][0]["fires"].as_array().map(Vec::len), Some(500));
    let folded = orders["jobs"][0]["folded"].as_array().expect("a list");
    let counted: u64 = folded.iter().filter_map(|part| part["runs"].as_u64()).sum();
    assert_eq!(counted, 100, "the older ones are counted: {folded:?}");
    assert_eq!((&orders["traced"], &orders["jobs"][0]["unknown"]), (&true.into(), &Value::Null));
    let first = api("?limit=2").await;
    let next = first["next"].as_str().expect("a job follows").to_owned();
    let all = api(&format!("?limit=2&cursor={}", super::segment(&next))).await;
    assert_eq!((all["jobs"].as_array().map(Vec::len), &all["next"]), (Some(1), &Value::Null), "{all}");
    for wrong in ["?span=2h", "?until=yesterday", "?more=1", "?until=9999-12-31T23:59:59Z&span=x"] {
        assert_eq!(api(wrong).await["code"], "bad-request", "{wrong}");
    }

    for language in ["en", "zh"] {
        let page = get(&console, "/r/default/timeline?span=1h", language).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        assert!(page.body.contains("<rect class=\"bar bad\"") && page.body.contains("mark now"), "{}", page.body);
        assert!(!page.body.contains("<script>") && !page.body.contains("style="), "{}", page.body);
        assert!(page.body.contains("500") && page.body.contains("rel=\"prev\""), "{}", page.body);
        assert!(page.body.contains("bar folded ok") && page.body.contains("records=true"), "{}", page.body);
    }
    let past = get(&console, "/r/default/timeline?span=1h&until=2024-11-21T03:00:00Z", "en").await;
    assert!(!past.body.contains("sse:connect"), "what is over does not change: {}", past.body);
    assert!(!past.body.contains("mark now") && past.body.contains("2024-11-21T04%3A00%3A00"), "{}", past.body);
    let refused = get(&console, "/r/default/timeline?span=2h", "en").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn the_timeline_of_a_console_without_traces_says_what_it_cannot_know() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    for (language, said) in [("en", "No database of traces is read"), ("zh", "未读取事件追踪数据库")] {
        let page = get(&console, "/r/default/timeline?from=2026-11-20T22:00&span=12h", language).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        for part in [said, "elasticjob.tracing", "<svg", "value=\"2026-11-20T22:00\"", "<option selected>12h"] {
            assert!(page.body.contains(part), "{part}: {}", page.body);
        }
    }
    let api = get(&console, "/api/v1/registries/default/timeline", "en").await;
    assert!(api.status == StatusCode::OK && api.body.contains(r#""traced":false"#), "{}", api.body);
}

#[tokio::test]
async fn nobody_sees_jobs_of_others_on_the_timeline() {
    let (folder, memory) = (Folder::new("timeline-grants"), MemoryRegistry::new());
    let _jobs = [
        start_job(&memory, "billing-1", &JobSettings::default()).await,
        start_job(&memory, "orders", &JobSettings::default()).await,
    ];
    let now = crate::service::now();
    let events = ["billing-1", "orders"].map(|job| JobEvent::Execution(run(job, 0, Some(now), now, Some(now))));
    folder.write(events.into_iter().take(1)).await;
    let console = folder.console_with(&memory, Grant::everywhere(Role::Viewer).jobs("billing-*")).await;
    for path in ["/r/default/timeline", "/api/v1/registries/default/timeline"] {
        let seen = get(&console, path, "en").await;
        assert!(seen.body.contains("billing-1") && !seen.body.contains("orders"), "{}", seen.body);
    }
    for path in ["/r/default/jobs/orders/runs", "/r/default/jobs/orders/runs/2026-11-21T03:00:00Z"] {
        assert_eq!(get(&console, path, "en").await.status, StatusCode::FORBIDDEN, "{path}");
    }
}
