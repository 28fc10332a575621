//! The processes of `DAEMON` jobs: kept alive, with a pause that grows when they end soon.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fs, io};

use elasticjob::ident::JobName;
use elasticjob::log::warn;
use tokio::process::Child;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use super::budget::{Amount, Room};
use super::item::end;
use super::slot::{Look, Slot, Start, holder};
use super::{PROCESS, Shared};
use crate::carrier::{Daemon, DaemonProcess, ItemState, LaunchError, Outcome, job_token};
use crate::files::log;
use crate::folders::{remove_all, remove_if_there};
use crate::model::needs_image;

/// The pause before a process that ended is started again: doubled each time, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// A process that lived so long has started well: the next pause is the first one again.
const WELL: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// The processes of all `DAEMON` jobs.
#[derive(Debug)]
pub(super) struct Daemons {
    shared: Arc<Shared>,
    jobs: Mutex<HashMap<JobName, Kept>>,
}

/// The processes of a job.
#[derive(Debug)]
struct Kept {
    wanted: watch::Sender<Option<Arc<Daemon>>>,
    processes: Processes,
    tasks: BTreeMap<u32, AbortHandle>,
}

type Processes = Arc<Mutex<BTreeMap<u32, DaemonProcess>>>;

impl Drop for Kept {
    fn drop(&mut self) {
        self.tasks.values().for_each(AbortHandle::abort);
    }
}

