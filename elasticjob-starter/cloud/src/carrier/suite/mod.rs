//! Cases of what every carrier must do; each carrier plays them.
//!
//! A carrier implements [`Ground`] and plays all of [`cases`], each on a fresh ground. A case panics where the carrier does
//! something else.
// These are tests, in the library only so that each carrier can play them.
#![allow(clippy::unwrap_used)]

mod daemons;
mod faults;
mod outcomes;
mod stops;

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use elasticjob::fire::Fire;
use elasticjob::ident::{JobName, ShardingItem};
use serde_json::{Value, json};

use super::{
    Answer, Carrier, ItemState, Launch, LaunchEvent, LaunchId, LaunchItem, LaunchStream, Outcome, Permit, Stop,
    StopCause,
};
use crate::model::{App, CarriedJob};

/// How long anything that must happen is waited for.
const DEADLINE: Duration = Duration::from_secs(120);

/// An engine on which carriers are tried.
pub trait Ground: Send + Sync {
    /// Another carrier of the same engine, as another scheduler has one. Dropping a carrier is what becomes of it when its
    /// scheduler is killed.
    fn carrier(&self) -> Answer<'_, Arc<dyn Carrier>>;

    /// An application whose program is this shell script (`sh`), with this name. It needs 0 CPUs and 16 MB for itself.
    fn app(&self, name: &str, script: &str) -> App;

    /// Whether the carrier tells an item that needs too much memory from one that fails otherwise.
    fn tells_out_of_memory(&self) -> bool;

    /// Whether what a program writes to its output and then to its error output is in this order where the
    /// carrier looks for its last words. A node of Kubernetes reads the two from two pipes, in any order.
    fn keeps_the_order_of_outputs(&self) -> bool;
}

/// A case that is being played.
pub type Playing = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One thing that a carrier must do.
#[derive(Clone, Copy)]
pub struct Case {
    /// Its name, a sentence.
    pub name: &'static str,
    /// Plays it on a fresh ground.
    pub play: fn(Arc<dyn Ground>) -> Playing,
}

macro_rules! cases {
    ($($module:ident: $($case:ident),+;)+) => {
        /// All cases.
        pub fn cases() -> Vec<Case> {
            vec![$($(Case { name: stringify!($case), play: |ground| Box::pin($module::$case(ground)) }),+),+]
        }
    };
}

cases! {
    outcomes:
        an_item_that_ends_well_has_succeeded,
        an_item_that_fails_says_how_and_in_whose_words,
        each_item_gets_its_own_environment,
        a_script_gets_the_sharding_context_as_its_last_argument,
        an_item_that_needs_too_much_memory_does_not_succeed,
        a_package_that_is_not_there_fails_the_item,
        a_job_that_no_place_can_hold_is_refused;
    faults:
        a_launch_that_is_repeated_starts_nothing,
        another_scheduler_adopts_what_runs_and_what_has_ended,
        later_items_of_a_launch_are_started_and_the_others_adopted,
        what_may_not_be_started_any_more_is_not_started_and_the_next_scheduler_launches_it,
        what_runs_goes_on_when_its_permit_is_withdrawn,
        a_launch_is_known_until_it_is_forgotten,
        what_is_forgotten_while_it_runs_is_killed_and_not_started_again,
        a_watch_begins_with_a_gap_and_tells_each_change;
    stops:
        an_item_that_is_stopped_may_end_in_order,
        an_item_that_does_not_end_is_killed_after_the_grace,
        what_is_stopped_has_its_children_ended_too,
        stopping_is_repeated_without_harm;
    daemons:
        processes_of_a_daemon_are_there_until_none_are_wanted,
        a_daemon_that_ends_is_started_again_after_a_pause,
        another_scheduler_keeps_what_runs_of_a_daemon,
        a_daemon_with_other_settings_runs_with_them;
}

/// A carrier and its events.
struct Scene {
    carrier: Arc<dyn Carrier>,
    /// In a lock that is never waited for: a stream need not be `Sync`.
    events: Mutex<Box<dyn LaunchStream>>,
}

