use std::task::Waker;

use super::*;
use crate::registry::CreateMode;

fn create(path: &str) -> Transaction {
    let mut transaction = Transaction::new();
    transaction.create(path, "", CreateMode::Ephemeral);
    transaction
}

fn heard(stream: &mut dyn WatchStream) -> Vec<Option<WatchEvent>> {
    let mut cx = Context::from_waker(Waker::noop());
    let mut heard = Vec::new();
    while let Poll::Ready(event) = stream.poll_next(&mut cx) {
        let end = event.is_none();
        heard.push(event);
        if end {
            break;
        }
    }
    heard
}

#[tokio::test]
async fn clients_of_one_registry_see_each_other_and_only_they() {
    let registry = MemoryRegistry::new();
    let (one, two) = (registry.connect(), registry.connect());
    one.commit(create("/a")).await.unwrap();
    assert!(two.get("/a").await.unwrap().is_some());
    assert!(MemoryRegistry::new().connect().get("/a").await.unwrap().is_none());
}

#[tokio::test]
async fn a_dropped_registry_center_takes_its_nodes_along() {
    let registry = MemoryRegistry::new();
    let (one, two) = (registry.connect(), registry.connect());
    one.commit(create("/a")).await.unwrap();
    drop(one);
    assert!(two.get("/a").await.unwrap().is_none());
}

#[tokio::test]
async fn transaction_ids_start_from_the_clock() {
    let before = i64::try_from(since_epoch().as_micros()).unwrap();
    let center = MemoryRegistry::new().connect();
    center.commit(create("/a")).await.unwrap();
    assert!(center.get("/a").await.unwrap().unwrap().stat.czxid > before);
}

#[tokio::test]
async fn a_dropped_watch_is_forgotten() {
    let registry = MemoryRegistry::new();
    let center = registry.connect();
    let (watch, mut other) = (center.watch("/a"), center.watch("/a"));
    drop(watch);
    center.commit(create("/a")).await.unwrap();
    assert_eq!(heard(&mut *other), [Some(WatchEvent::Gap), Some(WatchEvent::Created("/a".into()))]);
    center.close().await;
    assert_eq!(heard(&mut *other), [None]);
    assert_eq!(heard(&mut *center.watch("/a")), [None]);
}

#[tokio::test]
async fn a_session_that_expires_while_cut_off_is_replaced_when_resumed() {
    let registry = MemoryRegistry::new();
    let (center, other) = (registry.connect(), registry.connect());
    center.commit(create("/a")).await.unwrap();
    let SessionState::Connected { id, timeout } = *center.session().borrow() else { panic!("not connected") };
    let mut watch = center.watch("/a");
    registry.suspend(id);
    assert_eq!(*center.session().borrow(), SessionState::Suspended { id });
    let proof = center.proof();
    assert!(matches!(center.commit(create("/b")).await, Err(CommitError::NotReached { .. })));
    assert!(matches!(center.get("/a").await, Err(RegistryError::NoAnswer { .. })));
    registry.expire(id);
    assert!(other.get("/a").await.unwrap().is_none());
    assert_eq!(*center.session().borrow(), SessionState::Suspended { id });
    assert_eq!(center.proof(), proof);
    registry.resume(id);
    let state = *center.session().borrow();
    assert!(matches!(state, SessionState::Connected { id: new, timeout: t } if new != id && t == timeout), "{state:?}");
    assert_eq!(heard(&mut *watch), [Some(WatchEvent::Gap), Some(WatchEvent::Gap)]);
}
