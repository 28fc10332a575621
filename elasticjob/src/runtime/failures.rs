//! Hands failures to the error handler of their job.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::api::JobFailure;
use crate::error_handlers::ErrorHandlers;
use crate::escaped::Escaped;
use crate::ident::JobName;
use crate::log::{apart, error, warn};
use crate::panics::catch;

/// How many failures handlers may work on at a time. Otherwise failures would pile up without end while, for example, a
/// mail server does not answer.
const AT_A_TIME: usize = 256;

/// Where the jobs of a process report their failures. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Failures {
    handlers: Arc<ErrorHandlers>,
    user: Handle,
    in_hand: Arc<watch::Sender<InHand>>,
}

/// The failures that handlers work on, by number.
#[derive(Debug, Default)]
struct InHand {
    last: u64,
    failures: BTreeMap<u64, Untold>,
}

/// A failure that a handler works on.
#[derive(Debug)]
struct Untold {
    failure: Arc<JobFailure>,
    /// Whether no shutdown waits for it any more. Its text is in the log then.
    is_given_up: bool,
}

/// The call of a handler.
struct Call {
    number: u64,
    in_hand: Arc<watch::Sender<InHand>>,
    has_ended: bool,
}

impl InHand {
    fn awaited_of<'a>(&'a mut self, job: &'a JobName) -> impl Iterator<Item = &'a mut Untold> {
        self.failures.values_mut().filter(move |untold| untold.is_awaited_of(job))
    }
}

impl Untold {
    fn is_awaited_of(&self, job: &JobName) -> bool {
        !self.is_given_up && self.failure.job_name() == job
    }
}

impl Failures {
    /// Handlers run on this runtime.
    pub(super) fn new(handlers: Arc<ErrorHandlers>, user: Handle) -> Self {
        Self { handlers, user, in_hand: Arc::default() }
    }

    /// Calls the error handler of the job, concurrently with the job. Never waits, and never fails.
    pub(super) fn report(&self, failure: JobFailure) {
        let failure = Arc::new(failure);
        let name = failure.configuration.error_handler_type();
        let Ok(handler) = self.handlers.get(name).cloned() else {
            // The name was checked when the configuration came into force.
            apart(move || {
                let name = failure.configuration.error_handler_type();
                error!(job = %failure.job_name(), "{}; there is no error handler '{name}'", Escaped(&failure));
            });
            return;
        };
        let Some(call) = self.take_in_hand(&failure) else {
            apart(move || {
                let (job, name) = (failure.job_name(), failure.configuration.error_handler_type());
                warn!(%job, "{}; not handed to '{name}': {AT_A_TIME} failures are waiting for handlers", Escaped(&failure));
            });
            return;
        };
        self.user.spawn(async move {
            // The task takes the whole value: the value is dropped when the task is.
            let mut call = call;
            // This future catches panics of the call that makes the future, and of the text of the error.
            let told = async { handler.handle(&failure).await.map_err(|error| error.to_string()) };
            if let Err(why) | Ok(Err(why)) = catch(told).await {
                let handler = handler.type_name();
                error!(job = %failure.job_name(), %handler, "the error handler failed: {}; the failure that it should have reported: {}", Escaped(why), Escaped(&failure));
            }
            call.has_ended = true;
        });
    }

    /// Counts the failure as being in hand. `None` when there are too many.
    fn take_in_hand(&self, failure: &Arc<JobFailure>) -> Option<Call> {
        let mut taken = None;
        self.in_hand.send_if_modified(|in_hand| {
            if in_hand.failures.len() < AT_A_TIME {
                in_hand.last += 1;
                in_hand.failures.insert(in_hand.last, Untold { failure: failure.clone(), is_given_up: false });
                taken = Some(in_hand.last);
            }
            taken.is_some()
        });
        taken.map(|number| Call { number, in_hand: self.in_hand.clone(), has_ended: false })
    }

    /// Completes when the handlers have reported the failures of a job that came until now. Logs those that they have
    /// not reported within the limit.
    pub(super) async fn told(&self, job: &JobName, limit: Duration) {
        let mut in_hand = self.in_hand.subscribe();
        let are_told = |in_hand: &InHand| !in_hand.failures.values().any(|untold| untold.is_awaited_of(job));
        if tokio::time::timeout(limit, in_hand.wait_for(are_told)).await.is_ok() {
            return;
        }
        let mut given_up = Vec::new();
        self.in_hand.send_modify(|in_hand| {
            for untold in in_hand.awaited_of(job) {
                untold.is_given_up = true;
                given_up.push(untold.failure.clone());
            }
        });
        for failure in given_up {
            apart(move || {
                let (job, handler) = (failure.job_name(), failure.configuration.error_handler_type());
                error!(%job, %handler, "the error handler has not ended in time, and the job has left; the failure that it should have reported: {}", Escaped(&failure));
            });
        }
    }
}

/// A call that is dropped before its end was dropped with the runtime of the program.
impl Drop for Call {
    fn drop(&mut self) {
        let mut taken = None;
        self.in_hand.send_modify(|in_hand| taken = in_hand.failures.remove(&self.number));
        if let Some(Untold { failure, is_given_up: false }) = taken.filter(|_| !self.has_ended) {
            // Where a runtime has ended, what is spawned on it is dropped by whoever spawns it: the coordination.
            apart(move || {
                let (job, handler) = (failure.job_name(), failure.configuration.error_handler_type());
                error!(%job, %handler, "the program ended before the error handler did; the failure that it should have reported: {}", Escaped(&failure));
            });
        }
    }
}

#[cfg(test)]
mod tests;
