use std::sync::Arc;

use super::*;
use crate::ident::InstanceId;
use crate::registry::{Committed, CreateMode, NodeData, OpResult, SessionId, Stat, Transaction, Zxid};

fn job() -> JobName {
    JobName::new("job").unwrap()
}

fn names(names: &[&str]) -> Option<Vec<String>> {
    Some(names.iter().map(|name| (*name).to_owned()).collect())
}

fn stat(version: i32, mzxid: Zxid) -> Stat {
    Stat { czxid: 1, mzxid, version, ctime: 1, mtime: 2, ephemeral_owner: None }
}

fn node(data: &str, version: i32) -> Option<NodeData> {
    Some(NodeData { data: data.into(), stat: stat(version, 5) })
}

/// Answers every list from a fixed tree.
fn list_all(mirror: &mut Mirror, tree: &[(&str, &[&str])]) {
    while !mirror.is_synced() {
        let generation = mirror.generation();
        for path in mirror.take_lists() {
            let absolute = path.absolute(&job());
            let children = tree.iter().find(|(parent, _)| *parent == absolute).map(|(_, children)| *children);
            mirror.on_listed(generation, &path, children.and_then(names));
        }
    }
}

fn synced() -> Mirror {
    let mut mirror = Mirror::new(job());
    assert!(!mirror.is_synced());
    mirror.on_event(&WatchEvent::Gap);
    list_all(
        &mut mirror,
        &[
            ("/job", &["config", "sharding", "guarantee"]),
            ("/job/sharding", &["0", "1"]),
            ("/job/sharding/0", &["instance", "running", "misfire"]),
            ("/job/sharding/1", &[]),
        ],
    );
    mirror
}

#[test]
fn a_list_removes_what_is_known_below_a_node_that_is_not_known_itself() {
    let mut mirror = synced();
    let (left, session) = (JobPath::Item(7, ItemNode::Failovering), JobPath::Session(SessionId(7)));
    for path in [&left, &session] {
        mirror.on_event(&WatchEvent::Created(path.absolute(&job())));
        assert!(mirror.exists(path), "{path}");
    }
    mirror.on_event(&WatchEvent::Gap);
    list_all(&mut mirror, &[("/job", &["config", "sharding"]), ("/job/sharding", &["0"])]);
    for path in [&left, &session, &JobPath::running(0), &JobPath::Item(1, ItemNode::Dir)] {
        assert!(!mirror.exists(path), "{path}");
    }
}

