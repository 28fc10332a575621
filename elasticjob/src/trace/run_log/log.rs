//! The log of the run of one item.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};

use super::{JobLogEvent, LogLevel, RunLogOptions};
use crate::escaped::Escaped;
use crate::fire::Attempt;
use crate::ident::JobName;
use crate::secret::mask_inside;
use crate::trace::{JobEvent, Tracing, now};

/// The longest name of a target.
const TARGET: usize = 200;

tokio::task_local! {
    static CURRENT: RunLog;
}

/// The log of the run of one item. Cheap to clone.
///
/// A task that a job spawns is not within its run: let it take the log along.
///
/// ```
/// use elasticjob::trace::{LogLevel, RunLog};
///
/// async fn job() {
///     let part = async {
///         if let Some(log) = RunLog::current() {
///             log.line(LogLevel::Info, module_path!(), "the second part begins");
///         }
///     };
///     match RunLog::current() {
///         Some(log) => tokio::spawn(log.scope(part)),
///         None => tokio::spawn(part),
///     };
/// }
/// ```
#[derive(Clone)]
pub struct RunLog(Arc<Shared>);

struct Shared {
    tracing: Tracing,
    options: RunLogOptions,
    execution_id: Arc<str>,
    attempt: Option<Attempt>,
    job_name: JobName,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The lines that were given to the tracing, and their bytes.
    lines: u32,
    bytes: usize,
    /// The lines that were left out since the last one.
    left_out: u32,
    /// The last lines, once the others are too many; and their bytes.
    last: VecDeque<Line>,
    last_bytes: usize,
    has_ended: bool,
}

struct Line {
    at: DateTime<Utc>,
    level: LogLevel,
    target: String,
    message: String,
}

impl RunLog {
    /// The log of the run that this code is in. `None` outside of a run, and where no logs are kept.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }

    pub(crate) fn new(
        tracing: Tracing,
        options: RunLogOptions,
        execution_id: Arc<str>,
        attempt: Option<Attempt>,
        job_name: JobName,
    ) -> Self {
        Self(Arc::new(Shared { tracing, options, execution_id, attempt, job_name, state: Mutex::default() }))
    }

    /// The id of the record of the run: [`ExecutionRecord::id`](crate::trace::ExecutionRecord::id).
    pub fn execution_id(&self) -> &str {
        &self.0.execution_id
    }

    /// The attempt that began the run, as the registry center and the record of the run have it. `None` where execution is not
    /// monitored.
    pub fn attempt(&self) -> Option<&Attempt> {
        self.0.attempt.as_ref()
    }

    /// Whether lines of this level are kept.
    pub fn keeps(&self, level: LogLevel) -> bool {
        level >= self.0.options.level
    }

    /// Adds a line. `target` says where it comes from. Secrets in `message` are masked, and control characters except for
    /// ends of lines are escaped. It never waits: a line that there is no room for is left out, and counted.
    pub fn line(&self, level: LogLevel, target: &str, message: &str) {
        if self.keeps(level) {
            let message = self.shown(message);
            let target = Escaped(target).to_string().chars().take(TARGET).collect();
            self.add(Line { at: now(), level, target, message });
        }
    }

    /// Runs `future` within this run.
    pub fn scope<F: Future>(self, future: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, future)
    }

    /// Calls `f` within this run.
    pub fn sync_scope<T>(self, f: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(self, f)
    }

    /// The run is over: writes the last lines. Later ones are not of the run any more.
    pub(crate) fn end(&self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.has_ended = true;
        for line in std::mem::take(&mut state.last) {
            self.post(&mut state, line);
        }
        if state.left_out > 0 {
            let told = Line { at: now(), level: LogLevel::Info, target: String::new(), message: String::new() };
            self.post(&mut state, told);
        }
    }

    /// What is kept of a message.
    fn shown(&self, message: &str) -> String {
        let most = self.0.options.max_line_bytes;
        // Only the beginning is looked at: a message may be far longer than what is kept of it. The end of a secret that
        // was cut off would not be known as one, so the beginning is longer.
        let begin = &message[..message.floor_char_boundary(most.saturating_mul(2))];
        let lines = begin.trim_end().split('\n').map(|line| Escaped(line.trim_end_matches('\r')).to_string());
        let mut shown = mask_inside(&lines.collect::<Vec<_>>().join("\n"));
        if shown.len() > most || begin.len() < message.len() {
            shown.truncate(shown.floor_char_boundary(most));
            shown.push('…');
        }
        shown
    }

    fn add(&self, line: Line) {
        let Shared { options, state, .. } = &*self.0;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.has_ended {
            return;
        }
        let bytes = state.bytes + line.message.len();
        let is_first = state.lines < options.max_lines - options.last_lines()
            && bytes <= options.max_bytes - options.last_bytes()
            && state.last.is_empty();
        if is_first {
            self.post(&mut state, line);
            return;
        }
        state.last_bytes += line.message.len();
        state.last.push_back(line);
        while state.last.len() > options.last_lines() as usize || state.last_bytes > options.last_bytes() {
            let Some(oldest) = state.last.pop_front() else { break };
            state.last_bytes -= oldest.message.len();
            state.left_out = state.left_out.saturating_add(1);
        }
    }

    fn post(&self, state: &mut State, Line { at, level, target, message }: Line) {
        let bytes = message.len();
        let is_taken = self.0.tracing.post_line(JobEvent::Log(JobLogEvent {
            execution_id: self.0.execution_id.clone(),
            job_name: self.0.job_name.clone(),
            line: state.lines + 1,
            at,
            level,
            target,
            message,
            left_out: state.left_out,
        }));
        if is_taken {
            state.lines += 1;
            state.bytes += bytes;
            state.left_out = 0;
        } else {
            state.left_out = state.left_out.saturating_add(1);
        }
    }
}

impl fmt::Debug for RunLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunLog").field("execution_id", &self.0.execution_id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
