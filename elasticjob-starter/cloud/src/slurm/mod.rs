//! `SLURM`: the items run as jobs of a Slurm cluster, an array for each fire.
//!
//! The carrier works with Slurm's commands, whose forms have not changed for many versions, and with a folder that all nodes
//! and all schedulers share. On the node a small script keeps the program: it claims the item, so that a submission that was
//! repeated runs nothing twice, and writes the exit code, as Slurm forgets jobs some minutes after their end.

mod ages;
mod claims;
mod cluster;
mod command;
mod daemons;
mod ends;
mod follow;
mod mirror;
mod place;
mod queue;
mod stop;
mod submit;
#[cfg(test)]
mod tests;
pub(crate) mod texts;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::log::info;
use tokio::task::{JoinSet, spawn_blocking};

use crate::carrier::{
    Answer, Carrier, CarrierError, Daemon, DaemonProcess, EventSender, ItemState, ItemStates, Launch, LaunchError,
    LaunchId, LaunchStream, Launched, Stop,
};
use crate::files::{make_private, text_of, write_whole};
use crate::folders::remove_if_there;
use crate::model::{App, CarriedJob, Problem};
use crate::package::{Packages, users};
use crate::texts as of_carriers;
use cluster::Cluster;
use command::{Commands, Failed};
use daemons::Daemons;
use ends::Ends;
use follow::Followed;
use mirror::Mirror;
use place::Place;
use queue::Row;
use submit::Submission;

/// The name of the carrier.
pub const SLURM: &str = "SLURM";

/// The script that keeps a process on its node.
const KEEPER: &str = include_str!("keeper.sh");

/// How often the sizes of the nodes are asked for, so that jobs are checked against what the cluster has now.
const LOOK_AT_NODES: Duration = Duration::from_secs(300);

/// The options of a [`SlurmCarrier`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SlurmOptions {
    /// The folder of packages, logs and outcomes. All nodes of the cluster and all schedulers have it under this path.
    pub folder: PathBuf,
    /// The namespace of the registry center: launches of other namespaces have other names.
    pub namespace: String,
    /// The folder of Slurm's commands. Default: those on `PATH`.
    pub commands: Option<PathBuf>,
    /// The settings of the cluster, `slurm.conf`. Default: what the variable `SLURM_CONF` names, or what Slurm finds by itself.
    pub conf: Option<PathBuf>,
    /// The most MB that a package of a web server may have. Default: 4,096.
    pub package_limit_mb: Option<u64>,
}

impl SlurmOptions {
    /// The defaults, with this folder and namespace.
    pub fn new(folder: impl Into<PathBuf>, namespace: impl Into<String>) -> Self {
        Self { folder: folder.into(), namespace: namespace.into(), commands: None, conf: None, package_limit_mb: None }
    }
}

/// No carrier can be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The folder cannot be made or found.
    #[error("the folder {} cannot be used: {source}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The settings of the cluster are not there.
    #[error("the settings of the cluster, {}, cannot be read: {source}", .file.display())]
    Settings {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The commands of Slurm cannot be run, the controller refuses them, or the cluster is too old.
    #[error("the cluster cannot be used: {why}")]
    Cluster {
        /// The cause.
        why: String,
    },
}

/// Carries items as jobs of a Slurm cluster. Dropping it ends nothing: what runs goes on, and the next carrier with the same
/// folder adopts it.
#[derive(Debug)]
pub struct SlurmCarrier {
    shared: Arc<Shared>,
    /// Follow the cluster and what is stopped. They end with the carrier.
    tasks: Mutex<JoinSet<()>>,
    daemons: Daemons,
}

/// What the tasks share.
#[derive(Debug)]
struct Shared {
    options: SlurmOptions,
    commands: Commands,
    cluster: RwLock<Cluster>,
    mirror: Mirror,
    packages: Packages,
    events: EventSender,
    followed: Mutex<HashMap<(LaunchId, ShardingItem), Followed>>,
    ends: Ends,
}

