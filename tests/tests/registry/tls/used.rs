//! Clients that may connect.

use std::sync::Arc;

use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use elasticjob::testing::registry_suite::cases;
use elasticjob_tests::zookeeper::ZookeeperBackend;
use tokio::runtime::Handle;

use super::support::{Secured, Tests, patient};

/// Cases of the conformance suite that go through everything that a connection carries.
const BASICS: [&str; 6] = [
    "every_verb_does_what_it_says",
    "large_data_pass_and_too_large_data_are_refused_without_harm",
    "a_guard_protects_what_follows_it",
    "events_come_in_the_order_of_the_changes",
    "a_cut_connection_suspends_and_the_session_lives_on",
    "an_expired_session_is_replaced_by_another",
];

pub fn add_conformance(tests: &mut Tests<'_>) {
    for name in BASICS {
        let case = cases().into_iter().find(|case| case.name == name).expect("a case of the suite");
        tests.add(&format!("conformance::{name}"), move |server| async move {
            let backend = ZookeeperBackend::new(server.secure.server.clone(), format!("conformance/{name}"));
            (case.play)(Arc::new(backend.over_tls(server.secure.port, server.certificates.client("client")))).await;
        });
    }
}

pub async fn reads_and_writes(server: Arc<Secured>) {
    let mut config = patient(server.secure.connect_string(), server.certificates.client("client"));
    config.digest = Some("robot:secret".into());
    let center = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects");
    let mut transaction = Transaction::new();
    transaction.create("/encrypted", "text", CreateMode::Persistent);
    center.commit(transaction).await.expect("it writes");
    assert_eq!(&*center.get("/encrypted").await.unwrap().unwrap().data, b"text");
    center.close().await;
}
