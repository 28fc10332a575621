//! Problems of settings.

use std::path::PathBuf;

use super::dotted::Token;
use super::node::Origin;
use super::schema::Key;

/// A problem of the settings. The text names the source, the key, the value and the expected values; values of secret
/// settings are never part of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// A key that no setting has.
    #[error("{origin}: unknown key '{key}'; {hint}")]
    UnknownKey {
        /// Its place.
        origin: Origin,
        /// The key as written.
        key: String,
        /// The nearest known key, or all known keys of that section.
        hint: String,
    },
    /// A value of the wrong type or out of range.
    #[error("{origin}: {key}: {value} is not valid: expected {expected}")]
    WrongValue {
        /// Its place.
        origin: Origin,
        /// The setting.
        key: String,
        /// The value, quoted, or its kind; `***` for secrets.
        value: String,
        /// The values that are allowed.
        expected: String,
    },
    /// A setting that another one makes necessary.
    #[error("{origin}: {key} is missing: {reason}")]
    Missing {
        /// The setting that makes it necessary.
        origin: Origin,
        /// The setting.
        key: String,
        /// The remedy.
        reason: String,
    },
    /// A value of the right type that cannot be used.
    #[error("{origin}: {key}: '{value}' is not valid: {reason}")]
    Refused {
        /// Its place.
        origin: Origin,
        /// The setting.
        key: String,
        /// The value; `***` where it is a secret.
        value: String,
        /// The reason, and what to write instead.
        reason: String,
    },
    /// A setting that one source gives twice, possibly in two spellings.
    #[error(
        "{second}: {key} is given twice, first at {first}; keep one of them (kebab-case, camelCase and snake_case are the same key)"
    )]
    Repeated {
        /// The setting.
        key: String,
        /// The first place.
        first: Origin,
        /// The second place.
        second: Origin,
    },
    /// A setting that is allowed only in some sources.
    #[error("{origin}: {key} cannot be set here: {reason}")]
    Misplaced {
        /// Its place.
        origin: Origin,
        /// The setting.
        key: String,
        /// Why not, and where it can be set.
        reason: String,
    },
    /// A setting of a feature that does not exist yet.
    #[error("{origin}: {key} is not built in yet: {reason}")]
    NotBuiltIn {
        /// Its place.
        origin: Origin,
        /// The setting.
        key: String,
        /// The missing feature, and the remedy.
        reason: String,
    },
    /// A placeholder without a value.
    #[error("{origin}: {key}: {reason}")]
    Placeholder {
        /// Its place.
        origin: Origin,
        /// The setting.
        key: String,
        /// The placeholder, and the remedy.
        reason: String,
    },
    /// An environment variable that names two jobs.
    #[error(
        "{origin}: it names both jobs {jobs}, which differ only in case or punctuation; set the value in a file or with --elasticjob.jobs[NAME].KEY=VALUE"
    )]
    AmbiguousJob {
        /// The environment variable.
        origin: Origin,
        /// The jobs that it could mean.
        jobs: String,
    },
    /// A file that is not well-formed.
    #[error("{origin}: {reason}")]
    Syntax {
        /// File and line.
        origin: Origin,
        /// The problem.
        reason: String,
    },
    /// A file that cannot be read.
    #[error("{}: cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A location or profile for which there is no file.
    #[error("{origin}: {what} has no file: looked for {looked_for}")]
    NoFile {
        /// The place that names the location or profile.
        origin: Origin,
        /// The setting, and the location or profile.
        what: String,
        /// The names and folders that were tried.
        looked_for: String,
    },
    /// Two files with the same name in different formats.
    #[error("{} and {} both have an `elasticjob` section; keep one of them", first.display(), second.display())]
    TwoFormats {
        /// One file.
        first: PathBuf,
        /// The other file.
        second: PathBuf,
    },
}

impl SettingError {
    /// The value of a setting is not UTF-8 text.
    pub(super) fn garbled(origin: Origin, key: &[Token]) -> Self {
        let mut whole = Key::default();
        for token in key {
            whole = whole.child(&token.text);
        }
        Self::WrongValue {
            origin,
            key: whole.to_string(),
            value: "a text that is not UTF-8".to_owned(),
            expected: "UTF-8 text; look at the encoding of what sets it".to_owned(),
        }
    }
}
