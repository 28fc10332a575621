//! The ZooKeeper registry center where things go wrong: each time a clear error or a way back, never a hang.
// A test with a harness of its own, which clippy does not take for one.
#![allow(clippy::unwrap_used)]

mod access;
mod broken;

use std::future::poll_fn;
use std::sync::Arc;
use std::time::{Duration, Instant};

use access::{
    a_digest_protects_everything_created, a_foreign_access_list_refuses_the_operation,
    a_wrong_digest_is_refused_when_connecting, an_open_namespace_is_known,
};
use broken::{
    a_frozen_server, a_killed_server_comes_back, a_server_that_stands_still_at_first, a_server_that_was_gone_for_long,
    a_shorter_time_out_after_a_restart, a_shorter_time_out_that_nobody_can_ask_for,
    closing_without_a_server_ends_in_time,
};
use elasticjob::registry::zookeeper::{ConnectError, ZookeeperConfiguration, ZookeeperRegistryCenter};
use elasticjob::registry::{
    CommitError, CreateMode, RegistryCenter, RegistryError, SessionId, SessionState, Transaction, WatchEvent,
    WatchStream,
};
use elasticjob_tests::deaf::DeafServer;
use elasticjob_tests::harness::Harness;
use elasticjob_tests::proxy::Proxy;
use elasticjob_tests::zookeeper::ZookeeperServer;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use zookeeper_client::{Acl, Acls, AuthId, Client, CreateMode as RawMode, Permission};

const DEADLINE: Duration = Duration::from_secs(40);

/// Adds the tests of this file.
pub fn add_tests(harness: &mut Harness) {
    harness.test("where_nothing_listens_connecting_fails_in_time", where_nothing_listens_connecting_fails_in_time);
    harness.test("an_unknown_host_is_named", an_unknown_host_is_named);
    harness.test("a_server_that_never_answers_is_given_up", a_server_that_never_answers_is_given_up);
    harness.test("settings_that_cannot_be_are_refused_at_once", settings_that_cannot_be_are_refused_at_once);
    harness.on_zookeeper("a_missing_namespace_is_created", a_missing_namespace_is_created);
    harness.on_zookeeper("a_namespace_may_lie_below_a_node_of_others", a_namespace_may_lie_below_a_node_of_others);
    harness.on_zookeeper("connecting_leaves_no_trace_in_the_namespace", connecting_leaves_no_trace_in_the_namespace);
    harness.on_zookeeper("a_digest_protects_everything_created", a_digest_protects_everything_created);
    harness.on_zookeeper("an_open_namespace_is_known_by_its_access_list", an_open_namespace_is_known);
    harness.on_zookeeper("a_wrong_digest_is_refused_when_connecting", a_wrong_digest_is_refused_when_connecting);
    harness.on_zookeeper("a_foreign_access_list_refuses_the_operation", a_foreign_access_list_refuses_the_operation);
    harness.on_zookeeper("lost_answers_are_unknown_and_unsent_ones_are_not", lost_answers_are_unknown);
    harness
        .on_zookeeper("transactions_of_the_same_moment_share_requests", transactions_of_the_same_moment_share_requests);
    harness.on_zookeeper("a_dropped_registry_center_leaves_at_once", a_dropped_registry_center_leaves_at_once);
    harness.on_zookeeper("a_client_that_is_never_answered_is_given_up", a_client_that_is_never_answered_is_given_up);
    harness.on_zookeeper("a_client_whose_task_died_is_given_up", a_client_whose_task_died_is_given_up);
    harness.on_own_zookeeper("a_killed_server_comes_back_with_session_and_data", a_killed_server_comes_back);
    harness.on_own_zookeeper("a_frozen_server_does_not_freeze_its_clients", a_frozen_server);
    harness.on_own_zookeeper("a_server_that_stands_still_at_first_is_waited_for", a_server_that_stands_still_at_first);
    harness.on_own_zookeeper("a_server_that_was_gone_for_long_gives_a_new_session", a_server_that_was_gone_for_long);
    let name = "a_shorter_time_out_after_a_restart_of_the_server_is_heeded";
    harness.on_own_zookeeper(name, a_shorter_time_out_after_a_restart);
    let name = "a_shorter_time_out_that_nobody_can_ask_for_at_first_is_heeded";
    harness.on_own_zookeeper(name, a_shorter_time_out_that_nobody_can_ask_for);
    harness.on_own_zookeeper("closing_without_a_server_ends_in_time", closing_without_a_server_ends_in_time);
}

