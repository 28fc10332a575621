//! Days as cells: a column for a week, a row for a day of the week.

use chrono::{Datelike, NaiveDate};

use super::{Px, Tick};

/// A cell with the space around it.
const STEP: f64 = 17.0;
const SIDE: f64 = 14.0;

/// The space for the names of days and months.
const LEFT: f64 = 34.0;
const TOP: f64 = 18.0;

/// What a day shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shade {
    /// Nothing ran, and nothing should have.
    Empty,
    /// There should have been a run.
    Missing,
    Ok,
    /// Items did not run.
    Partial,
    /// Some ends are not known.
    Unknown,
    /// Runs failed: few, many, most.
    Bad(u8),
}

impl Shade {
    /// By how many of the runs failed.
    pub(crate) fn of(runs: u64, failed: u64, no_end: u64, not_run: u64, is_missing: bool) -> Self {
        match (runs, failed, no_end) {
            (0, ..) if is_missing => Self::Missing,
            (0, ..) => Self::Empty,
            (_, 0, 0) if not_run > 0 => Self::Partial,
            (_, 0, 0) => Self::Ok,
            (_, 0, _) => Self::Unknown,
            _ if failed * 2 > runs => Self::Bad(3),
            _ if failed * 20 > runs => Self::Bad(2),
            _ => Self::Bad(1),
        }
    }

    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Missing => "hollow",
            Self::Ok => "ok",
            Self::Partial => "warn",
            Self::Unknown => "unknown",
            Self::Bad(1) => "bad few",
            Self::Bad(2) => "bad many",
            Self::Bad(_) => "bad",
        }
    }

    /// The character in the cell, so that the colour is not all.
    pub(crate) fn character(self) -> &'static str {
        match self {
            Self::Bad(_) => "✖",
            Self::Missing => "!",
            Self::Partial => "▲",
            Self::Unknown => "?",
            Self::Ok | Self::Empty => "",
        }
    }
}

/// The place of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cell {
    pub(crate) x: Px,
    pub(crate) y: Px,
    /// The middle, for a character.
    pub(crate) middle: Px,
    pub(crate) base: Px,
}

/// The field for some days that follow each other.
#[derive(Debug)]
pub(crate) struct Field {
    first: NaiveDate,
    pub(crate) width: Px,
    pub(crate) height: Px,
    pub(crate) side: Px,
    /// Where months begin, with their number.
    pub(crate) months: Vec<Tick>,
}

impl Field {
    pub(crate) fn of(days: &[NaiveDate]) -> Option<Self> {
        let first = *days.first()?;
        let mut field =
            Self { first, width: Px(0.0), height: Px(TOP + 7.0 * STEP), side: Px(SIDE), months: Vec::new() };
        let last = field.cell(*days.last()?);
        field.width = Px(last.x.0 + STEP);
        let begins = days.iter().filter(|day| day.day() == 1);
        field.months =
            begins.map(|day| Tick { at: field.cell(*day).x, label: day.format("%Y-%m").to_string() }).collect();
        Some(field)
    }

    /// The rows with a name: Monday, Wednesday, Friday.
    pub(crate) fn rows(&self) -> [(usize, Px); 3] {
        [0, 2, 4].map(|row| (row, Px(TOP + row as f64 * STEP + SIDE - 3.0)))
    }

    pub(crate) fn cell(&self, day: NaiveDate) -> Cell {
        let monday = self.first.week(chrono::Weekday::Mon).first_day();
        let days = (day - monday).num_days();
        let (column, row) = (days.div_euclid(7) as f64, days.rem_euclid(7) as f64);
        let (x, y) = (LEFT + column * STEP, TOP + row * STEP);
        Cell { x: Px(x), y: Px(y), middle: Px(x + SIDE / 2.0), base: Px(y + SIDE - 3.5) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_are_columns_that_begin_on_monday() {
        let day = |text: &str| text.parse::<NaiveDate>().expect("a day");
        let days: Vec<NaiveDate> = day("2026-10-29").iter_days().take(20).collect();
        let field = Field::of(&days).expect("there are days");
        let place = |text: &str| (field.cell(day(text)).x.0 - LEFT, field.cell(day(text)).y.0 - TOP);
        assert_eq!(place("2026-10-29"), (0.0, 3.0 * STEP), "a Thursday");
        assert_eq!(place("2026-11-01"), (0.0, 6.0 * STEP), "a Sunday");
        assert_eq!(place("2026-11-02"), (STEP, 0.0), "the Monday after it");
        assert_eq!(field.months, [Tick { at: Px(LEFT), label: "2026-11".to_owned() }]);
        assert_eq!(field.width, Px(LEFT + 4.0 * STEP), "the 17th is in the fourth week");
        assert!(Field::of(&[]).is_none());
    }

    #[test]
    fn a_day_is_as_dark_as_much_of_it_failed() {
        assert_eq!(Shade::of(0, 0, 0, 0, false), Shade::Empty);
        assert_eq!(Shade::of(0, 0, 0, 4, true), Shade::Missing);
        assert_eq!(Shade::of(9, 0, 0, 0, true), Shade::Ok);
        assert_eq!(Shade::of(9, 0, 0, 1, false), Shade::Partial);
        assert_eq!(Shade::of(9, 0, 1, 1, false), Shade::Unknown);
        assert_eq!([1, 6, 51].map(|failed| Shade::of(100, failed, 3, 0, false)), [1, 2, 3].map(Shade::Bad));
    }
}
