//! The conformance suite of the registry seam on both back ends.

use std::process::ExitCode;
use std::sync::Arc;

use elasticjob::testing::registry_suite::{MemoryBackend, cases};
use elasticjob_tests::harness::Harness;
use elasticjob_tests::zookeeper::ZookeeperBackend;

fn main() -> ExitCode {
    let mut harness = Harness::new();
    for case in cases() {
        harness.test(format!("memory::{}", case.name), move || (case.play)(Arc::new(MemoryBackend::default())));
        harness.on_zookeeper(format!("zookeeper::{}", case.name), move |server| {
            (case.play)(Arc::new(ZookeeperBackend::new(server, format!("conformance/{}", case.name))))
        });
    }
    harness.run()
}
