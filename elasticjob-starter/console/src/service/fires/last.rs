//! The last fires of a job as the registry center has them, where nothing was traced: of each item it keeps the run that
//! began last.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use elasticjob::fire::{Begun, ExecutionSource, FireState};
use elasticjob::operations::{ItemSnapshot, JobSnapshot};

use super::group::{FireOutcome, RunState, Tally};
use super::id::FireId;
use super::summary::Summary;

/// The last run of an item.
struct LastRun {
    state: Option<RunState>,
    began: i64,
    ended: Option<i64>,
    source: ExecutionSource,
}

/// The fires of the last run of each item, the newest first. A fire has the items that ran in no later one.
pub(crate) fn last(snapshot: &JobSnapshot) -> Vec<Summary> {
    let mut by_fire: BTreeMap<(i64, bool), (FireId, Vec<LastRun>)> = BTreeMap::new();
    for item in snapshot.items.values() {
        let is_alive = snapshot.is_run_alive(item);
        if let Some((id, run)) = last_run(item, is_alive) {
            by_fire.entry(id.rank()).or_insert_with(|| (id, Vec::new())).1.push(run);
        }
    }
    let mut fires: Vec<Summary> = by_fire.into_values().map(|(id, runs)| summary(id, &runs)).collect();
    fires.sort_by_key(|fire| Reverse(fire.id.rank()));
    fires
}

/// Since when no item began a fire that was due, of a job with these last fires; `None` where none is due.
pub(crate) fn not_begun_since(snapshot: &JobSnapshot, last: &[Summary], now: i64) -> Option<i64> {
    let overdue = snapshot.overview(now).overdue?;
    let newest = last.iter().filter_map(|fire| fire.id.scheduled()).max();
    Some(newest.map_or(overdue.since, |at| overdue.since.max(at + 1)))
}

/// A Java instance writes no record: of its run there is a mark, until it ends.
fn last_run(item: &ItemSnapshot, is_alive: bool) -> Option<(FireId, LastRun)> {
    let is_of_mark = |begun: &Begun| begun.state == FireState::Running && begun.ended.is_none();
    match (&item.running, &item.record.last) {
        (Some(mark), begun) if !begun.as_ref().is_some_and(is_of_mark) => {
            let run = LastRun {
                state: Some(if is_alive { RunState::Running } else { RunState::NoEnd }),
                began: mark.since,
                ended: None,
                source: ExecutionSource::NormalTrigger,
            };
            Some((FireId::began_at(mark.since), run))
        }
        (_, Some(begun)) => {
            let state = match begun.state {
                FireState::Succeeded => Some(RunState::Succeeded),
                FireState::Running if is_alive => Some(RunState::Running),
                FireState::Failed | FireState::Cancelled => Some(RunState::Failed),
                FireState::NotRun => None,
                _ => Some(RunState::NoEnd),
            };
            let id = match (begun.rerun(), begun.manual) {
                (Some(rerun), _) => FireId::Scheduled(rerun.of),
                (None, true) => FireId::began_at(begun.at),
                (None, false) => FireId::Scheduled(begun.at),
            };
            let began = begun.began.unwrap_or(begun.at);
            Some((id, LastRun { state, began, ended: begun.ended, source: begun.source }))
        }
        (_, None) => None,
    }
}

fn summary(id: FireId, runs: &[LastRun]) -> Summary {
    let count = |state| runs.iter().filter(|run| run.state == state).count();
    let tally = Tally {
        done: count(Some(RunState::Succeeded)),
        failed: count(Some(RunState::Failed)),
        running: count(Some(RunState::Running)),
        no_end: count(Some(RunState::NoEnd)),
        not_run: count(None),
    };
    let ran = || runs.iter().filter(|run| run.state.is_some());
    Summary {
        id,
        began: ran().map(|run| run.began).min(),
        ended: ran().map(|run| run.ended).collect::<Option<Vec<_>>>().and_then(|ends| ends.into_iter().max()),
        last_sign: runs.iter().map(|run| run.ended.unwrap_or(run.began)).max().unwrap_or(id.time()),
        tally,
        outcome: (ran().count() > 0).then(|| tally.outcome().unwrap_or(FireOutcome::Succeeded)),
        is_by_hand: id.scheduled().is_none(),
        is_misfire: runs.iter().any(|run| run.source == ExecutionSource::Misfire),
        is_failed_over: runs.iter().any(|run| run.source == ExecutionSource::Failover),
        // Of an item that ran again the registry center has the last run alone.
        is_retried: false,
        is_cut: false,
    }
}
