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

use super::ages::age;
use super::command::{COMMAND_LIMIT, Commands, Failed};
use super::ends::{AFTER_GRACE, Asked};
use super::queue::{JobState, Row};
use super::texts as of_slurm;
use super::{Shared, blocking};
use crate::carrier::{CarrierError, LaunchId, Stop};
use crate::files::text_of;

/// The file that says that a scheduler asks a job of Slurm to end; the id of its array follows, and the number of the request where it
/// is not the first one. Many programs take a second signal for the wish that they end at once. It has no text until the request is
/// answered.
const ASKED: &str = "asked-";

/// The text of that file once Slurm has taken the request.
const SENT: &str = "sent";

/// How long that file counts without its text: its scheduler may have gone before the request was sent.
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

/// What is known of the request that a job ends.
#[derive(Debug)]
enum Request {
    Noted(Asked),
    /// The call that made this note sends it. Where it cannot be noted, another scheduler may ask again.
    Ours(Option<PathBuf>),
}

impl Unwanted {
    fn request(&self) -> Request {
        let arrived = age(&self.folder.join(format!("{ENDING}{}", self.row.array)));
        // The clock of this carrier counts before the times of files.
        if let Some(ago) = self.asked.or(arrived) {
            return Request::Noted(Asked::Before(ago));
        }
        let next = match self.last_note() {
            None => 0,
            Some(last) => {
                let note = self.note(last);
                let ago = age(&note).unwrap_or_default();
                if text_of(&note).ok().flatten().is_some_and(|text| text == SENT) {
                    return Request::Noted(Asked::Before(ago));
                }
                let left = IN_DOUBT.saturating_sub(ago);
                if !left.is_zero() {
                    return Request::Noted(Asked::InDoubt(left));
                }
                last + 1
            }
        };
        let note = self.note(next);
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&note) {
            // Another scheduler has made it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Request::Noted(Asked::InDoubt(IN_DOUBT)),
            made => Request::Ours(made.is_ok().then_some(note)),
        }
    }

    /// A request that is sent again has a note of its own: of several schedulers one alone makes it.
    fn note(&self, number: u32) -> PathBuf {
        let first = format!("{ASKED}{}", self.row.array);
        self.folder.join(if number == 0 { first } else { format!("{first}-{number}") })
    }

    fn last_note(&self) -> Option<u32> {
        let first = format!("{ASKED}{}", self.row.array);
        let number = |name: &str| match name.strip_prefix(&first)? {
            "" => Some(0),
            more => more.strip_prefix('-')?.parse().ok(),
        };
        let entries = fs::read_dir(&self.folder).ok()?;
        entries.filter_map(|entry| number(entry.ok()?.file_name().to_str()?)).max()
    }
}

/// Notes whether Slurm has taken a request. A note that is not changed is in doubt for some time.
fn note_sent(note: &Path, sent: &Result<(), Failed>) {
    let _ = match sent {
        Ok(()) => File::options().write(true).open(note).and_then(|mut note| note.write_all(SENT.as_bytes())),
        // It may have arrived: what its keeper writes is seen late on a shared file system.
        Err(Failed::Unknown(_)) => Ok(()),
        Err(Failed::NotReached(_) | Failed::Refused(_)) => fs::remove_file(note),
    };
}

/// What is known of the request to a job, or why it was not asked.
pub(super) type Answered = (Row, Result<Asked, Failed>);

/// Asks live jobs to end, unless they were asked before. Those that wait are cancelled; the keepers of the others see to the grace, from
/// the first request on, also when this scheduler does not live so long. Without a grace they are killed. Each job has an answer of its
/// own: one that cannot be asked keeps no other one running.
pub(super) async fn ask_to_end(commands: &Commands, jobs: Vec<Unwanted>, grace: Duration) -> Vec<Answered> {
    let (waiting, running): (Vec<Unwanted>, Vec<Unwanted>) =
        jobs.into_iter().partition(|job| job.row.state == JobState::Pending);
    let end_running = async {
        match grace.is_zero() {
            true => end_now(commands, &["--full", "--signal=KILL"], running).await,
            false => ask_running(commands, running).await,
        }
    };
    let (mut answered, of_running) = tokio::join!(end_now(commands, &[], waiting), end_running);
    answered.extend(of_running);
    answered
}

async fn end_now(commands: &Commands, options: &[&str], jobs: Vec<Unwanted>) -> Vec<Answered> {
    let sent = signal(commands, options, &jobs).await;
    jobs.into_iter().zip(sent).map(|(job, sent)| (job.row, sent.map(|()| Asked::Before(Duration::ZERO)))).collect()
}

