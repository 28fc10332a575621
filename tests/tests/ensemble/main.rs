//! Processes on an ensemble of three real ZooKeeper servers, whose servers lose each other: what a server answers that has
//! lost its leader, and that no item has two live owners meanwhile.
//!
//! `ELASTICJOB_TEST_SESSION_SECONDS` is the session time-out of the processes, 4 unless set. With 40 a test takes minutes.

mod owners;
mod pair;
mod proofs;

use std::process::ExitCode;

use elasticjob_tests::harness::Harness;

fn main() -> ExitCode {
    let mut harness = Harness::new();
    harness.beside_zookeeper(
        "a_server_that_lost_its_leader_answers_reads_that_prove_nothing",
        proofs::of_a_lagging_follower,
    );
    harness.beside_zookeeper("a_read_only_server_is_no_registry_center", proofs::of_a_read_only_server);
    harness.beside_zookeeper("no_item_has_two_owners_while_a_follower_lags_behind", owners::lagging_follower);
    harness.beside_zookeeper("no_item_has_two_owners_when_a_follower_is_cut_off_for_long", owners::cut_off_follower);
    harness.beside_zookeeper("no_item_has_two_owners_when_the_leader_is_killed", owners::killed_leader);
    harness.beside_zookeeper(
        "no_item_has_two_owners_when_one_server_is_left_that_may_only_read",
        owners::read_only_server,
    );
    // Three servers each: more of them at a time, and a busy machine lets servers lose each other that should not.
    harness.at_a_time(2).run()
}
