//! The entries of `elasticjob.jobs`.

use std::collections::BTreeMap;

use elasticjob::config::JobSettings;
use elasticjob_syntax::each_job_setting;

use super::node::Origin;
use super::read::Reader;
use super::schema::Key;

/// One entry of `elasticjob.jobs`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JobEntry {
    /// Name of the job.
    pub name: String,
    /// The settings of the entry.
    pub settings: JobSettings,
    /// The place of each of its settings, by its name in kebab-case.
    pub origins: BTreeMap<&'static str, Origin>,
    /// The place of each of its properties.
    pub prop_origins: BTreeMap<String, Origin>,
    /// The place of the entry, or of its first setting.
    pub origin: Origin,
}

pub(super) fn read(reader: &mut Reader<'_>) -> Vec<JobEntry> {
    let jobs = Key::of(["jobs"]);
    let names = reader.names(&jobs);
    names.into_iter().map(|(name, origin)| entry(reader, &jobs.child(&name), name, origin)).collect()
}

fn entry(reader: &mut Reader<'_>, key: &Key, name: String, origin: Origin) -> JobEntry {
    let prop_origins = reader.names(&key.child("props")).into_iter().collect();
    let mut fields = Fields { reader, key, origins: BTreeMap::new() };
    let settings = read_settings(&mut fields);
    JobEntry { name, settings, origins: fields.origins, prop_origins, origin }
}

macro_rules! read_settings {
    ($($group:ident { $(
        $field:ident = $key:literal: $kind:ident, $meaning:literal, $how:ident $unset:literal, $example:literal
        { $($more:tt)* }
    )* })*) => {
        fn read_settings(fields: &mut Fields<'_, '_>) -> JobSettings {
            let mut settings = JobSettings::default();
            $($(settings.$field = fields.read($key);)*)*
            settings
        }
    };
}

each_job_setting!(read_settings);

struct Fields<'r, 'a> {
    reader: &'r mut Reader<'a>,
    key: &'r Key,
    origins: BTreeMap<&'static str, Origin>,
}

impl Fields<'_, '_> {
    fn read<T: Readable>(&mut self, name: &'static str) -> Option<T> {
        let key = self.key.child(name);
        if let Some(origin) = self.reader.origin(&key) {
            self.origins.insert(name, origin);
        }
        T::read(self.reader, &key)
    }
}

/// A type that a setting of a job can have.
trait Readable: Sized {
    fn read(reader: &mut Reader<'_>, key: &Key) -> Option<Self>;
}

impl Readable for String {
    fn read(reader: &mut Reader<'_>, key: &Key) -> Option<Self> {
        Some(reader.text(key)?.value)
    }
}

impl Readable for bool {
    fn read(reader: &mut Reader<'_>, key: &Key) -> Option<Self> {
        reader.flag(key)
    }
}

impl Readable for u32 {
    fn read(reader: &mut Reader<'_>, key: &Key) -> Option<Self> {
        reader.whole(key)
    }
}

impl Readable for i32 {
    fn read(reader: &mut Reader<'_>, key: &Key) -> Option<Self> {
        reader.whole(key)
    }
}

impl Readable for Vec<String> {
    fn read(reader: &mut Reader<'_>, key: &Key) -> Option<Self> {
        Some(reader.list(key)?.value)
    }
}

impl Readable for BTreeMap<String, String> {
    fn read(reader: &mut Reader<'_>, key: &Key) -> Option<Self> {
        reader.props(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Doubt;
    use crate::settings::layer::{Given, Layer};
    use crate::settings::schema::{JOB, Kind, Schema};

    fn read_with(key: &Key, value: &str) -> JobEntry {
        let mut layer = Layer::default();
        layer.insert(key.clone(), Origin::place("file:1"), Given::Text(value.to_owned())).unwrap();
        let mut reader = Reader {
            merged: &layer,
            lookup: &|_| None,
            errors: Vec::new(),
            warnings: Vec::new(),
            doubt: Doubt::default(),
        };
        let entries = read(&mut reader);
        assert!(reader.errors.is_empty(), "{key}: {:?}", reader.errors);
        entries.into_iter().next().expect("one entry")
    }

    #[test]
    fn an_entry_can_be_logged() {
        let shown = format!("{:?}", read_with(&Key::of(["jobs", "sync", "props", "a.pwd"]), "hunter2"));
        assert!(shown.contains("a.pwd") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn every_setting_is_read_into_the_field_of_its_name() {
        for setting in JOB {
            let key = Key::of(["jobs", "sync", setting.name]);
            let (key, value) = match &setting.schema {
                Schema::Props => (key.child("key"), "1"),
                Schema::Value(Kind::Flag) => (key, "true"),
                _ => (key, "1"),
            };
            let entry = read_with(&key, value);
            let field = setting.name.replace('-', "_");
            let fields = format!("{:?}", entry.settings);
            assert!(fields.contains(&format!("{field}: Some(")), "{field} is not set: {fields}");
            assert_eq!(fields.matches(": Some(").count(), 1, "{field}: {fields}");
            assert_eq!(entry.origins.into_keys().collect::<Vec<_>>(), [setting.name]);
        }
    }
}
