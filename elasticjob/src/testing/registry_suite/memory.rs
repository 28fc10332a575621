//! The embedded registry under the suite.

use super::{Backend, Link, Member, Pending, RegistryCenter, SessionId, SessionState};
use crate::registry::memory::MemoryRegistry;
use tokio::sync::watch;

/// An embedded registry.
#[derive(Default)]
pub struct MemoryBackend(MemoryRegistry);

struct MemoryLink {
    registry: MemoryRegistry,
    session: watch::Receiver<SessionState>,
}

impl Backend for MemoryBackend {
    fn connect(&self) -> Pending<'_, Member> {
        let center = Box::new(self.0.connect());
        let link = Box::new(MemoryLink { registry: self.0.clone(), session: center.session() });
        Box::pin(std::future::ready(Member { center, link }))
    }

    fn is_remote(&self) -> bool {
        false
    }
}

impl MemoryLink {
    fn id(&self) -> SessionId {
        match *self.session.borrow() {
            SessionState::Connected { id, .. } | SessionState::Suspended { id } => id,
            state => panic!("{state:?} is no session"),
        }
    }
}

impl Link for MemoryLink {
    fn cut(&self) -> Pending<'_, ()> {
        Box::pin(async { self.registry.suspend(self.id()) })
    }

    fn mend(&self) -> Pending<'_, ()> {
        Box::pin(async { self.registry.resume(self.id()) })
    }

    fn expire(&self) -> Pending<'_, ()> {
        Box::pin(async { self.registry.expire(self.id()) })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn the_embedded_registry_passes_the_suite() {
        for case in super::super::cases() {
            println!("{}", case.name);
            (case.play)(Arc::new(MemoryBackend::default())).await;
        }
    }
}
