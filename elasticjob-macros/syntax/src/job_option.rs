//! An option of `#[elastic_job]`: a setting of a job, or one of two about the attribute itself.

use crate::job_settings::JOB_SETTINGS;

/// An option of the attribute. All but [`NAME`] and [`LIBRARY`] are settings of the job.
#[derive(Debug)]
#[non_exhaustive]
pub struct JobOption {
    /// Its name, which is also the name of the field of the settings it fills.
    pub name: &'static str,
    /// The same in kebab-case: its key in settings files.
    pub key: &'static str,
    /// The kind of its value.
    pub kind: OptionKind,
    /// Its effect, as Markdown.
    pub meaning: &'static str,
    /// The default.
    pub unset: Unset,
    /// An example of a value in a settings file.
    pub example: &'static str,
    /// The unit of a number; empty where the meaning names it.
    pub counts: &'static str,
    /// A shorter name for it in the attribute.
    pub short: Option<&'static str>,
    /// Its name in other editions of ElasticJob; for suggestions only.
    pub elsewhere: Option<&'static str>,
    /// Keys of older releases in settings files.
    pub older: &'static [&'static str],
    /// A setting in the same section that excludes this one.
    pub instead_of: Option<&'static str>,
    /// A Markdown link to more about it, relative to `docs/`.
    pub see: Option<&'static str>,
    /// Its key in the registry center, which is ElasticJob's key.
    pub java: Option<&'static str>,
    /// Meaning and default in the attribute, where they differ from those in a settings file.
    pub in_attribute: Option<(&'static str, &'static str)>,
}

/// The kind of value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// Any text.
    Text,
    /// A text that is not blank; to give none, leave the option out.
    Name,
    /// `true` or `false`.
    Flag,
    /// A whole number from 1.
    Count,
    /// A whole number, negative ones too.
    Number,
    /// A list of names; in the attribute in brackets.
    Names,
    /// Pairs of texts; in the attribute in braces.
    Props,
    /// A path to a crate or module.
    Path,
}

/// The default of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unset {
    /// The same as with this value.
    Value(&'static str),
    /// The default behaviour, in words, as Markdown.
    Words(&'static str),
}

/// The option for the name of the job.
pub const NAME: JobOption = JobOption {
    elsewhere: Some("job_name"),
    ..JobOption::new(
        "name",
        "name",
        OptionKind::Text,
        "Name of the job, unique in the namespace. Not blank, without `/` and `@-@`.",
        Unset::Words("name of the function or type"),
        "settle",
    )
};

/// The option for the path of the library.
pub const LIBRARY: JobOption = JobOption::new(
    "crate",
    "crate",
    OptionKind::Path,
    "Where the library is found, when a dependency was renamed: `crate = ::jobs::elasticjob`.",
    Unset::Words("from where the attribute is taken"),
    "::path::to::elasticjob",
);

/// All options, in the order of the documentation.
pub fn all() -> impl Iterator<Item = &'static JobOption> + Clone {
    static AROUND: [JobOption; 2] = [NAME, LIBRARY];
    let [name, library] = &AROUND;
    std::iter::once(name).chain(JOB_SETTINGS).chain(std::iter::once(library))
}

impl JobOption {
    /// An option with the fields that every option has.
    pub(crate) const fn new(
        name: &'static str,
        key: &'static str,
        kind: OptionKind,
        meaning: &'static str,
        unset: Unset,
        example: &'static str,
    ) -> Self {
        Self {
            name,
            key,
            kind,
            meaning,
            unset,
            example,
            counts: "",
            short: None,
            elsewhere: None,
            older: &[],
            instead_of: None,
            see: None,
            java: None,
            in_attribute: None,
        }
    }

    /// Whether `written` is a name of the option.
    pub fn answers_to(&self, written: &str) -> bool {
        self.name == written || self.short == Some(written)
    }

    /// The form of the option in the attribute, for a message.
    pub fn written_as(&self, written: &str) -> String {
        let example = self.example;
        match self.kind {
            OptionKind::Text | OptionKind::Name => format!("`{written} = \"{example}\"`"),
            OptionKind::Flag | OptionKind::Count | OptionKind::Number | OptionKind::Path => {
                format!("`{written} = {example}`")
            }
            OptionKind::Names => format!("`{written} = [\"{}\"]`", example.replace(',', "\", \"")),
            OptionKind::Props => format!("`{written} = {{ \"key\" = \"value\" }}`"),
        }
    }

    /// The value that the option takes in the attribute, for a message.
    pub fn expected(&self) -> &'static str {
        match self.kind {
            OptionKind::Text | OptionKind::Name => "a string literal",
            OptionKind::Flag => "`true` or `false`",
            OptionKind::Count => "a whole number from 1 to 2147483647",
            OptionKind::Number => "a whole number from -2147483648 to 2147483647",
            OptionKind::Names => "string literals in brackets",
            OptionKind::Props => "pairs of string literals in braces",
            OptionKind::Path => "a path",
        }
    }

    /// The kind of its value, in one word for the documentation of the attribute.
    pub fn takes(&self) -> &'static str {
        match self.kind {
            OptionKind::Text | OptionKind::Name => "text",
            OptionKind::Flag => "flag",
            OptionKind::Count => "number from 1",
            OptionKind::Number => self.counts,
            OptionKind::Names => "`[\"A\", \"B\"]`",
            OptionKind::Props => "`{ \"a.b\" = \"c\" }`",
            OptionKind::Path => "path",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_one_name_in_each_case() {
        for setting in JOB_SETTINGS {
            assert_eq!(setting.key, setting.name.replace('_', "-"));
        }
    }

    #[test]
    fn an_example_is_written_as_its_kind() {
        let written = |name: &str| all().find(|option| option.answers_to(name)).map(|option| option.written_as(name));
        for (name, expected) in [
            ("cron", "`cron = \"0 0 3 * * ?\"`"),
            ("failover", "`failover = true`"),
            ("listeners", "`listeners = [\"audit\", \"notify\"]`"),
            ("props", "`props = { \"key\" = \"value\" }`"),
            ("crate", "`crate = ::path::to::elasticjob`"),
        ] {
            assert_eq!(written(name).as_deref(), Some(expected));
        }
    }
}
