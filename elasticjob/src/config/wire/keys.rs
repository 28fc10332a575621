//! The settings that have a key in the registry center, which is Java's: written and read as the table of settings says.

use std::collections::BTreeMap;

use elasticjob_syntax::each_job_setting;
use elasticjob_syntax::job_settings::java_key;

use super::WireError;
use super::document::Entries;
use crate::config::settings::JobSettings;
use crate::yaml::snakeyaml::Document;

macro_rules! keys {
    ($($group:ident { $(
        $field:ident = $key:literal: $kind:ident, $meaning:literal, $how:ident $unset:literal, $example:literal
        { $($more:tt)* }
    )* })*) => {
        /// The lines of each key, with the key.
        pub(super) fn written(settings: &JobSettings) -> Vec<(&'static str, String)> {
            let mut written = Vec::new();
            $($(
                if let (Some(key), Some(value)) = (const { java_key(stringify!($field)) }, &settings.$field) {
                    let mut lines = Document::default();
                    value.write(key, &mut lines);
                    written.push((key, lines.into_string()));
                }
            )*)*
            written
        }

        /// The settings of the keys. Listeners and properties are lists and maps, which are read apart.
        pub(super) fn read(entries: &Entries) -> Result<JobSettings, WireError> {
            Ok(JobSettings { $($($field: read!(entries, const { java_key(stringify!($field)) }, $kind),)*)* })
        }
    };
}

/// A missing key has the default of Java's reader: false, or 0 where the job can do without.
macro_rules! read {
    ($entries:ident, $key:expr, Flag) => {
        match $key {
            Some(key) => Some($entries.flag(key)?.unwrap_or(false)),
            None => None,
        }
    };
    ($entries:ident, $key:expr, Number) => {
        match $key {
            Some(key) => Some($entries.number(key)?.unwrap_or(0)),
            None => None,
        }
    };
    ($entries:ident, $key:expr, Count) => {
        match $key {
            Some(key) => $entries.number(key)?,
            None => None,
        }
    };
    ($entries:ident, $key:expr, Names) => {
        None
    };
    ($entries:ident, $key:expr, Props) => {
        None
    };
    ($entries:ident, $key:expr, $text:ident) => {
        $key.and_then(|key| $entries.text(key))
    };
}

each_job_setting!(keys);

/// A value under a key.
trait Written {
    fn write(&self, key: &str, lines: &mut Document);
}

impl Written for String {
    fn write(&self, key: &str, lines: &mut Document) {
        lines.text(key, self);
    }
}

impl Written for bool {
    fn write(&self, key: &str, lines: &mut Document) {
        lines.plain(key, self);
    }
}

impl Written for u32 {
    fn write(&self, key: &str, lines: &mut Document) {
        lines.plain(key, self);
    }
}

impl Written for i32 {
    fn write(&self, key: &str, lines: &mut Document) {
        lines.plain(key, self);
    }
}

impl Written for Vec<String> {
    fn write(&self, key: &str, lines: &mut Document) {
        lines.list(key, self.iter().map(String::as_str));
    }
}

impl Written for BTreeMap<String, String> {
    fn write(&self, key: &str, lines: &mut Document) {
        lines.map(key, self.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    }
}
