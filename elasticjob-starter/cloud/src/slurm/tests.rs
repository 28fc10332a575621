//! The carrier on a model of Slurm.

mod daemons;
mod model;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use elasticjob::fire::Fire;
use serde_json::json;

use super::*;
use crate::carrier::{LaunchEvent, LaunchItem, Outcome, StopCause};
use crate::deaf_script::DEAF;
use crate::texts::tests::{assert_chinese, chinese};
use model::Model;
use queue::JobState;
use stop::Unwanted;

/// The time that a test waits for an event.
const PATIENCE: Duration = Duration::from_secs(60);

/// A grace that no test waits for.
const HOUR: Duration = Duration::from_secs(3_600);

/// A job whose program is [`DEAF`].
struct Long {
    model: Model,
    app: Arc<App>,
    job: Arc<CarriedJob>,
    id: LaunchId,
}

impl Long {
    fn new() -> Self {
        let model = Model::new();
        let app = Arc::new(model.app(DEAF));
        let job = json!({ "jobName": "long", "appName": "long", "jobExecutionType": "TRANSIENT", "cpuCount": 0.1,
                          "memoryMB": 1, "shardingTotalCount": 2 });
        let job = Arc::new(CarriedJob::from_json(job).unwrap());
        let id = LaunchId { job: job.job_name.clone(), fire: Fire::Scheduled(0) };
        Self { model, app, job, id }
    }

    async fn launch(&self, carrier: &SlurmCarrier, items: &[u32]) -> Launched {
        let items = items.iter().map(|item| LaunchItem::new(*item, None)).collect();
        carrier.launch(Launch::new(self.id.clone(), items, self.app.clone(), self.job.clone())).await.unwrap()
    }

    /// A carrier that runs these items.
    async fn running(&self, items: &[u32]) -> SlurmCarrier {
        let carrier = self.model.carrier().await;
        self.launch(&carrier, items).await;
        until(async || self.model.lines("runs") == items.len()).await;
        carrier
    }

    fn folder(&self, carrier: &SlurmCarrier, item: u32) -> PathBuf {
        carrier.shared.item_folder(&self.id, item)
    }

    async fn until_asked(&self, times: usize) {
        until(async || self.model.lines("asked") == times).await;
    }

    async fn stop(
        &self,
        carrier: &SlurmCarrier,
        items: &[u32],
        grace: Duration,
        cause: StopCause,
    ) -> Result<(), CarrierError> {
        carrier.stop(&self.id, items, Stop::new(grace, cause)).await
    }

    fn end(&self) {
        fs::write(self.model.file("end"), "").unwrap();
    }

    /// The end of an item: how, and why it was stopped.
    async fn end_of(&self, carrier: &SlurmCarrier, item: u32) -> (Outcome, Option<StopCause>) {
        let mut last = None;
        until(async || {
            last = carrier.states(&self.id).await.unwrap().unwrap().remove(&item);
            last.as_ref().is_some_and(|state| state.outcome().is_some())
        })
        .await;
        let Some(ItemState::Ended { outcome, stopped }) = last else { panic!("{last:?}") };
        (outcome, stopped)
    }
}

