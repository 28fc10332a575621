//! The seam's promises of order.

use std::sync::Arc;

use super::{Backend, changed, children, create, created, deleted, one, persist, there, watch};
use crate::registry::{CreateMode, Transaction};

pub(super) async fn transactions_are_applied_in_the_order_in_which_they_are_made(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    let parent = center.commit(one(|t| t.create("/p", "", CreateMode::Persistent)));
    let child = center.commit(one(|t| t.create("/p/c", "1", CreateMode::Persistent)));
    let set = center.commit(one(|t| t.set("/p/c", "2", Some(0))));
    let last = center.commit(one(|t| t.check("/p/c", Some(1))));
    // Awaited in another order: what counts is when they were made.
    last.await.unwrap();
    assert_eq!(center.get("/p/c").await.unwrap().unwrap().data.text(), Some("2"));
    set.await.unwrap();
    child.await.unwrap();
    parent.await.unwrap();
}

/// A caller that is gone leaves nothing behind that a later one could not see.
pub(super) async fn a_read_shows_what_is_left_of_a_transaction_that_was_given_up(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    persist(center, &["/a"]).await;
    for round in 0..50 {
        let new = |number: i32| one(|t| t.create(format!("/a/{number}"), "", CreateMode::Persistent));
        let given_up: Vec<_> = (0..10).map(|number| center.commit(new(number))).collect();
        drop(given_up);
        let seen = children(center, "/a").await.unwrap();
        // What would still be on its way is applied before this one.
        center.commit(one(|t| t.set("/a", "", None))).await.unwrap();
        assert_eq!(children(center, "/a").await, Some(seen.clone()), "round {round}");
        for name in seen {
            super::delete(center, &format!("/a/{name}")).await;
        }
    }
}

pub(super) async fn events_of_own_changes_are_there_with_the_answer(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    persist(center, &["/a"]).await;
    let mut stream = watch(center, "/a").await;
    for round in 0..200 {
        create(center, "/a/x", CreateMode::Ephemeral).await.unwrap();
        assert_eq!(there(&mut *stream), [created("/a/x")], "round {round}");
        super::delete(center, "/a/x").await;
        assert_eq!(there(&mut *stream), [deleted("/a/x")], "round {round}");
    }
    // Also for a watch that was made just before.
    let mut late = center.watch("/a");
    center.commit(one(|t| t.set("/a", "", None))).await.unwrap();
    assert_eq!(there(&mut *late), [crate::registry::WatchEvent::Gap, changed("/a")]);
}

pub(super) async fn events_of_foreign_changes_are_there_with_the_answer_that_shows_them(backend: Arc<dyn Backend>) {
    let (member, other) = (backend.connect().await, backend.connect().await);
    let (center, other) = (&*member.center, &*other.center);
    persist(center, &["/a"]).await;
    let mut stream = watch(center, "/a").await;
    for round in 0..100 {
        create(other, "/a/x", CreateMode::Persistent).await.unwrap();
        assert!(center.get("/a/x").await.unwrap().is_some(), "round {round}");
        assert_eq!(there(&mut *stream), [created("/a/x")], "round {round}");
        super::delete(other, "/a/x").await;
        assert_eq!(center.get("/a/x").await, Ok(None), "round {round}");
        assert_eq!(there(&mut *stream), [deleted("/a/x")], "round {round}");
    }
}

pub(super) async fn events_come_in_the_order_of_the_changes(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    persist(center, &["/a"]).await;
    let mut stream = watch(center, "/a").await;
    let mut t = Transaction::new();
    t.create("/a/b", "", CreateMode::Persistent);
    t.check("/a/b", Some(0));
    t.create("/a/b/seq-", "", CreateMode::EphemeralSequential);
    t.set("/a/b", "", None);
    t.set("/a", "", None);
    t.delete("/a/b/seq-0000000000", None);
    t.delete("/a/b", Some(1));
    t.create("/a/b", "", CreateMode::Ephemeral);
    center.commit(t).await.unwrap();
    let expected = [
        created("/a/b"),
        created("/a/b/seq-0000000000"),
        changed("/a/b"),
        changed("/a"),
        deleted("/a/b/seq-0000000000"),
        deleted("/a/b"),
        created("/a/b"),
    ];
    assert_eq!(there(&mut *stream), expected);
    assert!(center.commit(one(|t| t.create("/a", "", CreateMode::Persistent))).await.is_err());
    assert_eq!(there(&mut *stream), [], "a refused transaction changes nothing");
}
