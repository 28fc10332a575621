//! A configuration as it is written in the registry: keys and texts that are not interpreted yet.

use std::collections::BTreeMap;

use elasticjob_syntax::job_option::OptionKind;
use elasticjob_syntax::job_settings::JOB_SETTINGS;

use super::{Expected, JOB_NAME, WireError};
use crate::yaml::{self, Node, Value, yaml11_types};

/// The key of the thread pool in releases before 3.0.5.
pub(super) const OLDER_THREAD_POOL: &str = "jobExecutorServiceHandlerType";

/// A key whose value is one text, flag or number.
fn scalar(key: &str) -> Option<&'static str> {
    let single = JOB_SETTINGS.iter().filter(|setting| !matches!(setting.kind, OptionKind::Names | OptionKind::Props));
    let mut known = single.filter_map(|setting| setting.java).chain([JOB_NAME, OLDER_THREAD_POOL]);
    known.find(|known| *known == key)
}

/// The entries of a document. Scalars are kept as they are written: the type that a text looks like is not what a
/// setting means. For example `0o17` as a parameter is a text.
#[derive(Default)]
pub(super) struct Entries {
    scalars: BTreeMap<&'static str, String>,
    pub(super) listeners: Vec<String>,
    pub(super) props: BTreeMap<String, String>,
    pub(super) extra: Option<Node>,
    pub(super) unknown: Vec<(String, Node)>,
}

impl Entries {
    /// The text of a key. `None` where it is missing or null.
    pub(super) fn text(&self, key: &'static str) -> Option<String> {
        self.scalars.get(key).cloned()
    }

    pub(super) fn flag(&self, key: &'static str) -> Result<Option<bool>, WireError> {
        self.parsed(key, Expected::Flag, yaml11_types::flag)
    }

    pub(super) fn number<N: TryFrom<i64>>(&self, key: &'static str) -> Result<Option<N>, WireError> {
        self.parsed(key, Expected::Number, |text| N::try_from(yaml11_types::integer(text)?).ok())
    }

    fn parsed<T>(
        &self,
        key: &'static str,
        expected: Expected,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, WireError> {
        let Some(text) = self.scalars.get(key) else { return Ok(None) };
        match parse(text) {
            Some(value) => Ok(Some(value)),
            None => Err(WireError::Type { key, value: text.clone(), expected }),
        }
    }
}

/// The entries of a document that is a map or empty.
///
/// # Errors
/// [`WireError`] when it is anything else, or is too large or nested too deeply.
pub(super) fn map_of(text: &str) -> Result<Vec<(String, Node)>, WireError> {
    let kind = |found| WireError::Kind { key: "the document".to_owned(), found, expected: Expected::Settings };
    let Some(root) = yaml::parse(text, yaml::LIMITS_OF_CONFIGURATION)? else { return Ok(Vec::new()) };
    match root.value {
        Value::Map(entries) => keyed(entries, "a key"),
        _ if root.is_null() => Ok(Vec::new()),
        _ => Err(kind(root.kind())),
    }
}

/// Entries with their keys as texts. `what` names a key that is no text.
fn keyed(entries: Vec<(Node, Node)>, what: &str) -> Result<Vec<(String, Node)>, WireError> {
    let named = |(key, value): (Node, Node)| match key.value {
        Value::Scalar { text, .. } => Ok((text, value)),
        _ => Err(WireError::Kind { key: what.to_owned(), found: key.kind(), expected: Expected::Value }),
    };
    entries.into_iter().map(named).collect()
}

/// The text of a single value; `None` where it is null.
pub(super) fn single(key: &str, value: &Node) -> Result<Option<String>, WireError> {
    match &value.value {
        Value::Scalar { .. } => Ok(value.text().map(str::to_owned)),
        _ => Err(WireError::Kind { key: key.to_owned(), found: value.kind(), expected: Expected::Value }),
    }
}

impl Entries {
    /// Reads a document. Of a repeated key the last one counts, as in Java.
    pub(super) fn parse(text: &str) -> Result<Self, WireError> {
        let mut entries = Self::default();
        for (key, value) in map_of(text)? {
            match key.as_str() {
                "jobListenerTypes" => entries.listeners = listeners(value)?,
                "props" => entries.props = props(value)?,
                "jobExtraConfigurations" => {
                    let is_empty = value.is_null() || matches!(&value.value, Value::List(items) if items.is_empty());
                    entries.extra = (!is_empty).then_some(value);
                }
                _ => match scalar(&key) {
                    Some(known) => {
                        match single(known, &value)? {
                            Some(text) => entries.scalars.insert(known, text),
                            None => entries.scalars.remove(known),
                        };
                    }
                    None => entries.unknown.push((key, value)),
                },
            }
        }
        Ok(entries)
    }
}

fn listeners(value: Node) -> Result<Vec<String>, WireError> {
    let kind = |found| WireError::Kind { key: "jobListenerTypes".to_owned(), found, expected: Expected::Types };
    if value.is_null() {
        return Ok(Vec::new());
    }
    let found = value.kind();
    let Value::List(items) = value.value else { return Err(kind(found)) };
    items.iter().map(|item| single("jobListenerTypes", item)?.ok_or_else(|| kind("nothing"))).collect()
}

fn props(value: Node) -> Result<BTreeMap<String, String>, WireError> {
    if value.is_null() {
        return Ok(BTreeMap::new());
    }
    let found = value.kind();
    let Value::Map(entries) = value.value else {
        return Err(WireError::Kind { key: "props".to_owned(), found, expected: Expected::Properties });
    };
    let text = |(key, value): (String, Node)| {
        let name = format!("props.{key}");
        match single(&name, &value)? {
            Some(text) => Ok((key, text)),
            None => Err(WireError::Kind { key: name, found: "nothing", expected: Expected::Value }),
        }
    };
    keyed(entries, "a key of props")?.into_iter().map(text).collect()
}
