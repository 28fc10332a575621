use std::time::Duration;

use tokio::runtime::Handle;

use super::*;
use crate::trace::{TracingConfiguration, TracingStorage, WriteError};

/// Keeps all lines; or takes nothing as long as it is closed.
#[derive(Clone, Default)]
struct Lines {
    kept: Arc<Mutex<Vec<JobLogEvent>>>,
    closed: Arc<Mutex<bool>>,
}

impl TracingStorage for Lines {
    fn type_name(&self) -> &str {
        "LINES"
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        if *self.closed.lock().unwrap() {
            return Err(WriteError::Unavailable("away".to_owned()));
        }
        let lines =
            events.iter().filter_map(|event| if let JobEvent::Log(line) = event { Some(line.clone()) } else { None });
        self.kept.lock().unwrap().extend(lines);
        Ok(())
    }
}

impl Lines {
    fn start(&self, queue: usize) -> Tracing {
        Tracing::start(TracingConfiguration::new(self.clone()).queue(queue), &Handle::current())
    }

    /// What is kept of a run: for each line its number, how many were left out before it, and what it says.
    async fn of(&self, tracing: &Tracing, log: &RunLog) -> Vec<(u32, u32, String)> {
        log.end();
        tracing.close(Duration::from_secs(10)).await;
        let lines = self.kept.lock().unwrap();
        lines.iter().map(|line| (line.line, line.left_out, line.message.clone())).collect()
    }
}

fn log(tracing: &Tracing, options: RunLogOptions) -> RunLog {
    RunLog::new(tracing.clone(), options.within_range(), "run".into(), None, JobName::new("job").unwrap())
}

#[tokio::test(start_paused = true)]
async fn the_first_and_the_last_lines_are_kept_and_say_how_many_are_missing() {
    let lines = Lines::default();
    let tracing = lines.start(10_000);
    let log = log(&tracing, RunLogOptions { max_lines: 20, ..RunLogOptions::default() });
    (1..=57).for_each(|number| log.line(LogLevel::Info, "test", &number.to_string()));
    let kept = lines.of(&tracing, &log).await;
    assert_eq!(kept.len(), 20);
    assert_eq!(kept[17], (18, 0, "18".to_owned()));
    assert_eq!(kept[18..], [(19, 37, "56".to_owned()), (20, 0, "57".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn the_bytes_of_a_run_are_bounded_too_with_the_end_kept() {
    let lines = Lines::default();
    let tracing = lines.start(10_000);
    let log = log(&tracing, RunLogOptions { max_bytes: 5_000, max_line_bytes: 100, ..RunLogOptions::default() });
    (0..1_000).for_each(|number| log.line(LogLevel::Info, "test", &format!("{number:0100}")));
    let kept = lines.of(&tracing, &log).await;
    assert_eq!(kept.len(), 50, "5,000 bytes in lines of 100");
    assert_eq!(kept.iter().map(|(_, left_out, _)| left_out).sum::<u32>(), 950);
    assert_eq!(kept[49].2, format!("{:0100}", 999));
}

#[tokio::test(start_paused = true)]
async fn lines_leave_half_of_the_queue_to_the_records_of_runs_and_say_what_was_left_out() {
    let lines = Lines::default();
    *lines.closed.lock().unwrap() = true;
    let tracing = lines.start(10);
    let log = log(&tracing, RunLogOptions::default());
    (0..20).for_each(|number| log.line(LogLevel::Info, "test", &number.to_string()));
    let counts = tracing.counts();
    assert_eq!((counts.posted_to.lines, counts.lost_by.queue_full), (20, 15));
    *lines.closed.lock().unwrap() = false;
    while lines.kept.lock().unwrap().len() < 5 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(lines.of(&tracing, &log).await[5], (6, 15, String::new()), "no line came after them");
}

#[tokio::test(start_paused = true)]
async fn lines_that_matter_too_little_or_come_after_the_end_are_not_kept() {
    let lines = Lines::default();
    let tracing = lines.start(100);
    let log = log(&tracing, RunLogOptions { level: LogLevel::Warn, ..RunLogOptions::default() });
    log.line(LogLevel::Info, "test", "by the way");
    log.line(LogLevel::Error, "test", "no disk");
    log.end();
    log.line(LogLevel::Error, "test", "too late");
    assert_eq!(lines.of(&tracing, &log).await, [(1, 0, "no disk".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn a_line_shows_no_secret_and_no_control_character_and_is_cut() {
    let lines = Lines::default();
    let tracing = lines.start(100);
    let log = log(&tracing, RunLogOptions { max_line_bytes: 100, ..RunLogOptions::default() });
    log.line(LogLevel::Info, "test", "to postgres://jobs:hunter2@db/jobs\r\n\u{1b}[31mtwo\n");
    log.line(LogLevel::Info, "test", &"é".repeat(1_000));
    let kept = lines.of(&tracing, &log).await;
    assert_eq!(kept[0].2, "to postgres://***@db/jobs\n\\u{1b}[31mtwo");
    assert_eq!(kept[1].2, format!("{}…", "é".repeat(50)));
}

#[tokio::test]
async fn code_finds_the_log_of_the_run_that_it_is_in() {
    let tracing = Lines::default().start(100);
    let log = log(&tracing, RunLogOptions::default());
    assert!(RunLog::current().is_none());
    let found = log
        .clone()
        .scope(async {
            tokio::task::yield_now().await;
            RunLog::current()
        })
        .await;
    assert_eq!(found.map(|log| log.0.execution_id.to_string()).as_deref(), Some("run"));
    assert!(log.sync_scope(RunLog::current).is_some());
    assert!(RunLog::current().is_none());
}
