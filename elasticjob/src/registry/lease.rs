//! The lease of a session: how long a proof is good.
//!
//! The leader counts the time-out of a session from the moment it heard of it last. When the session is at another
//! server, the leader hears of it by the answer of that server to its ping, twice a tick. A transaction passes the
//! leader without being counted: it proves only that the leader had not ended the session, and that the server had
//! answered the pings before. So the leader may count from what the client sent half a tick before the transaction.
//! That may be a ping of the client, which the client sends when it had nothing else to send for a while.

use std::time::Duration;

/// The longest delay until the leader hears of what its servers hear: half a tick, where a tick is of 4 s at most. Where
/// this is more than a quarter of the time-out, that is enough: a tick is at most half of the shortest session.
const HALF_TICK: Duration = Duration::from_secs(2);

/// The client sends a ping after this time at the latest.
const LONGEST_PING: Duration = Duration::from_secs(10);

/// How long the leader holds a session after a proof at the least.
pub(crate) fn held(granted: Duration, connection_timeout: Duration) -> Duration {
    granted.saturating_sub(heard_late(granted) + silence(granted, connection_timeout))
}

/// The longest delay until the leader hears of what its servers hear.
pub(crate) fn heard_late(granted: Duration) -> Duration {
    HALF_TICK.min(granted / 4)
}

/// The longest time that the client sends nothing on a connection. The client checks once a tick of its own, and sends
/// a ping after three such ticks without a request; its tick follows from the time-outs.
pub(crate) fn silence(granted: Duration, connection_timeout: Duration) -> Duration {
    let is_default = connection_timeout.is_zero() || connection_timeout > granted * 3 / 5;
    let tick = if is_default { granted / 20 } else { connection_timeout / 8 };
    LONGEST_PING.min(3 * tick) + tick
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn a_proof_is_good_for_what_the_leader_surely_counts() {
        let default = MS(15_000);
        assert_eq!(held(MS(4_000), default), MS(4_000 - 1_000 - 800));
        assert_eq!(held(MS(10_000), default), MS(10_000 - 2_000 - 2_000));
        assert_eq!(held(MS(40_000), default), MS(40_000 - 2_000 - 7_500));
        assert_eq!(held(MS(60_000), MS(36_000)), MS(60_000 - 2_000 - 14_500));
    }

    #[test]
    fn a_good_part_of_every_time_out_is_left() {
        for granted in [100, 1_000, 2_000, 4_000, 6_000, 25_000, 60_000, 600_000] {
            for connection_timeout in [0, 10, 1_000, 15_000, 600_000] {
                let held = held(MS(granted), MS(connection_timeout));
                assert!(held >= MS(granted) * 2 / 5, "{granted} ms, {connection_timeout} ms: {held:?}");
            }
        }
    }
}
