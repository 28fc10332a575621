//! Makes each registered `TRANSIENT` job an ordinary job of this process, and keeps it so as the registrations change.

use std::collections::{BTreeMap, HashMap};
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use elasticjob::api::classed_item_handler;
use elasticjob::ident::JobName;
use elasticjob::log::{info, warn};
use elasticjob::operations::{Force, OperationError, Operations};
use elasticjob::registry::{RegistryCenter, Zxid};
use elasticjob::runtime::{JobEnvironment, OneOffJobBootstrap, ScheduleJobBootstrap, ShutdownMode, StartError};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::launches::Launches;
use super::nodes::Node;
use super::process_notes::Kept;
use super::registrations::{Registered, Registrations};
use super::stops::wished;
use crate::carrier::{CarrierError, Stop, StopCause};

/// The pause before a job that did not start is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// The longest pause between looks at what a removed job has left.
const LONGEST: Duration = Duration::from_secs(300);

/// The pause after the carrier has told that something ended.
const BREATH: Duration = Duration::from_millis(200);

/// How long the end of a process that was killed may take to be told.
const ENDS_TOLD: Duration = Duration::from_secs(10);

/// The grace of a job that was removed before it was seen here.
const DEFAULT_GRACE: Duration = Duration::from_secs(10);

/// Why jobs do not run here, by job.
pub(super) type Troubles = Arc<Mutex<BTreeMap<JobName, String>>>;

/// The jobs that run here, as they were registered when they started.
pub(super) type Scheduled = watch::Sender<BTreeMap<JobName, Registered>>;

/// What the tasks of all jobs need.
#[derive(Clone)]
pub(super) struct Means {
    pub(super) environment: JobEnvironment,
    pub(super) registry: Arc<dyn RegistryCenter>,
    pub(super) launches: Launches,
    /// Which jobs have run at the place of this scheduler.
    pub(super) carried: Kept,
    pub(super) registrations: watch::Receiver<Registrations>,
    pub(super) troubles: Troubles,
    pub(super) scheduled: Scheduled,
    pub(super) ending: CancellationToken,
}

/// Locks the troubles.
pub(super) fn lock(troubles: &Troubles) -> MutexGuard<'_, BTreeMap<JobName, String>> {
    troubles.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has a task for each job that is registered, until the scheduler ends. Completes when all jobs have left.
pub(super) async fn keep_all(mut means: Means) {
    let mut running = JoinSet::new();
    let mut tasks: HashMap<JobName, AbortHandle> = HashMap::new();
    let mut earlier = None;
    loop {
        // The task of a job that was removed ends; a job of the same name has another one, once that is over.
        tasks.retain(|_, task| !task.is_finished());
        let names = means.registrations.borrow_and_update().names();
        let mut jobs: Vec<(JobName, Duration)> = names.into_iter().map(|name| (name, DEFAULT_GRACE)).collect();
        if earlier.is_none() {
            earlier = earlier_jobs(&means).await;
            jobs.extend(earlier.iter().flatten().cloned());
        }
        for (name, grace) in jobs {
            let keeper = || Keeper { name: name.clone(), grace, means: means.clone() };
            tasks.entry(name.clone()).or_insert_with(|| running.spawn(keeper().keep()));
        }
        tokio::select! {
            () = tokio::time::sleep(AGAIN), if earlier.is_none() => {}
            changed = means.registrations.changed() => if changed.is_err() { break },
            () = means.ending.cancelled() => break,
            Some(ended) = running.join_next() => if ended.is_err() {
                // It panicked, and would again.
                tokio::time::sleep(AGAIN).await;
            },
        }
    }
    while running.join_next().await.is_some() {}
}

/// The jobs that have run at this place, with the grace that they had: of one that was removed, no scheduler may have looked after
/// what is left. `None` where the registry center does not answer.
async fn earlier_jobs(means: &Means) -> Option<Vec<(JobName, Duration)>> {
    match means.carried.all().await {
        Ok(all) => Some(all.into_iter().map(|known| (known.job.job_name.clone(), known.job.grace())).collect()),
        Err(error) => {
            warn!(
                "cannot read which removed jobs still have processes here: {error}; trying again in {} s",
                AGAIN.as_secs()
            );
            None
        }
    }
}

/// Keeps one job.
struct Keeper {
    name: JobName,
    /// How long a process may take to end, of a job that was removed before it was seen here.
    grace: Duration,
    means: Means,
}

/// What became of the processes of a job that is disabled or removed.
enum Rest {
    /// They were not looked at: the job was wanted until now.
    Unknown,
    /// The carrier did not take the stop: it is tried again. This was told.
    Unstopped,
    /// They are stopped.
    Stopped,
}

