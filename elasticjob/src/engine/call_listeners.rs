//! The course of a listener round: the listeners before the items, the items, the listeners after them.

use std::time::Duration;

use super::action::{Action, ListenerCall, Start};
use super::engine::JobEngine;
use super::event::RoundId;
use super::notice::Notice;
use super::once_calls::SettledClaim;
use super::planted::{Bug, DEAF};
use super::state::listener_round::{Call, CutOff, RoundStage, Step, Wait, Waiting};
use super::state::runs::{Run, Stage};
use crate::clock::Now;
use crate::fire::{Attempt, CancelReason, Fire, Hook, RunKey};
use crate::ident::ShardingItem;

impl JobEngine {
    /// Goes on with the listeners of a round from number `next` on. When all were called, the round goes on with its
    /// next stage.
    pub(super) fn go_on(&mut self, now: Now, id: RoundId, hook: Hook, next: usize) {
        let Some(round) = self.runs.of_round(id).and_then(|run| run.round.as_mut()) else { return };
        let is_once = |number: &usize| round.plan[*number].once.is_some();
        let count = round.plan.len();
        if next == count {
            self.end_hooks(id, hook);
        } else if is_once(&next) {
            round.stage = RoundStage::Hooks { hook, next, step: Step::Waiting(Wait::new(now.mono)) };
        } else {
            let until = (next..count).find(is_once).unwrap_or(count);
            self.call_listeners(id, hook, next, until, None);
        }
    }

    /// Calls the listeners from number `next` to `until` here; with a claim, on behalf of the group.
    pub(super) fn call_listeners(
        &mut self,
        id: RoundId,
        hook: Hook,
        next: usize,
        until: usize,
        claim: Option<Attempt>,
    ) {
        let instance = self.identity.instance.clone();
        let Some(run) = self.runs.of_round(id) else { return };
        let mut items: Vec<ShardingItem> = run.items.keys().copied().collect();
        items.extend(run.finished.iter().map(|(item, _)| *item));
        items.sort_unstable();
        let Run { key, round: Some(round), .. } = run else { return };
        let step = Step::Calling { until, call: Call::Executing, claim };
        round.stage = RoundStage::Hooks { hook, next, step };
        let call = ListenerCall {
            round: id,
            hook,
            listeners: round.plan[next..until].iter().map(|spec| spec.type_name.clone()).collect(),
            key: *key,
            instance,
            configuration: round.configuration.clone(),
            items,
        };
        self.act(Action::CallListeners(call));
    }

    /// All listeners were called: the items start, or the round is over.
    fn end_hooks(&mut self, id: RoundId, hook: Hook) {
        let instance = self.identity.instance.clone();
        let Some(Run { key, items, round: Some(round), .. }) = self.runs.of_round(id) else { return };
        if hook == Hook::After {
            round.stage = RoundStage::Over;
            return;
        }
        round.stage = RoundStage::Items;
        let (mut started, mut asked) = (Vec::new(), Vec::new());
        for (item, run) in items {
            if let Stage::Held { token, wanted } = run.stage {
                run.stage = Stage::Executing;
                started.push((*item, token));
                asked.extend(wanted.map(|reason| (*item, reason)));
            }
        }
        let configuration = round.configuration.clone();
        let start = Start { key: *key, instance, configuration, items: started };
        self.act(Action::Start(start));
        for (wanted, reason) in asked {
            self.ask_items(reason, |item| item == wanted);
        }
    }

    /// The call of a round is over.
    pub(super) fn on_listeners_called(&mut self, now: Now, id: RoundId) {
        let Some(round) = self.runs.of_round(id).and_then(|run| run.round.as_mut()) else { return };
        let RoundStage::Hooks { hook, step: Step::Calling { until, call, claim }, .. } = &mut round.stage else {
            return;
        };
        let (hook, until, was_cut) = (*hook, *until, *call != Call::Executing);
        self.rounds.settled.extend(claim.take().map(|claim| SettledClaim { claim, was_called: true }));
        if was_cut {
            round.stage = RoundStage::Over;
        } else {
            self.go_on(now, id, hook, until);
        }
        self.close_runs(now);
    }

