//! Reports lost events in the log, not too often.

use std::time::Duration;

use tokio::time::Instant;

use super::storage::WriteError;
use crate::log::{apart, error, info, warn};

/// The pause before the same trouble is reported again.
const INTERVAL: Duration = Duration::from_secs(60);

/// The trouble that was reported, and the losses that have to be reported.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// Since when the storage has taken nothing.
    since: Option<Instant>,
    last_said: Option<Instant>,
    /// The lost events that were reported.
    said: u64,
}

impl Trouble {
    /// Notes that the storage took nothing.
    pub(super) fn unavailable(&mut self, error: &WriteError, lost: u64) {
        let now = Instant::now();
        self.since.get_or_insert(now);
        // The first loss is reported at once, however recent the last report of the trouble is.
        let first_loss = self.said == 0 && lost > 0;
        if self.may_say(now) || first_loss {
            self.said = lost;
            let error = error.to_string();
            apart(move || {
                warn!(
                    "tracing: events cannot be written, trying again; jobs go on, {lost} events are lost so far: {error}"
                );
            });
        }
    }

    /// Notes that the storage took events.
    pub(super) fn available(&mut self, lost: u64) {
        if let Some(since) = self.since.take() {
            let (away, new) = (since.elapsed(), lost - self.said);
            self.said = lost;
            self.last_said = None;
            let away = away.as_secs();
            apart(move || match new {
                0 => info!("tracing: events are written again after {away} s; {lost} were lost in all"),
                _ => warn!("tracing: events are written again after {away} s; {new} more were lost, {lost} in all"),
            });
        } else {
            self.lost(lost);
        }
    }

    /// Reports events that were lost because the queue was full.
    pub(super) fn lost(&mut self, lost: u64) {
        if lost > self.said && self.may_say(Instant::now()) {
            self.said = lost;
            apart(move || warn!("tracing: {lost} events are lost so far: the storage is slower than the jobs"));
        }
    }

    /// Notes an event that the storage will never take; it is among the lost ones.
    pub(super) fn refused(&mut self, error: &WriteError, lost: u64) {
        if self.may_say(Instant::now()) {
            self.said = lost;
            let error = error.to_string();
            apart(move || {
                error!("tracing: an event is lost, the storage refuses it; {lost} are lost so far: {error}");
            });
        }
    }

    fn may_say(&mut self, now: Instant) -> bool {
        let may = self.last_said.is_none_or(|last| now.duration_since(last) >= INTERVAL);
        if may {
            self.last_said = Some(now);
        }
        may
    }
}
