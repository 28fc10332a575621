//! The HTTP client of the built-in types and error handlers.

#[cfg(test)]
pub(crate) mod server;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use crate::api::JobError;
use crate::cryptography;

/// How long a client waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// For a connection.
    pub(crate) connect: Duration,
    /// For each part of an answer.
    pub(crate) read: Duration,
}

/// Reads an answer to its end, as the server may work on until then, and keeps the first bytes of it.
///
/// # Errors
/// The answer broke off, or is longer than `most`: an answer that does not end is an error.
pub(crate) async fn start_of_body(answer: &mut Response, keep: usize, most: usize) -> Result<Vec<u8>, JobError> {
    let (mut start, mut taken) = (Vec::new(), 0_usize);
    // An error of the client names the address, which may be a secret.
    while let Some(part) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
        taken = taken.saturating_add(part.len());
        if taken > most {
            return Err(JobError::message(format!("the answer has more than {most} bytes")));
        }
        start.extend(part.iter().take(keep - start.len()));
    }
    Ok(start)
}

/// How many clients are kept. Often several jobs have the same limits.
const KEPT: usize = 8;

/// The clients that were used last, one for each set of limits.
#[derive(Debug, Default)]
pub(crate) struct HttpClients(Mutex<VecDeque<(Limits, Slot)>>);

/// A client, or the cell in which it is being made.
type Slot = Arc<OnceCell<Client>>;

impl HttpClients {
    /// The client with these limits. It is made on a thread that may block, as it reads the certificates of the host.
    pub(crate) async fn with(&self, limits: Limits) -> Result<Client, JobError> {
        let slot = self.slot(limits);
        let client = slot.get_or_try_init(|| async move { spawn_blocking(move || make(limits)).await? }).await?;
        Ok(client.clone())
    }

    fn slot(&self, limits: Limits) -> Slot {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|(known, _)| *known == limits).and_then(|place| kept.remove(place));
        let slot = known.map(|(_, slot)| slot).unwrap_or_default();
        kept.push_front((limits, Arc::clone(&slot)));
        kept.truncate(KEPT);
        slot
    }
}

fn make(limits: Limits) -> Result<Client, JobError> {
    cryptography::settle();
    let client = Client::builder().connect_timeout(limits.connect).read_timeout(limits.read);
    // Following a redirect may turn a POST into a GET, and would send another host the data that were meant for this
    // one.
    let client = client.redirect(Policy::none());
    // The server may be about to close a connection that was kept from an earlier fire, or the connection may belong to
    // a runtime that has ended.
    Ok(client.pool_max_idle_per_host(0).build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(seconds: u64) -> Limits {
        Limits { connect: Duration::from_secs(seconds), read: Duration::from_secs(seconds) }
    }

    #[test]
    fn clients_are_shared_and_only_the_last_ones_are_kept() {
        let clients = HttpClients::default();
        let (often, once) = (clients.slot(limits(1)), clients.slot(limits(2)));
        for other in 3..100 {
            clients.slot(limits(other));
            assert!(Arc::ptr_eq(&clients.slot(limits(1)), &often), "after {other}");
        }
        assert_eq!(clients.0.lock().unwrap().len(), KEPT);
        assert!(!Arc::ptr_eq(&clients.slot(limits(2)), &once));
    }
}
