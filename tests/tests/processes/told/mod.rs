//! Tests that operators learn what goes wrong: by `elasticjob why` and `elasticjob status`, by the error handler
//! of the job, in the log, and by the exit code.
//!
//! This program is both: the tests, and with a variable of the environment the process under test.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod buggy;
mod fallen;
mod given_up;
mod process;
mod processes;
mod refused;
mod stopped_early;

use elasticjob_tests::harness::Harness;

pub use process::play;

/// Adds the tests of this folder.
pub fn add_tests(harness: &mut Harness) {
    harness.on_zookeeper("a_fire_that_was_given_up_is_told_by_the_new_owner", given_up::told);
    harness.on_zookeeper("a_coordination_that_fell_is_told_and_comes_back", fallen::once);
    harness.on_zookeeper("a_coordination_that_stays_down_is_told_and_ends_the_program", fallen::for_good);
    harness.on_zookeeper("a_configuration_that_is_refused_is_told_until_it_is_mended", refused::told_until_mended);
    harness.on_zookeeper("a_configuration_that_one_program_refuses_is_told_with_its_instance", refused::by_one_program);
    harness.on_zookeeper("a_program_stopped_while_it_starts_lets_runs_finish_and_leaves", stopped_early::gracefully);
    harness.on_zookeeper("a_second_signal_while_a_program_starts_cuts_runs_off", stopped_early::at_once);
}
