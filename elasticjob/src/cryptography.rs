//! The cryptography provider of TLS.

#[cfg(feature = "zookeeper-tls")]
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};

/// The provider that the program has chosen for TLS; *ring* where it has chosen none.
#[cfg(feature = "zookeeper-tls")]
pub(crate) fn provider() -> Arc<CryptoProvider> {
    CryptoProvider::get_default().cloned().unwrap_or_else(|| Arc::new(ring::default_provider()))
}

/// Makes *ring* the provider of the whole process where the process has chosen none, for libraries that use no other
/// provider.
pub(crate) fn settle() {
    if CryptoProvider::get_default().is_none() {
        // An error means that another thread was faster.
        let _ = ring::default_provider().install_default();
    }
}
