//! The processes of `DAEMON` jobs: arrays whose keepers start the program again when it ends.
//!
//! The keeper on the node sees to a program that ends, with a pause that grows. This scheduler sees to jobs of Slurm that end,
//! as at a time limit or when an administrator cancels them: it submits them again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use elasticjob::ident::JobName;
use elasticjob::log::warn;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use super::claims::{self, Claims};
use super::ends::Asked;
use super::mirror::Snapshot;
use super::queue::{JobState, Row, waits_for};
use super::stop::{Unwanted, ask_to_end};
use super::submit::{self, Submission};
use super::texts as of_slurm;
use super::{KEEPER, SLURM, Shared, blocking};
use crate::carrier::{CarrierError, Daemon, DaemonProcess, ItemState, LaunchError, job_token};
use crate::files::{last_words, log, text_of, write_whole};
use crate::folders::remove_all;
use crate::model::needs_image;
use crate::texts;

/// How often the jobs are looked at.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// The pause before a job of Slurm that ended is submitted again: doubled each time, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// A job that lived so long has started well: the next pause is the first one again.
const WELL: Duration = Duration::from_secs(60);

/// The processes of all `DAEMON` jobs.
#[derive(Debug)]
pub(super) struct Daemons {
    shared: Arc<Shared>,
    jobs: Mutex<HashMap<JobName, Kept>>,
}

/// A job that is looked after here.
#[derive(Debug)]
struct Kept {
    wanted: watch::Sender<Arc<Daemon>>,
    /// What keeps indexes without a job of Slurm from having one.
    troubles: Troubles,
    task: AbortHandle,
}

pub(super) type Troubles = Arc<Mutex<BTreeMap<u32, (u32, String)>>>;

impl Drop for Kept {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Daemons {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, jobs: Mutex::default() }
    }

    pub(super) async fn keep(&self, daemon: Daemon) -> Result<(), LaunchError> {
        // What is ended needs no application that can be run.
        if daemon.instances > 0
            && let Some(problem) = needs_image(&daemon.app, SLURM)
        {
            return Err(LaunchError::Refused { why: problem.to_string() });
        }
        let (name, daemon) = (daemon.job.job_name.clone(), Arc::new(daemon));
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = jobs.get(&name).filter(|kept| !kept.task.is_finished()) {
            kept.wanted.send_replace(daemon);
            return Ok(());
        }
        let (wanted, troubles) = (watch::Sender::new(daemon), Troubles::default());
        let keeping = Keeping::new(self.shared.clone(), wanted.subscribe(), troubles.clone());
        let task = tokio::spawn(keeping.keep()).abort_handle();
        jobs.insert(name, Kept { wanted, troubles, task });
        Ok(())
    }

    /// Lets go of the processes of a job.
    pub(super) fn release(&self, job: &JobName) {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).remove(job);
    }

    /// The processes, whichever scheduler looks after them.
    pub(super) async fn kept(&self, job: &JobName) -> Result<Vec<DaemonProcess>, CarrierError> {
        let snapshot = self.shared.mirror.now().await;
        let snapshot = snapshot.map_err(|failed| CarrierError::new(of_slurm::ask_slurm(), failed.why()))?;
        let troubles = {
            let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
            let of_job = jobs.get(job).map(|kept| kept.troubles.clone()).unwrap_or_default();
            of_job.lock().unwrap_or_else(PoisonError::into_inner).clone()
        };
        let waiting = troubles
            .into_iter()
            .map(|(index, (restarts, why))| (index, DaemonProcess::new(index, ItemState::waiting(why), restarts)));
        let mut processes: BTreeMap<u32, DaemonProcess> = waiting.collect();
        let (prefix, folder) = (prefix(&self.shared, job), self.shared.options.folder.join("daemons"));
        let rows: Vec<Row> = snapshot.beginning(&prefix).filter(|row| row.is_live()).cloned().collect();
        // One that cannot be read says so, and hides no other one.
        let unread = |row: &Row, error: io::Error| {
            let why = format!("the folder of process {} of {} cannot be read: {error}", row.index, row.name);
            DaemonProcess::new(row.index, ItemState::waiting(why), 0)
        };
        let read = move || {
            let mut rows = in_order(rows, &folder, &prefix);
            rows.dedup_by_key(|row| row.index);
            let of = |row: &Row| process(row, &folder).unwrap_or_else(|error| unread(row, error));
            Ok(rows.iter().map(of).collect::<Vec<_>>())
        };
        let live = blocking(read).await.map_err(|error| CarrierError::new(texts::read_states(), error))?;
        processes.extend(live.into_iter().map(|process| (process.index, process)));
        Ok(processes.into_values().collect())
    }

    /// The last bytes that a process wrote.
    pub(super) async fn log(&self, job: &JobName, index: u32, most: usize) -> Result<Option<String>, CarrierError> {
        let (daemons, prefix) = (self.shared.options.folder.join("daemons"), prefix(&self.shared, job));
        let read = move || {
            for folder in folders(&daemons, &prefix)? {
                if let Some(log) = log(&folder.join(index.to_string()), most)? {
                    return Ok(Some(log));
                }
            }
            Ok(None)
        };
        blocking(read).await.map_err(|error| CarrierError::new(texts::read_log(), error))
    }
}

