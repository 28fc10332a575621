use super::*;
use crate::registry::Stat;

fn node(data: &str) -> NodeData {
    let stat = Stat { czxid: 1, mzxid: 2, version: 0, ctime: 1, mtime: 2, ephemeral_owner: None };
    NodeData { data: data.into(), stat }
}

fn watching() -> Known {
    let mut known = Known::new();
    known.on_event(&WatchEvent::Gap);
    known
}

/// Asks and answers at once.
fn read(known: &mut Known, path: &str, answer: Option<&str>) {
    let asked = known.ask(path);
    known.on_read(asked, path, answer.map(node).as_ref());
    known.end(path);
}

fn list(known: &mut Known, path: &str, answer: Option<&[&str]>) {
    let asked = known.ask(path);
    let names: Option<Vec<String>> = answer.map(|names| names.iter().map(ToString::to_string).collect());
    known.on_listed(asked, path, names.as_deref());
    known.end(path);
}

fn names(known: &Known, path: &str) -> Option<Option<Vec<String>>> {
    known.children(path)
}

fn some(names: &[&str]) -> Option<Option<Vec<String>>> {
    Some(Some(names.iter().map(ToString::to_string).collect()))
}

fn text(known: &Known, path: &str) -> Option<Option<String>> {
    known.data(path).map(|found| found.map(|node| node.data.text().unwrap().to_owned()))
}

#[test]
fn nothing_is_kept_before_the_watch_is_in_place_and_after_its_end() {
    let mut known = Known::new();
    read(&mut known, "/a", Some("1"));
    assert_eq!(known.data("/a"), None);
    known.on_event(&WatchEvent::Gap);
    read(&mut known, "/a", Some("1"));
    assert_eq!(text(&known, "/a"), Some(Some("1".to_owned())));
    known.forget();
    assert_eq!(known.data("/a"), None);
    read(&mut known, "/a", Some("1"));
    assert_eq!(known.data("/a"), None);
}

#[test]
fn what_was_read_is_known_until_it_changes() {
    let mut known = watching();
    read(&mut known, "/a/b", Some("1"));
    read(&mut known, "/a/c", None);
    assert_eq!((text(&known, "/a/b"), text(&known, "/a/c")), (Some(Some("1".to_owned())), Some(None)));
    assert_eq!((names(&known, "/a/c"), names(&known, "/a")), (Some(None), None));
    known.on_event(&WatchEvent::Changed("/a/b".to_owned()));
    assert_eq!(known.data("/a/b"), None);
    known.on_event(&WatchEvent::Created("/a/c".to_owned()));
    assert_eq!((known.data("/a/c"), names(&known, "/a/c")), (None, some(&[])));
}

#[test]
fn a_list_says_what_is_missing_and_events_keep_it_current() {
    let mut known = watching();
    list(&mut known, "/a", Some(&["b", "c"]));
    read(&mut known, "/a/b/x", Some("1"));
    assert_eq!((text(&known, "/a/d"), text(&known, "/a/d/e"), known.data("/a/b")), (Some(None), Some(None), None));
    known.on_event(&WatchEvent::Created("/a/d".to_owned()));
    known.on_event(&WatchEvent::Created("/a/d/e".to_owned()));
    known.on_event(&WatchEvent::Deleted("/a/b/x".to_owned()));
    known.on_event(&WatchEvent::Deleted("/a/b".to_owned()));
    assert_eq!((names(&known, "/a"), names(&known, "/a/d")), (some(&["c", "d"]), some(&["e"])));
    assert_eq!((text(&known, "/a/b"), text(&known, "/a/b/x")), (Some(None), Some(None)));
    assert_eq!(known.data("/a/d/e"), None, "its data have to be read");
}

#[test]
fn an_answer_that_an_event_overtook_is_not_kept() {
    let mut known = watching();
    let asked = known.ask("/a");
    known.on_event(&WatchEvent::Changed("/a".to_owned()));
    known.on_read(asked, "/a", Some(&node("maybe old")));
    assert_eq!(known.data("/a"), None);
    known.end("/a");
    let asked = known.ask("/a");
    known.on_event(&WatchEvent::Created("/a/b".to_owned()));
    known.on_listed(asked, "/a", Some(&[]));
    assert_eq!(names(&known, "/a"), None);
    known.on_read(asked, "/a", Some(&node("1")));
    assert_eq!(text(&known, "/a"), Some(Some("1".to_owned())), "a child is nothing to its data");
    known.end("/a");
    list(&mut known, "/a", Some(&["b"]));
    assert_eq!(names(&known, "/a"), some(&["b"]));
}

#[test]
fn a_gap_makes_all_that_was_known_and_asked_old() {
    let mut known = watching();
    list(&mut known, "/", Some(&["a"]));
    let asked = known.ask("/a");
    known.on_event(&WatchEvent::Gap);
    known.on_read(asked, "/a", Some(&node("old")));
    known.on_listed(asked, "/a", Some(&[]));
    assert_eq!((known.data("/a"), names(&known, "/a"), names(&known, "/")), (None, None, None));
}

#[test]
fn a_list_takes_back_what_was_known_of_others() {
    let mut known = watching();
    read(&mut known, "/a/b", None);
    read(&mut known, "/a", None);
    list(&mut known, "/", Some(&["a"]));
    assert_eq!((known.data("/a"), names(&known, "/a")), (None, None), "it is there");
    list(&mut known, "/a", Some(&["b"]));
    assert_eq!((known.data("/a/b"), names(&known, "/a/b")), (None, None), "it is there, too");
}

#[test]
fn the_last_event_of_each_job_is_told_apart() {
    let mut known = watching();
    let gap = known.events();
    known.on_event(&WatchEvent::Created("/a".to_owned()));
    known.on_event(&WatchEvent::Changed("/a/b/c".to_owned()));
    known.on_event(&WatchEvent::Created("/ab".to_owned()));
    assert_eq!(["a", "ab", "x"].map(|name| known.last_event(name) - gap), [2, 3, 0]);
    known.on_event(&WatchEvent::Gap);
    assert_eq!(["a", "ab", "x"].map(|name| known.last_event(name) - gap), [4, 4, 4]);
}

#[test]
fn when_an_instance_and_a_leader_went_is_known_until_events_were_missed_or_the_job_is_gone() {
    let mut known = watching();
    let job = JobName::new("job").unwrap();
    for (path, at) in [
        ("/job/instances/10.0.0.1@-@7", 5),
        ("/job/instances/10.0.0.2@-@8", 6),
        ("/job/leader/election/instance", 7),
        ("/job/leader/election/latch/1", 8),
        ("/job/sharding/0/running", 9),
        ("/other/instances/10.0.0.1@-@7", 10),
    ] {
        known.on_gone(path, at);
    }
    assert_eq!(known.gone(&job), Gone { instance: Some(6), leader: Some(7) });
    known.on_gone("/job", 11);
    assert_eq!(known.gone(&job), Gone::default());
    let other = JobName::new("other").unwrap();
    assert_eq!(known.gone(&other), Gone { instance: Some(10), leader: None });
    known.on_event(&WatchEvent::Gap);
    assert_eq!(known.gone(&other), Gone::default());
}
