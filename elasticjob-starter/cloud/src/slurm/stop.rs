//! Stopping: TERM, and after the grace the end of everything that is left.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::ident::ShardingItem;
use elasticjob::log::warn;
use tokio::time::sleep;

use super::command::{Commands, Failed};
use super::queue::{JobState, Row};
use super::{Shared, blocking};
use crate::carrier::{CarrierError, LaunchId, Stop};

/// How long after the grace the keeper may take to end by itself.
const AFTER_GRACE: Duration = Duration::from_secs(3);

/// Asks live jobs to end. Those that wait are cancelled; the keepers of the others see to the grace, also when this scheduler
/// does not live so long.
pub(super) async fn ask_to_end(commands: &Commands, rows: &[&Row], grace: Duration) -> Result<(), Failed> {
    let ids = |states: &[JobState]| -> Vec<String> {
        rows.iter().filter(|row| states.contains(&row.state)).map(|row| row.id()).collect()
    };
    let waiting = ids(&[JobState::Pending]);
    if !waiting.is_empty() {
        commands.run("scancel", &waiting).await?;
    }
    let running = ids(&[JobState::Starting, JobState::Suspended, JobState::Running]);
    if !running.is_empty() {
        let signal = if grace.is_zero() { "--signal=KILL" } else { "--signal=TERM" };
        let arguments = ["--full", signal].into_iter().chain(running.iter().map(String::as_str));
        match commands.run("scancel", arguments).await {
            // They have ended in the meantime, or are about to.
            Err(Failed::Refused(_)) => {}
            done => drop(done?),
        }
    }
    Ok(())
}

/// Stops items. Returns what is left to do: it ends what does not end by itself.
pub(super) async fn stop(
    shared: &Arc<Shared>,
    id: &LaunchId,
    items: &[ShardingItem],
    stop: Stop,
) -> Result<Option<impl Future<Output = ()> + Send + 'static>, CarrierError> {
    let fails = |error: std::io::Error| CarrierError::new("note that items are stopped", error);
    let Some(states) = shared.states(id).await? else { return Ok(None) };
    let is_live = |item: &&ShardingItem| states.get(*item).is_some_and(|state| state.outcome().is_none());
    let items: Vec<ShardingItem> = items.iter().filter(is_live).copied().collect();
    if items.is_empty() {
        return Ok(None);
    }
    let (of_notes, of, noted) = (shared.clone(), id.clone(), items.clone());
    let grace = stop.grace;
    let note = move || noted.iter().try_for_each(|item| of_notes.place(&of, *item)?.note_stop(&stop));
    blocking(note).await.map_err(fails)?;
    // Asked after the note: what begins from now on finds it.
    let ask = |failed: Failed| CarrierError::new("ask the jobs to end", failed.why());
    let snapshot = shared.mirror.now().await.map_err(ask)?;
    let name = shared.name(id);
    let rows: Vec<&Row> =
        items.iter().flat_map(|item| snapshot.rows(&name, *item)).filter(|row| row.is_live()).collect();
    ask_to_end(&shared.commands, &rows, grace).await.map_err(ask)?;
    shared.follow(id, &items);
    shared.mirror.wake();
    let (shared, id) = (shared.clone(), id.clone());
    Ok(Some(async move { end(&shared, &id, &items, grace).await }))
}

/// Cancels what has not ended some time after the grace: its keeper was killed, or its node does not answer.
async fn end(shared: &Arc<Shared>, id: &LaunchId, items: &[ShardingItem], grace: Duration) {
    let mut pause = grace + AFTER_GRACE;
    loop {
        sleep(pause).await;
        pause = AFTER_GRACE;
        let Ok(snapshot) = shared.mirror.now().await else { continue };
        let name = shared.name(id);
        let rows = items.iter().flat_map(|item| snapshot.rows(&name, *item));
        let live: Vec<String> = rows.filter(|row| row.is_live()).map(Row::id).collect();
        if live.is_empty() {
            return;
        }
        if let Err(failed) = shared.commands.run("scancel", &live).await {
            warn!("{id}: a stopped process still runs: {}", failed.why());
        }
        pause *= 5;
    }
}
