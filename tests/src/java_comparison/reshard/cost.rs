//! Reads the counters of the server between two times at which nothing happens.

use std::io;
use std::sync::Arc;

use elasticjob::registry::RegistryCenter;

use super::PERIOD_SECONDS;
use crate::measure::sleep_to;
use crate::records::now_us;
use crate::zookeeper::ZookeeperServer;

/// How long after a fire everything is over, and how long before the next one.
const REST_MS: i64 = 4_000;

/// How long what follows from a move may go on: processes read the owners.
const AFTERMATH_MS: i64 = 1_500;

/// Reads the counters of the server, and knows what reading them costs.
pub(super) struct Watcher<'a> {
    pub server: &'a ZookeeperServer,
    pub registry: &'a Arc<dyn RegistryCenter>,
}

/// Counters of the server at one moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    at_ms: i64,
    /// All but those of the observer.
    packets: i64,
    transactions: i64,
}

/// What was counted between two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    /// How many fires there were between.
    pub fires: i64,
    /// Packets that the server received, pings among them.
    pub requests: i64,
    /// Transactions that it applied.
    pub writes: i64,
}

impl Watcher<'_> {
    /// The counters at the next time between two fires that is well after a move.
    pub async fn at_rest(&self, moved_us: i64) -> io::Result<Sample> {
        let at_ms = rest_after(now_us() / 1_000, moved_us / 1_000);
        sleep_to(at_ms).await;
        let told = self.server.ask("srvr")?;
        let packets = value(&told, "Received:")?.parse::<i64>().map_err(io::Error::other)?;
        let last = value(&told, "Zxid:")?;
        let transactions = i64::from_str_radix(last.trim_start_matches("0x"), 16).map_err(io::Error::other)?;
        let own = i64::try_from(self.registry.requests().requests).map_err(io::Error::other)?;
        Ok(Sample { at_ms, packets: packets - own, transactions })
    }
}

/// The first time at which everything is over.
fn rest_after(now_ms: i64, moved_ms: i64) -> i64 {
    let from = now_ms.max(moved_ms + AFTERMATH_MS) - REST_MS;
    let period = PERIOD_SECONDS * 1_000;
    (from.div_euclid(period) + 1) * period + REST_MS
}

fn value<'a>(told: &'a str, name: &str) -> io::Result<&'a str> {
    let line = told.lines().find_map(|line| line.strip_prefix(name));
    line.map(str::trim).ok_or_else(|| io::Error::other(format!("srvr tells no {name}\n{told}")))
}

impl Sample {
    /// What was counted since an earlier one.
    pub fn since(&self, earlier: &Self) -> Count {
        Count {
            fires: (self.at_ms - earlier.at_ms) / (PERIOD_SECONDS * 1_000),
            requests: self.packets - earlier.packets,
            writes: self.transactions - earlier.transactions,
        }
    }
}

impl Count {
    /// The same without what as many fires cost, and the pings of that time.
    pub fn without(self, fires: Self) -> Self {
        let rest = |all: i64, of_fires: i64| all - of_fires * self.fires / fires.fires;
        Self { requests: rest(self.requests, fires.requests), writes: rest(self.writes, fires.writes), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_looked_at_between_two_fires_when_everything_is_over() {
        assert_eq!(rest_after(20_500, 0), 24_000);
        assert_eq!(rest_after(24_000, 0), 34_000, "one fire later");
        assert_eq!(rest_after(22_500, 22_300), 24_000);
        assert_eq!(rest_after(22_700, 22_600), 34_000, "something goes on");
    }

    #[test]
    fn what_fires_cost_does_not_count() {
        let sample = |at_ms, packets, transactions| Sample { at_ms, packets, transactions };
        let (first, second, last) = (sample(4_000, 100, 7), sample(14_000, 150, 7), sample(34_000, 300, 10));
        let fire = second.since(&first);
        assert_eq!(fire, Count { fires: 1, requests: 50, writes: 0 });
        assert_eq!(last.since(&second).without(fire), Count { fires: 2, requests: 50, writes: 3 });
    }
}