/// Gives up after three seconds.
fn config(servers: impl Into<String>, namespace: &str) -> ZookeeperConfiguration {
    let mut config = ZookeeperConfiguration::new(servers, namespace);
    config.base_sleep_time_milliseconds = 100;
    config.max_sleep_time_milliseconds = 500;
    config.max_retries = 6;
    config
}

/// Waits long enough for a busy machine.
fn patient(server: &ZookeeperServer, namespace: &str) -> ZookeeperConfiguration {
    let mut config = config(server.connect_string(), namespace);
    config.max_retries = 20;
    config
}

/// The same with another time-out of the session, in milliseconds.
fn with_session(milliseconds: u64, mut config: ZookeeperConfiguration) -> ZookeeperConfiguration {
    config.session_timeout_milliseconds = milliseconds;
    config
}

/// Waits as long, asks for a time-out of the session in milliseconds, and reaches the server at another address.
fn patient_at(servers: String, milliseconds: u64, server: &ZookeeperServer, namespace: &str) -> ZookeeperConfiguration {
    let mut config = with_session(milliseconds, patient(server, namespace));
    config.server_lists = servers;
    config
}

/// With a session that ends soon without the server.
async fn connected_for_short(server: &ZookeeperServer) -> ZookeeperRegistryCenter {
    connect(with_session(2_000, patient(server, "ns"))).await.expect("it connects")
}

async fn connect(config: ZookeeperConfiguration) -> Result<ZookeeperRegistryCenter, ConnectError> {
    ZookeeperRegistryCenter::connect(config, &Handle::current()).await
}

async fn connected_to(server: &ZookeeperServer, namespace: &str) -> ZookeeperRegistryCenter {
    connect(patient(server, namespace)).await.expect("it connects")
}

/// The error and how long it took.
async fn failing(config: ZookeeperConfiguration) -> (ConnectError, Duration) {
    let before = Instant::now();
    match connect(config).await {
        Ok(center) => panic!("{center:?} is connected"),
        Err(error) => (error, before.elapsed()),
    }
}

async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.unwrap_or_else(|_| panic!("not within {DEADLINE:?}: {what}"))
}

async fn reaches(center: &dyn RegistryCenter, what: &str, is: impl FnMut(&SessionState) -> bool) -> SessionState {
    *in_time(what, center.session().wait_for(is)).await.expect("the state is published")
}

async fn connected(center: &dyn RegistryCenter) -> SessionId {
    match reaches(center, "connected", |state| matches!(state, SessionState::Connected { .. })).await {
        SessionState::Connected { id, .. } => id,
        state => panic!("{state:?}"),
    }
}

async fn suspended(center: &dyn RegistryCenter) {
    reaches(center, "suspended", |state| matches!(state, SessionState::Suspended { .. })).await;
}

async fn next(stream: &mut dyn WatchStream) -> Option<WatchEvent> {
    in_time("the next event", poll_fn(|cx| stream.poll_next(cx))).await
}

fn one(build: impl FnOnce(&mut Transaction) -> usize) -> Transaction {
    let mut transaction = Transaction::new();
    build(&mut transaction);
    transaction
}

fn create(path: &str, mode: CreateMode) -> Transaction {
    one(|t| t.create(path, "", mode))
}

async fn where_nothing_listens_connecting_fails_in_time() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let servers = format!("127.0.0.1:{port}");
    let (error, took) = failing(config(&servers, "ns")).await;
    let text = error.to_string();
    for part in [servers.as_str(), "refused", "3000 ms", "server-lists"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(took >= Duration::from_secs(3) && took < Duration::from_secs(10), "{took:?}");
}

async fn an_unknown_host_is_named() {
    let (error, took) = failing(config("no-such-host.invalid:2181", "ns")).await;
    assert!(matches!(error, ConnectError::Unreachable { .. }));
    assert!(error.to_string().contains("no-such-host.invalid:2181"), "{error}");
    assert!(took < Duration::from_secs(10), "{took:?}");
}

