//! Counts broken promises in groups with Java instances, by the kinds of the instances. Nothing is promised there: Java
//! marks and repeats runs without asking whose they are.

use std::collections::BTreeMap;

use super::{begun_once, one_owner};
use crate::records::{History, Run};

/// How often each promise was broken, by a name as `twice_java_after_rust`. What Rust instances do to one another has a
/// name as well.
pub fn beside_java(history: &History) -> BTreeMap<String, usize> {
    let twice = begun_once::pairs(history).into_iter().map(|(first, again)| twice(first, again));
    let overlaps = one_owner::pairs(history).into_iter().map(|(first, other)| {
        let mut kinds = [kind(first), kind(other)];
        kinds.sort_unstable();
        format!("overlap_{}_{}", kinds[0], kinds[1])
    });
    let mut counts = BTreeMap::new();
    twice.chain(overlaps).for_each(|name| *counts.entry(name).or_default() += 1);
    counts
}

/// An instance of Java that makes up for a missed fire does so in the time of the regular run before.
fn twice(first: &Run, again: &Run) -> String {
    match (kind(first), kind(again)) {
        ("java", "java") if first.pid == again.pid => "twice_java_itself".to_owned(),
        (first, again) => format!("twice_{again}_after_{first}"),
    }
}

fn kind(run: &Run) -> &'static str {
    if run.is_of_rust() { "rust" } else { "java" }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{S, history, run};
    use super::*;
    use crate::records::Ending;

    fn counts(runs: &[Run]) -> Vec<(String, usize)> {
        beside_java(&history(runs, &[])).into_iter().collect()
    }

    fn java(run: Run) -> Run {
        Run { token: None, ..run }
    }

    fn again(pid: u32, second: i64) -> Run {
        Run { scheduled_ms: 1_000, ..run(pid, second) }
    }

    #[test]
    fn who_begins_a_fire_again_is_told() {
        for (runs, name) in [
            ([java(run(1, 1)), java(again(1, 2))], "twice_java_itself"),
            ([java(run(1, 1)), java(again(2, 2))], "twice_java_after_java"),
            ([java(run(1, 1)), again(2, 2)], "twice_rust_after_java"),
            ([run(1, 1), java(again(2, 2))], "twice_java_after_rust"),
            ([run(1, 1), again(2, 2)], "twice_rust_after_rust"),
        ] {
            assert_eq!(counts(&runs), [(name.to_owned(), 1)]);
        }
        assert_eq!(counts(&[run(1, 1), java(run(2, 2))]), []);
    }

    #[test]
    fn runs_at_a_time_are_told_by_their_kinds_in_any_order() {
        let long = Run { end: Some((5 * S, Ending::Finished)), ..run(1, 1) };
        for runs in [[long.clone(), java(run(2, 2))], [java(long.clone()), run(2, 2)]] {
            assert_eq!(counts(&runs), [("overlap_java_rust".to_owned(), 1)]);
        }
        assert_eq!(counts(&[java(long), java(run(2, 2))]), [("overlap_java_java".to_owned(), 1)]);
    }
}
