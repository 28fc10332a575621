//! The server's time as answers bring it, beside the clocks of this host.

use std::time::Duration;

use crate::clock::Now;

/// How much further one clock may go than the other, in milliseconds, before the difference is more than an error of
/// reading them.
const LEAP: i64 = 250;

/// The server's time as an answer brought it.
#[derive(Debug, Clone, Copy)]
struct ServerTime {
    /// In milliseconds since 1970.
    at: i64,
    /// The transaction was applied after it was sent and before its answer was taken.
    sent: Duration,
    answered: Duration,
    /// The time that the clock of this host showed when the answer was taken.
    wall: i64,
    /// The clocks of this host went apart since. They may agree again: the machine was suspended, and then its clock was
    /// set back.
    doubted: bool,
}

/// The difference between the clocks, as far as it is known.
#[derive(Debug, Default)]
pub(in crate::engine) struct ClockCheck {
    told: Option<ServerTime>,
    /// When the transaction was sent whose answer brought the server's time last.
    asked: Option<Duration>,
    /// Whether the last look found the clock too far off: the engine reports that once.
    off: bool,
}

impl ServerTime {
    /// How far `now` is off at least, in milliseconds; positive when the clock of this host is ahead. A slow answer makes
    /// the server's time less certain, and is not taken for a wrong clock.
    fn difference(self, now: Now) -> i64 {
        let (least, most) = self.bounds(now.mono);
        now.wall - now.wall.clamp(least, most)
    }

    /// The earliest and the latest time that the server's clock may show.
    fn bounds(self, mono: Duration) -> (i64, i64) {
        let since = |then: Duration| i64::try_from(mono.saturating_sub(then).as_millis()).unwrap_or(i64::MAX);
        (self.at + since(self.answered), self.at + since(self.sent))
    }

    /// Whether the clock of this host went further since the answer than the clock that never steps. Either the clock
    /// was set, and the answer still holds; or the machine was suspended, and it is unknown for how long.
    fn is_doubtful(self, now: Now) -> bool {
        self.doubted || has_leapt(Now { wall: self.wall, mono: self.answered }, now)
    }

    /// Combines this answer with a later one. The more certain one counts. Where they contradict each other, the later
    /// one counts: the server's clock was set in between.
    fn and(self, later: Self) -> Self {
        let (mine, theirs) = (self.bounds(later.answered), later.bounds(later.answered));
        let agree = mine.0 <= theirs.1 && theirs.0 <= mine.1;
        let uncertainty = |time: Self| time.answered.saturating_sub(time.sent);
        if agree && uncertainty(self) < uncertainty(later) { self } else { later }
    }
}

/// Whether the clock of this host went further between two moments than the clock that never steps.
fn has_leapt(from: Now, to: Now) -> bool {
    let passed = i64::try_from(to.mono.saturating_sub(from.mono).as_millis()).unwrap_or(i64::MAX);
    to.wall.saturating_sub(from.wall).saturating_sub(passed) > LEAP
}

impl ClockCheck {
    /// Takes what the clocks show; asked before anything is decided by them.
    pub(in crate::engine) fn see(&mut self, now: Now) {
        if let Some(told) = &mut self.told {
            told.doubted = told.is_doubtful(now);
        }
    }

    /// Takes the server's time at which an own transaction was applied. A machine that was suspended meanwhile does not
    /// know when that was.
    pub(in crate::engine) fn learn(&mut self, at: i64, sent: Now, now: Now) {
        if has_leapt(sent, now) {
            return;
        }
        let later = ServerTime { at, sent: sent.mono, answered: now.mono, wall: now.wall, doubted: false };
        self.asked = Some(sent.mono);
        let told = self.told.filter(|told| !told.is_doubtful(now));
        self.told = Some(told.map_or(later, |told| told.and(later)));
    }

    /// Whether the server's time is not known, or in doubt.
    pub(in crate::engine) fn is_unsure(&self, now: Now) -> bool {
        self.told.is_none_or(|told| told.is_doubtful(now))
    }

    /// Whether the clock may be too far off for a fire that came here at `since`. It may, where no answer brought the
    /// server's time yet; and where the clock is off by an answer from before the fire, as the server's clock may have
    /// been set since, or by an answer in doubt.
    pub(in crate::engine) fn suspects(&self, now: Now, since: Duration, limit: u32) -> bool {
        let is_old = |told: ServerTime| self.asked < Some(since) || told.is_doubtful(now);
        self.told.is_none_or(|told| self.excess(now, limit).is_some() && is_old(told))
    }

