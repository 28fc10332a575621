//! Fires of the job before it that a decision on a later one passes over: each is decided with it, or named by a notice.

use std::collections::{BTreeMap, BTreeSet};

use super::{FAR, job_data};
use crate::config::wire;
use crate::engine::{DependencyRecord, Notice, ShardingData};
use crate::fire::Fire;
use crate::ident::JobName;
use crate::registry::layout::JobPath;
use crate::registry::tree::Tree;
use crate::testing::sim::{EPOCH, Millis};

/// What is known of the fires that were decided, and of those that were not.
#[derive(Debug, Default)]
pub(super) struct PassedOver {
    /// All that were decided.
    decided: BTreeSet<i64>,
    /// Up to this one, in milliseconds since 1970, each is decided, or was passed over.
    through: i64,
    /// Those that were passed over, and that no notice has named so far: when they were.
    unnamed: BTreeMap<i64, Millis>,
}

impl PassedOver {
    /// Whether something was decided on a fire.
    pub(super) fn is_decided(&self, at: i64) -> bool {
        self.decided.contains(&at)
    }

    /// An instance of the job after it says something.
    pub(super) fn hear(&mut self, notice: &Notice) {
        match notice {
            Notice::Skipped { fire: Fire::Scheduled(at), .. } => drop(self.unnamed.remove(at)),
            Notice::NotBegun { from, before, .. } => self.unnamed.retain(|at, _| !(*from..*before).contains(at)),
            _ => {}
        }
    }

    /// The leader of the job after it writes this; `made` says when its job was configured where no node was there before.
    pub(super) fn learn(
        &mut self,
        now: Millis,
        tree: &Tree,
        parent: &JobName,
        written: &DependencyRecord,
        made: Option<i64>,
    ) {
        if let Some(made) = made {
            *self = Self { through: made, ..Self::default() };
        }
        let open = written.open().map(|due| due.at);
        let all: BTreeSet<i64> = written.decided.iter().map(|fire| fire.at).chain(open).collect();
        // What a clock far ahead decided says nothing of the fires before it.
        let has_come = |at: &&i64| **at <= EPOCH + now as i64 + FAR;
        let new: Vec<i64> = all.iter().filter(has_come).filter(|at| **at > self.through).copied().collect();
        self.decided.extend(all);
        let Some(last) = new.last().copied() else { return };
        let passed = scheduled(tree, parent, self.through, last).into_iter().filter(|at| !self.decided.contains(at));
        self.unnamed.extend(passed.map(|at| (at, now)));
        self.through = last;
    }

    /// A fire that was passed over in this time, and of which no instance has said anything.
    pub(super) fn unnamed(&self, during: std::ops::Range<Millis>) -> Option<i64> {
        self.unnamed.iter().find(|(_, passed)| during.contains(passed)).map(|(at, _)| *at)
    }
}

/// The fires of the schedule of a job between two times, as far as it is noted since when it is followed.
fn scheduled(tree: &Tree, job: &JobName, after: i64, before: i64) -> Vec<i64> {
    let data = |path| job_data(tree, job, &path);
    let Some(configuration) = data(JobPath::Config).and_then(|data| wire::from_yaml(job, &data).ok()) else {
        return Vec::new();
    };
    let since = data(JobPath::Sharding).and_then(|data| ShardingData::parse(&data).since(&configuration));
    let (Some(since), Some(schedule)) = (since, configuration.schedule()) else { return Vec::new() };
    schedule.upcoming(after.max(since - 1)).take_while(|at| *at < before).collect()
}