/// What became of the nodes of a removed job in the registry center.
enum Nodes {
    /// They were not looked at.
    Unknown,
    /// They cannot be removed yet. This was told.
    Stay,
    /// They are removed.
    Removed,
}

/// Who looks after what a removed job has left.
enum Remains {
    /// Nothing is left.
    Nothing,
    /// The job was registered again.
    OfNewJob,
    /// This scheduler ends: another one forgets it.
    ForOthers,
}

/// A job of this process.
enum Running {
    Scheduled(ScheduleJobBootstrap),
    OneOff(OneOffJobBootstrap),
}

impl Keeper {
    async fn keep(mut self) {
        let mut current: Option<(Registered, Running)> = None;
        let mut rest = Rest::Unknown;
        let mut grace = self.grace;
        // The last wish that what runs ends, of those that are obeyed here.
        let mut obeyed: Option<Zxid> = None;
        loop {
            let (wanted, wish, is_unknown, is_registered) = {
                let all = self.means.registrations.borrow_and_update();
                // A job that is removed ends with the grace that it had.
                grace = all.jobs.get(&self.name).map_or(grace, |job| job.grace());
                let wanted = all.transient(&self.name);
                let wish = wanted.as_ref().and_then(|registered| all.stopped(registered));
                (wanted, wish, all.is_unknown(&self.name), all.is_registered(&self.name))
            };
            let is_changed = current.as_ref().map(|(registered, _)| registered) != wanted.as_ref();
            // Before a run is let go of: the scheduler that takes it over begins it again, after the wish.
            let is_obeyed = match &wanted {
                Some(registered) if is_changed || wish > obeyed => self.obey(registered, &mut obeyed, grace).await,
                Some(_) | None => true,
            };
            if is_changed && is_obeyed {
                match &wanted {
                    // One that cannot be made leaves the one of before as it is.
                    Some(registered) => match self.make(registered).await {
                        Ok(next) => {
                            self.leave(current.take(), ShutdownMode::Restart).await;
                            current = self.start(next).await.map(|running| (registered.clone(), running));
                            if current.is_some() {
                                let started = (self.name.clone(), registered.clone());
                                self.means.scheduled.send_modify(|scheduled| scheduled.extend([started]));
                            }
                        }
                        Err(why) if current.is_some() => self.tell(format!("{why}; the job goes on as it was before")),
                        Err(why) => self.tell(why),
                    },
                    None => {
                        let mode = self.end(current.is_some() && !is_unknown, grace).await;
                        self.leave(current.take(), mode).await;
                        lock(&self.means.troubles).remove(&self.name);
                        rest = Rest::Unknown;
                        // It may be wanted again by now: then what runs is of the new one.
                        continue;
                    }
                }
            } else if !is_changed && current.is_some() {
                // A change that could not be made was taken back.
                lock(&self.means.troubles).remove(&self.name);
            }
            if wanted.is_none() && !is_unknown && !matches!(rest, Rest::Stopped) {
                rest = self.stop_processes(&rest, grace).await;
            }
            let is_left = wanted.is_none() && !is_unknown && !matches!(rest, Rest::Stopped);
            if !is_registered && !is_left {
                match self.forget(grace).await {
                    Remains::Nothing => return,
                    Remains::OfNewJob => continue,
                    Remains::ForOthers => break,
                }
            }
            let is_as_registered = current.as_ref().map(|(registered, _)| registered) == wanted.as_ref();
            let misses = is_left || !is_obeyed || !is_as_registered;
            tokio::select! {
                changed = self.means.registrations.changed() => if changed.is_err() { break },
                () = self.means.ending.cancelled() => break,
                () = tokio::time::sleep(AGAIN), if misses => {}
            }
        }
        if let Some((_, mut running)) = current {
            running.shutdown(ShutdownMode::Now).await;
        }
    }

    /// Stops what ran when it was wished last that it ends, unless that is done. Returns whether the registry center and the carrier
    /// answered: else it is to be tried again, before anything of the job changes here.
    async fn obey(&self, registered: &Registered, obeyed: &mut Option<Zxid>, grace: Duration) -> bool {
        let wish = wished(&*self.means.registry, registered).await.map_err(|error| error.to_string());
        let told = match wish {
            Ok(Some(wish)) if Some(wish.at) > *obeyed => {
                self.means.launches.stop_begun_before(&self.name, wish, grace).await.map(|()| wish.at)
            }
            Ok(_) => return true,
            Err(why) => Err(why),
        };
        match told {
            Ok(at) => {
                *obeyed = Some(at);
                true
            }
            Err(why) => {
                let seconds = AGAIN.as_secs();
                warn!(job = %self.name, "the change of the job has no effect yet, as the scheduler does not know which runs of \
                    the job to stop: {why}; it is tried again every {seconds} s");
                false
            }
        }
    }

