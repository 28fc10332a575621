//! Cases of the verbs without disturbance.

use std::sync::Arc;

use super::{Backend, children, create, one, persist};
use crate::registry::limits::{MAX_TRANSACTION_BYTES, size_of};
use crate::registry::{CommitError, CreateMode, Op, OpResult, Refusal, SessionState, Transaction};

pub(super) async fn every_verb_does_what_it_says(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    assert_eq!(center.get("/a").await, Ok(None));
    assert_eq!(center.children("/a").await, Ok(None));
    assert_eq!(center.get("/a/b").await, Ok(None));
    center.commit(one(|t| t.create("/a", "1", CreateMode::Persistent))).await.unwrap();
    let first = center.get("/a").await.unwrap().unwrap();
    assert_eq!((first.data.text(), first.stat.version, first.stat.ephemeral_owner), (Some("1"), 0, None));
    assert_eq!((first.stat.czxid, first.stat.ctime), (first.stat.mzxid, first.stat.mtime));
    center.commit(one(|t| t.set("/a", "2", Some(0)))).await.unwrap();
    let second = center.get("/a").await.unwrap().unwrap();
    assert_eq!((second.data.text(), second.stat.version), (Some("2"), 1));
    assert_eq!((second.stat.czxid, second.stat.ctime), (first.stat.czxid, first.stat.ctime));
    assert!(second.stat.mzxid > first.stat.mzxid && second.stat.mtime >= first.stat.mtime);
    center.commit(one(|t| t.check("/a", Some(1)))).await.unwrap();
    center.commit(one(|t| t.check("/a", None))).await.unwrap();
    persist(center, &["/a/x", "/a/y", "/a/x/deep", "/ab"]).await;
    assert_eq!(children(center, "/a").await.unwrap(), ["x", "y"]);
    assert_eq!(children(center, "/").await.unwrap(), ["a", "ab"]);
    assert_eq!(children(center, "/a/y").await, Some(vec![]));
    center.commit(one(|t| t.delete("/a/y", Some(0)))).await.unwrap();
    assert_eq!(children(center, "/a").await.unwrap(), ["x"]);
    assert_eq!(center.get("/a/y").await, Ok(None));
}

pub(super) async fn a_committed_transaction_tells_what_each_operation_did(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    persist(center, &["/a", "/b"]).await;
    let mut t = Transaction::new();
    t.check("/a", Some(0));
    t.create("/a/x", "data", CreateMode::Ephemeral);
    t.set("/a", "1", None);
    t.set("/a", "2", Some(1));
    t.delete("/b", None);
    let committed = center.commit(t).await.unwrap();
    let node = center.get("/a").await.unwrap().unwrap();
    let SessionState::Connected { id, .. } = *center.session().borrow() else { panic!("not connected") };
    let child = center.get("/a/x").await.unwrap().unwrap();
    assert_eq!(child.stat.ephemeral_owner, Some(id));
    assert_eq!(child.stat.czxid, node.stat.mzxid, "one transaction has one id");
    assert_eq!(committed.zxid(), Some(node.stat.mzxid));
    let [
        OpResult::Check,
        OpResult::Create { path },
        OpResult::Set { stat },
        OpResult::Set { stat: last },
        OpResult::Delete,
    ] = committed.results.as_slice()
    else {
        panic!("{committed:?}");
    };
    assert_eq!((path.as_str(), stat.version), ("/a/x", 1));
    assert_eq!(*last, node.stat);
    assert_eq!(center.commit(Transaction::new()).await.unwrap().results, []);
}

pub(super) async fn sequential_names_count_the_children_ever_created(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    persist(center, &["/q", "/q/other"]).await;
    super::delete(center, "/q/other").await;
    for expected in ["/q/latch-0000000001", "/q/latch-0000000002"] {
        let committed = create(center, "/q/latch-", CreateMode::EphemeralSequential).await.unwrap();
        assert_eq!(committed.results, [OpResult::Create { path: expected.into() }]);
    }
    let committed = create(center, "/q/", CreateMode::EphemeralSequential).await.unwrap();
    assert_eq!(committed.results, [OpResult::Create { path: "/q/0000000003".into() }]);
}

pub(super) async fn names_may_have_any_letters(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    let mut watch = super::watch(center, "/订单 job").await;
    let paths = ["/订单 job", "/订单 job/192.0.2.1@-@17", "/订单 job/a.b-c_d%", "/订单 job/Größe", "/订单 job/..."];
    persist(center, &paths).await;
    assert_eq!(super::there(&mut *watch), paths.map(super::created));
    for path in paths {
        assert!(center.get(path).await.unwrap().is_some(), "{path}");
    }
}

pub(super) async fn large_data_pass_and_too_large_data_are_refused_without_harm(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    persist(center, &["/a"]).await;
    // Room for a namespace.
    let room = MAX_TRANSACTION_BYTES - size_of(&Op::Check { path: "/a".into(), version: None }, 0) - 100;
    center.commit(one(|t| t.set("/a", vec![b'x'; room], None))).await.unwrap();
    assert_eq!(center.get("/a").await.unwrap().unwrap().data.len(), room);
    let session = *center.session().borrow();
    let too_large = center.commit(one(|t| t.set("/a", vec![b'x'; MAX_TRANSACTION_BYTES], None))).await;
    let refused = CommitError::Refused { index: 0, path: "/a".into(), reason: Refusal::BadArguments };
    assert_eq!(too_large, Err(refused));
    assert_eq!(center.get("/a").await.unwrap().unwrap().stat.version, 1);
    assert_eq!(*center.session().borrow(), session);
}

pub(super) async fn requests_are_counted(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    let before = center.requests();
    persist(center, &["/a"]).await;
    center.get("/a").await.unwrap();
    center.children("/a").await.unwrap();
    let after = center.requests();
    assert_eq!((after.requests - before.requests, after.writes - before.writes), (3, 1));
}
