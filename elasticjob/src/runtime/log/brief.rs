//! Lists that fit into one line of the log, however long they are.

use std::fmt;

use crate::ident::ShardingItem;

/// More items than these are shown as ranges.
const MOST_ITEMS: usize = 100;

/// Item numbers: each of them where they are few, else as ranges in ascending order.
pub(super) struct Items<'a>(pub(super) &'a [ShardingItem]);

impl fmt::Debug for Items<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.len() <= MOST_ITEMS {
            return self.0.fmt(f);
        }
        let mut items = self.0.to_vec();
        items.sort_unstable();
        let ranges: Vec<String> = items.chunk_by(|item, next| item + 1 == *next).map(range).collect();
        write!(f, "{} items: {}", self.0.len(), in_brief(&ranges, MOST_ITEMS))
    }
}

fn range(items: &[ShardingItem]) -> String {
    match items {
        [first, .., last] => format!("{first}-{last}"),
        _ => items.iter().map(ToString::to_string).collect(),
    }
}

/// The first `most` texts of a list, and how many others there are.
pub(super) fn in_brief(texts: &[String], most: usize) -> String {
    let shown = texts.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(", ");
    match texts.len().checked_sub(most) {
        Some(rest @ 1..) => format!("{shown} and {rest} more"),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_items_are_listed_and_many_are_shown_as_ranges() {
        assert_eq!(format!("{:?}", Items(&[0, 1, 4])), "[0, 1, 4]");
        let many: Vec<ShardingItem> = (80..200).chain([70]).chain(0..60).collect();
        assert_eq!(format!("{:?}", Items(&many)), "181 items: 0-59, 70, 80-199");
        let scattered: Vec<ShardingItem> = (0..1_000).step_by(2).collect();
        let shown = format!("{:?}", Items(&scattered));
        assert!(shown.starts_with("500 items: 0, 2, 4, ") && shown.ends_with(", 198 and 400 more"), "{shown}");
    }

    #[test]
    fn a_list_is_cut_and_says_how_much_is_missing() {
        let texts = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(in_brief(&texts, 3), "a, b, c");
        assert_eq!(in_brief(&texts, 1), "a and 2 more");
    }
}
