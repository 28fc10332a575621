//! Stopping: TERM, once, and after the grace the end of everything that is left.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use elasticjob::ident::ShardingItem;
use futures_util::future::join_all;
use tokio::time::sleep;

use super::command::{COMMAND_LIMIT, Commands, Failed};
use super::ends::{AFTER_GRACE, Asked};
use super::queue::{JobState, Row};
use super::{Shared, blocking};
use crate::carrier::{CarrierError, LaunchId, Stop};
use crate::files::text_of;

/// The file that says that a scheduler asks a job of Slurm to end; the id of its array follows. Many programs take a second signal for
/// the wish that they end at once. It has no text until the request is answered.
const ASKED: &str = "asked-";

/// The text of that file once Slurm has taken the request.
const SENT: &str = "sent";

/// How long that file counts without its text: its scheduler may have gone before the request was sent. The clocks of the file server
/// and of a scheduler may differ by the time that it is longer than a request takes.
pub(super) const IN_DOUBT: Duration = Duration::from_secs(COMMAND_LIMIT.as_secs() + 30);

/// The file in which the keeper of a job says that it was asked to end: the answer to the request may get lost.
const ENDING: &str = "ending-";

/// A job of Slurm that is to end, with the folder of its process.
#[derive(Debug, Clone)]
pub(super) struct Unwanted {
    pub(super) row: Row,
    pub(super) folder: PathBuf,
    /// How long ago this carrier has asked it, where it knows that itself: the note may be missing.
    pub(super) asked: Option<Duration>,
}

impl Unwanted {
    fn note(&self) -> PathBuf {
        self.folder.join(format!("{ASKED}{}", self.row.array))
    }

    fn make_note(&self) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.note())
    }

    /// What is known of the request that it ends. `None` for the call that is to send it: the one that makes the note does. Where
    /// it cannot be noted, another scheduler may ask again.
    fn request(&self) -> Option<Asked> {
        let arrived = age(&self.folder.join(format!("{ENDING}{}", self.row.array)));
        // The clock of this carrier counts before the times of files, which the clock of another host may have given them.
        if let Some(ago) = self.asked.or(arrived) {
            return Some(Asked::Before(ago));
        }
        let is_noted =
            |noted: &io::Result<File>| noted.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists);
        if !is_noted(&self.make_note()) {
            return None;
        }
        let ago = age(&self.note()).unwrap_or_default();
        if text_of(&self.note()).ok().flatten().is_some_and(|text| text == SENT) {
            return Some(Asked::Before(ago));
        }
        let left = IN_DOUBT.saturating_sub(ago);
        if !left.is_zero() {
            return Some(Asked::InDoubt(left));
        }
        let _ = fs::remove_file(self.note());
        // Another scheduler may have made it meanwhile.
        is_noted(&self.make_note()).then_some(Asked::InDoubt(IN_DOUBT))
    }

    /// Notes whether Slurm has taken the request. A note that is not changed is in doubt for some time.
    fn note_sent(&self, sent: &Result<(), Failed>) {
        let _ = match sent {
            Ok(()) => {
                File::options().write(true).open(self.note()).and_then(|mut note| note.write_all(SENT.as_bytes()))
            }
            // It may have arrived: what its keeper writes is seen late on a shared file system.
            Err(Failed::Unknown(_)) => Ok(()),
            Err(Failed::NotReached(_) | Failed::Refused(_)) => fs::remove_file(self.note()),
        };
    }
}

