//! Tests of the answers of servers without their leader, and of the client's reaction.

use std::time::{Duration, Instant};

use elasticjob::registry::zookeeper::{ZookeeperConfiguration, ZookeeperRegistryCenter};
use elasticjob::registry::{CreateMode, RegistryCenter, SessionState, Transaction};
use elasticjob_tests::zookeeper::{EnsembleSettings, ZookeeperEnsemble};
use futures_util::FutureExt;
use tokio::runtime::Handle;
use zookeeper_client::Client;

const LIMIT: Duration = Duration::from_secs(60);

async fn connect(ensemble: &ZookeeperEnsemble, member: usize) -> ZookeeperRegistryCenter {
    let mut config = ZookeeperConfiguration::new(ensemble.member(member).connect_string(), "proofs");
    config.session_timeout_milliseconds = 4_000;
    config.max_retries = 20;
    ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects")
}

async fn raw(ensemble: &ZookeeperEnsemble, member: usize) -> Client {
    Client::connect(&ensemble.member(member).connect_string()).await.expect("it connects")
}

fn check(path: &str) -> Transaction {
    let mut check = Transaction::new();
    check.check(path, None);
    check
}

/// The reason why only a transaction is a proof: a read is answered beside the end of the session, a transaction is not,
/// and no more is a `sync`.
pub async fn of_a_lagging_follower() {
    let settings = EnsembleSettings { sync_limit: 60, ..EnsembleSettings::default() };
    let ensemble = ZookeeperEnsemble::start(settings).await.expect("the ensemble starts");
    let leader = ensemble.leader().await.expect("a server leads");
    let follower = ensemble.others(leader)[0];
    let center = connect(&ensemble, follower).await;
    let mut create = Transaction::new();
    create.create("/a", "", CreateMode::Persistent);
    center.commit(create).await.expect("it is committed");
    center.commit(check("/a")).await.expect("it is committed");
    let SessionState::Connected { id, .. } = *center.session().borrow() else { panic!("it is connected") };
    let proof = center.proof().expect("a transaction proves the session");
    assert_eq!(proof.session, id);
    // Each in a session of its own: what a session asks for behind an unanswered write is not answered either.
    let (writer, raw) = (connect(&ensemble, follower).await, raw(&ensemble, follower).await);

    ensemble.cut(leader, follower);
    let transaction = tokio::spawn(writer.commit(check("/a")));
    let sync = tokio::spawn(async move { raw.sync("/").await });
    let has_session = || ensemble.member(leader).has_session(id.0).expect("the leader answers");
    let (cut, mut reads) = (Instant::now(), 0);
    while has_session() {
        assert!(center.get("/a").await.expect("it is answered").is_some());
        reads += 1;
        assert!(cut.elapsed() < LIMIT, "the leader ends a session that it hears nothing of");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    println!("the leader ended the session {:?} after the cut, {reads} reads were answered meanwhile", cut.elapsed());
    assert!(reads > 10);
    assert!(!matches!(transaction.now_or_never(), Some(Ok(Ok(_)))), "no transaction passes");
    assert!(!matches!(sync.now_or_never(), Some(Ok(Ok(())))), "nor does a sync");
    assert!(center.get("/a").await.is_ok(), "the session has ended, and the follower does not know");
    assert_eq!(center.proof(), Some(proof), "none of that proves the session");
}

pub async fn of_a_read_only_server() {
    let settings = EnsembleSettings { read_only: true, ..EnsembleSettings::default() };
    let ensemble = ZookeeperEnsemble::start(settings).await.expect("the ensemble starts");
    let center = connect(&ensemble, 0).await;
    drop(center.commit(check("/a")).await);
    let proof = center.proof().expect("a refusal is a proof");
    for member in ensemble.others(0) {
        ensemble.member(member).stop();
    }
    let stopped = Instant::now();
    ensemble.wait_mode(0, "read-only").await.expect("it serves readers");
    let mut session = center.session();
    while stopped.elapsed() < Duration::from_secs(10) {
        let state = *session.borrow_and_update();
        assert!(!matches!(state, SessionState::Connected { .. }), "{state:?} at a server that may only read");
        assert!(center.get("/").await.is_err(), "nothing is read there");
        // That of the session, as long as it is not given up.
        assert!(center.proof().is_none_or(|now| now == proof));
        drop(tokio::time::timeout(Duration::from_millis(200), session.changed()).await);
    }
}
