//! `PROCESS`: the items run as processes of this host.
//!
//! Each has a small keeper, a shell that leads its process group and outlives the scheduler. The keeper writes what became
//! of the process into a folder, and holds a lock as long as it lives. So a scheduler that starts again, or another one
//! with the same folder, finds what runs and what has ended.

mod budget;
mod daemons;
mod item;
mod memory;
mod slot;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::log::{info, warn};
use rustix::process::Signal;
use tokio::task::{AbortHandle, JoinSet, spawn_blocking};

pub use self::memory::MemoryLimit;
use crate::carrier::{
    Answer, Carrier, CarrierError, Daemon, DaemonProcess, EventSender, ItemState, ItemStates, Launch, LaunchError,
    LaunchEvent, LaunchId, LaunchItem, LaunchStream, Launched, Outcome, Stop,
};
use crate::files::{make_private, text_of, write_whole};
use crate::folders::remove_if_there;
use crate::model::{App, CarriedJob, ExecutionType, Problem, needs_image};
use crate::package::{Packages, users};
use crate::texts;
use budget::{Amount, Budget};
use daemons::Daemons;
use item::{Item, Tracked};
use memory::Memory;
use slot::{Look, Slot, StopNote};

/// The name of the carrier.
pub const PROCESS: &str = "PROCESS";

/// The options of a [`ProcessCarrier`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProcessOptions {
    /// The folder of packages, logs and outcomes. It is closed to other users where it is made here. Two schedulers of this
    /// host that run as the same user may share it, and then adopt what the other one started.
    pub folder: PathBuf,
    /// The namespace of the registry center: launches of other namespaces have other names.
    pub namespace: String,
    /// The way in which the memory is limited.
    pub memory: MemoryLimit,
    /// The CPUs that all processes together may take. Default: those of the host.
    pub cpus: Option<f64>,
    /// The memory in MB that all processes together may take. Default: that of the host.
    pub memory_mb: Option<f64>,
    /// The most MB that a package of a web server may have. Default: 4,096.
    pub package_limit_mb: Option<u64>,
}

impl ProcessOptions {
    /// The defaults, with this folder and namespace.
    pub fn new(folder: impl Into<PathBuf>, namespace: impl Into<String>) -> Self {
        let (folder, namespace) = (folder.into(), namespace.into());
        Self { folder, namespace, memory: MemoryLimit::Auto, cpus: None, memory_mb: None, package_limit_mb: None }
    }
}

/// Carries items as processes of this host. Dropping it ends nothing: what runs goes on, and the next carrier with the same
/// folder adopts it.
#[derive(Debug)]
pub struct ProcessCarrier {
    shared: Arc<Shared>,
    /// Follow the items. They end with the carrier.
    tasks: Mutex<JoinSet<()>>,
    daemons: Daemons,
}

/// What the tasks of the items share.
#[derive(Debug)]
struct Shared {
    options: ProcessOptions,
    host: String,
    budget: Budget,
    memory: Memory,
    packages: Packages,
    events: EventSender,
    items: Mutex<HashMap<(LaunchId, ShardingItem), Tracked>>,
}

impl ProcessCarrier {
    /// Makes a carrier. It needs a tokio runtime.
    ///
    /// # Errors
    /// The folder cannot be made or written, or is one that all users write into.
    pub fn new(options: ProcessOptions) -> io::Result<Self> {
        make_private(&options.folder)?;
        // A relative path means another folder to a process that is started in its package.
        let folder = fs::canonicalize(&options.folder)?;
        let options = ProcessOptions { folder, ..options };
        let host = Amount::of_host();
        let given = Amount::new(options.cpus.unwrap_or_default(), options.memory_mb.unwrap_or_default());
        let total = Amount {
            millicpus: options.cpus.map_or(host.millicpus, |_| given.millicpus),
            megabytes: options.memory_mb.map_or(host.megabytes, |_| given.megabytes),
        };
        info!(
            "the processes of items together are given {total}; a process that uses more CPU than its cpuCount is not kept from it"
        );
        let shared = Arc::new(Shared {
            host: text_of("/proc/sys/kernel/hostname".as_ref())?
                .map_or("this host".to_owned(), |name| name.trim().to_owned()),
            budget: Budget::of(total),
            memory: Memory::of_host(options.memory),
            packages: Packages::new(options.folder.join("packages"), options.package_limit_mb),
            events: EventSender::default(),
            items: Mutex::default(),
            options,
        });
        Ok(Self { daemons: Daemons::new(shared.clone()), shared, tasks: Mutex::default() })
    }

