//! The deadlines of runs whose session is not proven any more, and the deadline of leaving.

use std::time::Duration;

use super::action::Action;
use super::engine::JobEngine;
use super::notice::Notice;
use super::planted::Bug;
use super::state::left_run::LeftRun;
use super::state::listener_round::RoundStage;
use super::state::membership::Phase;
use super::state::runs::Stage;
use crate::clock::Now;
use crate::fire::{CancelReason, FireState, ItemEnd};
use crate::ident::ShardingItem;

/// How long leaving may take after the last run was cut off, when the registry does not answer.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);

impl JobEngine {
    /// Cancels and aborts runs whose time is over. Never waits for a write.
    pub(super) fn keep_deadlines(&mut self, now: Now) {
        if self.is_executing() && self.session.renew_at().is_some_and(|at| now.mono >= at) {
            self.prove();
        }
        // Marks of a run that was begun in an earlier session died with it.
        let other_session = self.session.connected().is_some() && self.membership.session != self.session.connected();
        let other_session = other_session || self.session.is_over();
        let unproven = self.session.is_overdue(now);
        let cut = matches!(self.phase, Phase::Leaving { cut_at, .. } if now.mono >= cut_at);
        // It is certain that the earlier session ended: the items that ran in it may run elsewhere already, so their
        // runs have no grace left.
        let abort_at = if self.planted.has(Bug::GraceFromNow) {
            now.mono + self.session.grace()
        } else if other_session {
            now.mono
        } else {
            self.session.drop_at(now)
        };
        if cut {
            self.cancel_runs(now, abort_at, CancelReason::Shutdown);
        } else if (unproven || other_session) && !self.planted.has(Bug::RunsOutliveSession) {
            let leapt = !other_session && self.session.has_leapt(now);
            let reason = if leapt { CancelReason::ClockLeapt } else { CancelReason::SessionUnproven };
            self.cancel_runs(now, abort_at, reason);
        }
        let mut aborted = Vec::new();
        for (item, run) in self.runs.items_mut() {
            if matches!(run.stage, Stage::Cancelled { abort_at } if now.mono >= abort_at) {
                run.stage = Stage::Aborted;
                aborted.push(item);
            }
        }
        if !aborted.is_empty() {
            self.act(Action::Abort(aborted));
        }
        self.keep_rounds(now);
        if !self.pending_triggers.is_empty() {
            self.keep_patience(now);
        }
    }

    /// Cancels the runs that are not cancelled yet. A run that was cancelled before is dropped at the earlier of the
    /// two times.
    fn cancel_runs(&mut self, now: Now, abort_at: Duration, reason: CancelReason) {
        let (mut cancelled, mut not_started) = (Vec::new(), Vec::new());
        for run in self.runs.iter_mut() {
            let mut held = Vec::new();
            for (item, item_run) in &mut run.items {
                match item_run.stage {
                    Stage::Executing | Stage::AskedToStop => {
                        item_run.stage = Stage::Cancelled { abort_at };
                        cancelled.push(*item);
                    }
                    Stage::Cancelled { abort_at: before } if before > abort_at => {
                        item_run.stage = Stage::Cancelled { abort_at };
                    }
                    Stage::Held { .. } => {
                        let error = Some("it was cut off before it started".to_owned());
                        let end = ItemEnd { state: FireState::Cancelled, took: 0, error };
                        item_run.stage = Stage::Ended { at: now.mono, end };
                        held.push(*item);
                    }
                    _ => {}
                }
            }
            if !held.is_empty() {
                not_started.push(Notice::NotStarted { key: run.key, items: held, reason });
            }
        }
        self.cut_off_rounds(abort_at, reason);
        not_started.into_iter().for_each(|notice| self.tell(notice));
        if !cancelled.is_empty() {
            self.tell(Notice::RunsCancelled { items: cancelled.clone(), reason });
            self.act(Action::Cancel { items: cancelled, reason });
        }
        self.close_runs(now);
    }

    /// When leaving no longer waits for cut off runs whose futures still live.
    pub(super) fn last_moment(&self, cut_at: Duration) -> Duration {
        cut_at + self.session.grace() + LEAVE_TIMEOUT
    }

    /// A blocking run cannot be dropped: leaving goes on without it. Its mark stays until its code returns or the session
    /// ends, so that no other instance begins the item meanwhile.
    pub(super) fn abandon_runs(&mut self, now: Now) {
        let Phase::Leaving { cut_at, .. } = self.phase else { return };
        if now.mono < self.last_moment(cut_at) {
            return;
        }
        let items: Vec<ShardingItem> = self.runs.executing().collect();
        if !items.is_empty() {
            for run in self.runs.iter_mut() {
                let left = run.items.iter().filter(|(_, of)| of.is_executing());
                self.membership.abandoned.extend(left.map(|(item, of)| LeftRun::of(run, *item, of)));
                run.items.retain(|_, item| !item.is_executing());
            }
            self.tell(Notice::RunsAbandoned { items: items.clone() });
            self.act(Action::Abandon(items));
        }
        let mut abandoned = Vec::new();
        for run in self.runs.iter_mut() {
            if let Some(round) = run.round.as_mut().filter(|round| round.call().is_some()) {
                round.stage = RoundStage::Over;
                abandoned.push(run.key.fire);
            }
        }
        abandoned.into_iter().for_each(|fire| self.tell(Notice::ListenersAbandoned { fire }));
        self.close_runs(now);
    }

    /// Leaving ends even where the registry does not answer.
    pub(super) fn gave_up_leaving(&mut self, now: Now) -> bool {
        let executing = self.is_executing();
        let Phase::Leaving { give_up_at, .. } = &mut self.phase else { return false };
        // A begin that was in flight when the wait began counts as well.
        if executing {
            *give_up_at = None;
            return false;
        }
        now.mono >= *give_up_at.get_or_insert(now.mono + LEAVE_TIMEOUT)
    }
}