    /// Stops what the job runs here, as it is not wanted any more. Where the carrier takes that, the job waits for the ends, so that
    /// its records say how its runs ended. Else they are cut off, and the stop is tried again.
    async fn end(&self, runs: bool, grace: Duration) -> ShutdownMode {
        match runs && self.stop_all(grace).await.is_ok() {
            true => ShutdownMode::Graceful,
            false => ShutdownMode::Now,
        }
    }

    /// Leaves its group. What it runs is let go, and adopted by the next one with the mode `Restart`: a trigger that waits is run by
    /// that one. With the other modes the job is not wanted any more.
    async fn leave(&self, current: Option<(Registered, Running)>, mode: ShutdownMode) {
        let Some((_, mut running)) = current else { return };
        self.means.scheduled.send_modify(|scheduled| drop(scheduled.remove(&self.name)));
        let mut registrations = self.means.registrations.clone();
        let is_wanted_again = async {
            if mode != ShutdownMode::Graceful
                || registrations.wait_for(|all| all.transient(&self.name).is_some()).await.is_err()
            {
                pending().await
            }
        };
        tokio::select! {
            biased;
            () = running.shutdown(mode) => return,
            () = self.means.ending.cancelled() => {}
            () = is_wanted_again => {}
        }
        // What has not ended is adopted: by the new job of this name, or by another scheduler.
        running.shutdown(ShutdownMode::Now).await;
    }

    /// Joins the group of the job.
    async fn start(&self, mut job: Running) -> Option<Running> {
        match job.start().await {
            Ok(()) => {
                lock(&self.means.troubles).remove(&self.name);
                info!(job = %self.name, "this scheduler schedules the job");
                Some(job)
            }
            Err(error) => {
                self.tell(error.to_string());
                None
            }
        }
    }

    /// Tells why the job does not run here as it is registered, in the log once for each cause.
    fn tell(&self, why: String) {
        let before = lock(&self.means.troubles).insert(self.name.clone(), why.clone());
        if before.as_ref() != Some(&why) {
            warn!("{why}; it is tried again every {} s", AGAIN.as_secs());
        }
    }

    /// Makes a job of this process that is not started, once it is noted that this place runs it.
    async fn make(&self, registered: &Registered) -> Result<Running, String> {
        let unnoted = |error| format!("job '{}' cannot be noted in the registry center: {error}", self.name);
        self.means.carried.note(registered).await.map_err(unnoted)?;
        let handler = classed_item_handler(Arc::new(self.means.launches.clone()), Arc::new(registered.clone()));
        let configuration = registered.job.configuration();
        let registry = self.means.registry.clone();
        // What is stopped when the job is disabled or removed has its grace, and its end takes a while to be told.
        let environment = self.means.environment.clone().with_shutdown_grace(registered.job.grace() + ENDS_TOLD);
        let made = match configuration.fires_by_itself() {
            true => ScheduleJobBootstrap::new(&environment, registry, configuration, handler).map(Running::Scheduled),
            false => OneOffJobBootstrap::new(&environment, registry, configuration, handler).map(Running::OneOff),
        };
        made.map_err(|error| error.to_string())
    }

    async fn stop_all(&self, grace: Duration) -> Result<(), CarrierError> {
        self.means.launches.stop_all(&self.name, &Stop::new(grace, StopCause::JobEnded)).await
    }

    /// Ends what is left of the job: it is disabled or removed, and no scheduler waits for it.
    async fn stop_processes(&self, before: &Rest, grace: Duration) -> Rest {
        match (self.stop_all(grace).await, before) {
            (Ok(()), Rest::Unstopped) => {
                info!(job = %self.name, "the processes of the job are stopped now");
                Rest::Stopped
            }
            (Ok(()), _) => Rest::Stopped,
            (Err(_), Rest::Unstopped) => Rest::Unstopped,
            (Err(error), _) => {
                let seconds = AGAIN.as_secs();
                warn!(job = %self.name, "the job is disabled or removed, and its processes may go on: {error}; the stop is tried \
                    again every {seconds} s, until the carrier takes it");
                Rest::Unstopped
            }
        }
    }

