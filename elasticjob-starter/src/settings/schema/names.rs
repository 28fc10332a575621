//! Sections whose keys are names that the user chooses.

use std::collections::{BTreeMap, BTreeSet};

/// A kind of named sections.
pub(in super::super) struct Names {
    /// The word for one of them, in messages.
    pub what: &'static str,
    /// One of their settings.
    pub example: &'static str,
    /// A name, in examples.
    pub named: &'static str,
    /// Whether an environment variable may name one that nothing else names. A job is known by its code or a file.
    pub in_environment_alone: bool,
    /// The section without a name, which has the same settings.
    pub beside: Option<&'static str>,
}

pub(super) static JOBS: Names =
    Names { what: "job", example: "cron", named: "settle", in_environment_alone: false, beside: None };
pub(super) static USERS: Names =
    Names { what: "user of the console", example: "role", named: "ops", in_environment_alone: true, beside: None };
pub(super) static TOKENS: Names =
    Names { what: "token of the console", example: "role", named: "scraper", in_environment_alone: true, beside: None };
pub(super) static GROUPS: Names =
    Names { what: "group of the console", example: "role", named: "ops", in_environment_alone: true, beside: None };
pub(super) static REG_CENTERS: Names = Names {
    what: "registry center",
    example: "server-lists",
    named: "orders",
    in_environment_alone: true,
    beside: Some("reg-center"),
};
pub(super) static TRACINGS: Names =
    Names { what: "tracing", example: "type", named: "orders", in_environment_alone: true, beside: Some("tracing") };

/// The names that are known before all sources are read. They separate a name with dots, or in capitals, from the keys
/// after it.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct KnownNames(BTreeMap<String, BTreeSet<String>>);

impl KnownNames {
    /// Names of jobs.
    pub fn of_jobs<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Self {
        Self(BTreeMap::from([("jobs".to_owned(), names.into_iter().map(Into::into).collect())]))
    }

    /// Adds a name.
    pub fn add(&mut self, section: &str, name: &str) {
        self.0.entry(section.to_owned()).or_default().insert(name.to_owned());
    }

    /// The names in a section.
    pub fn of(&self, section: &str) -> impl Iterator<Item = &str> {
        self.0.get(section).into_iter().flatten().map(String::as_str)
    }

    /// Whether a section has a name.
    pub fn has(&self, section: &str, name: &str) -> bool {
        self.0.get(section).is_some_and(|names| names.contains(name))
    }
}
