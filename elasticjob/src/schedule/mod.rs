//! Schedules of jobs: the Quartz cron dialect, time zones and the rule for clock changes. Pure.
//!
//! No function here reads a clock, and only [`TimeZone::local`] (which [`Schedule::parse`] calls when no zone is named)
//! reads the environment. Instants are epoch milliseconds; fires are whole seconds.
//!
//! # When the clocks change
//! - A wall-clock time that is skipped does not fire that day.
//! - A wall-clock time that comes twice fires once, at the later instant; the first pass fires nothing.
//!
//! The set of fires of a schedule depends on nothing but the schedule, so all instances of a job agree on it. This is
//! Quartz's rule, with these differences:
//! - When Quartz is asked during the first pass of a repeated hour, it searches on from the wall-clock time at which it
//!   is asked. So a process started at 01:20 of the first pass never fires the 01:05 that still comes; here it fires.
//! - Quartz loops for ever on `L` and `LW` in Pacific/Apia at 2011-12-30, a day that this zone skipped; here that day,
//!   like every gap, does not fire.
//! - The text of the cron module says what the parser refuses, and how `31W` and the last year differ.
//!
//! The evaluator is our own, because no crate covers the dialect (`L`, `W`, `#`, ranges that wrap) and the rule above.
//! The dialect itself is in the package `elasticjob-syntax`, which the attribute uses too.

#[cfg(test)]
mod tests;
mod zone;

use std::fmt::Write as _;

use elasticjob_syntax::calendar;
pub use elasticjob_syntax::cron::{CronError, CronExpression, CronField};
use elasticjob_syntax::message::Message;
pub use elasticjob_syntax::zone_name::ZoneNameError;
pub use zone::{TimeZone, TimeZoneError};

use zone::Instant;

/// A cron expression in a time zone: the instants at which a job fires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    cron: CronExpression,
    time_zone: TimeZone,
}

/// A fire, and the effect of a change of the clocks on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NextFire {
    /// Its time, in epoch milliseconds.
    pub at: i64,
    /// `None` for most fires.
    pub clock_change: Option<ClockChange>,
}

/// The effect of a change of the clocks on fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockChange {
    /// There would have been a fire before it, at a wall-clock time that was skipped.
    Skipped,
    /// Its wall-clock time comes twice, and this is the later one.
    Repeated,
}

struct Found {
    second: i64,
    civil: i64,
    skipped: bool,
}

/// A schedule that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The cron expression is wrong.
    #[error(transparent)]
    Cron(#[from] CronError),
    /// The time zone is wrong.
    #[error(transparent)]
    TimeZone(#[from] TimeZoneError),
}

impl ScheduleError {
    /// The message: what is wrong, and what to write instead.
    pub fn message(&self) -> Message {
        match self {
            Self::Cron(error) => error.message(),
            Self::TimeZone(error) => error.message(),
        }
    }

    /// The setting that is wrong, in kebab-case.
    pub fn setting(&self) -> &'static str {
        match self {
            Self::Cron(_) => "cron",
            Self::TimeZone(_) => "time-zone",
        }
    }
}

impl Schedule {
    /// Puts an expression into a zone.
    pub fn new(cron: CronExpression, time_zone: TimeZone) -> Self {
        Self { cron, time_zone }
    }

    /// Parses an expression and a zone; no zone, or a blank one, is the zone of this process ([`TimeZone::local`]).
    ///
    /// # Errors
    /// [`ScheduleError`] says which of the two is wrong and what to write instead.
    pub fn parse(cron: &str, time_zone: Option<&str>) -> Result<Self, ScheduleError> {
        let cron = cron.parse()?;
        let time_zone = match time_zone.filter(|name| !name.trim().is_empty()) {
            Some(name) => name.parse()?,
            None => TimeZone::local()?,
        };
        Ok(Self { cron, time_zone })
    }

    /// The expression.
    pub fn cron(&self) -> &CronExpression {
        &self.cron
    }

    /// The zone.
    pub fn time_zone(&self) -> TimeZone {
        self.time_zone
    }

    /// The first fire strictly after an instant, both in epoch milliseconds; none when the schedule has ended.
    pub fn next_after(&self, epoch_ms: i64) -> Option<i64> {
        self.search(epoch_ms).map(|found| found.second * 1000)
    }

    /// The same, with the effect of a change of the clocks on the fire.
    pub fn next_fire_after(&self, epoch_ms: i64) -> Option<NextFire> {
        let found = self.search(epoch_ms)?;
        let clock_change = if self.time_zone.is_repeated(found.civil) {
            Some(ClockChange::Repeated)
        } else {
            found.skipped.then_some(ClockChange::Skipped)
        };
        Some(NextFire { at: found.second * 1000, clock_change })
    }

    fn search(&self, epoch_ms: i64) -> Option<Found> {
        // Far enough from the ends of the range for any offset, and still before the first and after the last fire.
        const LIMIT: i64 = 1 << 36;
        let mut civil = self.time_zone.search_after(epoch_ms.div_euclid(1000).clamp(-LIMIT, LIMIT));
        let mut skipped = false;
        loop {
            civil = self.cron.next_after(civil)?;
            match self.time_zone.resolve(civil) {
                Instant::At(second) => return Some(Found { second, civil, skipped }),
                Instant::SkippedUntil(end) => {
                    skipped = true;
                    civil = end - 1;
                }
            }
        }
    }

    /// All fires strictly after an instant in epoch milliseconds, in order.
    pub fn upcoming(&self, epoch_ms: i64) -> impl Iterator<Item = i64> + '_ {
        std::iter::successors(self.next_after(epoch_ms), |fire| self.next_after(*fire))
    }

    /// An instant in this schedule's zone as RFC 3339, for example `2024-03-10T03:30:00-04:00`; milliseconds are written
    /// where there are any.
    pub fn format_rfc3339(&self, epoch_ms: i64) -> String {
        format_rfc3339(epoch_ms, self.time_zone)
    }
}

/// An instant in epoch milliseconds as RFC 3339 with the offset of a zone; UTC is `+00:00`.
pub fn format_rfc3339(epoch_ms: i64, time_zone: TimeZone) -> String {
    let (second, millisecond) = (epoch_ms.div_euclid(1000), epoch_ms.rem_euclid(1000));
    // RFC 3339 has no seconds in an offset; a few zones had them until 1972.
    let offset = time_zone.offset_at(second) / 60 * 60;
    let civil = second + i64::from(offset);
    let (year, month, day) = calendar::civil_date(civil.div_euclid(86_400));
    let time = civil.rem_euclid(86_400);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", time / 3600, time / 60 % 60, time % 60);
    if millisecond != 0 {
        let _ = write!(text, ".{millisecond:03}");
    }
    let _ = zone::write_offset(&mut text, offset);
    text
}
