//! A manual trigger that was taken runs every item once. Nothing but the end of the instance that was asked for an item
//! excuses it: a trigger waits for as long as its instance is in the group.

use std::time::Duration;

use super::super::history::us;
use super::every_fire_explained::{Fate, Fire, unassigned};
use super::times::{Times, hinders};
use super::{ExpectedTrigger, Verdict};
use crate::records::{History, Reason, pid_of};

/// How long an instance in peace may take to come to a trigger: it waits for a run that goes on.
const WAIT: Duration = Duration::from_secs(20);

pub(super) fn check(history: &History, triggers: &[ExpectedTrigger], verdict: &mut Verdict) {
    for trigger in triggers {
        for item in 0..trigger.items {
            let of_item = history.runs.iter().filter(|run| run.job == trigger.job && run.item == item);
            // The server's clock is the one of all, and no trigger is made at the time of a scheduled fire.
            let mut of_trigger = of_item.filter(|run| trigger.is_of(run.scheduled_ms));
            let fate = of_trigger.next().is_none().then(|| trigger.fate(history, item));
            verdict.count(TRIGGERS, fate);
        }
    }
}

/// Where triggers are counted among the jobs.
pub const TRIGGERS: &str = "manual triggers";

impl ExpectedTrigger {
    fn is_of(&self, scheduled_ms: i64) -> bool {
        (self.asked_ms..=self.answered_ms).contains(&scheduled_ms)
    }

    /// What became of an item that no process began for the trigger.
    fn fate(&self, history: &History, item: u32) -> Fate {
        let (job, asked_us, answered_us) = (self.job.as_str(), self.asked_ms * 1_000, self.answered_ms * 1_000);
        let (at_ms, next_ms, unassigned) = (self.asked_ms, self.answered_ms, &unassigned(history, job));
        let fire = Fire { history, job, item, at_ms, next_ms, survives: false, unassigned };
        let mut said = history
            .skips
            .iter()
            .filter(|skip| skip.job == *job && self.is_of(skip.from_ms) && skip.covers(job, item, skip.from_ms));
        let is_accepted = |reason: &Reason| matches!(reason, Reason::ServerDisabled | Reason::RunsElsewhere);
        if let Some(skip) = said.clone().find(|skip| is_accepted(&skip.reason) && fire.is_accepted(skip)) {
            return Fate::Explained(skip.reason.name());
        }
        if let Some(skip) = said.find(|skip| fire.is_held_up_by_the_dead(skip)) {
            return Fate::LostToFault { reason: skip.reason.name(), is_known: true };
        }
        let asked = |pid: &u32| self.instances.iter().any(|instance| pid_of(instance) == Some(*pid));
        let holders: Vec<u32> = fire.owners().into_iter().flatten().filter(asked).collect();
        let gone = |pid: &u32| {
            let removed = history.observed.removed_us(job, *pid, asked_us);
            removed.is_some_and(|removed| removed < self.answered_us_in_peace(history, *pid, answered_us))
        };
        let lost_to = |reason: &str, is_known| Fate::LostToFault { reason: reason.to_owned(), is_known };
        let what = format!("nobody began item {item} of {job} triggered at {}", self.asked_ms);
        match holders.iter().any(gone) {
            true => lost_to("instance_of_trigger_gone", true),
            // Its owner was gone already, and the leader had not assigned it yet.
            false if holders.is_empty() && unassigned.touches(asked_us, answered_us) => {
                lost_to("triggered_without_owner", false)
            }
            false => Fate::Lost(format!("{what}, of the processes {holders:?}")),
        }
    }

