//! Asking the registry again after it failed or refused.

use std::time::Duration;

use super::engine::JobEngine;
use super::notice::Notice;
use super::state::link::Retry;
use crate::clock::Now;

/// How long to wait before asking the registry again after it failed or kept refusing, doubled each time.
const RETRY_FIRST: Duration = Duration::from_millis(50);
/// The longest such wait.
const RETRY_LAST: Duration = Duration::from_secs(3);
/// Refusals in a row after which everything is listed again.
const REFUSALS_BEFORE_RELIST: u32 = 3;

impl JobEngine {
    /// A transaction went through.
    pub(super) fn note_success(&mut self) {
        self.link.retry = Retry::default();
        self.link.trouble = None;
    }

    /// The registry refused a transaction: the mirror knows why by now, unless it happens again and again.
    pub(super) fn note_refusal(&mut self, now: Now, why: &str) {
        self.link.retry.refusals += 1;
        if self.link.retry.refusals >= REFUSALS_BEFORE_RELIST {
            self.mirror.relist();
            self.wait_before_retry(now, why.to_owned());
        }
    }

    /// The registry did not answer. When a connection breaks, all requests on their way fail with it: that is one
    /// failure. A request that fails while the engine waits was sent before.
    pub(super) fn back_off(&mut self, now: Now, why: String) {
        if self.link.retry.not_before.is_some_and(|at| now.mono < at) {
            return;
        }
        self.link.retry.failures += 1;
        self.wait_before_retry(now, why);
    }

    fn wait_before_retry(&mut self, now: Now, why: String) {
        let doubled = RETRY_FIRST.saturating_mul(1 << (self.link.retry.failures + self.link.retry.refusals).min(8));
        self.link.retry.not_before = Some(now.mono + doubled.min(RETRY_LAST));
        // Without a connection every request fails; the loss was reported once.
        if self.session.connected().is_some() {
            self.link.trouble = Some(why.as_str().into());
            self.tell(Notice::RegistryTrouble { why });
        }
    }
}
