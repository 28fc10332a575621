//! Where the items of a job are: with a process, or waiting for one, and for what.
//!
//! The record of an item says that its run goes on, and not whether its process has begun. So the carrier is asked, and where it does
//! not have the item, the scheduler that launches it: this one knows itself, another one notes what waits for long.

use std::collections::BTreeMap;
use std::time::Duration;

use elasticjob::fire::{Begun, Fire, FireRecord, FireState};
use elasticjob::ident::ShardingItem;
use elasticjob::operations::{JobSnapshot, OperationError};

use super::Scheduler;
use crate::carrier::{DaemonProcess, ItemState, ItemStates, LaunchId, LostPlace};
use crate::model::{CarriedJob, ExecutionType};

/// An item whose run goes on, or a process of a `DAEMON` job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ItemTask {
    /// Its process has not begun, or is halted.
    Waiting {
        why: String,
        /// Since when, in milliseconds since 1970.
        since: Option<i64>,
        /// The attempt that waits; `None` where it is not known.
        attempt: Option<u32>,
        /// The place that it lost last.
        lost: Option<LostPlace>,
        /// The place of its process, where that is halted.
        halted: Option<String>,
    },
    /// Its process runs, as far as is known.
    Running {
        place: String,
        /// Since when, in milliseconds since 1970.
        since: Option<i64>,
        /// `None` where only another scheduler knows.
        attempt: Option<u32>,
        /// The place that it lost last.
        lost: Option<LostPlace>,
        /// Whether its run is over for the job, and its process has its grace or could not be stopped so far.
        stopping: bool,
    },
}

/// How long after the end of a run, and the grace of its job, its process is looked for.
const STOPS_WITHIN: Duration = Duration::from_secs(60);

impl ItemTask {
    /// The place that an item has lost which waits for another one, and the attempt that waits. One that is halted has another one.
    pub(crate) fn lost_place(&self) -> Option<(&LostPlace, Option<u32>)> {
        match self {
            Self::Waiting { lost: Some(lost), attempt, halted: None, .. } => Some((lost, *attempt)),
            _ => None,
        }
    }
}

/// A job as it is now.
pub(crate) struct JobTasks {
    /// `None` for a job that was never scheduled, and for `DAEMON` jobs.
    pub(crate) snapshot: Option<JobSnapshot>,
    /// The items whose run goes on, each with where it is; of a `DAEMON` job the processes.
    pub(crate) items: BTreeMap<ShardingItem, ItemTask>,
    /// Why the carrier does not know them: then items are shown as their records are.
    pub(crate) unread: Option<String>,
}

impl Scheduler {
    /// Where the items of a job are now.
    ///
    /// # Errors
    /// [`OperationError`] when the registry center did not tell which items run.
    pub(crate) async fn tasks(&self, job: &CarriedJob) -> Result<JobTasks, OperationError> {
        if job.job_execution_type == ExecutionType::Daemon {
            let kept = self.carrier.kept(&job.job_name).await;
            let unread = kept.as_ref().err().map(ToString::to_string);
            let processes = kept.into_iter().flatten();
            let of_process = |process: DaemonProcess| {
                Some((process.index, of_state(&process.state, None, process.restarts.saturating_add(1))?))
            };
            let items = processes.filter_map(of_process);
            return Ok(JobTasks { snapshot: None, items: items.collect(), unread });
        }
        let snapshot = match self.operations().snapshot(&job.job_name).await {
            // It has not joined its group so far.
            Err(OperationError::NoSuchJob { .. }) => {
                return Ok(JobTasks { snapshot: None, items: BTreeMap::new(), unread: None });
            }
            snapshot => snapshot?,
        };
        let mut runs: BTreeMap<Fire, Vec<ShardingItem>> = BTreeMap::new();
        let stopped_since = (chrono::Utc::now() - job.grace() - STOPS_WITHIN).timestamp_millis();
        for (item, nodes) in &snapshot.items {
            let is_meant = nodes.record.running().is_some() || was_stopped(&nodes.record, stopped_since);
            if let Some(fire) = nodes.record.last_fire().filter(|_| is_meant) {
                runs.entry(fire).or_default().push(*item);
            }
        }
        let (mut items, mut unread, mut is_only_here) = (BTreeMap::new(), None, None);
        for (fire, of_fire) in runs {
            let id = LaunchId { job: job.job_name.clone(), fire };
            let here = self.launches.waiting(&id);
            let at_carrier = match self.carrier.states(&id).await {
                Ok(known) => Some(known.unwrap_or_default()),
                Err(error) => {
                    unread = Some(error.to_string());
                    None
                }
            };
            for item in of_fire {
                let Some(begun) = snapshot.items[&item].record.running() else {
                    let state = at_carrier.as_ref().and_then(|states| states.get(&item));
                    items.extend(state.and_then(still_running).map(|task| (item, task)));
                    continue;
                };
                let known = Known { at_carrier: at_carrier.as_ref(), here: &here, since: self.waits.since(&id, item) };
                let noted = || noted(&snapshot, begun, item);
                let task = match known.task(item, begun).or_else(noted) {
                    Some(task) => task,
                    // Other places may have it, unless there are none: then nobody has begun it.
                    None if at_carrier.is_some() => {
                        let is_only_here = match is_only_here {
                            Some(known) => known,
                            None => *is_only_here.insert(self.launches.is_only_here(&job.job_name).await),
                        };
                        if is_only_here { not_taken(&self.carrier.place(), begun) } else { elsewhere(begun) }
                    }
                    None => elsewhere(begun),
                };
                items.insert(item, task);
            }
        }
        Ok(JobTasks { snapshot: Some(snapshot), items, unread })
    }
}