impl Daemons {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, jobs: Mutex::default() }
    }

    pub(super) async fn keep(&self, daemon: Daemon) -> Result<(), LaunchError> {
        // What is ended needs no application that can be run.
        if daemon.instances > 0
            && let Some(problem) = needs_image(&daemon.app, PROCESS)
        {
            return Err(LaunchError::Refused { why: problem.to_string() });
        }
        let name = daemon.job.job_name.clone();
        let daemon = Arc::new(daemon);
        let mut jobs = self.lock();
        let kept = jobs.entry(name.clone()).or_insert_with(|| Kept {
            wanted: watch::Sender::new(None),
            processes: Processes::default(),
            tasks: BTreeMap::new(),
        });
        kept.wanted.send_replace(Some(daemon.clone()));
        // Processes that another scheduler left are found by their folders.
        let left = numbers(&self.shared, &name).map_err(|error| LaunchError::NotReached { why: error.to_string() })?;
        for index in (0..daemon.instances).chain(left) {
            if kept.tasks.get(&index).is_some_and(|task| !task.is_finished()) {
                continue;
            }
            let process = Process {
                shared: self.shared.clone(),
                wanted: kept.wanted.subscribe(),
                processes: kept.processes.clone(),
                index,
                restarts: 0,
                pause: FIRST_PAUSE,
                trouble: None,
            };
            kept.tasks.insert(index, tokio::spawn(process.keep()).abort_handle());
        }
        Ok(())
    }

    /// Lets go of the processes of a job.
    pub(super) fn release(&self, job: &JobName) {
        self.lock().remove(job);
    }

    /// The processes that are kept here, and those that another scheduler keeps, or has left.
    pub(super) fn kept(&self, job: &JobName) -> io::Result<Vec<DaemonProcess>> {
        let mut processes = self.lock().get(job).map(|kept| lock(&kept.processes).clone()).unwrap_or_default();
        for index in numbers(&self.shared, job)? {
            if processes.contains_key(&index) {
                continue;
            }
            let unread = |error| {
                ItemState::waiting(format!("{}: {error}", folder(&self.shared, job).join(index.to_string()).display()))
            };
            if let Some(state) = self.left(job, index).unwrap_or_else(|error| Some(unread(error))) {
                // How often it was started is known to the scheduler that did.
                processes.insert(index, DaemonProcess::new(index, state, 0));
            }
        }
        Ok(processes.into_values().collect())
    }

    /// The state of a process that is not kept here; `None` where its keeper does not live.
    fn left(&self, job: &JobName, index: u32) -> io::Result<Option<ItemState>> {
        let folder = folder(&self.shared, job).join(index.to_string());
        // With whatever settings it was started.
        let lock = folder.join("lock");
        let Some(holder) = holder(&lock)? else { return Ok(None) };
        Ok(match (Slot { folder, lock, holder, limit: 0 }).look()? {
            Look::Alive { since } => Some(ItemState::running(&self.shared.host, since.unwrap_or_default())),
            Look::Untouched | Look::Held | Look::Ended(_) => None,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<JobName, Kept>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last bytes that a process wrote.
    pub(super) fn log(&self, job: &JobName, index: u32, most: usize) -> io::Result<Option<String>> {
        log(&folder(&self.shared, job).join(index.to_string()), most)
    }
}

/// The numbers of the processes of a job that have a folder.
fn numbers(shared: &Shared, job: &JobName) -> io::Result<Vec<u32>> {
    let folder = folder(shared, job);
    let entries = match std::fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", folder.display()))),
        Ok(entries) => entries,
    };
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

fn lock(processes: &Processes) -> MutexGuard<'_, BTreeMap<u32, DaemonProcess>> {
    processes.lock().unwrap_or_else(PoisonError::into_inner)
}

fn folder(shared: &Shared, job: &JobName) -> PathBuf {
    shared.options.folder.join("daemons").join(job_token(&shared.options.namespace, job))
}

/// Puts a folder in the place of another one, and returns that.
fn replace(folder: &Path, other: &Path) -> io::Result<PathBuf> {
    remove_if_there(other)?;
    fs::rename(folder, other)?;
    Ok(other.to_owned())
}

/// The room that a process needs.
fn needs(daemon: &Daemon) -> Amount {
    let items = daemon.items_of_a_process();
    Amount::new(daemon.job.cpus(&daemon.app, items), daemon.job.memory(&daemon.app, items))
}

/// A process that is kept.
struct Process {
    shared: Arc<Shared>,
    wanted: watch::Receiver<Option<Arc<Daemon>>>,
    processes: Processes,
    index: u32,
    restarts: u32,
    pause: Duration,
    /// Why it could not begin or be looked at last: the log has each reason once.
    trouble: Option<String>,
}

impl Process {
    /// Keeps it until it is not wanted any more. Dropping this lets go of it: the process goes on.
    async fn keep(mut self) {
        // Of a process that another scheduler started.
        let mut adopted: Option<Room> = None;
        loop {
            let Some(daemon) = self.wanted.borrow_and_update().clone() else { return };
            let slot = self.slot(&daemon);
            let is_wanted = self.index < daemon.instances;
            let look = slot.look();
            match look {
                // Of one with other settings it is not known what it needs: most changes do not change that.
                Ok(Look::Alive { .. } | Look::Held) => {
                    adopted.get_or_insert_with(|| self.shared.budget.occupy(needs(&daemon)));
                }
                Ok(Look::Untouched | Look::Ended(_)) => adopted = None,
                Err(_) => {}
            }
            match look {
                Ok(Look::Alive { since }) if is_wanted => {
                    self.tell_running(&slot, since);
                    self.until_changed(LOOK_AGAIN).await;
                }
                // Of other settings, or not wanted any more.
                Ok(Look::Held) => self.end_of_others(&slot, &daemon).await,
                Ok(Look::Alive { .. }) => end(slot, self.shared.clone(), daemon.job.grace()).await,
                Ok(_) if !is_wanted => return self.remove(&slot),
                Ok(Look::Untouched) => self.run(&slot, &daemon).await,
                Ok(Look::Ended(outcome)) => {
                    self.back_off(&outcome).await;
                    // An error shows at the next start.
                    let _ = slot.clear();
                }
                Err(error) => {
                    let folder = slot.folder.display();
                    self.wait(format!("the folder {folder} cannot be read: {error}")).await;
                }
            }
        }
    }

    /// Starts it and waits until it ends, or other settings are wanted.
    async fn run(&mut self, slot: &Slot, daemon: &Daemon) {
        let (mut child, _room) = match self.begin(slot, daemon).await {
            Ok(Some(begun)) => begun,
            Ok(None) => return,
            Err(why) => return self.wait(format!("it cannot begin: {why}")).await,
        };
        // The fetch of its package and the wait for room are no part of its life.
        let began = Instant::now();
        loop {
            if let Ok(Look::Alive { since }) = slot.look() {
                self.tell_running(slot, since);
            }
            tokio::select! {
                // The keeper has ended: what it wrote says how.
                _ = child.wait() => break,
                changed = self.wanted.changed() => {
                    if changed.is_err() || !self.is_wanted(slot) {
                        // The one that is registered by now: a change of the grace alone is no reason to start it again.
                        let now = self.wanted.borrow().clone();
                        let grace = now.as_deref().unwrap_or(daemon).job.grace();
                        end(slot.clone(), self.shared.clone(), grace).await;
                        let _ = child.wait().await;
                        slot.clean_up(&self.shared.memory);
                        let _ = slot.clear();
                        return;
                    }
                }
                () = sleep(LOOK_AGAIN) => {}
            }
        }
        slot.clean_up(&self.shared.memory);
        if began.elapsed() >= WELL {
            self.pause = FIRST_PAUSE;
        }
    }

    /// Whether a process with the settings of this slot is wanted, by what was registered last.
    fn is_wanted(&self, slot: &Slot) -> bool {
        let now = self.wanted.borrow().clone();
        now.is_some_and(|now| self.index < now.instances && self.slot(&now).holder == slot.holder)
    }

    /// Waits for what a start needs, as long as it is wanted. What is kept again without a change disturbs nothing.
    async fn while_wanted<T>(&mut self, slot: &Slot, needed: impl Future<Output = T>) -> Option<T> {
        let mut needed = pin!(needed);
        loop {
            tokio::select! {
                got = &mut needed => return Some(got),
                changed = self.wanted.changed() => {
                    if changed.is_err() || !self.is_wanted(slot) {
                        self.wanted.mark_changed();
                        return None;
                    }
                }
            }
        }
    }

    /// Starts it. `None` when it is not wanted any more, or came to be held before. An error says why it cannot begin.
    async fn begin(&mut self, slot: &Slot, daemon: &Daemon) -> Result<Option<(Child, Room)>, String> {
        let fails = |error: io::Error| format!("it cannot be started: {error}");
        // An application that wants its package not kept is fetched for each start. The process before may still use its own.
        let (shared, fetched) = (self.shared.clone(), slot.folder.join("package.next"));
        remove_if_there(&fetched).map_err(fails)?;
        let Some(package) = self.while_wanted(slot, shared.packages.folder(&daemon.app, &fetched)).await else {
            return Ok(None);
        };
        let (package, needs, total) = (package?, needs(daemon), shared.budget.total());
        if !needs.fits(total) {
            return Err(format!(
                "a process needs {needs}, and the host has {total}: register more instances, or need less"
            ));
        }
        let room = match shared.budget.take_now(needs) {
            Some(room) => room,
            None => {
                self.tell(ItemState::waiting(format!("it needs {needs}; {} are free", shared.budget.free())));
                match self.while_wanted(slot, shared.budget.take(needs)).await {
                    Some(room) => room,
                    None => return Ok(None),
                }
            }
        };
        let Some(claim) = slot.claim().map_err(fails)? else { return Ok(None) };
        slot.clear().map_err(fails)?;
        let package = match package.strip_prefix(&fetched) {
            Ok(root) => replace(&fetched, &slot.folder.join("package")).map_err(fails)?.join(root),
            Err(_) => package,
        };
        shared.packages.note_only_use(&package, &slot.folder).map_err(fails)?;
        if !self.is_wanted(slot) {
            return Ok(None);
        }
        let start = Start {
            command: daemon.job.script().unwrap_or(&daemon.app.bootstrap_script),
            arguments: Vec::new(),
            environment: daemon.environment(),
            package: &package,
        };
        let child = slot.start(claim, start, &shared.memory).map_err(fails)?;
        Ok(Some((child, room)))
    }

    /// Waits before the next start after an end, longer each time, unless other settings come.
    async fn back_off(&mut self, outcome: &Outcome) {
        self.tell(ItemState::waiting(format!("it starts again {} s after its end: {outcome}", self.pause.as_secs())));
        self.restarts += 1;
        self.pause().await;
    }

    /// Waits before the next attempt, where it could not begin or be looked at: that is no end.
    async fn wait(&mut self, why: String) {
        if self.trouble.as_ref() != Some(&why) {
            let job = self.wanted.borrow().as_ref().map(|daemon| daemon.job.job_name.clone());
            warn!("process {} of job {}: {why}", self.index, job.as_ref().map_or("?", JobName::as_str));
        }
        self.tell(ItemState::waiting(format!("{why}; it is tried again in {} s", self.pause.as_secs())));
        self.trouble = Some(why);
        self.pause().await;
    }

    /// Waits, longer each time, unless other settings come.
    async fn pause(&mut self) {
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        self.until_changed(pause).await;
    }

    async fn until_changed(&mut self, most: Duration) {
        tokio::select! {
            () = sleep(most) => {}
            _ = self.wanted.changed() => self.wanted.mark_changed(),
        }
    }

    /// Ends the process of other settings. The lock file says whose it is.
    async fn end_of_others(&self, slot: &Slot, daemon: &Daemon) {
        if let Some(holder) = slot.other_holder() {
            let other = Slot { holder, ..slot.clone() };
            end(other.clone(), self.shared.clone(), daemon.job.grace()).await;
            other.clean_up(&self.shared.memory);
        }
        sleep(LOOK_AGAIN).await;
    }

    fn remove(&self, slot: &Slot) {
        slot.clean_up(&self.shared.memory);
        let _ = remove_all(&slot.folder);
        lock(&self.processes).remove(&self.index);
    }

    fn tell_running(&mut self, slot: &Slot, since: Option<i64>) {
        self.trouble = None;
        slot.rotate_outputs();
        self.tell(ItemState::Running {
            place: self.shared.host.clone(),
            since: since.unwrap_or_default(),
            attempt: self.restarts + 1,
            lost: None,
        });
    }

    fn tell(&self, state: ItemState) {
        let process = DaemonProcess::new(self.index, state, self.restarts);
        lock(&self.processes).insert(self.index, process);
    }

    /// The slot. Its holder names the settings, so that a process of others is told from one of these.
    fn slot(&self, daemon: &Daemon) -> Slot {
        let folder = folder(&self.shared, &daemon.job.job_name).join(self.index.to_string());
        let items = daemon.items_of_a_process();
        let limit = daemon.job.memory(&daemon.app, items).ceil() as u64;
        let job = job_token(&self.shared.options.namespace, &daemon.job.job_name);
        let holder = format!("{job}-d{}-{}", self.index, daemon.settings());
        Slot { lock: folder.join("lock"), folder, holder, limit }
    }
}
