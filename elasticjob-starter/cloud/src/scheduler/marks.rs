//! Notes in the registry center for which fire each item was launched last.
//!
//! A scheduler that takes an item over asks the carrier, which may not know the launch: it was never made, or it is gone, as
//! on another host. Only the note tells. Without it, an item that may not run twice is started; with it, it is lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::registry::{CommitError, CreateMode, Refusal, RegistryCenter, RegistryError, Transaction};

use super::kept;
use super::nodes::{CARRIED, LAUNCHED, Node};
use crate::carrier::LaunchId;

/// How often a write is tried when other schedulers write the note of other items.
const ATTEMPTS: usize = 8;

/// The notes.
#[derive(Debug, Clone)]
pub(super) struct Marks(Arc<dyn RegistryCenter>);

/// The note of a job: for which fire each item was launched last.
#[derive(Debug, Clone, Default)]
pub(super) struct Note {
    launched: BTreeMap<ShardingItem, String>,
    /// Of its node, where there is one.
    version: Option<i32>,
}

impl Note {
    /// The items that were launched last for this fire.
    pub(super) fn of(&self, id: &LaunchId) -> Vec<ShardingItem> {
        let fire = id.to_string();
        self.launched.iter().filter(|(_, launched)| **launched == fire).map(|(item, _)| *item).collect()
    }

    /// The items that were launched last for another fire, each with its launch.
    pub(super) fn formers(
        &self,
        id: &LaunchId,
        items: impl Iterator<Item = ShardingItem>,
    ) -> impl Iterator<Item = (LaunchId, ShardingItem)> {
        let former = move |item| self.launched.get(&item)?.parse().ok().filter(|former| former != id);
        items.filter_map(move |item| Some((former(item)?, item)))
    }

    /// Whether an item was launched last for another fire.
    pub(super) fn has_other(&self, id: &LaunchId, item: ShardingItem) -> bool {
        self.launched.get(&item).is_some_and(|launched| *launched != id.to_string())
    }

    /// The items from this number on.
    pub(super) fn from(&self, first: ShardingItem) -> impl Iterator<Item = ShardingItem> {
        self.launched.range(first..).map(|(item, _)| *item)
    }

    /// Leaves an item out of what is written next.
    pub(super) fn leave_out(&mut self, item: ShardingItem) {
        self.launched.remove(&item);
    }
}

impl Marks {
    pub(super) fn new(registry: Arc<dyn RegistryCenter>) -> Self {
        Self(registry)
    }

    /// Notes that items are about to be launched, over what was read of the job.
    pub(super) async fn note(&self, id: &LaunchId, items: &[ShardingItem], read: Note) -> Result<(), String> {
        let path = path(&id.job);
        let mut why = String::new();
        let mut known = Some(read);
        for _ in 0..ATTEMPTS {
            let Note { launched: before, version } = match known.take() {
                Some(known) => known,
                None => self.read(&id.job).await?,
            };
            let mut launched = before.clone();
            launched.extend(items.iter().map(|item| (*item, id.to_string())));
            let text = serde_json::to_string(&launched).expect("texts have a JSON form");
            let mut transaction = Transaction::new();
            // A job that is removed has no note, and launches nothing any more.
            let registration = transaction.check(Node::Job(id.job.clone()).path(), None);
            match version {
                Some(_) if before == launched => return Ok(()),
                Some(version) => transaction.set(path.clone(), text.as_str(), Some(version)),
                None => transaction.create(path.clone(), text.as_str(), CreateMode::Persistent),
            };
            match self.0.commit(transaction).await {
                Ok(_) => return Ok(()),
                Err(CommitError::Refused { index, reason: Refusal::NoNode, .. }) if index == registration => {
                    return Err(format!("job '{}' is not registered any more", id.job));
                }
                Err(CommitError::Refused {
                    reason: Refusal::BadVersion | Refusal::NodeExists | Refusal::NoNode,
                    ..
                }) => {}
                // It may have been applied: reading shows it.
                Err(error) => why = error.to_string(),
            }
        }
        Err(format!("the launch cannot be noted in the registry center: {why}"))
    }

    /// Whether no other place has run the job.
    pub(super) async fn is_only_at(&self, job: &JobName, place: &str) -> Result<bool, RegistryError> {
        let carried = self.0.children(CARRIED).await?.unwrap_or_default();
        let own = kept::name(place, job);
        Ok(carried.iter().all(|name| *name == own || kept::job_of(name) != Some(job.as_str())))
    }

    /// Reads the note of a job. A job that was never launched has an empty one.
    pub(super) async fn read(&self, job: &JobName) -> Result<Note, String> {
        let node = self.0.get(&path(job)).await.map_err(|error| error.to_string())?;
        Ok(node.map_or_else(Note::default, |node| {
            let launched = serde_json::from_str(node.data.text().unwrap_or_default()).unwrap_or_default();
            Note { launched, version: Some(node.stat.version) }
        }))
    }
}

fn path(job: &JobName) -> String {
    format!("{LAUNCHED}/{job}")
}
