//! The one task that writes events.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::counts::{Counters, Loss};
use super::event::JobEvent;
use super::loss::Trouble;
use super::storage::{AnyTracingStorage, WriteError};
use crate::log::{apart, debug, warn, written};
use crate::panics::catch;

/// The most events that are written together. A database commits once for all of them: where it waits for the disk at a
/// commit, that is the limit of its rate.
pub(super) const BATCH: usize = 1_000;

/// How much text is written together, in bytes: far below what a database takes in one statement (MariaDB 16 MB), and at
/// least one event.
const BATCH_TEXT: usize = 1 << 20;

/// How long an event waits for other events to be written with.
const GATHER: Duration = Duration::from_millis(200);

/// The first pause after a failure; doubled up to the longest one.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How long one write may take. A storage that does not answer counts as away.
const WRITE_LIMIT: Duration = Duration::from_secs(30);

/// The pause before the storage is first asked to remove old events, and after a failed removal.
const CLEAN_PAUSE: Duration = Duration::from_secs(1);
const CLEAN_RETRY: Duration = Duration::from_secs(60);

pub(super) struct Writer {
    storage: Arc<AnyTracingStorage>,
    events: Receiver<JobEvent>,
    counters: Arc<Counters>,
    closing: CancellationToken,
    trouble: Trouble,
    /// When to ask the storage to remove old events; `None` when it does not want to be asked again.
    clean_at: Option<Instant>,
}

impl Writer {
    pub(super) fn new(
        storage: Arc<AnyTracingStorage>,
        events: Receiver<JobEvent>,
        counters: Arc<Counters>,
        closing: CancellationToken,
    ) -> Self {
        let clean_at = Some(Instant::now() + CLEAN_PAUSE);
        Self { storage, events, counters, closing, trouble: Trouble::default(), clean_at }
    }

    /// Writes until tracing is closed and no event waits any more, or until tracing is given up.
    pub(super) async fn run(mut self, given_up: CancellationToken) {
        let mut batch = Vec::with_capacity(BATCH);
        if given_up.run_until_cancelled(self.write_all(&mut batch)).await.is_none() {
            let left = batch.len() + self.events.len();
            self.counters.count_lost(left, Loss::NotInTime);
            apart(move || warn!("tracing: {left} events were not written in time and are lost"));
        }
        let counts = self.counters.read();
        apart(move || debug!("tracing ended: {} events written, {} lost", counts.written, counts.lost));
        written().await;
    }

    async fn write_all(&mut self, batch: &mut Vec<JobEvent>) {
        loop {
            tokio::select! {
                biased;
                () = at(self.clean_at) => {
                    self.clean().await;
                    continue;
                }
                count = self.events.recv_many(batch, BATCH) => if count == 0 { return },
                () = self.closing.cancelled(), if !self.events.is_closed() => {
                    // Events that were posted before are still delivered.
                    self.events.close();
                    continue;
                }
            }
            self.gather(batch).await;
            self.write(batch).await;
            self.trouble.lost(self.counters.read().lost);
        }
    }

    /// Waits a little for more events.
    async fn gather(&mut self, batch: &mut Vec<JobEvent>) {
        let until = Instant::now() + GATHER;
        while batch.len() < BATCH && !self.closing.is_cancelled() {
            let room = BATCH - batch.len();
            let more = timeout_at(until, self.events.recv_many(batch, room));
            match self.closing.run_until_cancelled(more).await {
                Some(Ok(count)) if count > 0 => {}
                _ => return,
            }
        }
    }

    /// Writes a batch, however long it takes. After a refusal half as many go together, down to the one that is refused, and
    /// then twice as many each time.
    async fn write(&mut self, batch: &mut Vec<JobEvent>) {
        let mut together = batch.len();
        while !batch.is_empty() {
            let events = that_fit(&batch[..together.min(batch.len())]);
            match self.attempt(&batch[..events]).await {
                Ok(()) => self.counters.count_written(events),
                Err(_) if events > 1 => {
                    together = events / 2;
                    continue;
                }
                Err(error) => {
                    self.counters.count_lost(1, Loss::Refused);
                    self.trouble.refused(&error, self.counters.read().lost);
                }
            }
            batch.drain(..events);
            together = together.saturating_mul(2);
        }
    }

    /// Tries until the storage takes these events, or refuses them for good.
    async fn attempt(&mut self, events: &[JobEvent]) -> Result<(), WriteError> {
        let mut pause = FIRST_PAUSE;
        loop {
            let written = answer(self.storage.write(events)).await;
            let lost = self.counters.read().lost;
            match written {
                Err(error @ WriteError::Unavailable(_)) => self.trouble.unavailable(&error, lost),
                taken => {
                    self.trouble.available(lost);
                    return taken;
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn clean(&mut self) {
        let next = answer(self.storage.clean()).await.unwrap_or_else(|error| {
            apart(move || warn!("tracing: old rows could not be deleted, trying again: {error}"));
            Some(CLEAN_RETRY)
        });
        self.clean_at = next.map(|pause| Instant::now() + pause);
    }
}

/// The answer of a storage. A storage that hangs or panics must not keep the writer from the next event.
async fn answer<T>(call: impl Future<Output = Result<T, WriteError>>) -> Result<T, WriteError> {
    match catch(timeout(WRITE_LIMIT, call)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Err(WriteError::Unavailable(format!("no answer within {} s", WRITE_LIMIT.as_secs()))),
        Err(panic) => Err(WriteError::Refused(panic)),
    }
}

/// How many of these events are written together, by their text.
fn that_fit(events: &[JobEvent]) -> usize {
    let mut text = 0;
    let fits = |event: &&JobEvent| {
        text += event.text_len();
        text <= BATCH_TEXT
    };
    events.iter().take_while(fits).count().max(1)
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