    /// Removes what the job, which is removed and stopped, has left: its nodes, and its launches when they have ended. The carrier
    /// is asked when it tells the last of the ends. It may not tell those of what another scheduler launched, and a launch that was
    /// on its way may arrive after the stop: so it is asked, and told to stop, also when the grace is over, with growing pauses.
    async fn forget(&mut self, grace: Duration) -> Remains {
        let mut ends = self.means.launches.ends();
        let mut rest = Rest::Stopped;
        let mut pause = grace + AGAIN;
        let mut stop_at = Instant::now() + pause;
        let (mut nodes, mut nodes_pause) = (Nodes::Unknown, AGAIN);
        loop {
            // It may have been registered again, and this scheduler has not heard of that: what runs is of the new one then.
            let is_gone = self.is_registered().await == Some(false);
            if is_gone && (matches!(rest, Rest::Unstopped) || Instant::now() >= stop_at) {
                rest = self.stop_processes(&rest, grace).await;
                pause = (pause * 2).min(LONGEST.max(grace + AGAIN));
                stop_at = Instant::now() + pause;
            }
            if is_gone && !matches!(nodes, Nodes::Removed) {
                nodes = self.remove(&nodes).await;
            }
            let left = if is_gone { self.means.launches.forget_all(&self.name).await.ok() } else { None };
            let again_at = match left {
                Some(open) if open.is_empty() && matches!(nodes, Nodes::Removed) => {
                    match self.means.carried.delete_of_removed(&self.name).await {
                        Ok(()) => return Remains::Nothing,
                        Err(_) => Instant::now() + AGAIN,
                    }
                }
                Some(open) if matches!(rest, Rest::Stopped) && matches!(nodes, Nodes::Removed) => {
                    ends.wait_for(open);
                    stop_at
                }
                Some(open) if matches!(rest, Rest::Stopped) => {
                    ends.wait_for(open);
                    let nodes_at = Instant::now() + nodes_pause;
                    nodes_pause = (nodes_pause * 2).min(LONGEST);
                    nodes_at.min(stop_at)
                }
                // The carrier or the registry center is away.
                Some(_) | None => Instant::now() + AGAIN,
            };
            let registrations = &mut self.means.registrations;
            let name = &self.name;
            tokio::select! {
                biased;
                is_known = async { registrations.wait_for(|all| all.is_registered(name)).await.is_ok() } => {
                    return if is_known { Remains::OfNewJob } else { Remains::ForOthers };
                }
                () = self.means.ending.cancelled() => return Remains::ForOthers,
                // A carrier that misses event after event is not asked without a pause.
                () = ends.all() => tokio::time::sleep(BREATH).await,
                () = tokio::time::sleep_until(again_at.into()) => {}
            }
        }
    }

    /// Whether the job is registered by now; `None` where the registry center does not answer.
    async fn is_registered(&self) -> Option<bool> {
        let known = self.means.registry.get(&Node::Job(self.name.clone()).path()).await;
        known.ok().map(|node| node.is_some())
    }

    /// Removes the nodes of the job. The last scheduler that leaves does it: before, instances are online, also that of a scheduler
    /// that was killed, until its session ends.
    async fn remove(&self, before: &Nodes) -> Nodes {
        lock(&self.means.troubles).remove(&self.name);
        let removed = Operations::new(self.means.registry.clone()).remove_job(&self.name, Force::No).await;
        let Err(error) = removed.map(drop).or_else(is_gone) else { return Nodes::Removed };
        if matches!(before, Nodes::Unknown) {
            info!(job = %self.name, "the nodes of the job stay in the registry center for now: {error}; it is tried again");
        }
        Nodes::Stay
    }
}

/// A job that another scheduler has removed is removed.
fn is_gone(error: OperationError) -> Result<(), OperationError> {
    if matches!(error, OperationError::NoSuchJob { .. }) { Ok(()) } else { Err(error) }
}

/// A job that waits for its configuration joins as soon as it can be used.
fn joins_later(error: StartError) -> Result<(), StartError> {
    match error {
        StartError::WaitsForConfiguration { .. } => Ok(()),
        other => Err(other),
    }
}

impl Running {
    async fn start(&mut self) -> Result<(), StartError> {
        let started = match self {
            Self::Scheduled(job) => job.schedule().await,
            Self::OneOff(job) => job.start().await,
        };
        started.or_else(joins_later)
    }

    async fn shutdown(&mut self, mode: ShutdownMode) {
        match self {
            Self::Scheduled(job) => job.shutdown(mode).await,
            Self::OneOff(job) => job.shutdown(mode).await,
        }
    }
}
