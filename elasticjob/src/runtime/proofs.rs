//! Proofs of sessions that are under way, shared by the jobs of a process.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{Shared, WeakShared};

use crate::ident::JobName;
use crate::registry::layout::JobPath;
use crate::registry::{Moment, Proof, RegistryCenter, Transaction};

type Answer = Pin<Box<dyn Future<Output = Option<Proof>> + Send>>;

/// The proofs under way, by registry center.
///
/// A proof is a transaction, which the leader of the registry center writes to its log like any other. Thousands of
/// jobs may need one at the same moment: fires that are not monitored ask for nothing else. One proof serves them all.
#[derive(Debug, Default)]
pub(super) struct Proofs(Mutex<BTreeMap<usize, WeakShared<Answer>>>);

impl Proofs {
    /// Proves the session by a transaction that writes nothing, or waits for the proof that is on its way. A read is
    /// not enough: the server that answers it may have lost its leader, and the session may end meanwhile.
    pub(super) fn prove(&self, registry: &Arc<dyn RegistryCenter>, job: &JobName) -> Shared<Answer> {
        let key = Arc::as_ptr(registry).cast::<()>().addr();
        let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = under_way.get(&key).and_then(WeakShared::upgrade);
        if let Some(proof) = known.filter(|proof| proof.peek().is_none()) {
            return proof;
        }
        under_way.retain(|_, proof| proof.upgrade().is_some());
        let proof = send(registry.clone(), job).shared();
        under_way.extend(proof.downgrade().map(|weak| (key, weak)));
        proof
    }
}

fn send(registry: Arc<dyn RegistryCenter>, job: &JobName) -> Answer {
    let mut check = Transaction::new();
    check.check(JobPath::Config.absolute(job), None);
    let (sent, answer) = (Moment::now(), registry.commit(check));
    Box::pin(async move {
        // Refused where the node is gone: a refusal is an answer too.
        drop(answer.await);
        registry.proof().filter(|proof| proof.at >= sent)
    })
}
