//! For how long a proof is good.
//!
//! The leader counts the time-out of a session from the moment it heard of it last. It hears of a session at another server
//! by the answer of that server to its ping, twice a tick. A transaction passes the leader without being counted: what it
//! proves is that the leader had not ended the session, and that the server had answered the pings before. So the leader
//! may count from what the client sent half a tick before the transaction, and that may be a ping of the client, which it
//! sends when it had nothing to say for a while.

use std::time::Duration;

/// The longest that a leader does not hear of what its servers hear: half a tick. Where ticks are longer than this they are
/// half of the shortest session, so that a quarter of the time-out is enough.
const HALF_TICK: Duration = Duration::from_secs(2);

/// The client sends a ping after this time at the latest.
const LONGEST_PING: Duration = Duration::from_secs(10);

/// How long the leader holds a session after a proof, at the least.
pub(crate) fn held(granted: Duration, connection_timeout: Duration) -> Duration {
    granted.saturating_sub(heard_late(granted) + silence(granted, connection_timeout))
}

/// The longest that a leader does not hear of what its servers hear.
pub(crate) fn heard_late(granted: Duration) -> Duration {
    HALF_TICK.min(granted / 4)
}

/// The longest that the client is silent on a connection. It looks at what it sent each so often, its tick, and sends a ping
/// once there was nothing for three of these; its tick follows from the time-outs.
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
