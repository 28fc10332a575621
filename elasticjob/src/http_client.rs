//! The HTTP client of what is built in.

#[cfg(test)]
pub(crate) mod server;

use std::sync::Once;
use std::time::Duration;

use reqwest::{Client, ClientBuilder};

use crate::api::JobError;

/// A client.
pub(crate) fn http_client(connect_timeout: Duration) -> Result<Client, JobError> {
    Ok(client_builder(connect_timeout).build()?)
}

/// A client to be made. Where the program has chosen no cryptography for TLS, it is *ring*.
pub(crate) fn client_builder(connect_timeout: Duration) -> ClientBuilder {
    static CRYPTOGRAPHY: Once = Once::new();
    CRYPTOGRAPHY.call_once(|| {
        // The program has chosen.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    Client::builder().connect_timeout(connect_timeout)
}
