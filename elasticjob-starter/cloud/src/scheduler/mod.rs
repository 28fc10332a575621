//! The scheduler: makes ordinary jobs of the registered ones, and runs their items through a carrier.
//!
//! Any number of schedulers work on one registry center. Each job goes to one of them, by the strategy `WHOLE`; when that one
//! dies, another one takes its items over and adopts what the carrier runs. There is no queue and no second record of runs:
//! those of the ordinary job are the truth.

mod daemons;
mod earlier_runs;
mod ends;
mod failing_daemons;
mod item_states;
mod item_tasks;
mod job_notes;
mod jobs;
mod launch_marks;
mod launches;
mod nodes;
mod one_carrier;
mod place_losses;
mod process_notes;
mod registrations;
mod registry_failure;
#[cfg(test)]
mod simulated;
mod stops;
mod store;
#[cfg(test)]
pub(crate) mod tests;
mod time_limits;
mod wait;
mod waiting_launches;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use elasticjob::ident::JobName;
use elasticjob::log::{error, warn};
use elasticjob::operations::Operations;
use elasticjob::registry::RegistryCenter;
use elasticjob::runtime::JobEnvironment;
use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

pub(crate) use self::item_tasks::{ItemTask, JobTasks};
pub use self::registrations::Registrations;
pub(crate) use self::stops::Running;
pub use self::store::{Store, StoreError};
use crate::carrier::{CarriedCenter, Carrier, CarrierError, Daemon, ItemState, Stop, StopCause};
use crate::model::ExecutionType;
use daemons::{Daemons, Owner, Refusals};
use failing_daemons::Ailing;
use item_states::Hub;
use jobs::{Means, Scheduled, Troubles};
use launch_marks::Marks;
use launches::Launches;
use nodes::{CARRIED, KEPT};
use one_carrier::Entry;
use place_losses::Losses;
use process_notes::Kept;
use registrations::Registered;
use waiting_launches::Waits;

/// The options of a [`Scheduler`].
#[non_exhaustive]
pub struct SchedulerOptions {
    /// The environment of its jobs, with their tracing.
    pub environment: JobEnvironment,
    /// The registry center with the registrations and the jobs.
    pub registry: Arc<dyn RegistryCenter>,
    /// The carrier of the items.
    pub carrier: Arc<dyn Carrier>,
    /// For an embedded registry, which forgets with its process: the file that keeps the registrations. Then no other
    /// scheduler takes over, so a shutdown ends what runs.
    pub embedded: Option<PathBuf>,
    /// The registry center for the programs of `DAEMON` jobs: those that set none of their own use it. Default: none, and
    /// then each process of such a program runs all items.
    pub registry_center: Option<CarriedCenter>,
}

impl fmt::Debug for SchedulerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { environment, registry, carrier, embedded, registry_center } = self;
        f.debug_struct("SchedulerOptions")
            .field("environment", environment)
            .field("registry", registry)
            .field("carrier", &carrier.type_name())
            .field("embedded", embedded)
            .field("registry_center", registry_center)
            .finish()
    }
}

impl SchedulerOptions {
    /// The options for a registry center that several schedulers share.
    pub fn new(environment: JobEnvironment, registry: Arc<dyn RegistryCenter>, carrier: Arc<dyn Carrier>) -> Self {
        Self { environment, registry, carrier, embedded: None, registry_center: None }
    }
}

/// A scheduler that runs.
pub struct Scheduler {
    registry: Arc<dyn RegistryCenter>,
    carrier: Arc<dyn Carrier>,
    store: Store,
    hub: Hub,
    launches: Launches,
    waits: Waits,
    registrations: watch::Receiver<Registrations>,
    troubles: Troubles,
    ailing: Ailing,
    scheduled: Scheduled,
    ending: CancellationToken,
    ends_processes: bool,
    follows: JoinHandle<()>,
    /// The tasks that have to leave, by their names.
    tasks: Mutex<Vec<(&'static str, JoinHandle<()>)>>,
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler")
            .field("store", &self.store)
            .field("ends_processes", &self.ends_processes)
            .finish_non_exhaustive()
    }
}