async fn ask_running(commands: &Commands, jobs: Vec<Unwanted>) -> Vec<Answered> {
    let rows: Vec<Row> = jobs.iter().map(|job| job.row.clone()).collect();
    let look = move || Ok(jobs.into_iter().map(|job| (job.request(), job)).collect::<Vec<_>>());
    let requests = match blocking(look).await {
        Ok(requests) => requests,
        Err(error) => {
            let failed = Failed::NotReached(error.to_string());
            return rows.into_iter().map(|row| (row, Err(failed.clone()))).collect();
        }
    };
    let (mut answered, mut ours, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for (request, job) in requests {
        match request {
            Request::Noted(asked) => answered.push((job.row, Ok(asked))),
            Request::Ours(note) => {
                ours.push(job);
                notes.push(note);
            }
        }
    }
    let sent = signal(commands, &["--full", "--signal=TERM"], &ours).await;
    let outcomes = sent.clone();
    let _ = blocking(move || {
        let of_notes = notes.iter().zip(&outcomes).filter_map(|(note, sent)| Some((note.as_deref()?, sent)));
        of_notes.for_each(|(note, sent)| note_sent(note, sent));
        Ok(())
    })
    .await;
    let ours = ours.into_iter().zip(sent);
    answered.extend(ours.map(|(job, sent)| (job.row, sent.map(|()| Asked::Before(Duration::ZERO)))));
    answered
}

/// Cancels jobs, or sends them a signal. Those that have ended in the meantime, or are about to, need none.
async fn signal(commands: &Commands, options: &[&str], jobs: &[Unwanted]) -> Vec<Result<(), Failed>> {
    if jobs.is_empty() {
        return Vec::new();
    }
    let done = commands.cancel(options, &ids(jobs)).await.into_iter();
    done.map(|done| if matches!(done, Err(Failed::Refused(_))) { Ok(()) } else { done }).collect()
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
            noted = noted.and(done.map_err(|error| CarrierError::new(of_slurm::note_stop(), why(error))));
        }
        Ok(noted)
    };
    let noted = blocking(note).await.map_err(|error| CarrierError::new(of_slurm::note_stop(), error))?;
    // Asked after the note: what begins from now on finds it.
    let asked = ask(shared, id, &live, grace).await;
    shared.follow(id, &live);
    shared.mirror.wake();
    asked.map_err(|failed| CarrierError::new(of_slurm::ask_jobs_to_end(), failed.why()))?;
    noted
}

/// Asks the live jobs of items to end, and has those that do not end cancelled. Returns whether there are any.
///
/// # Errors
/// The first job that could not be asked. The others are asked all the same.
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
    let mut first = Ok(!jobs.is_empty());
    for (row, asked) in ask_to_end(&shared.commands, jobs, grace).await {
        match asked {
            Ok(asked) => shared.ends.note(id, row.index, grace, asked),
            Err(failed) => first = first.and(Err(failed)),
        }
    }
    first
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

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::time::SystemTime;

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn of_several_schedulers_that_find_an_old_note_one_alone_sends_the_request_again() {
        let scratch = Scratch::new();
        let row = Row {
            array: 1,
            index: 0,
            name: "ej-a".to_owned(),
            state: JobState::Running,
            node: "n1".to_owned(),
            since: Some(7),
            halted: 0,
            reason: "None".to_owned(),
        };
        let wanted = Unwanted { row, folder: scratch.path().to_path_buf(), asked: None };
        assert!(matches!(wanted.request(), Request::Ours(Some(_))));
        for round in 0..200 {
            // As after so long a time: the request of the round before was not answered.
            let last = wanted.note(wanted.last_note().unwrap());
            let note = File::options().write(true).open(last).unwrap();
            note.set_modified(SystemTime::now() - 2 * IN_DOUBT).unwrap();
            let start = Barrier::new(4);
            let ask = || {
                start.wait();
                wanted.request()
            };
            let requests: Vec<Request> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let ours = requests.iter().filter(|request| matches!(request, Request::Ours(_))).count();
            assert_eq!(ours, 1, "round {round}: {requests:?}");
        }
        // It was not reached: the next one may ask at once.
        note_sent(&wanted.note(wanted.last_note().unwrap()), &Err(Failed::NotReached(String::new())));
        assert!(matches!(wanted.request(), Request::Ours(Some(_))));
        note_sent(&wanted.note(wanted.last_note().unwrap()), &Ok(()));
        assert!(matches!(wanted.request(), Request::Noted(Asked::Before(_))));
    }
}