/// What is known of an item here.
struct Known<'a> {
    /// The states of its launch at the carrier. `None` where the carrier did not answer.
    at_carrier: Option<&'a ItemStates>,
    /// What waits in this scheduler.
    here: &'a ItemStates,
    /// Since when this scheduler sees it wait.
    since: Option<i64>,
}

impl Known<'_> {
    fn task(&self, item: ShardingItem, begun: &Begun) -> Option<ItemTask> {
        let since = self.since.or(begun.began);
        match self.at_carrier.and_then(|states| states.get(&item)) {
            Some(ItemState::LetGo) if !self.here.contains_key(&item) => {
                let why = "its scheduler let go of it before its process began: the one that takes it over launches it";
                Some(ItemTask::Waiting { why: why.to_owned(), since, attempt: None, lost: None, halted: None })
            }
            Some(state @ (ItemState::Waiting { .. } | ItemState::Running { .. })) => of_state(state, since, 1),
            // Its record follows.
            Some(ItemState::Ended { .. }) => Some(elsewhere(begun)),
            Some(ItemState::LetGo) | None => of_state(self.here.get(&item)?, since, 1),
        }
    }
}

/// What a state says; `None` of an item that neither waits nor runs. `attempt` is the one that waits where no place was lost.
fn of_state(state: &ItemState, since: Option<i64>, attempt: u32) -> Option<ItemTask> {
    match state {
        ItemState::Waiting { why, lost, halted } => Some(ItemTask::Waiting {
            why: why.clone(),
            since,
            attempt: Some(lost.as_ref().map_or(attempt, |lost| lost.attempt.saturating_add(1))),
            lost: lost.clone(),
            halted: halted.clone(),
        }),
        ItemState::Running { place, since, attempt, lost } => Some(ItemTask::Running {
            place: place.clone(),
            since: (*since > 0).then_some(*since),
            attempt: Some(*attempt),
            lost: lost.clone(),
            stopping: false,
        }),
        ItemState::LetGo | ItemState::Ended { .. } => None,
    }
}

/// What another scheduler notes of an item that waits there.
fn noted(snapshot: &JobSnapshot, begun: &Begun, item: ShardingItem) -> Option<ItemTask> {
    let is_of = |at: i64, manual: bool| (at, manual) == (begun.at, begun.manual);
    let wait = snapshot.waits.iter().find(|wait| is_of(wait.at, wait.manual) && wait.items.contains(&item))?;
    Some(ItemTask::Waiting { why: wait.why.clone(), since: Some(wait.since), attempt: None, lost: None, halted: None })
}

/// Another scheduler has it, with a carrier of its own.
fn elsewhere(begun: &Begun) -> ItemTask {
    let place = begun.instance.to_string();
    ItemTask::Running { place, since: begun.began, attempt: None, lost: None, stopping: false }
}

