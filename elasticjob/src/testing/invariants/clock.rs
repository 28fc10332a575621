//! With `max-time-diff-seconds` no fire begins on a host whose clock is further off, and none is skipped for a clock that
//! is not.

use super::{Observation, Scene};
use crate::engine::Notice;
use crate::fire::{ExecutionSource, RunKey, SkipReason};

/// How uncertain the time of the server may be, in milliseconds: as long as an answer is waited for.
const UNCERTAIN: u64 = 2_500;

/// The time of the server and that of the host are whole milliseconds.
const ROUNDED: u64 = 2;

pub(super) fn check(scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
    let off = |host: usize| scene.hosts[host].clock_offset.unsigned_abs();
    // The answer of the server was older then, when it was read.
    let was_frozen = |host: usize| {
        let process = scene.hosts[host].process.as_ref();
        process.and_then(|process| process.thawed_at).is_some_and(|at| scene.now <= at + UNCERTAIN)
    };
    let limit = scene.shape.max_time_diff.map(|seconds| u64::from(seconds) * 1_000);
    match observation {
        // Not when items start: listeners may be called before, and the clock may step meanwhile.
        Observation::Notice { host, notice: Notice::Begun { key: RunKey { fire, source }, .. } }
            if *source != ExecutionSource::Failover =>
        {
            match limit {
                Some(limit) if off(*host) > limit + UNCERTAIN && !was_frozen(*host) => {
                    Err(format!("host {host} begins {fire}, and its clock is off by {} ms", off(*host)))
                }
                _ => Ok(()),
            }
        }
        Observation::Notice {
            host,
            notice: Notice::Skipped { fire, reason: SkipReason::ClockOff { difference }, .. },
        } => {
            // The time of the server is carried on by a clock that may have gone too fast or too slow.
            let most = off(*host) + scene.hosts[*host].mono.drifted();
            let is_right = limit.is_some_and(|limit| most > limit) && difference.unsigned_abs() <= most + ROUNDED;
            if is_right {
                return Ok(());
            }
            Err(format!("host {host} skips {fire}: its clock is off by {} ms, it says {difference}", off(*host)))
        }
        _ => Ok(()),
    }
}
