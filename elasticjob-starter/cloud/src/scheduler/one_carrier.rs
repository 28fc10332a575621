//! The carrier of a registry center: all of its schedulers have the same type and, where the carrier says so, the same place. A job goes
//! to any of them, and one that has another carrier would not know what the others run, and would launch it again or count it as lost.

use std::sync::Arc;

use elasticjob::log::{error, warn};
use elasticjob::registry::{CommitError, CreateMode, Refusal, RegistryCenter, SessionId, SessionState, Transaction};
use tokio_util::sync::CancellationToken;

use super::nodes::SCHEDULERS;
use super::store::StoreError;
use crate::carrier::Carrier;

/// The carrier that a scheduler says it has: the type, and in a second line the place, where all schedulers have to share it. Schedulers of an
/// earlier release say the type alone.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Used {
    carrier: String,
    place: Option<String>,
}

impl Used {
    fn parse(text: &str) -> Self {
        match text.split_once('\n') {
            Some((carrier, place)) => Self { carrier: carrier.to_owned(), place: Some(place.to_owned()) },
            None => Self { carrier: text.to_owned(), place: None },
        }
    }

    fn text(&self) -> String {
        self.place.as_ref().map_or_else(|| self.carrier.clone(), |place| format!("{}\n{place}", self.carrier))
    }

    /// Whether a scheduler that uses this can work beside one that uses the other.
    fn fits(&self, other: &Self, scheduler: &str) -> Result<(), StoreError> {
        let scheduler = scheduler.to_owned();
        if self.carrier != other.carrier {
            let (carrier, other) = (self.carrier.clone(), other.carrier.clone());
            return Err(StoreError::OtherCarrier { carrier, other, scheduler });
        }
        match (&self.place, &other.place) {
            (Some(place), Some(other)) if place != other => {
                Err(StoreError::OtherPlace { place: place.clone(), other: other.clone(), scheduler })
            }
            _ => Ok(()),
        }
    }
}

/// The node of a scheduler, which says its carrier and goes with its session.
pub(super) struct Entry {
    registry: Arc<dyn RegistryCenter>,
    /// The id of the instance.
    scheduler: String,
    used: Used,
}

impl Entry {
    pub(super) fn new(registry: Arc<dyn RegistryCenter>, scheduler: String, carrier: &dyn Carrier) -> Self {
        let used = Used { carrier: carrier.type_name().to_owned(), place: carrier.shared_place() };
        Self { registry, scheduler, used }
    }

    /// Enters this scheduler, where no other one has another carrier. Of two that enter at the same time at least one sees the
    /// other one, as each writes before it looks.
    ///
    /// # Errors
    /// [`StoreError::OtherCarrier`], [`StoreError::OtherPlace`], or the registry center fails.
    pub(super) async fn enter(&self) -> Result<(), StoreError> {
        let Some(path) = self.path() else { return Ok(()) };
        let mut transaction = Transaction::new();
        transaction.create(path.as_str(), self.used.text(), CreateMode::Ephemeral);
        match self.registry.commit(transaction).await {
            Ok(_) | Err(CommitError::Refused { reason: Refusal::NodeExists, .. }) => {}
            Err(error) => return Err(error.into()),
        }
        for name in self.registry.children(SCHEDULERS).await?.unwrap_or_default() {
            let Some(node) = self.registry.get(&format!("{SCHEDULERS}/{name}")).await? else { continue };
            let other = Used::parse(node.data.text().unwrap_or_default());
            let scheduler = name.rsplit_once('@').map_or(name.as_str(), |(scheduler, _)| scheduler);
            if let Err(wrong) = self.used.fits(&other, scheduler) {
                self.leave().await;
                return Err(wrong);
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
                Err(wrong @ (StoreError::OtherCarrier { .. } | StoreError::OtherPlace { .. })) => error!("{wrong}"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedulers_fit_where_carrier_and_place_are_the_same_or_one_says_no_place() {
        let fits = |one: &str, other: &str| {
            let (one, other) = (Used::parse(one), Used::parse(other));
            one.fits(&other, "10.0.0.1@-@7").err().and_then(|wrong| wrong.message().code())
        };
        let shop = "SLURM\nSLURM shop:/shared/a";
        assert_eq!(Used::parse(shop).text(), shop);
        for (one, other) in [(shop, shop), (shop, "SLURM"), ("SLURM", shop), ("PROCESS", "PROCESS")] {
            assert_eq!(fits(one, other), None, "{one} {other}");
        }
        assert_eq!(fits(shop, "SLURM\nSLURM shop:/shared/b"), Some("cloud-other-place"));
        assert_eq!(fits(shop, "PROCESS"), Some("cloud-other-carrier"));
    }
}
