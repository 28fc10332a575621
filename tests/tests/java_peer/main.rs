//! Rust and Java instances of one job in one group, and the operators of each kind on instances of the other.

mod cron;
mod digest;
mod failover;
mod leaders;
mod listeners;
mod operators;
mod starts;
mod support;

use std::process::ExitCode;

use elasticjob_tests::harness::Harness;

use crate::support::Kind::{Java, Rust};

fn main() -> ExitCode {
    let mut harness = Harness::new();
    harness.beside_java("java_joins_rust_and_takes_over_when_it_leaves", |server, peer| {
        starts::joined(server, peer, Rust)
    });
    harness.beside_java("rust_joins_java_and_takes_over_when_it_leaves", |server, peer| {
        starts::joined(server, peer, Java)
    });
    harness.beside_java("leaders_of_both_kinds_assign_alike", leaders::assign_alike);
    harness
        .beside_java("java_runs_what_a_killed_rust_process_left", |server, peer| failover::killed(server, peer, Rust));
    harness
        .beside_java("rust_runs_what_a_killed_java_process_left", |server, peer| failover::killed(server, peer, Java));
    harness.beside_java("both_kinds_follow_a_configuration_that_either_operator_changes", operators::configured);
    harness.beside_java("a_trigger_of_either_operator_runs_the_items_of_both_kinds", operators::triggered);
    harness.beside_java("an_item_that_either_operator_disables_is_run_by_neither_kind", operators::item_disabled);
    harness.beside_java("a_server_that_either_operator_disables_runs_nothing", operators::server_disabled);
    harness.beside_java("each_operator_shuts_instances_of_the_other_kind_down", operators::shut_down);
    harness.beside_java("both_kinds_and_both_operators_share_a_namespace_with_a_digest", digest::shared);
    harness.beside_java("each_kind_calls_its_own_listeners", listeners::called);
    cron::add_tests(&mut harness);
    harness.run()
}
