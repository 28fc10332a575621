//! The carrier `KUBERNETES` on a real cluster: the suite of all carriers, and what this one does beyond it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod absence;
mod crashes;
mod daemons;
mod frozen;
mod killed;
mod lost;
mod packages;
mod queues;
mod rights;
mod shared;
mod support;
mod troubles;

use std::process::ExitCode;
use std::sync::Arc;

use elasticjob_cloud::carrier::suite::cases;
use elasticjob_tests::harness::Harness;
use elasticjob_tests::kubernetes::{Cluster, Namespace};

fn main() -> ExitCode {
    let mut harness = Harness::new();
    // First, as they take longest.
    harness.on_started_kubernetes_and_zookeeper(
        "an_api_server_that_is_away_for_minutes_costs_schedulers_no_run",
        absence::of_minutes,
    );
    harness.beside_kubernetes_on_zookeeper("an_item_of_a_dead_node_is_lost_or_runs_again", |server| async {
        lost::with_its_node(Cluster::start_with("dying").unwrap(), server).await;
    });
    for case in cases() {
        let play = move |cluster| (case.play)(Arc::new(Namespace::new(cluster)));
        match case.name {
            // An existing cluster has one image for all.
            "a_package_that_is_not_there_fails_the_item" => harness.on_started_kubernetes(case.name, play),
            name => harness.on_kubernetes(name, play),
        }
    }
    harness.on_kubernetes("items_that_share_a_pod_end_each_for_itself", shared::ended_each);
    harness
        .on_started_kubernetes("an_api_server_that_is_away_delays_launches_and_ends_and_loses_none", absence::survived);
    let name = "an_end_is_told_where_the_connection_of_the_watch_was_lost_in_silence";
    harness.on_started_kubernetes(name, absence::unheard);
    harness.on_started_kubernetes("a_package_is_fetched_checked_and_run", packages::run);
    harness.on_started_kubernetes("a_launch_in_a_queue_waits_for_it_and_can_be_stopped_there", queues::waited);
    harness.on_started_kubernetes("the_rights_of_the_manifest_are_enough_and_not_more", rights::are_least);
    harness
        .on_started_kubernetes("what_keeps_an_item_from_its_start_is_told_in_the_words_of_the_cluster", troubles::told);
    harness.on_started_kubernetes("an_item_that_is_evicted_is_lost_or_runs_again", troubles::evicted);
    harness.on_started_kubernetes_and_zookeeper("items_of_frozen_schedulers_run_once", frozen::run_once);
    harness.on_started_kubernetes_and_zookeeper("items_of_killed_schedulers_run_once", killed::run_once);
    for crash in crashes::ALL {
        harness.on_started_kubernetes_and_zookeeper(crash.name, move |cluster, server| {
            crashes::play(crash, cluster, server)
        });
    }
    let name = "a_daemon_of_killed_schedulers_runs_once";
    harness.on_started_kubernetes_and_zookeeper(name, daemons::of_killed_schedulers);
    let name = "a_daemon_of_frozen_schedulers_runs_once";
    harness.on_started_kubernetes_and_zookeeper(name, daemons::of_frozen_schedulers);
    let name = "a_daemon_whose_old_request_arrives_late_has_its_settings_again";
    harness.on_started_kubernetes_and_zookeeper(name, daemons::with_a_late_request);
    let name = "a_daemon_that_another_hand_removes_or_scales_is_kept_again";
    harness.on_started_kubernetes_and_zookeeper(name, daemons::of_another_hand);
    harness.run()
}
