//! Notes in the registry center for which fire each item was launched last.
//!
//! A scheduler that takes an item over asks the carrier, which may not know the launch: it was never made, or it is gone, as
//! on another host. Only the note tells. Without it, an item that may not run twice is started; with it, it is lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::registry::{CommitError, CreateMode, Refusal, RegistryCenter, Transaction};

use super::nodes::LAUNCHED;
use crate::carrier::LaunchId;

/// How often a write is tried when other schedulers write the note of other items.
const ATTEMPTS: usize = 8;

/// The notes.
#[derive(Debug, Clone)]
pub(super) struct Marks(Arc<dyn RegistryCenter>);

type Note = BTreeMap<ShardingItem, String>;

impl Marks {
    pub(super) fn new(registry: Arc<dyn RegistryCenter>) -> Self {
        Self(registry)
    }

    /// The items that were launched for this fire.
    pub(super) async fn launched(&self, id: &LaunchId) -> Result<Vec<ShardingItem>, String> {
        let (note, _) = self.read(&id.job).await?.unwrap_or_default();
        let fire = id.to_string();
        Ok(note.into_iter().filter(|(_, launched)| *launched == fire).map(|(item, _)| item).collect())
    }

    /// Notes that items are about to be launched.
    pub(super) async fn note(&self, id: &LaunchId, items: &[ShardingItem]) -> Result<(), String> {
        let path = path(&id.job);
        let mut why = String::new();
        for _ in 0..ATTEMPTS {
            let known = self.read(&id.job).await?;
            let mut note = known.clone().map(|(note, _)| note).unwrap_or_default();
            note.extend(items.iter().map(|item| (*item, id.to_string())));
            let text = serde_json::to_string(&note).expect("texts have a JSON form");
            let mut transaction = Transaction::new();
            match known {
                Some((known, _)) if known == note => return Ok(()),
                Some((_, version)) => transaction.set(path.clone(), text.as_str(), Some(version)),
                None => transaction.create(path.clone(), text.as_str(), CreateMode::Persistent),
            };
            match self.0.commit(transaction).await {
                Ok(_) => return Ok(()),
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

    async fn read(&self, job: &JobName) -> Result<Option<(Note, i32)>, String> {
        let node = self.0.get(&path(job)).await.map_err(|error| error.to_string())?;
        Ok(node.map(|node| {
            let note = serde_json::from_str(node.data.text().unwrap_or_default()).unwrap_or_default();
            (note, node.stat.version)
        }))
    }
}

fn path(job: &JobName) -> String {
    format!("{LAUNCHED}/{job}")
}
