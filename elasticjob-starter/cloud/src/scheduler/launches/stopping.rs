//! Stops what runs of a job, whoever waits for it.

use std::time::Duration;

use elasticjob::ident::JobName;
use elasticjob::registry::Zxid;

use super::Launches;
use crate::carrier::{CarrierError, LaunchId};

impl Launches {
    /// Stops what runs of a job for runs that began before this transaction, as soon as the carrier takes it: also when this
    /// scheduler lets go of the runs meanwhile.
    ///
    /// # Errors
    /// The registry center did not answer: nothing is stopped.
    pub(in crate::scheduler) async fn stop_begun_before(
        &self,
        job: &JobName,
        at: Zxid,
        grace: Duration,
    ) -> Result<(), String> {
        for (id, mut items) in self.0.marks.read(job).await?.begun_before(at) {
            let launches = self.clone();
            tokio::spawn(async move {
                // Where the carrier does not answer, the stop is tried until it does.
                if let Ok(open) = launches.running(&id).await {
                    items.retain(|item| open.contains(item));
                }
                items.into_iter().for_each(|item| drop(launches.0.formers.stop(&id, item, grace)));
            });
        }
        Ok(())
    }

    /// Stops everything that the carrier runs for a job. A launch that cannot be stopped keeps no other one running.
    ///
    /// # Errors
    /// [`CarrierError`] of the first launch of which the engine did not answer. Then something may go on: call again.
    pub(in crate::scheduler) async fn stop_all(&self, job: &JobName, grace: Duration) -> Result<(), CarrierError> {
        let mut first = Ok(());
        for id in self.0.carrier.launches_of(job).await? {
            let stopped = self.stop_launch(&id, grace).await;
            first = first.and(stopped);
        }
        first
    }

    async fn stop_launch(&self, id: &LaunchId, grace: Duration) -> Result<(), CarrierError> {
        let items = self.running(id).await?;
        if items.is_empty() { Ok(()) } else { self.0.carrier.stop(id, &items, grace).await }
    }
}
