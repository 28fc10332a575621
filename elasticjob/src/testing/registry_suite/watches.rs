//! Cases of what watches hear.

use std::sync::Arc;

use super::{
    Backend, changed, connected, create, created, delete, deleted, next, one, persist, suspended, there, until_gap,
    watch, watch_node,
};
use crate::registry::{CreateMode, WatchEvent};

pub(super) async fn a_watch_begins_with_a_gap_and_hears_everything_below_its_node(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    persist(center, &["/a", "/a/b", "/ab"]).await;
    let mut stream = center.watch("/a");
    assert_eq!(next(&mut *stream).await, Some(WatchEvent::Gap));
    let mut root = watch(center, "/").await;
    persist(center, &["/a/b/c", "/a/b/c/d", "/a/b/c/d/e", "/ab/x"]).await;
    center.commit(one(|t| t.set("/a/b/c/d/e", "1", None))).await.unwrap();
    center.commit(one(|t| t.set("/a", "1", None))).await.unwrap();
    delete(center, "/a/b/c/d/e").await;
    let before = [created("/a/b/c"), created("/a/b/c/d"), created("/a/b/c/d/e")];
    let after = [changed("/a/b/c/d/e"), changed("/a"), deleted("/a/b/c/d/e")];
    assert_eq!(there(&mut *stream), [&before[..], &after].concat());
    assert_eq!(there(&mut *root), [&before[..], &[created("/ab/x")], &after].concat());
}

pub(super) async fn a_watch_on_a_missing_node_hears_of_its_creation(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    let mut stream = watch(center, "/later/node").await;
    persist(center, &["/later", "/later/node", "/later/node/x"]).await;
    delete(center, "/later/node/x").await;
    delete(center, "/later/node").await;
    persist(center, &["/later/node"]).await;
    let (node, child) = ("/later/node", "/later/node/x");
    assert_eq!(
        there(&mut *stream),
        [created(node), created(child), deleted(child), deleted(node), created(node)],
        "a watch outlives its node"
    );
}

pub(super) async fn watches_of_one_client_do_not_disturb_each_other(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    persist(center, &["/a", "/a/b"]).await;
    let mut outer = watch(center, "/a").await;
    let mut inner = watch(center, "/a/b").await;
    let twin = watch(center, "/a/b").await;
    create(center, "/a/b/x", CreateMode::Persistent).await.unwrap();
    assert_eq!(there(&mut *outer), [created("/a/b/x")]);
    assert_eq!(there(&mut *inner), [created("/a/b/x")]);
    drop(twin);
    delete(center, "/a/b/x").await;
    assert_eq!(there(&mut *inner), [deleted("/a/b/x")]);
    drop(inner);
    center.get("/a").await.unwrap();
    create(center, "/a/b/y", CreateMode::Persistent).await.unwrap();
    assert_eq!(there(&mut *outer), [deleted("/a/b/x"), created("/a/b/y")]);
    let mut again = watch(center, "/a/b").await;
    delete(center, "/a/b/y").await;
    assert_eq!(there(&mut *outer), [deleted("/a/b/y")]);
    assert_eq!(there(&mut *again), [deleted("/a/b/y")]);
}

pub(super) async fn watches_of_two_clients_hear_the_same(backend: Arc<dyn Backend>) {
    let (one_member, two) = (backend.connect().await, backend.connect().await);
    let (first, second) = (&*one_member.center, &*two.center);
    persist(first, &["/a"]).await;
    let mut streams = [watch(first, "/a").await, watch(second, "/a").await];
    create(first, "/a/1", CreateMode::Ephemeral).await.unwrap();
    create(second, "/a/2", CreateMode::Ephemeral).await.unwrap();
    for stream in &mut streams {
        assert_eq!(next(&mut **stream).await, Some(created("/a/1")));
        assert_eq!(next(&mut **stream).await, Some(created("/a/2")));
    }
    second.close().await;
    let [stream, _] = &mut streams;
    assert_eq!(next(&mut **stream).await, Some(deleted("/a/2")));
}

pub(super) async fn a_watch_of_a_node_alone_hears_nothing_of_what_is_below_it(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    persist(center, &["/a"]).await;
    let mut alone = watch_node(center, "/a/b").await;
    persist(center, &["/a/b", "/a/b/c", "/a/bc"]).await;
    center.commit(one(|t| t.set("/a/b/c", "1", None))).await.unwrap();
    center.commit(one(|t| t.set("/a/b", "1", None))).await.unwrap();
    delete(center, "/a/b/c").await;
    delete(center, "/a/b").await;
    persist(center, &["/a/b"]).await;
    let node = "/a/b";
    assert_eq!(there(&mut *alone), [created(node), changed(node), deleted(node), created(node)]);
}

pub(super) async fn watches_of_parts_take_the_place_of_one_of_all_and_back_without_a_loss(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    persist(center, &["/a", "/a/b", "/a/b/0", "/a/b/1"]).await;
    let whole = watch(center, "/a").await;
    let mut parts =
        [watch_node(center, "/a/b").await, watch(center, "/a/b/0").await, watch_node(center, "/a/b/1").await];
    drop(whole);
    center.get("/a").await.unwrap();
    persist(center, &["/a/b/0/x", "/a/b/1/x", "/a/c"]).await;
    center.commit(one(|t| t.set("/a/b", "1", None))).await.unwrap();
    center.commit(one(|t| t.set("/a/b/1", "1", None))).await.unwrap();
    let told = parts.each_mut().map(|part| there(&mut **part));
    assert_eq!(told, [vec![changed("/a/b")], vec![created("/a/b/0/x")], vec![changed("/a/b/1")]]);
    let mut whole = watch(center, "/a").await;
    drop(parts);
    center.get("/a").await.unwrap();
    delete(center, "/a/b/0/x").await;
    delete(center, "/a/b/1/x").await;
    assert_eq!(there(&mut *whole), [deleted("/a/b/0/x"), deleted("/a/b/1/x")]);
}

pub(super) async fn a_watch_of_a_node_alone_outlives_a_cut_connection(backend: Arc<dyn Backend>) {
    let (member, other) = (backend.connect().await, backend.connect().await);
    let center = &*member.center;
    persist(center, &["/a"]).await;
    let mut alone = watch_node(center, "/a").await;
    member.link.cut().await;
    suspended(center).await;
    persist(&*other.center, &["/a/b"]).await;
    member.link.mend().await;
    connected(center).await;
    assert_eq!(until_gap(&mut *alone).await, []);
    delete(&*other.center, "/a/b").await;
    other.center.commit(one(|t| t.set("/a", "1", None))).await.unwrap();
    assert_eq!(next(&mut *alone).await, Some(changed("/a")));
}
