//! The time for which the session of an instance is proven, as its runs see it.

use std::fmt;
use std::sync::Arc;

/// Tells whether the session of an instance is proven now. Clones are the same one. The default one always holds: that of
/// runs without a registry center.
#[derive(Clone, Default)]
pub struct Lease(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Lease {
    /// A lease that holds as long as this says so. It is asked on any thread, and must not block.
    pub fn new(holds: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(holds)))
    }

    /// Whether it holds now.
    pub fn holds(&self) -> bool {
        self.0.as_ref().is_none_or(|holds| holds())
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lease").field(&self.holds()).finish()
    }
}