async fn until(mut is: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !is().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_carrier_waits_for_a_controller_that_is_away_and_not_for_settings_that_are_not_there() {
    let model = Model::new();
    fs::write(model.file("away"), "").unwrap();
    let connecting = tokio::spawn(SlurmCarrier::connect(model.options()));
    until(async || model.lines("questions") >= 2).await;
    assert!(!connecting.is_finished());
    fs::remove_file(model.file("away")).unwrap();
    let carrier = tokio::time::timeout(PATIENCE, connecting).await.unwrap().unwrap().unwrap();
    assert_eq!(carrier.shared_place().as_deref(), Some(&*carrier.place()));
    let asked = model.lines("questions");
    let mut options = model.options();
    options.conf = Some(model.file("no-slurm.conf"));
    let error = SlurmCarrier::connect(options).await.unwrap_err();
    assert!(matches!(error, ConnectError::Settings { .. }), "{error}");
    assert_eq!(model.lines("questions"), asked);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_carrier_asks_no_second_time_and_knows_the_first_cause() {
    let long = Long::new();
    let first = long.running(&[0]).await;
    long.stop(&first, &[0], HOUR, StopCause::Operator).await.unwrap();
    long.until_asked(1).await;
    drop(first);
    let next = long.model.carrier().await;
    assert_eq!(long.launch(&next, &[0]).await.adopted, [0]);
    // What the adoption does by itself, and another stop.
    assert_eq!(stop::ask(&next.shared, &long.id, &[0], HOUR).await, Ok(true));
    long.stop(&next, &[0], HOUR, StopCause::LaterRun).await.unwrap();
    assert_eq!(long.model.lines("cancels"), 1);
    long.end();
    assert_eq!(long.end_of(&next, 0).await, (Outcome::Succeeded, Some(StopCause::Operator)));
    assert_eq!(long.model.lines("asked"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_carrier_asks_what_was_only_noted_to_be_stopped() {
    let long = Long::new();
    let first = long.running(&[0, 1]).await;
    first.shared.place(&long.id, 1).unwrap().note_stop(&Stop::new(HOUR, StopCause::JobEnded)).unwrap();
    drop(first);
    let next = long.model.carrier().await;
    long.launch(&next, &[0, 1]).await;
    long.until_asked(1).await;
    long.end();
    assert_eq!(long.end_of(&next, 1).await, (Outcome::Succeeded, Some(StopCause::JobEnded)));
    assert_eq!(long.end_of(&next, 0).await, (Outcome::Succeeded, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_without_an_answer_is_repeated_unless_it_arrived() {
    for (lost, cancels) in [("before", 2), ("after", 1)] {
        let long = Long::new();
        let carrier = long.running(&[0]).await;
        long.model.lose(Some(lost));
        assert!(long.stop(&carrier, &[0], HOUR, StopCause::Operator).await.is_err(), "{lost}");
        long.model.lose(None);
        if lost == "after" {
            until(async || long.folder(&carrier, 0).join("ending-1").exists()).await;
        } else {
            // Until then it may be on its way.
            note_of(&long, &carrier, "asked-1", "", stop::IN_DOUBT);
        }
        long.stop(&carrier, &[0], HOUR, StopCause::Operator).await.unwrap();
        long.until_asked(1).await;
        assert_eq!(long.model.lines("cancels"), cancels, "{lost}");
        long.end();
        assert_eq!(long.end_of(&carrier, 0).await, (Outcome::Succeeded, Some(StopCause::Operator)));
        assert_eq!(long.model.lines("asked"), 1, "{lost}");
    }
}

/// Makes a note in the folder of item 0 that is this old.
fn note_of(long: &Long, carrier: &SlurmCarrier, name: &str, text: &str, age: Duration) {
    let note = long.folder(carrier, 0).join(name);
    fs::write(&note, text).unwrap();
    fs::File::options().write(true).open(note).unwrap().set_modified(SystemTime::now() - age).unwrap();
}

/// An item whose stop was noted by a scheduler that is gone, with a note of its request, and the next carrier that has adopted it.
async fn adopted_with(note: (&str, &str, Duration)) -> (Long, SlurmCarrier) {
    let long = Long::new();
    let first = long.running(&[0]).await;
    first.shared.place(&long.id, 0).unwrap().note_stop(&Stop::new(HOUR, StopCause::Operator)).unwrap();
    let (name, text, age) = note;
    note_of(&long, &first, name, text, age);
    drop(first);
    let next = long.model.carrier().await;
    assert_eq!(long.launch(&next, &[0]).await.adopted, [0]);
    (long, next)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_was_noted_and_perhaps_not_sent_is_sent_when_it_cannot_be_on_its_way() {
    // It becomes too old by itself.
    let (long, next) = adopted_with(("asked-1", "", stop::IN_DOUBT - Duration::from_secs(1))).await;
    long.until_asked(1).await;
    long.end();
    assert_eq!(long.end_of(&next, 0).await, (Outcome::Succeeded, Some(StopCause::Operator)));
    // Until then it may be on its way.
    let (long, next) = adopted_with(("asked-1", "", Duration::ZERO)).await;
    long.stop(&next, &[0], HOUR, StopCause::Operator).await.unwrap();
    assert_eq!(long.model.lines("cancels"), 0);
    note_of(&long, &next, "asked-1", "", stop::IN_DOUBT);
    long.stop(&next, &[0], HOUR, StopCause::Operator).await.unwrap();
    long.until_asked(1).await;
    assert_eq!(long.model.lines("cancels"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_carrier_goes_on_with_the_grace_where_it_stands() {
    for (name, text) in [("ending-1", ""), ("asked-1", "sent")] {
        // Its grace was over an hour ago. One that counted from the adoption would wait for an hour.
        let (long, next) = adopted_with((name, text, 2 * HOUR)).await;
        assert_eq!(long.end_of(&next, 0).await, (Outcome::Stopped, Some(StopCause::Operator)), "{name}");
        assert_eq!(long.model.lines("asked"), 0, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_could_not_be_read_is_told_again_when_it_can() {
    let long = Long::new();
    let carrier = long.model.carrier().await;
    let mut events = carrier.watch();
    let mut told_running = async || {
        let running = async {
            while !matches!(events.next().await, Some(LaunchEvent::Changed { state: ItemState::Running { .. }, .. })) {}
        };
        tokio::time::timeout(PATIENCE, running).await.unwrap();
    };
    long.launch(&carrier, &[0]).await;
    told_running().await;
    let outcome = long.folder(&carrier, 0).join("outcome");
    fs::create_dir(&outcome).unwrap();
    let states = carrier.states(&long.id).await.unwrap().unwrap();
    assert!(matches!(&states[&0], ItemState::Waiting { .. }), "{:?}", states[&0]);
    fs::remove_dir(&outcome).unwrap();
    told_running().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_whose_stop_cannot_be_noted_is_asked_once_and_ended_after_its_grace() {
    let long = Long::new();
    let carrier = long.running(&[0]).await;
    fs::create_dir(long.folder(&carrier, 0).join("stop")).unwrap();
    for _ in 0..2 {
        let stopped = long.stop(&carrier, &[0], HOUR, StopCause::Operator).await;
        assert!(stopped.as_ref().is_err_and(|error| error.why.contains("/0")), "{stopped:?}");
        long.until_asked(1).await;
        // As in a folder that takes no note at all.
        let _ = fs::remove_file(long.folder(&carrier, 0).join("asked-1"));
    }
    assert_eq!(long.model.lines("cancels"), 1);
    // Its keeper knows no grace.
    let short = Duration::from_millis(1);
    long.stop(&carrier, &[0], short, StopCause::Operator).await.unwrap_err();
    assert_eq!(long.end_of(&carrier, 0).await, (Outcome::Stopped, Some(StopCause::Operator)));
    assert_eq!(long.model.lines("asked"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_cannot_be_asked_keeps_none_running_of_those_asked_with_it() {
    let long = Long::new();
    let carrier = long.running(&[0, 1]).await;
    fs::write(long.model.file("failing"), "1_0").unwrap();
    // Its keeper knows no grace, so that this carrier has to end it.
    fs::create_dir(long.folder(&carrier, 1).join("stop")).unwrap();
    let stopped = long.stop(&carrier, &[0, 1], Duration::from_millis(1), StopCause::Operator).await;
    assert!(stopped.as_ref().is_err_and(|error| error.why.contains("1_0")), "{stopped:?}");
    assert_eq!(long.end_of(&carrier, 1).await, (Outcome::Stopped, Some(StopCause::Operator)));
    // Nor does one that waits.
    let row = |array, state| Row {
        state,
        array,
        index: 0,
        name: "ej-a".to_owned(),
        node: String::new(),
        since: None,
        halted: 0,
        reason: String::new(),
    };
    let jobs = [row(1, JobState::Pending), row(2, JobState::Running)].map(|row| Unwanted {
        row,
        folder: long.model.file("work"),
        asked: None,
    });
    let answered = stop::ask_to_end(&carrier.shared.commands, jobs.to_vec(), HOUR).await;
    let of_each: Vec<_> = answered.iter().map(|(row, answer)| (row.array, answer.is_ok())).collect();
    assert_eq!(of_each, [(1, false), (2, true)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_asked_and_has_no_grace_left_is_killed() {
    let long = Long::new();
    let carrier = long.running(&[0]).await;
    long.stop(&carrier, &[0], HOUR, StopCause::Operator).await.unwrap();
    long.until_asked(1).await;
    long.stop(&carrier, &[0], Duration::ZERO, StopCause::JobEnded).await.unwrap();
    assert_eq!(long.end_of(&carrier, 0).await, (Outcome::Stopped, Some(StopCause::Operator)));
    assert_eq!(long.model.lines("asked"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_whose_folder_cannot_be_read_hides_no_other_one_and_keeps_none_running() {
    let long = Long::new();
    drop(long.running(&[0, 1]).await);
    let next = long.model.carrier().await;
    // A folder cannot be read as a file, nor be replaced by one.
    for name in ["outcome", "stop"] {
        fs::create_dir(long.folder(&next, 0).join(name)).unwrap();
    }
    let states = next.states(&long.id).await.unwrap().unwrap();
    let unread = &states[&0];
    assert!(
        matches!(unread, ItemState::Waiting { why, .. } if why.contains("cannot be read") && why.contains("/0")),
        "{unread:?}"
    );
    assert!(matches!(&states[&1], ItemState::Running { .. }), "{:?}", states[&1]);
    let stopped = long.stop(&next, &[0, 1], Duration::ZERO, StopCause::JobEnded).await;
    assert!(stopped.as_ref().is_err_and(|error| error.why.contains("/0")), "{stopped:?}");
    assert_chinese(&chinese(), &stopped.unwrap_err().action);
    assert_eq!(long.end_of(&next, 1).await, (Outcome::Stopped, Some(StopCause::JobEnded)));
}
