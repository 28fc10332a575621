//! The time until a lost run was taken over.

use elasticjob::fire::ExecutionSource;

use super::{Fault, FaultKind, History, Run};

/// A run that was taken over after its owner was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Takeover {
    /// From the kill to the begin of the new run, in microseconds.
    pub total_us: i64,
    /// From the removal of the dead instance's node, as an observer of the registry saw it.
    pub since_removal_us: i64,
    /// Whether the survivor was running items of the job itself at that moment.
    pub busy: bool,
}

/// The takeovers of runs whose owners were killed, as far as the removal was seen.
pub fn takeovers(history: &History) -> Vec<Takeover> {
    let failovers = history.runs.iter().filter(|run| run.source == ExecutionSource::Failover);
    failovers.filter_map(|run| Takeover::of(history, lost_before(history, run)?, run)).collect()
}

/// The last run of the same item and fire.
fn lost_before<'a>(history: &'a History, run: &Run) -> Option<&'a Run> {
    let of_item = history.runs.iter().filter(|other| (&other.job, other.item) == (&run.job, run.item));
    let lost = of_item.filter(|other| other.began_us < run.began_us && other.scheduled_ms == run.scheduled_ms);
    lost.max_by_key(|other| other.began_us)
}

impl Takeover {
    /// Measures how a run took the place of a lost one. `None` when the owner of that one was not killed, when no observer
    /// saw it go, and when something else disturbed the one that took over.
    pub fn of(history: &History, lost: &Run, run: &Run) -> Option<Self> {
        let killed = FaultKind::Killed { pid: lost.pid };
        let killed = |fault: &&Fault| fault.kind == killed && (lost.began_us..=run.began_us).contains(&fault.from_us);
        let kill = history.faults.iter().find(killed)?;
        let removed = history.observed.removed_us(&run.job, lost.pid, kill.from_us)?;
        // A process that came after the removal was not there to take the run over.
        let was_there = history.observed.online(&run.job, removed - 1).any(|pid| pid == run.pid);
        let hinders = |fault: &Fault| fault.separates(run.pid) || fault.kind == FaultKind::Disabled;
        let disturbed = history.faults.iter().any(|fault| hinders(fault) && fault.touches(kill.from_us, run.began_us));
        if !was_there || disturbed {
            return None;
        }
        let own = history.runs.iter().filter(|other| other.pid == run.pid && other.job == run.job);
        let busy = own.filter(|other| other.began_us <= removed).any(|other| history.ended_us(other) > removed);
        Some(Self { total_us: run.began_us - kill.from_us, since_removal_us: run.began_us - removed, busy })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::records::Ending;

    fn run(pid: u32, source: ExecutionSource, began_us: i64, end: Option<(i64, Ending)>) -> Run {
        let (job, instance) = ("job".to_owned(), format!("h@-@{pid}"));
        let (number, item, scheduled_ms, token, refused) = (began_us.unsigned_abs(), 0, 5, None, 0);
        Run { pid, number, job, item, scheduled_ms, source, token, instance, began_us, end, refused }
    }

    #[test]
    fn it_is_counted_from_the_kill_and_from_the_removal() {
        let lost = run(1, ExecutionSource::NormalTrigger, 100, None);
        let taken = run(2, ExecutionSource::Failover, 4_300, None);
        let busy = Run { item: 1, ..run(2, ExecutionSource::NormalTrigger, 3_000, Some((5_000, Ending::Finished))) };
        let kill = Fault { kind: FaultKind::Killed { pid: 1 }, from_us: 300, at_us: 310, until_us: 310 };
        let session_timeout = Duration::from_micros(4_000);
        let mut history =
            History { runs: vec![lost, taken], faults: vec![kill], session_timeout, ..History::default() };
        assert_eq!(takeovers(&history), [], "nobody watched");
        history.observed.came(50, "job", "h@-@1");
        history.observed.went(4_290, "job", "h@-@1");
        assert_eq!(takeovers(&history), [], "who took over came later");
        history.observed.came(60, "job", "h@-@2");
        assert_eq!(takeovers(&history), [Takeover { total_us: 4_000, since_removal_us: 10, busy: false }]);
        history.runs.push(busy);
        assert_eq!(takeovers(&history), [Takeover { total_us: 4_000, since_removal_us: 10, busy: true }]);
    }
}
