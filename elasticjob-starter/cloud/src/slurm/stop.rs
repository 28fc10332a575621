//! Stopping: TERM, once, and after the grace the end of everything that is left.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use elasticjob::ident::ShardingItem;
use elasticjob::log::warn;
use futures_util::future::join_all;
use tokio::time::sleep;

use super::command::{Commands, Failed};
use super::queue::{JobState, Row};
use super::{Shared, blocking};
use crate::carrier::{CarrierError, LaunchId, Stop};

/// How long after the grace the keeper may take to end by itself.
const AFTER_GRACE: Duration = Duration::from_secs(3);

/// The file that says that a scheduler has asked a job of Slurm to end, or is about to; the id of its array follows. Many programs take a
/// second signal for the wish that they end at once.
const ASKED: &str = "asked-";

/// The file in which the keeper of a job says that it was asked to end: the answer to the request may get lost.
const ENDING: &str = "ending-";

/// A job of Slurm that is to end, with the folder of its process.
#[derive(Debug, Clone)]
pub(super) struct Unwanted {
    pub(super) row: Row,
    pub(super) folder: PathBuf,
}

impl Unwanted {
    fn asked(&self) -> PathBuf {
        self.folder.join(format!("{ASKED}{}", self.row.array))
    }

    /// True for the first call that is about to ask it: the one that makes the note asks. Where it cannot be noted, another scheduler
    /// may ask again.
    fn is_first_asked(&self) -> bool {
        if self.folder.join(format!("{ENDING}{}", self.row.array)).exists() {
            return false;
        }
        let noted = OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.asked());
        !noted.is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
    }
}