    /// Runs whose items are all finished go on with the listeners after them, or are over.
    pub(super) fn close_runs(&mut self, now: Now) {
        // The listeners after the items wait for those that are yet to be released here.
        let has_ended =
            |run: &&Run| run.items.is_empty() && !self.begins_more(run.key) && !self.holds_own_items(run.key);
        let ended = self.runs.iter().filter(has_ended).filter_map(|run| run.round.as_ref());
        let ended: Vec<RoundId> =
            ended.filter(|round| matches!(round.stage, RoundStage::Items)).map(|round| round.id).collect();
        for id in ended {
            self.go_on(now, id, Hook::After, 0);
        }
        let mut runs = std::mem::take(&mut self.runs);
        let finished = runs.take_finished(|key| self.begins_more(key));
        self.runs = runs;
        for Run { key, finished, is_counted, is_left, .. } in finished {
            self.planted.deafen(Bug::DeafAfterRun, now.mono + DEAF * 3 / 8);
            let cut_off = finished.iter().filter(|(_, state)| state.is_unfinished()).map(|(item, _)| *item);
            let handed_over: Vec<ShardingItem> = cut_off.filter(|_| self.configuration.is_failover_on()).collect();
            self.tell(Notice::Finished { key, items: finished });
            if !handed_over.is_empty() {
                self.tell(Notice::HandedOver { fire: key.fire, items: handed_over });
            }
            if matches!(key.fire, Fire::Scheduled(_)) && !key.is_takeover() && !is_counted && !is_left {
                self.fires.over += 1;
            }
        }
    }

    /// Gives up waits whose time is over, and drops calls that were cancelled and do not end. Never waits for a write.
    pub(super) fn keep_rounds(&mut self, now: Now) {
        let waiting: Vec<RoundId> =
            self.runs.rounds().filter(|round| round.waiting().is_some()).map(|round| round.id).collect();
        for id in &waiting {
            self.keep_wait(now, *id);
        }
        let mut aborted = Vec::new();
        for round in self.runs.iter_mut().filter_map(|run| run.round.as_mut()) {
            let id = round.id;
            if let Some(call) = round.call_mut()
                && matches!(call, Call::Cancelled { abort_at } if now.mono >= *abort_at)
            {
                *call = Call::Aborted;
                aborted.push(id);
            }
        }
        aborted.into_iter().for_each(|id| self.act(Action::AbortListeners(id)));
        if !waiting.is_empty() {
            self.close_runs(now);
        }
    }

    fn keep_wait(&mut self, now: Now, id: RoundId) {
        let Some(run) = self.runs.of_round(id) else { return };
        let (Some(waits), Some(round)) = (run.waiting(), &run.round) else { return };
        let limit = round.plan[waits.next].once.and_then(|once| once.of(waits.hook));
        let is_late = limit.is_some_and(|limit| now.mono >= waits.since + limit);
        if !is_late {
            return;
        }
        let waited_for = self.waited_for(now, &waits);
        let Waiting { key: RunKey { fire, .. }, listener, hook, next, claim, .. } = waits;
        self.tell(Notice::ListenerTimedOut { fire, listener, hook, waited_for });
        self.retract(claim);
        self.go_on(now, id, hook, next + 1);
    }

    /// This instance will not act on a claim. If the claim went through, no instance shall wait for the call.
    fn retract(&mut self, claim: Option<Attempt>) {
        self.rounds.settled.extend(claim.map(|claim| SettledClaim { claim, was_called: false }));
    }

    /// The wait of a round.
    pub(super) fn wait_of(&mut self, id: RoundId) -> Option<&mut Wait> {
        self.runs.of_round(id)?.round.as_mut()?.wait_mut()
    }

    /// Runs were cut off: their listeners are not called any more, and those that execute are cancelled.
    pub(super) fn cut_off_rounds(&mut self, abort_at: Duration, reason: CancelReason) {
        let mut cut = Vec::new();
        for run in self.runs.iter_mut() {
            if let Some(round) = &mut run.round {
                cut.push((run.key.fire, round.id, round.cut_off(abort_at)));
            }
        }
        for (fire, id, cut) in cut {
            match cut {
                CutOff::Nothing => continue,
                CutOff::Stopped { claim } => self.retract(claim),
                CutOff::Cancel => self.act(Action::CancelListeners(id)),
            }
            self.tell(Notice::ListenersCutOff { fire, reason });
        }
    }
}
