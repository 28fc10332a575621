use super::*;
use crate::registry::memory::{MemoryRegistry, MemoryRegistryCenter};
use crate::registry::{CreateMode, RegistryError, SessionState};
use crate::testing::rng::Rng;

fn watched(registry: &MemoryRegistry) -> WatchedRegistry {
    WatchedRegistry::new(Arc::new(registry.connect()))
}

async fn change(center: &MemoryRegistryCenter, build: impl FnOnce(&mut Transaction) -> usize) {
    let mut transaction = Transaction::new();
    build(&mut transaction);
    // A refused one changes nothing.
    let _ = center.commit(transaction).await;
}

#[tokio::test]
async fn a_namespace_at_rest_is_read_once() {
    let registry = MemoryRegistry::new();
    let other = registry.connect();
    change(&other, |t| t.create("/a", "1", CreateMode::Persistent)).await;
    let watched = watched(&registry);
    for _ in 0..3 {
        assert_eq!(watched.get("/a").await.unwrap().unwrap().data.text(), Some("1"));
        assert_eq!(watched.children("/a").await.unwrap(), Some(vec![]));
        assert_eq!(watched.get("/b").await.unwrap(), None);
        assert_eq!(watched.requests().requests, 4, "the watch, and each question once");
    }
    change(&other, |t| t.set("/a", "2", None)).await;
    assert_eq!(watched.get("/a").await.unwrap().unwrap().data.text(), Some("2"));
    assert_eq!(watched.requests().requests, 5, "only what changed is read again");
}

#[tokio::test]
async fn beside_the_watched_part_each_question_is_asked() {
    let registry = MemoryRegistry::new();
    let other = registry.connect();
    for path in ["/a", "/ab"] {
        change(&other, |t| t.create(path, "1", CreateMode::Persistent)).await;
    }
    let part = WatchedRegistry::below(Arc::new(registry.connect()), "/a");
    for _ in 0..2 {
        assert_eq!(part.get("/a").await.unwrap().unwrap().data.text(), Some("1"));
        assert_eq!(part.get("/ab").await.unwrap().unwrap().data.text(), Some("1"));
    }
    assert_eq!(part.requests().requests, 4, "the watch, one question about the part, two about the other node");
    change(&other, |t| t.set("/ab", "2", None)).await;
    assert_eq!(part.get("/ab").await.unwrap().unwrap().data.text(), Some("2"));
}

/// Nodes of three levels with few names, so that changes meet what is known.
fn any_path(rng: &mut Rng) -> String {
    (0..rng.between(1, 4)).map(|_| format!("/{}", rng.pick(&["a", "b", "c"]))).collect()
}

#[tokio::test]
async fn every_answer_is_the_one_of_the_registry_whatever_others_change() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let registry = MemoryRegistry::new();
        let (other, watched) = (registry.connect(), watched(&registry));
        for _ in 0..200 {
            let path = any_path(&mut rng);
            match rng.below(8) {
                0 | 1 => change(&other, |t| t.create(&path, "", CreateMode::Persistent)).await,
                2 => change(&other, |t| t.set(&path, rng.below(9).to_string().as_str(), None)).await,
                3 => change(&other, |t| t.delete(&path, None)).await,
                4 | 5 => {
                    assert_eq!(watched.get(&path).await, other.get(&path).await, "{path} of seed {seed}");
                }
                6 => {
                    assert_eq!(watched.children(&path).await, other.children(&path).await, "{path} of seed {seed}");
                }
                _ => {
                    // A question under way while others change.
                    let (asked, listed) = (watched.get(&path), watched.children(&path));
                    change(&other, |t| t.delete(&path, None)).await;
                    let _ = (asked.await, listed.await);
                }
            }
        }
    }
}

async fn until(changes: &mut watch::Receiver<u64>, holds: impl Fn() -> bool) {
    while !holds() {
        changes.changed().await.unwrap();
    }
}

