use axum::http::header::ACCEPT_LANGUAGE;
use elasticjob::config::JobSettings;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::trace::{JobEvent, JobLogEvent, LogLevel};
use serde_json::Value;

use super::*;
use crate::Console;
use crate::testing::traced::{Folder, failed, line, run};
use crate::testing::{Answer, call, cookie_of, request, start_job};

const HOSTILE: &str = "<script>alert('1')<script>\"%2F&报表";

async fn get(console: &Console, path: &str, language: &str) -> Answer {
    let cookie = cookie_of(console, "viewer").await;
    let mut request = request("GET", path, Some(&cookie));
    request.headers_mut().insert(ACCEPT_LANGUAGE, language.parse().expect("a value"));
    call(console, request).await
}

/// The line of a run, at another level and after others that were left out.
fn other(event: JobEvent, level: LogLevel, left_out: u32) -> JobEvent {
    let JobEvent::Log(line) = event else { panic!("a line") };
    JobEvent::Log(JobLogEvent { level, left_out, ..line })
}

#[tokio::test]
async fn a_log_is_shown_with_what_is_missing_in_both_languages_and_as_a_file() {
    let (folder, memory) = (Folder::new("log-page"), MemoryRegistry::new());
    let _job = start_job(&memory, HOSTILE, &JobSettings::default()).await;
    let at = crate::service::now() - 60_000;
    let of = failed(run(HOSTILE, 0, Some(at), at + 5, Some(at + 9_000)), "no disk");
    let events = [
        line(&of, 1, &format!("it begins {HOSTILE}\nin two lines")),
        other(line(&of, 2, "nearly full"), LogLevel::Warn, 37),
        other(line(&of, 3, "no disk at all"), LogLevel::Error, 0),
        JobEvent::Execution(of.clone()),
    ];
    folder.write(events).await;
    let console = folder.console(&memory).await;
    let path = format!("/r/default/jobs/{}/log/{}", segment(HOSTILE), of.id);
    for (language, parts) in
        [("en", ["37 lines left out", "The end of the log"]), ("zh", ["省略了 37 行", "日志到此结束"])]
    {
        let answer = get(&console, &path, language).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        for part in
            parts.into_iter().chain(["no disk at all", "in two lines", "class=\"bad\"", "&#60;script&#62;alert"])
        {
            assert!(answer.body.contains(part), "{part}: {}", answer.body);
        }
        assert!(!answer.body.contains("<script") && !answer.body.contains("style="), "{}", answer.body);
        assert!(!answer.body.contains("id=\"live\""), "nothing will follow");
    }
    let errors = get(&console, &format!("{path}?level=WARN&q=NEARLY"), "en").await.body;
    assert!(errors.contains("nearly full") && !errors.contains("no disk at all"), "{errors}");
    let none = get(&console, &format!("{path}?q=nowhere"), "en").await.body;
    assert!(none.contains("No line matches"), "{none}");
    let wrong = get(&console, &format!("{path}?level=LOUD"), "en").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);

    let api = format!("/api/v1/registries/default/jobs/{}/executions/{}/log", segment(HOSTILE), of.id);
    let json: Value = serde_json::from_str(&get(&console, &format!("{api}?limit=2"), "en").await.body).expect("JSON");
    assert_eq!(
        (&json["next"], &json["lines"][1]["leftOut"], &json["run"]["state"]),
        (&2.into(), &37.into(), &"FAILED".into())
    );
    for path in [&path, &api] {
        let file = get(&console, &format!("{path}?format=text"), "en").await.body;
        assert!(file.contains("\n    in two lines\n... 37 lines left out\n"), "{file}");
    }
}

#[tokio::test]
async fn a_run_without_lines_says_why_there_are_none() {
    let (folder, memory) = (Folder::new("log-page-none"), MemoryRegistry::new());
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let at = crate::service::now() - 60_000;
    let of = run("settle", 0, Some(at), at + 5, Some(at + 9));
    folder.write_without_logs([JobEvent::Execution(of.clone())]).await;
    let console = folder.console(&memory).await;
    let path = format!("/r/default/jobs/settle/log/{}", of.id);
    let off = get(&console, &path, "en").await;
    assert!(off.status == StatusCode::OK && off.body.contains("elasticjob.tracing.run-log.enabled"), "{}", off.body);
    // Another run has lines: this one logged none.
    folder.write([line(&run("settle", 1, Some(at), at + 5, None), 1, "a line")]).await;
    assert!(get(&console, &path, "en").await.body.contains("logged nothing in this run"));
    assert_eq!(get(&console, "/r/default/jobs/settle/log/none", "en").await.status, StatusCode::NOT_FOUND);
}
