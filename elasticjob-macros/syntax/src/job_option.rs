//! An option of `#[elastic_job]`: a setting of a job, or one of two about the attribute itself.

use crate::job_settings::JOB_SETTINGS;

/// An option of the attribute. All but [`NAME`] and [`LIBRARY`] are settings of the job.
#[derive(Debug)]
pub struct JobOption {
    /// Its name, which is also the name of the field of the settings it fills.
    pub name: &'static str,
    /// The same in kebab-case: its key in settings files.
    pub key: &'static str,
    /// What it may be set to.
    pub kind: OptionKind,
    /// What it does, as Markdown.
    pub meaning: &'static str,
    /// What counts where it is not set.
    pub unset: Unset,
    /// A value, as it might stand in a settings file.
    pub example: &'static str,
    /// What a number counts; empty where the meaning says it.
    pub counts: &'static str,
    /// A shorter name for it in the attribute.
    pub short: Option<&'static str>,
    /// What other editions of ElasticJob call it; for suggestions only.
    pub elsewhere: Option<&'static str>,
    /// Keys of older releases in settings files.
    pub older: &'static [&'static str],
    /// A setting beside it that cannot be given as well.
    pub instead_of: Option<&'static str>,
    /// More about it, as a Markdown link from `docs/`.
    pub see: Option<&'static str>,
    /// Its key in the registry center, which is that of ElasticJob.
    pub java: Option<&'static str>,
    /// Meaning and default in the attribute, where they are others than in a settings file.
    pub in_attribute: Option<(&'static str, &'static str)>,
}

/// What an option may be set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// Any text.
    Text,
    /// A text that says something; where nothing is to be said the option is left out.
    Name,
    /// `true` or `false`.
    Flag,
    /// A whole number from 1.
    Count,
    /// A whole number, negative ones too.
    Number,
    /// Names; in the attribute in brackets.
    Names,
    /// Pairs of texts; in the attribute in braces.
    Props,
    /// A path to a crate or module.
    Path,
}

/// What counts where an option is not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unset {
    /// The same as with this value.
    Value(&'static str),
    /// What is done then, in words, as Markdown.
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

/// The option for the place of the library.
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
    /// An option with what every one has.
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

    /// Whether the option is meant by `written`.
    pub fn answers_to(&self, written: &str) -> bool {
        self.name == written || self.short == Some(written)
    }

    /// How the option is written in the attribute, for a message.
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

    /// What the option takes in the attribute, for a message.
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

    /// What it takes, in one word for the documentation of the attribute.
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
