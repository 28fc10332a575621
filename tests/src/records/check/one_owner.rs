//! An item is run by one live process at a time.

use crate::records::{History, Run};

pub(super) fn check(history: &History) -> Vec<String> {
    let tell = |(before, run)| format!("two runs of an item at a time: {before:?} and {run:?}");
    pairs(history).into_iter().map(tell).collect()
}

/// Runs of an item at a time.
pub(super) fn pairs(history: &History) -> Vec<(&Run, &Run)> {
    let mut overlaps = Vec::new();
    for runs in history.by_item().into_values() {
        let mut longest: Option<(&Run, i64)> = None;
        for run in runs.into_iter().filter(|run| !history.is_late_start(run)) {
            let ends = history.ended_us(run);
            if let Some((before, until)) = longest
                && until > run.began_us
            {
                overlaps.push((before, run));
            }
            if longest.is_none_or(|(_, until)| ends > until) {
                longest = Some((run, ends));
            }
        }
    }
    overlaps
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{S, cut_off, frozen, history, killed, only, open, run};
    use super::*;
    use crate::records::Ending;

    #[test]
    fn runs_one_after_the_other_and_of_several_items_and_jobs_are_fine() {
        let (other_item, other_job) = (Run { item: 1, ..run(3, 2) }, Run { job: "other".to_owned(), ..run(4, 2) });
        assert!(check(&history(&[run(1, 1), run(2, 2), other_item, other_job], &[])).is_empty());
    }

    #[test]
    fn two_runs_at_a_time_are_found_unless_the_first_was_killed_before() {
        let long = Run { end: Some((5 * S, Ending::Cancelled)), ..run(1, 1) };
        only(&check(&history(&[long.clone(), run(2, 2)], &[])), "at a time");
        only(&check(&history(&[open(1, 1), run(2, 2)], &[])), "at a time");
        assert!(check(&history(&[long.clone(), run(2, 2)], &[killed(1, S + 1)])).is_empty());
        only(&check(&history(&[long.clone(), run(2, 2)], &[killed(1, 2 * S + 1)])), "at a time");
        only(&check(&history(&[open(1, 1), run(2, 2)], &[killed(1, S - 1)])), "at a time");
        only(&check(&history(&[long, run(2, 2)], &[killed(3, S + 1)])), "at a time");
    }

    #[test]
    fn a_run_in_the_midst_of_a_longer_one_does_not_hide_the_next() {
        let long = Run { end: Some((5 * S, Ending::Finished)), ..run(1, 1) };
        assert_eq!(check(&history(&[long, run(2, 2), run(2, 3)], &[])).len(), 2);
    }

    #[test]
    fn a_process_frozen_for_long_has_lost_its_item_and_one_frozen_for_a_moment_has_not() {
        let long = Run { end: Some((9 * S, Ending::Cancelled)), ..run(1, 1) };
        let runs = [long, run(2, 8)];
        assert!(check(&history(&runs, &[frozen(1, 2 * S, 8 * S + S / 2)])).is_empty());
        only(&check(&history(&runs, &[frozen(1, 2 * S, 3 * S)])), "at a time");
        // Together with a cut link a moment is enough.
        assert!(check(&history(&runs, &[frozen(1, 2 * S, 3 * S), cut_off(1, 3 * S, 8 * S)])).is_empty());
        // A cut link alone is no excuse: the process has to stop in time.
        only(&check(&history(&runs, &[cut_off(1, 3 * S, 8 * S)])), "at a time");
    }

    #[test]
    fn a_begin_that_was_frozen_half_way_is_no_second_run_when_it_comes_to_nothing() {
        let late = Run { began_us: 8 * S, end: Some((8 * S + S / 10, Ending::Cancelled)), token: Some(2), ..run(1, 2) };
        let other = Run { end: Some((9 * S, Ending::Finished)), ..run(2, 7) };
        let freeze = frozen(1, 2 * S, 8 * S - 1);
        assert!(check(&history(&[late.clone(), other.clone()], &[freeze])).is_empty());
        only(&check(&history(&[late.clone(), other.clone()], &[])), "at a time");
        let finished = Run { end: Some((8 * S + S / 10, Ending::Finished)), ..late };
        only(&check(&history(&[finished, other], &[freeze])), "at a time");
    }
}
