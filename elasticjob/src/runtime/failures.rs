//! Hands failures to the error handler of their job.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::runtime::Handle;
use tracing::{error, warn};

use crate::api::JobFailure;
use crate::error_handlers::ErrorHandlers;

/// How many failures may be in the hands of handlers at a time. A mail server that does not answer must not pile them up
/// without end.
const AT_A_TIME: usize = 256;

/// Where the jobs of a process report their failures. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Failures {
    handlers: Arc<ErrorHandlers>,
    user: Handle,
    in_hand: Arc<AtomicUsize>,
}

/// A failure that a handler works on.
struct InHand(Arc<AtomicUsize>);

impl Drop for InHand {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Failures {
    /// Handlers run on this runtime.
    pub(super) fn new(handlers: Arc<ErrorHandlers>, user: Handle) -> Self {
        Self { handlers, user, in_hand: Arc::default() }
    }

    /// Calls the handler of the job beside whatever goes on. Never waits, and never fails.
    pub(super) fn report(&self, failure: JobFailure) {
        let name = failure.configuration.error_handler_type();
        let Ok(handler) = self.handlers.get(name).cloned() else {
            // It was checked when the configuration came into force.
            error!(job = %failure.job_name(), "{failure}; there is no error handler '{name}'");
            return;
        };
        let before = self.in_hand.fetch_add(1, Ordering::Relaxed);
        let in_hand = InHand(Arc::clone(&self.in_hand));
        if before >= AT_A_TIME {
            warn!(job = %failure.job_name(), "{failure}; not handed to '{name}': {AT_A_TIME} failures are waiting for handlers");
            return;
        }
        self.user.spawn(async move {
            let _in_hand = in_hand;
            // A panic ends this task alone, and is logged by the hook of the program.
            if let Err(why) = handler.handle(&failure).await {
                let handler = handler.type_name();
                error!(job = %failure.job_name(), %handler, "the error handler failed: {why}; it was to tell: {failure}");
            }
        });
    }
}
