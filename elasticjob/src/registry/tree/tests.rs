use super::*;

const ME: SessionId = SessionId(1);
const OTHER: SessionId = SessionId(2);
const NOW: i64 = 1_700_000_000_000;

fn tree() -> Tree {
    let mut tree = Tree::new(100);
    tree.open_session(ME, Duration::from_secs(1));
    tree.open_session(OTHER, Duration::from_secs(2));
    tree
}

fn one(build: impl FnOnce(&mut Transaction) -> usize) -> Transaction {
    let mut transaction = Transaction::new();
    build(&mut transaction);
    transaction
}

fn create(tree: &mut Tree, session: SessionId, path: &str, mode: CreateMode) -> Result<Committed, TreeError> {
    tree.commit(session, &one(|t| t.create(path, "", mode)), NOW).map(|(committed, _)| committed)
}

fn persist(tree: &mut Tree, paths: &[&str]) {
    for path in paths {
        create(tree, ME, path, CreateMode::Persistent).unwrap();
    }
}

fn refused(index: usize, path: &str, reason: Refusal) -> TreeError {
    TreeError::Refused { index, path: path.into(), reason }
}

#[test]
fn each_transaction_takes_an_id_and_so_does_a_refused_one() {
    let mut tree = tree();
    assert_eq!(tree.last_zxid(), 102);
    persist(&mut tree, &["/a"]);
    assert!(create(&mut tree, ME, "/a", CreateMode::Persistent).is_err());
    assert_eq!(tree.last_zxid(), 104);
    let (committed, _) = tree.commit(ME, &one(|t| t.set("/a", "1", Some(0))), NOW + 5).unwrap();
    assert_eq!(committed.zxid(), Some(105));
    let stat = tree.get("/a").unwrap().unwrap().stat;
    let expected = Stat { czxid: 103, mzxid: 105, version: 1, ctime: NOW, mtime: NOW + 5, ephemeral_owner: None };
    assert_eq!(stat, expected);
    assert_eq!(tree.commit(ME, &Transaction::new(), NOW).unwrap().0.results, []);
    tree.close_session(OTHER);
    assert_eq!(tree.last_zxid(), 106);
}

#[test]
fn a_refused_transaction_leaves_no_trace_but_its_id() {
    let mut tree = tree();
    persist(&mut tree, &["/a", "/a/x", "/b"]);
    create(&mut tree, ME, "/e", CreateMode::Ephemeral).unwrap();
    let before = format!("{:?}", Tree { zxid: 0, ..tree.clone() });
    let mut t = Transaction::new();
    t.create("/a/seq-", "", CreateMode::EphemeralSequential);
    t.set("/a", "new", None);
    t.delete("/a/x", None);
    t.delete("/e", None);
    t.create("/e", "again", CreateMode::Persistent);
    t.set("/e", "more", Some(0));
    t.check("/b", Some(7));
    assert_eq!(tree.commit(ME, &t, NOW), Err(refused(6, "/b", Refusal::BadVersion)));
    assert_eq!(format!("{:?}", Tree { zxid: 0, ..tree }), before);
}

#[test]
fn a_later_operation_sees_an_earlier_one_and_each_gives_one_event() {
    let mut tree = tree();
    persist(&mut tree, &["/a"]);
    let mut t = Transaction::new();
    t.create("/a/b", "1", CreateMode::Persistent);
    t.check("/a/b", Some(0));
    t.set("/a/b", "2", Some(0));
    t.delete("/a/b", Some(1));
    t.create("/a/b", "3", CreateMode::Ephemeral);
    let (committed, events) = tree.commit(ME, &t, NOW).unwrap();
    let b = || "/a/b".to_owned();
    assert_eq!(committed.results.len(), 5);
    use WatchEvent::{Changed, Created, Deleted};
    assert_eq!(events, [Created(b()), Changed(b()), Deleted(b()), Created(b())]);
    let node = tree.get("/a/b").unwrap().unwrap();
    assert_eq!((node.data.text(), node.stat.version), (Some("3"), 0));
    assert_eq!(node.stat.ephemeral_owner, Some(ME));
}

