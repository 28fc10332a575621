//! The instance that begins an item reports the fires before it that no instance began: every fire between the one that the
//! record covers and the one that begins was begun, decided against, or reported by an instance as not run.
//!
//! Java instances say nothing, so it is not looked at beside them; nor without monitoring, which keeps no record.

use std::collections::{BTreeMap, BTreeSet};

use super::duty::engine_of;
use super::{Observation, Scene};
use crate::engine::{Notice, ShardingData};
use crate::fire::{ExecutionSource, Fire, FireRecord, RunKey};
use crate::ident::ShardingItem;
use crate::registry::Transaction;
use crate::registry::layout::JobPath;
use crate::testing::sim::{EPOCH, Millis};

/// How long it takes until all instances go by other settings, in milliseconds.
const HEARD: i64 = 40_000;

#[derive(Debug)]
pub(super) struct UnbegunFiresReported {
    /// The items of each fire that were begun, decided for, or reported as not run.
    items: BTreeMap<i64, BTreeSet<ShardingItem>>,
    /// Fires of which it was said that a later one takes their place.
    collapsed: BTreeSet<i64>,
    /// The items of each host as its engine saw them last, before what it hears now.
    owned: BTreeMap<usize, BTreeSet<ShardingItem>>,
    /// Fires from before are not looked at: others were due, or have no record.
    from: i64,
}

impl Default for UnbegunFiresReported {
    fn default() -> Self {
        Self { items: BTreeMap::new(), collapsed: BTreeSet::new(), owned: BTreeMap::new(), from: EPOCH }
    }
}

impl UnbegunFiresReported {
    /// Other fires are due from now on, or the records of those before are gone.
    pub(super) fn start_over(&mut self, now: Millis) {
        self.from = EPOCH + now as i64 + HEARD;
    }

    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        match observation {
            Observation::Committing { host: Some(host), transaction, .. } => {
                self.check_begins(scene, *host, transaction)
            }
            Observation::Committed { transaction, .. } => {
                for (item, record) in scene.records(transaction) {
                    let begun = record.last.as_ref().filter(|begun| !begun.manual).map(|begun| begun.at);
                    for at in [begun, record.through, record.missed].into_iter().flatten() {
                        self.items.entry(at).or_default().insert(item);
                    }
                }
                Ok(())
            }
            Observation::Notice { host, notice } => {
                self.hear(scene, *host, notice);
                Ok(())
            }
            Observation::Attended { host } => {
                self.owned.insert(*host, seen_by(scene, *host).unwrap_or_default());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn hear(&mut self, scene: &Scene<'_>, host: usize, notice: &Notice) {
        match notice {
            Notice::Skipped { fire: Fire::Scheduled(at), items, .. } => {
                let whole = if items.is_empty() { self.owned_on(scene, host) } else { BTreeSet::new() };
                self.items.entry(*at).or_default().extend(items.iter().copied().chain(whole));
            }
            Notice::Begun { key: RunKey { fire: Fire::Scheduled(at), .. }, items, .. } => {
                self.items.entry(*at).or_default().extend(items);
            }
            Notice::NotBegun { items, from, before } => {
                for at in fires(scene, *from, *before) {
                    self.items.entry(at).or_default().extend(items);
                }
            }
            Notice::Missed { from, until } => {
                let owned = self.owned_on(scene, host);
                for at in fires(scene, *from, *until) {
                    self.items.entry(at).or_default().extend(&owned);
                }
            }
            Notice::Collapsed { earlier, .. } => {
                self.collapsed.insert(*earlier);
            }
            _ => {}
        }
    }

    /// The items that a host owns, or has taken for its own until now: it hears late that they are no longer.
    fn owned_on(&self, scene: &Scene<'_>, host: usize) -> BTreeSet<ShardingItem> {
        let id = scene.instance(host).map(|id| id.to_string());
        let of_tree = (0..scene.total).filter(|item| id.is_some() && scene.text(&JobPath::owner_of(*item)) == id);
        let seen = seen_by(scene, host).into_iter().chain(self.owned.get(&host).cloned()).flatten();
        of_tree.chain(seen).collect()
    }

    fn check_begins(&self, scene: &Scene<'_>, host: usize, transaction: &Transaction) -> Result<(), String> {
        if scene.is_mixed() || !scene.shape.monitored {
            return Ok(());
        }
        // An instance that has not heard of another schedule, or cannot use it, begins the fires of the one before.
        let engine = scene.hosts[host].process.as_ref().and_then(engine_of);
        let Some(configuration) = engine.and_then(|engine| engine.configuration()) else { return Ok(()) };
        if configuration.schedule().is_none_or(|schedule| schedule.cron().as_str() != scene.cron) {
            return Ok(());
        }
        // Where no leader has noted since when the schedule is followed, it is the last edit, whatever that edited.
        let noted = scene.data(&JobPath::Sharding).and_then(|data| ShardingData::parse(&data).since(configuration));
        let followed_since = noted.unwrap_or(i64::MIN);
        for (item, record) in scene.records(transaction) {
            let path = JobPath::fire(item);
            let Some((known, owner)) = scene.node(&path).zip(scene.node(&JobPath::owner_of(item))) else { continue };
            let before = FireRecord::parse(&known.data);
            let Some(begun) = record.last.as_ref().filter(|last| !last.manual && last.rerun().is_none()) else {
                continue;
            };
            let is_new = before.last.as_ref().map(|last| &last.attempt) != Some(&begun.attempt);
            let is_of_schedule = matches!(begun.source, ExecutionSource::NormalTrigger | ExecutionSource::Misfire);
            // What a clock far ahead began, and where an operator deleted the node of the owner, as Java leaders do, no record
            // says what was begun.
            let is_known = [&before, &record].iter().all(|record| record.ahead.is_none())
                && owner.stat.czxid <= known.stat.mzxid
                && begun.at <= EPOCH + scene.now as i64 + 1_000;
            if !is_new || !is_of_schedule || !is_known {
                continue;
            }
            let through = before
                .through
                .max(before.missed)
                .unwrap_or(i64::MIN)
                .max(known.stat.ctime)
                .max(self.from)
                .max(followed_since);
            let is_reported =
                |at: &i64| self.collapsed.contains(at) || self.items.get(at).is_some_and(|items| items.contains(&item));
            if let Some(at) = fires(scene, through + 1, begun.at).find(|at| !is_reported(at)) {
                return Err(format!(
                    "host {host} begins item {item} of the fire at {}, and no instance reported that the one at {at} ({}) was not begun",
                    begun.at - EPOCH,
                    at - EPOCH,
                ));
            }
        }
        Ok(())
    }
}

/// The fires from one time on, and before another. Periods divide a minute, so fires are at their multiples.
fn fires(scene: &Scene<'_>, from: i64, before: i64) -> impl Iterator<Item = i64> + use<> {
    let period = i64::from(scene.period) * 1_000;
    let first = from.div_euclid(period) * period;
    let first = if first < from { first + period } else { first };
    (first..before).step_by(period as usize)
}

/// The items that the engine of a host saw last as its own.
fn seen_by(scene: &Scene<'_>, host: usize) -> Option<BTreeSet<ShardingItem>> {
    let engine = scene.hosts[host].process.as_ref().and_then(engine_of)?;
    Some(engine.status().items.iter().copied().collect())
}