    /// Whether a time is ahead of the server's by more than the tolerance, in milliseconds. Also true while the server's
    /// time is unknown.
    pub(in crate::engine) fn is_far_ahead(&self, now: Now, at: i64, tolerance: i64) -> bool {
        self.told.is_none_or(|told| at > told.bounds(now.mono).0.saturating_add(tolerance))
    }

    /// The difference between the clocks in milliseconds, when it is more than so many seconds.
    pub(in crate::engine) fn excess(&self, now: Now, limit: u32) -> Option<i64> {
        let difference = self.told?.difference(now);
        Some(difference).filter(|difference| difference.unsigned_abs() > u64::from(limit) * 1_000)
    }

    /// Whether the last look found the clock too far off.
    pub(in crate::engine) fn is_off(&self) -> bool {
        self.off
    }

    /// Notes what a look found, and returns whether that is new.
    pub(in crate::engine) fn found(&mut self, off: bool) -> bool {
        std::mem::replace(&mut self.off, off) != off
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    fn now(wall: i64, mono: u64) -> Now {
        Now { wall, mono: S(mono) }
    }

    /// An answer that was taken while the clock of this host was right.
    fn told(at: i64, sent: u64, answered: u64) -> ServerTime {
        ServerTime { at, sent: S(sent), answered: S(answered), wall: at, doubted: false }
    }

    #[test]
    fn what_was_told_is_in_doubt_when_the_clocks_of_this_host_went_apart() {
        let told = told(1_000_000, 10, 10);
        assert!(!told.is_doubtful(now(1_060_200, 70)) && !told.is_doubtful(now(900_000, 70)));
        assert!(told.is_doubtful(now(1_060_300, 70)), "suspended, or set ahead");
    }

    #[test]
    fn an_answer_that_a_suspended_machine_took_tells_nothing() {
        let mut clock = ClockCheck::default();
        // Suspended for 5 s between request and answer: the clock that never steps says that 100 ms passed.
        let (sent, answered) =
            (Now { wall: 0, mono: S(10) }, Now { wall: 5_100, mono: S(10) + Duration::from_millis(100) });
        clock.learn(50, sent, answered);
        assert!(clock.is_unsure(answered) && clock.excess(answered, 3).is_none());
        let soon = Now { wall: 5_200, mono: S(10) + Duration::from_millis(200) };
        clock.learn(5_150, answered, soon);
        assert!(!clock.is_unsure(soon) && clock.excess(soon, 3).is_none());
    }

    #[test]
    fn a_clock_that_is_set_back_after_a_suspension_keeps_the_doubt() {
        let mut clock = ClockCheck::default();
        clock.learn(1_000, now(1_000, 1), now(1_000, 1));
        clock.see(now(12_000, 1));
        let set_back = now(2_000, 2);
        clock.see(set_back);
        assert!(clock.is_unsure(set_back));
        clock.learn(13_000, set_back, set_back);
        assert!(!clock.is_unsure(set_back));
        assert_eq!(clock.excess(set_back, 3), Some(-11_000));
    }

    #[test]
    fn a_difference_goes_by_the_clock_that_does_not_step() {
        let told = told(1_000_000, 10, 10);
        assert_eq!(told.difference(now(1_000_000, 10)), 0);
        assert_eq!(told.difference(now(1_060_000, 70)), 0);
        assert_eq!(told.difference(now(1_063_000, 70)), 3_000);
        assert_eq!(told.difference(now(1_055_000, 70)), -5_000);
    }

    #[test]
    fn a_slow_answer_is_not_taken_for_a_wrong_clock() {
        // Applied at any time within four seconds: the server's clock is somewhere between 1_004 and 1_000 by now.
        let told = told(1_000_000, 10, 14);
        for wall in [1_000_000, 1_002_000, 1_004_000] {
            assert_eq!(told.difference(now(wall, 14)), 0);
        }
        assert_eq!(told.difference(now(1_004_500, 14)), 500);
        assert_eq!(told.difference(now(999_000, 14)), -1_000);
    }

    #[test]
    fn a_slow_answer_does_not_replace_what_a_quick_one_told() {
        let quick = told(1_000_000, 10, 10);
        let slow = told(1_010_000, 20, 27);
        // Three seconds behind.
        assert_eq!(quick.and(slow).difference(now(1_014_000, 27)), -3_000);
        assert_eq!(slow.difference(now(1_014_000, 27)), 0);
        // The server's clock was set meanwhile.
        let set = ServerTime { at: 2_000_000, ..slow };
        assert_eq!(quick.and(set).difference(now(2_007_500, 27)), 500);
        let quicker = told(1_010_000, 20, 20);
        assert_eq!(slow.and(told(1_020_500, 30, 31)).difference(now(1_022_000, 31)), 500);
        assert_eq!(quick.and(quicker).at, 1_010_000);
    }
}