async fn a_server_that_never_answers_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (error, took) = failing(config(silent.local_addr().unwrap().to_string(), "ns")).await;
    assert!(error.to_string().contains("does not answer as ZooKeeper does"), "{error}");
    assert!(took < Duration::from_secs(10), "{took:?}");
}

async fn settings_that_cannot_be_are_refused_at_once() {
    let (error, took) = failing(config("127.0.0.1:99999", "/ns/")).await;
    let text = error.to_string();
    assert!(text.contains("server-lists '127.0.0.1:99999'") && text.contains("namespace '/ns/'"), "{text}");
    assert!(took < Duration::from_secs(2), "{took:?}");
}

async fn raw(server: &ZookeeperServer) -> Client {
    Client::connect(&server.connect_string()).await.expect("the raw client connects")
}

async fn a_missing_namespace_is_created(server: Arc<ZookeeperServer>) {
    let center = connected_to(&server, "made/deep/命名空间").await;
    center.commit(create("/job", CreateMode::Persistent)).await.unwrap();
    assert!(raw(&server).await.check_stat("/made/deep/命名空间/job").await.unwrap().is_some());
    let again = connected_to(&server, "made/deep/命名空间").await;
    assert_eq!(again.children("/").await.unwrap().unwrap(), ["job"]);
}

async fn a_namespace_may_lie_below_a_node_of_others(server: Arc<ZookeeperServer>) {
    let raw = raw(&server).await;
    let open = RawMode::Persistent.with_acls(Acls::anyone_all());
    raw.create("/locked", b"", &open).await.unwrap();
    raw.create("/locked/ns", b"", &open).await.unwrap();
    raw.set_acl("/locked", &[Acl::new(Permission::READ, AuthId::anyone())], None).await.unwrap();
    let center = connected_to(&server, "locked/ns").await;
    center.commit(create("/job", CreateMode::Persistent)).await.unwrap();
    let (error, _) = failing(patient(&server, "locked/other")).await;
    assert!(matches!(error, ConnectError::Forbidden { what: "create", .. }), "{error}");
}

async fn connecting_leaves_no_trace_in_the_namespace(server: Arc<ZookeeperServer>) {
    let first = connected_to(&server, "traceless").await;
    let mut watch = first.watch("/");
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Gap));
    let second = connected_to(&server, "traceless").await;
    second.commit(create("/seen", CreateMode::Persistent)).await.unwrap();
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Created("/seen".into())));
}

async fn lost_answers_are_unknown(server: Arc<ZookeeperServer>) {
    let proxy = Proxy::start(server.connect_string()).await.unwrap();
    let center = connect(patient_at(proxy.connect_string(), 4_000, &server, "lost")).await.unwrap();
    let observer = connected_to(&server, "lost").await;
    let mut lost = 0;
    for round in 0..8 {
        connected(&center).await;
        let path = |i| format!("/n-{round}-{i}");
        let pending: Vec<_> = (0..50).map(|i| (i, center.commit(create(&path(i), CreateMode::Persistent)))).collect();
        if round % 2 == 0 {
            // Some have come through by then.
            center.get("/").await.ok();
        }
        proxy.cut();
        suspended(&center).await;
        let late = center.commit(create(&path(99), CreateMode::Persistent)).await;
        assert!(matches!(late, Err(CommitError::NotReached { .. })), "{late:?}");
        for (i, answer) in pending {
            let answer = in_time("an answer", answer).await;
            match answer {
                Ok(_) => assert!(observer.get(&path(i)).await.unwrap().is_some(), "{i}"),
                Err(CommitError::Unknown { .. }) => lost += 1,
                Err(CommitError::NotReached { .. }) => assert_eq!(observer.get(&path(i)).await, Ok(None), "{i}"),
                refused => panic!("{refused:?}"),
            }
        }
        assert_eq!(observer.get(&path(99)).await, Ok(None));
        proxy.mend();
    }
    assert!(lost > 0, "no answer was lost, so nothing was tested");
}