#[test]
fn every_refusal_names_its_operation() {
    let mut tree = tree();
    persist(&mut tree, &["/a", "/a/x"]);
    create(&mut tree, ME, "/e", CreateMode::Ephemeral).unwrap();
    let cases = [
        (one(|t| t.check("/no", None)), "/no", Refusal::NoNode),
        (one(|t| t.check("/a", Some(3))), "/a", Refusal::BadVersion),
        (one(|t| t.set("/no", "", None)), "/no", Refusal::NoNode),
        (one(|t| t.set("/a", "", Some(1))), "/a", Refusal::BadVersion),
        (one(|t| t.delete("/no", None)), "/no", Refusal::NoNode),
        (one(|t| t.delete("/a", Some(1))), "/a", Refusal::BadVersion),
        (one(|t| t.delete("/a", Some(0))), "/a", Refusal::NotEmpty),
        (one(|t| t.create("/a", "", CreateMode::Ephemeral)), "/a", Refusal::NodeExists),
        (one(|t| t.create("/no/x", "", CreateMode::Persistent)), "/no/x", Refusal::NoNode),
        (one(|t| t.create("/e/x", "", CreateMode::Persistent)), "/e/x", Refusal::NoChildrenForEphemerals),
        (one(|t| t.create("/a/../b", "", CreateMode::Persistent)), "/a/../b", Refusal::BadArguments),
    ];
    for (transaction, path, reason) in cases {
        let result = tree.commit(ME, &transaction, NOW);
        assert_eq!(result, Err(refused(0, path, reason)), "{transaction:?}");
    }
    assert_eq!(tree.commit(SessionId(9), &one(|t| t.check("/a", None)), NOW), Err(TreeError::NoSession));
    assert_eq!(tree.get("a"), Err(Refusal::BadArguments));
    assert_eq!(tree.children("/a/"), Err(Refusal::BadArguments));
}

#[test]
fn sequence_numbers_count_every_child_ever_created() {
    let mut tree = tree();
    persist(&mut tree, &["/q", "/q/other"]);
    tree.commit(ME, &one(|t| t.delete("/q/other", None)), NOW).unwrap();
    for expected in ["/q/n-0000000001", "/q/n-0000000002"] {
        let committed = create(&mut tree, ME, "/q/n-", CreateMode::EphemeralSequential).unwrap();
        assert_eq!(committed.results, [OpResult::Create { path: expected.into() }]);
    }
    assert!(create(&mut tree, ME, "/q/", CreateMode::EphemeralSequential).is_ok());
    assert_eq!(tree.children("/q").unwrap().unwrap(), ["0000000003", "n-0000000001", "n-0000000002"]);
}

#[test]
fn a_closed_session_takes_its_nodes_along_and_writes_no_more() {
    let mut tree = tree();
    persist(&mut tree, &["/a"]);
    create(&mut tree, ME, "/a/mine", CreateMode::Ephemeral).unwrap();
    create(&mut tree, OTHER, "/a/other", CreateMode::Ephemeral).unwrap();
    create(&mut tree, ME, "/a/gone", CreateMode::Ephemeral).unwrap();
    tree.commit(OTHER, &one(|t| t.delete("/a/gone", None)), NOW).unwrap();
    assert_eq!(tree.close_session(ME), [WatchEvent::Deleted("/a/mine".into())]);
    assert_eq!(tree.close_session(ME), []);
    assert_eq!(tree.children("/a").unwrap().unwrap(), ["other"]);
    assert_eq!(create(&mut tree, ME, "/x", CreateMode::Persistent), Err(TreeError::NoSession));
    assert_eq!(tree.sessions().collect::<Vec<_>>(), [OTHER]);
    assert_eq!(tree.session_timeout(OTHER), Some(Duration::from_secs(2)));
}

#[test]
fn children_are_told_apart_from_neighbours_and_deeper_nodes() {
    let mut tree = tree();
    persist(&mut tree, &["/a", "/a-b", "/a0", "/a/b", "/a/b/c", "/a/b-1", "/a/b0", "/a/b/d", "/a/z", "/b"]);
    assert_eq!(tree.children("/").unwrap().unwrap(), ["a", "a-b", "a0", "b"]);
    assert_eq!(tree.children("/a").unwrap().unwrap(), ["b", "b-1", "b0", "z"]);
    assert_eq!(tree.children("/a/b").unwrap().unwrap(), ["c", "d"]);
    assert_eq!(tree.children("/a0").unwrap(), Some(vec![]));
    assert_eq!(tree.children("/no").unwrap(), None);
}
