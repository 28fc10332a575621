//! Fires that should have been and have no run, from the schedule.

use elasticjob::schedule::Schedule;

use super::group::Fire;
use super::summary::Summary;

/// A fire is not missed before it is so old.
pub(crate) const GRACE: i64 = 60_000;

/// How many fires between two others are counted.
pub(crate) const MOST: usize = 1_000;

/// How long after its time a run without a scheduled time may have begun, and still count as the run of a fire.
const LATE: i64 = 60_000;

/// Fires that followed each other and have no run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) count: usize,
    /// Whether there were more than are counted; then `last` is the last one that was counted.
    pub(crate) is_cut: bool,
    /// The kinds of decisions about them.
    pub(crate) kinds: Vec<String>,
}

/// When a fire ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ran {
    time: i64,
    /// Whether the fire of another time may be meant: no record has the scheduled time.
    is_about: bool,
}

/// The fires from `low` on and before `high` that should have been and are not among `fires`; the newest first.
pub(crate) fn gaps(schedule: &Schedule, low: i64, high: i64, fires: &[Fire]) -> Vec<Gap> {
    let ran = fires.iter().filter(|fire| !fire.is_by_hand());
    let mut ran: Vec<Ran> = ran.map(|fire| Ran { time: fire.id.time(), is_about: fire.is_without_plan() }).collect();
    ran.sort_unstable();
    between(schedule, low, high, &ran)
}

/// The same, of fires that the registry center has.
pub(crate) fn gaps_of_last(schedule: &Schedule, low: i64, high: i64, fires: &[Summary]) -> Vec<Gap> {
    let ran = fires.iter().filter_map(|fire| fire.id.scheduled()).map(|time| Ran { time, is_about: false });
    let mut ran: Vec<Ran> = ran.collect();
    ran.sort_unstable();
    between(schedule, low, high, &ran)
}

fn between(schedule: &Schedule, low: i64, high: i64, ran: &[Ran]) -> Vec<Gap> {
    let (mut gaps, mut gap, mut ran) = (Vec::<Gap>::new(), None::<Gap>, ran.iter().copied().peekable());
    let mut next = schedule.next_after(low - 1);
    while let Some(at) = next.filter(|at| *at < high) {
        next = schedule.next_after(at);
        while ran.next_if(|ran| ran.time < at).is_some() {
            gaps.extend(gap.take());
        }
        let is_run = ran.next_if(|ran| {
            let is_before_next = next.is_none_or(|next| ran.time < next);
            ran.time == at || (ran.is_about && is_before_next && ran.time - at <= LATE)
        });
        match (is_run, &mut gap) {
            (Some(_), _) => gaps.extend(gap.take()),
            (None, Some(gap)) if gap.count < MOST => (gap.last, gap.count) = (at, gap.count + 1),
            (None, Some(gap)) => {
                gap.is_cut = true;
                // The rest up to the next fire that ran is not looked at.
                let Some(ran) = ran.peek() else { break };
                next = schedule.next_after(ran.time.max(at) - 1);
            }
            (None, None) => gap = Some(Gap { first: at, last: at, count: 1, is_cut: false, kinds: Vec::new() }),
        }
    }
    gaps.extend(gap);
    gaps.reverse();
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn every_minute() -> Schedule {
        Schedule::parse("0 * * * * ?", Some("UTC")).expect("it is a schedule")
    }

    /// First, last, count and whether it is cut; of runs at these times.
    fn found(low: i64, high: i64, ran: &[(i64, bool)]) -> Vec<(i64, i64, usize, bool)> {
        let ran: Vec<Ran> = ran.iter().map(|(time, is_about)| Ran { time: *time, is_about: *is_about }).collect();
        let gaps = between(&every_minute(), low, high, &ran).into_iter();
        gaps.map(|gap| (gap.first, gap.last, gap.count, gap.is_cut)).collect()
    }

    #[test]
    fn fires_without_a_run_are_found_between_those_that_ran_and_at_both_ends() {
        let minutes = |minutes: &[i64]| minutes.iter().map(|at| (at * MINUTE, false)).collect::<Vec<_>>();
        assert_eq!(found(0, 5 * MINUTE, &minutes(&[0, 1, 2, 3, 4])), []);
        assert_eq!(
            found(0, 8 * MINUTE, &minutes(&[2, 5])),
            [(6 * MINUTE, 7 * MINUTE, 2, false), (3 * MINUTE, 4 * MINUTE, 2, false), (0, MINUTE, 2, false)]
        );
        assert_eq!(found(MINUTE, 3 * MINUTE, &[]), [(MINUTE, 2 * MINUTE, 2, false)], "from low on, before high");
        assert_eq!(found(1, MINUTE, &[]), []);
    }

    #[test]
    fn a_run_without_a_scheduled_time_counts_for_the_fire_before_it() {
        assert_eq!(found(0, 3 * MINUTE, &[(300, true), (MINUTE + 20_000, true), (2 * MINUTE, true)]), []);
        assert_eq!(found(0, MINUTE, &[(300, false)]), [(0, 0, 1, false)], "one with another plan does not");
    }

    #[test]
    fn a_long_gap_is_counted_up_to_a_limit_and_what_follows_the_next_run_is_seen_all_the_same() {
        let far = 5_000 * MINUTE;
        let last = (MOST as i64 - 1) * MINUTE;
        assert_eq!(found(0, far + 2 * MINUTE, &[]), [(0, last, MOST, true)]);
        assert_eq!(
            found(0, far + 2 * MINUTE, &[(far, false)]),
            [(far + MINUTE, far + MINUTE, 1, false), (0, last, MOST, true)]
        );
    }
}
