//! The HTTP client of what is built in.

#[cfg(test)]
pub(crate) mod server;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use reqwest::Client;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use crate::api::JobError;

/// How long a client waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Limits {
    /// For a connection.
    pub(crate) connect: Duration,
    /// For each part of an answer.
    pub(crate) read: Duration,
}

/// The client with these limits, made when it is asked for first: that reads the certificates of the host.
pub(crate) async fn http_client(limits: Limits) -> Result<Client, JobError> {
    static CLIENTS: Mutex<BTreeMap<Limits, Arc<OnceCell<Client>>>> = Mutex::new(BTreeMap::new());
    let client = Arc::clone(CLIENTS.lock().unwrap_or_else(PoisonError::into_inner).entry(limits).or_default());
    let client = client.get_or_try_init(|| async move { spawn_blocking(move || make(limits)).await? }).await?;
    Ok(client.clone())
}

/// Where the program has chosen no cryptography for TLS, it is *ring*.
fn make(limits: Limits) -> Result<Client, JobError> {
    static CRYPTOGRAPHY: Once = Once::new();
    CRYPTOGRAPHY.call_once(|| {
        // The program has chosen.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let client = Client::builder().connect_timeout(limits.connect).read_timeout(limits.read);
    // A connection that was kept from the fire before may just be closed by the other side, or belong to a runtime that
    // has ended.
    Ok(client.pool_max_idle_per_host(0).build()?)
}