/// The folders of a job, one for each settings that its processes had, the latest first.
fn folders(daemons: &Path, prefix: &str) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(daemons) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            folders.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    folders.sort_unstable_by(|a, b| b.cmp(a));
    Ok(folders.into_iter().map(|(_, folder)| folder).collect())
}

/// What the names of the jobs of Slurm of a `DAEMON` job begin with; the settings of its processes follow.
fn prefix(shared: &Shared, job: &JobName) -> String {
    format!("{}-d-", job_token(&shared.options.namespace, job))
}

/// The jobs of Slurm in the order of their indexes. Of several of an index that one is the first which is kept: the holder of the
/// process, or else one that runs and may be about to claim it, or else the earliest array.
pub(super) fn in_order(mut rows: Vec<Row>, daemons: &Path, prefix: &str) -> Vec<Row> {
    rows.sort_unstable_by_key(|row| (row.index, row.waits(), row.array));
    let claims = claims::folder(daemons, prefix);
    for of_index in rows.chunk_by_mut(|a, b| a.index == b.index).filter(|rows| rows.len() > 1) {
        // Where they cannot be read, a holder may be ended that is not the first. It is submitted again.
        if let Ok(Some(holder)) = claims::holder(&claims, of_index[0].index) {
            of_index.sort_by_key(|row| row.array != holder);
        }
    }
    rows
}

/// The process of a live job of Slurm, by what its keeper wrote.
fn process(row: &Row, daemons: &Path) -> io::Result<DaemonProcess> {
    let place = daemons.join(&row.name).join(row.index.to_string());
    let restarts = text_of(&place.join("restarts"))?.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    if row.state == JobState::Pending {
        return Ok(DaemonProcess::new(row.index, ItemState::waiting(waits_for(&row.reason, row.since)), restarts));
    }
    if row.state == JobState::Starting {
        let why = format!("Slurm starts its node {} for it", row.node);
        return Ok(DaemonProcess::new(row.index, ItemState::waiting(why), restarts));
    }
    let status = text_of(&place.join("status"))?.unwrap_or_default();
    // The array before left its own, until the keeper of this one has begun.
    let array = row.array.to_string();
    let status = status.split_once(' ').filter(|(of, _)| *of == array).map(|(_, status)| status).unwrap_or_default();
    let words: Vec<&str> = status.split_whitespace().collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u32>().ok()).unwrap_or(0);
    let state = match words.first() {
        Some(&"waiting") => {
            let (pause, code) = (number(2), number(3) as i32);
            let why = last_words(&place, code);
            ItemState::waiting(format!(
                "it starts again {pause} s after its end: it ended with exit code {code}: {why}"
            ))
        }
        Some(_) => {
            // Its job in Slurm may have begun long before: the keeper starts the program again in it.
            let began = words.get(2).and_then(|word| word.parse::<i64>().ok());
            let since = began.or(row.since).unwrap_or_default() * 1_000;
            ItemState::Running { place: row.node.clone(), since, attempt: restarts + 1, lost: None }
        }
        None => ItemState::waiting("its keeper is being started"),
    };
    Ok(DaemonProcess::new(row.index, state, restarts))
}

