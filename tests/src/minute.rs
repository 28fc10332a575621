//! Tests of jobs that fire each minute.

use std::time::Duration;

use crate::records::now_us;

/// The wall clock in milliseconds since 1970.
pub fn now_ms() -> i64 {
    now_us() / 1_000
}

/// Waits until that time, in milliseconds since 1970.
pub async fn wait_until(ms: i64) {
    tokio::time::sleep(Duration::from_millis((ms - now_ms()).max(0).unsigned_abs())).await;
}

/// Waits for a moment 5 s before a minute, or 3 s on a busy machine, and not later; returns the minute.
pub async fn shortly_before_a_minute() -> i64 {
    loop {
        let minute_ms = (now_ms() / 60_000 + 1) * 60_000;
        wait_until(minute_ms - 5_000).await;
        if now_ms() < minute_ms - 3_000 {
            return minute_ms;
        }
        wait_until(minute_ms).await;
    }
}
