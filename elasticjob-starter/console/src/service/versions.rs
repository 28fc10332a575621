//! The configurations that a job had: the versions that the console saw, who made each, and what changed.
//!
//! The registry center keeps the last version alone. A console with a data file notes each version as its watch tells of it, also
//! when no user looks; without one it notes in memory what its pages show, and what is changed through it.

mod follow;
mod memory;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use elasticjob::ident::JobName;
use elasticjob::operations::{OperationError, StoredConfiguration};
use serde_json::{Map, Value};

use self::memory::Memory;
use super::audit::{ActionRecord, last_actions};
use crate::api::Problem;
use crate::here::Here;
use crate::registries::Registry;
use crate::store::{DataFile, StoreError};

pub(crate) use follow::follow;

/// The most versions of a job that are shown.
pub(crate) const MOST: u32 = 200;

/// An action of the decision log and a version are the same change where they are at most this far apart, in milliseconds: the
/// one has the time of a host, the other that of the registry center.
const NEAR: i64 = 5_000;

/// Whether an action at the one time may have made the version of the other.
pub(crate) fn is_near(action: i64, version: i64) -> bool {
    (action - version).abs() <= NEAR
}

/// A version of the configuration of a job.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Version {
    /// Tells it from the others of the console; 0 before it is kept.
    pub(crate) id: i64,
    /// The version of its node.
    pub(crate) number: i32,
    /// When it was written, by the clock of the registry center.
    pub(crate) at: i64,
    /// Who wrote it; empty where the console does not know.
    pub(crate) actor: String,
    pub(crate) reason: String,
    /// The settings, with secrets masked.
    pub(crate) settings: Map<String, Value>,
}

impl Version {
    /// The version that was read.
    fn of(stored: &StoredConfiguration) -> Self {
        let settings = match serde_json::to_value(stored.masked_settings()) {
            Ok(Value::Object(settings)) => settings.into_iter().filter(|(_, value)| !value.is_null()).collect(),
            _ => Map::new(),
        };
        let (actor, reason) = (String::new(), String::new());
        Self { id: 0, number: stored.version(), at: stored.changed_at(), actor, reason, settings }
    }
}

/// Where versions are kept.
#[derive(Debug)]
pub(crate) enum Versions {
    Memory(Memory),
    File(DataFile),
}

impl Versions {
    pub(crate) fn new(data: Option<DataFile>) -> Self {
        data.map_or_else(|| Self::Memory(Memory::default()), Self::File)
    }

    /// Keeps a version, unless it is there. Who wrote it is added to one that is there.
    async fn add(&self, registry: &str, job: &JobName, version: Version) -> Result<(), StoreError> {
        match self {
            Self::Memory(memory) => memory.add(registry, job, version),
            Self::File(data) => return data.storage().add_version(registry, job, version).await,
        }
        Ok(())
    }

    /// The versions of a job, the last one first.
    async fn of_job(&self, registry: &str, job: &JobName) -> Result<Vec<Version>, StoreError> {
        match self {
            Self::Memory(memory) => Ok(memory.of_job(registry, job)),
            Self::File(data) => data.storage().versions(registry, job, MOST).await,
        }
    }
}

/// Notes a version that was read.
pub(crate) async fn note(here: &Here, job: &JobName, stored: &StoredConfiguration) -> Result<(), StoreError> {
    here.app.versions.add(here.registry.name(), job, Version::of(stored)).await
}

/// Notes the version that a change of the caller made, after it was written. What cannot be noted is in the log: the change was made.
pub(crate) async fn note_change(here: &Here, job: &JobName, before: &StoredConfiguration, reason: &str) {
    // The log says why where it is not kept.
    note(here, job, before).await.ok();
    let after = match here.operations("").configuration(job).await {
        // Another change may have come already: then this one is told by the decision log alone.
        Ok(after) if after.version() == before.version() + 1 => after,
        _ => return,
    };
    let (actor, reason) = (here.identity.name().to_owned(), reason.to_owned());
    let version = Version { actor, reason, ..Version::of(&after) };
    here.app.versions.add(here.registry.name(), job, version).await.ok();
}

/// A change of the configuration of a job.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Changed {
    /// The version that it made; `None` where only the decision log tells of it.
    pub(crate) version: Option<Version>,
    pub(crate) at: i64,
    /// Who did it; empty where it is not known.
    pub(crate) actor: String,
    pub(crate) reason: String,
    /// The differences from the version before; `None` for the first version that is known.
    pub(crate) changes: Option<Vec<String>>,
}

