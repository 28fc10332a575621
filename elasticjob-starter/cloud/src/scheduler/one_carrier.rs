//! The carrier of a registry center: all of its schedulers have the same type. A job goes to any of them, and one that has another
//! carrier would not know what the others run, and would launch it again or count it as lost.

use std::sync::Arc;

use elasticjob::log::{error, warn};
use elasticjob::registry::{CommitError, CreateMode, Refusal, RegistryCenter, SessionId, SessionState, Transaction};
use tokio_util::sync::CancellationToken;

use super::nodes::SCHEDULERS;
use super::store::StoreError;

/// The node of a scheduler, which says its carrier and goes with its session.
pub(super) struct Entry {
    registry: Arc<dyn RegistryCenter>,
    /// The id of the instance.
    scheduler: String,
    carrier: String,
}

impl Entry {
    pub(super) fn new(registry: Arc<dyn RegistryCenter>, scheduler: String, carrier: String) -> Self {
        Self { registry, scheduler, carrier }
    }

    /// Enters this scheduler, where no other one has another carrier. Of two that enter at the same time at least one sees the
    /// other one, as each writes before it looks.
    ///
    /// # Errors
    /// [`StoreError::OtherCarrier`], or the registry center fails.
    pub(super) async fn enter(&self) -> Result<(), StoreError> {
        let Some(path) = self.path() else { return Ok(()) };
        let mut transaction = Transaction::new();
        transaction.create(path.as_str(), self.carrier.as_str(), CreateMode::Ephemeral);
        match self.registry.commit(transaction).await {
            Ok(_) | Err(CommitError::Refused { reason: Refusal::NodeExists, .. }) => {}
            Err(error) => return Err(error.into()),
        }
        for name in self.registry.children(SCHEDULERS).await?.unwrap_or_default() {
            let Some(node) = self.registry.get(&format!("{SCHEDULERS}/{name}")).await? else { continue };
            let other = node.data.text().unwrap_or_default();
            if other != self.carrier {
                self.leave().await;
                let scheduler = name.rsplit_once('@').map_or(name.as_str(), |(scheduler, _)| scheduler).to_owned();
                let (carrier, other) = (self.carrier.clone(), other.to_owned());
                return Err(StoreError::OtherCarrier { carrier, other, scheduler });
            }
        }
        Ok(())
    }

    /// Enters again with each new session, until the scheduler ends.
    pub(super) async fn stay(self, ending: CancellationToken) {
        let mut sessions = self.registry.session();
        loop {
            tokio::select! {
                changed = sessions.changed() => if changed.is_err() { return },
                () = ending.cancelled() => return self.leave().await,
            }
            match self.enter().await {
                Ok(()) => {}
                // Its session was lost, and the other one was started meanwhile.
                Err(wrong @ StoreError::OtherCarrier { .. }) => error!("{wrong}"),
                Err(failed) => warn!("this scheduler is not seen by those that start with another carrier: {failed}"),
            }
        }
    }

    /// Takes the node back. One that stays goes with the session.
    async fn leave(&self) {
        let Some(path) = self.path() else { return };
        let mut transaction = Transaction::new();
        transaction.delete(path, None);
        let _ = self.registry.commit(transaction).await;
    }

    /// The path in the session of now; `None` without one.
    fn path(&self) -> Option<String> {
        match *self.registry.session().borrow() {
            SessionState::Connected { id: SessionId(id), .. } => {
                Some(format!("{SCHEDULERS}/{}@{id:x}", self.scheduler))
            }
            _ => None,
        }
    }
}