impl SlurmCarrier {
    /// Connects to the cluster that Slurm's commands are set up for. It needs a tokio runtime. A controller that is away is asked again
    /// until it answers, and the log says so once; dropping the future ends that.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn connect(options: SlurmOptions) -> Result<Self, ConnectError> {
        let wrong = |source: io::Error| ConnectError::Folder { folder: options.folder.clone(), source };
        make_private(&options.folder).map_err(wrong)?;
        // Nodes have it under its real path.
        let folder = fs::canonicalize(&options.folder).map_err(wrong)?;
        let commands = Commands { folder: options.commands.clone(), conf: options.conf.clone() };
        // Slurm's commands try for a minute to read a file that is not there.
        if let Some(file) = commands.settings() {
            File::open(&file).map_err(|source| ConnectError::Settings { file, source })?;
        }
        let cluster = Cluster::once_it_answers(&commands).await;
        let cluster = cluster.map_err(|failed| ConnectError::Cluster { why: failed.why().to_owned() })?;
        info!(
            "the cluster {} places items by their CPUs and memory; it keeps them to these only where its cgroup.conf has \
             ConstrainCores=yes and ConstrainRAMSpace=yes",
            cluster.name
        );
        let shared = Arc::new(Shared {
            mirror: Mirror::new(commands.clone()),
            cluster: RwLock::new(cluster),
            packages: Packages::new(folder.join("packages"), options.package_limit_mb),
            events: EventSender::default(),
            followed: Mutex::default(),
            ends: Ends::default(),
            options: SlurmOptions { folder, ..options },
            commands,
        });
        let mut tasks = JoinSet::new();
        let follower = shared.clone();
        tasks.spawn(async move {
            let is_followed = || !follower.lock().is_empty();
            let publish = async |snapshot| follower.clone().publish(snapshot).await;
            follower.mirror.keep(is_followed, publish).await;
        });
        tasks.spawn(shared.clone().look_at_nodes());
        tasks.spawn(Ends::keep(shared.clone()));
        Ok(Self { daemons: Daemons::new(shared.clone()), shared, tasks: Mutex::new(tasks) })
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }
}

impl Shared {
    fn launch_folder(&self, id: &LaunchId) -> PathBuf {
        self.options.folder.join("launches").join(id.token(&self.options.namespace))
    }

    /// The name of the jobs of a launch in Slurm.
    fn name(&self, id: &LaunchId) -> String {
        id.token(&self.options.namespace)
    }

    fn item_folder(&self, id: &LaunchId, item: ShardingItem) -> PathBuf {
        self.launch_folder(id).join(item.to_string())
    }

    fn place(&self, id: &LaunchId, item: ShardingItem) -> io::Result<Place> {
        let limit = text_of(&self.launch_folder(id).join("limit"))?;
        let limit = limit.and_then(|limit| limit.trim().parse().ok()).unwrap_or(0);
        Ok(Place::new(self.item_folder(id, item), limit))
    }

