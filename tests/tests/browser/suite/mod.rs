//! The tests and the processes that they need.

mod buttons;
mod chrome;
mod devtools;
mod findings;
mod installed;
mod killed;
mod log;
mod missed;
mod past;
mod press;
mod processes;
mod routes;
mod runs;
mod stage;
mod walk;
mod webdriver;

use std::process::ExitCode;

use elasticjob_tests::harness::Harness;

/// Runs the tests, or is one of the processes beside them.
pub fn run() -> ExitCode {
    if let Some(code) = processes::run_if_asked() {
        return code;
    }
    let missing = installed::missing;
    let mut harness = Harness::new().at_a_time(2);
    harness.with_service("chromium", missing(), "every_page_is_sound_in_both_languages_and_themes", walk::every_page);
    harness.with_service("chromium", missing(), "every_button_does_what_it_says", press::every_button);
    harness.with_service("chromium", missing(), "a_fire_is_found_from_the_timeline", runs::are_found);
    harness.with_service("chromium", missing(), "a_killed_process_is_seen", killed::is_seen);
    harness.with_service("chromium", missing(), "the_log_of_a_run_is_shown_while_it_goes_on", log::is_shown);
    harness.with_service("chromium", missing(), "a_missed_fire_is_explained_afterwards", missed::is_explained);
    harness.run()
}
