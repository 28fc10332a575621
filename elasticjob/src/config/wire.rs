//! The text of the configuration in the registry: YAML, as SnakeYAML writes it for ElasticJob 3.0.5.
//!
//! Written texts have Java's keys in Java's order and no other key, because Java refuses unknown keys. Text with
//! control characters is escaped; Java writes base64 there, which it cannot read back from properties.
//!
//! The reader accepts any YAML, including JSON and keys of other releases. Texts are taken as they are written: a
//! property `1.10` is `1.10` and `True` is `True`, where Java makes `1.1` and `true` of them unless they are quoted.

mod document;
mod extra;
mod keys;

use std::fmt;

use document::{Entries, OLDER_THREAD_POOL};

use super::dependency;
use super::job::{Invalid, JobConfiguration, Origin};
use super::settings::{DEPENDS_ON_PROP, JobSettings, MAX_LATE_BEGIN_PROP};
use super::time_diff::MaxTimeDiff;
use crate::config::Message;
use crate::ident::JobName;
use crate::texts;
use crate::yaml::Unreadable;
use crate::yaml::snakeyaml::Document;

/// The key with the name of the job, which is no setting.
const JOB_NAME: &str = "jobName";

/// A text in the registry that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireError {
    /// It is not YAML, or not of the right structure.
    Syntax(String),
    /// A key has a value of the wrong type.
    Type {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// The values that would be valid.
        expected: Expected,
    },
    /// A key has a value of another kind, for example a list where a text belongs.
    Kind {
        /// The key.
        key: String,
        /// The kind of the value that is there.
        found: &'static str,
        /// The kind that belongs there.
        expected: Expected,
    },
    /// The block of a key that is only carried along cannot be cut out.
    Block(String),
    /// Settings with values that cannot be used.
    Settings(Vec<Invalid>),
}

/// The kind of value that belongs at a place of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// True or false.
    Flag,
    /// A whole number.
    Number,
    /// A whole number of seconds.
    Seconds,
    /// A single value.
    Value,
    /// A list of types by name.
    Types,
    /// A map of settings.
    Settings,
    /// A map of properties.
    Properties,
}

impl Expected {
    fn message(self) -> Message {
        match self {
            Self::Flag => texts::a_flag(),
            Self::Number => texts::a_number(),
            Self::Seconds => texts::a_number_of_seconds(),
            Self::Value => texts::a_single_value(),
            Self::Types => texts::a_list_of_types(),
            Self::Settings => texts::a_map_of_settings(),
            Self::Properties => texts::a_map_of_properties(),
        }
    }
}

impl WireError {
    /// The message: what cannot be used, and what belongs there.
    pub fn message(&self) -> Message {
        match self {
            Self::Syntax(reason) => texts::wire_syntax(reason),
            Self::Type { key, value, expected } => texts::wire_type(*key, value, expected.message()),
            Self::Kind { key, found, expected } => texts::wire_kind(key, *found, expected.message()),
            Self::Block(key) => texts::wire_block(key),
            Self::Settings(problems) => {
                texts::problems(problems.iter().map(Invalid::message).collect::<Vec<Message>>())
            }
        }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for WireError {}

impl From<Unreadable> for WireError {
    fn from(error: Unreadable) -> Self {
        Self::Syntax(error.to_string())
    }
}

/// The longest text, in bytes, that is always read within some milliseconds, whatever its content is. Longer texts are
/// not read on a thread that other tasks wait for.
pub(crate) const QUICKLY_READ: usize = 16 * 1024;

/// A configuration that was read, with the parts that deserve a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// The configuration.
    pub configuration: JobConfiguration,
    /// The parts that were ignored. [`to_yaml`] leaves them out; an operator's change of the stored text keeps them.
    pub ignored: Vec<Ignored>,
}

/// A part of the registry's configuration that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ignored {
    /// No known release has such a key. Java instances fail on it.
    Key(String),
    /// It names another job than the job that it belongs to.
    JobName(String),
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, "the key '{key}' is not known; Java instances fail on it"),
            Self::JobName(name) => write!(f, "jobName: '{name}' is not the name of this job"),
        }
    }
}

