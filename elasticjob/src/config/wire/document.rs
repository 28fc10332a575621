//! A configuration in the registry as it stands there: keys and texts, not understood yet.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_yaml_ng::Value;

use super::{WireError, implicit};

/// The keys whose value is one text, flag or number. The name of the thread pool's key in releases before 3.0.5 is the
/// second of the two.
const SCALARS: [&str; 20] = [
    "cron",
    "description",
    "disabled",
    "failover",
    "jobErrorHandlerType",
    "jobExecutorThreadPoolSizeProviderType",
    "jobExecutorServiceHandlerType",
    "jobName",
    "jobParameter",
    "jobShardingStrategyType",
    "label",
    "maxTimeDiffSeconds",
    "misfire",
    "monitorExecution",
    "overwrite",
    "reconcileIntervalMinutes",
    "shardingItemParameters",
    "shardingTotalCount",
    "staticSharding",
    "timeZone",
];

/// The entries of a document. Scalars are kept as they are written, since the reader's own idea of types is that of YAML
/// 1.2: it would turn the text `0o17` into 15.
#[derive(Default)]
pub(super) struct Entries {
    scalars: BTreeMap<&'static str, String>,
    pub(super) listeners: Vec<String>,
    pub(super) props: BTreeMap<String, String>,
    pub(super) extra: Option<Value>,
    pub(super) unknown: Vec<(String, Value)>,
}

impl Entries {
    /// The text of a key; none where it is missing or null.
    pub(super) fn text(&self, key: &'static str) -> Option<String> {
        self.scalars.get(key).cloned()
    }

    pub(super) fn flag(&self, key: &'static str) -> Result<Option<bool>, WireError> {
        self.parsed(key, "true or false", implicit::flag)
    }

    pub(super) fn number<N: TryFrom<i64>>(&self, key: &'static str) -> Result<Option<N>, WireError> {
        self.parsed(key, "a whole number that is possible here", |text| N::try_from(implicit::integer(text)?).ok())
    }

    fn parsed<T>(
        &self,
        key: &'static str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, WireError> {
        let Some(text) = self.scalars.get(key) else { return Ok(None) };
        match parse(text) {
            Some(value) => Ok(Some(value)),
            None => Err(WireError::Type { key, value: text.clone(), expected }),
        }
    }
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of settings")
    }

    // Of a repeated key the last one counts, as in Java.
    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Entries, M::Error> {
        let mut entries = Entries::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "jobListenerTypes" => entries.listeners = map.next_value::<Option<_>>()?.unwrap_or_default(),
                "props" => {
                    let props: Option<BTreeMap<String, Option<String>>> = map.next_value()?;
                    let text = |(key, value): (String, Option<String>)| match value {
                        Some(value) => Ok((key, value)),
                        None => Err(serde::de::Error::custom(format_args!("props: '{key}' has no value"))),
                    };
                    entries.props = props.unwrap_or_default().into_iter().map(text).collect::<Result<_, _>>()?;
                }
                "jobExtraConfigurations" => {
                    let extra: Value = map.next_value()?;
                    let empty = extra.is_null() || extra.as_sequence().is_some_and(Vec::is_empty);
                    entries.extra = (!empty).then_some(extra);
                }
                _ => match SCALARS.iter().find(|known| **known == key) {
                    Some(known) => {
                        match map.next_value::<Option<String>>()? {
                            Some(text) => entries.scalars.insert(known, text),
                            None => entries.scalars.remove(known),
                        };
                    }
                    None => {
                        let value = map.next_value()?;
                        entries.unknown.push((key, value));
                    }
                },
            }
        }
        Ok(entries)
    }
}