impl Scheduler {
    /// Starts a scheduler: it reads the registrations and schedules their jobs. It needs a tokio runtime.
    ///
    /// # Errors
    /// [`StoreError::OtherCarrier`] and [`StoreError::OtherPlace`] when a scheduler of the registry center has another carrier, or keeps
    /// its launches elsewhere; others when the registrations cannot be read.
    pub async fn start(options: SchedulerOptions) -> Result<Self, StoreError> {
        let SchedulerOptions { environment, registry, carrier, embedded, registry_center } = options;
        if registry.is_open() && embedded.is_none() {
            error!(
                "everyone who reaches the registry center can register jobs, and so run any command where the carrier {} runs \
                 them: the namespace is open; give elasticjob.reg-center.digest (docs/security.md)",
                carrier.type_name()
            );
        }
        let ends_processes = embedded.is_some();
        let store = Store::new(registry.clone(), carrier.clone(), environment.clone(), embedded);
        store.prepare().await?;
        let scheduler = environment.instance_id().to_string();
        let entry = Entry::new(registry.clone(), scheduler, &*carrier);
        entry.enter().await?;
        if let Some(center) = store.center().await? {
            carrier.serve(&center);
        }
        let losses = Losses { tracing: environment.tracing().cloned(), instance: environment.instance_id().clone() };
        let hub = Hub::new(carrier.clone(), losses);
        let launches = Launches::new(carrier.clone(), hub.clone(), Marks::new(registry.clone()), ends_processes);
        let (told, registrations) = watch::channel(store.registrations().await?);
        let (ending, troubles) = (CancellationToken::new(), Troubles::default());
        let scheduled = Scheduled::default();
        let means = Means {
            environment: environment.clone(),
            registry: registry.clone(),
            launches: launches.clone(),
            carried: Kept::new(registry.clone(), CARRIED, &carrier.place()),
            registrations: registrations.clone(),
            troubles: troubles.clone(),
            scheduled: scheduled.clone(),
            ending: ending.clone(),
        };
        let ailing = Ailing::default();
        let of_daemons = failing_daemons::Watch {
            ailing: ailing.clone(),
            carrier: carrier.clone(),
            registry: registry.clone(),
            tracing: environment.tracing().cloned(),
            instance: environment.instance_id().clone(),
            refused: troubles.clone(),
        };
        let waits = Waits::default();
        let of_waits = waiting_launches::Watch {
            waits: waits.clone(),
            hub: hub.clone(),
            launches: launches.clone(),
            carrier: carrier.type_name().to_owned(),
            registry: registry.clone(),
        };
        let daemons = Daemons {
            ailing: ailing.clone(),
            registry: registry.clone(),
            carrier: carrier.clone(),
            kept: Kept::new(registry.clone(), KEPT, &carrier.place()),
            registrations: registrations.clone(),
            ending: ending.clone(),
            ends_processes,
            owner: Owner { scheduler: environment.instance_id().to_string(), place: carrier.place() },
            registry_center,
            refusals: Refusals::new(troubles.clone()),
        };
        let follows = tokio::spawn(registrations::follow(registry.clone(), told));
        let tasks = Mutex::new(vec![
            ("its jobs", tokio::spawn(jobs::keep_all(means))),
            ("its DAEMON jobs", tokio::spawn(daemons.keep_all())),
            ("the search for earlier launches", tokio::spawn(learn(launches.clone(), ending.clone()))),
            ("the removal of packages", tokio::spawn(tidy(carrier.clone(), registrations.clone(), ending.clone()))),
            ("its entry in the registry center", tokio::spawn(entry.stay(ending.clone()))),
            ("the watch of processes of DAEMON jobs", tokio::spawn(of_daemons.watch(ending.clone()))),
            ("the watch of items that wait", tokio::spawn(of_waits.watch(ending.clone()))),
        ]);
        Ok(Self {
            registry,
            carrier,
            store,
            hub,
            launches,
            waits,
            registrations,
            troubles,
            ailing,
            scheduled,
            ending,
            ends_processes,
            follows,
            tasks,
        })
    }

