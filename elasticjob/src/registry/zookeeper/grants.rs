//! The session time-out that the servers grant after the connection came back.
//!
//! The server grants a time-out for each connection of a session, within its own limits. A server may have other limits
//! after a restart, and two servers may have different limits. The client library reports only the time-out of the
//! first connection. So each server is asked, once the client is connected again: by a session that wants the same
//! time-out as the client, and that ends at once.

use std::pin::Pin;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};

use super::config::ZookeeperConfiguration;
use super::dial;
use crate::random::random_u64;

type Question = Pin<Box<dyn Future<Output = Option<Duration>> + Send>>;

/// Requests that are on their way, at most one to each server.
#[derive(Default)]
pub(super) struct Grants(FuturesUnordered<Question>);

impl Grants {
    /// Asks all servers what they grant to a client that wants `wanted`. Answers to earlier requests are dropped.
    pub(super) fn ask(&mut self, config: &ZookeeperConfiguration, wanted: Duration) {
        self.0 = config.servers().map(|server| ask(config.only(server), wanted)).collect();
    }

    /// The first answer below `known`. Pending while there is none.
    pub(super) async fn below(&mut self, known: Duration) -> Duration {
        while let Some(granted) = self.0.next().await {
            if let Some(less) = granted.filter(|granted| *granted < known) {
                return less;
            }
        }
        std::future::pending().await
    }
}

/// Asks one server until it answers. A server that does not answer for as long as a session lasts has no session to end
/// either.
fn ask(config: ZookeeperConfiguration, wanted: Duration) -> Question {
    Box::pin(async move {
        let answer = async {
            for retry in 0.. {
                if let Some(granted) = dial::granted(&config, wanted).await {
                    return Some(granted);
                }
                tokio::time::sleep(config.pause(retry, random_u64())).await;
            }
            None
        };
        tokio::time::timeout(wanted, answer).await.ok().flatten()
    })
}
