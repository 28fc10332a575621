//! Clients that may not connect, or do not want to: what they are told.

use std::sync::Arc;

use elasticjob_tests::zookeeper::{SecureServer, Stores};

use super::support::{Secured, failing, hasty, says};

pub async fn no_certificate(server: Arc<Secured>) {
    let error = failing(hasty(server.secure.connect_string(), Some(server.certificates.nobody()))).await;
    says(&error, &[&server.secure.connect_string(), "set tls.client-certificate and tls.client-key"]);
}

pub async fn stranger(server: Arc<Secured>) {
    let tls = server.certificates.client("stranger");
    let error = failing(hasty(server.secure.connect_string(), Some(tls))).await;
    says(&error, &["it refuses the certificate of this client", "stranger.pem", "ssl.trustStore.location"]);
}

pub async fn unknown_ca(server: Arc<Secured>) {
    let mut tls = server.certificates.client("client");
    tls.trust_store = Some(server.certificates.path("other-ca.pem"));
    let error = failing(hasty(server.secure.connect_string(), Some(tls))).await;
    says(
        &error,
        &["its certificate is not of a CA in tls.trust-store", "other-ca.pem", "add the certificate of the CA"],
    );
}

pub async fn expired(server: Arc<Secured>) {
    let made = &server.certificates;
    let stores = Stores { own: made.path("expired-server-pair.pem"), ..made.of_server() };
    let expired = SecureServer::start(&stores).expect("ZooKeeper starts");
    let error = failing(hasty(expired.connect_string(), Some(made.client("client")))).await;
    let place = format!("{}: its certificate expired at 2020-01-02", expired.connect_string());
    says(&error, &[&place, "renew it on the server"]);
}

pub async fn other_name(server: Arc<Secured>) {
    let servers = format!("127.0.0.1:{}", server.secure.port);
    let error = failing(hasty(servers, Some(server.certificates.client("client")))).await;
    says(&error, &["its certificate is not for '127.0.0.1'", "localhost", "in server-lists"]);
}

pub async fn plain_port(server: Arc<Secured>) {
    let servers = server.secure.server.connect_string().replace("127.0.0.1", "localhost");
    let error = failing(hasty(servers, Some(server.certificates.client("client")))).await;
    says(&error, &["this port is one without TLS", "secureClientPort", "tls.enabled: false"]);
}

pub async fn plain_client(server: Arc<Secured>) {
    let error = failing(hasty(server.secure.connect_string(), None)).await;
    says(&error, &["set tls.enabled: true"]);
}
