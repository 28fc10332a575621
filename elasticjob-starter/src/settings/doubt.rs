//! Settings that were given in a way that cannot be read. What only follows from that is not told beside it: a count that
//! is mistyped is wrong, and not missing as well.

use std::collections::BTreeSet;

use super::schema::Key;

/// The settings, and the sections, of which something could not be read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Doubt(BTreeSet<Key>);

impl Doubt {
    /// A setting, or a section, was given and could not be read; the root where a whole source could not.
    pub fn add(&mut self, key: Key) {
        self.0.insert(key);
    }

    /// Those of another source, too.
    pub fn join(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }

    /// Whether the setting may have been given, and not been read.
    pub fn is_about(&self, key: &Key) -> bool {
        self.0.iter().any(|doubtful| key.segments().starts_with(doubtful.segments()))
    }

    /// Whether anything in the section may have been given, and not been read.
    pub fn is_within(&self, section: &Key) -> bool {
        self.is_about(section) || self.0.iter().any(|doubtful| doubtful.segments().starts_with(section.segments()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_that_cannot_be_read_leaves_all_below_it_in_doubt_and_nothing_beside_it() {
        let mut doubt = Doubt::default();
        let (job, cron) = (Key::of(["jobs", "a"]), Key::of(["jobs", "a", "cron"]));
        assert!(!doubt.is_about(&cron) && !doubt.is_within(&job));
        doubt.add(cron.clone());
        assert!(doubt.is_about(&cron) && doubt.is_within(&job) && !doubt.is_about(&job));
        assert!(!doubt.is_about(&Key::of(["jobs", "a", "label"])) && !doubt.is_within(&Key::of(["jobs", "b"])));
        let mut unread = Doubt::default();
        unread.add(Key::default());
        doubt.join(&unread);
        assert!(doubt.is_about(&Key::of(["dump", "port"])));
    }
}