#[tokio::test]
async fn a_lost_registry_center_is_told_and_what_is_known_is_answered() {
    let registry = MemoryRegistry::new();
    let other = registry.connect();
    change(&other, |t| t.create("/a", "1", CreateMode::Persistent)).await;
    let watched = watched(&registry);
    watched.get("/a").await.unwrap();
    let mut changes = watched.changes();
    let SessionState::Connected { id, .. } = *watched.session().borrow() else { panic!("it is connected") };
    registry.suspend(id);
    let before = Moment::now().wall_ms;
    until(&mut changes, || watched.lost_since().is_some()).await;
    assert!(watched.lost_since().is_some_and(|since| (since - before).abs() < 60_000));
    change(&other, |t| t.set("/a", "2", None)).await;
    assert_eq!(watched.get("/a").await.unwrap().unwrap().data.text(), Some("1"));
    assert!(matches!(watched.get("/b").await, Err(RegistryError::NoAnswer { .. })));
    registry.resume(id);
    until(&mut changes, || watched.lost_since().is_none()).await;
    assert_eq!(watched.get("/a").await.unwrap().unwrap().data.text(), Some("2"), "read again after the gap");
}

#[tokio::test]
async fn changes_are_told_also_when_nobody_asks() {
    let registry = MemoryRegistry::new();
    let (other, watched) = (registry.connect(), watched(&registry));
    let mut changes = watched.changes();
    let before = watched.last_events(["a", "b"]);
    changes.borrow_and_update();
    change(&other, |t| t.create("/a", "1", CreateMode::Persistent)).await;
    changes.changed().await.unwrap();
    let after = watched.last_events(["a", "b"]);
    assert!(after[0] > before[0] && after[1] == before[1], "{before:?}, {after:?}");
}

#[tokio::test(start_paused = true)]
async fn the_watch_is_given_up_when_nobody_looked_for_long_and_starts_again_with_the_next_question() {
    let registry = MemoryRegistry::new();
    let other = registry.connect();
    change(&other, |t| t.create("/a", "1", CreateMode::Persistent)).await;
    let watched = watched(&registry);
    let requests = || watched.requests().requests;
    let read = async || watched.get("/a").await.unwrap().unwrap().data.text().map(ToOwned::to_owned);
    assert_eq!((read().await.as_deref(), requests()), (Some("1"), 2), "the watch, and the question");
    tokio::time::sleep(IDLE - Duration::from_secs(1)).await;
    assert_eq!((read().await.as_deref(), requests()), (Some("1"), 2));
    tokio::time::sleep(IDLE - Duration::from_secs(1)).await;
    assert!(watched.shared.lock().stream.is_some(), "a reader looked since");
    let changes = watched.changes();
    tokio::time::sleep(IDLE * 3).await;
    assert!(watched.shared.lock().stream.is_some(), "a reader follows the changes");
    drop(changes);
    tokio::time::sleep(IDLE * 2 + Duration::from_secs(1)).await;
    assert!(watched.shared.lock().stream.is_none());
    change(&other, |t| t.set("/a", "2", None)).await;
    assert_eq!((read().await.as_deref(), requests()), (Some("2"), 4), "the watch again, and the question");
    change(&other, |t| t.set("/a", "3", None)).await;
    assert_eq!((read().await.as_deref(), requests()), (Some("3"), 5), "it is followed again");
    let mut changes = watched.changes();
    changes.borrow_and_update();
    change(&other, |t| t.set("/a", "4", None)).await;
    changes.changed().await.unwrap();
}

#[tokio::test]
async fn nothing_is_left_when_it_is_dropped() {
    let registry = MemoryRegistry::new();
    let center: Arc<dyn RegistryCenter> = Arc::new(registry.connect());
    let watched = WatchedRegistry::new(center.clone());
    let asked = watched.get("/a");
    drop((watched, asked));
    tokio::task::yield_now().await;
    assert_eq!(Arc::strong_count(&center), 1);
}

#[tokio::test]
async fn the_end_of_the_watch_lets_questions_through() {
    let registry = MemoryRegistry::new();
    let watched = watched(&registry);
    watched.get("/a").await.unwrap();
    watched.close().await;
    assert!(watched.get("/a").await.is_err());
}
