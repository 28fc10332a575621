//! What is left of a driver that ends before its runs do.

use super::{Driver, Job, Started};
use crate::api::Failed;
use crate::engine::{CleanUp, Identity};
use crate::random::{random_u64, uuid_v4};
use crate::runtime::handle::Letter;
use crate::runtime::stand_in::StandIn;

/// What the next driver of the job is made of.
pub(in crate::runtime) struct Next {
    job: Job,
    started: Option<Started>,
}

impl Next {
    /// The driver that takes over what goes on.
    pub(in crate::runtime) fn into_driver(self, stand_in: StandIn) -> Box<Driver> {
        let Self { mut job, started } = self;
        let (left, shutdown) = stand_in.into_legacy();
        job.engine.take_left_runs(left);
        if let Some(mode) = shutdown {
            // It is open as long as the job has a reader.
            let _ = job.mailbox.post(Letter::Shutdown(mode));
        }
        Driver::new(job, started)
    }
}

impl Driver {
    /// What stands in for a driver whose job has left, where something of it goes on or is still in the registry.
    pub(in crate::runtime) fn stand_in(&self) -> Option<StandIn> {
        self.engine.leaves_something().then(|| self.clean_up())
    }

    /// The driver has ended by a bug: what takes its place, and what cleans up before. Everything that failed with it is
    /// reported.
    pub(in crate::runtime) fn fall(&mut self, panic: &str) -> (Next, StandIn) {
        let stand_in = self.clean_up();
        let before = self.engine.identity();
        let identity = Identity { candidate: uuid_v4(), nonce: random_u64() as u32, ..before.clone() };
        let job = Job {
            environment: self.environment.clone(),
            registry: self.registry.clone(),
            handler: self.handler.clone(),
            engine: Box::new(self.engine.successor(identity)),
            mailbox: self.mailbox.clone(),
            status: self.status.clone(),
        };
        self.report(self.failure(Failed::Coordination, panic.to_owned()));
        // They have the grace that every run has which is cut off: what stands in waits for their code.
        let grace = self.engine.grace();
        for (item, live) in std::mem::take(&mut self.running) {
            live.cancel();
            let running = live.running().clone();
            self.environment.system().spawn(async move {
                tokio::time::sleep(grace).await;
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
