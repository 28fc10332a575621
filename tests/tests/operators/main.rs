//! Tests of operators' actions on real processes and ZooKeeper, with nothing but the nodes that a console writes.

mod clock;
mod command_line;
mod configuration;
#[cfg(feature = "console")]
mod console;
mod items;
mod servers;
mod support;
mod triggers;

use std::process::ExitCode;

#[cfg(all(feature = "console", feature = "databases"))]
use elasticjob_tests::databases::{DatabaseServer, Kind};
use elasticjob_tests::harness::Harness;
#[cfg(all(feature = "console", feature = "databases"))]
use elasticjob_tests::zookeeper::ZookeeperServer;

fn main() -> ExitCode {
    let mut harness = Harness::new();
    harness.on_zookeeper("a_disabled_server_runs_and_leads_nothing_until_it_is_enabled", servers::disabled);
    harness.on_zookeeper("a_process_whose_instance_is_removed_leaves_and_its_items_move", servers::removed);
    harness.on_zookeeper("a_disabled_item_is_not_run_until_it_is_enabled", items::disabled);
    harness.on_zookeeper("items_stay_with_a_killed_process_where_sharding_is_static", items::kept);
    harness.on_zookeeper("items_whose_owner_was_deleted_get_one_again", items::without_owner);
    harness.on_zookeeper("a_trigger_runs_every_item_once_also_when_it_comes_during_a_run", triggers::triggered);
    harness.on_zookeeper("schedule_and_total_count_change_while_the_job_runs", configuration::rescheduled);
    harness.on_zookeeper("a_configuration_that_cannot_be_used_changes_nothing", configuration::invalid);
    harness.on_zookeeper("a_changed_strategy_moves_the_work_on_with_each_fire", configuration::balanced);
    harness.on_zookeeper("misfires_are_made_up_for_until_misfire_is_switched_off", configuration::misfire);
    harness.on_zookeeper("failover_that_is_switched_off_leaves_nothing_behind", configuration::failover);
    harness.with_wrong_clock("a_host_whose_clock_goes_wrong_runs_nothing_until_it_is_right_again", clock::wrong);
    harness.on_zookeeper("the_command_line_shows_and_operates_a_job_in_other_processes", command_line::operated);
    harness.on_zookeeper("the_command_line_shows_changes_as_they_come", command_line::watched);
    harness.on_zookeeper("the_command_line_makes_no_namespace", command_line::mistyped);
    #[cfg(feature = "console")]
    harness.on_zookeeper("the_console_shows_each_registry_center_of_the_settings", console::of_two);
    #[cfg(feature = "console")]
    harness.on_zookeeper("a_console_that_reaches_no_registry_center_does_not_start", console::of_none);
    #[cfg(all(feature = "console", feature = "databases"))]
    let missing = || ZookeeperServer::find().err().map(|missing| missing.to_string());
    #[cfg(all(feature = "console", feature = "databases"))]
    harness.with_service(
        "postgresql",
        missing().or_else(|| DatabaseServer::find(Kind::Postgresql).err()),
        "a_registry_center_and_a_database_that_are_away_come_later",
        console::of_one_that_is_away,
    );
    #[cfg(feature = "databases")]
    harness.on_zookeeper("what_the_command_line_does_is_recorded_with_operator_and_reason", command_line::recorded);
    harness.run()
}