    /// Whether an item that needs more memory than it may have is told from one that fails otherwise.
    pub fn tells_out_of_memory(&self) -> bool {
        self.shared.memory.tells()
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task)
    }

    async fn launched(&self, mut launch: Launch) -> Result<Launched, LaunchError> {
        launch.leave_out_withdrawn();
        if launch.items.is_empty() {
            return Ok(Launched::default());
        }
        let fails = |error: io::Error| LaunchError::NotReached { why: format!("the folder of the carrier: {error}") };
        let folder = self.shared.launch_folder(&launch.id);
        fs::create_dir_all(&folder).map_err(fails)?;
        write_whole(&folder.join("id"), &launch.id.to_string()).map_err(fails)?;
        let launch = Arc::new(launch);
        let mut launched = Launched::default();
        for wanted in &launch.items {
            let slot = self.shared.slot(&launch.id, &launch.job, &launch.app, wanted.item);
            let look = slot.look().map_err(|error| fails(error).after(&launched))?;
            if self.shared.tracks(&launch.id, wanted) {
                launched.adopted.push(wanted.item);
                continue;
            }
            match look {
                Look::Untouched | Look::Held => launched.started.push(wanted.item),
                Look::Alive { .. } | Look::Ended(_) => launched.adopted.push(wanted.item),
            }
            if matches!(look, Look::Alive { .. })
                && let Some(note) = slot.stop_note().ok().flatten()
            {
                // The scheduler that stopped it may be gone: its grace goes on.
                let grace = slot.grace_left(&note, now());
                self.spawn(item::end(slot.clone(), self.shared.clone(), grace));
            }
            let item = Item::new(self.shared.clone(), launch.clone(), wanted.clone(), slot);
            item.publish_look(look);
            self.spawn(item.follow());
        }
        Ok(launched)
    }

    /// Stops an item. Where its cause cannot be noted, it is stopped all the same.
    fn stop_item(&self, id: &LaunchId, item: ShardingItem, stop: &Stop) -> Result<(), CarrierError> {
        let key = (id.clone(), item);
        let slot = self.shared.known_slot(id, item);
        let fails = |error| CarrierError::new(texts::look_at_item(), format!("{}: {error}", slot.folder.display()));
        let look = slot.look().map_err(fails)?;
        let is_open = self.shared.lock().get(&key).is_some_and(|tracked| tracked.state.is_open());
        let is_over = match look {
            Look::Alive { .. } => false,
            // What was lost may be about to run again.
            Look::Untouched | Look::Held | Look::Ended(Outcome::Lost { .. }) => !is_open,
            Look::Ended(_) => true,
        };
        if is_over {
            return Ok(());
        }
        let now = now();
        let first = slot.note_stop(&StopNote::new(stop, now)).unwrap_or_else(|error| {
            warn!(
                "item {item} of {id} is stopped, and that cannot be noted: {error}; a scheduler that adopts it does not hear of it"
            );
            None
        });
        // Before it can end: an item that is not known to be stopped is taken for lost, and runs again.
        if let Some(tracked) = self.shared.lock().get_mut(&key) {
            tracked.stopped.get_or_insert_with(|| stop.cause.clone());
            tracked.wake.notify_one();
        }
        // An earlier stop has begun the grace: the end that it waits for is not sooner than this one.
        let grace = first.map_or(stop.grace, |first| slot.grace_left(&first, now).min(stop.grace));
        let ends = self.spawn(item::end(slot, self.shared.clone(), grace));
        let before = self.shared.lock().get_mut(&key).and_then(|tracked| tracked.ends.replace(ends));
        if let Some(before) = before {
            before.abort();
        }
        Ok(())
    }
}

/// The time of the host, in milliseconds since 1970.
fn now() -> i64 {
    chrono::Utc::now().timestamp_millis()
}

impl Shared {
    /// Everything of a launch.
    fn launch_folder(&self, id: &LaunchId) -> PathBuf {
        self.options.folder.join("launches").join(id.token(&self.options.namespace))
    }

    /// The slot of an item that is launched.
    fn slot(&self, id: &LaunchId, job: &CarriedJob, app: &App, item: ShardingItem) -> Slot {
        let limit = job.memory(app, 1).ceil() as u64;
        Slot { limit, ..self.known_slot(id, item) }
    }

