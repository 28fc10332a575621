//! The jobs that the processes share.

use crate::worker::JobPlan;

/// Whether lost runs are taken over.
const FAILOVER: bool = true;

/// As many as the pool of a job takes at a time on two processors: what waits for a slot begins late, and looks as if it
/// was not begun.
const ITEMS: u32 = 4;

/// A short job each second and one that runs longer than its fires are apart, and therefore misses some. Both are
/// monitored: without that nothing is promised about fires begun twice.
pub(super) fn jobs() -> Vec<JobPlan> {
    let job = |name, cron: &str, run_ms| JobPlan {
        cron: cron.to_owned(),
        run_ms,
        failover: FAILOVER,
        stubborn: true,
        ..JobPlan::each_second(name, ITEMS, 0)
    };
    vec![job("fast", "* * * * * ?", (100, 400)), job("long", "0/5 * * * * ?", (3_000, 8_000))]
}
