use std::sync::Arc;

use elasticjob::config::JobSettings;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::trace::{AnyTraceReader, JobEvent, ReadError};

use crate::testing::traced::{Folder, failed, run};
use crate::testing::unread::Unread;
use crate::testing::{call, console_of, cookie_of, request, start_job, with_users};
use crate::{Console, Registry};

const MINUTE: i64 = 60_000;
const NOON: i64 = 1_700_000_000_000 / MINUTE * MINUTE;

async fn page_of(console: &Console, path: &str) -> String {
    let cookie = cookie_of(console, "viewer").await;
    call(console, request("GET", path, Some(&cookie))).await.body
}

#[tokio::test]
async fn the_list_has_the_last_fires_of_each_job() {
    let memory = MemoryRegistry::new();
    let _settle = start_job(&memory, "settle", &JobSettings::default()).await;
    let _quiet = start_job(&memory, "quiet", &JobSettings::default()).await;
    let folder = Folder::new("strip");
    // Two items each minute for half an hour; an item failed at the last one, and one ran again at the one before.
    let fire = |minute: i64| {
        let at = NOON + minute * MINUTE;
        [0, 1].map(|item| run("settle", item, Some(at), at + 10, Some(at + 20)))
    };
    let mut runs: Vec<_> = (0..29).flat_map(fire).collect();
    let again = NOON + 28 * MINUTE;
    runs.push(run("settle", 1, Some(again), again + 5, None));
    let last = NOON + 29 * MINUTE;
    runs.push(failed(run("settle", 0, Some(last), last + 10, Some(last + 20)), "no disk"));
    folder.write(runs.into_iter().map(JobEvent::Execution)).await;
    let console = folder.console(&memory).await;
    let page = page_of(&console, "/r/default/jobs").await;
    assert_eq!(page.matches("<svg class=\"strip\"").count(), 1, "a job without runs has no picture: {page}");
    assert_eq!(page.matches("<rect class=\"bar").count(), 24, "the last fires alone");
    let classes: Vec<&str> =
        page.split("<rect class=\"bar ").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(classes[21..], ["ok", "warn", "bad"], "the newest on the right");
    for part in
        ["The last 24 fires, the newest on the right; 1 failed", "Failed, 0 of 1 items done", "/jobs/settle/runs"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[tokio::test]
async fn a_console_without_traces_has_no_place_for_fires_and_says_schedules_in_words() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    let page = page_of(&console, "/r/default/jobs").await;
    assert!(!page.contains("Last fires") && page.contains("<small>at 00:00, on day 1, in January</small>"), "{page}");
    for (error, is_said) in [
        (ReadError::NoTable { at: "here".into(), table: "JOB_EXECUTION_LOG" }, false),
        (ReadError::Unavailable { at: "here".into(), why: "away".into() }, true),
    ] {
        let registry = Registry::new("default", Arc::new(memory.connect())).traces(AnyTraceReader::new(Unread(error)));
        let console = Console::new(with_users(), [registry]).expect("the options are right");
        let page = page_of(&console, "/r/default/jobs").await;
        assert!(page.contains("/jobs/settle\""), "the jobs are there all the same: {page}");
        assert_eq!(page.contains("The last fires cannot be read."), is_said, "{page}");
        assert!(!page.contains("<svg"), "{page}");
    }
}
