//! The tests and the processes that they need.

mod buttons;
mod chrome;
mod cloud;
mod devtools;
mod edits;
mod findings;
mod graph;
mod installed;
mod java;
mod keyboard;
mod killed;
mod log;
mod logged_out;
mod missed;
mod nginx;
mod past;
mod press;
mod processes;
mod registry;
mod routes;
mod runs;
mod stage;
mod tabs;
mod unreachable;
mod walk;
mod webdriver;

use std::process::ExitCode;

use elasticjob_tests::harness::Harness;
use elasticjob_tests::java_peer::JavaPeer;

/// Runs the tests, or is one of the processes beside them.
pub fn run() -> ExitCode {
    if let Some(code) = processes::run_if_asked() {
        return code;
    }
    let missing = installed::missing;
    let mut harness = Harness::new().at_a_time(2);
    harness.with_service("chromium", missing(), "every_page_is_sound_in_both_languages_and_themes", walk::every_page);
    harness.with_service("chromium", missing(), "every_button_does_what_it_says", press::every_button);
    harness.with_service("chromium", missing(), "buttons_work_without_script", press::without_script);
    harness.with_service("chromium", missing(), "a_keyboard_is_enough", keyboard::is_enough);
    harness.with_service("chromium", missing(), "carried_jobs_are_registered_run_and_removed", cloud::every_button);
    harness.with_service("chromium", missing(), "a_fire_is_found_from_the_timeline", runs::are_found);
    harness.with_service("chromium", missing(), "a_run_of_jobs_after_jobs_is_followed", graph::is_followed);
    harness.with_service("chromium", missing(), "a_killed_process_is_seen", killed::is_seen);
    harness.with_service("chromium", missing(), "the_log_of_a_run_is_shown_while_it_goes_on", log::is_shown);
    harness.with_service("chromium", missing(), "a_fire_is_followed_while_it_runs", log::fire_is_followed);
    harness.with_service("chromium", missing(), "a_missed_fire_is_explained_afterwards", missed::is_explained);
    harness.with_service("chromium", missing(), "two_edits_of_a_configuration_lose_nothing", edits::lose_nothing);
    harness.with_service("chromium", missing(), "a_page_says_that_its_session_has_ended", logged_out::is_said);
    harness.with_service("chromium", missing(), "a_page_says_that_its_console_is_away", unreachable::is_said);
    harness.with_service("chromium", missing(), "seven_tabs_work", tabs::all_work);
    harness.with_service("chromium", missing(), "tabs_opened_behind_have_no_stream", tabs::opened_behind);
    harness.with_service("chromium", missing(), "a_registry_center_is_away_and_back", registry::is_away_and_back);
    let without_java = missing().or_else(|| JavaPeer::find().err().map(|missing| missing.to_string()));
    harness.with_service(
        "maven",
        without_java,
        "a_java_instance_is_shown_with_its_items",
        java::is_shown_with_its_items,
    );
    let without_nginx = missing().or_else(installed::no_nginx);
    harness.with_service("nginx", without_nginx, "a_console_below_a_path_of_nginx_is_served", nginx::is_served);
    harness.run()
}
