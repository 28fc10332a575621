//! A row of the comparison: an expression, its zone and start time, and the answer.

use std::fmt;

use elasticjob::schedule::{Schedule, TimeZone, format_rfc3339};
use elasticjob::testing::rng::Rng;

use super::expression;

/// Zones with and without changes of the clocks, among them by half an hour, over midnight and no more.
const ZONES: [&str; 14] = [
    "UTC",
    "GMT+8:00",
    "GMT-03:30",
    "Asia/Shanghai",
    "Asia/Kolkata",
    "America/New_York",
    "America/Los_Angeles",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Havana",
    "Europe/Berlin",
    "Europe/London",
    "Australia/Lord_Howe",
    "Pacific/Apia",
];

const DAY: i64 = 86_400;

/// Start times are from 2000 to 2036: Java and the crate of ours may know different rules for later years.
const FROM: (u64, u64) = (946_684_800, 2_082_758_400);

/// Fires from 2100 on are not compared: Quartz ends a hundred years after the current one, ours later.
const END: i64 = 4_102_444_800;

/// How many fires are compared.
const COUNT: usize = 12;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Row {
    /// The zone.
    pub zone: &'static str,
    /// The epoch second to start after.
    pub from: i64,
    /// The expression.
    pub expression: String,
    /// Whether it was spoilt: all others are expressions that Quartz takes.
    pub has_slip: bool,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The expression is taken, with these fires as epoch seconds.
    Fires(Vec<i64>),
    /// It is refused, and why.
    Refused(String),
    /// There is no end to the search.
    Endless,
}

impl Row {
    /// A row at random.
    pub(super) fn random(rng: &mut Rng) -> Self {
        let zone = rng.pick(&ZONES);
        let from = i64::try_from(rng.between(FROM.0, FROM.1)).unwrap_or_default();
        let from = if rng.one_in(2) { near_clock_change(rng, zone, from) } else { from };
        let (expression, has_slip) = expression::random(rng);
        Self { zone, from, expression, has_slip }
    }

    /// As the Java program reads it.
    pub(super) fn line(&self) -> String {
        format!("{}\t{}\t{COUNT}\t{}\n", self.zone, self.from, self.expression)
    }

    pub(super) fn our_answer(&self) -> Answer {
        match Schedule::parse(&self.expression, Some(self.zone)) {
            Ok(schedule) => Answer::fires(schedule.upcoming(self.from * 1_000).take(COUNT).map(|fire| fire / 1_000)),
            Err(error) => Answer::Refused(error.to_string()),
        }
    }

    pub(super) fn time_zone(&self) -> TimeZone {
        self.zone.parse().expect("a zone that is known")
    }
}

impl Answer {
    /// Fires, as far as they are compared.
    pub(super) fn fires(fires: impl Iterator<Item = i64>) -> Self {
        Self::Fires(fires.take_while(|fire| *fire < END).collect())
    }
}

/// A time shortly before or after the next change of the clocks, where there is one.
fn near_clock_change(rng: &mut Rng, zone: &str, from: i64) -> i64 {
    let zone: TimeZone = zone.parse().expect("a zone that is known");
    let offset = zone.offset_at(from);
    let Some(day) = (1..400).map(|days| from + days * DAY).find(|at| zone.offset_at(*at) != offset) else {
        return from;
    };
    day - i64::try_from(rng.below(2 * DAY.unsigned_abs())).unwrap_or_default()
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = format_rfc3339(self.from * 1_000, self.time_zone());
        write!(f, "'{}' in {} after {from} ({})", self.expression, self.zone, self.from)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fires(fires) => write!(f, "{fires:?}"),
            Self::Refused(why) => write!(f, "refused: {}", why.lines().next().unwrap_or_default()),
            Self::Endless => f.write_str("does not end"),
        }
    }
}
