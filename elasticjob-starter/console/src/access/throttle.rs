//! Slows down callers that guess passwords: by account and by address. The owner of the account is never locked out for
//! long.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How many failures are free.
const FREE: u32 = 5;

/// The longest wait between two attempts.
const LONGEST: Duration = Duration::from_secs(30);

/// Failures are forgotten after this time without another one.
const FORGOTTEN: Duration = Duration::from_secs(15 * 60);

/// How many accounts and addresses are remembered.
const MOST: usize = 10_000;

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last: Instant,
}

impl Failures {
    fn wait(self) -> Duration {
        match self.count.checked_sub(FREE) {
            None | Some(0) => Duration::ZERO,
            Some(more) => Duration::from_secs(1 << more.min(5)).min(LONGEST),
        }
    }
}

/// Remembers failed logins.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    failures: Mutex<HashMap<String, Failures>>,
}

impl Throttle {
    /// How long the caller has to wait before the next attempt with any of these keys.
    pub(crate) fn wait(&self, keys: &[String], now: Instant) -> Option<Duration> {
        let failures = self.lock();
        let wait = |key: &String| {
            let failed = failures.get(key)?;
            (failed.last + failed.wait()).checked_duration_since(now).filter(|wait| !wait.is_zero())
        };
        keys.iter().filter_map(wait).max()
    }

    /// Remembers a failed attempt with these keys.
    pub(crate) fn failed(&self, keys: &[String], now: Instant) {
        let mut failures = self.lock();
        if failures.len() >= MOST {
            failures.retain(|_, failed| now.duration_since(failed.last) < FORGOTTEN);
        }
        for key in keys {
            let is_old = |failed: &Failures| now.duration_since(failed.last) >= FORGOTTEN;
            if let Some(failed) = failures.get_mut(key).filter(|failed| !is_old(failed)) {
                (failed.count, failed.last) = (failed.count.saturating_add(1), now);
            } else if failures.len() < MOST {
                failures.insert(key.clone(), Failures { count: 1, last: now });
            }
        }
    }

    /// Forgets the failures of these keys.
    pub(crate) fn succeeded(&self, keys: &[String]) {
        let mut failures = self.lock();
        for key in keys {
            failures.remove(key);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Failures>> {
        // A thread that panicked left the map whole: each change is one call.
        self.failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_guesses_waits_longer_and_longer_and_never_for_more_than_half_a_minute() {
        let (throttle, mut now) = (Throttle::default(), Instant::now());
        let keys = ["user root".to_owned(), "address 192.0.2.1".to_owned()];
        for _ in 0..FREE {
            assert_eq!(throttle.wait(&keys, now), None);
            throttle.failed(&keys, now);
        }
        let mut last = Duration::ZERO;
        for _ in 0..10 {
            throttle.failed(&keys, now);
            let wait = throttle.wait(&keys[..1], now).expect("there is a wait");
            assert!(wait >= last && wait <= LONGEST, "{wait:?} after {last:?}");
            (last, now) = (wait, now + wait);
            assert_eq!(throttle.wait(&keys, now), None, "it is over");
        }
        assert_eq!(last, LONGEST);
        throttle.succeeded(&keys);
        assert_eq!(throttle.wait(&keys, now), None);
    }
}
