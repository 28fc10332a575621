//! Records the fires that are not run, as the log says. The checks look whether the log says so of all of them.

use std::fmt;
use std::sync::Arc;

use chrono::DateTime;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use super::recorder::Recorder;
use crate::records::{Reason, What};

/// How the log calls a fire that no schedule asked for.
const MANUAL: &str = "manual trigger of ";

/// A layer that records lines about fires which are not run.
pub(super) struct RecordSkips(Arc<Recorder>);

impl RecordSkips {
    pub(super) fn new(recorder: Arc<Recorder>) -> Self {
        Self(recorder)
    }
}

impl<S: Subscriber> Layer<S> for RecordSkips {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = Line::default();
        event.record(&mut line);
        if let Some(skipped) = line.skipped()
            && let Err(error) = self.0.record(&line.job, skipped)
        {
            eprintln!("a skip could not be recorded: {error}");
        }
    }
}

/// A line of the log.
#[derive(Debug, Default)]
struct Line {
    job: String,
    fire: String,
    items: String,
    message: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let target = match field.name() {
            "job" => &mut self.job,
            "fire" => &mut self.fire,
            "items" => &mut self.items,
            "message" => &mut self.message,
            _ => return,
        };
        *target = format!("{value:?}");
    }
}

impl Line {
    fn skipped(&self) -> Option<What> {
        if let Some(missed) = self.message.strip_prefix("fires from ") {
            let (from, rest) = missed.split_once(" on were missed")?;
            let (_, until) = rest.rsplit_once("going on with ")?;
            let (from_ms, until_ms) = (time(from)?, time(until)? - 1);
            return Some(What::Skipped { from_ms, until_ms, items: vec![], reason: Reason::Missed });
        }
        if let Some(given_up) = self.message.strip_prefix("no instance began these items for the fires from ") {
            let (from, rest) = given_up.split_once(" on, and no instance will")?;
            let (_, until) = rest.rsplit_once("the fire of ")?;
            let (from_ms, until_ms, items) = (time(from)?, time(until)? - 1, items(&self.items)?);
            return Some(What::Skipped { from_ms, until_ms, items, reason: Reason::GivenUp });
        }
        let what = self.message.strip_prefix("not run here: ")?;
        let (items, reason) = match what.strip_prefix("items [").and_then(|what| what.split_once("]: ")) {
            Some((list, reason)) => (items(list)?, reason),
            None => (vec![], what),
        };
        // A manual fire is known by its time: it is never that of a scheduled one.
        let at_ms = time(self.fire.strip_prefix(MANUAL).unwrap_or(&self.fire))?;
        Some(What::Skipped { from_ms: at_ms, until_ms: at_ms, items, reason: Reason::of_text(reason) })
    }
}

/// Of a list as `0, 12`, also in brackets.
fn items(list: &str) -> Option<Vec<u32>> {
    let list = list.trim_start_matches('[').trim_end_matches(']');
    list.split(", ").map(str::parse).collect::<Result<_, _>>().ok()
}

fn time(text: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(text).ok().map(|time| time.timestamp_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(fire: &str, message: &str) -> Option<What> {
        let items = "[1, 3]".to_owned();
        Line { job: "job".to_owned(), fire: fire.to_owned(), items, message: message.to_owned() }.skipped()
    }

    fn skipped(from_ms: i64, until_ms: i64, items: &[u32], reason: Reason) -> Option<What> {
        Some(What::Skipped { from_ms, until_ms, items: items.to_vec(), reason })
    }

    #[test]
    fn lines_of_the_log_tell_what_is_not_run() {
        let fire = "1970-01-01T00:00:05Z";
        assert_eq!(
            line(fire, "not run here: the previous run has not ended, it began with 1970-01-01T00:00:04Z"),
            skipped(5_000, 5_000, &[], Reason::StillRunning)
        );
        assert_eq!(
            line(fire, "not run here: items [0, 12]: the item is running on 10.0.0.1@-@7"),
            skipped(5_000, 5_000, &[0, 12], Reason::RunsElsewhere)
        );
        let missed = "fires from 1970-01-01T00:00:01Z on were missed, the process was stopped or the clock stepped; going \
                      on with 1970-01-01T00:00:05Z";
        assert_eq!(line("", missed), skipped(1_000, 4_999, &[], Reason::Missed));
        let given_up = "no instance began these items for the fires from 1970-01-01T00:00:01Z on, and no instance will begin \
                        them: this instance goes on with the fire of 1970-01-01T00:00:05Z";
        assert_eq!(line("", given_up), skipped(1_000, 4_999, &[1, 3], Reason::GivenUp));
    }

    #[test]
    fn other_lines_tell_nothing() {
        assert_eq!(line("1970-01-01T00:00:05Z", "began"), None);
        assert_eq!(line("tomorrow", "not run here: the instance is leaving"), None);
    }

    #[test]
    fn of_a_manual_trigger_it_is_told_as_well() {
        assert_eq!(
            line("manual trigger of 1970-01-01T00:00:05.250Z", "not run here: items [1]: the server is disabled"),
            skipped(5_250, 5_250, &[1], Reason::ServerDisabled)
        );
    }
}
