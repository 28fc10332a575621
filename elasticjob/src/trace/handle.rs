//! Takes events from jobs to the writer.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, Sender};
use tokio_util::sync::CancellationToken;

use super::configuration::{JobSelection, TracingConfiguration};
use super::counts::{Counters, Loss, TracingCounts};
use super::event::JobEvent;
use super::run_log::RunLogOptions;
use super::writer::Writer;
use crate::ident::JobName;

/// The tracing of an environment. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tracing(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    queue: Sender<JobEvent>,
    counters: Arc<Counters>,
    jobs: JobSelection,
    run_log: Option<RunLogOptions>,
    one_run_of: u32,
    /// Cancelled when no more events will come.
    closing: CancellationToken,
    /// Cancelled when the writer has ended.
    closed: CancellationToken,
    /// Cancelled when the writer may not wait for its storage any more.
    given_up: CancellationToken,
}

impl Tracing {
    /// Starts the writer on `runtime`.
    pub fn start(configuration: TracingConfiguration, runtime: &Handle) -> Self {
        let TracingConfiguration { storage, jobs, queue, run_log, one_run_of } = configuration;
        let (queue, events) = mpsc::channel(queue);
        let shared = Shared {
            queue,
            counters: Arc::default(),
            jobs,
            run_log,
            one_run_of,
            closing: CancellationToken::new(),
            closed: CancellationToken::new(),
            given_up: CancellationToken::new(),
        };
        let writer = Writer::new(storage, events, shared.counters.clone(), shared.closing.clone());
        let (closed, given_up) = (shared.closed.clone().drop_guard(), shared.given_up.clone());
        runtime.spawn(async move {
            let _closed = closed;
            writer.run(given_up).await;
        });
        Self(Arc::new(shared))
    }

    /// Takes an event without waiting. When the queue is full, or tracing is closed, the event is lost and counted.
    pub fn post(&self, event: JobEvent) {
        self.0.counters.count_posted(&event);
        if self.0.queue.try_send(event).is_err() {
            self.0.counters.count_lost(1, Loss::QueueFull);
        }
    }

    /// The same for a line of the log of a run. Returns whether it was taken: half of the queue is left to other events.
    pub(super) fn post_line(&self, line: JobEvent) -> bool {
        self.0.counters.count_posted(&line);
        let queue = &self.0.queue;
        let is_taken = queue.capacity() > queue.max_capacity() / 2 && queue.try_send(line).is_ok();
        if !is_taken {
            self.0.counters.count_lost(1, Loss::QueueFull);
        }
        is_taken
    }

    /// The limits of the logs of runs, where logs are kept.
    pub fn run_log(&self) -> Option<RunLogOptions> {
        self.0.run_log
    }

    /// Of how many runs of a job one is traced.
    pub fn one_run_of(&self) -> u32 {
        self.0.one_run_of
    }

    /// Whether a job is traced.
    pub fn is_of(&self, job: &JobName) -> bool {
        self.0.jobs.contains(job)
    }

    /// The counts of events so far.
    pub fn counts(&self) -> TracingCounts {
        self.0.counters.read()
    }

    /// The number of events that the queue takes.
    pub fn queue_capacity(&self) -> usize {
        self.0.queue.max_capacity()
    }

    /// Writes the waiting events, for at most `limit`, and ends. Call it when the jobs have left: later events are
    /// lost. Returns how many were lost meanwhile.
    pub async fn close(&self, limit: Duration) -> u64 {
        let before = self.counts().lost;
        self.0.closing.cancel();
        if tokio::time::timeout(limit, self.0.closed.cancelled()).await.is_err() {
            self.0.given_up.cancel();
            self.0.closed.cancelled().await;
        }
        self.counts().lost - before
    }
}

/// No handle is left that could post events: the writer writes the waiting ones and ends.
impl Drop for Shared {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}