/// A job of Slurm that was submitted for an index.
#[derive(Debug, Clone, Copy)]
struct Submitted {
    at: Instant,
    restarts: u32,
    pause: Duration,
    /// When it may be submitted again, once it has ended.
    again: Option<Instant>,
}

/// Looks after the processes of a job.
pub(super) struct Keeping {
    shared: Arc<Shared>,
    wanted: watch::Receiver<Arc<Daemon>>,
    troubles: Troubles,
    submitted: BTreeMap<u32, Submitted>,
    /// What was asked to end, and when.
    stopped: HashMap<String, Instant>,
}

impl Keeping {
    pub(super) fn new(shared: Arc<Shared>, wanted: watch::Receiver<Arc<Daemon>>, troubles: Troubles) -> Self {
        Self { shared, wanted, troubles, submitted: BTreeMap::new(), stopped: HashMap::new() }
    }

    /// Looks after them until none are wanted and none are left. Dropping this lets go of them: they go on.
    async fn keep(mut self) {
        loop {
            let daemon = self.wanted.borrow_and_update().clone();
            let done = match self.shared.mirror.now().await {
                Ok(snapshot) => self.look(&daemon, &snapshot).await,
                Err(failed) => Err(failed.why().to_owned()),
            };
            match done {
                Ok(true) => return self.troubles().clear(),
                Ok(false) => {}
                Err(why) => {
                    warn!(job = %daemon.job.job_name, "the processes of the job are looked at again: {why}");
                }
            }
            tokio::select! {
                () = sleep(LOOK_AGAIN) => {}
                // Without a sender this scheduler does not look after the job.
                changed = self.wanted.changed() => if changed.is_err() { return },
            }
        }
    }

    fn troubles(&self) -> std::sync::MutexGuard<'_, BTreeMap<u32, (u32, String)>> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends what is not wanted, and submits what is missing. Returns whether nothing is wanted and nothing is left.
    pub(super) async fn look(&mut self, daemon: &Daemon, snapshot: &Snapshot) -> Result<bool, String> {
        let prefix = prefix(&self.shared, &daemon.job.job_name);
        let name = format!("{prefix}{}", daemon.settings());
        let live: Vec<Row> = snapshot.beginning(&prefix).filter(|row| row.is_live()).cloned().collect();
        let (daemons, of_job) = (self.daemons(), prefix.clone());
        let live = blocking(move || Ok(in_order(live, &daemons, &of_job))).await.map_err(|error| error.to_string())?;
        let mut kept = BTreeMap::new();
        let mut unwanted = Vec::new();
        for row in &live {
            match row.name == name && row.index < daemon.instances && !kept.contains_key(&row.index) {
                true => drop(kept.insert(row.index, row)),
                false => unwanted.push(row),
            }
        }
        let ended = self.end(&unwanted, daemon.job.grace()).await;
        if daemon.instances == 0 && unwanted.is_empty() {
            self.remove(&prefix).await?;
            return Ok(true);
        }
        let is_ending = |index: &u32| unwanted.iter().any(|row| row.index == *index);
        let without: Vec<u32> = (0..daemon.instances).filter(|index| !kept.contains_key(index)).collect();
        let due: Vec<u32> =
            without.into_iter().filter(|index| self.is_due(*index, &name, snapshot) && !is_ending(index)).collect();
        self.troubles().retain(|index, _| !kept.contains_key(index) && *index < daemon.instances);
        if !due.is_empty() {
            self.submit(daemon, &prefix, &name, &due).await?;
        }
        ended.map(|()| false)
    }