/// The text of the node `config`.
pub fn to_yaml(configuration: &JobConfiguration) -> String {
    let JobConfiguration { name, depends_on, max_time_diff_seconds, extra, .. } = configuration;
    let mut settings = configuration.settings();
    settings.max_time_diff_seconds = Some(max_time_diff_seconds.stored());
    let late = configuration.max_late_begin_seconds().map(|seconds| (MAX_LATE_BEGIN_PROP, seconds.to_string()));
    let after = (!depends_on.is_empty()).then(|| (DEPENDS_ON_PROP, dependency::joined(depends_on)));
    let own = late.into_iter().chain(after).map(|(key, value)| (key.to_owned(), value));
    settings.props.get_or_insert_default().extend(own);
    let mut keys = keys::written(&settings);
    let mut lines = Document::default();
    lines.text(JOB_NAME, name.as_str());
    keys.push((JOB_NAME, lines.into_string()));
    keys.extend(extra.iter().map(|lines| (extra::KEY, lines.to_string())));
    // SnakeYAML writes the keys of a Java object in the order of their names.
    keys.sort_unstable_by_key(|(key, _)| *key);
    keys.into_iter().map(|(_, lines)| lines).collect()
}

/// The new text of the node `config` in place of another one. Parts of the old text that this library does not know
/// stay.
///
/// # Errors
/// [`WireError`] when the old text cannot be read, or when the parts that stay cannot be cut out of it.
pub(crate) fn rewrite(configuration: &JobConfiguration, before: &[u8]) -> Result<String, WireError> {
    let before = text_of(before)?;
    let entries = Entries::parse(before)?;
    let mut text = to_yaml(configuration);
    for (key, value) in &entries.unknown {
        text.push_str(&extra::block(before, key, value)?);
    }
    Ok(text)
}

/// Whether the text of a configuration can have jobs that the job runs after: a look that is cheaper than reading it.
pub(crate) fn may_depend(yaml: &str) -> bool {
    yaml.contains(DEPENDS_ON_PROP)
}

/// Reads the node `config` as [`read`] does, and drops the warnings.
///
/// # Errors
/// [`WireError`] names the key and says what to write instead.
pub fn from_yaml(job: &JobName, data: &[u8]) -> Result<JobConfiguration, WireError> {
    read(job, data).map(|reading| reading.configuration)
}

/// Reads the node `config`. A missing key has the default of Java's reader: false for `monitorExecution` and `misfire`,
/// 0 for `reconcileIntervalMinutes`.
///
/// # Errors
/// [`WireError`] names the key and says what to write instead.
pub fn read(job: &JobName, data: &[u8]) -> Result<Reading, WireError> {
    let text = text_of(data)?;
    let entries = Entries::parse(text)?;
    let mut props = entries.props.clone();
    let max_late_begin_seconds = props.remove(MAX_LATE_BEGIN_PROP).map(seconds).transpose()?;
    let depends_on = props.remove(DEPENDS_ON_PROP).map(|text| dependency::split(&text));
    let of_keys = keys::read(&entries)?;
    let max_time_diff_seconds = MaxTimeDiff::read(entries.number("maxTimeDiffSeconds")?).setting();
    let older_pool = || entries.text(OLDER_THREAD_POOL);
    let settings = JobSettings {
        depends_on,
        max_late_begin_seconds,
        max_time_diff_seconds,
        job_executor_thread_pool_size_provider_type: of_keys
            .job_executor_thread_pool_size_provider_type
            .or_else(older_pool),
        job_listener_types: Some(entries.listeners.clone()),
        props: Some(props),
        ..of_keys
    };
    let extra = entries.extra.as_ref().map(|value| extra::block(text, extra::KEY, value)).transpose()?;
    let configuration =
        JobConfiguration::check(job.clone(), &settings, Origin::Registry).map_err(WireError::Settings)?;
    let other_name = entries.text(JOB_NAME).filter(|name| name != job.as_str()).map(Ignored::JobName);
    let ignored = other_name.into_iter().chain(entries.unknown.into_iter().map(|(key, _)| Ignored::Key(key))).collect();
    Ok(Reading { configuration: JobConfiguration { extra, ..configuration }, ignored })
}

fn seconds(text: String) -> Result<i32, WireError> {
    let wrong = |_| WireError::Type { key: MAX_LATE_BEGIN_PROP, value: text.clone(), expected: Expected::Seconds };
    text.trim().parse().map_err(wrong)
}

fn text_of(data: &[u8]) -> Result<&str, WireError> {
    std::str::from_utf8(data).map_err(|error| WireError::Syntax(error.to_string()))
}

#[cfg(test)]
mod tests;
