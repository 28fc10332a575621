//! The simulator in every test run: histories without a planted bug hold, and each planted bug is found. The program
//! `fuzz` plays many more.

use elasticjob::engine::Bug;
use elasticjob::testing::sim::play;

/// Histories to play here; they take a few hundredths of a second each in an unoptimized build.
const HISTORIES: u64 = 600;
/// A planted bug that is not found in so many histories would slip through.
const FOUND_WITHIN: u64 = 2_000;

#[test]
fn every_invariant_holds_in_histories_full_of_faults() {
    for seed in 0..HISTORIES {
        if let Some(violation) = play(seed, None, false).violation {
            panic!("seed {seed}: {}; `fuzz --seeds 1 --seed {seed}` prints the history", violation.what);
        }
    }
}

#[test]
fn a_seed_decides_everything() {
    for seed in [3, 4, 5] {
        let (once, again) = (play(seed, None, false).faults, play(seed, None, true).faults);
        assert_eq!(once.0, again.0, "seed {seed}");
    }
}

#[test]
fn every_planted_bug_is_found() {
    for (name, bug) in Bug::ALL {
        let found = (0..FOUND_WITHIN).find(|seed| play(*seed, Some(bug), false).violation.is_some());
        println!("{name}: found with seed {found:?}");
        assert!(found.is_some(), "{name} is not found within {FOUND_WITHIN} seeds");
    }
}