    /// The carrier.
    pub fn carrier(&self) -> &Arc<dyn Carrier> {
        &self.carrier
    }

    /// The registrations, for writers.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The registrations as this scheduler knows them.
    pub fn registrations(&self) -> watch::Receiver<Registrations> {
        self.registrations.clone()
    }

    /// The registrations as the registry center has them now. Of those that cannot be used, the last ones that this scheduler knew.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    pub(crate) async fn registrations_now(&self) -> Result<Registrations, StoreError> {
        let mut all = self.store.registrations().await?;
        all.keep_usable(&self.registrations.borrow());
        Ok(all)
    }

    /// The operations on the ordinary jobs.
    pub fn operations(&self) -> Operations {
        Operations::new(self.registry.clone())
    }

    /// Why jobs do not run here, or not as they are registered, by job.
    pub fn troubles(&self) -> BTreeMap<JobName, String> {
        let mut troubles = self.registrations.borrow().troubles();
        troubles.extend(self.ailing.troubles());
        troubles.extend(jobs::lock(&self.troubles).clone());
        troubles
    }

    /// Waits until the job runs here as it is registered, for five seconds at most: where it cannot start, another scheduler may
    /// run it. After a registration or a change the job is started, and a manual trigger is refused until an instance is online.
    pub(crate) async fn follow(&self, name: &JobName, registered: &Registrations) {
        let wanted = registered.transient(name);
        let mut scheduled = self.scheduled.subscribe();
        let is_followed = scheduled.wait_for(|scheduled| scheduled.get(name) == wanted.as_ref());
        let _ = tokio::time::timeout(FOLLOWS, is_followed).await;
    }

    /// Asks the carrier again for everything that is waited for, once for each launch.
    ///
    /// # Errors
    /// [`CarrierError`] of a launch of which the engine did not answer. All others were read.
    pub async fn reconcile(&self) -> Result<(), CarrierError> {
        self.hub.refresh_all().await
    }

    /// Leaves, within 7 s. What runs goes on, and another scheduler adopts it; with an embedded registry it is stopped, as none would,
    /// which takes the [grace](Self::shutdown_grace) besides. What does not leave or end in time is told in the log by its name.
    pub async fn shutdown(&self) {
        self.ending.cancel();
        let deadline = Instant::now() + LEAVING;
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for (name, mut task) in tasks {
            if timeout_at(deadline, &mut task).await.is_err() {
                task.abort();
                let seconds = LEAVING.as_secs();
                warn!(
                    "the scheduler ends without {name}: the registry center or the carrier did not answer within {seconds} s"
                );
            }
        }
        // It goes on as long as there is a listener.
        self.follows.abort();
        if self.ends_processes {
            let mut left = None;
            // Dropping the carrier lets go of what does not end in time.
            let ended = tokio::time::timeout(self.shutdown_grace(), self.end_processes(&mut left)).await;
            if let (Err(_), Some(left)) = (ended, left) {
                warn!("processes may go on: {left}");
            }
        }
    }

    /// The longest time that a [shutdown](Self::shutdown) waits for the processes that it ends: 3 s more than the longest grace of
    /// the jobs; zero where they go on.
    pub fn shutdown_grace(&self) -> Duration {
        if self.ends_processes { self.longest_grace() + ENDING } else { Duration::ZERO }
    }

    fn longest_grace(&self) -> Duration {
        self.registrations.borrow().jobs.values().map(|job| job.grace()).max().unwrap_or_default()
    }

    /// Stops what runs, and completes when the carrier runs nothing any more. It asks again and again: a carrier tells the changes of
    /// launches, but not those of the processes of `DAEMON` jobs, and this is waited for once, at the end. What still runs is stopped
    /// again, as it may have begun after the first stop, or not have been stopped by it. `left` says what was seen last.
    async fn end_processes(&self, left: &mut Option<String>) {
        *left = Some("the carrier did not answer".to_owned());
        let mut stopped: BTreeSet<JobName> = self.registrations.borrow().jobs.keys().cloned().collect();
        loop {
            join_all(stopped.iter().map(|name| self.stop_job(name))).await;
            let again = Instant::now() + STOPS_AGAIN;
            while Instant::now() < again {
                match self.running().await {
                    Ok(running) if running.is_empty() => {
                        *left = None;
                        return;
                    }
                    Ok(running) => {
                        let names: Vec<&str> = running.iter().map(JobName::as_str).collect();
                        *left = Some(format!("those of {}", names.join(", ")));
                        stopped = running;
                    }
                    // A carrier that does not answer may still run something.
                    Err(error) => *left = Some(error.to_string()),
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }

    async fn stop_job(&self, name: &JobName) {
        let registered = self.registrations.borrow().registered(name);
        let goes_on = |error: &dyn fmt::Display| warn!(job = %name, "processes of the job may go on: {error}");
        if let Some(Registered { app, job }) = registered.clone()
            && job.job_execution_type == ExecutionType::Daemon
        {
            // The task that looks after them may not have come to it before it was left behind.
            let none = Daemon { app, job, instances: 0, registry_center: None };
            if let Err(error) = self.carrier.keep(none).await {
                goes_on(&error);
            }
        }
        // What runs of a job that is not registered any more gets the time that there is.
        let grace = registered.map_or_else(|| self.longest_grace(), |it| it.job.grace());
        if let Err(error) = self.launches.stop_all(name, &Stop::new(grace, StopCause::Shutdown)).await {
            goes_on(&error);
        }
    }

    /// The jobs of which the carrier runs something, or is about to.
    async fn running(&self) -> Result<BTreeSet<JobName>, CarrierError> {
        let mut running = self.launches.jobs_on_their_way();
        for id in self.carrier.launches().await? {
            let states = self.carrier.states(&id).await?.unwrap_or_default();
            if states.values().any(ItemState::is_open) {
                running.insert(id.job);
            }
        }
        let names: Vec<_> = self.registrations.borrow().jobs.keys().cloned().collect();
        for name in names {
            if !self.carrier.kept(&name).await?.is_empty() {
                running.insert(name);
            }
        }
        Ok(running)
    }
}

/// How long a change of a registration may take to be followed here, before a trigger goes its way all the same.
const FOLLOWS: Duration = Duration::from_secs(5);

/// Learns what earlier schedulers launched, unless this one ends before the carrier answers.
async fn learn(launches: Launches, ending: CancellationToken) {
    tokio::select! {
        () = launches.learn() => {}
        () = ending.cancelled() => {}
    }
}

/// How often the carrier removes what no application needs any more.
const TIDIES: Duration = Duration::from_secs(3_600);

/// Has the carrier remove what no application needs any more, from time to time.
async fn tidy(carrier: Arc<dyn Carrier>, registrations: watch::Receiver<Registrations>, ending: CancellationToken) {
    let mut times = tokio::time::interval(TIDIES);
    loop {
        tokio::select! {
            _ = times.tick() => {}
            () = ending.cancelled() => return,
        }
        // An application whose registration cannot be used may need what is kept.
        let Some(apps) = registrations.borrow().all_apps() else { continue };
        if let Err(error) = carrier.tidy(&apps).await {
            warn!("{error}; it is tried again in {} min", TIDIES.as_secs() / 60);
        }
    }
}

/// The time that a scheduler has to leave: where the registry center does not answer, its jobs give up after 5 s.
const LEAVING: Duration = Duration::from_secs(7);

/// How long a shutdown waits after the grace of the jobs.
const ENDING: Duration = Duration::from_secs(3);

/// The pause before what still runs then is stopped again.
const STOPS_AGAIN: Duration = Duration::from_secs(1);
