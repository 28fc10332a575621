//! Texts that other programs write into the registry must not hold up this process.

use super::*;
use crate::api::item_handler;
use crate::config::wire;
use crate::registry::Transaction;
use crate::yaml;

async fn write_configuration(registry: &Arc<dyn RegistryCenter>, text: String) {
    let mut transaction = Transaction::new();
    transaction.set("/nightly/config", text, None);
    registry.commit(transaction).await.unwrap();
}

#[tokio::test]
async fn a_configuration_that_costs_much_to_read_is_refused_and_the_job_goes_on() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let (handler, mut runs) = reporter();
    let job = scheduled(&environment, &registry, each_second("nightly", 1), handler).await;
    let mut status = job.handle().status();
    for text in [format!("a: {}", "[".repeat(200_000)), "x".repeat(yaml::LIMITS_OF_CONFIGURATION.bytes + 1)] {
        write_configuration(&registry, text).await;
        let refused = soon(status.wait_for(|status| status.refused_configuration.is_some())).await.unwrap();
        let why = refused.refused_configuration.clone().unwrap();
        drop(refused);
        assert!(why.contains("nested more than 64 deep") || why.contains("at most 262144 are read"), "{why}");
        while runs.try_recv().is_ok() {}
        soon(runs.recv()).await.expect("it fires");
        write_configuration(&registry, wire::to_yaml(&each_second("nightly", 1).build().unwrap())).await;
        soon(status.wait_for(|status| status.refused_configuration.is_none())).await.unwrap();
    }
}

#[tokio::test]
async fn a_long_configuration_is_read_beside_the_thread_of_coordination_and_put_in_force() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let (sender, mut lengths) = mpsc::unbounded_channel();
    let handler = item_handler(move |context: ShardingContext| {
        // A test that has seen enough does not receive any more.
        let _ = sender.send(context.job_parameter().len());
        async {}
    });
    let _job = scheduled(&environment, &registry, each_second("nightly", 1), handler).await;
    let long = each_second("nightly", 1).job_parameter("x".repeat(10 * wire::QUICKLY_READ)).build().unwrap();
    write_configuration(&registry, wire::to_yaml(&long)).await;
    while soon(lengths.recv()).await != Some(10 * wire::QUICKLY_READ) {}
}
