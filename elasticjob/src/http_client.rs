//! The HTTP client of what is built in.

use std::sync::Once;
use std::time::Duration;

use reqwest::Client;

use crate::api::JobError;

/// A client. Where the program has chosen no cryptography for TLS, it is *ring*.
pub(crate) fn http_client(connect_timeout: Duration) -> Result<Client, JobError> {
    static CRYPTOGRAPHY: Once = Once::new();
    CRYPTOGRAPHY.call_once(|| {
        // The program has chosen.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    Ok(Client::builder().connect_timeout(connect_timeout).build()?)
}
