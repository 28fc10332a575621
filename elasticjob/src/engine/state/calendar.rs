//! The calendar of a job: the next scheduled fire, and the fires that are due.

use crate::schedule::Schedule;

/// The schedule of a job followed through time. A scheduled time is never due twice, whatever the clock does.
#[derive(Debug, Default)]
pub(in crate::engine) struct Calendar {
    next: Option<i64>,
    last: Option<i64>,
    /// The next fire is the first after this time.
    after: Option<i64>,
    /// The latest fire that was begun here.
    begun: Option<i64>,
}

/// A fire that is due.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::engine) struct Due {
    /// Its time in milliseconds since 1970.
    pub(in crate::engine) at: i64,
    /// The first of the earlier fires that the engine did not look at, if any.
    pub(in crate::engine) missed_from: Option<i64>,
}

impl Calendar {
    /// Starts to follow a schedule, or another one, or none.
    pub(in crate::engine) fn follow(&mut self, schedule: Option<&Schedule>, wall: i64) {
        let after = self.last.map_or(wall, |last| last.max(wall));
        self.next = schedule.and_then(|schedule| schedule.next_after(after));
        self.after = Some(after);
    }

    /// Does the same from an earlier time on: where fires have come since then, the last of them is the next fire.
    pub(in crate::engine) fn join(&mut self, schedule: Option<&Schedule>, from: i64, wall: i64) {
        self.follow(schedule, from);
        self.next = schedule.and_then(|schedule| last_between(schedule, from, wall)).or(self.next);
    }

    /// A fire was begun here.
    pub(in crate::engine) fn begun(&mut self, at: i64) {
        self.begun = self.begun.max(Some(at));
    }

    /// A fire came that no schedule brought.
    pub(in crate::engine) fn came(&mut self, at: i64) {
        self.last = Some(at);
    }

    /// Whether the calendar is ahead of the clock by more than the tolerance.
    pub(in crate::engine) fn is_ahead(&self, wall: i64, tolerance: i64) -> bool {
        self.after.is_some_and(|after| after > wall.saturating_add(tolerance))
    }

    /// The clock was wrong and is right again: fires that came by the wrong clock come again at their time. A fire that
    /// was begun does not come again, where no record says that it was begun.
    pub(in crate::engine) fn go_back(&mut self, schedule: Option<&Schedule>, wall: i64, is_recorded: bool) {
        self.last = self.begun.filter(|_| !is_recorded);
        self.follow(schedule, wall);
    }

    /// The next fire.
    pub(in crate::engine) fn next(&self) -> Option<i64> {
        self.next
    }

    /// The fire that was due last.
    pub(in crate::engine) fn last(&self) -> Option<i64> {
        self.last
    }

    /// The latest fire that is due by now. It is returned once.
    pub(in crate::engine) fn due(&mut self, schedule: &Schedule, wall: i64) -> Option<Due> {
        let first = self.next.filter(|next| *next <= wall)?;
        let (at, next) = latest(schedule, first, wall);
        self.last = Some(at);
        self.next = next;
        self.after = Some(at);
        Some(Due { at, missed_from: (first < at).then_some(first) })
    }
}

/// The latest fire after `from` and not after `until`.
pub(in crate::engine) fn last_between(schedule: &Schedule, from: i64, until: i64) -> Option<i64> {
    let first = schedule.next_after(from).filter(|first| *first <= until)?;
    Some(latest(schedule, first, until).0)
}

/// The latest fire not after `wall`, where `first` is one, and the fire after it. Looks back from `wall` in growing windows, so that a clock
/// that stepped by years costs no more than one that stepped by seconds.
fn latest(schedule: &Schedule, first: i64, wall: i64) -> (i64, Option<i64>) {
    let mut window = 1_000;
    let mut fire = loop {
        let from = wall - window;
        if from <= first {
            break first;
        }
        match schedule.next_after(from) {
            Some(fire) if fire <= wall => break fire,
            _ => window *= 2,
        }
    };
    loop {
        let next = schedule.next_after(fire);
        match next.filter(|later| *later <= wall) {
            Some(later) => fire = later,
            None => return (fire, next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_five_seconds() -> Schedule {
        Schedule::parse("0/5 * * * * ?", Some("UTC")).unwrap()
    }

    #[test]
    fn a_fire_is_due_once() {
        let (schedule, mut calendar) = (every_five_seconds(), Calendar::default());
        calendar.follow(Some(&schedule), 1_000);
        assert_eq!(calendar.next(), Some(5_000));
        assert_eq!(calendar.due(&schedule, 4_999), None);
        assert_eq!(calendar.due(&schedule, 5_001), Some(Due { at: 5_000, missed_from: None }));
        assert_eq!(calendar.due(&schedule, 5_002), None);
        assert_eq!(calendar.next(), Some(10_000));
    }

    #[test]
    fn of_fires_that_came_while_joining_the_last_is_next() {
        let schedule = every_five_seconds();
        for (from, wall, next) in [(1_000, 4_999, 5_000), (1_000, 5_000, 5_000), (1_000, 11_000, 10_000)] {
            let mut calendar = Calendar::default();
            calendar.join(Some(&schedule), from, wall);
            assert_eq!(calendar.next(), Some(next), "from {from} at {wall}");
        }
    }

    #[test]
    fn of_fires_that_nobody_looked_at_the_last_is_due() {
        let (schedule, mut calendar) = (every_five_seconds(), Calendar::default());
        calendar.follow(Some(&schedule), 0);
        assert_eq!(calendar.due(&schedule, 21_000), Some(Due { at: 20_000, missed_from: Some(5_000) }));
        let ten_years = 315_360_000_000;
        assert_eq!(calendar.due(&schedule, ten_years), Some(Due { at: ten_years, missed_from: Some(25_000) }));
    }

    #[test]
    fn what_a_wrong_clock_told_comes_again_but_for_what_was_begun() {
        let schedule = every_five_seconds();
        for (is_recorded, next) in [(true, 10_000), (false, 15_000)] {
            let mut calendar = Calendar::default();
            calendar.follow(Some(&schedule), 0);
            calendar.due(&schedule, 10_000).unwrap();
            calendar.begun(10_000);
            calendar.due(&schedule, 3_600_000).unwrap();
            assert!(calendar.is_ahead(7_000, 60_000) && !calendar.is_ahead(3_540_000, 60_000));
            calendar.go_back(Some(&schedule), 7_000, is_recorded);
            assert_eq!(calendar.next(), Some(next), "recorded: {is_recorded}");
            assert!(!calendar.is_ahead(7_000, 60_000));
        }
    }

    #[test]
    fn a_clock_that_steps_back_makes_no_fire_due_again() {
        let (schedule, mut calendar) = (every_five_seconds(), Calendar::default());
        calendar.follow(Some(&schedule), 0);
        calendar.due(&schedule, 20_000).unwrap();
        assert_eq!(calendar.due(&schedule, 5_000), None);
        calendar.follow(Some(&schedule), 5_000);
        assert_eq!(calendar.next(), Some(25_000));
    }
}
