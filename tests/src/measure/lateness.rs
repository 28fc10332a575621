//! Measures how late items began.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;

use crate::records::now_us;

/// The begins of all items of a program.
#[derive(Debug)]
pub struct Begins {
    started_ms: i64,
    all: Mutex<Vec<Begun>>,
}

/// The begin of one item, in few bytes, as it is part of the memory that is measured.
#[derive(Debug, Clone, Copy)]
pub struct Begun {
    /// Scheduled time, in milliseconds after the start of the program.
    scheduled: u32,
    /// How much later it began, in microseconds.
    late_us: i32,
}

impl Default for Begins {
    fn default() -> Self {
        Self { started_ms: now_us() / 1_000, all: Mutex::default() }
    }
}

impl Begins {
    /// An item that was scheduled for this time, in milliseconds since 1970, begins now.
    pub fn add(&self, scheduled_ms: i64) {
        let begun = Begun {
            scheduled: u32::try_from(scheduled_ms - self.started_ms).unwrap_or_default(),
            late_us: i32::try_from(now_us() - scheduled_ms * 1_000).unwrap_or(i32::MAX),
        };
        self.all().push(begun);
    }

    /// All of them so far.
    pub fn all(&self) -> MutexGuard<'_, Vec<Begun>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scheduled time of one, in milliseconds since 1970.
    pub fn scheduled_ms(&self, begun: Begun) -> i64 {
        self.started_ms + i64::from(begun.scheduled)
    }

    /// When it began, in microseconds since 1970.
    pub fn began_us(&self, begun: Begun) -> i64 {
        self.scheduled_ms(begun) * 1_000 + i64::from(begun.late_us)
    }
}

impl Begun {
    /// How much later than scheduled it began, in microseconds.
    pub fn late_us(self) -> i64 {
        i64::from(self.late_us)
    }
}

/// Median, 99th percentile and maximum, as JSON; null where there is no value.
pub fn percentiles(mut values: Vec<i64>) -> serde_json::Value {
    values.sort_unstable();
    let at = |part: f64| values.get(((values.len().max(1) - 1) as f64 * part).round() as usize).copied();
    json!({ "p50": at(0.5), "p99": at(0.99), "max": at(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_began_is_found_by_its_scheduled_time() {
        let begins = Begins::default();
        let scheduled = now_us() / 1_000;
        begins.add(scheduled);
        let begun = begins.all()[0];
        assert_eq!(begins.scheduled_ms(begun), scheduled);
        assert!((0..5_000_000).contains(&begun.late_us()));
        assert_eq!(begins.began_us(begun), scheduled * 1_000 + begun.late_us());
    }

    #[test]
    fn percentiles_are_of_the_values_in_order() {
        assert_eq!(percentiles((1..=101).rev().collect()), json!({ "p50": 51, "p99": 100, "max": 101 }));
        assert_eq!(percentiles(vec![]), json!({ "p50": null, "p99": null, "max": null }));
    }
}