/// Forgets which jobs of Slurm were asked to end whose process was in a folder: it gets another one.
pub(super) fn forget_asked(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_note = |name: &str| name.starts_with(ASKED) || name.starts_with(ENDING);
        if entry.file_name().to_str().is_some_and(is_note) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Asks live jobs to end, unless they were asked before. Those that wait are cancelled; the keepers of the others see to the grace, from
/// the first request on, also when this scheduler does not live so long. Without a grace they are killed.
pub(super) async fn ask_to_end(commands: &Commands, jobs: &[Unwanted], grace: Duration) -> Result<(), Failed> {
    let of = |states: &[JobState]| -> Vec<Unwanted> {
        jobs.iter().filter(|job| states.contains(&job.row.state)).cloned().collect()
    };
    let waiting = of(&[JobState::Pending]);
    if !waiting.is_empty() {
        commands.run("scancel", ids(&waiting)).await?;
    }
    let running = of(&[JobState::Starting, JobState::Suspended, JobState::Running]);
    if grace.is_zero() {
        return signal(commands, "KILL", &running).await;
    }
    let first = blocking(move || Ok(running.into_iter().filter(Unwanted::is_first_asked).collect::<Vec<_>>())).await;
    let first = first.map_err(|error| Failed::NotReached(error.to_string()))?;
    let asked = signal(commands, "TERM", &first).await;
    if asked.is_err() {
        // Those that it reached all the same are known by what their keepers write. One that stays noted is cancelled after the grace.
        let _ = blocking(move || first.iter().try_for_each(|job| fs::remove_file(job.asked()))).await;
    }
    asked
}

async fn signal(commands: &Commands, signal: &str, jobs: &[Unwanted]) -> Result<(), Failed> {
    if jobs.is_empty() {
        return Ok(());
    }
    let arguments = ["--full".to_owned(), format!("--signal={signal}")].into_iter().chain(ids(jobs));
    match commands.run("scancel", arguments).await {
        // They have ended in the meantime, or are about to.
        Err(Failed::Refused(_)) => Ok(()),
        done => done.map(drop),
    }
}

fn ids(jobs: &[Unwanted]) -> Vec<String> {
    jobs.iter().map(|job| job.row.id()).collect()
}

/// The outcome of a stop.
#[derive(Debug, Default)]
pub(super) struct Stopped {
    /// They are asked to end, and what does not is to be [ended](end).
    pub(super) items: Vec<ShardingItem>,
    /// The first item that could not be stopped.
    pub(super) failed: Option<CarrierError>,
}

/// Stops items. One that cannot be stopped keeps no other one running.
pub(super) async fn stop(
    shared: &Arc<Shared>,
    id: &LaunchId,
    items: &[ShardingItem],
    stop: Stop,
) -> Result<Stopped, CarrierError> {
    let Some(states) = shared.states(id).await? else { return Ok(Stopped::default()) };
    let is_live = |item: &&ShardingItem| states.get(*item).is_some_and(|state| state.outcome().is_none());
    let live: Vec<ShardingItem> = items.iter().filter(is_live).copied().collect();
    if live.is_empty() {
        return Ok(Stopped::default());
    }
    let (of_notes, of, grace) = (shared.clone(), id.clone(), stop.grace);
    let note = move || {
        let mut stopped = Stopped::default();
        for item in live {
            match of_notes.place(&of, item).and_then(|place| place.note_stop(&stop)) {
                Ok(()) => stopped.items.push(item),
                Err(error) => {
                    let why = format!("{}: {error}", of_notes.item_folder(&of, item).display());
                    stopped.failed.get_or_insert_with(|| CarrierError::new("note that an item is stopped", why));
                }
            }
        }
        Ok(stopped)
    };
    let stopped = blocking(note).await.map_err(|error| CarrierError::new("note that items are stopped", error))?;
    // Asked after the note: what begins from now on finds it.
    let asked = ask(shared, id, &stopped.items, grace).await;
    asked.map_err(|failed| CarrierError::new("ask the jobs to end", failed.why()))?;
    shared.follow(id, &stopped.items);
    shared.mirror.wake();
    Ok(stopped)
}

/// Asks the live jobs of items to end. Returns whether there are any.
pub(super) async fn ask(
    shared: &Shared,
    id: &LaunchId,
    items: &[ShardingItem],
    grace: Duration,
) -> Result<bool, Failed> {
    let snapshot = shared.mirror.now().await?;
    let name = shared.name(id);
    let mut jobs = Vec::new();
    for item in items {
        let live = snapshot.rows(&name, *item).iter().filter(|row| row.is_live());
        jobs.extend(live.map(|row| Unwanted { row: row.clone(), folder: shared.item_folder(id, *item) }));
    }
    ask_to_end(&shared.commands, &jobs, grace).await?;
    Ok(!jobs.is_empty())
}

/// Items that an earlier scheduler has stopped, by their grace.
pub(super) type Noted = BTreeMap<Duration, Vec<ShardingItem>>;

/// Reads which items are stopped. One that cannot be read is looked at again when it is stopped.
pub(super) fn noted(shared: &Shared, id: &LaunchId, items: &[ShardingItem]) -> Noted {
    let mut noted = Noted::new();
    for item in items {
        let grace = shared.place(id, *item).and_then(|place| place.stop_grace());
        if let Ok(Some(grace)) = grace {
            noted.entry(grace).or_default().push(*item);
        }
    }
    noted
}

/// Goes on with stops of an earlier scheduler, which may have died before it asked, or before it ended what does not end by itself.
pub(super) async fn go_on(shared: Arc<Shared>, id: LaunchId, noted: Noted) {
    join_all(noted.into_iter().map(|(grace, items)| go_on_with(&shared, &id, items, grace))).await;
}

async fn go_on_with(shared: &Arc<Shared>, id: &LaunchId, items: Vec<ShardingItem>, grace: Duration) {
    loop {
        match ask(shared, id, &items, grace).await {
            Ok(true) => return end(shared.clone(), id.clone(), items, grace).await,
            Ok(false) => return,
            // The mirror has told it.
            Err(_) => sleep(AFTER_GRACE).await,
        }
    }
}

/// Cancels what has not ended some time after the grace: its keeper was killed, or its node does not answer.
pub(super) async fn end(shared: Arc<Shared>, id: LaunchId, items: Vec<ShardingItem>, grace: Duration) {
    let mut pause = grace + AFTER_GRACE;
    loop {
        sleep(pause).await;
        pause = AFTER_GRACE;
        let Ok(snapshot) = shared.mirror.now().await else { continue };
        let name = shared.name(&id);
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
