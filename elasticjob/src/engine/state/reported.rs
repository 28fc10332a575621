//! Fires of which this instance said that its items do not run for them: the next begin does not say it again.

use std::collections::BTreeMap;

use crate::ident::ShardingItem;

/// The first and the last of some fires in a row.
type Row = (i64, i64);

/// What was said last, of single items and of all items that the instance owned then.
#[derive(Debug, Default)]
pub(in crate::engine) struct Reported {
    items: BTreeMap<ShardingItem, Row>,
    /// Of jobs with thousands of items each fire may fall into a run: this is kept once for all of them, which are in order.
    whole: Option<(Vec<ShardingItem>, Row)>,
}

impl Reported {
    /// Notes what is said of a fire of one item.
    pub(in crate::engine) fn note(&mut self, item: ShardingItem, at: i64, next_after: impl FnOnce(i64) -> Option<i64>) {
        let row = self.items.entry(item).or_insert((at, at));
        *row = go_on(*row, at, next_after);
    }

    /// Notes what is said of a fire of all items that the instance owns.
    pub(in crate::engine) fn note_whole(
        &mut self,
        owned: &[ShardingItem],
        at: i64,
        next_after: impl FnOnce(i64) -> Option<i64>,
    ) {
        self.note_row(owned, at, |row| go_on(row, at, next_after));
    }

    /// Notes that all fires from one on, and before another, were said of all items that the instance owns.
    pub(in crate::engine) fn note_whole_before(&mut self, owned: &[ShardingItem], from: i64, before: i64) {
        self.note_row(owned, from, |_| (from, before - 1));
    }

    fn note_row(&mut self, owned: &[ShardingItem], at: i64, go_on: impl FnOnce(Row) -> Row) {
        if let Some((items, row)) = &mut self.whole
            && items == owned
        {
            *row = go_on(*row);
            return;
        }
        // What was said of items that are no longer all that it owns.
        if let Some((items, row)) = self.whole.replace((owned.to_vec(), go_on((at, at)))) {
            items.into_iter().for_each(|item| {
                let known = self.items.entry(item).or_insert(row);
                *known = if known.1 < row.1 { row } else { *known };
            });
        }
    }

    /// Notes that all fires of an item from one on, and before another, are reported.
    pub(in crate::engine) fn note_before(&mut self, item: ShardingItem, from: i64, before: i64) {
        self.items.insert(item, (from, before - 1));
    }

    /// Forgets what was said: other fires are due from now on, or those that came too early by a wrong clock come again. A row
    /// that reaches into the future would hide them.
    pub(in crate::engine) fn forget(&mut self) {
        *self = Self::default();
    }

    /// The first fire of an item, from this one on, of which nothing was said.
    pub(in crate::engine) fn first_unsaid(
        &self,
        item: ShardingItem,
        at: i64,
        next_after: impl Fn(i64) -> Option<i64>,
    ) -> Option<i64> {
        let whole = self.whole.as_ref().filter(|(items, _)| items.binary_search(&item).is_ok()).map(|(_, row)| row);
        let mut rows: Vec<&Row> = self.items.get(&item).into_iter().chain(whole).collect();
        let mut first = at;
        // One may begin where the other ends.
        while let Some(said) = rows.iter().position(|(from, last)| (*from..=*last).contains(&first)) {
            first = next_after(rows.remove(said).1)?;
        }
        Some(first)
    }
}

/// The row with one more fire, or that fire alone where others are between them.
fn go_on(row: Row, at: i64, next_after: impl FnOnce(i64) -> Option<i64>) -> Row {
    if next_after(row.1) == Some(at) { (row.0, at) } else { (at, at) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Schedule;

    fn every_ten() -> impl Fn(i64) -> Option<i64> {
        let schedule = Schedule::parse("0/10 * * * * ?", Some("UTC")).unwrap();
        move |at| schedule.next_after(at)
    }

    #[test]
    fn only_fires_without_one_between_them_are_passed_over() {
        let next_after = &every_ten();
        let mut said = Reported::default();
        said.note(1, 20_000, next_after);
        said.note(1, 30_000, next_after);
        let first = |said: &Reported, item, at| said.first_unsaid(item, at, next_after);
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

    #[test]
    fn what_is_said_of_a_whole_fire_is_said_of_the_items_that_were_owned_then() {
        let next_after = &every_ten();
        let mut said = Reported::default();
        let first = |said: &Reported, item, at| said.first_unsaid(item, at, next_after);
        said.note_whole(&[0, 1], 20_000, next_after);
        said.note_whole(&[0, 1], 30_000, next_after);
        said.note(1, 40_000, next_after);
        assert_eq!((first(&said, 0, 20_000), first(&said, 1, 20_000)), (Some(40_000), Some(50_000)));
        said.note_whole(&[0, 2], 40_000, next_after);
        assert_eq!(first(&said, 0, 20_000), Some(50_000), "it was owned all the time");
        assert_eq!(first(&said, 1, 20_000), Some(20_000), "what was said last is kept");
        assert_eq!(first(&said, 2, 30_000), Some(30_000), "it was not owned then");
        said.note_whole_before(&[0, 2], 50_000, 80_000);
        assert_eq!(first(&said, 2, 50_000), Some(80_000));
    }
}
