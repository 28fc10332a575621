//! The jobs that the processes share.

use crate::worker::JobPlan;

/// Whether lost runs are taken over.
const FAILOVER: bool = true;

/// A short job each second and one that runs longer than its fires are apart, and therefore misses some. Both are
/// monitored: without that nothing is promised about fires begun twice.
pub(super) fn jobs() -> Vec<JobPlan> {
    let job = |name: &str, items, cron: &str, run_ms| JobPlan {
        name: name.to_owned(),
        items,
        cron: cron.to_owned(),
        run_ms,
        failover: FAILOVER,
        stubborn: true,
        listeners: false,
    };
    vec![job("fast", 6, "* * * * * ?", (100, 400)), job("long", 6, "0/5 * * * * ?", (3_000, 8_000))]
}
