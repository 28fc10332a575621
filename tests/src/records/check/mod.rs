//! The checks over the records of all processes, one file each.

mod accounted;
mod begun_twice;
mod beside_java;
mod overlap;
mod sink;
mod tokens;
mod triggered;

#[cfg(test)]
mod fixture;

use std::collections::BTreeMap;

pub use self::beside_java::beside_java;

use super::History;

/// The fires of a job that were to be.
#[derive(Debug, Clone)]
pub struct Expected {
    /// The job.
    pub job: String,
    /// How many items it has.
    pub items: u32,
    /// Scheduled times, in milliseconds since 1970.
    pub fires_ms: Vec<i64>,
}

impl Expected {
    /// All fires after a time up to another one of a job that fires every so many milliseconds.
    pub fn every(every_ms: i64, job: &str, items: u32, after_ms: i64, until_ms: i64) -> Self {
        let fires = after_ms.div_euclid(every_ms) + 1..=until_ms.div_euclid(every_ms);
        Self { job: job.to_owned(), items, fires_ms: fires.map(|fire| fire * every_ms).collect() }
    }
}

/// A manual trigger that was taken.
#[derive(Debug, Clone)]
pub struct ExpectedTrigger {
    /// The job.
    pub job: String,
    /// How many items it has.
    pub items: u32,
    /// When it was asked for, in milliseconds since 1970.
    pub asked_ms: i64,
    /// When that was answered.
    pub answered_ms: i64,
}

/// What the records show.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// Items of fires that were to be.
    pub fires: usize,
    /// How many of them somebody began.
    pub begun: usize,
    /// How many nobody began, by the reason why that is well.
    pub explained: BTreeMap<String, usize>,
    /// Those that nobody began for no reason.
    pub lost: Vec<String>,
    /// Two live runs of an item at a time.
    pub overlaps: Vec<String>,
    /// Fires of an item begun again, and not because their run was lost.
    pub begun_twice: Vec<String>,
    /// Fencing tokens that do not grow.
    pub tokens: Vec<String>,
    /// Writes to the sink that should have been refused, or were refused for no reason.
    pub sink: Vec<String>,
}

impl History {
    /// What must hold at any time, and what became of the fires and triggers that were to be.
    pub fn check(&self, expected: &[Expected], triggers: &[ExpectedTrigger]) -> Verdict {
        let mut verdict = Verdict {
            overlaps: overlap::check(self),
            begun_twice: begun_twice::check(self),
            tokens: tokens::check(self),
            sink: sink::check(self),
            ..Verdict::default()
        };
        accounted::check(self, expected, &mut verdict);
        triggered::check(self, triggers, &mut verdict);
        verdict
    }
}

impl Verdict {
    /// Everything that is wrong.
    pub fn violations(&self) -> Vec<String> {
        [&self.overlaps, &self.begun_twice, &self.tokens, &self.sink, &self.lost]
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    }

    /// An item of a fire that nobody began.
    fn not_begun(&mut self, explanation: Option<String>, what: String) {
        match explanation {
            Some(reason) => *self.explained.entry(reason).or_default() += 1,
            None => self.lost.push(what),
        }
    }
}
