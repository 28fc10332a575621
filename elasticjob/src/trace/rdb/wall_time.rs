//! The times of the tables: wall-clock times of one zone, or of UTC.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};

use crate::schedule::TimeZone;

/// How far clocks are set forward or back at most.
const SHIFT: TimeDelta = TimeDelta::hours(2);

/// The clock by which times of a table are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct WallClock {
    /// `None` for UTC.
    zone: Option<TimeZone>,
    /// Whether the table keeps whole seconds.
    in_seconds: bool,
}

/// Which end of a range a time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    From,
    Until,
}

impl WallClock {
    /// The clock of a database. One that keeps instants shows them in UTC, and in whole seconds.
    pub(super) fn of(keeps_instants: bool, zone: TimeZone) -> Self {
        Self { zone: (!keeps_instants).then_some(zone), in_seconds: keeps_instants }
    }

    /// What the clock shows at an instant.
    pub(super) fn time(self, at: DateTime<Utc>) -> NaiveDateTime {
        let offset = self.zone.map_or(0, |zone| zone.offset_at(at.timestamp()));
        at.naive_utc().checked_add_signed(TimeDelta::seconds(offset.into())).unwrap_or_else(|| at.naive_utc())
    }

    /// The instant at which the clock shows a time; of two, the earlier one.
    pub(super) fn instant(self, time: NaiveDateTime) -> DateTime<Utc> {
        let utc = time.and_utc();
        let Some(zone) = self.zone else { return utc };
        let with = |seconds: i64| zone.offset_at(utc.timestamp() - seconds);
        // The offsets before and after a change of the clocks near this time.
        let shift = SHIFT.num_seconds();
        let local = i64::from(with(0));
        let offsets = [with(local + shift), with(local), with(local - shift)].map(i64::from);
        let shows = |offset: &i64| i64::from(zone.offset_at(utc.timestamp() - offset)) == *offset;
        let offset = offsets.into_iter().filter(shows).max().unwrap_or(local);
        utc.checked_sub_signed(TimeDelta::seconds(offset)).unwrap_or(utc)
    }

    /// The time to compare with. A range is too long rather than too short where the times of the table do not say more:
    /// around the hour that comes twice, and where they are whole seconds.
    pub(super) fn bound(self, at: DateTime<Utc>, bound: Bound) -> NaiveDateTime {
        let part = if self.in_seconds { i64::from(at.timestamp_subsec_nanos()) } else { 0 };
        let at = match bound {
            Bound::From => at.checked_sub_signed(TimeDelta::nanoseconds(part)),
            Bound::Until if part > 0 => at.checked_add_signed(TimeDelta::nanoseconds(1_000_000_000 - part)),
            Bound::Until => None,
        }
        .unwrap_or(at);
        let offset = |at: DateTime<Utc>| self.zone.map_or(0, |zone| zone.offset_at(at.timestamp()));
        let offset = match bound {
            Bound::From => offset(at).min(offset(at.checked_add_signed(SHIFT).unwrap_or(at))),
            Bound::Until => offset(at).max(offset(at.checked_sub_signed(SHIFT).unwrap_or(at))),
        };
        at.naive_utc().checked_add_signed(TimeDelta::seconds(offset.into())).unwrap_or_else(|| at.naive_utc())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_time_comes_back_from_what_the_clock_shows_but_for_the_hour_that_comes_twice() {
        for zone in ["UTC", "America/New_York", "Asia/Shanghai"] {
            let clock = WallClock::of(false, zone.parse().unwrap());
            for quarter in 0..24 * 4 {
                for day in ["2024-03-10T00:00:00Z", "2024-11-03T00:00:00Z", "2024-07-01T00:00:00Z"] {
                    let at = at(day) + TimeDelta::minutes(15 * quarter);
                    let back = clock.instant(clock.time(at));
                    let is_second = clock.time(at - TimeDelta::hours(1)) == clock.time(at);
                    let expected = if is_second { at - TimeDelta::hours(1) } else { at };
                    assert_eq!(back, expected, "{zone} {at}");
                }
            }
        }
    }

    #[test]
    fn a_range_has_all_its_times_also_where_clocks_are_set_back() {
        let clock = WallClock::of(false, "America/New_York".parse().unwrap());
        for minutes in 0..240 {
            let from = at("2024-11-03T04:00:00Z") + TimeDelta::minutes(minutes);
            let until = from + TimeDelta::minutes(10);
            let shown = clock.time(from + TimeDelta::minutes(5));
            let range = clock.bound(from, Bound::From)..clock.bound(until, Bound::Until);
            assert!(range.contains(&shown), "{from}: {range:?} has not {shown}");
        }
        let noon = at("2024-07-01T12:00:00Z");
        assert_eq!(clock.bound(noon, Bound::From), clock.time(noon));
        assert_eq!(clock.bound(noon, Bound::Until), clock.time(noon));
        let seconds = WallClock::of(true, TimeZone::UTC);
        let bounds =
            [Bound::From, Bound::Until].map(|bound| seconds.bound(at("2024-07-01T12:00:07.5Z"), bound).and_utc());
        assert_eq!(bounds, [at("2024-07-01T12:00:07Z"), at("2024-07-01T12:00:08Z")]);
        assert_eq!(seconds.bound(noon, Bound::Until), seconds.time(noon));
    }
}
