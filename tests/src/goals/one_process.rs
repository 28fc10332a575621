//! Schedules that fire each second in one process, without a registry center that others share.

use std::io;
use std::process::Command;

use serde_json::Value;

use super::{Case, Party, Stage};

pub(super) fn measure(stage: &Stage, case: &Case, party: Party) -> io::Result<Option<Value>> {
    let rival = |name: &str| {
        stage.plan.rivals.as_ref().map(|program| {
            let mut command = Command::new(program);
            command.args(["--scheduler", name]);
            command
        })
    };
    let command = match party {
        Party::Before | Party::Now => stage.program(party, "bench")?.map(|mut command| {
            command.args(case.options);
            command
        }),
        Party::Peer => rival("apalis-cron"),
        Party::Limit => rival("timers"),
    };
    let Some(mut command) = command else { return Ok(None) };
    command.args(["--jobs", &case.jobs.to_string(), "--seconds", &stage.plan.seconds.to_string()]);
    let mut line = party.last_line(&mut command)?;
    line["kb_per_job"] = line["rss_kb"].as_f64().map(|memory| memory / f64::from(case.jobs)).into();
    Ok(Some(line))
}
