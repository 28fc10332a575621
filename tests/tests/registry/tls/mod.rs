//! ZooKeeper over TLS: a client that may connect does all that there is to do, and one that may not is told what to set.
// A test with a harness of its own, which clippy does not take for one.
#![allow(clippy::unwrap_used)]

mod certificates;
mod files;
mod programs;
mod refused;
mod support;
mod used;

use elasticjob_tests::harness::Harness;

use support::{Kept, Tests};

pub use programs::play;

/// Adds the tests of this folder, and returns what they use.
pub fn add_tests(harness: &mut Harness) -> Kept {
    let mut tests = Tests::new(harness);
    tests.add("a_client_with_a_certificate_reads_and_writes", used::reads_and_writes);
    tests.add("a_client_without_a_certificate_is_told_to_set_one", refused::no_certificate);
    tests.add("a_client_with_a_certificate_of_another_ca_is_told", refused::stranger);
    tests.add("a_server_of_an_unknown_ca_is_refused", refused::unknown_ca);
    tests.add("a_server_whose_certificate_has_expired_is_refused", refused::expired);
    tests.add("a_server_with_another_name_is_refused", refused::other_name);
    tests.add("a_port_without_tls_is_told", refused::plain_port);
    tests.add("a_port_with_tls_is_told_to_a_client_without", refused::plain_client);
    tests.add("a_program_runs_its_jobs_over_tls", programs::runs);
    tests.add("a_named_registry_center_has_tls_of_its_own", programs::named_center);
    tests.add("a_named_registry_center_that_is_refused_is_told_by_its_name", programs::named_center_refused);
    tests.add("a_program_with_wrong_files_names_all_of_them_and_ends", programs::wrong_files);
    tests.add("the_command_line_goes_over_tls", programs::command_line);
    used::add_conformance(&mut tests);
    tests.add_without_server("files_that_cannot_be_used_are_refused_at_once", files::refused);
    tests.add_without_server("a_trust_store_is_any_pem_file_with_certificates", files::accepted);
    tests.kept()
}