    /// Whether an index without a job of Slurm gets one now. One whose job ended soon waits.
    fn is_due(&mut self, index: u32, name: &str, snapshot: &Snapshot) -> bool {
        let Some(submitted) = self.submitted.get_mut(&index) else { return true };
        // This snapshot is older than the submission.
        if snapshot.asked < submitted.at {
            return false;
        }
        let again = *submitted.again.get_or_insert_with(|| {
            if submitted.at.elapsed() >= WELL {
                submitted.pause = FIRST_PAUSE;
            }
            Instant::now() + submitted.pause
        });
        let ended = snapshot.rows(name, index).iter().max_by_key(|row| row.array);
        let why = ended
            .map_or("Slurm does not know it any more".to_owned(), |row| format!("{:?} ({})", row.state, row.reason));
        let (restarts, pause) = (submitted.restarts + 1, submitted.pause.as_secs());
        let trouble = format!("it is submitted again {pause} s after the end of its job in Slurm: {why}");
        self.troubles().insert(index, (restarts, trouble));
        again <= Instant::now()
    }

    async fn submit(&mut self, daemon: &Daemon, prefix: &str, name: &str, due: &[u32]) -> Result<(), String> {
        let folder = self.daemons().join(name);
        // It may take minutes. What Slurm says is to be as new as it can be when the next number is offered.
        let package = self.shared.packages.folder(&daemon.app, &folder.join("package")).await;
        let package = package.inspect_err(|why| self.refused(due, why))?;
        let free = self.free(prefix, due).await?;
        let indexes: &[u32] = &free.iter().map(|(index, _)| *index).collect::<Vec<_>>();
        if indexes.is_empty() {
            return Ok(());
        }
        let command = daemon.job.script().unwrap_or(&daemon.app.bootstrap_script);
        let script = submit::script(&daemon.environment(), &package, command, &[]);
        let (prepared, shared) = (folder.clone(), self.shared.clone());
        let prepare = move || {
            fs::create_dir_all(&prepared)?;
            write_whole(&prepared.join("keeper.sh"), KEEPER)?;
            free.iter().try_for_each(|(index, claims)| {
                let process = prepared.join(index.to_string());
                // The array before may have left notes there. The keeper that holds the process removes them.
                fs::create_dir_all(&process)?;
                write_whole(&process.join("run.sh"), &script)?;
                shared.packages.note_only_use(&package, &process)?;
                claims.offer_next()
            })
        };
        let prepared = blocking(prepare).await.map_err(|error| error.to_string());
        prepared.inspect_err(|why| self.refused(indexes, why))?;
        let submission = Submission {
            name,
            comment: format!("processes of {}", daemon.job.job_name),
            app: &daemon.app,
            job: &daemon.job,
            indexes,
            items: daemon.items_of_a_process(),
            is_requeued: true,
            kind: "daemon",
            folder: &folder,
        };
        let sent = submission.send(&self.shared.commands).await;
        sent.map_err(|failed| failed.why().to_owned()).inspect_err(|why| self.refused(indexes, why))?;
        for index in indexes {
            let before = self.submitted.get(index).copied();
            let (restarts, pause) =
                before.map_or((0, FIRST_PAUSE), |before| (before.restarts + 1, (before.pause * 2).min(LONGEST_PAUSE)));
            self.submitted.insert(*index, Submitted { at: Instant::now(), restarts, pause, again: None });
            self.troubles().remove(index);
        }
        Ok(())
    }

