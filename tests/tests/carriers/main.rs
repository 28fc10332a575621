//! Carried jobs on real engines: the suite of carriers on a Slurm cluster, nodes that are lost, and schedulers that are killed or
//! frozen.

use std::process::ExitCode;

#[cfg(feature = "cloud")]
mod command_line;
#[cfg(feature = "cloud")]
mod crashes;
#[cfg(feature = "cloud")]
mod daemons;
#[cfg(feature = "cloud")]
mod depends;
#[cfg(feature = "cloud")]
mod frozen;
#[cfg(feature = "cloud")]
mod killed;
#[cfg(feature = "cloud")]
mod losses;
#[cfg(feature = "cloud")]
mod one_program;
#[cfg(feature = "cloud")]
mod readme;
#[cfg(feature = "cloud")]
mod slurm;

#[cfg(feature = "cloud")]
fn main() -> ExitCode {
    use elasticjob_cloud::carrier::suite::cases;

    let mut harness = elasticjob_tests::harness::Harness::new();
    // First, as they take longest.
    let name = "slurm_a_controller_that_is_away_for_minutes_costs_schedulers_no_run";
    harness.on_own_slurm_and_zookeeper(name, losses::controller);
    let name = "slurm_an_item_on_a_lost_node_with_its_scheduler_is_lost_or_runs_again_as_failover_says";
    harness.on_own_slurm_and_zookeeper(name, losses::nodes_and_scheduler);
    for case in cases() {
        harness.on_slurm(format!("slurm_{}", case.name), move |cluster| slurm::play(cluster, case));
    }
    harness.on_slurm("slurm_an_item_that_waits_says_for_what", slurm::waits);
    harness.on_slurm("slurm_an_item_that_is_cancelled_from_outside_fails_and_says_so", slurm::cancelled);
    harness.on_slurm("slurm_the_next_scheduler_asks_an_item_no_second_time_to_end", slurm::asked_once);
    harness.on_slurm("slurm_two_schedulers_that_launch_at_the_same_time_start_an_item_once", slurm::at_the_same_time);
    harness.on_slurm("slurm_wrong_settings_are_told", slurm::wrong);
    harness.on_own_slurm("slurm_an_item_on_a_lost_node_is_lost_or_runs_again_as_failover_says", slurm::lost_node);
    harness.on_own_slurm("slurm_a_controller_that_is_away_changes_nothing", slurm::away);
    harness.on_slurm_and_zookeeper("slurm_a_scheduler_that_dies_before_the_submission_runs_it_once", crashes::before);
    let name = "slurm_a_scheduler_that_dies_before_the_submission_runs_nothing_without_failover";
    harness.on_slurm_and_zookeeper(name, crashes::before_without_failover);
    harness.on_slurm_and_zookeeper("slurm_a_scheduler_that_dies_after_the_submission_runs_it_once", crashes::after);
    harness.on_slurm_and_zookeeper("slurm_a_submission_that_arrives_after_the_takeover_runs_nothing", crashes::late);
    harness.on_slurm_and_zookeeper("slurm_items_of_killed_schedulers_run_once", killed::on_slurm);
    harness.on_slurm_and_zookeeper("slurm_items_of_frozen_schedulers_run_once", frozen::on_slurm);
    harness.on_zookeeper("process_items_of_killed_schedulers_run_once", killed::on_this_host);
    harness.on_zookeeper("process_items_of_frozen_schedulers_run_once", frozen::on_this_host);
    let name = "process_a_job_after_another_one_runs_once_for_each_fire_whichever_scheduler_is_killed";
    harness.on_zookeeper(name, depends::each_fire_is_followed_once);
    let name = "process_a_daemon_of_killed_schedulers_runs_exactly_once";
    harness.on_zookeeper(name, daemons::killed_on_this_host);
    let name = "process_a_daemon_of_frozen_schedulers_runs_exactly_once";
    harness.on_zookeeper(name, daemons::frozen_on_this_host);
    let name = "slurm_a_daemon_of_killed_schedulers_runs_exactly_once";
    harness.on_slurm_and_zookeeper(name, daemons::killed_on_slurm);
    let name = "slurm_a_daemon_of_frozen_schedulers_runs_exactly_once";
    harness.on_slurm_and_zookeeper(name, daemons::frozen_on_slurm);
    let name = "slurm_a_daemon_whose_submission_arrives_late_runs_exactly_once";
    harness.on_slurm_and_zookeeper(name, daemons::late_of_a_killed_one);
    let name = "slurm_a_daemon_whose_submission_arrives_late_of_a_frozen_scheduler_runs_exactly_once";
    harness.on_slurm_and_zookeeper(name, daemons::late_of_a_frozen_one);
    let name = "process_the_command_line_tells_of_a_daemon_that_dies_at_its_start";
    harness.on_zookeeper(name, command_line::of_a_daemon_that_dies);
    let name = "process_the_command_line_tells_for_what_a_run_waits_that_does_not_start";
    harness.on_zookeeper(name, command_line::of_a_run_that_does_not_start);
    let name = "process_the_command_line_does_not_change_the_configuration_of_a_carried_job";
    harness.on_zookeeper(name, command_line::of_a_carried_job);
    let name = "process_one_program_by_hand_and_as_both_kinds_of_carried_jobs_runs_exactly_its_items";
    harness.on_zookeeper(name, one_program::runs_exactly_its_items);
    harness.on_zookeeper("process_the_commands_of_the_readme_carry_a_first_run", readme::carries_a_first_run);
    let name = "slurm_a_scheduler_with_another_carrier_does_not_start_beside_one_with_this";
    harness.on_slurm_and_zookeeper(name, command_line::of_another_carrier);
    let name = "slurm_a_scheduler_with_another_folder_does_not_start_beside_one_with_this";
    harness.on_slurm_and_zookeeper(name, command_line::of_another_folder);
    harness.run()
}

/// Built without them: what is left out is still said.
#[cfg(not(feature = "cloud"))]
fn main() -> ExitCode {
    let mut harness = elasticjob_tests::harness::Harness::new();
    let missing = "run it with `--features cloud`, or all tests with tests/run".to_owned();
    harness.with_service("slurm", Some(missing), "all", async || ());
    harness.run()
}
