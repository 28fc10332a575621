//! The checks over the records of all processes, one file each.

mod begun_once;
mod beside_java;
mod every_fire_explained;
mod one_owner;
mod sink;
mod times;
mod tokens;
mod triggered;

#[cfg(test)]
mod fixture;

use std::collections::BTreeMap;

use elasticjob::testing::invariants::names;

pub use self::beside_java::beside_java;
pub use self::every_fire_explained::UNOBSERVED;
pub use self::triggered::TRIGGERS;

use self::every_fire_explained::Fate;
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
    /// When the records end, or the fire after the last of these comes.
    pub until_ms: i64,
    /// Whether its fires are so far apart that none is lost to a fault, unless no instance lives until the next one.
    pub survives: bool,
}

impl Expected {
    /// All fires after a time up to another one of a job that fires every so many milliseconds.
    pub fn every(every_ms: i64, job: &str, items: u32, after_ms: i64, until_ms: i64) -> Self {
        let fires = after_ms.div_euclid(every_ms) + 1..=until_ms.div_euclid(every_ms);
        let fires_ms = fires.map(|fire| fire * every_ms).collect();
        Self { job: job.to_owned(), items, fires_ms, until_ms, survives: false }
    }
}

/// A manual trigger that was taken.
#[derive(Debug, Clone)]
pub struct ExpectedTrigger {
    /// The job.
    pub job: String,
    /// How many items it has.
    pub items: u32,
    /// The instances that were asked.
    pub instances: Vec<String>,
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
    /// How many of them some process began.
    pub begun: usize,
    /// How many were not begun for a reason that a user accepts, by the reason.
    pub explained: BTreeMap<String, usize>,
    /// How many were not begun because of a fault, by what their owner said of it, or else by the fault.
    pub lost_to_fault: BTreeMap<String, usize>,
    /// How many of these are not looked at closer: something was done to the group shortly before, and that is all that is
    /// known.
    pub not_looked_at: usize,
    /// What became of the fires of each job.
    pub jobs: BTreeMap<String, Account>,
    /// Those that had to be begun, and were not.
    pub lost: Vec<String>,
    /// The same of items of manual triggers.
    pub lost_triggers: Vec<String>,
    /// Two live runs of an item at a time.
    pub overlaps: Vec<String>,
    /// Fires of an item begun again, and not because their run was lost.
    pub begun_twice: Vec<String>,
    /// Fencing tokens that do not grow.
    pub tokens: Vec<String>,
    /// Writes to the sink that should have been refused, or were refused for no reason.
    pub sink: Vec<String>,
}

/// What became of the items of the fires of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    /// How many there were to be.
    pub fires: usize,
    /// How many a fault cost.
    pub lost_to_fault: usize,
}

impl History {
    /// What must hold at any time, and what became of the fires and triggers that were to be.
    pub fn check(&self, expected: &[Expected], triggers: &[ExpectedTrigger]) -> Verdict {
        let mut verdict = Verdict {
            overlaps: one_owner::check(self),
            begun_twice: begun_once::check(self),
            tokens: tokens::check(self),
            sink: sink::check(self),
            ..Verdict::default()
        };
        every_fire_explained::check(self, expected, &mut verdict);
        triggered::check(self, triggers, &mut verdict);
        verdict
    }
}

impl Verdict {
    /// Everything that is wrong.
    pub fn violations(&self) -> Vec<String> {
        let named = |name: &'static str, wrong: &[String]| {
            wrong.iter().map(|wrong| format!("{name}: {wrong}")).collect::<Vec<_>>()
        };
        [
            named(names::ONE_LIVE_OWNER, &self.overlaps),
            named(names::BEGUN_ONCE, &self.begun_twice),
            named("tokens grow", &self.tokens),
            named("the sink", &self.sink),
            named(names::ACCOUNTED_FOR, &self.lost),
            named(names::TRIGGERS, &self.lost_triggers),
        ]
        .concat()
    }

    /// Counts an item of a fire of a job, with what became of it when no process began it.
    fn count(&mut self, job: &str, not_begun: Option<Fate>) {
        let account = self.jobs.entry(job.to_owned()).or_default();
        self.fires += 1;
        account.fires += 1;
        match not_begun {
            None => self.begun += 1,
            Some(Fate::Explained(reason)) => *self.explained.entry(reason).or_default() += 1,
            Some(Fate::LostToFault { reason, is_known }) => {
                account.lost_to_fault += 1;
                self.not_looked_at += usize::from(!is_known);
                *self.lost_to_fault.entry(reason).or_default() += 1;
            }
            Some(Fate::Lost(what)) if job == triggered::TRIGGERS => self.lost_triggers.push(what),
            Some(Fate::Lost(what)) => self.lost.push(what),
        }
    }
}