    /// The indexes that have no job of Slurm, each with its claims.
    ///
    /// The claims are read first, and Slurm is asked after that. So a holder that was read and that Slurm does not have has ended, and
    /// it is safe to offer the number after its own at any later time, also when this scheduler is frozen before it does. Only an
    /// administrator can bring a job of Slurm back that has ended (`scontrol requeue`). A snapshot of before would say nothing of a holder
    /// that came in between. Where another scheduler has offered the same number, both arrays come for it, and the keeper that is the
    /// first has it.
    async fn free(&self, prefix: &str, due: &[u32]) -> Result<Vec<(u32, Claims)>, String> {
        let (claims, due) = (claims::folder(&self.daemons(), prefix), due.to_vec());
        let read = move || Ok(due.into_iter().map(|index| (index, Claims::read(&claims, index))).collect::<Vec<_>>());
        let mut free = Vec::new();
        for (index, claims) in blocking(read).await.map_err(|error| error.to_string())? {
            match claims {
                Ok(claims) => free.push((index, claims)),
                // One that cannot be read keeps no other one from its start.
                Err(error) => {
                    let (job, why) =
                        (&self.wanted.borrow().job.job_name.clone(), format!("its claims cannot be read: {error}"));
                    warn!(%job, "process {index} is not submitted: {why}; it is tried again");
                    self.refused(&[index], &why);
                }
            }
        }
        let snapshot = self.shared.mirror.now().await.map_err(|failed| failed.why().to_owned())?;
        let live: HashSet<u32> = snapshot.beginning(prefix).filter(|row| row.is_live()).map(|row| row.index).collect();
        free.retain(|(index, _)| !live.contains(index));
        Ok(free)
    }

    fn daemons(&self) -> PathBuf {
        self.shared.options.folder.join("daemons")
    }

    fn refused(&self, indexes: &[u32], why: &str) {
        let restarts = |index| self.submitted.get(index).map_or(0, |submitted| submitted.restarts);
        let told = indexes.iter().map(|index| (*index, (restarts(index), why.to_owned())));
        self.troubles().extend(told);
    }

    /// Asks jobs to end, once, and cancels those that do not.
    async fn end(&mut self, rows: &[&Row], grace: Duration) -> Result<(), String> {
        self.stopped.retain(|id, _| rows.iter().any(|row| row.id() == *id));
        let daemons = self.daemons();
        let folder = |row: &Row| daemons.join(&row.name).join(row.index.to_string());
        let new = rows.iter().filter(|row| !self.stopped.contains_key(&row.id()));
        let new: Vec<Unwanted> =
            new.map(|row| Unwanted { row: Row::clone(row), folder: folder(row), asked: None }).collect();
        let note = move || {
            let seconds = grace.as_secs().to_string();
            let (mut noted, mut first) = (Vec::new(), Ok(()));
            for job in new {
                // Without the note its keeper would start the program again. It is of this array: another one goes on.
                match write_whole(&job.folder.join(format!("stop-{}", job.row.array)), &seconds) {
                    Ok(()) => noted.push(job),
                    Err(error) => first = first.and(Err(format!("{}: {error}", job.folder.display()))),
                }
            }
            Ok((noted, first))
        };
        let (noted, first) = blocking(note).await.map_err(|error| error.to_string())?;
        let answered = ask_to_end(&self.shared.commands, noted, grace).await;
        let (now, mut sent) = (Instant::now(), Ok(()));
        for (row, asked) in answered {
            match asked {
                Ok(Asked::Before(ago)) => drop(self.stopped.insert(row.id(), now.checked_sub(ago).unwrap_or(now))),
                // It is asked again with a later look.
                Ok(Asked::InDoubt(_)) => {}
                // Those that are late are cancelled all the same.
                Err(failed) => sent = sent.and(Err(failed.why().to_owned())),
            }
        }
        let late = |id: &&String| self.stopped[*id].elapsed() > grace + LOOK_AGAIN * 2;
        let late: Vec<String> = self.stopped.keys().filter(late).cloned().collect();
        if !late.is_empty() {
            let cancelled = self.shared.commands.run("scancel", &late).await;
            cancelled.map_err(|failed| failed.why().to_owned())?;
        }
        sent.and(first)
    }

    /// Removes the folders of all settings of the job.
    async fn remove(&self, prefix: &str) -> Result<(), String> {
        let (daemons, prefix) = (self.daemons(), prefix.to_owned());
        let remove = move || folders(&daemons, &prefix)?.iter().try_for_each(|folder| remove_all(folder));
        blocking(remove).await.map_err(|error| error.to_string())
    }
}
