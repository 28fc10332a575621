//! Servers that are killed, frozen, gone for long or started again with other limits.

use std::time::{Duration, Instant};

use elasticjob::registry::{CommitError, CreateMode, RegistryCenter, RegistryError, SessionState, WatchEvent};
use elasticjob_tests::proxy::Proxy;
use elasticjob_tests::zookeeper::ZookeeperServer;

use super::{
    DEADLINE, connect, connected, connected_for_short, connected_to, create, in_time, next, one, patient_at, reaches,
    suspended,
};

pub(super) async fn a_killed_server_comes_back(server: ZookeeperServer) {
    let center = connected_to(&server, "ns").await;
    let mut watch = center.watch("/a");
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Gap));
    center.commit(create("/a", CreateMode::Persistent)).await.unwrap();
    center.commit(create("/a/e", CreateMode::Ephemeral)).await.unwrap();
    let id = connected(&center).await;
    let stat = center.get("/a/e").await.unwrap().unwrap().stat;
    server.stop();
    suspended(&center).await;
    assert!(matches!(center.get("/a").await, Err(RegistryError::NoAnswer { .. })));
    let before = Instant::now();
    server.resume().unwrap();
    assert_eq!(connected(&center).await, id, "after {:?}", before.elapsed());
    assert_eq!(center.get("/a/e").await.unwrap().unwrap().stat, stat);
    for expected in [WatchEvent::Created("/a".into()), WatchEvent::Created("/a/e".into()), WatchEvent::Gap] {
        assert_eq!(next(&mut *watch).await, Some(expected));
    }
    center.commit(one(|t| t.set("/a", "1", Some(0)))).await.unwrap();
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Changed("/a".into())));
}

pub(super) async fn a_frozen_server(server: ZookeeperServer) {
    let center = connected_for_short(&server).await;
    center.commit(create("/c", CreateMode::Persistent)).await.unwrap();
    let mut watch = center.watch("/");
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Gap));
    let proof = center.proof();
    server.freeze().unwrap();
    let before = Instant::now();
    let (read, write) = (center.get("/a"), center.commit(create("/a", CreateMode::Persistent)));
    let (read, write) = in_time("an answer", async { (read.await, write.await) }).await;
    let took = before.elapsed();
    assert!(matches!(read, Err(RegistryError::NoAnswer { .. })), "{read:?}");
    assert!(matches!(write, Err(CommitError::Unknown { .. })), "{write:?}");
    assert!(took < Duration::from_secs(10), "the session time-out is 2 s: {took:?}");
    assert_eq!(center.proof(), proof);
    suspended(&center).await;
    server.thaw().unwrap();
    connected(&center).await;
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Gap));
    // The session may be expiring, so that another one follows.
    loop {
        match center.commit(create("/b", CreateMode::Persistent)).await {
            // Refused where it came through without an answer before.
            Ok(_) | Err(CommitError::Refused { .. }) => break,
            Err(error) => assert!(before.elapsed() < DEADLINE, "{error}"),
        }
        connected(&center).await;
    }
    assert!(center.proof().unwrap().at > proof.unwrap().at);
    loop {
        match next(&mut *watch).await {
            Some(WatchEvent::Created(path)) if path == "/b" => break,
            // The unknown write may have come through, and the connection may have broken once more.
            Some(WatchEvent::Gap | WatchEvent::Created(_)) => (),
            other => panic!("{other:?}"),
        }
    }
}

pub(super) async fn a_server_that_stands_still_at_first(server: ZookeeperServer) {
    server.freeze().unwrap();
    let thaws = async {
        // Longer than the session time-out, after which the client gives up, and shorter than the limit of 10 s.
        tokio::time::sleep(Duration::from_secs(4)).await;
        server.thaw().unwrap();
    };
    let (center, ()) = tokio::join!(connected_for_short(&server), thaws);
    center.commit(create("/late", CreateMode::Persistent)).await.unwrap();
}

