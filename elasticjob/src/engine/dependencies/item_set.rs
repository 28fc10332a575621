//! Items of a job in few bytes: `0-3,7`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ident::ShardingItem;

/// A set of items. However many they are, those that follow each other take the room of two.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ItemSet(Vec<(ShardingItem, ShardingItem)>);

impl ItemSet {
    /// Whether an item is in it.
    pub fn contains(&self, item: ShardingItem) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= item);
        after.checked_sub(1).is_some_and(|place| item <= self.0[place].1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The items of both.
    pub(super) fn with(&self, other: &Self) -> Self {
        let mut ranges = [&self.0[..], &other.0].concat();
        ranges.sort_unstable();
        ranges.into_iter().fold(Self::default(), |mut set, range| {
            set.add(range);
            set
        })
    }

    /// Adds items that do not begin before those that were added last.
    fn add(&mut self, (first, last): (ShardingItem, ShardingItem)) {
        match self.0.last_mut() {
            Some((_, until)) if first <= until.saturating_add(1) => *until = last.max(*until),
            _ => self.0.push((first, last)),
        }
    }
}

impl FromIterator<ShardingItem> for ItemSet {
    fn from_iter<I: IntoIterator<Item = ShardingItem>>(items: I) -> Self {
        let mut items: Vec<ShardingItem> = items.into_iter().collect();
        items.sort_unstable();
        items.into_iter().fold(Self::default(), |mut set, item| {
            set.add((item, item));
            set
        })
    }
}

impl fmt::Display for ItemSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (first, last)) in self.0.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

impl From<ItemSet> for String {
    fn from(set: ItemSet) -> Self {
        set.to_string()
    }
}

impl FromStr for ItemSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' has no items as 0-3,7");
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range: (ShardingItem, ShardingItem) = (first.parse().ok()?, last.parse().ok()?);
            (range.0 <= range.1).then_some(range)
        };
        let parts = text.split(',').filter(|part| !part.is_empty());
        let ranges: Option<Vec<_>> = parts.map(range).collect();
        Ok(Self(ranges.ok_or_else(wrong)?).with(&Self::default()))
    }
}

impl TryFrom<String> for ItemSet {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_follow_each_other_are_one_range() {
        for (items, text) in [
            (vec![], ""),
            (vec![7], "7"),
            (vec![3, 0, 1, 7, 2], "0-3,7"),
            (vec![1, 1, 2], "1-2"),
            (vec![0, u32::MAX], "0,4294967295"),
        ] {
            let set: ItemSet = items.iter().copied().collect();
            assert_eq!((set.to_string().as_str(), set.is_empty()), (text, items.is_empty()));
            assert_eq!(text.parse::<ItemSet>().unwrap(), set);
            assert!(items.iter().all(|item| set.contains(*item)) && !set.contains(5));
        }
    }

    #[test]
    fn two_sets_become_one() {
        let with = |one: &str, other: &str| one.parse::<ItemSet>().unwrap().with(&other.parse().unwrap()).to_string();
        assert_eq!(with("0-3,7", "4,9"), "0-4,7,9");
        assert_eq!(with("5", "0-9"), "0-9");
        assert_eq!(with("", "2"), "2");
    }

    #[test]
    fn what_is_no_set_is_refused_however_large_it_is() {
        for text in ["a", "3-1", "1-2-3", "-", "1;2"] {
            assert!(text.parse::<ItemSet>().is_err(), "{text}");
        }
        assert!("0-4294967295".parse::<ItemSet>().unwrap().contains(4_000_000_000));
    }
}
