//! A manual trigger that was taken runs every item once, unless a fault comes between.

use std::time::Duration;

use super::super::history::us;
use super::{ExpectedTrigger, Verdict};
use crate::records::History;

/// How long a trigger may wait for a run that goes on.
const WAIT: Duration = Duration::from_secs(20);

pub(super) fn check(history: &History, triggers: &[ExpectedTrigger], verdict: &mut Verdict) {
    for ExpectedTrigger { job, items, asked_ms, answered_ms } in triggers {
        for item in 0..*items {
            verdict.fires += 1;
            let of_item = history.runs.iter().filter(|run| run.job == *job && run.item == item);
            // The server's clock is the one of all, and no trigger is made at the time of a scheduled fire.
            if of_item.clone().any(|run| (*asked_ms..=*answered_ms).contains(&run.scheduled_ms)) {
                verdict.begun += 1;
                continue;
            }
            let (from, until) = (asked_ms * 1_000, answered_ms * 1_000 + us(WAIT));
            let disturbed = history.faults.iter().any(|fault| {
                let (begins, ends) = history.reach(fault);
                begins <= until && ends >= from
            });
            let explanation = disturbed.then(|| "trigger_disturbed".to_owned());
            verdict.not_begun(explanation, format!("nobody began item {item} of {job} triggered at {asked_ms}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{JOB, S, history, killed, run};
    use super::*;
    use crate::records::{Fault, Run};

    #[test]
    fn a_trigger_that_nobody_ran_is_lost_unless_a_fault_came_between() {
        let trigger = ExpectedTrigger { job: JOB.to_owned(), items: 1, asked_ms: 1_400, answered_ms: 1_410 };
        let of = |runs: &[Run], faults: &[Fault]| history(runs, faults).check(&[], std::slice::from_ref(&trigger));
        let triggered = Run { scheduled_ms: 1_405, ..run(1, 2) };
        assert_eq!((of(&[triggered], &[]).begun, of(&[run(1, 1)], &[]).lost.len()), (1, 1));
        assert_eq!(of(&[run(1, 1)], &[killed(1, 3 * S)]).explained["trigger_disturbed"], 1);
        assert_eq!(of(&[run(1, 1)], &[killed(1, 30 * S)]).lost.len(), 1);
    }
}
