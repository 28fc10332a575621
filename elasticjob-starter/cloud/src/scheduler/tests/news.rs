//! News of items reach what waits for them, whatever the carrier does not answer.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use elasticjob::ident::{InstanceId, JobName, ShardingItem};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::*;
use crate::carrier::{
    Answer, CarrierError, Daemon, DaemonProcess, EventSender, ItemStates, LaunchError, LaunchEvent, LaunchStream,
    Launched, Outcome, Stop,
};
use crate::model::Problem;
use crate::scheduler::item_states::Hub;
use crate::scheduler::place_losses::Losses;

/// A carrier that answers for the launches that it knows, and fails for all others.
#[derive(Default)]
struct Partial {
    events: EventSender,
    states: Mutex<BTreeMap<LaunchId, ItemState>>,
    /// Holds an answer back after its state was looked at.
    holds: Mutex<Option<Arc<Notify>>>,
    asked: Notify,
}

impl Carrier for Partial {
    fn type_name(&self) -> &str {
        "PARTIAL"
    }

    fn check(&self, _: &App, _: &CarriedJob) -> Vec<Problem> {
        Vec::new()
    }

    fn launch(&self, _: Launch) -> Answer<'_, Launched, LaunchError> {
        Box::pin(async { Ok(Launched::default()) })
    }

    fn stop<'a>(&'a self, _: &'a LaunchId, _: &'a [ShardingItem], _: Stop) -> Answer<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn forget<'a>(&'a self, _: &'a LaunchId) -> Answer<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn states<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, Option<ItemStates>> {
        Box::pin(async {
            let state = self.states.lock().unwrap().get(id).cloned();
            self.asked.notify_one();
            let held = self.holds.lock().unwrap().clone();
            if let Some(held) = held {
                held.notified().await;
            }
            let state = state.ok_or_else(|| CarrierError::new("read the states", "it cannot be read"))?;
            Ok(Some([(0, state)].into()))
        })
    }

    fn launches(&self) -> Answer<'_, Vec<LaunchId>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn watch(&self) -> Box<dyn LaunchStream> {
        self.events.stream()
    }

    fn keep(&self, _: Daemon) -> Answer<'_, (), LaunchError> {
        Box::pin(async { Ok(()) })
    }

    fn kept<'a>(&'a self, _: &'a JobName) -> Answer<'a, Vec<DaemonProcess>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn log<'a>(&'a self, _: &'a LaunchId, _: ShardingItem, _: usize) -> Answer<'a, Option<String>> {
        Box::pin(async { Ok(None) })
    }
}

fn launch(at: i64) -> LaunchId {
    LaunchId { job: name("work"), fire: Fire::Scheduled(at) }
}

fn hub(carrier: &Arc<Partial>) -> Hub {
    Hub::new(carrier.clone(), Losses { tracing: None, instance: InstanceId::of_process("10.0.0.1", 7) })
}

#[tokio::test(start_paused = true)]
async fn a_launch_that_cannot_be_read_keeps_no_news_of_another_one() {
    let carrier = Arc::new(Partial::default());
    let hub = hub(&carrier);
    let _unreadable = hub.follow(&launch(1), 0);
    let (mut read, mut told) = (hub.follow(&launch(2), 0), hub.follow(&launch(3), 0));
    let ended = ItemState::from(Outcome::Succeeded);
    carrier.states.lock().unwrap().insert(launch(2), ended.clone());
    carrier.events.send(LaunchEvent::Gap);
    assert!(timeout(Duration::from_secs(60), read.end()).await.is_ok(), "it is not read after the gap");
    carrier.events.send(LaunchEvent::Changed { id: launch(3), item: 0, state: ended });
    assert!(timeout(Duration::from_secs(60), told.end()).await.is_ok(), "an event is not heard");
    assert!(timeout(Duration::from_secs(60), hub.refresh_all()).await.expect("each is read once").is_err());
    carrier.states.lock().unwrap().extend([1, 3].map(|at| (launch(at), ItemState::waiting("no room"))));
    assert!(hub.refresh_all().await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_older_than_an_event_takes_nothing_back() {
    let carrier = Arc::new(Partial::default());
    carrier.states.lock().unwrap().insert(launch(1), ItemState::waiting("no room"));
    let hub = hub(&carrier);
    let following = hub.follow(&launch(1), 0);
    // The clock moves when the hub has begun to listen, and has nothing left to do.
    tokio::time::sleep(Duration::from_millis(1)).await;
    carrier.asked.notified().await;
    let held = Arc::new(Notify::new());
    *carrier.holds.lock().unwrap() = Some(held.clone());
    let reads = async { hub.refresh_all().await.unwrap() };
    let runs = ItemState::running("n1", 5);
    let hears = async {
        carrier.asked.notified().await;
        let mut states = following.states();
        carrier.events.send(LaunchEvent::Changed { id: launch(1), item: 0, state: runs.clone() });
        states.wait_for(|state| state.as_ref() == Some(&runs)).await.unwrap();
        *carrier.holds.lock().unwrap() = None;
        held.notify_waiters();
    };
    tokio::join!(reads, hears);
    assert_eq!(*following.states().borrow(), Some(runs));
    hub.refresh_all().await.unwrap();
    assert_eq!(*following.states().borrow(), Some(ItemState::waiting("no room")));
}
