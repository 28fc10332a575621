//! The views and the actions. Pages and the API call the same functions.

pub(crate) mod accounts;
pub(crate) mod alarms;
pub(crate) mod audit;
pub(crate) mod changes;
pub(crate) mod configuration;
pub(crate) mod configurations;
pub(crate) mod connections;
mod csv;
pub(crate) mod disabled;
pub(crate) mod fires;
pub(crate) mod graph;
pub(crate) mod history;
pub(crate) mod history_file;
pub(crate) mod job;
pub(crate) mod job_row;
pub(crate) mod jobs;
mod local;
pub(crate) mod many_jobs;
pub(crate) mod nodes;
pub(crate) mod overview;
pub(crate) mod part;
pub(crate) mod past;
pub(crate) mod recent_actions;
pub(crate) mod rerun;
pub(crate) mod run_log;
pub(crate) mod strip;
pub(crate) mod time;
pub(crate) mod timeline;
pub(crate) mod versions;

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
