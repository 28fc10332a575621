//! The session time-out that the servers grant after the connection came back.
//!
//! The server grants a time-out for each connection of a session, within its own limits. A server may have other limits
//! after a restart, and two servers may have different limits. The client library reports only the time-out of the
//! first connection. So each server is asked, once the client is connected again: by a session that wants the same
//! time-out as the client, and that ends at once.

use std::pin::Pin;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::time::Instant;

use super::config::ZookeeperConfiguration;
use super::dial;
use crate::log::{apart, warn};
use crate::random::random_u64;

type Question = Pin<Box<dyn Future<Output = Duration> + Send>>;

/// Requests that are on their way, at most one to each server.
#[derive(Default)]
pub(super) struct Grants {
    questions: FuturesUnordered<Question>,
    /// One time-out after the servers were asked.
    late_from: Option<Instant>,
    /// No server has answered so far, and that is not reported yet.
    is_silent: bool,
}

impl Grants {
    /// Asks all servers what they grant to a client that wants `wanted`. Answers to earlier requests are dropped.
    pub(super) fn ask(&mut self, config: &ZookeeperConfiguration, wanted: Duration) {
        self.questions = config.servers().map(|server| ask(config.only(server), wanted)).collect();
        (self.late_from, self.is_silent) = (Some(Instant::now() + wanted), true);
    }

    /// The connection is lost again. A server that has not answered for a whole time-out was not the one of this connection,
    /// or another one has confirmed the time-out meanwhile: what it grants counts for the next connection, and is asked then.
    pub(super) fn connection_lost(&mut self) {
        self.is_silent = false;
        if self.late_from.is_some_and(|late| Instant::now() >= late) {
            self.questions.clear();
        }
    }

    /// The first answer below `known`. Pending while there is none.
    pub(super) async fn below(&mut self, known: Duration) -> Duration {
        loop {
            let granted = match self.late_from.filter(|_| self.is_silent) {
                Some(at) => tokio::time::timeout_at(at, self.questions.next()).await,
                None => Ok(self.questions.next().await),
            };
            self.is_silent = false;
            match granted {
                Ok(Some(less)) if less < known => return less,
                Ok(Some(_)) => {}
                Ok(None) => return std::future::pending().await,
                Err(_) => warn_of_silence(known),
            }
        }
    }
}

/// Asks one server until it answers. A server that gives no answer is mostly down; but one that has as many connections of this
/// host as it takes (`maxClientCnxns`) serves the session and refuses the question. So it is asked on while the connection
/// lasts, after one time-out more seldom.
fn ask(config: ZookeeperConfiguration, wanted: Duration) -> Question {
    Box::pin(async move {
        let seldom_from = Instant::now() + wanted;
        let mut retry = 0;
        loop {
            if let Some(granted) = dial::granted(&config, wanted).await {
                return granted;
            }
            let is_late = Instant::now() >= seldom_from;
            tokio::time::sleep(if is_late { wanted } else { config.pause(retry, random_u64()) }).await;
            retry = retry.saturating_add(1);
        }
    })
}

fn warn_of_silence(known: Duration) {
    apart(move || {
        warn!(
            "no ZooKeeper server confirmed the session time-out since the reconnect; assuming {} ms. Possible cause: \
             maxClientCnxns is reached for this host",
            known.as_millis()
        );
    });
}
