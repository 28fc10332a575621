//! The fencing tokens of an item grow from run to run, over all processes.

use crate::records::{History, Run};

pub(super) fn check(history: &History) -> Vec<String> {
    let mut shrinking = Vec::new();
    for runs in history.by_item().into_values() {
        let mut highest: Option<&Run> = None;
        for run in runs.into_iter().filter(|run| !history.is_late_start(run)) {
            if let Some(before) = highest
                && before.token.is_some()
                && run.token <= before.token
            {
                shrinking.push(format!("a token does not grow: {before:?} and {run:?}"));
            }
            if highest.is_none_or(|before| run.token > before.token) {
                highest = Some(run);
            }
        }
    }
    shrinking
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{history, only, run};
    use super::*;

    #[test]
    fn a_token_that_does_not_grow_is_found() {
        assert!(check(&history(&[run(1, 1), run(2, 2)], &[])).is_empty());
        only(&check(&history(&[run(1, 1), Run { token: Some(1), ..run(2, 2) }], &[])), "does not grow");
        only(&check(&history(&[run(1, 1), Run { token: None, ..run(2, 2) }], &[])), "does not grow");
    }

    #[test]
    fn a_token_is_compared_with_all_before_it() {
        let runs = [Run { token: Some(9), ..run(1, 1) }, run(2, 2), run(2, 3)];
        assert_eq!(check(&history(&runs, &[])).len(), 2);
    }

    #[test]
    fn another_item_or_job_has_tokens_of_its_own() {
        let (other_item, other_job) = (
            Run { item: 1, token: Some(1), ..run(1, 2) },
            Run { job: "other".to_owned(), token: Some(1), ..run(1, 2) },
        );
        assert!(check(&history(&[run(1, 2), other_item, other_job], &[])).is_empty());
    }

    #[test]
    fn programs_that_record_none_are_not_checked() {
        let without = |second| Run { token: None, ..run(1, second) };
        assert!(check(&history(&[without(1), without(2)], &[])).is_empty());
    }
}