/// How long ago a file was written; nothing where the clock was set back.
fn age(file: &Path) -> Option<Duration> {
    let written = fs::metadata(file).and_then(|file| file.modified()).ok()?;
    Some(written.elapsed().unwrap_or_default())
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
/// the first request on, also when this scheduler does not live so long. Without a grace they are killed. Returns what is known of the
/// request to each of them.
pub(super) async fn ask_to_end(
    commands: &Commands,
    jobs: &[Unwanted],
    grace: Duration,
) -> Result<Vec<(Row, Asked)>, Failed> {
    let of = |states: &[JobState]| -> Vec<Unwanted> {
        jobs.iter().filter(|job| states.contains(&job.row.state)).cloned().collect()
    };
    let now = |job: &Unwanted| (job.row.clone(), Asked::Before(Duration::ZERO));
    let waiting = of(&[JobState::Pending]);
    if !waiting.is_empty() {
        commands.run("scancel", ids(&waiting)).await?;
    }
    let running = of(&[JobState::Starting, JobState::Suspended, JobState::Running]);
    if grace.is_zero() {
        signal(commands, "KILL", &running).await?;
        return Ok(jobs.iter().map(now).collect());
    }
    let look = move || Ok(running.into_iter().map(|job| (job.request(), job)).collect::<Vec<_>>());
    let requests = blocking(look).await.map_err(|error| Failed::NotReached(error.to_string()))?;
    let is_first = |(asked, _): &&(Option<Asked>, Unwanted)| asked.is_none();
    let first: Vec<Unwanted> = requests.iter().filter(is_first).map(|(_, job)| job.clone()).collect();
    let sent = signal(commands, "TERM", &first).await;
    let outcome = sent.clone();
    let _ = blocking(move || {
        first.iter().for_each(|job| job.note_sent(&outcome));
        Ok(())
    })
    .await;
    sent?;
    let requests =
        requests.into_iter().map(|(asked, job)| asked.map_or_else(|| now(&job), |asked| (job.row.clone(), asked)));
    Ok(waiting.iter().map(now).chain(requests).collect())
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

/// Stops items. One whose stop cannot be noted is asked to end all the same: only what begins later does not find the stop.
///
/// # Errors
/// The first item whose stop could not be noted, or that they could not be asked.
pub(super) async fn stop(
    shared: &Arc<Shared>,
    id: &LaunchId,
    items: &[ShardingItem],
    stop: Stop,
) -> Result<(), CarrierError> {
    let Some(states) = shared.states(id).await? else { return Ok(()) };
    let is_live = |item: &&ShardingItem| states.get(*item).is_some_and(|state| state.outcome().is_none());
    let live: Vec<ShardingItem> = items.iter().filter(is_live).copied().collect();
    if live.is_empty() {
        return Ok(());
    }
    let (of_notes, of, to_note, grace) = (shared.clone(), id.clone(), live.clone(), stop.grace);
    let note = move || {
        let mut noted = Ok(());
        for item in to_note {
            let done = of_notes.place(&of, item).and_then(|place| place.note_stop(&stop));
            let why = |error| format!("{}: {error}", of_notes.item_folder(&of, item).display());
            noted = noted.and(done.map_err(|error| CarrierError::new("note that an item is stopped", why(error))));
        }
        Ok(noted)
    };
    let noted = blocking(note).await.map_err(|error| CarrierError::new("note that items are stopped", error))?;
    // Asked after the note: what begins from now on finds it.
    let asked = ask(shared, id, &live, grace).await;
    asked.map_err(|failed| CarrierError::new("ask the jobs to end", failed.why()))?;
    shared.follow(id, &live);
    shared.mirror.wake();
    noted
}

/// Asks the live jobs of items to end, and has those that do not end cancelled. Returns whether there are any.
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
        let asked = shared.ends.asked(id, *item);
        let folder = shared.item_folder(id, *item);
        let live = snapshot.rows(&name, *item).iter().filter(|row| row.is_live());
        jobs.extend(live.map(|row| Unwanted { row: row.clone(), folder: folder.clone(), asked }));
    }
    for (row, asked) in ask_to_end(&shared.commands, &jobs, grace).await? {
        shared.ends.note(id, row.index, grace, asked);
    }
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

async fn go_on_with(shared: &Shared, id: &LaunchId, items: Vec<ShardingItem>, grace: Duration) {
    // The mirror has told why not.
    while ask(shared, id, &items, grace).await.is_err() {
        sleep(AFTER_GRACE).await;
    }
}
