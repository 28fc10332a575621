//! The fields of an expression, as far as words are for them.

pub(super) const MONTHS: &[&str] =
    &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: &[&str] = &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// What a field allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    Every,
    /// Every so many from a value on, until the field ends.
    Step {
        from: u32,
        step: u32,
    },
    Range(u32, u32),
    /// In the order in which they are written.
    Values(Vec<u32>),
}

/// The days of a month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Days {
    Every,
    OfMonth(Field),
    Last {
        before: u32,
    },
    LastWeekday,
    NearestWeekday(u32),
    /// From 1, Sunday, to 7.
    OfWeek(Field),
    LastOfWeek(u32),
    NthOfWeek {
        weekday: u32,
        nth: u32,
    },
}

/// A number or a name of a field.
fn value(text: &str, names: &[&str]) -> Option<u32> {
    let named = || names.iter().position(|name| *name == text).and_then(|at| u32::try_from(at + 1).ok());
    text.parse().ok().or_else(named)
}

impl Field {
    /// A field whose lowest value is `lowest`.
    pub(super) fn read(text: &str, names: &[&str], lowest: u32) -> Option<Self> {
        let (values, step) = match text.split_once('/') {
            Some((values, step)) => (values, Some(step.parse::<u32>().ok().filter(|step| *step > 0)?)),
            None => (text, None),
        };
        match (values, step) {
            ("*", None | Some(1)) => Some(Self::Every),
            ("*" | "", Some(step)) => Some(Self::Step { from: lowest, step }),
            (from, Some(step)) => Some(Self::Step { from: value(from, names)?, step }),
            (values, None) => match values.split_once('-') {
                Some((from, to)) => Some(Self::Range(value(from, names)?, value(to, names)?)),
                None => values.split(',').map(|one| value(one, names)).collect::<Option<_>>().map(Self::Values),
            },
        }
    }

    /// The one value that it allows.
    pub(super) fn only(&self) -> Option<u32> {
        match self {
            Self::Values(values) if values.len() == 1 => values.first().copied(),
            _ => None,
        }
    }
}

impl Days {
    pub(super) fn read(of_month: &str, of_week: &str) -> Option<Self> {
        match (of_month, of_week) {
            ("*", "?") | ("?", "*") => Some(Self::Every),
            ("L", "?") => Some(Self::Last { before: 0 }),
            ("LW", "?") => Some(Self::LastWeekday),
            (of_month, "?") => match (of_month.strip_prefix("L-"), of_month.strip_suffix('W')) {
                (Some(before), _) => Some(Self::Last { before: before.parse().ok()? }),
                (None, Some(day)) => Some(Self::NearestWeekday(day.parse().ok()?)),
                (None, None) => Field::read(of_month, &[], 1).map(Self::OfMonth),
            },
            ("?", "L") => Some(Self::OfWeek(Field::Values(vec![7]))),
            ("?", of_week) => match (of_week.split_once('#'), of_week.strip_suffix('L')) {
                (Some((weekday, nth)), _) => {
                    Some(Self::NthOfWeek { weekday: value(weekday, WEEKDAYS)?, nth: nth.parse().ok()? })
                }
                (None, Some(weekday)) => Some(Self::LastOfWeek(value(weekday, WEEKDAYS)?)),
                (None, None) => Field::read(of_week, WEEKDAYS, 1).map(Self::OfWeek),
            },
            _ => None,
        }
    }
}