pub(super) async fn a_server_that_was_gone_for_long(server: ZookeeperServer) {
    let center = connected_for_short(&server).await;
    center.commit(create("/e", CreateMode::Ephemeral)).await.unwrap();
    let mut watch = center.watch("/");
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Gap));
    let id = connected(&center).await;
    server.stop();
    suspended(&center).await;
    reaches(&center, "the session given up", |state| *state == SessionState::Connecting).await;
    assert_eq!(center.proof(), None, "there is no session to prove");
    assert!(matches!(center.get("/e").await, Err(RegistryError::NoAnswer { .. })));
    server.resume().unwrap();
    let before = Instant::now();
    assert_ne!(connected(&center).await, id);
    assert!(before.elapsed() < Duration::from_secs(10), "{:?}", before.elapsed());
    assert_eq!(next(&mut *watch).await, Some(WatchEvent::Gap));
    center.commit(create("/new", CreateMode::Ephemeral)).await.unwrap();
    // The old session may still be running out at the server.
    while next(&mut *watch).await != Some(WatchEvent::Created("/new".into())) {}
    while center.get("/e").await.unwrap().is_some() {
        assert_eq!(next(&mut *watch).await, Some(WatchEvent::Deleted("/e".into())));
    }
}

pub(super) async fn closing_without_a_server_ends_in_time(server: ZookeeperServer) {
    let center = connected_for_short(&server).await;
    let mut watch = center.watch("/");
    server.stop();
    let before = Instant::now();
    in_time("closed", center.close()).await;
    assert!(before.elapsed() < Duration::from_secs(8), "{:?}", before.elapsed());
    assert_eq!(*center.session().borrow(), SessionState::Closed);
    while next(&mut *watch).await.is_some() {}
}

/// A server whose limits changed over its restart ends the session earlier than the client was told at first.
pub(super) async fn a_shorter_time_out_after_a_restart(server: ZookeeperServer) {
    let proxy = Proxy::start(server.connect_string()).await.unwrap();
    let center = connect(patient_at(proxy.connect_string(), 40_000, &server, "ns")).await.expect("it connects");
    let id = connected(&center).await;
    server.stop();
    suspended(&center).await;
    server.reconfigure(&["maxSessionTimeout=6000"]).unwrap();
    server.resume().unwrap();
    let is_short = |state: &SessionState| matches!(state, SessionState::Connected { timeout, .. } if *timeout < Duration::from_secs(6));
    let state = reaches(&center, "the shorter time-out", is_short).await;
    let SessionState::Connected { id: same, timeout } = state else { panic!("{state:?}") };
    assert_eq!(same, id);
    // It is what the server goes by.
    in_time("a proof", center.commit(create("/proof", CreateMode::Persistent))).await.unwrap();
    let proof = Instant::now();
    proxy.cut();
    while proof.elapsed() < timeout {
        assert!(server.has_session(id.0).unwrap(), "ended after {:?}, held for {timeout:?}", proof.elapsed());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    in_time("the end of the session", async {
        while server.has_session(id.0).unwrap() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
    assert!(proof.elapsed() < Duration::from_secs(30), "the session lasted for {:?}", proof.elapsed());
}

/// The server serves the session and accepts no further connection of this host, so the client cannot ask for its time-out.
pub(super) async fn a_shorter_time_out_that_nobody_can_ask_for(server: ZookeeperServer) {
    let proxy = Proxy::start(server.connect_string()).await.unwrap();
    let center = connect(patient_at(proxy.connect_string(), 9_000, &server, "ns")).await.expect("it connects");
    let id = connected(&center).await;
    let SessionState::Connected { timeout: long, .. } = *center.session().borrow() else { panic!("not connected") };
    proxy.cut();
    server.stop();
    suspended(&center).await;
    server.reconfigure(&["maxSessionTimeout=6000", "maxClientCnxns=2"]).unwrap();
    server.resume().unwrap();
    let other = connected_to(&server, "ns").await;
    proxy.mend();
    assert_eq!(connected(&center).await, id);
    let is_short = |state: &SessionState| matches!(state, SessionState::Connected { timeout, .. } if *timeout < long);
    // It is asked as long as a session lasts, and after that.
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(!is_short(&center.session().borrow()));
    in_time("closed", other.close()).await;
    let state = reaches(&center, "the shorter time-out", is_short).await;
    assert!(matches!(state, SessionState::Connected { id: same, .. } if same == id), "{state:?}");
}
