//! The proof of their session, as the runs of a job see it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::environment::JobEnvironment;
use crate::api::Lease;
use crate::engine::ProvenUntil;

/// Until when the session of a job is proven. Its driver keeps it up to date.
#[derive(Debug, Default)]
pub(super) struct Proven(Arc<Mutex<ProvenUntil>>);

impl Proven {
    pub(super) fn set(&self, until: ProvenUntil) {
        *lock(&self.0) = until;
    }

    /// The lease of a run that begins now, in the session of now.
    pub(super) fn lease(&self, environment: &JobEnvironment) -> Lease {
        let session = lock(&self.0).session;
        let (until, time) = (self.0.clone(), environment.time());
        Lease::new(move || {
            let until = *lock(&until);
            session.is_some_and(|session| until.holds(session, time()))
        })
    }
}

fn lock(until: &Mutex<ProvenUntil>) -> MutexGuard<'_, ProvenUntil> {
    until.lock().unwrap_or_else(PoisonError::into_inner)
}
