//! `DAEMON` jobs that the carrier does not take: why, and when it is asked again.

use std::collections::BTreeMap;
use std::time::Duration;

use elasticjob::ident::JobName;
use elasticjob::log::{info, warn};
use tokio::time::Instant;

use super::{AGAIN, Wanted};
use crate::scheduler::jobs::{Troubles, lock};

/// The longest pause before the carrier is asked again.
const LONGEST: Duration = Duration::from_secs(30);

/// The jobs that the carrier has not taken.
pub(in crate::scheduler) struct Refusals {
    /// Where operators see them.
    troubles: Troubles,
    of: BTreeMap<JobName, Refusal>,
}

struct Refusal {
    /// What it was asked for.
    wanted: Wanted,
    why: String,
    /// When it is asked for the same again, and after which pause.
    again_at: Instant,
    pause: Duration,
}

impl Refusals {
    pub(in crate::scheduler) fn new(troubles: Troubles) -> Self {
        Self { troubles, of: BTreeMap::new() }
    }

    /// When the carrier is to be asked again for this; `None` at once.
    pub(super) fn wait(&self, job: &JobName, wanted: &Wanted) -> Option<Instant> {
        let refusal = self.of.get(job).filter(|refusal| refusal.wanted == *wanted)?;
        Some(refusal.again_at).filter(|at| *at > Instant::now())
    }

    /// The carrier has not taken this. Returns when it is to be asked again.
    pub(super) fn refused(&mut self, job: &JobName, wanted: &Wanted, why: String) -> Instant {
        let before = self.of.get(job).filter(|refusal| refusal.wanted == *wanted);
        let pause = before.map_or(AGAIN, |refusal| (refusal.pause * 2).min(LONGEST));
        if self.of.get(job).is_none_or(|refusal| refusal.why != why) {
            warn!(%job, "the processes of the DAEMON job are not as they are registered: {why}; it is tried again, after {} s at most",
                LONGEST.as_secs());
        }
        lock(&self.troubles).insert(job.clone(), why.clone());
        let again_at = Instant::now() + pause;
        self.of.insert(job.clone(), Refusal { wanted: wanted.clone(), why, again_at, pause });
        again_at
    }

    /// The carrier has taken the job.
    pub(super) fn taken(&mut self, job: &JobName) {
        if self.forget(job) {
            info!(%job, "the carrier has taken the DAEMON job now");
        }
    }

    /// This scheduler does not look after the job any more. Returns whether it was refused.
    pub(super) fn forget(&mut self, job: &JobName) -> bool {
        let was_refused = self.of.remove(job).is_some();
        if was_refused {
            lock(&self.troubles).remove(job);
        }
        was_refused
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::registered;
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_job_that_is_refused_is_asked_for_with_growing_pauses_and_at_once_when_it_changes() {
        let registered = registered();
        let name = registered.job.job_name.clone();
        let wanted = |instances| Wanted { registered: registered.clone(), instances, wish: None };
        let troubles = Troubles::default();
        let mut refusals = Refusals::new(troubles.clone());
        let mut pauses = Vec::new();
        for _ in 0..6 {
            let begun = Instant::now();
            let again_at = refusals.refused(&name, &wanted(1), "no quota".to_owned());
            assert_eq!(refusals.wait(&name, &wanted(1)), Some(again_at));
            tokio::time::sleep_until(again_at).await;
            assert_eq!(refusals.wait(&name, &wanted(1)), None);
            pauses.push(begun.elapsed().as_secs());
        }
        assert_eq!(pauses, [2, 4, 8, 16, 30, 30]);
        assert_eq!(lock(&troubles)[&name], "no quota");
        refusals.refused(&name, &wanted(1), "no quota".to_owned());
        assert_eq!(refusals.wait(&name, &wanted(2)), None, "something else is wanted");
        refusals.taken(&name);
        assert!(lock(&troubles).is_empty());
        assert_eq!(refusals.wait(&name, &wanted(1)), None);
    }
}
