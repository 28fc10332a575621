//! Stops: their causes outlive the carrier that was asked, and nothing that cannot be read or written keeps a process running.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use super::*;
use crate::deaf_script::DEAF;
use crate::process::item::{Item, end};
use crate::process::slot::StopNote;

/// How long a test waits for an event.
const PATIENCE: Duration = Duration::from_secs(60);

/// A grace that no test waits for.
const HOUR: Duration = Duration::from_secs(3_600);

/// A job with two items whose program is this script; `$DIR` is a folder of the test.
struct Stopped {
    host: Host,
    app: Arc<App>,
    job: Arc<CarriedJob>,
}

impl Stopped {
    fn new(script: &str) -> Self {
        let host = Host { scratch: Scratch::new(), memory: MemoryLimit::Off };
        let app = Arc::new(host.app("long", &format!("DIR={}\n{script}", host.scratch.path().display())));
        let job = json!({ "jobName": "long", "appName": "long", "jobExecutionType": "TRANSIENT", "cpuCount": 0.01,
                          "memoryMB": 16, "shardingTotalCount": 2, "failover": true });
        let job = Arc::new(CarriedJob::from_json(job).unwrap());
        Self { host, app, job }
    }

    fn id(&self, at: i64) -> LaunchId {
        LaunchId { job: self.job.job_name.clone(), fire: Fire::Scheduled(at) }
    }

    async fn launch(&self, carrier: &ProcessCarrier, id: &LaunchId, items: &[u32]) {
        let items = items.iter().map(|item| LaunchItem::new(*item, None)).collect();
        carrier.launch(Launch::new(id.clone(), items, self.app.clone(), self.job.clone())).await.unwrap();
    }

    fn file(&self, name: &str) -> PathBuf {
        self.host.scratch.path().join(name)
    }

    /// The folder of an item.
    fn folder(&self, id: &LaunchId, item: u32) -> PathBuf {
        self.file("work/launches").join(id.token("tests")).join(item.to_string())
    }

    async fn until_lines(&self, name: &str, lines: usize) {
        let count = || fs::read_to_string(self.file(name)).unwrap_or_default().lines().count();
        until(async || count() == lines).await;
    }

    fn end(&self) {
        fs::write(self.file("end"), "").unwrap();
    }
}

impl Drop for Stopped {
    /// No process outlives a test that fails.
    fn drop(&mut self) {
        let _ = fs::write(self.file("end"), "");
    }
}

pub(super) async fn until(mut is: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !is().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap();
}

async fn state(carrier: &ProcessCarrier, id: &LaunchId, item: u32) -> Option<ItemState> {
    carrier.states(id).await.unwrap()?.remove(&item)
}

/// The end of an item: how, and why it was stopped.
async fn end_of(carrier: &ProcessCarrier, id: &LaunchId, item: u32) -> (Outcome, Option<StopCause>) {
    let mut last = None;
    until(async || {
        last = state(carrier, id, item).await;
        last.as_ref().is_some_and(|state| state.outcome().is_some())
    })
    .await;
    let Some(ItemState::Ended { outcome, stopped }) = last else { panic!("{last:?}") };
    (outcome, stopped)
}

/// Sets the time of the note of a stop back.
fn set_back(folder: &Path, by: Duration) {
    let note = folder.join("stop");
    let mut text: serde_json::Value = serde_json::from_slice(&fs::read(&note).unwrap()).unwrap();
    let at = text["at"].as_i64().unwrap() - i64::try_from(by.as_millis()).unwrap();
    text["at"] = json!(at);
    fs::write(&note, text.to_string()).unwrap();
}

