//! The time for which items of a job may still begin a re-run after its triggers were taken.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::fire::Rerun;
use crate::ident::JobName;

/// So long after the last trigger was taken nothing begins any more that did not begin before: an instance that took one begins
/// it for items that it gets within ten seconds.
pub(super) const SETTLES: Duration = Duration::from_secs(12);

/// A leader to which nothing happened until so long after that time stood still meanwhile: what it knows of the job may be as
/// old. It sets a timer for that time.
const STOOD_STILL: Duration = Duration::from_secs(1);

/// Since when no trigger waits at a job for a re-run, as this leader saw it, by the clock that never steps: those of the hosts
/// may be far apart. A leader that takes office sees it from then on.
#[derive(Debug, Clone, Default)]
pub(super) struct Taken(BTreeMap<(JobName, Rerun), Since>);

#[derive(Debug, Clone, Copy)]
struct Since {
    at: Duration,
    /// Whether the leader was awake when the time was over.
    is_settled: bool,
}

impl Since {
    fn pass(&mut self, now: Duration) {
        match now.checked_sub(self.at + SETTLES) {
            Some(late) if !self.is_settled && late > STOOD_STILL => self.at = now,
            Some(_) => self.is_settled = true,
            None => {}
        }
    }
}

impl Taken {
    /// Time has passed, whether the leader may look now or not: a write may be out.
    pub(super) fn pass(&mut self, now: Duration) {
        self.0.values_mut().for_each(|since| since.pass(now));
    }

    /// Takes the jobs at which no trigger waits now for a re-run that they were triggered for.
    pub(super) fn look(&mut self, taken: impl IntoIterator<Item = (JobName, Rerun)>, now: Duration) {
        self.pass(now);
        let known = |key: &_| self.0.get(key).copied().unwrap_or(Since { at: now, is_settled: false });
        self.0 = taken.into_iter().map(|key| (key.clone(), known(&key))).collect();
    }

    /// Whether what did not begin until now does not begin any more.
    pub(super) fn is_settled(&self, job: &JobName, rerun: Rerun) -> bool {
        self.0.get(&(job.clone(), rerun)).is_some_and(|since| since.is_settled)
    }

    /// When the next re-run settles after `now`.
    pub(super) fn settles(&self, now: Duration) -> Option<Duration> {
        self.0.values().map(|since| since.at + SETTLES).filter(|at| *at > now).min()
    }

    /// Nothing is known: the leader looks anew, or may have missed something.
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
        let mut look = |now, reruns: &[Rerun]| {
            taken.look(reruns.iter().map(|rerun| (job.clone(), *rerun)), now);
            (taken.is_settled(&job, rerun), taken.settles(now))
        };
        let of = [rerun];
        look(start, &of);
        assert_eq!(look(later, &of), (false, Some(start + SETTLES)));
        assert!(!look(start + SETTLES - Duration::from_millis(1), &of).0);
        assert_eq!(look(start + SETTLES, &of), (true, None));
        assert!(look(start + SETTLES * 2, &of).0, "it stays so");
        assert!(!look(start + SETTLES * 2, &[Rerun::new(5, 8)]).0, "another one");
        assert_eq!(look(later, &of), (false, Some(later + SETTLES)), "a trigger waited meanwhile");
    }

    #[test]
    fn a_leader_that_stood_still_counts_anew() {
        let (job, rerun) = (JobName::new("a").unwrap(), Rerun::new(5, 7));
        let mut taken = Taken::default();
        let mut look = |now| {
            taken.look([(job.clone(), rerun)], now);
            (taken.is_settled(&job, rerun), taken.settles(now))
        };
        let start = Duration::from_secs(3);
        look(start);
        let woken = start + SETTLES + STOOD_STILL + Duration::from_millis(1);
        assert_eq!(look(woken), (false, Some(woken + SETTLES)));
        assert_eq!(look(woken + SETTLES + STOOD_STILL), (true, None));
    }
}
