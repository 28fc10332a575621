//! The schema of the settings: names, types, defaults, meaning and places. The readers, the hints in errors and
//! `docs/settings.md` use it.

mod from_job_table;
mod key;
mod kind;
mod names;
mod root;
mod tracing;

pub(crate) use elasticjob_syntax::suggest::nearest;
pub(super) use elasticjob_syntax::suggest::{hint, squash};
pub(super) use from_job_table::JOB;
pub(crate) use key::Key;
pub(super) use kind::Kind;
pub(super) use names::{KnownNames, Names};
pub(super) use root::ROOT;

/// The settings that are allowed at a place.
#[derive(Clone, Copy)]
pub(super) enum Schema {
    /// Settings with fixed names.
    Section(&'static [Setting]),
    /// Names that the user chooses, each with these settings.
    Named(&'static Names, &'static [Setting]),
    /// Keys that the user chooses, with text values; nested maps are dotted keys.
    Props,
    /// One value.
    Value(Kind),
}

/// One name in a section.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    /// The name in kebab-case, which messages show.
    pub name: &'static str,
    /// Names in older releases and in their manual.
    pub aliases: &'static [&'static str],
    /// Its meaning, in Markdown.
    pub meaning: &'static str,
    /// A Markdown link to more about it.
    pub see: Option<&'static str>,
    /// A shorter name that the attribute has for it.
    pub short_in_attribute: Option<&'static str>,
    /// The default.
    pub default: Default,
    /// An example of a value.
    pub example: &'static str,
    /// A setting in the same section that excludes this one.
    pub instead_of: Option<&'static str>,
    /// Whether files may have it.
    pub in_files: bool,
    pub schema: Schema,
}

/// The default of a setting.
#[derive(Clone, Copy)]
pub(super) enum Default {
    /// The same as when this value is given.
    Value(&'static str),
    /// The default behaviour, in words; empty where there is none.
    Words(&'static str),
}

impl Setting {
    const fn value(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        let (default, schema) = (Default::Words(""), Schema::Value(kind));
        let (see, short_in_attribute, instead_of) = (None, None, None);
        Self {
            name,
            aliases: &[],
            meaning,
            see,
            short_in_attribute,
            default,
            example: "",
            instead_of,
            in_files: true,
            schema,
        }
    }

    const fn section(name: &'static str, meaning: &'static str, schema: Schema) -> Self {
        Self { schema, ..Self::value(name, Kind::Text, meaning) }
    }

    const fn default(self, value: &'static str) -> Self {
        Self { default: Default::Value(value), ..self }
    }

    const fn otherwise(self, words: &'static str) -> Self {
        Self { default: Default::Words(words), ..self }
    }

    const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    const fn instead_of(self, other: &'static str) -> Self {
        Self { instead_of: Some(other), ..self }
    }

    const fn not_in_files(self) -> Self {
        Self { in_files: false, ..self }
    }

    /// Whether a key in any spelling names this setting.
    pub fn is_named(&self, key: &str) -> bool {
        let key = squash(key);
        self.names().any(|name| squash(name) == key)
    }

    /// The name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// The setting at a canonical key, `None` for jobs and single properties.
pub(super) fn setting_at(key: &Key) -> Option<&'static Setting> {
    let mut schema = &ROOT;
    let mut found = None;
    let mut segments = key.segments().iter();
    while let Some(mut name) = segments.next() {
        let settings = match schema {
            Schema::Section(settings) => settings,
            Schema::Named(_, settings) => {
                name = segments.next()?;
                settings
            }
            Schema::Props | Schema::Value(_) => return None,
        };
        found = settings.iter().find(|setting| setting.name == name);
        schema = &found?.schema;
    }
    found
}

/// Whether the keys of a section of the top level are names that the user chooses.
pub(super) fn has_names(section: &str) -> bool {
    let found = setting_at(&Key::of([section]));
    found.is_some_and(|setting| matches!(setting.schema, Schema::Named(..)))
}

/// The kind of value at a canonical key, `None` for sections and properties.
pub(super) fn kind_at(key: &Key) -> Option<Kind> {
    match setting_at(key)?.schema {
        Schema::Value(kind) => Some(kind),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_setting_is_found_by_its_key() {
        assert_eq!(kind_at(&Key::of(["reg-center", "digest"])), Some(Kind::Secret));
        assert_eq!(kind_at(&Key::of(["jobs", "any", "failover"])), Some(Kind::Flag));
        assert_eq!(kind_at(&Key::of(["jobs", "any", "props", "x"])), None);
        assert_eq!(kind_at(&Key::of(["reg-center"])), None);
    }
}
