//! Joins what a reader wrote with what another one stored meanwhile: three texts of each setting, the one that the reader
//! began with, the one that is stored now, and the one that the reader wrote.

use std::collections::{BTreeMap, BTreeSet};

/// The texts of settings by name; a property as `props.KEY`. A setting without a text has no value; a property may have an
/// empty one.
pub(super) type Values = BTreeMap<String, String>;

/// A setting that another one changed meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Changed {
    pub(super) name: String,
    /// What the reader began with; `None` where it is not known.
    pub(super) base: Option<String>,
    pub(super) stored: String,
    pub(super) given: String,
    /// Both changed it, each to another text: that of the reader stays in the form.
    pub(super) is_conflict: bool,
}

impl Changed {
    pub(super) fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        self.base.iter_mut().chain([&mut self.stored, &mut self.given])
    }
}

/// What the form has from now on, and what changed meanwhile. A setting that the reader did not touch is the stored one, so
/// that no change of another one is taken back by accident.
pub(super) fn merge(base: Option<&Values>, stored: &Values, given: &Values) -> (Values, Vec<Changed>) {
    let names: BTreeSet<&String> = base.into_iter().chain([stored, given]).flat_map(Values::keys).collect();
    let text = |of: Option<&String>| of.cloned().unwrap_or_default();
    let (mut merged, mut changes) = (Values::new(), Vec::new());
    for name in names {
        let (stored, given) = (stored.get(name), given.get(name));
        let base = base.map(|base| base.get(name));
        let is_untouched = base == Some(given);
        let is_changed = base != Some(stored) && (base.is_some() || stored != given);
        if let Some(taken) = if is_untouched { stored } else { given } {
            merged.insert(name.clone(), taken.clone());
        }
        if is_changed {
            let is_conflict = !is_untouched && stored != given;
            let (base, stored, given) = (base.map(text), text(stored), text(given));
            changes.push(Changed { name: name.clone(), base, stored, given, is_conflict });
        }
    }
    (merged, changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(texts: &[(&str, &str)]) -> Values {
        texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn what_the_reader_did_not_touch_is_what_is_stored_and_what_both_changed_stays_as_the_reader_wrote_it() {
        let base = values(&[("cron", "3"), ("description", "old"), ("label", "a"), ("props.x", "1"), ("props.y", "1")]);
        let stored =
            values(&[("cron", "4"), ("description", "old"), ("label", "b"), ("props.y", "1"), ("props.z", "9")]);
        let given =
            values(&[("cron", "3"), ("description", "new"), ("label", "c"), ("props.x", "1"), ("props.y", "2")]);
        let (merged, changes) = merge(Some(&base), &stored, &given);
        let expected =
            values(&[("cron", "4"), ("description", "new"), ("label", "c"), ("props.y", "2"), ("props.z", "9")]);
        assert_eq!(merged, expected);
        let told: Vec<(&str, bool)> = changes.iter().map(|it| (it.name.as_str(), it.is_conflict)).collect();
        assert_eq!(told, [("cron", false), ("label", true), ("props.x", false), ("props.z", false)]);
        let label = &changes[1];
        assert_eq!((label.base.as_deref(), label.stored.as_str(), label.given.as_str()), (Some("a"), "b", "c"));
    }

    #[test]
    fn without_the_text_that_it_began_with_the_form_stays_and_says_what_differs() {
        let (merged, changes) =
            merge(None, &values(&[("cron", "4"), ("label", "a")]), &values(&[("cron", "3"), ("label", "a")]));
        assert_eq!(merged, values(&[("cron", "3"), ("label", "a")]));
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert!(changes[0].is_conflict && changes[0].base.is_none());
    }

    #[test]
    fn a_property_with_an_empty_text_stays() {
        let (stored, given) = (values(&[("cron", "4"), ("props.x", "")]), values(&[("cron", "3"), ("props.x", "")]));
        let (merged, changes) = merge(Some(&given), &stored, &given);
        assert_eq!((merged, changes.len()), (stored, 1));
    }

    #[test]
    fn the_same_change_of_both_is_no_conflict() {
        let (base, other) = (values(&[("cron", "3")]), values(&[("cron", "4")]));
        let (merged, changes) = merge(Some(&base), &other, &other);
        assert_eq!((merged, changes[0].is_conflict), (other, false));
    }
}
