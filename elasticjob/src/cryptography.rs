//! The cryptography that TLS stands on.

#[cfg(feature = "zookeeper-tls")]
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};

/// What the program has chosen for TLS; *ring* where it has chosen nothing.
#[cfg(feature = "zookeeper-tls")]
pub(crate) fn provider() -> Arc<CryptoProvider> {
    CryptoProvider::get_default().cloned().unwrap_or_else(|| Arc::new(ring::default_provider()))
}

/// Makes *ring* the choice of the whole process where it has made none, for libraries that ask for nothing else.
pub(crate) fn settle() {
    if CryptoProvider::get_default().is_none() {
        // An error says that another thread was faster.
        let _ = ring::default_provider().install_default();
    }
}
