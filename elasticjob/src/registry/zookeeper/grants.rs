//! What the servers grant a session whose connection came back.
//!
//! Each connection of a session is granted a time-out, within the limits of the server that it is made to. Those of a
//! server may have changed over its restart, and those of two servers may differ. The client keeps to itself what it was
//! granted after the first connection. So each server is asked, once the client is connected again: with a session that
//! wants what the client wanted, and that ends at once.

use std::pin::Pin;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};

use super::config::ZookeeperConfiguration;
use super::dial;
use crate::random::random_u64;

type Question = Pin<Box<dyn Future<Output = Option<Duration>> + Send>>;

/// Questions that are on their way, at most one to each server.
#[derive(Default)]
pub(super) struct Grants(FuturesUnordered<Question>);

impl Grants {
    /// Asks all servers what they grant to a client that wants `wanted`. What was asked before is forgotten.
    pub(super) fn ask(&mut self, config: &ZookeeperConfiguration, wanted: Duration) {
        self.0 = config.servers().map(|server| ask(config.only(server), wanted)).collect();
    }

    /// The first answer below `known`; pending where there is none.
    pub(super) async fn below(&mut self, known: Duration) -> Duration {
        while let Some(granted) = self.0.next().await {
            if let Some(less) = granted.filter(|granted| *granted < known) {
                return less;
            }
        }
        std::future::pending().await
    }
}

/// Asks one server until it answers. One that does not for as long as a session lasts has no session to end either.
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
