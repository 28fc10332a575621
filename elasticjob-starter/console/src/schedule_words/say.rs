//! The words for each part of an expression, and their order in each language.

use i18n_embed_fl::fl;

use super::Expression;
use super::field::{Days, Field};
use crate::text::{Language, Text};

/// A list of more values has no short words.
const MOST: usize = 6;

pub(super) fn say(text: &Text, expression: &Expression) -> Option<String> {
    let Expression { seconds, minutes, hours, days, months, years } = expression;
    let (time, is_of_day) = time(text, seconds, minutes, hours)?;
    let day = match days {
        // `every day at 03:00`, and `every 5 minutes` alone.
        Days::Every if is_of_day => Some(fl!(text.loader(), "words-every-day")),
        Days::Every => None,
        days => Some(self::days(text, days, *months == Field::Every)?),
    };
    let month = match months {
        Field::Every => None,
        months => Some(self::months(text, months)?),
    };
    let year = match years {
        Field::Every => None,
        Field::Step { .. } => return None,
        Field::Range(from, to) => Some(fl!(text.loader(), "words-years", from = from.to_string(), to = to.to_string())),
        Field::Values(_) => Some(fl!(text.loader(), "words-in-year", years = list(text, years, u32::to_string)?)),
    };
    // English says the smallest part first, Chinese the largest.
    let parts = match text.language() {
        Language::English => [Some(time), day, month, year],
        Language::Chinese => [year, month, day, Some(time)],
    };
    let comma = fl!(text.loader(), "words-comma");
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(&comma))
}

/// The words for the time of a day, and whether they name times rather than a rhythm.
fn time(text: &Text, seconds: &Field, minutes: &Field, hours: &Field) -> Option<(String, bool)> {
    let loader = text.loader();
    let rhythm = |said: String| Some((said, false));
    match (seconds.only(), minutes.only()) {
        (Some(second), Some(minute)) => {
            let at = |hour: &u32| match second {
                0 => format!("{hour:02}:{minute:02}"),
                _ => format!("{hour:02}:{minute:02}:{second:02}"),
            };
            match hours {
                Field::Values(_) => Some((fl!(loader, "words-at", times = list(text, hours, at)?), true)),
                Field::Every if (minute, second) == (0, 0) => rhythm(fl!(loader, "words-every-hour")),
                Field::Every if second == 0 => {
                    rhythm(fl!(loader, "words-every-hour-at-minute", minute = minute.to_string()))
                }
                Field::Every => rhythm(fl!(
                    loader,
                    "words-every-hour-at-second",
                    minute = minute.to_string(),
                    second = second.to_string()
                )),
                Field::Step { from, step } => rhythm(fl!(loader, "words-every-hours", step = step, from = at(from))),
                Field::Range(from, to) => rhythm(fl!(loader, "words-hours", from = at(from), to = at(to))),
            }
        }
        (Some(0), None) => {
            let said = match minutes {
                Field::Every => fl!(loader, "words-every-minute"),
                Field::Step { from: 0, step } => fl!(loader, "words-every-minutes", step = step),
                Field::Step { from, step } => {
                    fl!(loader, "words-every-minutes-from", step = step, from = from.to_string())
                }
                Field::Range(from, to) => fl!(loader, "words-minutes", from = from.to_string(), to = to.to_string()),
                Field::Values(_) => {
                    fl!(loader, "words-at-minutes", minutes = list(text, minutes, u32::to_string)?)
                }
            };
            rhythm(within(text, said, hours)?)
        }
        (None, None) if *minutes == Field::Every => {
            let said = match seconds {
                Field::Every => fl!(loader, "words-every-second"),
                Field::Step { from: 0, step } => fl!(loader, "words-every-seconds", step = step),
                Field::Step { from, step } => {
                    fl!(loader, "words-every-seconds-from", step = step, from = from.to_string())
                }
                Field::Range(..) | Field::Values(_) => return None,
            };
            rhythm(within(text, said, hours)?)
        }
        _ => None,
    }
}

/// A rhythm within some hours of the day.
fn within(text: &Text, said: String, hours: &Field) -> Option<String> {
    let (from, to) = match hours {
        Field::Every => return Some(said),
        Field::Range(from, to) => (*from, *to),
        hours => (hours.only()?, hours.only()?),
    };
    let (from, to) = (format!("{from:02}:00"), format!("{to:02}:59"));
    Some(fl!(text.loader(), "words-within", said = said, from = from, to = to))
}

fn days(text: &Text, days: &Days, is_each_month: bool) -> Option<String> {
    let loader = text.loader();
    let of_month = |said: String| match is_each_month {
        true => fl!(loader, "words-each-month", days = said),
        false => said,
    };
    Some(match days {
        Days::Every => fl!(loader, "words-every-day"),
        Days::OfMonth(Field::Every) => fl!(loader, "words-every-day"),
        Days::OfMonth(Field::Step { from, step }) => {
            of_month(fl!(loader, "words-every-days", step = step, from = from.to_string()))
        }
        Days::OfMonth(Field::Range(from, to)) => {
            of_month(fl!(loader, "words-days", from = from.to_string(), to = to.to_string()))
        }
        Days::OfMonth(values) => of_month(fl!(loader, "words-on-days", days = list(text, values, u32::to_string)?)),
        Days::Last { before: 0 } => of_month(fl!(loader, "words-last-day")),
        Days::Last { before } => of_month(fl!(loader, "words-before-last-day", count = before)),
        Days::LastWeekday => of_month(fl!(loader, "words-last-working-day")),
        Days::NearestWeekday(day) => of_month(fl!(loader, "words-nearest-working-day", day = day.to_string())),
        Days::OfWeek(Field::Range(from, to)) => {
            fl!(loader, "words-weekdays", from = weekday(text, from), to = weekday(text, to))
        }
        Days::OfWeek(values @ Field::Values(_)) => {
            fl!(loader, "words-on-weekdays", days = list(text, values, |day| weekday(text, day))?)
        }
        Days::OfWeek(_) => return None,
        Days::LastOfWeek(day) => of_month(fl!(loader, "words-last-weekday", day = weekday(text, day))),
        Days::NthOfWeek { weekday: day, nth } => {
            of_month(fl!(loader, "words-nth-weekday", day = weekday(text, day), nth = nth))
        }
    })
}

fn months(text: &Text, months: &Field) -> Option<String> {
    let loader = text.loader();
    Some(match months {
        Field::Every => return None,
        Field::Step { from, step } => fl!(loader, "words-every-months", step = step, from = month(text, from)),
        Field::Range(from, to) => fl!(loader, "words-months", from = month(text, from), to = month(text, to)),
        Field::Values(_) => fl!(loader, "words-in-months", months = list(text, months, |one| month(text, one))?),
    })
}

/// The values of a field, with commas.
fn list(text: &Text, field: &Field, word: impl Fn(&u32) -> String) -> Option<String> {
    match field {
        Field::Values(values) if values.len() <= MOST => {
            let words: Vec<String> = values.iter().map(word).collect();
            Some(words.join(&fl!(text.loader(), "words-list")))
        }
        _ => None,
    }
}

fn weekday(text: &Text, day: &u32) -> String {
    fl!(text.loader(), "words-weekday", day = day)
}

fn month(text: &Text, month: &u32) -> String {
    fl!(text.loader(), "words-month", month = month)
}
