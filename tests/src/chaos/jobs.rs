//! The jobs that the processes share.

use crate::worker::JobPlan;

/// Whether lost runs are taken over.
const FAILOVER: bool = true;

/// Few items, so that a machine of two processors begins all of them in time: an item that begins late looks as if it was not
/// begun.
const ITEMS: u32 = 4;

/// From this time between two fires on, in milliseconds, no fire is lost to a fault.
const FAR_APART_MS: i64 = 30_000;

/// A short job each second, one that runs longer than its fires are apart and therefore misses some, and two whose fires
/// are so far apart that the group always has the time to begin them late. All are monitored: without that nothing is
/// promised about fires begun twice.
pub(super) fn jobs() -> Vec<JobPlan> {
    let job = |name, cron: &str, run_ms| JobPlan {
        cron: cron.to_owned(),
        run_ms,
        failover: FAILOVER,
        stubborn: true,
        ..JobPlan::each_second(name, ITEMS, 0)
    };
    vec![
        job("fast", "* * * * * ?", (100, 400)),
        job("long", "0/5 * * * * ?", (3_000, 8_000)),
        job("half-minute", "0/30 * * * * ?", (500, 2_000)),
        job("five-minutes", "0 0/5 * * * ?", (500, 2_000)),
    ]
}

/// How far apart the fires of a job are, in milliseconds.
pub(super) fn period_ms(job: &JobPlan) -> i64 {
    let configuration = job.configuration().expect("it was started");
    let mut fires = configuration.schedule().expect("it has one").upcoming(0);
    let (first, second) = (fires.next().unwrap_or_default(), fires.next().unwrap_or_default());
    second - first
}

/// Whether the group always has the time to begin a fire late.
pub(super) fn is_far_apart(job: &JobPlan) -> bool {
    period_ms(job) >= FAR_APART_MS
}

/// How many percent of the items of the fires of a job faults may cost at most. An owner that is killed is replaced within
/// ten seconds, so most that comes meanwhile is lost where the next fire comes before; processes are hit about every ten
/// seconds each.
pub(super) fn most_lost_percent(job: &JobPlan) -> usize {
    match period_ms(job) {
        ..=1_000 => 40,
        1_001..FAR_APART_MS => 25,
        _ => 5,
    }
}

/// The same of manual triggers. One that waits for an instance is lost with it where the instance has not taken it yet.
pub(super) const MOST_LOST_TRIGGERS_PERCENT: usize = 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jobs_fire_as_often_as_their_bounds_take_for_granted() {
        let periods: Vec<i64> = jobs().iter().map(period_ms).collect();
        assert_eq!(periods, [1_000, 5_000, 30_000, 300_000]);
        assert_eq!(jobs().iter().filter(|job| is_far_apart(job)).count(), 2);
    }
}
