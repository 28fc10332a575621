//! The counts of a simulation.

use std::collections::BTreeMap;

use super::{Micros, SECOND};

/// The load of a second, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Load {
    /// Requests that write. Transactions of several jobs of a process share one.
    pub writes: u64,
    /// Transactions of jobs in them.
    pub transactions: u64,
    /// Operations in them.
    pub operations: u64,
    /// Reads, lists and new watches.
    pub reads: u64,
    /// Notifications of watches.
    pub notifications: u64,
}

impl Load {
    /// All requests.
    pub fn requests(&self) -> u64 {
        self.writes + self.reads
    }

    fn map(self, map: impl Fn(u64) -> u64) -> Self {
        Self {
            writes: map(self.writes),
            transactions: map(self.transactions),
            operations: map(self.operations),
            reads: map(self.reads),
            notifications: map(self.notifications),
        }
    }

    /// The sum of several.
    pub(super) fn sum<'a>(loads: impl Iterator<Item = &'a Self>) -> Self {
        loads.fold(Self::default(), |sum, load| Self {
            writes: sum.writes + load.writes,
            transactions: sum.transactions + load.transactions,
            operations: sum.operations + load.operations,
            reads: sum.reads + load.reads,
            notifications: sum.notifications + load.notifications,
        })
    }

    /// The largest of each.
    fn largest<'a>(loads: impl Iterator<Item = &'a Self>) -> Self {
        loads.fold(Self::default(), |most, load| Self {
            writes: most.writes.max(load.writes),
            transactions: most.transactions.max(load.transactions),
            operations: most.operations.max(load.operations),
            reads: most.reads.max(load.reads),
            notifications: most.notifications.max(load.notifications),
        })
    }
}

/// The delay of runs after their fire, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Lateness {
    /// Items of fires that were due.
    pub due: u64,
    /// Those that began.
    pub begun: u64,
    /// Half of them began not later than this.
    pub p50: f64,
    /// 99 % of them.
    pub p99: f64,
    /// All of them.
    pub max: f64,
}

impl Lateness {
    pub(super) fn of(due: u64, mut late: Vec<Micros>) -> Self {
        late.sort_unstable();
        let at = |share: f64| {
            let place = (share * late.len() as f64).ceil() as usize;
            late.get(place.max(1) - 1).map_or(0.0, |late| *late as f64 / 1_000.0)
        };
        Self { due, begun: late.len() as u64, p50: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}

/// What was counted so far.
#[derive(Debug, Default)]
pub(super) struct Counts {
    seconds: Vec<Load>,
    /// How late each run of an item began, with the time of its fire.
    late: Vec<(Micros, Micros)>,
    /// Notices of the engines that say that something is late or not done, by name.
    pub(super) notices: BTreeMap<&'static str, u64>,
}

impl Counts {
    /// The counts of the second of this time.
    pub(super) fn at(&mut self, now: Micros) -> &mut Load {
        let second = (now / SECOND) as usize;
        if self.seconds.len() <= second {
            self.seconds.resize(second + 1, Load::default());
        }
        &mut self.seconds[second]
    }

    pub(super) fn begun(&mut self, fire: Micros, now: Micros) {
        self.late.push((fire, now.saturating_sub(fire)));
    }

    pub(super) fn note(&mut self, name: &'static str) {
        *self.notices.entry(name).or_default() += 1;
    }

    fn between(&self, from: Micros, until: Micros) -> impl Iterator<Item = &Load> {
        let (from, until) = ((from / SECOND) as usize, (until / SECOND) as usize);
        self.seconds.iter().take(until).skip(from)
    }

    /// All that happened from one full second to another.
    pub(super) fn sum(&self, from: Micros, until: Micros) -> Load {
        Load::sum(self.between(from, until))
    }

    /// The mean of a second, of a deployment of so many slices.
    pub(super) fn mean(&self, from: Micros, until: Micros, slices: u64) -> Load {
        let seconds = ((until - from) / SECOND).max(1);
        self.sum(from, until).map(|count| (count * slices + seconds / 2) / seconds)
    }

    /// The worst second for each count, of a deployment of so many slices.
    pub(super) fn worst(&self, from: Micros, until: Micros, slices: u64) -> Load {
        Load::largest(self.between(from, until)).map(|count| count * slices)
    }

    /// How late the fires of a window were.
    pub(super) fn lateness(&self, from: Micros, until: Micros, due: u64) -> Lateness {
        let late = self.late.iter().filter(|(fire, _)| (from..until).contains(fire)).map(|(_, late)| *late);
        Lateness::of(due, late.collect())
    }
}
