//! Asking runs to end by themselves: those of streams, and others that could go on for long.
//!
//! It is a request, not a deadline. A run that does not look for it is not disturbed.

use super::action::Action;
use super::engine::JobEngine;
use super::notice::Notice;
use super::state::membership::Phase;
use super::state::runs::Stage;
use crate::fire::StopReason;
use crate::ident::ShardingItem;
use crate::registry::layout::JobPath;

impl JobEngine {
    /// Asks the runs that have a reason to end, each once.
    pub(super) fn ask_to_stop(&mut self) {
        if self.runs.is_empty() {
            self.fires.instances_before_gap = None;
            return;
        }
        if let Some(reason) = self.stop_reason() {
            self.ask_items(reason, |_| true);
        }
        let mirror = &self.mirror;
        let unasked = self.runs.items_in(|stage| matches!(stage, Stage::Executing | Stage::Held { wanted: None, .. }));
        let disabled: Vec<ShardingItem> = unasked.filter(|item| mirror.is_item_disabled(*item)).collect();
        if !disabled.is_empty() {
            self.ask_items(StopReason::ItemDisabled, |item| disabled.contains(&item));
        }
    }

    /// A request for resharding comes and goes within moments where the leader serves it at once: the engine looks for
    /// it after every single event.
    pub(super) fn hear_request(&mut self) {
        if !self.runs.is_empty() && self.mirror.exists(&JobPath::Necessary) {
            self.ask_items(StopReason::Resharding, |_| true);
        }
    }

    /// From now on the engine may miss changes: a request may come and go unseen. Instances that come or go cause such
    /// requests, so the engine remembers the instances.
    pub(super) fn remember_instances(&mut self) {
        if !self.runs.is_empty() && self.fires.instances_before_gap.is_none() {
            self.fires.instances_before_gap = Some(self.mirror.instances().cloned().collect());
        }
    }

    /// Why every run of this instance should end.
    fn stop_reason(&mut self) -> Option<StopReason> {
        if matches!(self.phase, Phase::Leaving { .. }) {
            return Some(StopReason::Leaving);
        }
        if self.is_server_disabled() {
            return Some(StopReason::ServerDisabled);
        }
        let is_heard = self.mirror.is_synced();
        let before = self.fires.instances_before_gap.take_if(|_| is_heard);
        let changed = before.is_some_and(|before| !self.mirror.instances().eq(&before));
        (changed || self.mirror.exists(&JobPath::Necessary)).then_some(StopReason::Resharding)
    }

    pub(super) fn ask_items(&mut self, reason: StopReason, is_meant: impl Fn(ShardingItem) -> bool) {
        let mut asked = Vec::new();
        for (item, run) in self.runs.items_mut() {
            match &mut run.stage {
                Stage::Executing if is_meant(item) => {
                    run.stage = Stage::AskedToStop;
                    asked.push(item);
                }
                // The listeners before it are still being called.
                Stage::Held { wanted, .. } if is_meant(item) => {
                    wanted.get_or_insert(reason);
                }
                _ => {}
            }
        }
        if !asked.is_empty() {
            self.tell(Notice::StopAsked { items: asked.clone(), reason });
            self.act(Action::AskToStop(asked));
        }
    }
}
