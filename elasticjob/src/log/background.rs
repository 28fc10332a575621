//! Writes the lines of the coordination in the background: a thread of its own hands them to the subscriber.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tracing::Dispatch;
use tracing::dispatcher::{get_default, with_default};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::NoSubscriber;

use super::{guarded, warn};

/// Name of the thread, as debuggers and `top -H` show it.
const THREAD_NAME: &str = "elasticjob-log";

/// How many lines wait for a subscriber that waits. Further ones are lost, and counted.
const WAITING: usize = 8_192;

/// How long the end of a job waits until its lines are written.
const WRITTEN_WITHIN: Duration = Duration::from_secs(1);

struct Line {
    to: Dispatch,
    log: Box<dyn FnOnce() + Send>,
}

/// Lines that wait for the thread that writes them.
struct Queue {
    lines: SyncSender<Line>,
    /// Lines that were lost and are not reported yet.
    lost: Arc<AtomicU64>,
}

impl Queue {
    /// Starts the thread. `None` where the system gives none.
    fn start(waiting: usize) -> Option<Self> {
        let (lines, receiver) = sync_channel(waiting);
        let lost = Arc::new(AtomicU64::new(0));
        let counted = lost.clone();
        let write = move || write(&receiver, &counted);
        thread::Builder::new().name(THREAD_NAME.to_owned()).spawn(write).ok().map(|_| Self { lines, lost })
    }

    fn add(&self, line: Line) {
        if self.lines.try_send(line).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn write(lines: &Receiver<Line>, lost: &AtomicU64) {
    while let Ok(Line { to, log }) = lines.recv() {
        with_default(&to, || {
            let lost = lost.swap(0, Ordering::Relaxed);
            if lost > 0 {
                warn!("{lost} lines of the log are missing before this one: the log took them too slowly");
            }
            guarded(log);
        });
    }
}

/// The queue of the process. Its thread starts with the first line.
fn queue() -> Option<&'static Queue> {
    static QUEUE: OnceLock<Option<Queue>> = OnceLock::new();
    QUEUE.get_or_init(|| Queue::start(WAITING)).as_ref()
}

/// Returns when the lines until now are written: for tests that read them.
#[cfg(test)]
pub(crate) fn drain() {
    let (all, are_written) = std::sync::mpsc::channel::<()>();
    if let Some(queue) = queue() {
        queue.add(Line { to: Dispatch::none(), log: Box::new(move || drop(all)) });
    }
    // The sender is dropped when it is its turn.
    let _ = are_written.recv();
}

/// Whether nothing that is logged here is read.
pub fn is_off() -> bool {
    LevelFilter::current() == LevelFilter::OFF || get_default(Dispatch::is::<NoSubscriber>)
}

/// Logs a line without waiting for the subscriber. Lines that are logged so keep their order.
pub fn apart(log: impl FnOnce() + Send + 'static) {
    if is_off() {
        return;
    }
    match queue() {
        Some(queue) => queue.add(Line { to: get_default(Dispatch::clone), log: Box::new(log) }),
        None => guarded(log),
    }
}

/// Completes when the lines until now are written, or the subscriber takes too long.
pub async fn written() {
    let (all, are_written) = oneshot::channel::<()>();
    // Where there is no subscriber, or no place, the sender is dropped at once.
    apart(move || drop(all));
    let _ = tokio::time::timeout(WRITTEN_WITHIN, are_written).await;
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::log::info;
    use crate::test_log::Logged;

    #[test]
    fn a_subscriber_that_waits_costs_lines_and_no_time_of_the_one_that_logs() {
        let (queue, logged) = (Queue::start(2).unwrap(), Logged::default());
        let to = Dispatch::new(logged.clone());
        let add = |log: Box<dyn FnOnce() + Send>| queue.add(Line { to: to.clone(), log });
        let (begins, has_begun) = channel();
        let (go_on, may_go_on) = channel::<()>();
        add(Box::new(move || {
            begins.send(()).unwrap();
            may_go_on.recv().unwrap();
        }));
        has_begun.recv().unwrap();
        for line in ["one", "two", "three", "four"] {
            add(Box::new(move || info!("{line}")));
        }
        assert_eq!(queue.lost.load(Ordering::Relaxed), 2);
        go_on.send(()).unwrap();
        let (ends, has_ended) = channel();
        // There is a place as soon as a line is taken.
        while queue.lost.load(Ordering::Relaxed) > 0 {
            thread::yield_now();
        }
        add(Box::new(move || ends.send(()).unwrap()));
        has_ended.recv().unwrap();
        let missing = "WARN 2 lines of the log are missing before this one: the log took them too slowly";
        assert_eq!(logged.lines(), [missing, "INFO one", "INFO two"]);
    }

    #[tokio::test]
    async fn what_was_logged_before_is_written_when_it_is_waited_for() {
        let logged = Logged::default();
        let scope = tracing::subscriber::set_default(logged.clone());
        apart(|| info!("before"));
        written().await;
        drop(scope);
        assert_eq!(logged.lines(), ["INFO before"]);
    }
}
