//! Changes of configurations. What a reader sees is masked, so a masked value that comes back means that the value stays.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use elasticjob::config::{JobConfiguration, JobSettings, Message};
use elasticjob::ident::{InstanceId, ShardingItem};
use elasticjob::operations::{
    ActionEnd, ConfigurationChange, JobSnapshot, Operations, ServerStatus, StoredConfiguration,
};
use elasticjob::schedule::Schedule;
use elasticjob::secret::Secret;
use elasticjob::sharding::{ShardingStrategies, sort_as_java};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::now;
use super::time::Time;
use crate::api::Problem;
use crate::texts;

/// How many fires are shown.
const FIRES: usize = 5;

/// What is no change of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoChange {
    /// Not settings.
    Unreadable(String),
    /// A text with the mask of a secret in it, which is not the text that is shown.
    Masked {
        /// The setting; a property as `props.KEY`.
        setting: String,
    },
}

impl NoChange {
    /// What is wrong, and what to write instead.
    pub(crate) fn message(&self) -> Message {
        match self {
            Self::Unreadable(reason) => texts::settings_unreadable(reason),
            Self::Masked { setting } => texts::masked(setting, Secret::MASK),
        }
    }
}

impl fmt::Display for NoChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl From<NoChange> for Problem {
    fn from(wrong: NoChange) -> Self {
        let detail = wrong.message();
        match wrong {
            NoChange::Unreadable(_) => Self::bad_request(detail),
            NoChange::Masked { setting } => {
                Self::invalid_configuration(detail.clone(), [(setting.as_str(), detail.as_str())].into_iter())
            }
        }
    }
}

/// Records that a change was refused before it came to the operations, which record what they refuse.
pub(crate) fn record_refusal(operations: &Operations, stored: &StoredConfiguration, why: &Message) {
    let ended = ActionEnd::Refused(why.clone());
    operations.record_action("update-configuration", stored.configuration.job_name(), Vec::new(), ended);
}

/// The settings that a change leads to. `patch` has the settings that change, with `null` for those that go; a full
/// change has all settings.
pub(crate) fn changed(
    stored: &StoredConfiguration,
    change: Map<String, Value>,
    is_patch: bool,
) -> Result<JobSettings, NoChange> {
    let unreadable = |error: serde_json::Error| NoChange::Unreadable(error.to_string());
    let settings = stored.configuration.settings();
    let (current, masked) = (object(&settings)?, object(&settings.masked())?);
    let mut result = if is_patch { current.clone() } else { Map::new() };
    for (key, value) in change {
        match (key.as_str(), value) {
            ("props", Value::Object(props)) => {
                let of = |from: &Map<String, Value>| from.get("props").and_then(Value::as_object).cloned();
                let (current, masked) = (of(&current).unwrap_or_default(), of(&masked).unwrap_or_default());
                let mut merged = if is_patch { current.clone() } else { Map::new() };
                for (key, value) in props {
                    put(&mut merged, &current, &masked, key, value)
                        .map_err(|key| NoChange::Masked { setting: format!("props.{key}") })?;
                }
                result.insert(key, Value::Object(merged));
            }
            (_, value) => {
                put(&mut result, &current, &masked, key, value).map_err(|setting| NoChange::Masked { setting })?;
            }
        }
    }
    serde_json::from_value(Value::Object(result)).map_err(unreadable)
}

/// The change that puts an old version back: all its settings, as a patch. What has a mask stays as it is stored, as
/// no version has the secret: the second value names these settings.
pub(crate) fn put_back(
    stored: &StoredConfiguration,
    version: &Map<String, Value>,
) -> Result<(Map<String, Value>, Vec<String>), NoChange> {
    let current = object(&stored.masked_settings())?;
    let props = |of: &Map<String, Value>| of.get("props").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut stays = Vec::new();
    let mut patch = |current: &Map<String, Value>, version: &Map<String, Value>, before: &str| {
        // A secret that is missing in the version stays, too: no user could put it back again.
        let gone = current.iter().filter(|(key, value)| !version.contains_key(*key) && !has_mask(value));
        let mut patch: Map<String, Value> = gone.map(|(key, _)| (key.clone(), Value::Null)).collect();
        for (key, value) in version {
            match has_mask(value) || current.get(key).is_some_and(has_mask) {
                true => stays.push(format!("{before}{key}")),
                false => drop(patch.insert(key.clone(), value.clone())),
            }
        }
        let secrets = current.iter().filter(|(key, value)| has_mask(value) && !version.contains_key(*key));
        stays.extend(secrets.map(|(key, _)| format!("{before}{key}")));
        patch
    };
    let without_props = |of: &Map<String, Value>| {
        let rest = of.iter().filter(|(key, _)| *key != "props");
        rest.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>()
    };
    let mut change = patch(&without_props(&current), &without_props(version), "");
    change.insert("props".to_owned(), Value::Object(patch(&props(&current), &props(version), "props.")));
    Ok((change, stays))
}

/// Puts a value. A text with a mask that is not the text that was shown is refused, with its key: no mask is written.
fn put(
    into: &mut Map<String, Value>,
    current: &Map<String, Value>,
    masked: &Map<String, Value>,
    key: String,
    value: Value,
) -> Result<(), String> {
    let stays = masked.get(&key) == Some(&value);
    match (value, current.get(&key)) {
        (Value::Null, _) => drop(into.remove(&key)),
        (_, Some(current)) if stays => drop(into.insert(key, current.clone())),
        (value, current) if has_mask(&value) && (current.is_none() || current != masked.get(&key)) => return Err(key),
        (value, _) => drop(into.insert(key, value)),
    }
    Ok(())
}

