//! Reads the options of a type or handler from the properties of a job, and collects all problems.

use std::time::Duration;

use super::{Invalid, JobConfiguration, Message};
use crate::texts;

/// The properties of a job, read one by one.
pub(crate) struct Options<'a> {
    configuration: &'a JobConfiguration,
    /// The owner of these options, for messages.
    owner: Message,
    problems: Vec<Invalid>,
}

impl<'a> Options<'a> {
    pub(crate) fn of(configuration: &'a JobConfiguration, owner: Message) -> Self {
        Self { configuration, owner, problems: Vec::new() }
    }

    /// A text that is not empty, under one of these names; the later names are those of older releases.
    pub(crate) fn text(&self, keys: &[&str]) -> Option<&'a str> {
        self.given(keys).map(|(_, text)| text)
    }

    /// The same, with its name.
    fn given<'k>(&self, keys: &[&'k str]) -> Option<(&'k str, &'a str)> {
        let mut texts = keys.iter().filter_map(|key| Some((*key, self.configuration.prop(key)?.trim())));
        // An empty value under one name does not hide a value under an older name.
        texts.find(|(_, text)| !text.is_empty())
    }

    /// A required text.
    pub(crate) fn required(&mut self, keys: &[&str], example: &str) -> &'a str {
        self.text(keys).unwrap_or_else(|| {
            self.wrong(keys[0], texts::property_missing(self.owner.clone(), example));
            ""
        })
    }

    /// A number of milliseconds, 1 or more.
    #[cfg(feature = "http")]
    pub(crate) fn milliseconds(&mut self, keys: &[&str], default: u64) -> Duration {
        self.milliseconds_if_given(keys).unwrap_or(Duration::from_millis(default))
    }

    /// A number of milliseconds, 1 or more. `None` where it is not given.
    pub(crate) fn milliseconds_if_given(&mut self, keys: &[&str]) -> Option<Duration> {
        let (key, text) = self.given(keys)?;
        let number = text.parse().ok().filter(|number| *number > 0);
        if number.is_none() {
            self.wrong(key, texts::property_milliseconds(text));
        }
        number.map(Duration::from_millis)
    }

    pub(crate) fn flag(&mut self, key: &str, default: bool) -> bool {
        match self.text(&[key]).map(str::to_ascii_lowercase).as_deref() {
            None => default,
            Some("true") => true,
            Some("false") => false,
            Some(other) => {
                self.wrong(key, texts::property_flag(other));
                default
            }
        }
    }

    pub(crate) fn wrong(&mut self, key: &str, reason: impl Into<Message>) {
        self.problems.push(Invalid::prop(key, reason));
    }

    /// Returns `value`, or all problems when there are some.
    pub(crate) fn end<T>(self, value: T) -> Result<T, Vec<Invalid>> {
        if self.problems.is_empty() { Ok(value) } else { Err(self.problems) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_left_empty_does_not_hide_an_older_one() {
        let job = JobConfiguration::builder("job", 1).prop("new", " ").prop("old", "5").build().unwrap();
        let mut options = Options::of(&job, "the test".into());
        assert_eq!(options.text(&["new", "old"]), Some("5"));
        assert_eq!(options.milliseconds_if_given(&["new", "old"]), Some(Duration::from_millis(5)));
        assert_eq!(options.text(&["new"]), None);
    }
}
