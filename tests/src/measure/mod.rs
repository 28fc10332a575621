//! Measurements of benchmarks: the lateness of items, and a process's use of the machine.

mod lateness;
mod process;
mod program;
mod rounds;
mod server;
mod slope;

use std::time::Duration;

pub use self::lateness::{Begins, Begun, percentiles};
pub use self::process::ProcessUse;
pub use self::program::{beside, last_line, last_line_within};
pub use self::rounds::{digits, median};
pub use self::server::ServerReport;
pub use self::slope::Series;
use crate::records::now_us;

/// Sleeps until a time of the wall clock, in milliseconds since 1970.
pub async fn sleep_to(wall_ms: i64) {
    let left = (wall_ms * 1_000 - now_us()).max(0);
    tokio::time::sleep(Duration::from_micros(left.unsigned_abs())).await;
}
