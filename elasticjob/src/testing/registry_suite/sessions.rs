//! Cases of the lives of sessions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{
    Backend, children, connected, create, created, delete, deleted, in_time, next, one, persist, suspended, there,
    until_gap, watch,
};
use crate::registry::{
    CommitError, CreateMode, Moment, RegistryCenter, RegistryError, SessionId, SessionState, WatchEvent,
};

/// Less than any time-out that is waited for, and more than a busy machine stalls.
const AT_ONCE: Duration = Duration::from_secs(4);

pub(super) async fn ephemeral_nodes_go_with_a_closed_session(backend: Arc<dyn Backend>) {
    let (member, other) = (backend.connect().await, backend.connect().await);
    let (center, other) = (&*member.center, &*other.center);
    persist(center, &["/a"]).await;
    let mut stream = watch(other, "/a").await;
    create(center, "/a/mine", CreateMode::Ephemeral).await.unwrap();
    create(other, "/a/other", CreateMode::Ephemeral).await.unwrap();
    create(center, "/a/kept", CreateMode::Persistent).await.unwrap();
    assert_eq!(children(other, "/a").await.unwrap(), ["kept", "mine", "other"]);
    let before = Instant::now();
    in_time("closed", center.close()).await;
    assert!(before.elapsed() < AT_ONCE, "it does not wait for a time-out");
    assert_eq!(children(other, "/a").await.unwrap(), ["kept", "other"]);
    assert_eq!(there(&mut *stream).last(), Some(&deleted("/a/mine")));
}

pub(super) async fn a_closed_registry_center_fails_and_ends_its_watches(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    persist(center, &["/a"]).await;
    let mut stream = watch(center, "/a").await;
    in_time("closed", center.close()).await;
    assert_eq!(*center.session().borrow(), SessionState::Closed);
    assert_eq!(next(&mut *stream).await, None);
    assert_eq!(next(&mut *stream).await, None);
    assert_eq!(next(&mut *center.watch("/a")).await, None);
    fails_at_once(center).await;
    in_time("closed again", center.close()).await;
}

pub(super) async fn what_nobody_awaits_does_not_keep_a_session(backend: Arc<dyn Backend>) {
    let (member, other) = (backend.connect().await, backend.connect().await);
    let center = &*member.center;
    let pending = (
        center.watch("/a"),
        center.commit(one(|t| t.create("/e", "", CreateMode::Ephemeral))),
        center.get("/e"),
        center.children("/"),
    );
    let before = Instant::now();
    in_time("closed", center.close()).await;
    assert!(before.elapsed() < AT_ONCE, "{:?}", before.elapsed());
    assert_eq!(other.center.get("/e").await, Ok(None));
    drop(pending);
}

async fn fails_at_once(center: &dyn RegistryCenter) {
    let before = Instant::now();
    let written = create(center, "/never", CreateMode::Persistent).await;
    assert!(matches!(written, Err(CommitError::NotReached { .. })), "{written:?}");
    assert!(matches!(center.get("/a").await, Err(RegistryError::NoAnswer { .. })));
    assert!(matches!(center.children("/a").await, Err(RegistryError::NoAnswer { .. })));
    assert!(before.elapsed() < AT_ONCE, "it took {:?}", before.elapsed());
}

pub(super) async fn a_transaction_proves_the_session_just_before_it_was_sent(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    let session = connected(center).await;
    persist(center, &["/a"]).await;
    for path in ["/a", "/a", "/no"] {
        let before = Moment::now();
        let committed = center.commit(one(|t| t.check(path, None))).await;
        assert_eq!(committed.is_ok(), path == "/a", "{committed:?}");
        let proof = center.proof().unwrap();
        assert_eq!(proof.session, session);
        assert!(proof.at >= before && proof.at <= Moment::now(), "a refusal is an answer too");
    }
}

pub(super) async fn a_read_proves_nothing_where_another_server_than_the_leader_answers(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    if !backend.is_remote() {
        // The registry itself answers: the session is proven whenever it is reached.
        let before = Moment::now();
        assert!(center.proof().unwrap().at >= before);
        return;
    }
    assert_eq!(center.proof(), None, "nothing was committed so far");
    center.get("/a").await.unwrap();
    assert_eq!(center.proof(), None);
    persist(center, &["/a"]).await;
    let proof = center.proof();
    assert!(proof.is_some());
    center.get("/a").await.unwrap();
    center.children("/a").await.unwrap();
    let _stream = watch(center, "/a").await;
    assert_eq!(center.proof(), proof);
}

