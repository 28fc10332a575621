//! Access lists: a digest protects what is created, and what is forbidden is said.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::registry::zookeeper::{ConnectError, ZookeeperConfiguration};
use elasticjob::registry::{CommitError, CreateMode, Refusal, RegistryCenter, RegistryError, Transaction};
use elasticjob_tests::zookeeper::ZookeeperServer;
use zookeeper_client::{Acl, Acls, AuthId, Client, CreateMode as RawMode, Permission};

use super::{connect, connected_to, create, failing, patient};

fn with_digest(server: &ZookeeperServer, namespace: &str, digest: &str) -> ZookeeperConfiguration {
    let mut config = patient(server, namespace);
    config.digest = Some(digest.into());
    config
}

pub(super) async fn a_digest_protects_everything_created(server: Arc<ZookeeperServer>) {
    let center = connect(with_digest(&server, "guarded/ns", "user:word")).await.unwrap();
    assert!(!center.is_open() && connect(patient(&server, "open/ns")).await.unwrap().is_open());
    center.commit(create("/job", CreateMode::Persistent)).await.unwrap();
    center.commit(create("/job/e", CreateMode::Ephemeral)).await.unwrap();
    center.commit(create("/job/s-", CreateMode::EphemeralSequential)).await.unwrap();
    let raw = Client::connector().with_auth("digest", b"user:word").connect(&server.connect_string()).await.unwrap();
    for path in ["/guarded", "/guarded/ns", "/guarded/ns/job", "/guarded/ns/job/e", "/guarded/ns/job/s-0000000001"] {
        let (acls, _) = raw.get_acl(path).await.unwrap();
        let [acl] = acls.as_slice() else { panic!("{path}: {acls:?}") };
        assert_eq!((acl.permission(), acl.scheme()), (Permission::ALL, "digest"), "{path}");
        assert!(acl.id().starts_with("user:"), "{path}: {}", acl.id());
    }
}

pub(super) async fn an_open_namespace_is_known(server: Arc<ZookeeperServer>) {
    // It is older than the digest.
    connected_to(&server, "older").await.close().await;
    let digest = || with_digest(&server, "older", "user:word");
    assert!(connect(digest()).await.unwrap().is_open());
    // An operator closes it, as docs/security.md says.
    let raw = Client::connector().with_auth("digest", b"user:word").connect(&server.connect_string()).await.unwrap();
    let readable = Acl::new(Permission::READ, AuthId::anyone());
    raw.set_acl("/older", &[Acl::new(Permission::ALL, AuthId::authed()), readable], None).await.unwrap();
    assert!(!connect(digest()).await.unwrap().is_open());
    // It is closed to other hosts; what a program without a digest creates in it is open to all the same.
    raw.create("/hosts", b"", &RawMode::Persistent.with_acls(Acls::anyone_all())).await.unwrap();
    raw.set_acl("/hosts", &[Acl::new(Permission::ALL, AuthId::new("ip", "127.0.0.1"))], None).await.unwrap();
    assert!(connected_to(&server, "hosts").await.is_open());
    assert!(!connect(with_digest(&server, "hosts", "user:word")).await.unwrap().is_open());
}

pub(super) async fn a_wrong_digest_is_refused_when_connecting(server: Arc<ZookeeperServer>) {
    let center = connect(with_digest(&server, "secret", "user:word")).await.unwrap();
    for (config, cure) in [
        (with_digest(&server, "secret", "user:wrong"), "digest is not the one"),
        (patient(&server, "secret"), "set digest"),
    ] {
        let (error, took) = failing(config).await;
        let text = error.to_string();
        assert!(matches!(error, ConnectError::Forbidden { .. }), "{text}");
        assert!(text.contains(cure) && text.contains("'secret'") && !text.contains("wrong"), "{text}");
        assert!(took < Duration::from_secs(5), "it is told at once, not after {took:?}");
    }
    let again = connect(with_digest(&server, "secret", "user:word")).await.unwrap();
    again.commit(create("/a", CreateMode::Persistent)).await.unwrap();
    assert!(center.get("/a").await.unwrap().is_some());
}

pub(super) async fn a_foreign_access_list_refuses_the_operation(server: Arc<ZookeeperServer>) {
    let center = connected_to(&server, "foreign").await;
    let raw = Client::connector().with_auth("digest", b"other:word").connect(&server.connect_string()).await.unwrap();
    let theirs = RawMode::Persistent.with_acls(Acls::creator_all());
    raw.create("/foreign/theirs", b"", &theirs).await.unwrap();
    let mut t = Transaction::new();
    t.create("/ours", "", CreateMode::Persistent);
    t.set("/theirs", "", None);
    let refused = CommitError::Refused { index: 1, path: "/theirs".into(), reason: Refusal::NoAuth };
    assert_eq!(center.commit(t).await, Err(refused.clone()));
    assert!(refused.to_string().contains("digest"), "{refused}");
    assert_eq!(center.get("/ours").await, Ok(None));
    let refused = RegistryError::Refused { path: "/theirs".into(), reason: Refusal::NoAuth };
    assert_eq!(center.get("/theirs").await, Err(refused));
    let child = center.commit(create("/theirs/x", CreateMode::Persistent)).await;
    assert!(matches!(child, Err(CommitError::Refused { index: 0, reason: Refusal::NoAuth, .. })), "{child:?}");
}
