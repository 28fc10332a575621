//! The carrier on a model of Slurm.

mod model;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::fire::Fire;
use serde_json::json;

use super::*;
use crate::carrier::{LaunchItem, Outcome, StopCause};
use model::Model;

/// The time that a test waits for an event.
const PATIENCE: Duration = Duration::from_secs(60);

/// A grace that no test waits for.
const HOUR: Duration = Duration::from_secs(3_600);

/// Says when it begins and each time that it is asked to end, and runs until the test lets it end.
const DEAF: &str = "trap 'echo asked >>$DIR/asked' TERM; echo begun >>$DIR/runs; while [ -d $DIR ] && [ ! -e $DIR/end ]; do sleep 0.05; done";

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
        }
        long.stop(&carrier, &[0], HOUR, StopCause::Operator).await.unwrap();
        long.until_asked(1).await;
        assert_eq!(long.model.lines("cancels"), cancels, "{lost}");
        long.end();
        assert_eq!(long.end_of(&carrier, 0).await, (Outcome::Succeeded, Some(StopCause::Operator)));
        assert_eq!(long.model.lines("asked"), 1, "{lost}");
    }
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
    assert_eq!(long.end_of(&next, 1).await, (Outcome::Stopped, Some(StopCause::JobEnded)));
}

#[test]
fn a_process_that_gets_another_job_of_slurm_may_be_asked_again() {
    let scratch = crate::scratch::Scratch::new();
    for name in ["asked-1", "ending-1", "restarts"] {
        fs::write(scratch.path().join(name), "").unwrap();
    }
    stop::forget_asked(scratch.path()).unwrap();
    let left: Vec<_> = fs::read_dir(scratch.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["restarts"]);
}
