//! Counts what became of items of scheduled fires, and how many the checks look at.

use std::collections::BTreeMap;

/// Counts of items of scheduled fires.
#[derive(Debug, Clone, Default)]
pub struct Fates {
    /// All of them.
    pub item_fires: u64,
    /// Begun, by whichever instance: the other invariants look at these.
    pub begun: u64,
    /// Not begun, and an instance gave a reason that a user accepts.
    pub explained: u64,
    /// Neither begun nor explained, and nothing was demanded of the owner, by the name of the excuse: what became of them is
    /// not looked at.
    pub not_looked_at: BTreeMap<&'static str, u64>,
    /// Ends of items on which a job after theirs decided, by the name of the excuse: it is not looked at whether that job had
    /// to wait, or not to run.
    pub excused_ends: BTreeMap<&'static str, u64>,
}

impl Fates {
    pub(super) fn count(&mut self, fate: Fate) {
        self.item_fires += 1;
        match fate {
            Fate::Begun => self.begun += 1,
            Fate::Explained => self.explained += 1,
            Fate::Replaced => {}
            Fate::NotLookedAt(excuse) => *self.not_looked_at.entry(excuse).or_default() += 1,
        }
    }

    pub(in crate::testing) fn excuse_end(&mut self, excuse: &'static str, count: u64) {
        *self.excused_ends.entry(excuse).or_default() += count;
    }

    /// Adds those of another history.
    pub fn add(&mut self, other: &Self) {
        self.item_fires += other.item_fires;
        self.begun += other.begun;
        self.explained += other.explained;
        for (excuse, count) in &other.not_looked_at {
            *self.not_looked_at.entry(excuse).or_default() += count;
        }
        other.excused_ends.iter().for_each(|(excuse, count)| self.excuse_end(excuse, *count));
    }

    /// The percentage of the items of fires that are not looked at. Begun ones are looked at.
    pub fn not_looked_at_percent(&self) -> f64 {
        self.not_looked_at_of(self.item_fires)
    }

    /// The same of those that no instance began.
    pub fn not_looked_at_percent_of_not_begun(&self) -> f64 {
        self.not_looked_at_of(self.item_fires - self.begun)
    }

    fn not_looked_at_of(&self, all: u64) -> f64 {
        let count: u64 = self.not_looked_at.values().sum();
        (count as f64 / all.max(1) as f64 * 1_000.0).round() / 10.0
    }
}

/// What became of an item of a fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Some instance began it.
    Begun,
    /// An instance gave a reason that a user accepts.
    Explained,
    /// It had to be begun, and a later one was, by a clock that is ahead.
    Replaced,
    /// An excuse kept it from being looked at.
    NotLookedAt(&'static str),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_begun_or_explained_is_looked_at() {
        let mut fates = Fates::default();
        for fate in [Fate::Begun, Fate::Begun, Fate::Explained, Fate::Replaced, Fate::NotLookedAt("cut")] {
            fates.count(fate);
        }
        let mut total = fates.clone();
        total.add(&fates);
        assert_eq!((total.item_fires, total.begun, total.explained), (10, 4, 2));
        assert_eq!(total.not_looked_at, BTreeMap::from([("cut", 2)]));
        assert_eq!((total.not_looked_at_percent(), total.not_looked_at_percent_of_not_begun()), (20.0, 33.3));
    }
}
