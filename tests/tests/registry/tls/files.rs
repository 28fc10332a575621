//! Files of TLS: what is wrong with them is found before anything is dialled.

use std::path::PathBuf;
use std::sync::Arc;

use elasticjob::registry::zookeeper::ZookeeperTls;

use super::certificates::Certificates;
use super::support::{failing, hasty, says};

pub async fn refused(made: Arc<Certificates>) {
    made.write("empty.pem", "");
    made.write("locked.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
    std::fs::write(made.path("store.jks"), [0xfe, 0xed, 0xfe, 0xed]).unwrap();
    let client = || made.client("client");
    let changed = |change: &dyn Fn(&mut ZookeeperTls)| {
        let mut tls = client();
        change(&mut tls);
        tls
    };
    let file = |name: &str| Some(made.path(name));
    let nowhere = || Some(PathBuf::from("/no/such.pem"));
    for (tls, parts) in [
        (
            changed(&|tls| tls.trust_store = nowhere()),
            vec!["tls.trust-store '/no/such.pem'", "cannot be read", "name a PEM file"],
        ),
        (changed(&|tls| tls.trust_store = file("client.key")), vec!["tls.trust-store", "no certificate in it"]),
        (changed(&|tls| tls.trust_store = file("store.jks")), vec!["tls.trust-store", "no PEM file", "keytool"]),
        (
            changed(&|tls| tls.client_certificate = file("empty.pem")),
            vec!["tls.client-certificate", "no certificate in it"],
        ),
        (changed(&|tls| tls.client_certificate = None), vec!["tls.client-key", "in tls.client-certificate"]),
        (changed(&|tls| tls.client_key = None), vec!["tls.client-key", "needs its private key"]),
        (changed(&|tls| tls.client_key = file("ca.pem")), vec!["tls.client-key", "no private key in it"]),
        (changed(&|tls| tls.client_key = file("locked.key")), vec!["tls.client-key", "passphrase", "openssl pkey"]),
        (
            changed(&|tls| tls.client_key = file("stranger.key")),
            vec!["tls.client-key", "not the key of the certificate"],
        ),
        (made.client("expired"), vec!["tls.client-certificate", "expired at 2020-01-02", "renew it"]),
        (made.client("of-2999"), vec!["tls.client-certificate", "not valid before 2999-01-01", "clock"]),
        (made.client("server"), vec!["tls.client-certificate", "not for clients"]),
        (
            changed(&|tls| {
                (tls.trust_store, tls.client_certificate, tls.client_key) = (nowhere(), nowhere(), nowhere())
            }),
            vec!["tls.trust-store '/no", "tls.client-certificate '/no", "tls.client-key '/no"],
        ),
    ] {
        let error = failing(hasty("localhost:1".to_owned(), Some(tls))).await;
        says(&error, &parts);
    }
    let error = failing(hasty("zk_1..x:1".to_owned(), Some(client()))).await;
    says(&error, &["server-lists", "no certificate can be for 'zk_1..x:1'"]);
}

pub async fn accepted(made: Arc<Certificates>) {
    let problems = |tls| hasty("localhost:1".to_owned(), Some(tls)).problems();
    let [ca, other] = ["ca.pem", "other-ca.pem"].map(|name| std::fs::read_to_string(made.path(name)).unwrap());
    made.write("bundle.pem", &format!("The CAs of this company.\n{other}\nAnother one:\n{ca}"));
    let mut tls = made.client("client");
    tls.trust_store = Some(made.path("bundle.pem"));
    assert_eq!(problems(tls.clone()), []);
    // Both in one file, as some tools write it.
    (tls.client_certificate, tls.client_key) = (Some(made.path("client-pair.pem")), Some(made.path("client-pair.pem")));
    assert_eq!(problems(tls), []);
    assert_eq!(problems(made.nobody()), []);
}