    /// The items of a launch that have a folder, in ascending order. `None` without a folder of the launch.
    fn items_of(&self, id: &LaunchId) -> io::Result<Option<Vec<ShardingItem>>> {
        let entries = match fs::read_dir(self.launch_folder(id)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            entries => entries?,
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let mut items: Vec<ShardingItem> = names.collect();
        items.sort_unstable();
        Ok(Some(items))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(LaunchId, ShardingItem), Followed>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cluster(&self) -> Cluster {
        self.cluster.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn look_at_nodes(self: Arc<Self>) {
        loop {
            tokio::time::sleep(LOOK_AT_NODES).await;
            // A cluster that does not answer has its nodes of before.
            if let Ok(nodes) = cluster::node_sizes(&self.commands).await {
                self.cluster.write().unwrap_or_else(PoisonError::into_inner).nodes = nodes;
            }
        }
    }

    async fn launch(self: &Arc<Self>, mut launch: Launch) -> Result<Launched, LaunchError> {
        launch.leave_out_withdrawn();
        let not_reached =
            |error: io::Error| LaunchError::NotReached { why: format!("the folder of the carrier: {error}") };
        let folder = self.launch_folder(&launch.id);
        let (shared, id) = (self.clone(), launch.id.clone());
        let limit = submit::megabytes(&launch.app, &launch.job, 1);
        let wanted: Vec<ShardingItem> = launch.items.iter().map(|item| item.item).collect();
        let of_files = blocking(move || shared.open(&id, limit, &wanted)).await.map_err(not_reached)?;
        let snapshot = self.mirror.now().await.map_err(launch_error)?;
        let name = self.name(&launch.id);
        let is_known = |item: &ShardingItem| of_files.contains(item) || !snapshot.rows(&name, *item).is_empty();
        let items = launch.items.iter().map(|item| item.item);
        let (adopted, mut started): (Vec<ShardingItem>, Vec<ShardingItem>) = items.partition(is_known);
        self.follow(&launch.id, &adopted);
        if !started.is_empty() {
            let own = folder.join("package");
            let package = tokio::select! {
                package = self.packages.folder(&launch.app, &own) => package,
                () = launch.withdrawn() => return Ok(Launched { started: Vec::new(), adopted }),
            };
            let package = package.map_err(|why| LaunchError::Refused { why })?;
            self.packages.note_use(&package, &folder).map_err(not_reached)?;
            let (shared, of_launch, items) = (self.clone(), launch.clone(), started.clone());
            let prepare = move || shared.prepare(&of_launch, &items, &package);
            blocking(prepare).await.map_err(not_reached)?;
            launch.leave_out_withdrawn();
            started.retain(|item| launch.items.iter().any(|wanted| wanted.item == *item));
            if started.is_empty() {
                return Ok(Launched { started, adopted });
            }
            let submission = Submission {
                name: &name,
                comment: format!("{}/{}", self.options.namespace, launch.id),
                app: &launch.app,
                job: &launch.job,
                indexes: &started,
                items: 1,
                is_requeued: launch.replaces_lost(),
                kind: "item",
                folder: &folder,
            };
            let array = submission.send(&self.commands).await.map_err(launch_error)?;
            let (shared, id, items) = (self.clone(), launch.id.clone(), started.clone());
            let note = move || items.iter().try_for_each(|item| shared.place(&id, *item)?.note_submitted(array));
            // It is submitted, whatever became of the note: the next look shows it.
            blocking(note).await.map_err(|error| LaunchError::Unknown { why: error.to_string() })?;
            self.follow(&launch.id, &started);
        }
        self.mirror.wake();
        Ok(Launched { started, adopted })
    }

    /// Makes the folder of a launch, and returns the items that Slurm was given before.
    fn open(&self, id: &LaunchId, limit: u64, items: &[ShardingItem]) -> io::Result<Vec<ShardingItem>> {
        let folder = self.launch_folder(id);
        fs::create_dir_all(&folder)?;
        write_whole(&folder.join("id"), &id.to_string())?;
        write_whole(&folder.join("limit"), &limit.to_string())?;
        let mut known = Vec::new();
        for item in items {
            if self.place(id, *item)?.was_submitted() {
                known.push(*item);
            }
        }
        Ok(known)
    }

    fn prepare(&self, launch: &Launch, items: &[ShardingItem], package: &std::path::Path) -> io::Result<()> {
        write_whole(&self.launch_folder(&launch.id).join("keeper.sh"), KEEPER)?;
        for item in launch.items.iter().filter(|item| items.contains(&item.item)) {
            let (environment, arguments) = (launch.environment(item), launch.arguments(item.item));
            let script = submit::script(&environment, package, launch.command(), &arguments);
            self.place(&launch.id, item.item)?.prepare(&script)?;
        }
        Ok(())
    }

    async fn states(self: &Arc<Self>, id: &LaunchId) -> Result<Option<ItemStates>, CarrierError> {
        let fails = |error: io::Error| CarrierError::new(of_carriers::read_states(), error);
        let (shared, of) = (self.clone(), id.clone());
        let known = move || {
            let Some(items) = shared.items_of(&of)? else { return Ok(None) };
            let known = |item| shared.place(&of, item).map(|place| (place.was_submitted(), place));
            Ok(Some(items.into_iter().map(|item| (item, known(item))).collect::<Vec<_>>()))
        };
        let Some(known) = blocking(known).await.map_err(fails)? else { return Ok(None) };
        let snapshot = self.mirror.now().await.map_err(|failed| CarrierError::new(texts::ask_slurm(), failed.why()))?;
        let (name, shared, of) = (self.name(id), self.clone(), id.clone());
        let read = move || {
            let (mut states, mut unread) = (ItemStates::new(), Vec::new());
            for (item, known) in known {
                let state =
                    known.and_then(|(was_submitted, place)| place.state(snapshot.rows(&name, item), was_submitted));
                // One that cannot be read says so, and hides no other one.
                let waits = |error| {
                    unread.push(item);
                    let folder = shared.item_folder(&of, item);
                    Some(ItemState::waiting(format!("its folder {} cannot be read: {error}", folder.display())))
                };
                if let Some(state) = state.unwrap_or_else(waits) {
                    states.insert(item, state);
                }
            }
            Ok((states, unread))
        };
        let (states, unread) = blocking(read).await.map_err(fails)?;
        self.tell_again(id, &unread);
        Ok(Some(states))
    }

    fn launches(&self) -> io::Result<Vec<LaunchId>> {
        let entries = match fs::read_dir(self.options.folder.join("launches")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let ids = entries.filter_map(|entry| text_of(&entry.ok()?.path().join("id")).ok()??.parse().ok());
        Ok(ids.collect())
    }

    async fn forget(self: &Arc<Self>, id: &LaunchId) -> Result<(), CarrierError> {
        let (shared, of) = (self.clone(), id.clone());
        let fails = |error: io::Error| CarrierError::new(of_carriers::remove_launch(), error);
        let Some(items) = blocking(move || shared.items_of(&of)).await.map_err(fails)? else { return Ok(()) };
        let not_cancelled = |failed: Failed| CarrierError::new(texts::cancel_jobs(), failed.why());
        let snapshot = self.mirror.now().await.map_err(not_cancelled)?;
        let name = self.name(id);
        let rows = items.iter().flat_map(|item| snapshot.rows(&name, *item));
        let live: Vec<String> = rows.filter(|row| row.is_live()).map(Row::id).collect();
        if !live.is_empty() {
            self.commands.run("scancel", &live).await.map_err(not_cancelled)?;
        }
        self.lock().retain(|(of, _), _| of != id);
        self.ends.forget(id);
        let folder = self.launch_folder(id);
        blocking(move || remove_if_there(&folder)).await.map_err(fails)
    }
}

/// Runs what reads and writes files of the shared folder, which may be slow, on a thread that may wait.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}

fn launch_error(failed: Failed) -> LaunchError {
    match failed {
        Failed::Refused(why) => LaunchError::Refused { why },
        Failed::NotReached(why) => LaunchError::NotReached { why },
        Failed::Unknown(why) => LaunchError::Unknown { why },
    }
}

impl Carrier for SlurmCarrier {
    fn type_name(&self) -> &str {
        SLURM
    }

    fn place(&self) -> String {
        format!("{SLURM} {}:{}", self.shared.cluster().name, self.shared.options.folder.display())
    }

    fn shared_place(&self) -> Option<String> {
        Some(self.place())
    }

    fn check(&self, app: &App, job: &CarriedJob) -> Vec<Problem> {
        submit::problems(&self.shared.cluster(), app, job)
    }

    fn launch(&self, launch: Launch) -> Answer<'_, Launched, LaunchError> {
        Box::pin(async move {
            let id = launch.id.clone();
            let launched = self.shared.launch(launch).await?;
            let (shared, of, adopted) = (self.shared.clone(), id.clone(), launched.adopted.clone());
            let noted = blocking(move || Ok(stop::noted(&shared, &of, &adopted))).await.unwrap_or_default();
            if !noted.is_empty() {
                self.spawn(stop::go_on(self.shared.clone(), id, noted));
            }
            Ok(launched)
        })
    }

    fn stop<'a>(&'a self, id: &'a LaunchId, items: &'a [ShardingItem], stop: Stop) -> Answer<'a, ()> {
        Box::pin(stop::stop(&self.shared, id, items, stop))
    }

    fn forget<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, ()> {
        Box::pin(self.shared.forget(id))
    }

    fn states<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, Option<ItemStates>> {
        Box::pin(self.shared.states(id))
    }

    fn launches(&self) -> Answer<'_, Vec<LaunchId>> {
        Box::pin(async {
            let shared = self.shared.clone();
            let launches = blocking(move || shared.launches()).await;
            launches.map_err(|error| CarrierError::new(of_carriers::list_launches(), error))
        })
    }

