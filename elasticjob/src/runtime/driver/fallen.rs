//! The replacement of a driver that ended, and the stand-in that cleans up after it.

use std::sync::Arc;

use tokio::sync::Notify;
use uuid::Uuid;

use super::{Driver, Job, Started};
use crate::api::Failed;
use crate::engine::{CleanUp, Identity};
use crate::random::random_u64;
use crate::registry::{SessionId, SessionState};
use crate::runtime::handle::Letter;
use crate::runtime::stand_in::StandIn;
use crate::runtime::timers::Deadline;

/// The parts of the next driver of the job.
pub(in crate::runtime) struct Next {
    job: Job,
    started: Option<Started>,
}

impl Next {
    /// Makes the driver, which takes over the runs that go on.
    pub(in crate::runtime) fn into_driver(self, stand_in: StandIn) -> Box<Driver> {
        let Self { mut job, started } = self;
        let (left, shutdown) = stand_in.into_legacy();
        job.engine.take_left_runs(left);
        if let Some(mode) = shutdown {
            // The mailbox is open as long as the job has a reader.
            let _ = job.mailbox.post(Letter::Shutdown(mode));
        }
        Driver::new(job, started)
    }
}

impl Driver {
    /// The stand-in for the driver of a job that has left. `None` when no code of the job goes on and nothing of it is
    /// in the registry.
    pub(in crate::runtime) fn stand_in(&self) -> Option<StandIn> {
        self.engine.leaves_something().then(|| self.clean_up())
    }

    /// Called when the driver has ended by a bug. Returns the parts of the next driver, and the stand-in that cleans up
    /// before it starts. Reports everything that failed with the driver.
    pub(in crate::runtime) fn fall(&mut self, panic: &str) -> (Next, StandIn) {
        let stand_in = self.clean_up();
        let before = self.engine.identity();
        let identity = Identity { candidate: Uuid::new_v4().to_string(), nonce: random_u64() as u32, ..before.clone() };
        let job = Job {
            environment: self.environment.clone(),
            registry: self.registry.clone(),
            handler: self.handler.clone(),
            engine: Box::new(self.engine.successor(identity)),
            mailbox: self.mailbox.clone(),
            status: self.status.clone(),
            refusal: self.refusal.take(),
        };
        self.report(self.failure(Failed::Coordination, panic.to_owned()));
        // The runs get the grace that every run gets when it is cut off, by the clock that goes on while the machine is
        // suspended. The stand-in waits for their code.
        let abort_at = self.engine.drop_at(self.environment.now());
        let abort_at = Deadline::Mono(self.environment.by_clock(abort_at));
        let session = self.session.clone();
        let id = session_of(*session.borrow());
        for (item, live) in std::mem::take(&mut self.running) {
            live.cancel();
            let running = live.running().clone();
            let wake = Arc::new(Notify::new());
            let timer = self.environment.timers().register(wake.clone());
            timer.set(abort_at);
            let mut session = session.clone();
            self.environment.system().spawn(async move {
                // Another instance may have the item as soon as the session is over.
                tokio::select! {
                    () = wake.notified() => {}
                    _ = session.wait_for(|state| session_of(*state) != id) => {}
                }
                drop(timer);
                running.abort();
            });
            let (run, error) = live.lost_with_its_driver();
            self.report_item(item, run, error);
        }
        (Next { job, started: self.started.take() }, stand_in)
    }

    fn clean_up(&self) -> StandIn {
        let (environment, registry) = (self.environment.clone(), self.registry.clone());
        StandIn::new(self.job.clone(), environment, registry, self.mailbox.clone(), CleanUp::after(&self.engine))
    }
}

/// The session that lives, or may live.
fn session_of(state: SessionState) -> Option<SessionId> {
    match state {
        SessionState::Connected { id, .. } | SessionState::Suspended { id } => Some(id),
        SessionState::Connecting | SessionState::Closed => None,
    }
}
