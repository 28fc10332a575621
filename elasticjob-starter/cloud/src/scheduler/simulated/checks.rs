//! Compares what was recorded in a history with the truth.

use std::collections::BTreeMap;
use std::time::Duration;

use elasticjob::api::JobResult;
use elasticjob::fire::Fire;
use elasticjob::ident::ShardingItem;

use super::carrier::{Modelled, REFUSED};
use super::engine::{Engine, Life};
use super::history::{History, Holder};
use crate::carrier::{LaunchId, Outcome};

/// The longest time between a question to the engine and the record of what came of it.
const ON_ITS_WAY: Duration = Duration::from_secs(1);

/// How much later than that a launch may arrive that was sent before: its scheduler stood still, and it was on its way.
const LATEST: Duration = Duration::from_secs(61);

/// What was looked at.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    /// The items of all fires.
    pub(super) items: u32,
    /// Those that count as lost although their engine lost none: a scheduler was gone while its request was on its way. On hosts of
    /// their own no scheduler can know.
    pub(super) never_arrived: u32,
    /// Those that ran beside the next fire, as their launch arrived when they were cancelled.
    pub(super) arrived_late: u32,
    /// Those that an operator cancelled.
    pub(super) cancelled: u32,
    /// Those that failed as the engine refused them. One that was on its way then may have arrived later.
    pub(super) refused: u32,
    /// The launches that the engine was told to forget.
    pub(super) forgotten: usize,
}

impl History {
    /// Where each scheduler has an engine of its own, another one may start what it let go of: it begins no more there.
    fn check_let_go(&self) -> Result<(), String> {
        if self.is_shared {
            return Ok(());
        }
        for ((scheduler, at, item), when) in self.let_go.lock().unwrap().iter() {
            let engine = usize::try_from(*scheduler - 1).ok().and_then(|at| self.engines.get(at)).unwrap();
            let begun = engine.lives().into_iter().find(|(id, of, life)| {
                id.fire.at() == *at && of == item && life.last_begin.is_some_and(|begin| begin > *when)
            });
            if let Some((id, _, life)) = begun {
                return Err(format!(
                    "item {item} of {id} began at the scheduler {scheduler}, which had let go of it at {when:?}: {life:?}"
                ));
            }
        }
        Ok(())
    }

    pub(super) fn check(&self) -> Result<Counts, String> {
        let mut counts = Counts::default();
        self.check_let_go()?;
        for (forgotten, killed) in self.engines.iter().map(Engine::forgotten) {
            counts.forgotten += forgotten;
            if let Some((id, item)) = killed.first() {
                return Err(format!("item {item} of {id} was forgotten while it ran"));
            }
        }
        for overlap in self.engines.iter().flat_map(Engine::overlaps) {
            let cancelled = self.recorded.get(&(overlap.fires.0, overlap.item));
            let ended = cancelled.map(|(when, _)| when).or_else(|| self.abandoned.get(&overlap.fires.0));
            // Its launch was on its way when it was cancelled, and arrived after the stop: another scheduler cannot know. Nor can one
            // whose registry center was lost.
            let is_late = ended.is_some_and(|when| overlap.accepted + ON_ITS_WAY > *when);
            let schedulers = |fire| self.holders.get(&(fire, overlap.item)).into_iter().flat_map(BTreeMap::keys);
            let is_of_same = schedulers(overlap.fires.0).eq(schedulers(overlap.fires.1));
            let is_known = self.may_be_known(overlap.fires.0, overlap.item).is_some_and(Modelled::is_alive);
            if is_late && !(is_of_same && is_known) {
                counts.arrived_late += 1;
            } else {
                return Err(format!("two fires at a time: {overlap:?}, the earlier one recorded as {cancelled:?}"));
            }
        }
        for ((at, item), (when, recorded)) in &self.recorded {
            counts.items += 1;
            let lives: Vec<Life> =
                self.lives(*at).into_iter().filter(|(of, _)| of == item).map(|(_, life)| life).collect();
            let what = || format!("item {item} of the fire {at}, recorded as {recorded:?} at {when:?}: {lives:?}");
            let (begun, lost) = lives.iter().fold((0, 0), |(begun, lost), life| (begun + life.begun, lost + life.lost));
            let may_begin = match (self.registered.job.failover, self.is_shared) {
                (false, _) => 1,
                (true, true) => 1 + lost,
                // With failover a place that is not reached any more is a lost one, as far as can be known.
                (true, false) => u32::MAX,
            };
            if begun > may_begin {
                return Err(format!("begun {begun} times: {}", what()));
            }
            // What an operator cancelled may go on for its grace period, and may have ended a moment before.
            if is_cancelled(recorded) {
                counts.cancelled += 1;
            } else if was_refused(recorded) && lives.iter().all(|life| life.accepted + ON_ITS_WAY > *when) {
                counts.refused += 1;
            } else if self.is_shared && self.never_arrived(*when, recorded, &lives) {
                if self.is_known_not_to_arrive(*at, *item) {
                    return Err(format!("lost, though its schedulers know that it never arrived: {}", what()));
                }
                counts.never_arrived += 1;
            } else if self.is_shared {
                self.is_told(recorded, &lives).map_err(|why| format!("{why}: {}", what()))?;
            } else if recorded.is_ok() && !lives.iter().any(|life| life.state.outcome() == Some(&Outcome::Succeeded)) {
                return Err(format!("recorded as succeeded, and no process did: {}", what()));
            }
        }
        Ok(counts)
    }