fn limit() -> StopCause {
    StopCause::TimeLimit { milliseconds: 5 }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_carrier_goes_on_with_the_grace_asks_no_second_time_and_knows_the_first_cause() {
    let long = Stopped::new(DEAF);
    let (first, id) = (long.host.connect(), long.id(0));
    long.launch(&first, &id, &[0]).await;
    long.until_lines("runs", 1).await;
    first.stop(&id, &[0], Stop::new(HOUR, StopCause::Operator)).await.unwrap();
    long.until_lines("asked", 1).await;
    drop(first);
    // A carrier that began the grace again would wait for an hour.
    set_back(&long.folder(&id, 0), 2 * HOUR);
    let next = long.host.connect();
    long.launch(&next, &id, &[0]).await;
    assert_eq!(end_of(&next, &id, 0).await, (Outcome::Stopped, Some(StopCause::Operator)));
    assert_eq!(fs::read_to_string(long.file("asked")).unwrap().lines().count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_later_stop_of_another_carrier_neither_asks_again_nor_changes_the_cause() {
    let long = Stopped::new(DEAF);
    let (first, next, id) = (long.host.connect(), long.host.connect(), long.id(0));
    long.launch(&first, &id, &[0]).await;
    long.until_lines("runs", 1).await;
    first.stop(&id, &[0], Stop::new(HOUR, StopCause::Operator)).await.unwrap();
    long.until_lines("asked", 1).await;
    drop(first);
    // The grace of the later stop is over at once.
    next.stop(&id, &[0], Stop::new(Duration::ZERO, limit())).await.unwrap();
    assert_eq!(end_of(&next, &id, 0).await, (Outcome::Stopped, Some(StopCause::Operator)));
    assert_eq!(fs::read_to_string(long.file("asked")).unwrap().lines().count(), 1);
}

/// Its keeper is a shell that waits for the program: it takes the signal, and goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_stopped_in_the_moment_it_starts_does_not_run_through_its_grace() {
    let long = Stopped::new("while [ -d $DIR ] && [ ! -e $DIR/end ]; do sleep 0.05; done");
    let carrier = long.host.connect();
    for at in 0..10 {
        let id = long.id(at);
        long.launch(&carrier, &id, &[0, 1]).await;
        for item in [0, 1] {
            let begins = async {
                while !long.folder(&id, item).join("pid").exists() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            tokio::time::timeout(PATIENCE, begins).await.unwrap();
            carrier.stop(&id, &[item], Stop::new(HOUR, StopCause::Operator)).await.unwrap();
        }
        for item in [0, 1] {
            assert_eq!(end_of(&carrier, &id, item).await, (Outcome::Stopped, Some(StopCause::Operator)));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_ends_well_when_it_is_stopped_says_both() {
    let long = Stopped::new(&format!("trap 'exit 0' TERM; {}", DEAF.split_once("TERM; ").unwrap().1));
    let (first, id) = (long.host.connect(), long.id(0));
    long.launch(&first, &id, &[0]).await;
    long.until_lines("runs", 1).await;
    first.stop(&id, &[0], Stop::new(HOUR, limit())).await.unwrap();
    assert_eq!(end_of(&first, &id, 0).await, (Outcome::Succeeded, Some(limit())));
    assert_eq!(end_of(&long.host.connect(), &id, 0).await, (Outcome::Succeeded, Some(limit())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_whose_folder_cannot_be_read_keeps_no_other_one_of_its_launch_running() {
    let long = Stopped::new(DEAF);
    let (first, id) = (long.host.connect(), long.id(0));
    long.launch(&first, &id, &[0, 1]).await;
    long.until_lines("runs", 2).await;
    drop(first);
    // A folder cannot be read as a file.
    fs::create_dir(long.folder(&id, 0).join("refused")).unwrap();
    let next = long.host.connect();
    let unread = state(&next, &id, 0).await;
    assert!(
        matches!(&unread, Some(ItemState::Waiting { why, .. }) if why.contains("cannot be read") && why.contains("/0")),
        "{unread:?}"
    );
    let stopped = next.stop(&id, &[0, 1], Stop::new(Duration::ZERO, StopCause::JobEnded)).await;
    assert!(stopped.is_err_and(|error| error.why.contains("/0")));
    assert_eq!(end_of(&next, &id, 1).await, (Outcome::Stopped, Some(StopCause::JobEnded)));
    long.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_that_cannot_be_noted_is_carried_out_all_the_same() {
    let long = Stopped::new(DEAF);
    let (carrier, runs, waits) = (long.host.connect(), long.id(0), long.id(1));
    long.launch(&carrier, &runs, &[0]).await;
    long.until_lines("runs", 1).await;
    long.launch(&carrier, &waits, &[0]).await;
    for id in [&runs, &waits] {
        fs::create_dir_all(long.folder(id, 0)).unwrap();
        // No file can be made under this name, nor read.
        std::os::unix::fs::symlink("/nowhere/at/all", long.folder(id, 0).join("stop")).unwrap();
    }
    carrier.stop(&waits, &[0], Stop::new(HOUR, StopCause::Operator)).await.unwrap();
    assert_eq!(end_of(&carrier, &waits, 0).await, (Outcome::Stopped, Some(StopCause::Operator)));
    carrier.stop(&runs, &[0], Stop::new(Duration::ZERO, limit())).await.unwrap();
    assert_eq!(end_of(&carrier, &runs, 0).await, (Outcome::Stopped, Some(limit())));
    for id in [&runs, &waits] {
        let left = fs::read_dir(long.folder(id, 0)).unwrap().map(|file| file.unwrap().file_name());
        let new: Vec<_> = left.filter(|name| name.to_string_lossy().ends_with(".new")).collect();
        assert!(new.is_empty(), "{new:?}");
    }
    assert_eq!(fs::read_to_string(long.file("runs")).unwrap().lines().count(), 1, "the second one never began");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_could_not_be_asked_to_end_is_asked_again_and_what_was_asked_is_not() {
    let long = Stopped::new(DEAF);
    let (carrier, id) = (long.host.connect(), long.id(0));
    long.launch(&carrier, &id, &[0]).await;
    long.until_lines("runs", 1).await;
    let (slot, memory) = (carrier.shared.known_slot(&id, 0), &carrier.shared.memory);
    let pid = slot.folder.join("pid");
    let text = fs::read(&pid).unwrap();
    fs::write(&pid, "").unwrap();
    assert!(!slot.ask_to_end(memory).unwrap());
    fs::write(&pid, text).unwrap();
    assert!(slot.ask_to_end(memory).unwrap());
    assert!(!slot.ask_to_end(memory).unwrap());
    long.until_lines("asked", 1).await;
    long.end();
    assert_eq!(end_of(&carrier, &id, 0).await.1, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_nobody_has_asked_to_end_is_asked_however_long_ago_its_stop_was_noted() {
    let long = Stopped::new(&format!("trap 'exit 0' TERM; {}", DEAF.split_once("TERM; ").unwrap().1));
    let (first, id) = (long.host.connect(), long.id(0));
    long.launch(&first, &id, &[0]).await;
    long.until_lines("runs", 1).await;
    drop(first);
    let next = long.host.connect();
    let note = StopNote::new(&Stop::new(HOUR, StopCause::Operator), 5);
    next.shared.known_slot(&id, 0).note_stop(&note).unwrap();
    long.launch(&next, &id, &[0]).await;
    assert_eq!(end_of(&next, &id, 0).await, (Outcome::Succeeded, Some(StopCause::Operator)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_item_that_is_stopped_when_it_is_about_to_run_again_does_not() {
    let long = Stopped::new(DEAF);
    let (carrier, id) = (long.host.connect(), long.id(0));
    let slot = carrier.shared.known_slot(&id, 0);
    fs::create_dir_all(&slot.folder).unwrap();
    fs::write(slot.folder.join("pid"), "1").unwrap();
    fs::write(slot.folder.parent().unwrap().join("id"), id.to_string()).unwrap();
    assert!(matches!(slot.look().unwrap(), Look::Ended(Outcome::Lost { .. })));
    let wanted = LaunchItem::new(0, None);
    let launch = Launch::new(id.clone(), vec![wanted.clone()], long.app.clone(), long.job.clone());
    let item = Item::new(carrier.shared.clone(), Arc::new(launch), wanted, slot);
    carrier.stop(&id, &[0], Stop::new(HOUR, limit())).await.unwrap();
    let follows = tokio::spawn(item.follow());
    assert_eq!(end_of(&carrier, &id, 0).await, (Outcome::Stopped, Some(limit())));
    follows.await.unwrap();
    assert!(!long.file("runs").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_cannot_be_looked_at_when_its_grace_is_over_is_killed_as_soon_as_it_can() {
    let long = Stopped::new(DEAF);
    let (carrier, id) = (long.host.connect(), long.id(0));
    long.launch(&carrier, &id, &[0]).await;
    long.until_lines("runs", 1).await;
    // What is a folder cannot be read.
    let exit = long.folder(&id, 0).join("exit");
    fs::create_dir(&exit).unwrap();
    let slot = carrier.shared.known_slot(&id, 0);
    slot.note_stop(&StopNote::new(&Stop::new(Duration::ZERO, StopCause::Operator), 0)).unwrap();
    let mut ending = pin!(end(slot, carrier.shared.clone(), Duration::ZERO));
    assert!(ending.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    fs::remove_dir(&exit).unwrap();
    tokio::time::timeout(PATIENCE, ending).await.unwrap();
    assert_eq!(end_of(&carrier, &id, 0).await, (Outcome::Stopped, Some(StopCause::Operator)));
}

#[test]
fn what_is_left_of_a_grace_is_counted_from_the_stop() {
    let note = StopNote::new(&Stop::new(Duration::from_millis(1_000), limit()), 5_000);
    let left = |now| note.left(now).as_millis();
    assert_eq!((left(5_000), left(5_400), left(9_000)), (1_000, 600, 0));
    assert_eq!(left(4_000), 1_000, "the clock was set back");
}
