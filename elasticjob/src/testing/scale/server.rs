//! The servers of the registry center as queues: how long each request keeps them busy.

use super::Micros;
use crate::testing::rng::Rng;

/// How many servers the ensemble has. One of them orders all writes; reads and notifications of a session are the work of
/// the server that it is connected to.
pub(super) const SERVERS: usize = 3;

/// The rates of the servers.
#[derive(Debug, Clone, Copy)]
pub struct Rates {
    /// The time that a request that writes costs the leader, in nanoseconds, whatever is in it.
    pub write_ns: u64,
    /// The time that each operation of such a request costs it besides.
    pub operation_ns: u64,
    /// The time that a read, a list or a new watch costs the server of the session.
    pub read_ns: u64,
    /// The time that a notification costs that server.
    pub notification_ns: u64,
    /// The way from a process to a server or back, in microseconds.
    pub network_us: Micros,
}

impl Default for Rates {
    /// As measured, see `docs/scale.md`.
    fn default() -> Self {
        Self { write_ns: 40_000, operation_ns: 30_000, read_ns: 66_000, notification_ns: 33_000, network_us: 250 }
    }
}

/// Work that is done one piece after the other.
#[derive(Debug, Default)]
pub(super) struct Station {
    /// When what it was given is done, in nanoseconds.
    free_at: u64,
}

impl Station {
    /// Takes a piece of work that arrives now, and as many more as the deployment has slices beside the one that is
    /// simulated: they do the same at this moment. The piece itself is at a random place among them. Returns when it is
    /// done.
    pub(super) fn serve(&mut self, now: Micros, cost: u64, slices: u64, rng: &mut Rng) -> Micros {
        let start = self.free_at.max(1_000 * now);
        self.free_at = start + cost * slices;
        let place = 1 + if slices > 1 { rng.below(slices) } else { 0 };
        (start + cost * place).div_ceil(1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_while_the_station_is_busy_waits() {
        let (mut station, mut rng) = (Station::default(), Rng::new(1));
        assert_eq!(station.serve(100, 2_000, 1, &mut rng), 102);
        assert_eq!(station.serve(101, 2_000, 1, &mut rng), 104);
        let among_others = station.serve(200, 1_000, 50, &mut rng);
        assert!((201..=250).contains(&among_others));
        assert_eq!(station.serve(200, 1_000, 1, &mut rng), 251);
    }
}
