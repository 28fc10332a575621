//! Changes of configurations. What a reader sees is masked, so a masked value that comes back means that the value stays.

use elasticjob::config::{JobConfiguration, JobSettings};
use elasticjob::operations::{ConfigurationChange, StoredConfiguration};
use elasticjob::schedule::Schedule;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::now;
use super::time::Time;

/// So many fires are shown.
const FIRES: usize = 5;

/// A text that is no change of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NoChange(String);

/// The settings that a change leads to. `patch` has the settings that change, with `null` for those that go; a full
/// change has all settings.
pub(crate) fn changed(
    stored: &StoredConfiguration,
    change: Map<String, Value>,
    is_patch: bool,
) -> Result<JobSettings, NoChange> {
    let no_change = |error: serde_json::Error| NoChange(error.to_string());
    let settings = stored.configuration.settings();
    let (current, masked) = (object(&settings)?, object(&settings.masked())?);
    let mut result = if is_patch { current.clone() } else { Map::new() };
    for (key, value) in change {
        match (key.as_str(), value) {
            ("props", Value::Object(props)) => {
                let of = |from: &Map<String, Value>| from.get("props").and_then(Value::as_object).cloned();
                let (current, masked) = (of(&current).unwrap_or_default(), of(&masked).unwrap_or_default());
                let mut merged = if is_patch { current.clone() } else { Map::new() };
                props.into_iter().for_each(|(key, value)| put(&mut merged, &current, &masked, key, value));
                result.insert(key, Value::Object(merged));
            }
            (_, value) => put(&mut result, &current, &masked, key, value),
        }
    }
    serde_json::from_value(Value::Object(result)).map_err(no_change)
}

fn put(
    into: &mut Map<String, Value>,
    current: &Map<String, Value>,
    masked: &Map<String, Value>,
    key: String,
    value: Value,
) {
    let stays = masked.get(&key) == Some(&value);
    match (value, current.get(&key)) {
        (Value::Null, _) => drop(into.remove(&key)),
        (_, Some(current)) if stays => drop(into.insert(key, current.clone())),
        (value, _) => drop(into.insert(key, value)),
    }
}

fn object(settings: &JobSettings) -> Result<Map<String, Value>, NoChange> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(mut settings)) => {
            settings.retain(|_, value| !value.is_null());
            Ok(settings)
        }
        Ok(_) => Err(NoChange("settings are an object".to_owned())),
        Err(error) => Err(NoChange(error.to_string())),
    }
}

/// What a change does.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangeView {
    /// The differences, with secrets masked.
    pub(crate) changes: Vec<String>,
    /// What to know before it is made.
    pub(crate) notes: Vec<String>,
    /// The next fires as they are now.
    #[schema(value_type = Vec<String>)]
    pub(crate) fires_before: Vec<Time>,
    /// The next fires after the change.
    #[schema(value_type = Vec<String>)]
    pub(crate) fires_after: Vec<Time>,
}

impl ChangeView {
    pub(crate) fn of(before: &JobConfiguration, after: &JobConfiguration, change: ConfigurationChange) -> Self {
        let fires = |configuration: &JobConfiguration| -> Vec<Time> {
            let upcoming = |schedule: &Schedule| schedule.upcoming(now()).take(FIRES).map(Time).collect();
            configuration.schedule().map(upcoming).unwrap_or_default()
        };
        let foreign = change.foreign_to_java.iter().map(|value| format!("not for Java instances of the job: {value}"));
        let own = change.own_types.iter();
        let own = own.map(|value| format!("not built in, so the programs of the job have to have it: {value}"));
        let overwrite = "overwrite is true: the next start of the program puts its own configuration back".to_owned();
        let overwrite = (after.overwrite() && !change.changes.is_empty()).then_some(overwrite);
        Self {
            notes: foreign.chain(own).chain(change.bound_to_programs).chain(overwrite).collect(),
            changes: change.changes,
            fires_before: fires(before),
            fires_after: fires(after),
        }
    }
}
