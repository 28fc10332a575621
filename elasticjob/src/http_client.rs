//! The HTTP client of what is built in.

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

/// Takes an answer to its end, as the other side may work on until then, and keeps the start of it.
///
/// # Errors
/// The answer broke off, or is longer than `most`: an answer that does not end is none.
pub(crate) async fn start_of_body(answer: &mut Response, keep: usize, most: usize) -> Result<Vec<u8>, JobError> {
    let (mut start, mut taken) = (Vec::new(), 0_usize);
    // The address of an error may be a secret.
    while let Some(part) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
        taken = taken.saturating_add(part.len());
        if taken > most {
            return Err(JobError::message(format!("the answer has more than {most} bytes")));
        }
        start.extend(part.iter().take(keep - start.len()));
    }
    Ok(start)
}

/// How many clients are kept: jobs share their limits more often than not.
const KEPT: usize = 8;

/// The clients that were asked for last, one for each of their limits.
#[derive(Debug, Default)]
pub(crate) struct HttpClients(Mutex<VecDeque<(Limits, Slot)>>);

/// A client, or the place where it is being made.
type Slot = Arc<OnceCell<Client>>;

impl HttpClients {
    /// The client with these limits. Made beside the runtime, as that reads the certificates of the host.
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
    // To follow one may turn a POST into a GET, and tells another host what was meant for this one.
    let client = client.redirect(Policy::none());
    // A connection that was kept from the fire before may just be closed by the other side, or belong to a runtime that
    // has ended.
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
