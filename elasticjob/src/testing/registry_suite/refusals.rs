//! Cases of refused requests.

use std::sync::Arc;

use super::{Backend, children, create, one, persist};
use crate::registry::{CommitError, CreateMode, Data, Op, OpResult, Refusal, RegistryError, Transaction};

pub(super) async fn every_refusal_names_its_operation_and_leaves_nothing(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    persist(center, &["/a", "/a/x"]).await;
    create(center, "/e", CreateMode::Ephemeral).await.unwrap();
    let text = |path: &str| path.to_owned();
    let new = |path: &str, mode| Op::Create { path: path.to_owned(), data: Data::default(), mode };
    let cases = [
        (Op::Check { path: text("/no"), version: None }, Refusal::NoNode),
        (Op::Check { path: text("/a"), version: Some(3) }, Refusal::BadVersion),
        (Op::Set { path: text("/no"), data: Data::default(), version: None }, Refusal::NoNode),
        (Op::Set { path: text("/a"), data: Data::default(), version: Some(1) }, Refusal::BadVersion),
        (Op::Delete { path: text("/no"), version: None }, Refusal::NoNode),
        (Op::Delete { path: text("/no/no"), version: None }, Refusal::NoNode),
        (Op::Delete { path: text("/a/x"), version: Some(1) }, Refusal::BadVersion),
        (Op::Delete { path: text("/a"), version: Some(1) }, Refusal::BadVersion),
        (Op::Delete { path: text("/a"), version: None }, Refusal::NotEmpty),
        (new("/a", CreateMode::Persistent), Refusal::NodeExists),
        (new("/a", CreateMode::Ephemeral), Refusal::NodeExists),
        (new("/no/x", CreateMode::Persistent), Refusal::NoNode),
        (new("/no/x", CreateMode::EphemeralSequential), Refusal::NoNode),
        (new("/e/x", CreateMode::Persistent), Refusal::NoChildrenForEphemerals),
        (new("/e/x", CreateMode::Ephemeral), Refusal::NoChildrenForEphemerals),
    ];
    for (op, reason) in cases {
        let mut t = Transaction::new();
        t.create("/trace", "", CreateMode::Persistent);
        t.create("/a/seq-", "", CreateMode::EphemeralSequential);
        let index = t.push(op.clone());
        t.check("/not-even-looked-at", None);
        let refused = CommitError::Refused { index, path: op.path().to_owned(), reason };
        assert_eq!(center.commit(t).await, Err(refused), "{op:?}");
    }
    assert_eq!(center.get("/trace").await, Ok(None));
    assert_eq!(children(center, "/a").await.unwrap(), ["x"]);
    assert_eq!(center.get("/a").await.unwrap().unwrap().stat.version, 0);
    let committed = create(center, "/a/seq-", CreateMode::EphemeralSequential).await.unwrap();
    let path = "/a/seq-0000000001".to_owned();
    assert_eq!(committed.results, [crate::registry::OpResult::Create { path }], "a refused one takes no number");
}

pub(super) async fn impossible_paths_are_refused(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    persist(center, &["/a"]).await;
    for path in ["", "a", "/a/", "//a", "/a//b", "/a/.", "/a/..", "/../a", "/a\u{1}", "/\u{e123}", "/a/😀"] {
        let read = RegistryError::Refused { path: path.into(), reason: Refusal::BadArguments };
        assert_eq!(center.get(path).await, Err(read.clone()), "{path:?}");
        assert_eq!(center.children(path).await, Err(read), "{path:?}");
        let refused = Err(CommitError::Refused { index: 1, path: path.into(), reason: Refusal::BadArguments });
        let ops = [
            Op::Create { path: path.into(), data: Data::default(), mode: CreateMode::Persistent },
            Op::Set { path: path.into(), data: Data::default(), version: None },
            Op::Delete { path: path.into(), version: None },
            Op::Check { path: path.into(), version: None },
        ];
        for op in ops {
            let mut t = one(|t| t.check("/no-such-node", None));
            t.push(op);
            assert_eq!(center.commit(t).await, refused, "{path:?}");
        }
    }
    assert!(center.commit(one(|t| t.delete("/", None))).await.is_err());
    assert_eq!(super::next(&mut *center.watch("/a/")).await, None);
}

pub(super) async fn a_guard_protects_what_follows_it(backend: Arc<dyn Backend>) {
    let (one_member, other) = (backend.connect().await, backend.connect().await);
    let (center, other) = (&*one_member.center, &*other.center);
    persist(center, &["/item"]).await;
    let begin = || {
        let mut t = Transaction::new();
        t.set("/item", "begun", Some(0));
        t.create("/item/running", "", CreateMode::Ephemeral);
        t
    };
    let (first, second) = (center.commit(begin()), other.commit(begin()));
    let results = [first.await, second.await];
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    let refused = CommitError::Refused { index: 0, path: "/item".into(), reason: Refusal::BadVersion };
    assert!(results.contains(&Err(refused)), "{results:?}");
}

/// Jobs of one process have such transactions at the same moment.
pub(super) async fn of_many_transactions_at_once_each_has_the_answer_of_its_own(backend: Arc<dyn Backend>) {
    let member = backend.connect().await;
    let center = &*member.center;
    persist(center, &["/a"]).await;
    let is_refused = |number: usize| number % 50 == 7;
    let transaction = |number: usize| {
        let mut t = Transaction::new();
        t.create(format!("/a/{number}"), "", CreateMode::Persistent);
        t.set(format!("/a/{number}"), "", Some(if is_refused(number) { 1 } else { 0 }));
        t
    };
    let answers: Vec<_> = (0..200).map(|number| center.commit(transaction(number))).collect();
    let mut expected = Vec::new();
    for (number, answer) in answers.into_iter().enumerate() {
        let path = format!("/a/{number}");
        if is_refused(number) {
            let refused = CommitError::Refused { index: 1, path, reason: Refusal::BadVersion };
            assert_eq!(answer.await, Err(refused));
        } else {
            let results = answer.await.unwrap().results;
            assert_eq!(results[0], OpResult::Create { path });
            assert!(matches!(results[1], OpResult::Set { stat } if stat.version == 1), "{results:?}");
            expected.push(number.to_string());
        }
    }
    expected.sort();
    assert_eq!(children(center, "/a").await, Some(expected));
}
