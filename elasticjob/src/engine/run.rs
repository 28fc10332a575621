//! A fire on its way through one instance: open, then running.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use litemap::LiteMap;

use super::event::ItemEnd;
use super::fire::{Attempt, Fire};
use crate::ident::ShardingItem;

/// How long a fire waits for the assignment of its items before it goes on with what is there.
pub(super) const SHARDING_WAIT: Duration = Duration::from_secs(5);

/// How long after its time a fire still begins items that this instance acquires.
pub(super) const LATE_ACQUISITION: Duration = Duration::from_secs(10);

/// How long an item that ended waits for others of the same run, to share the transaction that finishes it.
pub(super) const FINISH_TOGETHER: Duration = Duration::from_millis(800);

/// How often the begin of a fire is tried when the registry refuses it.
pub(super) const BEGIN_TRIES: u32 = 5;

/// A fire that is due: its items begin when they may.
#[derive(Debug)]
pub(super) struct OpenFire {
    pub(super) fire: Fire,
    /// Until then it waits for the leader to assign items.
    pub(super) hold_until: Duration,
    /// Until then it begins items that this instance acquires.
    pub(super) closes_at: Duration,
    /// A begin of an earlier session that was never started: it may be begun anew.
    pub(super) abandoned: Option<Attempt>,
    /// Items decided against, said once.
    pub(super) dropped: BTreeSet<ShardingItem>,
    /// Items begun.
    pub(super) begun: BTreeSet<ShardingItem>,
    /// How often each item was refused.
    pub(super) refusals: BTreeMap<ShardingItem, u32>,
    /// Whether the first look at its items was taken.
    pub(super) looked: bool,
}

impl OpenFire {
    pub(super) fn new(fire: Fire, now: Duration) -> Self {
        Self {
            fire,
            hold_until: now + SHARDING_WAIT,
            closes_at: now + LATE_ACQUISITION,
            abandoned: None,
            dropped: BTreeSet::new(),
            begun: BTreeSet::new(),
            refusals: BTreeMap::new(),
            looked: false,
        }
    }
}

/// The run of a fire: its items that began here.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) fire: Fire,
    /// Mostly few, so they are sorted in a vector without room for more: all jobs of a process may run at the same moment.
    pub(super) items: LiteMap<ShardingItem, ItemRun>,
    /// How the items ended that are finished already.
    pub(super) finished: Vec<(ShardingItem, super::fire::FireState)>,
    /// The latest scheduled fire that fell into this run and was skipped.
    pub(super) skipped: Option<i64>,
}

/// The run of one item.
#[derive(Debug)]
pub(super) struct ItemRun {
    /// Set when execution is monitored.
    pub(super) attempt: Option<Attempt>,
    pub(super) stage: Stage,
}

/// Where the run of an item stands.
#[derive(Debug)]
pub(super) enum Stage {
    /// Its future lives.
    Executing,
    /// Its token was fired; its future is dropped then.
    Cancelled { abort_at: Duration },
    /// Its future was told to go, and will at its next await.
    Aborted,
    /// Its future is gone; the end is still to be written.
    Ended { at: Duration, end: ItemEnd },
}

impl Run {
    pub(super) fn new(fire: Fire) -> Self {
        Self { fire, items: LiteMap::with_capacity(1), finished: Vec::new(), skipped: None }
    }

    /// The items whose futures live.
    pub(super) fn executing(&self) -> impl Iterator<Item = ShardingItem> {
        self.items.iter().filter(|(_, run)| !matches!(run.stage, Stage::Ended { .. })).map(|(item, _)| *item)
    }

    /// When the ends have to be written: at once when nothing executes any more, else soon after the first.
    pub(super) fn finish_at(&self) -> Option<Duration> {
        let first = self.items.values().filter_map(|run| match run.stage {
            Stage::Ended { at, .. } => Some(at),
            _ => None,
        });
        let first = first.min()?;
        Some(if self.executing().next().is_none() { first } else { first + FINISH_TOGETHER })
    }
}
