//! `SINGLE_SHARDING_BALANCE`: when the items move on.

use super::item_states::ItemStates;
use crate::engine::engine::JobEngine;
use crate::engine::planted::Bug;
use crate::engine::state::leadership::Basis;
use crate::fire::{FireRecord, FireState};
use crate::registry::layout::JobPath;
use crate::registry::mirror::Unread;
use crate::sharding::SINGLE_SHARDING_BALANCE;

/// Whether the items move on to the next instance.
///
/// They move on when no item is busy and the first item that is not disabled was run by its owner last. The leader has
/// to remember nothing for that: after the items have moved on, the owner of that item is another one. So each fire
/// moves them once, whichever instance leads, and a fire that no instance ran does not.
pub(super) fn is_over(engine: &JobEngine, basis: &Basis, items: &ItemStates<'_>) -> Result<bool, Unread> {
    let moves = basis.strategy == SINGLE_SHARDING_BALANCE && !engine.planted.has(Bug::KeptTurn);
    if !moves || basis.instances.len() < 2 || !items.busy.is_empty() {
        return Ok(false);
    }
    let is_disabled = |item: u32| engine.mirror.is_item_disabled(item);
    let Some(item) = (0..basis.total).find(|item| !is_disabled(*item)) else { return Ok(false) };
    let Some(known) = engine.mirror.need(&JobPath::fire(item))? else { return Ok(false) };
    let record = known.parsed(FireRecord::parse);
    let last = record.last.as_ref().filter(|begun| begun.state != FireState::Running);
    Ok(last.is_some_and(|begun| items.owner(item) == Some(begun.instance.as_str())))
}
