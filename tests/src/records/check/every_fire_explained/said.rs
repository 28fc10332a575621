//! The owners' statements about a fire of an item, and whether they are true.

use std::time::Duration;

use super::duty::REACTION;
use super::{Fire, HAIR, HANDOVER, within};
use crate::records::check::begun_once::may_be_lost;
use crate::records::history::{SETTLE, us};
use crate::records::{Ending, Fault, FaultKind, Reason, Run, Skip};

/// How long the end of an item waits for that of others before it is written, with the time to write it.
const END_WRITTEN: Duration = Duration::from_millis(950);

impl Fire<'_> {
    /// What its owners said. Of disabled servers others may speak.
    pub(super) fn said(&self) -> Vec<&Skip> {
        let owners = self.owners();
        let by_owner = |skip: &&Skip| owners.contains(&Some(skip.pid)) || matches!(skip.reason, Reason::ServerDisabled);
        let skips = self.history.skips.iter().filter(|skip| skip.covers(self.job, self.item, self.at_ms));
        skips.filter(by_owner).collect()
    }

    /// Whether an owner said that the fire was begun or decided against, and it was not: no later one was begun, whose
    /// record covers it, and no process decided against it because the server was disabled.
    pub(super) fn is_false_claim(&self, skip: &Skip) -> bool {
        let by_then = skip.at_us + us(HAIR);
        let of_fire = self.history.skips.iter().filter(|other| other.covers(self.job, self.item, self.at_ms));
        let mut refusals = of_fire.filter(|other| other.reason == Reason::ServerDisabled && self.is_accepted(other));
        skip.reason == Reason::AlreadyBegun
            && !self.of_item().any(|run| run.scheduled_ms > self.at_ms && run.began_us <= by_then)
            && !refusals.any(|other| other.at_us <= by_then)
    }

    /// Whether a user accepts what an owner said, and it agrees with what else is known.
    pub(in crate::records::check) fn is_accepted(&self, skip: &Skip) -> bool {
        let history = self.history;
        match skip.reason {
            Reason::StillRunning => {
                let mut runs = self.of_job().filter(|run| run.pid == skip.pid);
                runs.any(|run| goes_on(run, skip.at_us) || self.was_being_begun(run, skip))
            }
            Reason::RunsElsewhere => self.of_item().any(|run| {
                let written = history.ended_us(run).saturating_add(us(END_WRITTEN));
                run.began_us <= skip.at_us + us(HAIR) && written >= skip.at_us
            }),
            Reason::ServerDisabled => {
                let mut disabled = history.faults.iter().filter(|fault| fault.kind == FaultKind::Disabled);
                disabled.any(|fault| within(history.reach(fault), skip.at_us))
            }
            // Its items stay with it until its last run is over, and go to others then.
            Reason::Leaving if !self.survives => {
                let left = FaultKind::Left { pid: skip.pid };
                let mut left = history.faults.iter().filter(|fault| fault.kind == left);
                left.any(|fault| fault.touches(self.at_us(), self.at_us()))
                    && self.of_job().filter(|run| run.pid == skip.pid).any(|run| goes_on(run, skip.at_us))
            }
            _ => false,
        }
    }

    /// Whether a run was being begun when its process came to the fire: an answer takes its time. A later fire of the item has
    /// to take the place of this one then.
    fn was_being_begun(&self, run: &Run, skip: &Skip) -> bool {
        let is_soon = (skip.at_us..=skip.at_us + us(REACTION)).contains(&run.began_us);
        let takes_its_place = |after: &Run| after.pid == skip.pid && after.scheduled_ms > self.at_ms;
        run.scheduled_ms < self.at_ms && is_soon && self.of_item().any(takes_its_place)
    }

    /// Whether a run that was lost with its process held the item up, and for no longer than that takes.
    pub(in crate::records::check) fn is_held_up_by_the_dead(&self, skip: &Skip) -> bool {
        let (history, at) = (self.history, self.at_us());
        let mut before = self.of_item().filter(|run| run.scheduled_ms < self.at_ms);
        match skip.reason {
            // The mark of a dead process lives as long as its session.
            Reason::RunsElsewhere => before.any(|run| {
                run.began_us <= skip.at_us + us(HAIR) && self.mark_gone_us(run.pid, history.ended_us(run)) >= skip.at_us
            }),
            Reason::AwaitingFailover => before.any(|run| {
                let gone = self.mark_gone_us(run.pid, history.ended_us(run)).saturating_add(us(SETTLE));
                may_be_lost(history, run) && !self.is_made_good(run) && at <= gone
            }),
            _ => false,
        }
    }

    /// Whether an owner waited for the leader to assign items, as fires do for a while, and the next fire came before: the
    /// leader may have been an instance that was hit, and is for no longer than its session lives.
    pub(super) fn waited_for_a_dead_leader(&self, skip: &Skip) -> bool {
        let (history, at) = (self.history, self.at_us());
        let may_lead = |fault: &&Fault| match fault.pid() {
            Some(pid) => fault.separates(pid) && history.observed.was_there(self.job, pid, fault.from_us),
            None => false,
        };
        skip.reason == Reason::NotBegunInTime
            && self.next_us() - at <= us(REACTION)
            && history.faults.iter().filter(may_lead).any(|fault| within(history.reach(fault), at))
    }

    fn of_job(&self) -> impl Iterator<Item = &Run> {
        self.history.runs.iter().filter(|run| run.job == self.job)
    }

    pub(super) fn of_item(&self) -> impl Iterator<Item = &Run> {
        self.of_job().filter(|run| run.item == self.item)
    }

    /// Whether a lost run came to an end before the fire, or one that followed it, and the registry knows.
    fn is_made_good(&self, lost: &Run) -> bool {
        let of_fire = self.of_item().filter(|run| run.scheduled_ms == lost.scheduled_ms);
        of_fire.filter(|run| run.began_us >= lost.began_us).any(|run| match run.end {
            Some((at, Ending::Finished)) => {
                at < self.at_us() - us(HANDOVER) && self.kept_from_writing(run.pid, at).next().is_none()
            }
            _ => false,
        })
    }

    /// When the mark of a run is gone that ended, or was stopped, at that time. A process that is kept from writing the
    /// end leaves it there.
    fn mark_gone_us(&self, pid: u32, ended_us: i64) -> i64 {
        let gone = self.kept_from_writing(pid, ended_us).map(|fault| self.history.gone_by(pid, fault.from_us)).max();
        gone.unwrap_or(ended_us.saturating_add(us(END_WRITTEN)))
    }

    /// What kept a process from writing the end of a run.
    fn kept_from_writing(&self, pid: u32, ended_us: i64) -> impl Iterator<Item = &Fault> {
        let written = ended_us.saturating_add(us(END_WRITTEN));
        self.history.faults.iter().filter(move |fault| fault.separates(pid) && fault.touches(ended_us, written))
    }
}

/// Whether a run goes on at a time as its process sees it: for that it also does while it is frozen.
fn goes_on(run: &Run, at_us: i64) -> bool {
    run.began_us <= at_us + us(HAIR) && run.end.is_none_or(|(ended, _)| ended >= at_us - us(HAIR))
}
