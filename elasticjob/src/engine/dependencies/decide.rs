//! The decision on the fires of a job that depends on others.

use std::collections::BTreeSet;

use super::parent::{Parents, Stand};
use super::parent_end::ParentEnd;
use super::record::{DecidedItems, DependencyRecord, Release, Unmet};
use super::unseen::Unseen;
use crate::config::{Dependency, DependencyItems};
use crate::ident::ShardingItem;

/// A fire that is decided, or some items of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decided {
    /// Its scheduled time in milliseconds since 1970.
    pub(crate) at: i64,
    pub(crate) decision: Decision,
}

/// What is decided on a fire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    /// All its items may begin.
    Runs,
    /// None of them is run.
    Skipped(Unmet),
    /// What becomes of some of its items.
    Items(DecidedItems),
}

/// What is known of an item of this job: the first end that is not as it has to be, once all that it follows are over.
#[derive(Debug, Clone, Default)]
struct OfItem {
    is_pending: bool,
    unmet: Option<Unmet>,
}

/// The fires that can be decided now and are not yet, in ascending order. A fire waits for the one before it: an item runs
/// one fire at a time, so the later one is not over before the earlier one is. Of a job whose items follow items with the same
/// number one fire becomes due at a time: its items have to be seen before the next one takes its place.
///
/// A time at which one of the jobs has no fire is no fire of this job. Fires that were not seen are skipped, with the next one
/// that is decided.
pub(crate) fn decide(
    dependencies: &[Dependency],
    total: u32,
    parents: &Parents,
    record: &DependencyRecord,
    unseen: &Unseen,
    is_far_ahead: impl Fn(i64) -> bool,
) -> Vec<Decided> {
    let mut decided = Vec::new();
    let has_items = dependencies.iter().any(|dependency| dependency.items == DependencyItems::Same);
    // Where the items do not follow items any more, a fire that is open is decided as a whole.
    let open = record.open().filter(|_| has_items).map(|due| due.at);
    let fires = parents.fires().into_iter().chain(unseen.latest.iter().copied()).chain(open).collect::<BTreeSet<i64>>();
    let undecided = fires.into_iter().filter(|at| !record.covers(*at));
    // A fire that a wrong clock has run before its time waits until its time has come.
    'fires: for at in undecided.take_while(|at| !is_far_ahead(*at)) {
        let is_open = open == Some(at);
        let is_unseen = unseen.latest.contains(&at);
        let mut unmet = None;
        let mut is_pending = false;
        let mut items = vec![OfItem::default(); if has_items { total as usize } else { 0 }];
        for dependency in dependencies {
            let stand = match dependency.items {
                DependencyItems::Same if !is_unseen => match follow_items(parents, dependency, at, &mut items) {
                    Ok(()) => continue,
                    Err(stand) => stand,
                },
                // It had ended as it has to when the fire became due.
                DependencyItems::All if is_open => continue,
                DependencyItems::Same | DependencyItems::All => parents.stand(&dependency.job, at),
            };
            match stand {
                Stand::NoSuchFire if is_open => note(&mut items, dependency, ParentEnd::Unknown),
                Stand::NoSuchFire => continue 'fires,
                Stand::Pending => is_pending = true,
                Stand::Over(_) if is_unseen => {
                    unmet
                        .get_or_insert_with(|| Unmet::new(dependency.job.clone(), dependency.when, ParentEnd::Unknown));
                }
                Stand::Over(end) if !end.meets(dependency.when) && is_open => note(&mut items, dependency, end),
                Stand::Over(end) if !end.meets(dependency.when) => {
                    unmet.get_or_insert_with(|| Unmet::new(dependency.job.clone(), dependency.when, end));
                }
                Stand::Over(_) => {}
            }
        }
        if is_pending {
            break;
        }
        if unmet.is_some() && items.iter().any(|item| item.is_pending) {
            break;
        }
        if let Some(unmet) = unmet {
            decided.push(Decided { at, decision: Decision::Skipped(unmet) });
            continue;
        }
        if !has_items {
            decided.push(Decided { at, decision: Decision::Runs });
            continue;
        }
        let new = new_items(items, at, Some(record).filter(|_| is_open));
        // Also where all of them begin at once: items that the jobs get later are no part of the fire.
        let decision = match (is_open, new.released.is_empty(), new.is_whole) {
            (false, true, false) => break,
            (false, true, true) => new.skipped.into_values().next().map_or(Decision::Runs, Decision::Skipped),
            (true, true, false) if new.skipped.is_empty() => break,
            _ => Decision::Items(new),
        };
        let is_skipped = matches!(decision, Decision::Skipped(_));
        decided.push(Decided { at, decision });
        if !is_skipped {
            break;
        }
    }
    // They cost no write of their own.
    while decided.pop_if(|decided| unseen.latest.contains(&decided.at)).is_some() {}
    decided
}

/// Notes how the items with the same numbers stand. Where the fire itself says how they all do, that is the error.
fn follow_items(parents: &Parents, dependency: &Dependency, at: i64, items: &mut [OfItem]) -> Result<(), Stand> {
    let total = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let ends = parents.ends_of_items(&dependency.job, at, total)?;
    for (item, end) in items.iter_mut().zip(ends) {
        match end {
            None => item.is_pending = true,
            Some(end) => note(std::slice::from_mut(item), dependency, end),
        }
    }
    Ok(())
}

/// What these items follow has ended so.
fn note(items: &mut [OfItem], dependency: &Dependency, end: ParentEnd) {
    if end.meets(dependency.when) {
        return;
    }
    for item in items {
        item.unmet.get_or_insert_with(|| Unmet::new(dependency.job.clone(), dependency.when, end));
    }
}

/// What is decided on items now and was not before.
fn new_items(items: Vec<OfItem>, at: i64, before: Option<&DependencyRecord>) -> DecidedItems {
    let mut new = DecidedItems { is_whole: true, ..DecidedItems::default() };
    for (item, OfItem { is_pending, unmet }) in (0 as ShardingItem..).zip(items) {
        let known = before.and_then(|record| record.release(at, item));
        if known.is_some_and(|known| known != Release::Held) {
            continue;
        }
        match unmet {
            _ if is_pending => new.is_whole = false,
            Some(unmet) => drop(new.skipped.insert(item, unmet)),
            None => drop(new.released.insert(item)),
        }
    }
    new
}
