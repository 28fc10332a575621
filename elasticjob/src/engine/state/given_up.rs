//! Fires that this instance gave up and reported: the next begin does not report them again.

use std::collections::BTreeMap;

use crate::ident::ShardingItem;

/// For each item the last fires in a row that were given up here: the first and the last of them.
#[derive(Debug, Default)]
pub(in crate::engine) struct GivenUp(BTreeMap<ShardingItem, (i64, i64)>);

impl GivenUp {
    /// Notes that a fire of an item is given up and reported.
    pub(in crate::engine) fn note(&mut self, item: ShardingItem, at: i64, next_after: impl FnOnce(i64) -> Option<i64>) {
        let said = self.0.entry(item).or_insert((at, at));
        *said = if next_after(said.1) == Some(at) { (said.0, at) } else { (at, at) };
    }

    /// Notes that all fires of an item from one on, and before another, are reported.
    pub(in crate::engine) fn note_before(&mut self, item: ShardingItem, from: i64, before: i64) {
        self.0.insert(item, (from, before - 1));
    }

    /// The first fire of an item, from this one on, that was not reported as given up.
    pub(in crate::engine) fn first_unsaid(
        &self,
        item: ShardingItem,
        at: i64,
        next_after: impl FnOnce(i64) -> Option<i64>,
    ) -> Option<i64> {
        match self.0.get(&item) {
            Some((first, last)) if (*first..=*last).contains(&at) => next_after(*last),
            _ => Some(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Schedule;

    #[test]
    fn only_fires_without_one_between_them_are_passed_over() {
        let schedule = Schedule::parse("0/10 * * * * ?", Some("UTC")).unwrap();
        let mut said = GivenUp::default();
        let next_after = |at| schedule.next_after(at);
        said.note(1, 20_000, next_after);
        said.note(1, 30_000, next_after);
        let first = |said: &GivenUp, item, at| said.first_unsaid(item, at, next_after);
        assert_eq!(first(&said, 1, 20_000), Some(40_000));
        assert_eq!(first(&said, 1, 10_000), Some(10_000), "that was not said");
        assert_eq!(first(&said, 2, 20_000), Some(20_000), "of another item");
        said.note(1, 60_000, next_after);
        assert_eq!(first(&said, 1, 60_000), Some(70_000));
        assert_eq!(first(&said, 1, 50_000), Some(50_000));
        said.note_before(1, 20_000, 50_000);
        assert_eq!((first(&said, 1, 20_000), first(&said, 1, 40_000)), (Some(50_000), Some(50_000)));
        said.note(1, 50_000, next_after);
        assert_eq!(first(&said, 1, 20_000), Some(60_000), "they are in a row");
    }
}
