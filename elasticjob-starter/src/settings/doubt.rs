//! Settings that were given with a value that cannot be read. A problem that only follows from such a setting is not
//! reported: a mistyped count is wrong, and not missing as well.

use std::collections::BTreeSet;

use super::schema::Key;

/// The settings and sections with parts that could not be read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Doubt(BTreeSet<Key>);

impl Doubt {
    /// Notes that a setting, or a section, was given and could not be read. The root means that a whole source could
    /// not be read.
    pub fn add(&mut self, key: Key) {
        self.0.insert(key);
    }

    /// Adds the settings and sections of another source.
    pub fn join(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }

    /// Whether the setting may have been given but could not be read.
    pub fn is_about(&self, key: &Key) -> bool {
        self.0.iter().any(|doubtful| key.segments().starts_with(doubtful.segments()))
    }

    /// Whether any setting of the section may have been given but could not be read.
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
