//! `/api/job/{job}/log`: what items and processes wrote.

use axum::extract::{Path, Query};
use axum::response::{IntoResponse, Response};
use elasticjob::config::Message;

use super::answer::Refusal;
use super::guard::{Parameters, Visitor};
use super::jobs::job_name;
use crate::carrier::LaunchId;
use crate::model::ExecutionType;
use crate::texts;

/// How many bytes of a log are shown.
const SHOWN: usize = 256 * 1_024;

/// How many are read: what is longer than is shown by one character at least was cut.
const READ: usize = SHOWN + char::MAX.len_utf8();

/// The header of an answer with the end of a log alone, with how many bytes of it are there. The first line says so, too.
const CUT: &str = "elasticjob-log-cut";

/// What an item of the last fire wrote, or of the launch that is named; of a DAEMON job what a process wrote.
pub(super) async fn log(
    visitor: Visitor,
    Path(name): Path<String>,
    Query(parameters): Query<Parameters>,
) -> Result<Response, Refusal> {
    let name = job_name(&name)?;
    let number = |of: &str, wrong: fn() -> Message| {
        let number = parameters.get(of).map_or(Ok(0), |number| number.parse::<u32>());
        number.map_err(|_| Refusal::bad(wrong()))
    };
    let item = number("item", texts::log_item_number)?;
    let process = number("process", texts::log_process_number)?;
    let (scheduler, all) = (&visitor.api.scheduler, visitor.api.scheduler.registrations_now().await?);
    let job = all.jobs.get(&name).ok_or_else(|| Refusal::not_found(texts::no_such_job(name.as_str())))?;
    let carrier = scheduler.carrier();
    match job.job_execution_type {
        ExecutionType::Daemon if parameters.contains_key("item") || parameters.contains_key("launch") => {
            return Err(Refusal::bad(texts::log_of_daemon(name.as_str())));
        }
        ExecutionType::Daemon => {
            let log = carrier.daemon_log(&name, process, READ).await?;
            let none = || Refusal::not_found(texts::no_log_of_process(carrier.place(), process, name.as_str()));
            return log.map(shown).ok_or_else(none);
        }
        ExecutionType::Transient if parameters.contains_key("process") => {
            return Err(Refusal::bad(texts::log_of_transient(name.as_str())));
        }
        ExecutionType::Transient => {}
    }
    let launch = match parameters.get("launch") {
        Some(text) => text.parse::<LaunchId>().map_err(|error| Refusal::bad(error.message()))?,
        None => {
            let snapshot = scheduler.operations().snapshot(&name).await?;
            let fire = snapshot.items.get(&item).and_then(|item| item.record.last_fire());
            let fire = fire.ok_or_else(|| Refusal::not_found(texts::item_not_run(item, name.as_str())))?;
            LaunchId { job: name.clone(), fire }
        }
    };
    if launch.job != name {
        return Err(Refusal::bad(texts::launch_of_another_job(launch.to_string(), name.as_str())));
    }
    let log = carrier.log(&launch, item, READ).await?;
    log.map(shown).ok_or_else(|| Refusal::not_found(texts::no_log_of_item(carrier.place(), item, launch.to_string())))
}

/// A log as an answer. One that is longer than is shown says so: to programs in a header, and to readers in a line before it.
fn shown(log: String) -> Response {
    let Some(surplus) = log.len().checked_sub(SHOWN).filter(|surplus| *surplus > 0) else { return log.into_response() };
    let end = &log[log.ceil_char_boundary(surplus)..];
    let text = format!("[cut: these are the last {} bytes of the log]\n{end}", end.len());
    ([(CUT, end.len().to_string())], text).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    async fn answer(log: String) -> (Option<String>, String) {
        let answer = shown(log);
        let cut = answer.headers().get(CUT).map(|cut| cut.to_str().unwrap().to_owned());
        let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        (cut, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_log_that_is_cut_says_so_and_another_one_is_whole() {
        let whole = "a".repeat(SHOWN);
        assert_eq!(answer(whole.clone()).await, (None, whole.clone()));
        let (cut, text) = answer(format!("first{whole}")).await;
        assert_eq!(cut.as_deref(), Some("262144"));
        assert_eq!(text, format!("[cut: these are the last 262144 bytes of the log]\n{whole}"));
        // No character is divided.
        let (cut, text) = answer("\u{4e2d}".repeat(SHOWN / 3 + 1)).await;
        assert_eq!(cut.as_deref(), Some("262143"));
        assert!(text.ends_with('\u{4e2d}') && !text.contains('\u{fffd}'));
    }
}
