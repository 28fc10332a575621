//! A fire that is due on one instance: its items begin when they may.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::fire::{Attempt, ExecutionSource, Fire, LateCause, RunKey};
use crate::ident::ShardingItem;

/// How long fires and triggers wait for the assignment of the items before they go on with what is there. After a change of the group
/// it takes some milliseconds.
pub(crate) const SHARDING_WAIT: Duration = Duration::from_secs(5);

/// How long after its time a fire still begins items that this instance acquires, where no other limit applies: no
/// records are kept, the fire was triggered by hand or is made up for, or `misfire` is off.
pub(in crate::engine) const LATE_ACQUISITION: Duration = Duration::from_secs(10);

/// How often the begin of a fire is tried when the registry refuses it.
pub(in crate::engine) const BEGIN_TRIES: u32 = 5;

/// A fire that is due: its items begin when they may.
#[derive(Debug)]
pub(in crate::engine) struct OpenFire {
    /// The run that it will be, with [`ExecutionSource::Misfire`] when the fire is made up for.
    pub(in crate::engine) key: RunKey,
    /// When it came here.
    pub(in crate::engine) since: Duration,
    /// Until then it waits for the leader to assign items.
    pub(in crate::engine) hold_until: Duration,
    /// Until then it begins items that this instance acquires; `None`: until the next fire.
    pub(in crate::engine) closes_at: Option<Duration>,
    /// The time for that is over: items that come here are given up, and this instance, their new owner, reports it.
    pub(in crate::engine) is_over: bool,
    /// It was due before this instance began to join: items that other instances have begun are not reported.
    pub(in crate::engine) looks_back: bool,
    /// Items of the own server, which was disabled when the fire was looked at first: they wait for the next fire.
    pub(in crate::engine) declined: BTreeSet<ShardingItem>,
    /// Why it begins late, if it does.
    pub(in crate::engine) why_late: LateCause,
    /// A begin of an earlier session that was never started: its items may be begun again.
    pub(in crate::engine) abandoned: Option<Attempt>,
    /// Missed fires that are not made up for by themselves, as this one takes their place; each is reported once.
    pub(in crate::engine) takes_place_of: BTreeSet<i64>,
    /// Items decided against; each is reported once.
    pub(in crate::engine) dropped: BTreeSet<ShardingItem>,
    /// The items among them whose records have to say so: no instance shall begin them later.
    pub(in crate::engine) refused: BTreeSet<ShardingItem>,
    /// Items that were reported as left to an instance that has ended, by static sharding.
    pub(in crate::engine) of_the_gone: BTreeSet<ShardingItem>,
    /// Items that were reported as without an owner.
    pub(in crate::engine) unowned: BTreeSet<ShardingItem>,
    /// Items of a manual trigger whose begin leaves no record, where the answer to it was lost: they may move before it is tried again.
    pub(in crate::engine) tried: BTreeSet<ShardingItem>,
    /// Items begun.
    pub(in crate::engine) begun: BTreeSet<ShardingItem>,
    /// Some of its items were begun just now, and the rule that begins the others has not been asked since.
    pub(in crate::engine) rest_follows: bool,
    /// How often each item was refused.
    pub(in crate::engine) refusals: BTreeMap<ShardingItem, u32>,
    /// Whether the first look at its items was taken.
    pub(in crate::engine) looked: bool,
}

impl OpenFire {
    pub(in crate::engine) fn new(fire: Fire, source: ExecutionSource, now: Duration) -> Self {
        Self {
            key: RunKey::new(fire, source),
            since: now,
            hold_until: now + SHARDING_WAIT,
            closes_at: Some(now + LATE_ACQUISITION),
            is_over: false,
            looks_back: false,
            declined: BTreeSet::new(),
            why_late: LateCause::Waited,
            abandoned: None,
            takes_place_of: BTreeSet::new(),
            dropped: BTreeSet::new(),
            refused: BTreeSet::new(),
            of_the_gone: BTreeSet::new(),
            unowned: BTreeSet::new(),
            tried: BTreeSet::new(),
            begun: BTreeSet::new(),
            rest_follows: false,
            refusals: BTreeMap::new(),
            looked: false,
        }
    }

    /// Whether it came by the schedule and is not made up for.
    pub(in crate::engine) fn is_regular(&self) -> bool {
        matches!(self.key.fire, Fire::Scheduled(_)) && self.key.source == ExecutionSource::NormalTrigger
    }
}
