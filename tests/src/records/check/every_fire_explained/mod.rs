//! Every item of every fire was begun, or it is known why not: for a reason that a user accepts, or because it was lost
//! to a fault. That is known of the item and of the fault: its owner was hit, and the fire lies between the fault and
//! the time by which the group must have reacted. An owner that was left in peace for long enough before the next fire
//! has to begin it late.

mod cause;
mod duty;
mod evidence;
mod said;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::Duration;

use elasticjob::fire::ExecutionSource;

use super::super::history::us;
use super::times::Times;
use super::{Expected, Verdict};
use crate::records::{History, Run, Tenure};

/// How far the clocks of what is recorded and what decides may be apart.
const HAIR: Duration = Duration::from_millis(100);

/// How long after an item went to another owner the one before may still act on it, or that one not know yet.
const HANDOVER: Duration = Duration::from_millis(1_500);

pub use self::cause::UNOBSERVED;
pub(super) use self::duty::unassigned;

/// The verdict on an item of a fire that no instance began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// A user accepts that.
    Explained(String),
    /// A fault cost it.
    LostToFault {
        reason: String,
        /// Whether the fault was one of its owner or of the registry, at a time that explains it. Else it is only known
        /// that something was done to the group shortly before.
        is_known: bool,
    },
    /// It had to be begun.
    Lost(String),
}

pub(super) fn check(history: &History, expected: &[Expected], verdict: &mut Verdict) {
    for Expected { job, items, fires_ms, until_ms, survives } in expected {
        let of_job = history.runs.iter().filter(|run| run.job == *job);
        let begun: BTreeSet<(i64, u32)> = of_job.map(|run| (run.scheduled_ms, run.item)).collect();
        let unassigned = unassigned(history, job);
        for (index, at_ms) in fires_ms.iter().copied().enumerate() {
            let next_ms = fires_ms.get(index + 1).copied().unwrap_or(*until_ms);
            for item in 0..*items {
                let fire = Fire { history, job, item, at_ms, next_ms, survives: *survives, unassigned: &unassigned };
                let fate = (!begun.contains(&(at_ms, item))).then(|| fire.fate());
                verdict.count(job, fate);
            }
        }
    }
}

/// An item of a scheduled fire that no instance began.
pub(super) struct Fire<'a> {
    pub(super) history: &'a History,
    pub(super) job: &'a str,
    pub(super) item: u32,
    pub(super) at_ms: i64,
    /// When the next one comes, or the records end.
    pub(super) next_ms: i64,
    /// Whether it may be lost to nothing but that no instance lives until the next one.
    pub(super) survives: bool,
    /// When some item of the job had no owner that was there.
    pub(super) unassigned: &'a Times,
}

impl Fire<'_> {
    fn fate(&self) -> Fate {
        match self.judge() {
            Fate::Lost(what) => Fate::Lost(format!("{what}; {}", self.evidence())),
            fate => fate,
        }
    }

    fn judge(&self) -> Fate {
        let what = format!("item {} of {} of {}", self.item, self.job, self.at_ms);
        let said = self.said();
        if let Some(skip) = said.iter().find(|skip| self.is_false_claim(skip)) {
            return Fate::Lost(format!("no process began {what}, and process {} says that one did", skip.pid));
        }
        if let Some(skip) = said.iter().find(|skip| self.is_accepted(skip)) {
            return Fate::Explained(skip.reason.name());
        }
        let waited = said.iter().find(|skip| self.waited_for_a_dead_leader(skip));
        let cause = match said.iter().find(|skip| self.is_held_up_by_the_dead(skip)) {
            Some(skip) => Some((skip.reason.name(), true)),
            None if waited.is_some() => waited.map(|skip| (skip.reason.name(), false)),
            None if self.is_owed() => return Fate::Lost(format!("nobody began {what}, and its owner could")),
            None => None,
        };
        if self.survives && self.is_owed_by_anybody() {
            return Fate::Lost(format!("nobody began {what}, and an instance lived long enough before the next fire"));
        }
        if self.nobody_lives() {
            return Fate::Explained("no_instance".to_owned());
        }
        let Some((cause, is_known)) = cause.or_else(|| self.cause()) else {
            return Fate::Lost(format!("nobody began {what}"));
        };
        // Where its owner said something, that is what a user reads.
        let told = said.iter().find(|skip| skip.reason.is_of_fault()).map(|skip| skip.reason.name());
        Fate::LostToFault { reason: told.unwrap_or(cause), is_known }
    }

    fn at_us(&self) -> i64 {
        self.at_ms * 1_000
    }

    fn next_us(&self) -> i64 {
        self.next_ms * 1_000
    }

    /// The owners of the item from just before the fire to the next one: as the registry showed it, else the last runner.
    pub(super) fn owners(&self) -> Vec<Option<u32>> {
        self.tenures().into_iter().map(|tenure| tenure.owner).collect()
    }

    fn tenures(&self) -> Vec<Tenure> {
        let (from, until) = (self.at_us() - us(HAIR), self.next_us());
        let tenures = self.all_tenures().into_iter();
        tenures.filter(|tenure| tenure.from_us <= until && tenure.until_us >= from).collect()
    }

    fn all_tenures(&self) -> Vec<Tenure> {
        let observed = &self.history.observed;
        if !observed.is_empty() {
            return with_runs(observed.tenures(self.job, self.item), self.of_item());
        }
        let before = self.history.runs.iter().filter(|run| run.job == self.job && run.item == self.item);
        let last = before.filter(|run| run.scheduled_ms < self.at_ms && run.began_us <= self.at_us());
        let owner = last.max_by_key(|run| run.began_us).map(|run| run.pid);
        vec![Tenure { from_us: i64::MIN, until_us: i64::MAX, owner }]
    }
}

/// The owners of the item by what was watched, and by its regular runs: only its owner makes them, and a watch misses what
/// happens while it is set again.
fn with_runs<'a>(mut tenures: Vec<Tenure>, runs: impl Iterator<Item = &'a Run>) -> Vec<Tenure> {
    let mut regular: Vec<&Run> = runs.filter(|run| run.source != ExecutionSource::Failover).collect();
    regular.sort_by_key(|run| run.began_us);
    for run in regular {
        let (at, owner) = (run.began_us, Some(run.pid));
        let about = |one: &Tenure| one.from_us <= at + us(HAIR) && one.until_us >= at - us(HANDOVER);
        if tenures.iter().any(|one| about(one) && one.owner == owner) {
            continue;
        }
        if let Some(index) = tenures.iter().position(|one| within((one.from_us, one.until_us), at)) {
            let until_us = std::mem::replace(&mut tenures[index].until_us, at);
            tenures.insert(index + 1, Tenure { from_us: at, until_us, owner });
        }
    }
    tenures
}

fn within((from, until): (i64, i64), at: i64) -> bool {
    (from..=until).contains(&at)
}