impl Scene {
    async fn of(ground: &dyn Ground) -> Self {
        let carrier = in_time("a carrier", ground.carrier()).await.unwrap();
        let events = Mutex::new(carrier.watch());
        Self { carrier, events }
    }

    fn events(&mut self) -> &mut dyn LaunchStream {
        &mut **self.events.get_mut().unwrap()
    }

    async fn launch(&self, launch: &Launch) -> (Vec<ShardingItem>, Vec<ShardingItem>) {
        let mut launched = in_time("the launch", self.carrier.launch(launch.clone())).await.unwrap();
        launched.started.sort_unstable();
        launched.adopted.sort_unstable();
        (launched.started, launched.adopted)
    }

    /// Waits, as the scheduler does, until an item is in a state.
    async fn until(
        &mut self,
        id: &LaunchId,
        item: ShardingItem,
        what: &str,
        is: impl Fn(&ItemState) -> bool,
    ) -> ItemState {
        let waiting = async {
            let mut last = None;
            loop {
                let states = self.carrier.states(id).await.unwrap();
                if let Some(state) = states.and_then(|mut states| states.remove(&item)) {
                    if is(&state) {
                        return state;
                    }
                    last = Some(state);
                }
                loop {
                    match tokio::time::timeout(DEADLINE / 2, self.events().next()).await {
                        Err(_) => panic!("item {item} of {id} is not {what}: {last:?}"),
                        Ok(None) => panic!("the events ended"),
                        Ok(Some(LaunchEvent::Gap)) => break,
                        Ok(Some(LaunchEvent::Changed { id: of, item: changed, state }))
                            if of == *id && changed == item =>
                        {
                            if is(&state) {
                                return state;
                            }
                            last = Some(state);
                        }
                        Ok(Some(LaunchEvent::Changed { .. })) => {}
                    }
                }
            }
        };
        in_time(what, waiting).await
    }

    async fn ended(&mut self, id: &LaunchId, item: ShardingItem) -> Outcome {
        match self.until(id, item, "ended", |state| state.outcome().is_some()).await {
            ItemState::Ended { outcome, .. } => outcome,
            state => panic!("{state:?} is no end"),
        }
    }

    async fn running(&mut self, id: &LaunchId, item: ShardingItem) {
        self.until(id, item, "running", |state| matches!(state, ItemState::Running { .. })).await;
    }

    async fn log(&self, id: &LaunchId, item: ShardingItem) -> String {
        in_time("the log", self.carrier.log(id, item, 64 * 1_024)).await.unwrap().unwrap_or_default()
    }

    /// Waits until an item has written this.
    async fn until_logged(&self, id: &LaunchId, item: ShardingItem, text: &str) {
        let waiting = async {
            while !self.log(id, item).await.contains(text) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        in_time(text, waiting).await;
    }
}

/// A job of an application with this script.
fn job(ground: &dyn Ground, name: &str, script: &str, more: Value) -> (Arc<App>, Arc<CarriedJob>) {
    let app = Arc::new(ground.app(name, script));
    let mut job = json!({
        "jobName": name, "appName": app.app_name, "jobExecutionType": "TRANSIENT", "cpuCount": 0.01, "memoryMB": 64,
        "shardingTotalCount": 3, "shardingItemParameters": "0=Beijing,1=Shanghai", "jobParameter": "all"
    });
    if let (Value::Object(fields), Value::Object(more)) = (&mut job, more) {
        fields.extend(more);
    }
    (app, Arc::new(CarriedJob::from_json(job).unwrap()))
}

/// A launch of these items of such a job.
fn launch(ground: &dyn Ground, name: &str, script: &str, items: &[ShardingItem]) -> Launch {
    launch_of(job(ground, name, script, json!({})), items)
}

fn launch_of((app, job): (Arc<App>, Arc<CarriedJob>), items: &[ShardingItem]) -> Launch {
    let id = LaunchId { job: job.job_name.clone(), fire: Fire::Scheduled(1_700_000_000_000) };
    let items = items.iter().map(|item| LaunchItem::new(*item, Some(7))).collect();
    Launch::new(id, items, app, job)
}

async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("not within {} s: {what}", DEADLINE.as_secs()),
    }
}

fn name(name: &str) -> JobName {
    JobName::new(name).unwrap()
}
