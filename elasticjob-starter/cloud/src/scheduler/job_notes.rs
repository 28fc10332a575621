//! The notes of this scheduler about jobs in the registry center, for as long as its session lasts.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;

use elasticjob::ident::JobName;
use elasticjob::log::warn;
use elasticjob::operations::{CarriedWait, DaemonTrouble, OperationError, Operations};
use elasticjob::registry::{RegistryCenter, SessionId, SessionState};

/// What can be noted of a job.
pub(super) trait Note: Sized + Send + Sync {
    /// What it says, for the log.
    const WHAT: &str;

    /// Whether it says the same as what is noted.
    fn is_same(&self, noted: &Self) -> bool;

    /// Writes it in place of what is noted; `None` removes that. Returns `false` where another scheduler's note stands.
    fn write(
        operations: &Operations,
        session: SessionId,
        job: &JobName,
        note: Option<&Self>,
    ) -> impl Future<Output = Result<bool, OperationError>> + Send;
}

impl Note for DaemonTrouble {
    const WHAT: &str = "why the processes of the DAEMON job do not run";

    /// How it ends may say another time after each pause: that alone is not noted.
    fn is_same(&self, noted: &Self) -> bool {
        let is_same = (self.process, self.ends, self.since) == (noted.process, noted.ends, noted.since);
        is_same && (self.ends > 0 || self.why == noted.why)
    }

    async fn write(
        operations: &Operations,
        session: SessionId,
        job: &JobName,
        note: Option<&Self>,
    ) -> Result<bool, OperationError> {
        operations.note_daemon(job, session, note).await
    }
}

impl Note for Vec<CarriedWait> {
    const WHAT: &str = "which items of the job were launched and have not started";

    fn is_same(&self, noted: &Self) -> bool {
        self == noted
    }

    async fn write(
        operations: &Operations,
        session: SessionId,
        job: &JobName,
        note: Option<&Self>,
    ) -> Result<bool, OperationError> {
        operations.note_waits(job, session, note.map(Vec::as_slice).unwrap_or_default()).await?;
        Ok(true)
    }
}

/// What is noted, by job, with the session that it is noted for.
pub(super) struct Noted<T> {
    registry: Arc<dyn RegistryCenter>,
    noted: BTreeMap<JobName, (SessionId, T)>,
}

impl<T: Note> Noted<T> {
    /// Nothing is noted so far.
    pub(super) fn new(registry: Arc<dyn RegistryCenter>) -> Self {
        Self { registry, noted: BTreeMap::new() }
    }

    /// Notes what is not noted in this session, and removes what is not wanted any more. What cannot be written now is written the
    /// next time.
    pub(super) async fn note(&mut self, mut wanted: BTreeMap<JobName, T>) {
        let SessionState::Connected { id: session, .. } = *self.registry.session().borrow() else { return };
        let operations = Operations::new(self.registry.clone());
        let jobs: BTreeSet<JobName> = wanted.keys().chain(self.noted.keys()).cloned().collect();
        for job in jobs {
            let note = wanted.remove(&job);
            if let (Some(note), Some((of, noted))) = (&note, self.noted.get(&job))
                && *of == session
                && note.is_same(noted)
            {
                continue;
            }
            match (T::write(&operations, session, &job, note.as_ref()).await, note) {
                (Ok(true), Some(note)) => drop(self.noted.insert(job, (session, note))),
                // It is written when that of the scheduler of before is gone.
                (Ok(false), Some(_)) => {}
                (Ok(_), None) => drop(self.noted.remove(&job)),
                (Err(error), _) => {
                    let what = T::WHAT;
                    warn!(%job, "{what} is not noted in the registry center: {error}; it is tried again");
                }
            }
        }
    }
}
