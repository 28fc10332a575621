//! The conformance suite of the registry seam on both back ends.

use std::sync::Arc;

use elasticjob::testing::registry_suite::{MemoryBackend, cases};
use elasticjob_tests::harness::Harness;
use elasticjob_tests::zookeeper::ZookeeperBackend;

/// Adds the tests of this file.
pub fn add_tests(harness: &mut Harness) {
    for case in cases() {
        harness.test(format!("memory::{}", case.name), move || (case.play)(Arc::new(MemoryBackend::default())));
        harness.on_zookeeper(format!("zookeeper::{}", case.name), move |server| {
            (case.play)(Arc::new(ZookeeperBackend::new(server, format!("conformance/{}", case.name))))
        });
    }
}