    fn watch(&self) -> Box<dyn LaunchStream> {
        self.shared.events.stream()
    }

    fn keep(&self, daemon: Daemon) -> Answer<'_, (), LaunchError> {
        Box::pin(self.daemons.keep(daemon))
    }

    fn tidy<'a>(&'a self, apps: &'a [Arc<App>]) -> Answer<'a, ()> {
        Box::pin(async move {
            let (shared, apps) = (self.shared.clone(), apps.to_vec());
            let prune = move || shared.packages.prune(&apps, users(&shared.options.folder));
            blocking(prune).await.map_err(|error| CarrierError::new(of_carriers::remove_packages(), error))
        })
    }

    fn release(&self, job: &JobName) {
        self.daemons.release(job);
    }

    fn kept<'a>(&'a self, job: &'a JobName) -> Answer<'a, Vec<DaemonProcess>> {
        Box::pin(self.daemons.kept(job))
    }

    fn log<'a>(&'a self, id: &'a LaunchId, item: ShardingItem, most: usize) -> Answer<'a, Option<String>> {
        Box::pin(async move {
            let (shared, id) = (self.shared.clone(), id.clone());
            let log = blocking(move || shared.place(&id, item)?.log(most)).await;
            log.map_err(|error| CarrierError::new(of_carriers::read_log(), error))
        })
    }

    fn daemon_log<'a>(&'a self, job: &'a JobName, index: u32, most: usize) -> Answer<'a, Option<String>> {
        Box::pin(self.daemons.log(job, index, most))
    }
}