/// Whether a text has the mask of a secret.
pub(super) fn has_mask(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains(Secret::MASK))
}

/// The settings that are set, by their names.
pub(super) fn object(settings: &JobSettings) -> Result<Map<String, Value>, NoChange> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(mut settings)) => {
            settings.retain(|_, value| !value.is_null());
            Ok(settings)
        }
        Ok(_) => Err(NoChange::Unreadable("settings are an object".to_owned())),
        Err(error) => Err(NoChange::Unreadable(error.to_string())),
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
    /// Items that had a parameter and would have none.
    pub(crate) items_without_parameter: Vec<u32>,
    /// Items that another instance gets at the next sharding, with the instances that are online now. `null` where that is
    /// not known: the strategy is one of the programs.
    pub(crate) moved: Option<Vec<Moved>>,
    /// Whether the next start of a program undoes the change, as its configuration has `overwrite`.
    pub(crate) is_overwritten: bool,
    /// New values that Java instances of the job refuse or misunderstand.
    pub(crate) foreign_to_java: Vec<String>,
    /// New types that the programs of the job must have.
    pub(crate) own_types: Vec<String>,
    /// Changed properties that programs handle in their own way.
    pub(crate) bound_to_programs: Vec<String>,
    /// The next fires as they are now.
    #[schema(value_type = Vec<String>)]
    pub(crate) fires_before: Vec<Time>,
    /// The next fires after the change.
    #[schema(value_type = Vec<String>)]
    pub(crate) fires_after: Vec<Time>,
}

/// Items that another instance gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Moved {
    /// Numbers and ranges: `0-3, 7`.
    pub(crate) items: String,
    /// The instance that has them; `null` for items that no instance has.
    pub(crate) from: Option<String>,
    pub(crate) to: String,
}

/// The items that the next sharding moves; `None` where only the programs know the strategy.
fn moved(snapshot: &JobSnapshot, before: &JobConfiguration, after: &JobConfiguration) -> Option<Vec<Moved>> {
    let what = |of: &JobConfiguration| (of.sharding_total_count(), of.sharding_strategy_type().to_owned());
    if what(before) == what(after) {
        return Some(Vec::new());
    }
    let strategies = ShardingStrategies::built_in();
    let strategy = strategies.get(after.sharding_strategy_type()).ok()?;
    let enabled: BTreeSet<&str> =
        snapshot.servers().filter(|(_, status)| *status == ServerStatus::Enabled).map(|(server, _)| server).collect();
    let available = snapshot.instances().filter(|(_, server)| enabled.contains(server));
    let mut instances: Vec<InstanceId> = available.map(|(instance, _)| instance.clone()).collect();
    if instances.is_empty() {
        return Some(Vec::new());
    }
    sort_as_java(&mut instances);
    let assigned = strategy.assign(after.job_name(), &instances, after.sharding_total_count());
    let mut moves: BTreeMap<(Option<&InstanceId>, &InstanceId), BTreeSet<ShardingItem>> = BTreeMap::new();
    for (to, items) in &assigned {
        for item in items {
            let from = snapshot.items.get(item).and_then(|nodes| nodes.owner.as_ref());
            if from != Some(to) {
                moves.entry((from, to)).or_default().insert(*item);
            }
        }
    }
    let moves = moves.into_iter().map(|((from, to), items)| Moved {
        items: ranges(&items),
        from: from.map(ToString::to_string),
        to: to.to_string(),
    });
    Some(moves.collect())
}

/// Items as numbers and ranges: `0-3, 7`.
pub(crate) fn ranges(items: &BTreeSet<ShardingItem>) -> String {
    let mut ranges: Vec<(ShardingItem, ShardingItem)> = Vec::new();
    for item in items {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *item => *last = *item,
            _ => ranges.push((*item, *item)),
        }
    }
    let text = |(first, last): &(ShardingItem, ShardingItem)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(", ")
}

impl ChangeView {
    /// The items without a parameter, as numbers and ranges.
    pub(crate) fn without_parameter(&self) -> String {
        ranges(&self.items_without_parameter.iter().copied().collect())
    }

    pub(crate) fn of(
        snapshot: &JobSnapshot,
        before: &JobConfiguration,
        after: &JobConfiguration,
        change: ConfigurationChange,
    ) -> Self {
        let fires = |configuration: &JobConfiguration| -> Vec<Time> {
            let upcoming = |schedule: &Schedule| schedule.upcoming(now()).take(FIRES).map(Time).collect();
            configuration.schedule().map(upcoming).unwrap_or_default()
        };
        let is_overwritten = after.overwrite() && !change.changes.is_empty();
        let lost = |item: &u32| before.sharding_parameter(*item).is_some() && after.sharding_parameter(*item).is_none();
        let overwrite = "overwrite is true: the next start of the program puts its own configuration back".to_owned();
        let overwrite = is_overwritten.then_some(overwrite);
        Self {
            moved: moved(snapshot, before, after),
            items_without_parameter: (0..before.sharding_total_count()).filter(lost).collect(),
            is_overwritten,
            foreign_to_java: change.foreign_to_java.iter().map(ToString::to_string).collect(),
            own_types: change.own_types.clone(),
            notes: change.notes().into_iter().chain(overwrite).collect(),
            bound_to_programs: change.bound_to_programs,
            changes: change.changes,
            fires_before: fires(before),
            fires_after: fires(after),
        }
    }
}