    /// The slot of an item whose limits do not matter: it is looked at, signalled or removed.
    fn known_slot(&self, id: &LaunchId, item: ShardingItem) -> Slot {
        let job = crate::carrier::job_token(&self.options.namespace, &id.job);
        let limit = text_of(&self.launch_folder(id).join(item.to_string()).join("limit")).ok().flatten();
        Slot {
            folder: self.launch_folder(id).join(item.to_string()),
            lock: self.options.folder.join("locks").join(job).join(format!("{item}.lock")),
            holder: format!("{}-{item}", id.token(&self.options.namespace)),
            limit: limit.and_then(|limit| limit.parse().ok()).unwrap_or(0),
        }
    }

    /// The items of a launch that have a folder. `None` without a folder of the launch.
    fn items_of(&self, id: &LaunchId) -> io::Result<Option<Vec<ShardingItem>>> {
        let entries = match fs::read_dir(self.launch_folder(id)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            entries => entries?,
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        Ok(Some(names.collect()))
    }

    /// Whether the launch was forgotten, here or by another scheduler: each launch has this file before its items are followed.
    fn is_forgotten(&self, id: &LaunchId) -> bool {
        matches!(self.launch_folder(id).join("id").try_exists(), Ok(false))
    }

    /// Removes the folders that a claim of an item made again after the launch was forgotten, and that are empty.
    fn remove_empty(&self, id: &LaunchId, slot: &Slot) {
        // An error says that another one uses them.
        let _ = fs::remove_dir(&slot.folder);
        let _ = fs::remove_dir(self.launch_folder(id));
    }

    /// Whether an item is followed. Then it goes on with the permit of this launch.
    fn tracks(&self, id: &LaunchId, wanted: &LaunchItem) -> bool {
        let mut items = self.lock();
        let tracked = items.get_mut(&(id.clone(), wanted.item));
        tracked.map(|tracked| tracked.permit = wanted.permit.clone()).is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(LaunchId, ShardingItem), Tracked>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn states(&self, id: &LaunchId) -> io::Result<Option<ItemStates>> {
        loop {
            let tracked_before = self.tracked(id);
            let Some(items) = self.items_of(id)? else { return Ok(None) };
            let mut states = ItemStates::new();
            for item in items {
                let slot = self.known_slot(id, item);
                // One that cannot be read says so, and hides no other one.
                let unread = |error| {
                    let why = format!("its folder {} cannot be read: {error}", slot.folder.display());
                    Some(ItemState::waiting(why))
                };
                if let Some(state) = self.kept_state(&slot).unwrap_or_else(unread) {
                    states.insert(item, state);
                }
            }
            // What is followed here is known better: it may wait, which no folder says, or be run again after it was lost.
            states.extend(self.tracked(id));
            // An item that was let go of meanwhile is not followed any more, and its folder was read before that was noted there.
            if tracked_before.keys().all(|item| states.contains_key(item)) {
                return Ok(Some(states));
            }
        }
    }

    /// The items of a launch that are followed here.
    fn tracked(&self, id: &LaunchId) -> ItemStates {
        let tracked = self.lock();
        tracked.iter().filter(|((of, _), _)| of == id).map(|((_, item), it)| (*item, it.state.clone())).collect()
    }

    /// What the folder of an item says. `None` where it says nothing: it has not begun.
    fn kept_state(&self, slot: &Slot) -> io::Result<Option<ItemState>> {
        let state = self.state(slot.look()?).or_else(|| slot.was_let_go().then_some(ItemState::LetGo));
        let Some(state) = state else { return Ok(None) };
        Ok(Some(state.after(slot.lost()?).stopped_for(slot.stop_note()?.map(|note| note.why))))
    }

    fn launches(&self) -> io::Result<Vec<LaunchId>> {
        let entries = match fs::read_dir(self.options.folder.join("launches")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let ids = entries.filter_map(|entry| text_of(&entry.ok()?.path().join("id")).ok()??.parse().ok());
        Ok(ids.collect())
    }

    fn forget(&self, id: &LaunchId) -> io::Result<()> {
        // First of all: what follows an item of the launch, here or in another scheduler, does not start it again.
        match fs::remove_file(self.launch_folder(id).join("id")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        for item in self.items_of(id)?.unwrap_or_default() {
            let slot = self.known_slot(id, item);
            slot.signal(Signal::KILL, &self.memory)?;
            slot.clean_up(&self.memory);
        }
        self.lock().retain(|(of, _), _| of != id);
        remove_if_there(&self.launch_folder(id))
    }

    fn tell(&self, id: &LaunchId, item: ShardingItem, state: ItemState) {
        if let Some(tracked) = self.lock().get_mut(&(id.clone(), item)) {
            if tracked.state == state {
                return;
            }
            tracked.state = state.clone();
        }
        self.events.send(LaunchEvent::Changed { id: id.clone(), item, state });
    }
}

impl Carrier for ProcessCarrier {
    fn type_name(&self) -> &str {
        PROCESS
    }

    fn place(&self) -> String {
        format!("{}:{}", self.shared.host, self.shared.options.folder.display())
    }

    fn check(&self, app: &App, job: &CarriedJob) -> Vec<Problem> {
        let mut problems: Vec<Problem> = needs_image(app, PROCESS).into_iter().collect();
        let instances = job.daemon_instances();
        let is_daemon = job.job_execution_type == ExecutionType::Daemon && instances > 0;
        let items = if is_daemon { job.items_of_a_process(instances) } else { 1 };
        let (needs, total) = (Amount::new(job.cpus(app, items), job.memory(app, items)), self.shared.budget.total());
        let no_room = || match is_daemon {
            true => texts::no_room_for_items(items, needs.message(), total.message()),
            false => texts::no_room(needs.message(), total.message()),
        };
        if needs.millicpus > total.millicpus {
            problems.push(Problem::new("cpuCount", no_room()));
        }
        if needs.megabytes > total.megabytes {
            problems.push(Problem::new("memoryMB", no_room()));
        }
        if job.items_per_process > 1 {
            problems.push(Problem::new("itemsPerProcess", texts::process_for_each_item(PROCESS)));
        }
        if job.queue_name.is_some() {
            problems.push(Problem::new("queueName", texts::no_queues(PROCESS)));
        }
        problems
    }

    fn launch(&self, launch: Launch) -> Answer<'_, Launched, LaunchError> {
        Box::pin(self.launched(launch))
    }

    fn stop<'a>(&'a self, id: &'a LaunchId, items: &'a [ShardingItem], stop: Stop) -> Answer<'a, ()> {
        Box::pin(async move {
            let mut first = Ok(());
            for item in items {
                let stopped = self.stop_item(id, *item, &stop);
                first = first.and(stopped);
            }
            first
        })
    }

    fn forget<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, ()> {
        Box::pin(
            async move { self.shared.forget(id).map_err(|error| CarrierError::new(texts::remove_launch(), error)) },
        )
    }

    fn states<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, Option<ItemStates>> {
        Box::pin(async move { self.shared.states(id).map_err(|error| CarrierError::new(texts::read_states(), error)) })
    }

    fn launches(&self) -> Answer<'_, Vec<LaunchId>> {
        Box::pin(async { self.shared.launches().map_err(|error| CarrierError::new(texts::list_launches(), error)) })
    }