/// The changes of the configuration of a job, the last one first: the versions that are kept, and the actions of the decision log.
pub(crate) async fn history(here: &Here, job: &JobName) -> Result<Vec<Changed>, Problem> {
    match here.views().configuration(job).await {
        Ok(stored) => note(here, job, &stored).await?,
        // Its history may say why.
        Err(OperationError::Unreadable { .. }) => {}
        Err(wrong) => return Err(wrong.into()),
    }
    let versions = here.app.versions.of_job(here.registry.name(), job).await?;
    let actions = actions(&here.registry, job).await?;
    Ok(joined(versions, actions))
}

/// A version of a job.
pub(crate) async fn version(here: &Here, job: &JobName, id: i64) -> Result<Version, Problem> {
    let versions = here.app.versions.of_job(here.registry.name(), job).await?;
    versions.into_iter().find(|version| version.id == id).ok_or_else(|| Problem::no_such_version(job, id))
}

/// The changes of the configuration in the decision log; none where there is no log.
async fn actions(registry: &Registry, job: &JobName) -> Result<Vec<ActionRecord>, Problem> {
    let actions = last_actions(registry, job, MOST).await?;
    let is_change =
        |action: &ActionRecord| action.action().name() == "update-configuration" && action.action().outcome() == "done";
    Ok(actions.into_iter().filter(is_change).collect())
}

/// Both in one list. An action that made a version says who and why; one that made none that is known stands by itself.
fn joined(versions: Vec<Version>, actions: Vec<ActionRecord>) -> Vec<Changed> {
    let mut used = BTreeSet::new();
    let mut list: Vec<Changed> = Vec::new();
    for (index, version) in versions.iter().enumerate() {
        let before = versions.get(index + 1);
        let changes = before.map(|before| differences(&before.settings, &version.settings));
        let near = |action: &&(usize, &ActionRecord)| is_near(action.1.0.at.timestamp_millis(), version.at);
        let free = actions.iter().enumerate().filter(|(index, _)| !used.contains(index)).collect::<Vec<_>>();
        let action = free.iter().filter(near).min_by_key(|(_, it)| (it.0.at.timestamp_millis() - version.at).abs());
        let (mut actor, mut reason) = (version.actor.clone(), version.reason.clone());
        if let Some((index, action)) = action {
            used.insert(*index);
            if actor.is_empty() {
                (actor, reason) = (action.action().actor().to_owned(), action.0.reason.clone());
            }
        }
        list.push(Changed { version: Some(version.clone()), at: version.at, actor, reason, changes });
    }
    let others = actions.iter().enumerate().filter(|(index, _)| !used.contains(index)).map(|(_, action)| Changed {
        version: None,
        at: action.0.at.timestamp_millis(),
        actor: action.action().actor().to_owned(),
        reason: action.0.reason.clone(),
        changes: Some(action.action().parts().into_iter().map(str::to_owned).collect()),
    });
    list.extend(others);
    list.sort_by_key(|changed| std::cmp::Reverse(changed.at));
    list
}

/// The settings that differ, each with both values. Both have their secrets masked.
fn differences(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<String> {
    let (before, after) = (flat(before), flat(after));
    let keys: BTreeSet<&String> = before.iter().chain(&after).map(|(key, _)| key).collect();
    let value = |of: &[(String, String)], key: &str| {
        of.iter().find(|(one, _)| one == key).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let differs = keys.into_iter().map(|key| (key, value(&before, key), value(&after, key)));
    differs
        .filter(|(_, one, other)| one != other)
        .map(|(key, one, other)| format!("{key}: '{one}' -> '{other}'"))
        .collect()
}

/// The settings with their texts, properties as `props.KEY`.
pub(crate) fn flat(settings: &Map<String, Value>) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => {
            values.iter().map(|value| value.as_str().unwrap_or_default()).collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    };
    let mut flat = Vec::new();
    for (key, value) in settings {
        match value {
            Value::Object(props) => {
                flat.extend(props.iter().map(|(name, value)| (format!("{key}.{name}"), text(value))))
            }
            value => flat.push((key.clone(), text(value))),
        }
    }
    flat
}