#[test]
fn a_gap_lists_the_whole_tree_and_foreign_nodes_are_left_out() {
    let mirror = synced();
    assert_eq!(mirror.items().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(mirror.running_items().collect::<Vec<_>>(), [0]);
    assert_eq!(mirror.lookup(&JobPath::Config), Lookup::Unread);
    assert_eq!(mirror.lookup(&JobPath::Leader), Lookup::Missing);
    let tree: Vec<String> = mirror.item_tree(0).iter().map(ToString::to_string).collect();
    assert_eq!(tree, ["sharding/0/running", "sharding/0/misfire", "sharding/0/instance", "sharding/0"]);
}

#[test]
fn what_a_later_list_does_not_name_is_gone_with_everything_below() {
    let mut mirror = synced();
    mirror.on_event(&WatchEvent::Gap);
    list_all(&mut mirror, &[("/job", &["sharding"]), ("/job/sharding", &["1"]), ("/job/sharding/1", &[])]);
    assert_eq!(mirror.items().collect::<Vec<_>>(), [1]);
    assert!(!mirror.exists(&JobPath::running(0)));
    assert!(!mirror.exists(&JobPath::Config));
}

#[test]
fn a_node_that_goes_after_a_gap_takes_along_what_went_below_it_meanwhile() {
    let mut mirror = synced();
    mirror.on_event(&WatchEvent::Gap);
    let generation = mirror.generation();
    assert_eq!(mirror.take_lists(), [JobPath::Root]);
    mirror.on_listed(generation, &JobPath::Root, names(&["config", "sharding"]));
    let asked = mirror.take_lists();
    mirror.on_event(&WatchEvent::Deleted("/job/sharding/0".to_owned()));
    for path in asked {
        mirror.on_listed(generation, &path, (path == JobPath::Sharding).then(|| vec!["1".to_owned()]));
    }
    list_all(&mut mirror, &[("/job/sharding/1", &[])]);
    assert_eq!((mirror.items().collect::<Vec<_>>(), mirror.misfired_items().count()), (vec![1], 0));
    assert_eq!(mirror.running_items().count(), 0);
}

#[test]
fn events_that_overtake_the_answer_to_a_list_are_the_later_word() {
    let mut mirror = synced();
    mirror.relist();
    let generation = mirror.generation();
    mirror.take_lists();
    mirror.on_listed(generation, &JobPath::Root, names(&["sharding", "instances", "leader"]));
    let asked = mirror.take_lists();
    assert_eq!(asked, [JobPath::Instances, JobPath::Sharding, JobPath::Leader]);
    let (old, new) = (InstanceId::of_process("10.0.0.1", 7), InstanceId::of_process("10.0.0.2", 7));
    let absolute = |path: &JobPath| path.absolute(&job());
    mirror.on_event(&WatchEvent::Created(absolute(&JobPath::Instance(new.clone()))));
    mirror.on_event(&WatchEvent::Deleted(absolute(&JobPath::Instance(old.clone()))));
    mirror.on_event(&WatchEvent::Deleted(absolute(&JobPath::Leader)));
    mirror.on_listed(generation, &JobPath::Instances, names(&[old.as_str()]));
    mirror.on_listed(generation, &JobPath::Leader, names(&[]));
    assert_eq!(mirror.instances().collect::<Vec<_>>(), [&new]);
    assert!(!mirror.exists(&JobPath::Leader));
}

#[test]
fn of_a_directory_that_is_made_again_while_its_parent_is_listed_nothing_is_left() {
    let mut mirror = synced();
    mirror.on_event(&WatchEvent::Gap);
    let generation = mirror.generation();
    assert_eq!(mirror.take_lists(), [JobPath::Root]);
    // The list was made between the loss of all nodes and their return.
    for path in ["/job", "/job/sharding", "/job/sharding/0", "/job/sharding/0/instance"] {
        mirror.on_event(&WatchEvent::Created(path.to_owned()));
    }
    mirror.on_listed(generation, &JobPath::Root, None);
    let tree: [(&str, &[&str]); 2] = [("/job/sharding", &["0"]), ("/job/sharding/0", &["instance"])];
    list_all(&mut mirror, &tree);
    assert_eq!(mirror.items().collect::<Vec<_>>(), [0]);
    assert!(mirror.exists(&JobPath::owner_of(0)));
    assert!(!mirror.exists(&JobPath::running(0)), "it went with the directory");
}

#[test]
fn a_directory_that_changes_before_its_parent_was_listed_is_listed_as_well() {
    let mut mirror = Mirror::new(job());
    mirror.on_event(&WatchEvent::Gap);
    let generation = mirror.generation();
    mirror.take_lists();
    mirror.on_event(&WatchEvent::Changed("/job/sharding".to_owned()));
    mirror.on_listed(generation, &JobPath::Root, names(&["sharding"]));
    assert_eq!(mirror.take_lists(), [JobPath::Sharding]);
    mirror.on_listed(generation, &JobPath::Sharding, names(&["0"]));
    assert_eq!(mirror.items().collect::<Vec<_>>(), [0]);
}

#[test]
fn an_answer_to_a_question_from_before_a_gap_is_dropped() {
    let mut mirror = synced();
    let old = mirror.generation();
    assert_eq!(mirror.start_reads([JobPath::Config]), [JobPath::Config]);
    mirror.on_event(&WatchEvent::Gap);
    mirror.on_read(old, &JobPath::Config, node("old", 3));
    mirror.on_listed(old, &JobPath::Root, None);
    assert_eq!(mirror.lookup(&JobPath::Config), Lookup::Unread);
    assert!(!mirror.is_synced());
}

#[test]
fn a_node_is_read_once_and_again_after_it_changed() {
    let mut mirror = synced();
    let generation = mirror.generation();
    assert_eq!(mirror.start_reads([JobPath::Config]), [JobPath::Config]);
    assert!(mirror.start_reads([JobPath::Config]).is_empty());
    mirror.on_read(generation, &JobPath::Config, node("a", 3));
    assert!(matches!(mirror.lookup(&JobPath::Config), Lookup::Known(known) if known.text() == Some("a")));
    mirror.on_event(&WatchEvent::Changed("/job/config".into()));
    assert_eq!(mirror.lookup(&JobPath::Config), Lookup::Unread);
}

#[test]
fn data_that_an_event_overtook_are_read_again() {
    let mut mirror = synced();
    let generation = mirror.generation();
    mirror.start_reads([JobPath::Config]);
    mirror.on_event(&WatchEvent::Changed("/job/config".into()));
    mirror.on_read(generation, &JobPath::Config, node("maybe old", 3));
    assert_eq!(mirror.lookup(&JobPath::Config), Lookup::Unread);
    assert_eq!(mirror.start_reads([JobPath::Config]), [JobPath::Config]);
}

#[test]
fn a_read_without_answer_can_be_repeated() {
    let mut mirror = synced();
    mirror.start_reads([JobPath::Config]);
    mirror.on_unanswered(mirror.generation(), &JobPath::Config);
    assert_eq!(mirror.start_reads([JobPath::Config]), [JobPath::Config]);
}

fn commit(mirror: &mut Mirror, events: &[WatchEvent]) {
    let mut transaction = Transaction::new();
    transaction.create("/job/sharding/1/fire", "", CreateMode::Persistent);
    transaction.set("/job/sharding/1/fire", "begun", Some(0));
    transaction.create("/job/sharding/1/running", "me", CreateMode::Ephemeral);
    transaction.delete("/job/sharding/0/running", None);
    mirror.on_commit_sent(&transaction);
    events.iter().for_each(|event| mirror.on_event(event));
    let results = vec![
        OpResult::Create { path: "/job/sharding/1/fire".into() },
        OpResult::Set { stat: stat(1, 77) },
        OpResult::Create { path: "/job/sharding/1/running".into() },
        OpResult::Delete,
    ];
    mirror.on_committed(&transaction, &Committed { results }, SessionId(9));
}

fn own_events() -> Vec<WatchEvent> {
    vec![
        WatchEvent::Created("/job/sharding/1/fire".into()),
        WatchEvent::Changed("/job/sharding/1/fire".into()),
        WatchEvent::Created("/job/sharding/1/running".into()),
        WatchEvent::Deleted("/job/sharding/0/running".into()),
    ]
}

#[test]
fn an_own_commit_is_known_from_its_answer() {
    for events in [own_events(), vec![]] {
        let mut mirror = synced();
        commit(&mut mirror, &events);
        let Lookup::Known(fire) = mirror.lookup(&JobPath::fire(1)) else { panic!("fire is not known") };
        assert_eq!((fire.text(), fire.version, fire.mzxid), (Some("begun"), 1, 77));
        let Lookup::Known(running) = mirror.lookup(&JobPath::running(1)) else { panic!("running is not known") };
        assert_eq!(running.owner, Some(SessionId(9)));
        assert_eq!(mirror.running_items().collect::<Vec<_>>(), [1]);
    }
}

#[test]
fn what_others_wrote_around_an_own_commit_is_read_again() {
    let mut mirror = synced();
    let mut events = own_events();
    events.push(WatchEvent::Changed("/job/sharding/1/fire".into()));
    events.push(WatchEvent::Deleted("/job/sharding/1/running".into()));
    commit(&mut mirror, &events);
    assert_eq!(mirror.lookup(&JobPath::fire(1)), Lookup::Unread);
    assert_eq!(mirror.lookup(&JobPath::running(1)), Lookup::Missing);
}

#[test]
fn a_gap_around_an_own_commit_makes_its_answer_doubtful() {
    let mut mirror = synced();
    commit(&mut mirror, &[WatchEvent::Gap]);
    assert!(!matches!(mirror.lookup(&JobPath::fire(1)), Lookup::Known(_)));
}

#[test]
fn of_an_own_directory_it_is_known_that_it_exists_and_no_data_are_kept() {
    let mut mirror = synced();
    let mut transaction = Transaction::new();
    transaction.create("/job/sharding/2", "", CreateMode::Persistent);
    mirror.on_commit_sent(&transaction);
    let results = vec![OpResult::Create { path: "/job/sharding/2".into() }];
    mirror.on_committed(&transaction, &Committed { results }, SessionId(9));
    assert_eq!(mirror.items().collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(mirror.lookup(&JobPath::Item(2, ItemNode::Dir)), Lookup::Unread);
}

#[test]
fn each_kind_of_node_is_told_apart_from_what_stands_beside_them() {
    let mut mirror = synced();
    let election = ["leader/election/latch/y", "leader/election/latch/x", "leader/failover/items", "leader/sharding"];
    let others = ["servers/10.0.0.1", "instances/b", "instances/a", "trigger", "trigger/a", "sessions"];
    let lost = ["leader/failover/items/10", "leader/failover/items/9"];
    for path in election.iter().chain(&others).chain(&lost) {
        mirror.on_event(&WatchEvent::Created(format!("/job/{path}")));
    }
    assert_eq!(mirror.instances().map(InstanceId::as_str).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(mirror.candidates().collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(mirror.servers().collect::<Vec<_>>(), ["10.0.0.1"]);
    assert_eq!(mirror.failover_items().collect::<Vec<_>>(), [9, 10]);
    assert_eq!(mirror.triggers().map(InstanceId::as_str).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn data_are_parsed_once_and_again_after_each_change() {
    let mut mirror = synced();
    let path = JobPath::fire(0);
    let text = |data: &[u8]| String::from_utf8(data.to_vec()).unwrap();
    let parsed = |mirror: &Mirror| match mirror.lookup(&path) {
        Lookup::Known(known) => Some(known.parsed(text)),
        Lookup::Missing | Lookup::Unread => None,
    };
    let read = |mirror: &mut Mirror, data: &str| {
        mirror.start_reads([path.clone()]);
        mirror.on_read(mirror.generation(), &path, node(data, 0));
    };
    let is = |parsed: Option<Arc<String>>, data: &str| parsed.is_some_and(|parsed| *parsed == data);
    mirror.on_event(&WatchEvent::Created("/job/sharding/0/fire".to_owned()));
    read(&mut mirror, "a");
    let (first, again) = (parsed(&mirror).unwrap(), parsed(&mirror).unwrap());
    assert!(Arc::ptr_eq(&first, &again) && *first == "a");
    // Set by another instance: the transaction and the version are told with the data only.
    mirror.on_event(&WatchEvent::Changed("/job/sharding/0/fire".to_owned()));
    assert!(parsed(&mirror).is_none());
    read(&mut mirror, "b");
    assert!(is(parsed(&mirror), "b"));
    let mut transaction = Transaction::new();
    transaction.set("/job/sharding/0/fire", "c", None);
    mirror.on_commit_sent(&transaction);
    let committed = Committed { results: vec![OpResult::Set { stat: stat(0, 5) }] };
    mirror.on_committed(&transaction, &committed, SessionId(1));
    assert!(is(parsed(&mirror), "c"), "also with the version and the transaction of before");
    mirror.on_event(&WatchEvent::Deleted("/job/sharding/0/fire".to_owned()));
    mirror.on_event(&WatchEvent::Created("/job/sharding/0/fire".to_owned()));
    read(&mut mirror, "d");
    assert!(is(parsed(&mirror), "d"));
    mirror.doubt(&path);
    assert!(parsed(&mirror).is_none());
    read(&mut mirror, "e");
    let Lookup::Known(known) = mirror.lookup(&path) else { panic!("it was read") };
    let copy = Known { data: "f".into(), ..known.clone() };
    assert_eq!((known.parsed(text).as_str(), copy.parsed(text).as_str()), ("e", "f"));
    assert_eq!(*known.parsed(<[u8]>::len), 1, "as another type");
}

/// Of two items only the first is heard of.
fn parts() -> Parts {
    Parts { total: 2, items: BTreeSet::from([0]) }
}

/// A mirror that hears of the first item and of the group.
fn of_parts() -> Mirror {
    let mut mirror = synced();
    let changes = mirror.hear(Some(&parts()));
    changes.add.iter().for_each(|watched| mirror.on_placed(watched));
    assert_eq!(mirror.hear(Some(&parts())).drop, [Watched::job()]);
    mirror
}

#[test]
fn the_watch_of_the_whole_job_is_dropped_when_those_of_its_parts_are_in_place() {
    let mut mirror = synced();
    let changes = mirror.hear(Some(&parts()));
    assert!(changes.drop.is_empty() && changes.add.contains(&Watched::below(JobPath::Item(0, ItemNode::Dir))));
    let (last, others) = changes.add.split_last().unwrap();
    others.iter().for_each(|watched| mirror.on_placed(watched));
    assert!(mirror.hear(Some(&parts())).is_empty() && mirror.hears(&JobPath::running(1)));
    mirror.on_placed(last);
    assert_eq!(mirror.hear(Some(&parts())).drop, [Watched::job()]);
    assert!(mirror.is_synced());
}

#[test]
fn what_is_not_heard_of_is_neither_there_nor_missing() {
    let mut mirror = of_parts();
    let running = JobPath::running(1);
    mirror.on_event(&WatchEvent::Created("/job/sharding/1/running".into()));
    assert!(!mirror.hears(&running) && mirror.lookup(&running) == Lookup::Unread);
    assert_eq!(mirror.need(&running), Err(Unread));
    assert!(!mirror.has_wanted(), "to read it once would not do");
    assert_eq!(mirror.running_items().collect::<Vec<_>>(), [0]);
    assert_eq!(mirror.items().collect::<Vec<_>>(), [0, 1], "the owners of all items are heard of");
}

#[test]
fn an_item_is_listed_when_it_is_heard_of_again() {
    let mut mirror = of_parts();
    let both = Parts { total: 2, items: BTreeSet::from([0, 1]) };
    let changes = mirror.hear(Some(&both));
    let item = Watched::below(JobPath::Item(1, ItemNode::Dir));
    assert_eq!(changes, WatchChanges { add: vec![item.clone()], drop: vec![] });
    assert!(!mirror.is_synced());
    mirror.on_placed(&item);
    assert!(!mirror.is_synced());
    list_all(&mut mirror, &[("/job/sharding/1", &["instance", "running"])]);
    assert_eq!(mirror.running_items().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(mirror.hear(Some(&both)).drop, [Watched::node(JobPath::owner_of(1))]);
}

#[test]
fn a_list_that_comes_back_before_its_watch_is_in_place_is_sent_again() {
    let mut mirror = of_parts();
    let item = JobPath::Item(1, ItemNode::Dir);
    let _ = mirror.hear(Some(&Parts { total: 2, items: BTreeSet::from([0, 1]) }));
    assert_eq!(mirror.take_lists(), std::slice::from_ref(&item), "behind the watch");
    mirror.on_listed(mirror.generation(), &item, names(&["running"]));
    assert!(!mirror.hears(&JobPath::running(1)));
    mirror.on_placed(&Watched::below(item));
    assert!(!mirror.is_synced());
    list_all(&mut mirror, &[("/job/sharding/1", &["instance", "misfire"])]);
    assert_eq!(mirror.misfired_items().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(mirror.running_items().collect::<Vec<_>>(), [0]);
}

#[test]
fn an_item_is_not_forgotten_while_an_answer_about_it_is_on_its_way() {
    let mut mirror = of_parts();
    let none = Parts { total: 2, items: BTreeSet::new() };
    let changes = mirror.hear(Some(&none));
    changes.add.iter().for_each(|watched| mirror.on_placed(watched));
    let generation = mirror.generation();
    mirror.start_reads([JobPath::running(0)]);
    assert!(mirror.hear(Some(&none)).is_empty());
    mirror.on_read(generation, &JobPath::running(0), node("a", 0));
    assert_eq!(mirror.hear(Some(&none)).drop, [Watched::below(JobPath::Item(0, ItemNode::Dir))]);
    assert_eq!(mirror.running_items().count(), 0);
}

#[test]
fn the_whole_job_is_heard_of_again_without_a_doubt_about_what_was_heard_all_the_time() {
    let mut mirror = of_parts();
    let generation = mirror.generation();
    mirror.start_reads([JobPath::Config]);
    mirror.on_read(generation, &JobPath::Config, node("cron", 0));
    assert_eq!(mirror.hear(None).add, [Watched::job()]);
    assert!(!mirror.is_synced());
    mirror.on_event(&WatchEvent::Gap);
    let items: &[&str] = &["0", "1"];
    list_all(
        &mut mirror,
        &[
            ("/job/sharding", items),
            ("/job/sharding/0", &["instance", "running"]),
            ("/job/sharding/1", &["instance", "misfire"]),
        ],
    );
    assert!(matches!(mirror.lookup(&JobPath::Config), Lookup::Known(_)));
    assert_eq!(mirror.misfired_items().collect::<Vec<_>>(), [1]);
    assert!(!mirror.hear(None).drop.is_empty() && mirror.hear(None).is_empty());
}

#[test]
fn after_a_gap_a_mirror_of_parts_lists_what_it_hears_of_and_reads_the_owners_of_the_others() {
    let mut mirror = of_parts();
    mirror.on_placed(&Watched::node(JobPath::Config));
    assert!(!mirror.is_synced());
    let items: &[&str] = &["0", "1"];
    list_all(&mut mirror, &[("/job", &["config", "sharding"]), ("/job/sharding", items), ("/job/sharding/0", &[])]);
    assert_eq!(mirror.lookup(&JobPath::running(0)), Lookup::Missing);
    assert_eq!(mirror.need(&JobPath::owner_of(1)), Err(Unread));
    assert_eq!(mirror.take_wanted(), BTreeSet::from([JobPath::owner_of(1)]));
}
