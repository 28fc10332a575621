//! All that is known of a test, and what follows from it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{Call, Ending, Fault, FaultKind, Observed, Run, Skip};
use crate::fence::SinkWrite;

/// How long after a fault its traces may be seen: elections, a resharding, reconnecting with its pauses, registering.
pub(super) const SETTLE: Duration = Duration::from_secs(3);

/// How much later than the time-out a server may end a session: it looks at them once a tick, of 2 s at most.
pub(super) const TICK: Duration = Duration::from_millis(2_500);

/// How long a process that was frozen may take to learn of it.
const AWAKENING: Duration = Duration::from_millis(500);

/// All runs and all faults of a test.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The runs of all processes.
    pub runs: Vec<Run>,
    /// What the processes said that they do not run.
    pub skips: Vec<Skip>,
    /// The calls of their listeners.
    pub calls: Vec<Call>,
    /// What was done to them.
    pub faults: Vec<Fault>,
    /// What the registry showed of them, where an observer watched it.
    pub observed: Observed,
    /// What the fenced sink took, in order.
    pub sink: Vec<SinkWrite>,
    /// After how long without a sign of life a session ends.
    pub session_timeout: Duration,
}

impl History {
    /// The same without the runs of Java instances, which have no fencing token.
    pub fn of_rust(&self) -> Self {
        let runs = self.runs.iter().filter(|run| run.is_of_rust()).cloned().collect();
        Self { runs, ..self.clone() }
    }

    /// The processes that began each item of a scheduled fire of a job.
    pub fn owners(&self, job: &str, scheduled_ms: i64) -> BTreeMap<u32, u32> {
        let of_fire = self.runs.iter().filter(|run| run.job == job && run.scheduled_ms == scheduled_ms);
        of_fire.map(|run| (run.item, run.pid)).collect()
    }

    /// The fires of a job that any process began, in order.
    pub fn fires(&self, job: &str) -> BTreeSet<i64> {
        self.runs.iter().filter(|run| run.job == job).map(|run| run.scheduled_ms).collect()
    }

    /// The runs of each item in the order of their begins.
    pub(super) fn by_item(&self) -> BTreeMap<(&str, u32), Vec<&Run>> {
        let mut items: BTreeMap<(&str, u32), Vec<&Run>> = BTreeMap::new();
        for run in &self.runs {
            items.entry((&run.job, run.item)).or_default().push(run);
        }
        for runs in items.values_mut() {
            runs.sort_by_key(|run| run.began_us);
        }
        items
    }

    /// When a run ended as far as others are concerned: at its end, or at the moment its process was killed, or frozen for
    /// so long that its session may have ended meanwhile.
    pub(super) fn ended_us(&self, run: &Run) -> i64 {
        let stops = self.faults.iter().filter(|fault| fault.pid() == Some(run.pid) && fault.at_us >= run.began_us);
        let stops = stops.filter(|fault| match fault.kind {
            FaultKind::Killed { .. } => true,
            FaultKind::Frozen { .. } => self.may_cost_session(fault),
            _ => false,
        });
        stops.map(|fault| fault.at_us).chain(run.end.map(|(at, _)| at)).min().unwrap_or(i64::MAX)
    }

    /// Whether a run began on a process that was just going on after a long freeze: its begin was committed before, and
    /// the process does not know yet that it lost the item. It must come to nothing, which the sink shows.
    pub(super) fn is_late_start(&self, run: &Run) -> bool {
        let came_to_nothing = !matches!(run.end, Some((_, Ending::Finished)));
        let awakening =
            |fault: &Fault| (fault.at_us..=fault.until_us.saturating_add(us(AWAKENING))).contains(&run.began_us);
        let frozen = |fault: &&Fault| fault.kind == FaultKind::Frozen { pid: run.pid } && self.may_cost_session(fault);
        came_to_nothing && self.faults.iter().filter(frozen).any(awakening)
    }

    /// Whether a freeze was so long, alone or together with what else separated the process from the registry, that its
    /// session may have ended before it could know.
    fn may_cost_session(&self, freeze: &Fault) -> bool {
        let timeout = us(self.session_timeout);
        let others = self.faults.iter().filter(|other| *other != freeze);
        let separates = |other: &Fault| freeze.pid().is_some_and(|pid| other.separates(pid));
        freeze.until_us.saturating_sub(freeze.from_us) >= timeout / 2
            || others.filter(|other| separates(other)).any(|other| {
                let felt_until = other.until_us.saturating_add(us(SETTLE));
                other.from_us <= freeze.until_us && felt_until >= freeze.from_us - timeout
            })
    }

    /// By when a process that was separated from the registry at that time is out of the group.
    pub(super) fn gone_by(&self, pid: u32, from_us: i64) -> i64 {
        // Sessions end no sooner than their time-out after the registry is back, and up to a tick later. It may be away again
        // before that.
        let ends_within = us(self.session_timeout + TICK);
        let mut since = from_us;
        loop {
            let outages = self.faults.iter().filter(|fault| fault.kind == FaultKind::Outage);
            let back = outages.filter(|outage| outage.touches(from_us, since.saturating_add(ends_within)));
            match back.map(|outage| outage.until_us).max() {
                Some(back) if back > since => since = back,
                _ => break,
            }
        }
        let latest = since.saturating_add(ends_within);
        let jobs: BTreeSet<&str> = self.observed.presences.iter().map(|one| one.job.as_str()).collect();
        let removed = jobs.into_iter().filter_map(|job| self.observed.removed_us(job, pid, from_us)).max();
        removed.map_or(latest, |removed| removed.min(latest))
    }

    /// From when to when a fault keeps the items of the processes it was done to from being run.
    pub(super) fn reach(&self, fault: &Fault) -> (i64, i64) {
        let until = match fault.kind {
            FaultKind::Killed { pid } => self.gone_by(pid, fault.from_us),
            FaultKind::Frozen { pid } | FaultKind::CutOff { pid } => {
                self.gone_by(pid, fault.from_us).min(fault.until_us)
            }
            FaultKind::Left { .. } => return (fault.from_us, fault.from_us),
            FaultKind::Outage | FaultKind::Disabled => fault.until_us,
        };
        // The fire in whose midst it was done may not have begun.
        (fault.from_us - 1_000_000, until.saturating_add(us(SETTLE)))
    }
}

/// A duration as the records have it.
pub(super) fn us(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000;

    #[test]
    fn a_session_outlives_outages_that_come_one_after_the_other() {
        let outage = |from_us: i64, until_us: i64| Fault { kind: FaultKind::Outage, from_us, at_us: from_us, until_us };
        let gone_by = |outages: &[Fault]| {
            let session_timeout = Duration::from_secs(4);
            let history = History { faults: outages.to_vec(), session_timeout, ..History::default() };
            (history.gone_by(1, 0) - us(history.session_timeout + TICK)) / S
        };
        assert_eq!(gone_by(&[]), 0);
        assert_eq!(gone_by(&[outage(S, 2 * S)]), 2);
        assert_eq!(gone_by(&[outage(S, 2 * S), outage(3 * S, 60 * S)]), 60);
        assert_eq!(gone_by(&[outage(S, 2 * S), outage(8 * S, 60 * S)]), 60, "the server may not have looked yet");
        assert_eq!(gone_by(&[outage(S, 2 * S), outage(30 * S, 60 * S)]), 2);
    }
}