/// Whether the run that began last did not end well, and ended after a time in milliseconds since 1970: it may have been stopped.
fn was_stopped(record: &FireRecord, since: i64) -> bool {
    let is_such = |last: &Begun| matches!(last.state, FireState::Failed | FireState::Cancelled);
    record.last.as_ref().is_some_and(|last| is_such(last) && last.ended.or(last.began).is_some_and(|at| at >= since))
}

/// The process of an item whose run is over for the job.
fn still_running(state: &ItemState) -> Option<ItemTask> {
    match of_state(state, None, 1)? {
        ItemTask::Running { place, since, attempt, lost, .. } => {
            Some(ItemTask::Running { place, since, attempt, lost, stopping: true })
        }
        // Its process never began, so nothing of it can be in the way.
        ItemTask::Waiting { .. } => None,
    }
}

fn not_taken(place: &str, begun: &Begun) -> ItemTask {
    let why = format!("{place} does not have it so far: its scheduler launches it, or the one that takes it over");
    ItemTask::Waiting { why, since: begun.began, attempt: None, lost: None, halted: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun() -> Begun {
        let begun = serde_json::json!({ "at": 5_000, "instance": "10.0.0.1@-@7", "attempt": "2a-00000007.3", "began": 6_000,
                                        "state": "RUNNING" });
        serde_json::from_value(begun).unwrap()
    }

    fn waiting(why: &str, since: i64) -> Option<ItemTask> {
        Some(ItemTask::Waiting { why: why.to_owned(), since: Some(since), attempt: Some(1), lost: None, halted: None })
    }

    #[test]
    fn an_item_that_is_halted_has_a_place_again_and_keeps_its_attempt() {
        let lost = LostPlace::new(1, None, "its node failed");
        let of = |state: ItemState| of_state(&state.after(Some(lost.clone())), None, 1).unwrap();
        assert_eq!(of(ItemState::waiting("no node is free")).lost_place(), Some((&lost, Some(2))));
        let halted = of(ItemState::halted("n1", "it is halted"));
        assert_eq!(halted.lost_place(), None);
        assert!(matches!(halted, ItemTask::Waiting { attempt: Some(2), .. }), "{halted:?}");
        assert_eq!(of(ItemState::running("n1", 9_000)).lost_place(), None);
    }

    #[test]
    fn the_carrier_says_where_an_item_is_and_this_scheduler_where_the_carrier_does_not_have_it() {
        let begun = begun();
        let lost = LostPlace::new(1, None, "evicted");
        let runs = ItemState::running("n1", 9_000).after(Some(lost.clone()));
        let here = ItemStates::from([(0, ItemState::waiting("no engine"))]);
        let of = |at_carrier: Option<ItemState>, here: &ItemStates, since: Option<i64>| {
            let at_carrier = at_carrier.map(|state| (0, state)).into_iter().collect();
            Known { at_carrier: Some(&at_carrier), here, since }.task(0, &begun)
        };
        let (place, since) = ("n1".to_owned(), Some(9_000));
        let running = ItemTask::Running { place, since, attempt: Some(2), lost: Some(lost), stopping: false };
        assert_eq!(of(Some(runs), &here, None), Some(running));
        let no_begin = of(Some(ItemState::running("n1", 0)), &here, None);
        assert!(matches!(no_begin, Some(ItemTask::Running { since: None, .. })), "{no_begin:?}");
        assert_eq!(of(Some(ItemState::waiting("no room")), &here, None), waiting("no room", 6_000));
        // This scheduler knows better since when: after a lost place it waits again.
        assert_eq!(of(Some(ItemState::waiting("no room")), &here, Some(8_000)), waiting("no room", 8_000));
        assert_eq!(of(None, &here, None), waiting("no engine", 6_000));
        assert_eq!(of(Some(ItemState::LetGo), &here, None), waiting("no engine", 6_000));
        let let_go = of(Some(ItemState::LetGo), &ItemStates::new(), None);
        assert!(matches!(let_go, Some(ItemTask::Waiting { why, .. }) if why.contains("takes it over")));
        assert_eq!(of(None, &ItemStates::new(), None), None);
        // Where the carrier does not answer, this scheduler still knows what it has not launched.
        let unread = Known { at_carrier: None, here: &here, since: None };
        assert_eq!(unread.task(0, &begun), waiting("no engine", 6_000));
    }
}
