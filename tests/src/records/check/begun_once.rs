//! A fire of an item is begun once, and again only as the failover of a run that was lost with its owner.

use std::collections::BTreeMap;
use std::time::Duration;

use elasticjob::fire::ExecutionSource;

use super::super::history::{SETTLE, us};
use crate::records::{Ending, FaultKind, History, Run};

/// How long the end of an item may wait until it is in the registry, beside items that still run.
const WRITE_OF_END: Duration = Duration::from_millis(1_800);

pub(super) fn check(history: &History) -> Vec<String> {
    let tell = |(first, run): (&Run, &Run)| match run.source {
        ExecutionSource::Failover => format!("a run was taken over that was not lost: {first:?} by {run:?}"),
        _ => format!("a fire of an item was begun twice: {first:?} and {run:?}"),
    };
    pairs(history).into_iter().map(tell).collect()
}

/// The runs of a fire of an item that there should not be two of.
pub(super) fn pairs(history: &History) -> Vec<(&Run, &Run)> {
    let mut twice = Vec::new();
    for runs in history.by_item().into_values() {
        let mut begun: BTreeMap<i64, &Run> = BTreeMap::new();
        for run in runs {
            let Some(first) = begun.insert(run.scheduled_ms, run) else { continue };
            if run.source != ExecutionSource::Failover || !may_be_lost(history, first) {
                twice.push((first, run));
            }
        }
    }
    twice
}

/// Whether something was done to the owner of a run before its end was in the registry.
pub(super) fn may_be_lost(history: &History, run: &Run) -> bool {
    let (from, until) = match run.end {
        Some((at, Ending::Finished)) => (at, at + us(WRITE_OF_END)),
        // Cut off: by what was done before, and may have been felt late.
        Some((at, _)) => (run.began_us - us(history.session_timeout), at),
        None => (run.began_us, i64::MAX),
    };
    history.faults.iter().any(|fault| match fault.kind {
        FaultKind::Killed { .. } => fault.separates(run.pid) && fault.touches(from, until),
        FaultKind::Left { pid } => {
            pid == run.pid && !matches!(run.end, Some((_, Ending::Finished))) && fault.touches(from, until)
        }
        _ => fault.separates(run.pid) && fault.touches(from - us(SETTLE), until),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{S, cut_off, frozen, history, killed, only, open, run};
    use super::*;

    fn failover(pid: u32, second: i64, of_second: i64) -> Run {
        Run { scheduled_ms: of_second * 1_000, source: ExecutionSource::Failover, ..run(pid, second) }
    }

    #[test]
    fn a_fire_begun_twice_is_found() {
        assert!(check(&history(&[run(1, 1), run(2, 2)], &[])).is_empty());
        let again = Run { scheduled_ms: 1_000, ..run(2, 2) };
        only(&check(&history(&[run(1, 1), again.clone()], &[])), "begun twice");
        only(&check(&history(&[open(1, 1), again], &[killed(1, S + 1)])), "begun twice");
    }

    #[test]
    fn a_run_may_be_taken_over_when_its_owner_was_killed_before_its_end_was_known() {
        let taken_over = |faults: &[_]| check(&history(&[open(1, 1), failover(2, 6, 1)], faults));
        assert!(taken_over(&[killed(1, S + 1)]).is_empty());
        only(&taken_over(&[]), "not lost");
        only(&taken_over(&[killed(1, S - 1)]), "not lost");
        only(&taken_over(&[killed(3, S + 1)]), "not lost");

        let finished = |faults: &[_]| check(&history(&[run(1, 1), failover(2, 8, 1)], faults));
        assert!(finished(&[killed(1, 2 * S)]).is_empty(), "its end may not be in the registry");
        only(&finished(&[killed(1, 4 * S)]), "not lost");
    }

    #[test]
    fn a_run_may_be_taken_over_when_its_owner_was_frozen_or_cut_off() {
        let cut = Run { end: Some((4 * S, Ending::Cancelled)), ..run(1, 1) };
        let runs = [cut, failover(2, 6, 1)];
        assert!(check(&history(&runs, &[cut_off(1, 2 * S, 9 * S)])).is_empty());
        assert!(check(&history(&runs, &[frozen(1, 2 * S, 9 * S)])).is_empty());
        only(&check(&history(&runs, &[cut_off(2, 2 * S, 9 * S)])), "not lost");
        only(&check(&history(&runs, &[cut_off(1, 5 * S, 9 * S)])), "not lost");
    }

    #[test]
    fn what_a_leaving_process_cut_off_may_be_taken_over_and_what_it_finished_may_not() {
        let left = crate::records::Fault { kind: FaultKind::Left { pid: 1 }, ..killed(1, 2 * S) };
        let cut = Run { end: Some((2 * S, Ending::Dropped)), ..run(1, 1) };
        assert!(check(&history(&[cut, failover(2, 3, 1)], &[left])).is_empty());
        only(&check(&history(&[run(1, 1), failover(2, 3, 1)], &[left])), "not lost");
    }

    #[test]
    fn a_run_that_was_taken_over_may_be_lost_again() {
        let runs = [open(1, 1), Run { end: None, ..failover(2, 6, 1) }, failover(3, 12, 1)];
        assert!(check(&history(&runs, &[killed(1, S + 1), killed(2, 7 * S)])).is_empty());
        only(&check(&history(&runs, &[killed(1, S + 1)])), "not lost");
    }
}
