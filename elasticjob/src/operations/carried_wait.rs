//! The note of a scheduler of carried jobs about a run that was launched and does not start; the record of the run cannot say that.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{OperationError, Operations, read};
use crate::fire::Fire;
use crate::ident::{JobName, ShardingItem};
use crate::registry::SessionId;
use crate::registry::layout::JobPath;

/// Items of a carried job that were launched for a fire and have not started, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CarriedWait {
    /// The time of the fire, in milliseconds since 1970.
    pub at: i64,
    /// Whether it is a manual trigger.
    pub manual: bool,
    /// The items.
    pub items: BTreeSet<ShardingItem>,
    /// The name of the carrier that has them.
    pub carrier: String,
    /// The reason for the wait, in the words of the carrier.
    pub why: String,
    /// Since when the first of them waits, in milliseconds since 1970 by the clock of the scheduler.
    pub since: i64,
}

impl CarriedWait {
    /// Items that do not start.
    pub fn new(
        fire: Fire,
        items: impl IntoIterator<Item = ShardingItem>,
        carrier: impl Into<String>,
        why: impl Into<String>,
        since: i64,
    ) -> Self {
        Self {
            at: fire.at(),
            manual: matches!(fire, Fire::Manual { .. }),
            items: items.into_iter().collect(),
            carrier: carrier.into(),
            why: why.into(),
            since,
        }
    }
}

impl Operations {
    /// Notes which items of a job a scheduler launched that have not started, for as long as its session lasts; an empty list that
    /// all have started. `session` is the session of this registry center. Nothing is noted of a job that was removed.
    ///
    /// # Errors
    /// [`OperationError::Read`], [`OperationError::Write`].
    pub async fn note_waits(
        &self,
        job: &JobName,
        session: SessionId,
        waits: &[CarriedWait],
    ) -> Result<(), OperationError> {
        let data =
            (!waits.is_empty()).then(|| serde_json::to_string(waits).expect("texts and numbers have a JSON form"));
        if data.is_some() && self.get(JobPath::Root.absolute(job)).await?.is_none() {
            return Ok(());
        }
        self.note(job, &JobPath::Wait(session), data).await
    }

    /// What all schedulers note of items of a job that do not start. What cannot be read says nothing.
    pub(super) async fn waits(&self, job: &JobName) -> Result<Vec<CarriedWait>, OperationError> {
        let names = self.names(JobPath::Waits.absolute(job)).await?;
        let paths = names.iter().filter_map(|name| JobPath::Waits.child(job, name));
        let nodes = read::all(paths.map(async |path| {
            let node = self.get(path.absolute(job)).await?;
            // A node of another session than its name says was written while one ended and the next began.
            Ok::<_, OperationError>(
                node.filter(|node| node.stat.ephemeral_owner.map(JobPath::Wait).as_ref() == Some(&path)),
            )
        }));
        let noted = nodes.await?.into_iter().flatten();
        Ok(noted.filter_map(|node| serde_json::from_slice::<Vec<CarriedWait>>(&node.data).ok()).flatten().collect())
    }
}
