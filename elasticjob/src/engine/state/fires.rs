//! The fires of the job on one instance: from the calendar to the last item that is decided.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::calendar::Calendar;
use super::losses::Losses;
use super::open_fire::OpenFire;
use super::proposal::HandOver;
use super::reported::Reported;
use crate::fire::{Attempt, RunKey, Skip};
use crate::ident::{InstanceId, ShardingItem};

/// The fires that came here, and those that are expected. Their runs are apart, in [`Runs`](super::runs::Runs).
#[derive(Debug, Default)]
pub(in crate::engine) struct Fires {
    pub(in crate::engine) calendar: Calendar,
    /// Boxed, as most of the time there is none.
    pub(in crate::engine) open: Option<Box<OpenFire>>,
    /// The last scheduled fire while another fire is open: it stays due for items that come here. Or the manual trigger
    /// that took its place for a moment, while the scheduled fire is open again.
    pub(in crate::engine) standing: Option<Box<OpenFire>>,
    /// A begin of which it is not known whether it went through. Boxed, as most of the time there is none.
    pub(in crate::engine) unresolved: Option<Box<Unresolved>>,
    /// The latest scheduled fire that came while the outcome of a begin was unknown: it falls into the run of that begin,
    /// or is due where nothing was begun.
    pub(in crate::engine) undecided: Option<i64>,
    /// The earliest fire that came by a clock far ahead, and that the engine let go of: it comes again at its time.
    pub(in crate::engine) early: Option<i64>,
    /// Fires of which this instance said that its items do not run for them.
    pub(in crate::engine) reported: Reported,
    /// The latest scheduled fire that fell into a run, until it is known which items missed it.
    pub(in crate::engine) missed: Option<Missed>,
    /// The latest fire that single items missed, until the registry knows it or it is made up for.
    pub(in crate::engine) missed_items: BTreeMap<ShardingItem, i64>,
    /// Missed fires of disabled items that may have been decided against: the answer was lost.
    pub(in crate::engine) declined_unknown: Vec<(ShardingItem, i64)>,
    /// A trigger of an instance that is gone which may have been taken: the answer was lost. Boxed, as most of the time there is
    /// none.
    pub(in crate::engine) hand_over_unknown: Option<Box<HandOver>>,
    /// Instances whose trigger may have been deleted, as no instance is left for it: the answer was lost.
    pub(in crate::engine) dropped_unknown: Vec<InstanceId>,
    /// The latest missed fire, until another fire comes. Boxed, as most of the time there is none.
    pub(in crate::engine) noted: Option<Box<Noted>>,
    pub(in crate::engine) losses: Losses,
    /// The live instances at a watch gap during a run, until all nodes are listed again.
    pub(in crate::engine) instances_before_gap: Option<Vec<InstanceId>>,
    /// Scheduled fires that are over here.
    pub(in crate::engine) over: u64,
    /// For the status: the last skip, and the own items as this instance saw them last.
    pub(in crate::engine) last_skip: Option<Arc<Skip>>,
    pub(in crate::engine) own_items_seen: Vec<ShardingItem>,
}

/// A scheduled fire that fell into a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Missed {
    /// It was reported for all items of this instance.
    Whole(i64),
    /// It is the fire of the run itself, which came again: the items that were not begun with the run have missed it, and
    /// that is still to be reported.
    OfTheRun(i64),
}

impl Missed {
    /// The time of the fire.
    pub(in crate::engine) fn at(self) -> i64 {
        match self {
            Self::Whole(at) | Self::OfTheRun(at) => at,
        }
    }
}

/// A missed fire, and the own items it was noted for. An item that moves here later may have left its owner before the
/// owner came to the fire, so no instance noted it.
#[derive(Debug)]
pub(in crate::engine) struct Noted {
    /// The time of the fire.
    pub(in crate::engine) at: i64,
    pub(in crate::engine) items: BTreeSet<ShardingItem>,
    /// Earlier missed fires whose place it takes; each is reported once.
    pub(in crate::engine) collapsed: BTreeSet<i64>,
}

/// A begin that may have gone through, and was not started.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Unresolved {
    pub(in crate::engine) key: RunKey,
    pub(in crate::engine) attempt: Attempt,
    pub(in crate::engine) items: Vec<ShardingItem>,
}
