//! The jobs of a deployment: how often each fires, and how long its runs take.

use std::sync::Arc;

use super::{Micros, SECOND};
use crate::config::JobConfiguration;
use crate::testing::rng::Rng;

/// Midnight of the simulated day, in milliseconds since 1970.
pub(super) const MIDNIGHT: i64 = 1_700_006_400_000;
/// The time of day at which a simulation begins: 02:54:00.
pub(super) const BEGIN: Micros = (2 * 3_600 + 54 * 60) * SECOND;

/// The schedule of a kind of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Every five seconds.
    FiveSeconds,
    /// Every minute.
    Minute,
    /// Every hour.
    Hour,
    /// Every night at 03:00.
    Night,
}

/// At which second the jobs of one kind fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    /// All at the same one: `0 * * * * ?` for those of every minute. So are schedules that nobody has moved.
    Aligned,
    /// Each at a second of its own.
    Spread,
}

impl Kind {
    /// The kind of one of many jobs: 10 % fire every five seconds, 60 % every minute, 25 % every hour, 5 % every night.
    pub(super) fn of_mix(job: u32) -> Self {
        match job % 20 {
            0..2 => Self::FiveSeconds,
            2..14 => Self::Minute,
            14..19 => Self::Hour,
            _ => Self::Night,
        }
    }

    /// Seconds from fire to fire.
    fn period(self) -> u64 {
        match self {
            Self::FiveSeconds => 5,
            Self::Minute => 60,
            Self::Hour => 3_600,
            Self::Night => 86_400,
        }
    }

    /// How long a run of an item takes.
    pub(super) fn run_time(self) -> Micros {
        let seconds = match self {
            Self::FiveSeconds => 1,
            Self::Minute => 10,
            Self::Hour => 60,
            Self::Night => 120,
        };
        seconds * SECOND
    }
}

/// When a job fires.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) kind: Kind,
    /// The second of its period, counted from midnight, or from 03:00 for one that fires at night.
    second: u64,
}

impl Times {
    pub(super) fn draw(kind: Kind, alignment: Alignment, rng: &mut Rng) -> Self {
        let drawn = rng.below(kind.period().min(3_600));
        Self { kind, second: if alignment == Alignment::Spread { drawn } else { 0 } }
    }

    fn cron(self) -> String {
        let (minute, second) = (self.second / 60, self.second % 60);
        match self.kind {
            Kind::FiveSeconds => format!("{second}/5 * * * * ?"),
            Kind::Minute => format!("{second} * * * * ?"),
            Kind::Hour => format!("{second} {minute} * * * ?"),
            Kind::Night => format!("{second} {minute} 3 * * ?"),
        }
    }

    /// The configuration of a job with these times.
    pub(super) fn configuration(self, name: &str, items: u32) -> Arc<JobConfiguration> {
        let builder = JobConfiguration::builder(name, items).cron(self.cron()).time_zone("UTC");
        Arc::new(builder.failover(true).build().expect("a valid configuration"))
    }

    /// How many fires are due from one time of the simulation to another, without that one.
    pub(super) fn fires_between(self, from: Micros, until: Micros) -> u64 {
        let first = if self.kind == Kind::Night { 3 * 3_600 + self.second } else { self.second };
        // Fires before a time of day, in seconds.
        let before = |time: Micros| {
            let seconds = (BEGIN + time).div_ceil(SECOND);
            if seconds > first { (seconds - first).div_ceil(self.kind.period()) } else { 0 }
        };
        before(until) - before(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Micros = 60 * SECOND;

    #[test]
    fn fires_of_a_window_are_counted() {
        let times = |kind| Times { kind, second: 0 };
        let steady = |kind| times(kind).fires_between(4 * MINUTE, 6 * MINUTE);
        assert_eq!([Kind::FiveSeconds, Kind::Minute, Kind::Hour, Kind::Night].map(steady), [24, 2, 0, 0]);
        let night = |kind| times(kind).fires_between(6 * MINUTE, 7 * MINUTE);
        assert_eq!([Kind::FiveSeconds, Kind::Minute, Kind::Hour, Kind::Night].map(night), [12, 1, 1, 1]);
    }
}
