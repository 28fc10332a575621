//! The permit to start an item.

use std::fmt;
use std::sync::Arc;

use tokio_util::sync::{CancellationToken, DropGuard};

/// Says whether an item may still be started. The scheduler withdraws it when it lets go of the item, as after a lost session:
/// from then on another scheduler may start it. What runs goes on.
///
/// Clones are the same one. The default one is a permit that only [`withdraw`](Self::withdraw) withdraws.
#[derive(Clone, Default)]
pub struct Permit {
    token: CancellationToken,
    holds: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Permit {
    /// A permit that also counts as withdrawn when this says that it does not hold. It is asked at each look, and must not block:
    /// so a process that was frozen sees it before it hears of anything.
    pub fn new(holds: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { token: CancellationToken::new(), holds: Some(Arc::new(holds)) }
    }

    /// Withdraws it, for good.
    pub fn withdraw(&self) {
        self.token.cancel();
    }

    /// Withdraws it when the guard is dropped.
    pub(crate) fn withdraw_on_drop(&self) -> DropGuard {
        self.token.clone().drop_guard()
    }

    /// Whether it is withdrawn. A carrier asks right before it starts a process, or sends what starts one.
    pub fn is_withdrawn(&self) -> bool {
        self.token.is_cancelled() || self.holds.as_ref().is_some_and(|holds| !holds())
    }

    /// Completes when it is withdrawn, for what waits until it can start a process. It may be late, as it does not ask by itself.
    pub async fn withdrawn(&self) {
        self.token.cancelled().await;
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("is_withdrawn", &self.is_withdrawn()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_permit_ends_by_either_way_and_for_all_of_its_clones() {
        let (permit, holds) = (Permit::default(), Arc::new(AtomicBool::new(true)));
        let clone = permit.clone();
        assert!(!clone.is_withdrawn());
        drop(permit.withdraw_on_drop());
        assert!(clone.is_withdrawn());
        let seen = holds.clone();
        let asked = Permit::new(move || seen.load(Ordering::SeqCst));
        assert!(!asked.is_withdrawn());
        holds.store(false, Ordering::SeqCst);
        assert!(asked.is_withdrawn());
    }
}
