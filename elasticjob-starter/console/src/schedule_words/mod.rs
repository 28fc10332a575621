//! Schedules in words. An expression that has no short words is shown by itself: wrong words are worse than none.

mod field;
mod say;

use field::{Days, Field};

use crate::text::Text;

/// A cron expression, by its fields. Its text is one that a schedule was made of.
#[derive(Debug, PartialEq, Eq)]
struct Expression {
    seconds: Field,
    minutes: Field,
    hours: Field,
    days: Days,
    months: Field,
    years: Field,
}

impl Expression {
    fn read(cron: &str) -> Option<Self> {
        let upper = cron.to_ascii_uppercase();
        let words: Vec<&str> = upper.split_ascii_whitespace().collect();
        let [seconds, minutes, hours, of_month, months, of_week, rest @ ..] = &words[..] else { return None };
        Some(Self {
            seconds: Field::read(seconds, &[], 0)?,
            minutes: Field::read(minutes, &[], 0)?,
            hours: Field::read(hours, &[], 0)?,
            days: Days::read(of_month, of_week)?,
            months: Field::read(months, field::MONTHS, 1)?,
            // Fields after the seventh have no effect.
            years: rest.first().map_or(Some(Field::Every), |years| Field::read(years, &[], 1970))?,
        })
    }
}

/// What a cron expression means; `None` where that has no short words.
pub(crate) fn of(text: &Text, cron: &str) -> Option<String> {
    say::say(text, &Expression::read(cron)?)
}

#[cfg(test)]
mod tests;