async fn a_dropped_registry_center_leaves_at_once(server: Arc<ZookeeperServer>) {
    let observer = connected_to(&server, "dropped").await;
    let mut watch = observer.watch("/");
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Gap));
    let center = connected_to(&server, "dropped").await;
    center.commit(create("/e", CreateMode::Ephemeral)).await.unwrap();
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Created("/e".into())));
    let before = Instant::now();
    drop(center);
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Deleted("/e".into())));
    assert!(before.elapsed() < Duration::from_secs(10), "{:?}", before.elapsed());
}

/// The client says all the while that it is connected, as its pings are answered.
async fn a_client_whose_task_died_is_given_up(server: Arc<ZookeeperServer>) {
    let doomed = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let config = with_session(4_000, patient(&server, "died"));
    let serving = Handle::current();
    let center = ZookeeperRegistryCenter::connect_with_client_on(config, &serving, doomed.handle()).await.unwrap();
    let (mut watch, mut idle) = (center.watch("/"), center.watch("/idle"));
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Gap));
    assert_eq!(next(&mut *idle).await, Some(WatchEvent::Gap));
    let id = connected(&center).await;
    let before = Instant::now();
    doomed.shutdown_background();
    // No more than this is known of it for a while: watches are silent, and nothing is answered.
    let silent = tokio::time::timeout(Duration::from_secs(1), poll_fn(|cx| idle.poll_next(cx))).await;
    assert!(silent.is_err(), "{silent:?}");
    assert!(matches!(in_time("an answer", center.get("/")).await, Err(RegistryError::NoAnswer { .. })));
    let commit = in_time("an answer", center.commit(create("/a", CreateMode::Persistent))).await;
    assert!(matches!(commit, Err(CommitError::Unknown { .. } | CommitError::NotReached { .. })), "{commit:?}");
    reaches(&center, "the client given up", |state| *state == SessionState::Connecting).await;
    assert!(before.elapsed() < Duration::from_secs(20), "three times the session time-out: {:?}", before.elapsed());
    assert_eq!(center.proof(), None);
    assert_ne!(connected(&center).await, id);
    for watch in [&mut watch, &mut idle] {
        assert_eq!(next(&mut **watch).await, Some(WatchEvent::Gap));
    }
    center.commit(create("/b", CreateMode::Persistent)).await.unwrap();
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Created("/b".into())));
}

async fn a_client_that_is_never_answered_is_given_up(server: Arc<ZookeeperServer>) {
    let deaf = DeafServer::start(server.connect_string()).await.unwrap();
    let center = connect(patient_at(deaf.connect_string(), 2_000, &server, "deaf")).await.unwrap();
    let mut watch = center.watch("/");
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Gap));
    let id = connected(&center).await;
    // Longer than what it is watched for: while it answers it is left alone, asked for something or not.
    tokio::time::sleep(Duration::from_secs(7)).await;
    assert_eq!(connected(&center).await, id);
    deaf.set_deaf(true);
    let before = Instant::now();
    let unanswered = center.get("/");
    reaches(&center, "the client given up", |state| *state == SessionState::Connecting).await;
    assert!(before.elapsed() < Duration::from_secs(20), "three times the session time-out: {:?}", before.elapsed());
    assert_eq!(center.proof(), None);
    assert!(matches!(in_time("an answer", unanswered).await, Err(RegistryError::NoAnswer { .. })));
    deaf.set_deaf(false);
    assert_ne!(connected(&center).await, id);
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Gap));
    center.commit(create("/a", CreateMode::Persistent)).await.unwrap();
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Created("/a".into())));
}

async fn transactions_of_the_same_moment_share_requests(server: Arc<ZookeeperServer>) {
    let center = connected_to(&server, "shared-requests").await;
    let new = |number: i32| one(|t| t.create(format!("/{number}"), "", CreateMode::Persistent));
    let before = center.requests().writes;
    let answers: Vec<_> = (0..300).map(|number| center.commit(new(number))).collect();
    for answer in answers {
        answer.await.expect("it is applied");
    }
    let shared = center.requests().writes - before;
    // The first one, and those that were made while it was out; more where this thread had to wait meanwhile.
    assert!((2..30).contains(&shared), "{shared} requests");
    // One alone waits for nothing: each has its request.
    for number in 300..310 {
        center.commit(new(number)).await.expect("it is applied");
    }
    assert_eq!(center.requests().writes - before - shared, 10);
}
