//! Reads the options of a handler among the properties of a job, and finds everything that is wrong with them.

use std::time::Duration;

use crate::config::{Invalid, JobConfiguration};

/// The properties of a job, read one by one.
pub(super) struct Options<'a> {
    configuration: &'a JobConfiguration,
    problems: Vec<Invalid>,
}

impl<'a> Options<'a> {
    pub(super) fn of(configuration: &'a JobConfiguration) -> Self {
        Self { configuration, problems: Vec::new() }
    }

    /// A text that says something, under one of these names; the later ones are those of older releases.
    pub(super) fn text(&self, keys: &[&str]) -> Option<&'a str> {
        self.given(keys).map(|(_, text)| text)
    }

    /// The same, with the name that it stands under.
    fn given<'k>(&self, keys: &[&'k str]) -> Option<(&'k str, &'a str)> {
        let given = keys.iter().find_map(|key| Some((*key, self.configuration.prop(key)?.trim())));
        given.filter(|(_, text)| !text.is_empty())
    }

    /// A text that has to be there.
    pub(super) fn required(&mut self, key: &str, example: &str) -> &'a str {
        self.text(&[key]).unwrap_or_else(|| {
            self.wrong(key, format!("is missing: the error handler needs it, for example {example}"));
            ""
        })
    }

    /// A number of milliseconds, 1 or more.
    pub(super) fn milliseconds(&mut self, keys: &[&str], default: u64) -> Duration {
        let Some((key, text)) = self.given(keys) else { return Duration::from_millis(default) };
        let number = text.parse::<u64>().ok().filter(|number| *number > 0);
        Duration::from_millis(number.unwrap_or_else(|| {
            self.wrong(key, format!("'{text}': expected milliseconds, 1 or more"));
            default
        }))
    }

    pub(super) fn flag(&mut self, key: &str, default: bool) -> bool {
        match self.text(&[key]).map(str::to_ascii_lowercase).as_deref() {
            None => default,
            Some("true") => true,
            Some("false") => false,
            Some(other) => {
                self.wrong(key, format!("'{other}': expected true or false"));
                default
            }
        }
    }

    pub(super) fn wrong(&mut self, key: &str, reason: String) {
        self.problems.push(Invalid::prop(key, reason));
    }

    /// What was read, unless something is wrong.
    pub(super) fn end<T>(self, value: T) -> Result<T, Vec<Invalid>> {
        if self.problems.is_empty() { Ok(value) } else { Err(self.problems) }
    }
}
