//! A moment by both clocks of the host: one that never steps, and the wall clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment of this host, to measure how long ago something was.
///
/// Neither clock alone is reliable for that. While a machine is suspended, the clock of `Instant` stops. While a
/// virtual machine is paused, all its clocks stop, and only the wall clock is corrected right afterwards. But the wall
/// clock may be set to any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Since some fixed point, such as the start of the machine. Never steps, and goes on while the machine is suspended
    /// where the system has such a clock: on Linux and Android.
    pub mono: Duration,
    /// Milliseconds since 1970-01-01T00:00:00Z. May step.
    pub wall_ms: i64,
}

impl Moment {
    /// This moment.
    pub fn now() -> Self {
        let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        let wall_ms = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => millis(after),
            Err(before) => -millis(before.duration()),
        };
        Self { mono: mono_time(), wall_ms }
    }

    /// The time that has passed since this moment, by the clock that never steps.
    pub fn elapsed(self) -> Duration {
        mono_time().saturating_sub(self.mono)
    }
}

/// The clock that never steps.
#[cfg(unix)]
pub(crate) fn mono_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    // On other systems there is only the monotonic clock.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: ClockId = ClockId::Monotonic;
    Duration::try_from(clock_gettime(CLOCK)).unwrap_or_default()
}

/// The clock that never steps.
#[cfg(not(unix))]
pub(crate) fn mono_time() -> Duration {
    static FIRST: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    FIRST.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_of_this_time_and_never_goes_back() {
        let first = Moment::now();
        let there = chrono::Utc::now().timestamp_millis();
        assert!((first.wall_ms - there).abs() < 10_000, "{first:?} against {there}");
        let second = Moment::now();
        assert!(second.mono >= first.mono && first.elapsed() < Duration::from_secs(10));
    }
}
