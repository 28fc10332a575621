//! The simulator in every test run: some histories hold, and a seed decides everything. The program `fuzz` plays many more,
//! and looks for planted bugs.

use std::num::NonZero;
use std::thread;

use elasticjob::testing::sim::{Keep, play};

/// Histories to play here; they take half a second each in an unoptimized build, which is that of `cargo test`.
const HISTORIES: u64 = if cfg!(debug_assertions) { 24 } else { 80 };

#[test]
fn every_invariant_holds_in_histories_full_of_faults() {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for first in 0..threads as u64 {
            scope.spawn(move || (first..HISTORIES).step_by(threads).for_each(holds));
        }
    });
}

fn holds(seed: u64) {
    if let Some(violation) = play(seed, None, Keep::Nothing).violation {
        panic!("seed {seed}: {}; `fuzz --seeds 1 --seed {seed}` prints the history", violation.what);
    }
}

#[test]
fn a_seed_decides_everything() {
    for seed in [3, 4, 5] {
        let (once, again) = (play(seed, None, Keep::Nothing).faults, play(seed, None, Keep::Lines).faults);
        assert_eq!(once.0, again.0, "seed {seed}");
    }
}
