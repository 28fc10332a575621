//! The sink takes nothing from a run whose item has gone on without it, and refuses no other run.

use std::collections::BTreeMap;

use crate::records::{FaultKind, History, Run};

pub(super) fn check(history: &History) -> Vec<String> {
    let runs: BTreeMap<(u32, u64), &Run> = history.runs.iter().map(|run| ((run.pid, run.number), run)).collect();
    let mut wrong = accepted_late(history, &runs);
    wrong.extend(refused_in_time(history));
    wrong
}

/// Writes of a run after the first write of one that began later.
fn accepted_late(history: &History, runs: &BTreeMap<(u32, u64), &Run>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut latest: BTreeMap<(&str, u32), &Run> = BTreeMap::new();
    for write in &history.sink {
        // Written, and killed before that could be recorded: it began before it wrote.
        let Some(run) = runs.get(&(write.pid, write.run)) else { continue };
        let last = latest.entry((&run.job, run.item)).or_insert(run);
        // A begin that was frozen half way began when its token was given.
        let is_later = if history.is_late_start(run) { run.token >= last.token } else { run.began_us >= last.began_us };
        if is_later {
            *last = run;
        } else {
            wrong
                .push(format!("the sink took a stale write at {} of {run:?}, after {last:?} had written", write.at_us));
        }
    }
    wrong
}

/// Runs that were refused while their item had not gone on, or without anything that could have made them stale.
fn refused_in_time(history: &History) -> Vec<String> {
    let refused = history.runs.iter().filter(|run| run.refused > 0);
    let for_no_reason = refused.filter(|run| {
        let has_successor = history.runs.iter().any(|other| {
            (&other.job, other.item) == (&run.job, run.item)
                && other.token > run.token
                && run.end.is_none_or(|(ended, _)| other.began_us <= ended)
        });
        let frozen = |fault: &FaultKind| *fault == FaultKind::Frozen { pid: run.pid };
        !has_successor || !history.faults.iter().any(|fault| frozen(&fault.kind) && fault.until_us >= run.began_us)
    });
    for_no_reason.map(|run| format!("the sink refused a run that nothing had made stale: {run:?}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{JOB, S, frozen, history, only, run};
    use super::*;
    use crate::fence::SinkWrite;
    use crate::records::Ending;

    fn write(run: &Run, at_us: i64) -> SinkWrite {
        let token = run.token.unwrap_or_default();
        SinkWrite { job: JOB.to_owned(), item: run.item, token, pid: run.pid, run: run.number, at_us }
    }

    fn stale() -> Run {
        Run { end: Some((9 * S, Ending::Cancelled)), ..run(1, 1) }
    }

    #[test]
    fn a_stale_write_that_was_taken_is_found() {
        let (first, second) = (stale(), run(2, 6));
        let freeze = frozen(1, 2 * S, 8 * S);
        let after = |writes: Vec<SinkWrite>| {
            check(&History { sink: writes, ..history(&[first.clone(), second.clone()], &[freeze]) })
        };
        assert!(after(vec![write(&first, S), write(&second, 6 * S), write(&second, 7 * S)]).is_empty());
        only(&after(vec![write(&first, S), write(&second, 6 * S), write(&first, 8 * S)]), "took a stale write");
        // Before the successor wrote, the sink cannot tell.
        assert!(after(vec![write(&first, 5 * S), write(&second, 6 * S)]).is_empty());
    }

    #[test]
    fn a_write_of_a_run_that_was_not_recorded_is_left_out() {
        let unknown = run(3, 3);
        assert!(check(&History { sink: vec![write(&unknown, 3 * S)], ..history(&[run(1, 1)], &[]) }).is_empty());
    }

    #[test]
    fn a_frozen_run_may_be_refused_once_its_item_has_gone_on() {
        let refused = Run { refused: 1, ..stale() };
        let freeze = frozen(1, 2 * S, 8 * S);
        assert!(check(&history(&[refused.clone(), run(2, 6)], &[freeze])).is_empty());
        only(&check(&history(&[refused.clone(), run(2, 6)], &[])), "nothing had made stale");
        only(&check(&history(std::slice::from_ref(&refused), &[freeze])), "nothing had made stale");
        only(&check(&history(&[refused, run(2, 10)], &[freeze])), "nothing had made stale");
    }
}
