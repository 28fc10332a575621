//! A run that outlives its engine.

use super::runs::{BegunItem, Run, Stage};
use crate::fire::{Attempt, FireState, ItemEnd, RunKey};
use crate::ident::ShardingItem;

/// A run of an item that its engine did not bring to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftRun {
    /// The item.
    pub item: ShardingItem,
    /// The run that it is a part of.
    pub key: RunKey,
    /// The attempt that the record of the item names; `None` when execution was not monitored.
    pub attempt: Option<Attempt>,
    /// The latest scheduled fire that fell into it and was skipped.
    pub skipped: Option<i64>,
    /// The end of the run, `None` while its code goes on.
    pub end: Option<ItemEnd>,
}

impl LeftRun {
    pub(in crate::engine) fn of(run: &Run, item: ShardingItem, item_run: &BegunItem) -> Self {
        let end = match &item_run.stage {
            Stage::Ended { end, .. } => Some(end.clone()),
            Stage::Held { .. } => Some(ItemEnd::cut_off("the coordination of the job ended before it started")),
            Stage::Executing | Stage::AskedToStop | Stage::Cancelled { .. } | Stage::Aborted => None,
        };
        Self { item, key: run.key, attempt: item_run.attempt.clone(), skipped: run.skipped, end }
    }

    /// Whether its code goes on, and the record of its item says that it runs.
    pub(in crate::engine) fn is_recorded(&self) -> bool {
        self.end.is_none() && self.attempt.is_some()
    }

    /// The code of the run has returned. It was told to end before, so an error is not its own failure.
    pub fn ended(&mut self, end: ItemEnd) {
        let state = if end.state == FireState::Failed { FireState::Cancelled } else { end.state };
        self.end = Some(ItemEnd { state, ..end });
    }
}

impl ItemEnd {
    /// The end of a run that was cut off before it took any time.
    pub(in crate::engine) fn cut_off(why: &str) -> Self {
        Self { state: FireState::Cancelled, took: 0, error: Some(why.to_owned()) }
    }
}
