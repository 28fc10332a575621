//! The notes of a scheduler of carried jobs about a `DAEMON` job that the instances of the job cannot make: its processes end before they
//! join, or do not start.

use serde::{Deserialize, Serialize};

use super::{OperationError, Operations};
use crate::ident::JobName;
use crate::registry::SessionId;
use crate::registry::layout::JobPath;

/// A process of a `DAEMON` job that ends soon after each of its starts, or that does not start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DaemonTrouble {
    /// The number of the process.
    pub process: u32,
    /// The number of its ends since it was well last; 0 where it does not start.
    pub ends: u32,
    /// Its last end and the time of its next start, or what its start waits for, as a text.
    pub why: String,
    /// Since when it is told, in milliseconds since 1970 by the clock of the scheduler.
    pub since: i64,
}

impl DaemonTrouble {
    /// A process that ends again and again.
    pub fn ends(process: u32, ends: u32, why: impl Into<String>, since: i64) -> Self {
        Self { process, ends, why: why.into(), since }
    }

    /// A process that does not start.
    pub fn waits(process: u32, why: impl Into<String>, since: i64) -> Self {
        Self { process, ends: 0, why: why.into(), since }
    }
}

impl Operations {
    /// Notes that a process of a `DAEMON` job ends again and again, or does not start, for as long as the session of this registry
    /// center lasts, which is `session`; `None` that all are well. The job need not have joined the registry center: it is known from
    /// then on. Returns `false` where the note of another session stands, as of the scheduler that looked after the job before: it goes
    /// with that session, if not earlier.
    ///
    /// # Errors
    /// [`OperationError::Read`], [`OperationError::Write`].
    pub async fn note_daemon(
        &self,
        job: &JobName,
        session: SessionId,
        trouble: Option<&DaemonTrouble>,
    ) -> Result<bool, OperationError> {
        let there = self.get(JobPath::Daemon.absolute(job)).await?;
        if there.is_some_and(|node| node.stat.ephemeral_owner.is_some_and(|owner| owner != session)) {
            return Ok(false);
        }
        let data = trouble.map(|trouble| serde_json::to_string(trouble).expect("texts and numbers have a JSON form"));
        self.note(job, &JobPath::Daemon, data).await?;
        Ok(true)
    }

    /// What is noted of the processes of a job. What cannot be read says nothing.
    pub(super) async fn daemon(&self, job: &JobName) -> Result<Option<DaemonTrouble>, OperationError> {
        let node = self.get(JobPath::Daemon.absolute(job)).await?;
        Ok(node.and_then(|node| serde_json::from_slice(&node.data).ok()))
    }
}
