//! Real processes that share a job on a real ZooKeeper: killed, frozen, cut off, restarted one after the other, and with the
//! server or the log taken away under them; and jobs of one process that start, stop, stream and tell why they do not run.
//!
//! This program is both: the tests, and with a variable of the environment the process under test.

mod broken_log;
mod chaos;
mod cut_off;
mod depends;
#[cfg(feature = "console")]
mod few_files;
mod frozen;
mod killed;
mod late;
mod life_cycle;
mod listeners;
mod many_items;
mod restarted;
mod server;
mod status;
mod streams;
mod support;
mod suspended;
mod told;

use std::process::ExitCode;

use elasticjob_tests::harness::Harness;

fn main() -> ExitCode {
    if let Some(code) = told::play().or_else(broken_log::play) {
        return code;
    }
    let mut harness = Harness::new();
    // The longest first: so nothing is left to wait for one of them at the end.
    chaos::add_tests(&mut harness);
    told::add_tests(&mut harness);
    broken_log::add_tests(&mut harness);
    harness.on_zookeeper("the_items_of_a_killed_process_move_and_come_back_to_its_successor", killed::one);
    harness.on_zookeeper("what_two_of_three_ran_when_they_were_killed_the_third_runs_again", killed::all_but_one);
    harness.on_zookeeper("what_all_ran_when_they_were_killed_their_successors_run_again", killed::all);
    harness.on_zookeeper("a_frozen_process_loses_its_items_and_its_late_writes_are_refused", frozen::for_long);
    harness.on_zookeeper("a_process_frozen_for_a_moment_keeps_its_items", frozen::for_a_moment);
    harness
        .with_wrong_clock("a_suspended_machine_cancels_its_runs_within_a_second_after_it_goes_on", suspended::for_long);
    harness.with_wrong_clock("a_paused_machine_cancels_its_runs_as_soon_as_its_clock_is_set", suspended::clock_set);
    harness.on_zookeeper("a_process_cut_off_for_long_stops_in_time_and_comes_back", cut_off::for_long);
    harness.on_zookeeper("a_process_cut_off_for_a_moment_goes_on_with_its_runs", cut_off::for_a_moment);
    harness.on_zookeeper(
        "a_job_after_another_one_loses_no_fire_to_kills_between_the_end_and_the_begin",
        depends::killed_between,
    );
    harness.on_zookeeper("a_restart_of_all_one_after_the_other_loses_no_fire", restarted::all);
    harness.on_zookeeper("listeners_are_called_around_each_fire_by_each_process_and_once_for_all", listeners::called);
    harness.on_zookeeper("a_fire_with_a_killed_process_is_closed_once_by_who_took_over", listeners::killed);
    harness.on_zookeeper("a_fire_whose_owner_was_killed_before_it_is_begun_late", late::owner_killed);
    harness.on_zookeeper("a_fire_over_which_all_were_restarted_is_begun_late", late::all_restarted);
    harness.on_zookeeper("a_fire_is_begun_late_also_when_its_job_was_edited_since", late::edited_while_all_were_down);
    harness.on_own_zookeeper("a_fire_that_falls_into_an_outage_of_the_server_is_begun_after_it", late::registry_away);
    harness.on_own_zookeeper("a_restart_of_the_server_stops_nobody_for_long", server::restarted);
    #[cfg(feature = "console")]
    harness
        .on_own_zookeeper("idle_clients_of_the_console_do_not_keep_a_program_from_its_server", few_files::idle_clients);
    harness.on_own_zookeeper("a_server_that_lost_its_data_gets_the_jobs_of_its_processes_again", server::lost_its_data);
    harness.on_own_zookeeper(
        "runs_are_cancelled_before_a_server_that_is_away_could_give_their_items_away",
        server::stopped_for_long,
    );
    harness.on_own_zookeeper("runs_are_cancelled_while_the_server_is_frozen_for_long", server::frozen_for_long);
    harness.on_zookeeper("ten_thousand_items_are_assigned_begun_and_finished_once", many_items::shared);
    life_cycle::add_tests(&mut harness);
    status::add_tests(&mut harness);
    streams::add_tests(&mut harness);
    harness.run()
}