pub(super) async fn a_cut_connection_suspends_and_the_session_lives_on(backend: Arc<dyn Backend>) {
    let (member, other) = (backend.connect().await, backend.connect().await);
    let (center, other) = (&*member.center, &*other.center);
    persist(center, &["/a"]).await;
    create(center, "/a/mine", CreateMode::Ephemeral).await.unwrap();
    let (mut stream, mut elsewhere) = (watch(center, "/a").await, watch(center, "/b").await);
    let id = connected(center).await;
    member.link.cut().await;
    suspended(center).await;
    assert_eq!(*center.session().borrow(), SessionState::Suspended { id });
    let proof = center.proof();
    fails_at_once(center).await;
    assert_eq!(center.proof(), proof, "what was not answered proves nothing");
    persist(other, &["/a/missed"]).await;
    delete(other, "/a/missed").await;
    member.link.mend().await;
    assert_eq!(connected(center).await, id);
    assert_eq!(there(&mut *stream), [WatchEvent::Gap], "it is there at once, and what was missed is not told");
    assert_eq!(there(&mut *elsewhere), [WatchEvent::Gap]);
    assert_eq!(children(center, "/a").await.unwrap(), ["mine"]);
    // The watches are alive, and each hears once.
    persist(other, &["/a/seen", "/b"]).await;
    assert_eq!(next(&mut *stream).await, Some(created("/a/seen")));
    assert_eq!(next(&mut *elsewhere).await, Some(created("/b")));
    center.get("/a").await.unwrap();
    assert_eq!(there(&mut *stream), []);
}

pub(super) async fn a_watch_made_while_cut_off_comes_into_place_later(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    member.link.cut().await;
    suspended(center).await;
    let mut stream = center.watch("/a");
    assert_eq!(there(&mut *stream), []);
    member.link.mend().await;
    assert_eq!(until_gap(&mut *stream).await, []);
    connected(center).await;
    persist(center, &["/a"]).await;
    assert_eq!(there(&mut *stream), [created("/a")]);
}

pub(super) async fn an_expired_session_is_replaced_by_another(backend: Arc<dyn Backend>) {
    let (member, other) = (backend.connect().await, backend.connect().await);
    let (center, other) = (&*member.center, &*other.center);
    persist(center, &["/a"]).await;
    create(center, "/a/mine", CreateMode::Ephemeral).await.unwrap();
    let (mut stream, mut foreign) = (watch(center, "/a").await, watch(other, "/a").await);
    let id = connected(center).await;
    member.link.cut().await;
    suspended(center).await;
    member.link.expire().await;
    assert_eq!(next(&mut *foreign).await, Some(deleted("/a/mine")));
    fails_at_once(center).await;
    member.link.mend().await;
    let mut session = center.session();
    let is_new = |state: &SessionState| matches!(state, SessionState::Connected { id: new, .. } if *new != id);
    in_time("a new session", session.wait_for(is_new)).await.unwrap();
    assert_eq!(there(&mut *stream).last(), Some(&WatchEvent::Gap), "it is there with the new session");
    assert_eq!(children(center, "/a").await, Some(vec![]));
    create(center, "/a/mine", CreateMode::Ephemeral).await.unwrap();
    assert_eq!(there(&mut *stream), [created("/a/mine")]);
    let owner = other.get("/a/mine").await.unwrap().unwrap().stat.ephemeral_owner;
    assert_eq!(owner, Some(connected(center).await));
}

pub(super) async fn a_transaction_made_for_another_session_is_not_committed(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    let live = connected(center).await;
    let make = || one(|t| t.create("/a", "", CreateMode::Ephemeral));
    let refused = center.commit(make().in_session(SessionId(live.0 + 1))).await;
    assert!(matches!(refused, Err(CommitError::NotReached { .. })), "{refused:?}");
    assert_eq!(center.get("/a").await, Ok(None));
    center.commit(make().in_session(live)).await.unwrap();
}
