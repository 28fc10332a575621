//! Fires schedules with schedulers that know of one process only: `rivals --scheduler NAME --jobs J --seconds S`.
//!
//! Each job fires every second and does nothing. After a warm-up, the runs of exactly S seconds are counted by their
//! scheduled time, as `bench` does. The last line is one JSON object. Exit code 0, 1 when it failed, 2 for wrong usage.

mod schedulers;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob_tests::measure::{Begins, ProcessUse, percentiles, sleep_to};
use elasticjob_tests::records::now_us;
use elasticjob_test_usage::{arguments, run};
use serde_json::json;

use self::schedulers::Scheduler;

const USAGE: &str = "usage: rivals --scheduler tokio-cron-scheduler|apalis-cron|timers --jobs J --seconds S";

/// Everything that was under way in a second is over by then.
const QUIET: Duration = Duration::from_millis(700);

struct Arguments {
    scheduler: Scheduler,
    jobs: usize,
    seconds: i64,
}

fn parse(mut given: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let (mut scheduler, mut jobs, mut seconds) = (None, 0, 0);
    while let Some(name) = given.next() {
        let value = given.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u32>().map_err(|error| format!("{name} {value}: {error}"));
        match name.as_str() {
            "--scheduler" => scheduler = Some(value.parse()?),
            "--jobs" => jobs = number()? as usize,
            "--seconds" => seconds = i64::from(number()?),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    match (scheduler, jobs, seconds) {
        (None, ..) => Err("--scheduler is missing".to_owned()),
        (_, 0, _) => Err("--jobs is missing, or 0".to_owned()),
        (.., 0) => Err("--seconds is missing, or 0".to_owned()),
        (Some(scheduler), jobs, seconds) => Ok(Arguments { scheduler, jobs, seconds }),
    }
}

fn main() -> ExitCode {
    let arguments = match arguments(parse, USAGE) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    run(measure(arguments))
}

async fn measure(arguments: Arguments) -> Result<String, Box<dyn Error>> {
    let begins = Arc::new(Begins::default());
    sleep_to(now_us() / 1_000_000 * 1_000 + 1_020).await;
    let starting = Instant::now();
    let running = arguments.scheduler.start(arguments.jobs, &begins).await?;
    let start_ms = starting.elapsed().as_millis();

    let first = (now_us() / 1_000_000 + 3) * 1_000;
    let end = first + arguments.seconds * 1_000;
    let quiet = i64::try_from(QUIET.as_millis())?;
    sleep_to(first - 1_000 + quiet).await;
    let (before, since) = (ProcessUse::take(), Instant::now());
    sleep_to(end - 1_000 + quiet).await;
    let (after, window) = (ProcessUse::take(), since.elapsed().as_secs_f64());
    drop(running);

    let counts = |scheduled: i64| (first..end).contains(&scheduled);
    let all = begins.all();
    let counted: Vec<i64> =
        all.iter().filter(|begun| counts(begins.scheduled_ms(**begun))).map(|begun| begun.late_us()).collect();
    let line = json!({
        "start_ms": start_ms,
        "item_runs": counted.len(),
        "expected_runs": arguments.jobs * usize::try_from(arguments.seconds)?,
        "lateness_us": percentiles(counted),
        "rss_kb": after.rss_kb,
        "threads": after.threads,
        "cpu_ms_per_s": ((after.cpu_ms - before.cpu_ms) as f64 / window).round(),
    });
    Ok(line.to_string())
}
