//! The clocks of the host, as an argument.

use std::fmt::Debug;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::moment::mono_time;

/// Shows the wall-clock time, which may step in both directions, and the time by a clock that never steps.
pub trait Clock: Debug + Send + Sync + 'static {
    /// Time since some fixed point. Goes on while the machine is suspended where the system has such a clock.
    fn mono(&self) -> Duration;

    /// Microseconds since 1970-01-01T00:00:00Z.
    fn wall_us(&self) -> i64;

    /// Milliseconds since 1970-01-01T00:00:00Z, rounded down: never ahead of [`wall_us`](Self::wall_us).
    fn wall_ms(&self) -> i64 {
        self.wall_us().div_euclid(1000)
    }
}

/// The clock of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn mono(&self) -> Duration {
        mono_time()
    }

    fn wall_us(&self) -> i64 {
        let micros = |since: Duration| i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => micros(after),
            Err(before) => -micros(before.duration()),
        }
    }
}

/// A clock for tests. It follows tokio's time, which tests can pause, from a start time that the test chooses. A test
/// can step it, as an operator or NTP steps the clock of a host, and can suspend it, as a machine is suspended.
#[cfg(test)]
#[derive(Debug)]
pub struct SettableClock {
    origin: tokio::time::Instant,
    at_origin_us: std::sync::atomic::AtomicI64,
    suspended_us: std::sync::atomic::AtomicU64,
}

#[cfg(test)]
impl SettableClock {
    /// A clock that shows `wall_ms` now.
    pub fn starting_at(wall_ms: i64) -> Self {
        Self { origin: tokio::time::Instant::now(), at_origin_us: (wall_ms * 1000).into(), suspended_us: 0.into() }
    }

    /// Steps the clock: forward where `by_ms` is positive, else backward.
    pub fn step(&self, by_ms: i64) {
        self.at_origin_us.fetch_add(by_ms * 1000, std::sync::atomic::Ordering::SeqCst);
    }

    /// Does what a suspended machine does to the clocks: both go on, and tokio's time does not.
    pub fn suspend(&self, for_ms: u32) {
        self.suspended_us.fetch_add(u64::from(for_ms) * 1000, std::sync::atomic::Ordering::SeqCst);
        self.step(i64::from(for_ms));
    }
}

#[cfg(test)]
impl Clock for SettableClock {
    fn mono(&self) -> Duration {
        self.origin.elapsed() + Duration::from_micros(self.suspended_us.load(std::sync::atomic::Ordering::SeqCst))
    }

    fn wall_us(&self) -> i64 {
        let since_us = i64::try_from(self.origin.elapsed().as_micros()).unwrap_or(i64::MAX);
        self.at_origin_us.load(std::sync::atomic::Ordering::SeqCst).saturating_add(since_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_agrees_with_the_calendar() {
        let there = chrono::Utc::now().timestamp_millis();
        let here = SystemClock.wall_ms();
        assert!((here - there).abs() < 10_000, "{here} against {there}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_settable_clock_follows_paused_time_and_steps() {
        let clock = SettableClock::starting_at(-5);
        assert_eq!(clock.wall_ms(), -5);
        tokio::time::advance(Duration::from_millis(7)).await;
        assert_eq!(clock.wall_ms(), 2);
        clock.step(-10);
        assert_eq!((clock.wall_ms(), clock.wall_us()), (-8, -8_000));
    }

    #[tokio::test(start_paused = true)]
    async fn milliseconds_are_rounded_down_on_both_sides_of_the_epoch() {
        let clock = SettableClock::starting_at(-1);
        tokio::time::advance(Duration::from_micros(1)).await;
        assert_eq!((clock.wall_us(), clock.wall_ms()), (-999, -1));
        tokio::time::advance(Duration::from_micros(1_998)).await;
        assert_eq!((clock.wall_us(), clock.wall_ms()), (999, 0));
    }
}
