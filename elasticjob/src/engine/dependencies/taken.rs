//! How long items of a job may still begin a re-run after its triggers were taken.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::fire::Rerun;
use crate::ident::JobName;

/// So long after the last trigger was taken nothing begins any more that did not begin before: an instance that took one begins
/// it for items that it gets within ten seconds.
pub(super) const SETTLES: Duration = Duration::from_secs(12);

/// Since when no trigger waits at a job for a re-run, as this leader saw it, by the clock that never steps: those of the hosts
/// may be far apart. A leader that takes office sees it from then on.
#[derive(Debug, Clone, Default)]
pub(super) struct Taken(BTreeMap<(JobName, Rerun), Duration>);

impl Taken {
    /// Takes the jobs at which no trigger waits now for a re-run that they were triggered for.
    pub(super) fn look(&mut self, taken: impl IntoIterator<Item = (JobName, Rerun)>, now: Duration) {
        let since = |key| (self.0.get(&key).copied().unwrap_or(now), key);
        self.0 = taken.into_iter().map(since).map(|(since, key)| (key, since)).collect();
    }

    /// Whether what did not begin until now does not begin any more.
    pub(super) fn is_settled(&self, job: &JobName, rerun: Rerun, now: Duration) -> bool {
        self.0.get(&(job.clone(), rerun)).is_some_and(|since| now >= *since + SETTLES)
    }

    /// When the next re-run settles after `now`.
    pub(super) fn settles(&self, now: Duration) -> Option<Duration> {
        self.0.values().map(|since| *since + SETTLES).filter(|at| *at > now).min()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_re_run_settles_some_time_after_its_last_trigger_was_taken() {
        let (job, rerun) = (JobName::new("a").unwrap(), Rerun::new(5, 7));
        let (start, later) = (Duration::from_secs(3), Duration::from_secs(5));
        let mut taken = Taken::default();
        taken.look([(job.clone(), rerun)], start);
        taken.look([(job.clone(), rerun)], later);
        assert_eq!(taken.settles(later), Some(start + SETTLES));
        assert!(!taken.is_settled(&job, rerun, start + SETTLES - Duration::from_millis(1)));
        assert!(taken.is_settled(&job, rerun, start + SETTLES));
        assert!(!taken.is_settled(&job, Rerun::new(5, 8), start + SETTLES));
        taken.look([], later);
        taken.look([(job.clone(), rerun)], later);
        assert_eq!(taken.settles(later), Some(later + SETTLES), "a trigger waited meanwhile");
        assert_eq!(taken.settles(later + SETTLES), None);
    }
}
