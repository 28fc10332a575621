//! The instance that had to begin an item of a fire, and could.

use std::time::Duration;

use super::{Fire, HAIR};
use crate::records::check::times::{ALWAYS, Times, hinders};
use crate::records::history::{SETTLE, TICK, us};
use crate::records::{Fault, FaultKind, History};

/// How long an owner may take to begin what is due, where the next fire is far off.
pub(super) const REACTION: Duration = Duration::from_secs(5);

impl Fire<'_> {
    /// How long an owner in peace may take to begin it.
    pub(super) fn reaction_us(&self) -> i64 {
        us(REACTION).min((self.next_us() - self.at_us()) * 9 / 10)
    }

    /// Whether an owner was in peace for long enough before the next fire, or the whole group was.
    pub(super) fn is_owed(&self) -> bool {
        self.owners_in_peace().iter().any(|span| self.is_enough(span, us(SETTLE)))
            || self.group_in_peace().any(|span| self.is_enough(span, self.regrouped_us()))
    }

    /// Whether some instance was in peace for long enough after the fire to be given the item and to begin it, whatever
    /// became of others.
    pub(super) fn is_owed_by_anybody(&self) -> bool {
        let at = self.at_us();
        let since = |(from, until): (i64, i64)| (from.max(at), until);
        self.instances_in_peace().any(|span| self.is_enough(since(span), self.regrouped_us()))
    }

    /// Whether a time in peace leaves enough of the time until the next fire, after what it takes to settle.
    fn is_enough(&self, (from, until): (i64, i64), settles: i64) -> bool {
        let ready = self.at_us().max(from.saturating_add(settles));
        ready.saturating_add(self.reaction_us()) <= until.min(self.next_us())
    }

    /// By when the group has noticed that an instance is gone, and its items have other owners.
    fn regrouped_us(&self) -> i64 {
        us(self.history.session_timeout + TICK + SETTLE)
    }

    /// When the item had an owner that nothing was done to, and all items had owners that were there, as far as that was seen.
    fn owners_in_peace(&self) -> Times {
        let history = self.history;
        let spans = self.all_tenures().into_iter().filter_map(|tenure| Some((tenure, tenure.owner?)));
        let spans = spans.flat_map(|(tenure, pid)| {
            let there = Times::new([(tenure.from_us, tenure.until_us)]);
            let there = there.without_all(history.faults.iter().filter_map(|fault| hinders(fault, pid)));
            there.iter().collect::<Vec<_>>()
        });
        Times::new(spans).without_all(self.unassigned.iter()).without_all(self.unobserved().iter())
    }

    /// When it was not to be seen who owned what.
    pub(super) fn unobserved(&self) -> Times {
        Times::new(self.history.observed.blind.iter().map(|(from, until)| (*from, until.saturating_add(us(HAIR)))))
    }

    /// When nothing new was done to any process, and an instance was in peace.
    fn group_in_peace(&self) -> impl Iterator<Item = (i64, i64)> {
        let begins: Vec<(i64, i64)> = self.history.faults.iter().map(|fault| (fault.from_us, fault.from_us)).collect();
        Times::new(self.instances_in_peace()).without_all(begins).iter().collect::<Vec<_>>().into_iter()
    }

    /// When instances were in the group with nothing done to them.
    fn instances_in_peace(&self) -> impl Iterator<Item = (i64, i64)> {
        let history = self.history;
        let of_job = history.observed.presences.iter().filter(|one| one.job == self.job);
        of_job.flat_map(|one| {
            let there = Times::new([(one.from_us, one.until_us.unwrap_or(i64::MAX))]);
            let pid = crate::records::pid_of(&one.instance);
            let hits = history.faults.iter().filter_map(|fault| pid.map_or(Some(ALWAYS), |pid| hinders(fault, pid)));
            there.without_all(hits).iter().collect::<Vec<_>>()
        })
    }

    /// Whether no instance was in the group that was neither stopped nor separated from it.
    pub(super) fn nobody_lives(&self) -> bool {
        let at = self.at_us();
        let hit = |pid| {
            let own = |fault: &&Fault| fault.pid() == Some(pid) && !matches!(fault.kind, FaultKind::Left { .. });
            let hits = self.history.faults.iter().filter(own).filter_map(|fault| hinders(fault, pid));
            hits.into_iter().any(|hit| super::within(hit, at))
        };
        let is_seen = !self.history.observed.is_empty() && !self.unobserved().touches(at, at);
        is_seen && self.history.observed.online(self.job, at).all(hit)
    }
}

/// When some item of a job had no owner that was there: fires wait then for the leader.
pub(in crate::records::check) fn unassigned(history: &History, job: &str) -> Times {
    let observed = &history.observed;
    let mut without = Vec::new();
    for ((_, item), owners) in observed.owners.iter().filter(|((of, _), _)| of == job) {
        for (owner, tenure) in owners.iter().zip(observed.tenures(job, *item)) {
            let there = observed
                .presences
                .iter()
                .filter(|one| one.job == job && owner.instance.as_deref() == Some(one.instance.as_str()));
            let there = there.map(|one| (one.from_us, one.until_us.unwrap_or(i64::MAX)));
            without.extend(Times::new([(tenure.from_us, tenure.until_us)]).without_all(there).iter());
        }
    }
    Times::new(without)
}