    /// By when a process must have come to it: it was in peace for long enough since.
    fn answered_us_in_peace(&self, history: &History, pid: u32, answered_us: i64) -> i64 {
        let since = Times::new([(answered_us, i64::MAX)]);
        let peace = since.without_all(history.faults.iter().filter_map(|fault| hinders(fault, pid)));
        let enough = peace.iter().find(|(from, until)| until.saturating_sub(*from) > us(WAIT));
        enough.map_or(i64::MAX, |(from, _)| from + us(WAIT))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{JOB, S, frozen, history, instance, killed, open, run, skip};
    use super::*;
    use crate::records::{Ending, Fault, Run, Skip};

    /// A trigger between 1.4 and 1.41 s for the process that owns the item and another one, as far as they are there.
    fn of(change: impl FnOnce(&mut History)) -> Verdict {
        let (asked_ms, answered_ms) = (1_400, 1_410);
        let mut history = history(&[run(1, 1)], &[]);
        for pid in [1, 2] {
            history.observed.came(0, JOB, &instance(pid));
        }
        history.observed.owned(0, JOB, 0, Some(instance(1)));
        change(&mut history);
        let instances = history.observed.online(JOB, asked_ms * 1_000).map(instance).collect();
        let trigger = ExpectedTrigger { job: JOB.to_owned(), items: 1, instances, asked_ms, answered_ms };
        history.check(&[], &[trigger])
    }

    fn lost(faults: &[Fault], gone: Option<(u32, i64)>) -> usize {
        let faults = faults.to_vec();
        let verdict = of(|history| {
            history.faults = faults;
            gone.iter().for_each(|(pid, at)| history.observed.went(*at, JOB, &instance(*pid)));
        });
        assert_eq!(verdict.lost_triggers.len() + verdict.lost_to_fault.values().sum::<usize>(), 1);
        verdict.lost_triggers.len()
    }

    fn manual(reason: Reason) -> Skip {
        Skip { from_ms: 1_405, until_ms: 1_405, ..skip(1, 3, &[], reason) }
    }

    #[test]
    fn a_trigger_that_was_run_is_begun() {
        let triggered = Run { scheduled_ms: 1_405, ..run(1, 2) };
        assert_eq!(of(|history| history.runs.push(triggered)).begun, 1);
    }

    #[test]
    fn one_that_was_not_is_lost_unless_its_instance_is_gone() {
        assert_eq!(lost(&[], None), 1);
        assert_eq!(lost(&[killed(1, 3 * S)], Some((1, 7 * S))), 0);
        assert_eq!(lost(&[killed(2, 3 * S)], Some((2, 7 * S))), 1, "another instance is gone");
        assert_eq!(lost(&[frozen(1, 3 * S, 5 * S)], None), 1, "it came back, and its trigger waited");
        assert_eq!(lost(&[frozen(1, 3 * S, 9 * S)], Some((1, 8 * S))), 0, "its session ended");
    }

    #[test]
    fn an_item_whose_owner_was_gone_before_is_known_to_have_had_none() {
        let of = |gone| {
            let verdict = of(|history| history.observed.went(gone, JOB, &instance(1)));
            (verdict.lost_to_fault.into_keys().next(), verdict.not_looked_at)
        };
        assert_eq!(of(S), (Some("triggered_without_owner".to_owned()), 1));
        assert_eq!(of(40 * S), (None, 0), "it had one");
    }

    #[test]
    fn an_instance_that_is_gone_long_after_it_had_to_run_it_excuses_nothing() {
        assert_eq!(lost(&[killed(1, 60 * S)], Some((1, 64 * S))), 1);
        assert_eq!(
            lost(&[frozen(1, 10 * S, 12 * S), killed(1, 30 * S)], Some((1, 31 * S))),
            0,
            "never in peace for long"
        );
    }

    #[test]
    fn what_its_instance_said_explains_it_when_it_is_so() {
        let disabled = Fault { kind: crate::records::FaultKind::Disabled, from_us: S, at_us: S, until_us: 3 * S };
        let said = |reason: Reason, faults: &[Fault]| {
            let verdict = of(|history| {
                history.skips = vec![manual(reason)];
                history.faults = faults.to_vec();
            });
            verdict.explained.into_keys().next()
        };
        assert_eq!(said(Reason::ServerDisabled, &[disabled]).as_deref(), Some("server_disabled"));
        assert_eq!(said(Reason::ServerDisabled, &[]), None, "it was not");
        assert_eq!(said(Reason::NotBegunInTime, &[disabled]), None, "a trigger has the time");
        assert_eq!(said(Reason::RunsElsewhere, &[]), None, "the run was over");
    }

    #[test]
    fn an_item_whose_lost_run_comes_first_is_told_as_lost_to_that_fault() {
        let verdict = of(|history| {
            let lost = Run { scheduled_ms: 0, began_us: S / 2, ..open(3, 1) };
            history.runs = vec![lost, Run { end: Some((S + S / 10, Ending::Finished)), ..run(1, 1) }];
            history.faults = vec![killed(3, S)];
            history.skips = vec![Skip { at_us: 2 * S, ..manual(Reason::AwaitingFailover) }];
        });
        assert_eq!(verdict.lost_to_fault.into_keys().collect::<Vec<_>>(), ["awaiting_failover"]);
    }
}
