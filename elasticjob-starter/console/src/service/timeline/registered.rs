//! The timeline of a job from the registry center: the run of each item that began last, and fires that no instance
//! began since. Of the fires before it knows what the schedule has, and not what became of them.

use elasticjob::operations::JobSnapshot;
use elasticjob::schedule::Schedule;

use super::super::fires::{GRACE, Gap, MOST_OF_GAP, Summary, gaps_of_last, last, not_begun_since};
use super::{Known, schedule};

pub(super) fn known(snapshot: &JobSnapshot, (from, until): (i64, i64), now: i64) -> Known {
    let all = last(snapshot);
    let planned = schedule(snapshot).zip(snapshot.configured_since());
    let (gaps, unsure) = planned.map_or_else(Default::default, |(schedule, since)| {
        let (low, high) = (from.max(since), until.min(now - GRACE));
        let overdue = not_begun_since(snapshot, &all, now);
        let missing = overdue.map(|since| gaps_of_last(schedule, low.max(since), high, &all)).unwrap_or_default();
        (missing, unsure(schedule, low, overdue.map_or(high, |since| since.min(high)), &all))
    });
    let mut fires = all;
    fires.retain(|fire| {
        let (begin, end) = (fire.began.unwrap_or(fire.id.time()), fire.drawn_until(now));
        fire.outcome.is_some() && begin < until && end >= from
    });
    Known { fires, read_to: None, folded: Vec::new(), gaps, unsure }
}

/// The fires of the schedule from `low` on and before `high` that are not among those that are known.
pub(super) fn unsure(schedule: &Schedule, low: i64, high: i64, known: &[Summary]) -> Option<Gap> {
    let is_known = |at: i64| known.iter().any(|fire| fire.id.scheduled() == Some(at));
    let mut fires = schedule.upcoming(low - 1).take_while(|at| *at < high).filter(|at| !is_known(*at));
    let first = fires.next()?;
    let mut gap = Gap { first, last: first, count: 1, is_cut: false, kinds: Vec::new() };
    for at in fires {
        if gap.count == MOST_OF_GAP {
            // They are not counted any more, and there are others up to the end.
            (gap.last, gap.is_cut) = (high, true);
            break;
        }
        (gap.last, gap.count) = (at, gap.count + 1);
    }
    Some(gap)
}