    fn watch(&self) -> Box<dyn LaunchStream> {
        self.shared.events.stream()
    }

    fn keep(&self, daemon: Daemon) -> Answer<'_, (), LaunchError> {
        Box::pin(async move { self.daemons.keep(daemon).await })
    }

    fn tidy<'a>(&'a self, apps: &'a [Arc<App>]) -> Answer<'a, ()> {
        Box::pin(async move {
            let (shared, apps) = (self.shared.clone(), apps.to_vec());
            let prune = move || shared.packages.prune(&apps, users(&shared.options.folder));
            let pruned = spawn_blocking(prune).await.map_err(io::Error::other).flatten();
            pruned.map_err(|error| CarrierError::new(texts::remove_packages(), error))
        })
    }

    fn release(&self, job: &JobName) {
        self.daemons.release(job);
    }

    fn kept<'a>(&'a self, job: &'a JobName) -> Answer<'a, Vec<DaemonProcess>> {
        Box::pin(async move {
            let kept = self.daemons.kept(job);
            kept.map_err(|error| CarrierError::new(texts::look_at_processes(), error))
        })
    }

    fn log<'a>(&'a self, id: &'a LaunchId, item: ShardingItem, most: usize) -> Answer<'a, Option<String>> {
        Box::pin(async move {
            let log = self.shared.known_slot(id, item).log(most);
            log.map_err(|error| CarrierError::new(texts::read_log(), error))
        })
    }

    fn daemon_log<'a>(&'a self, job: &'a JobName, index: u32, most: usize) -> Answer<'a, Option<String>> {
        Box::pin(async move {
            let log = self.daemons.log(job, index, most);
            log.map_err(|error| CarrierError::new(texts::read_log(), error))
        })
    }
}