    /// Whether an item is lost as the engine did not know it when it was asked, although a scheduler had noted its launch. It may
    /// have arrived later.
    fn never_arrived(&self, when: Duration, recorded: &JobResult, lives: &[Life]) -> bool {
        let is_unknown =
            recorded.as_ref().is_err_and(|error| error.to_string().contains("does not know it; with `failover`"));
        let is_late = |life: &Life| life.accepted + ON_ITS_WAY > when && life.accepted < when + LATEST;
        is_unknown && !self.registered.job.failover && lives.iter().all(is_late)
    }

    /// The carrier of the one scheduler that had the item all the time, where it heard of each request to launch it whether it arrived.
    fn may_be_known(&self, at: i64, item: ShardingItem) -> Option<&Modelled> {
        let holders: Vec<&Holder> = self.holders.get(&(at, item))?.values().collect();
        match holders[..] {
            [only] if only.carrier.knows_of(&self.launch(at)) => Some(&only.carrier),
            _ => None,
        }
    }

    /// Whether each scheduler that had the item heard of all of its requests to launch it whether they arrived, and before the next
    /// scheduler had the item: then it could say so.
    fn is_known_not_to_arrive(&self, at: i64, item: ShardingItem) -> bool {
        let id = self.launch(at);
        let holders: Vec<&Holder> = self.holders.get(&(at, item)).into_iter().flat_map(BTreeMap::values).collect();
        let is_told = |pair: &[&Holder]| !pair[0].carrier.is_on_its_way_since(&id, pair[1].since);
        let is_known = |holder: &&Holder| holder.carrier.knows_of(&id) && !holder.carrier.has_refused(&id);
        holders.iter().all(is_known) && holders.windows(2).all(is_told)
    }

    fn launch(&self, at: i64) -> LaunchId {
        LaunchId { job: self.registered.job.job_name.clone(), fire: Fire::Scheduled(at) }
    }

    /// Whether what was recorded is what the engine knows.
    fn is_told(&self, recorded: &JobResult, lives: &[Life]) -> Result<(), String> {
        let [life] = lives else { return Err(format!("it was launched {} times", lives.len())) };
        let Some(outcome) = life.state.outcome() else { return Err("it has not ended".to_owned()) };
        let told = match recorded {
            Ok(()) => Outcome::Succeeded.to_string(),
            Err(error) => error.to_string(),
        };
        if told == outcome.to_string() { Ok(()) } else { Err(format!("the engine says '{outcome}'")) }
    }
}

fn was_refused(recorded: &JobResult) -> bool {
    recorded.as_ref().is_err_and(|error| error.to_string().contains(REFUSED))
}

fn is_cancelled(recorded: &JobResult) -> bool {
    recorded.as_ref().is_err_and(|error| error.to_string().starts_with("it was stopped: "))
}
