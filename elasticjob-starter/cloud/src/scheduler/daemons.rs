//! `DAEMON` jobs: one of the schedulers has its carrier keep their processes. An ephemeral node says which one.

mod engine_looks;
mod refusals;

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::ident::JobName;
use elasticjob::log::{info, warn};
use elasticjob::registry::{CommitError, CreateMode, Refusal, RegistryCenter, RegistryError, Transaction, Zxid};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use tokio_util::sync::CancellationToken;

use self::engine_looks::{EngineLooks, LOOK};
pub(super) use self::refusals::Refusals;
use super::failing_daemons::Ailing;
use super::nodes::{DAEMONS, Node};
use super::process_notes::Kept;
use super::registrations::{Registered, Registrations};
use super::registry_failure::RegistryFailure;
use crate::carrier::{CarriedCenter, Carrier, Daemon, LaunchError};
use crate::model::{CarriedJob, ExecutionType};

/// The pause before something that failed is tried again.
const AGAIN: Duration = Duration::from_secs(2);

/// Looks after the `DAEMON` jobs.
pub(super) struct Daemons {
    pub(super) ailing: Ailing,
    pub(super) registry: Arc<dyn RegistryCenter>,
    pub(super) carrier: Arc<dyn Carrier>,
    pub(super) kept: Kept,
    pub(super) registrations: watch::Receiver<Registrations>,
    pub(super) ending: CancellationToken,
    /// Whether the processes end with the scheduler, as no other one will look after them.
    pub(super) ends_processes: bool,
    pub(super) owner: Owner,
    /// Where programs find the registry center of the scheduler.
    pub(super) registry_center: Option<CarriedCenter>,
    pub(super) refusals: Refusals,
}

/// Which scheduler looks after a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Owner {
    /// An id that no other scheduler has.
    pub(super) scheduler: String,
    /// The place of its carrier.
    pub(super) place: String,
}

impl Owner {
    /// What the node of a job says that it looks after.
    fn text(&self) -> String {
        serde_json::to_string(self).expect("texts have a JSON form")
    }
}

/// What the carrier was told last of each job.
type Told = BTreeMap<JobName, Wanted>;

/// What a carrier is told of a job.
#[derive(Debug, Clone, PartialEq)]
struct Wanted {
    registered: Registered,
    /// The number of processes; [`UNKNOWN`] where it is not known what the carrier has.
    instances: u32,
    /// The last wish that what runs ends, of those that are obeyed.
    wish: Option<Zxid>,
}

/// Another number than any that is wanted.
const UNKNOWN: u32 = u32::MAX;

impl Daemons {
    pub(super) async fn keep_all(mut self) {
        let mut events = self.registry.watch(DAEMONS);
        let mut told = None;
        let mut looks = EngineLooks::new(self.carrier.clone());
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        'ends: loop {
            let again_at = match self.look(&mut told).await {
                Ok(again_at) => again_at,
                Err(error) => {
                    warn!("DAEMON jobs are looked at again in {} s: {error}", AGAIN.as_secs());
                    Some(Instant::now() + AGAIN)
                }
            };
            let kept = told.iter().flatten().filter(|(_, wanted)| wanted.instances > 0);
            self.ailing.keep(&kept.map(|(name, _)| name.clone()).collect());
            // A look at the engine that finds nothing costs no look at the registry center.
            loop {
                tokio::select! {
                    changed = self.registrations.changed() => if changed.is_err() { break 'ends } else { break },
                    event = poll_fn(|cx| events.poll_next(cx)) => if event.is_none() { break 'ends } else { break },
                    () = self.ending.cancelled() => break 'ends,
                    () = async { sleep_until(again_at.unwrap_or_else(Instant::now)).await }, if again_at.is_some() => break,
                    _ = ticks.tick() => looks.begin(self.told_of(told.as_ref())),
                    missing = looks.end(), if looks.is_under_way() => if forget(told.as_mut(), missing) { break },
                }
            }
        }
        let told = told.unwrap_or_default();
        join_all(told.iter().map(|(name, wanted)| self.leave(name, &wanted.registered))).await;
    }

    /// Leaves a job to another scheduler, or ends its processes where there is none.
    async fn leave(&self, name: &JobName, registered: &Registered) {
        match self.ends_processes {
            true if self.keep(registered, 0).await.is_ok() => drop(self.kept.delete(name).await),
            true => {}
            false => self.carrier.release(name),
        }
        self.disown(name).await;
    }

    /// Looks at all jobs. Returns when to look again, where the carrier did not take everything. The first time also at those of
    /// which an earlier scheduler had something kept here.
    async fn look(&mut self, told: &mut Option<Told>) -> Result<Option<Instant>, RegistryFailure> {
        let all = self.registrations.borrow_and_update().clone();
        let told = match told {
            Some(told) => told,
            None => {
                // The scheduler before this one obeyed the wishes until now.
                let unknown = |known: Registered| {
                    let wish = all.stopped(&known);
                    (known.job.job_name.clone(), Wanted { registered: known, instances: UNKNOWN, wish })
                };
                let earlier = self.kept.all().await?.into_iter();
                told.insert(earlier.map(unknown).collect())
            }
        };
        let daemons = all.jobs.values().filter(|job| job.job_execution_type == ExecutionType::Daemon);
        let wanted: BTreeMap<JobName, Registered> =
            daemons.filter_map(|job| Some((job.job_name.clone(), all.registered(&job.job_name)?))).collect();
        let mut again_at: Option<Instant> = None;
        let mut look_again = |at: Instant| again_at = Some(again_at.map_or(at, |known| known.min(at)));
        for (name, registered) in &wanted {
            match self.owns(name).await? {
                None => {
                    let instances =
                        if all.is_disabled(&registered.job) { 0 } else { registered.job.daemon_instances() };
                    let now = Wanted { registered: registered.clone(), instances, wish: all.stopped(registered) };
                    if let Some(at) = self.refusals.wait(name, &now) {
                        look_again(at);
                    } else if told.get(name) != Some(&now) {
                        self.kept.note(registered).await?;
                        let obeyed = told.get(name).map_or(now.wish, |known| known.wish);
                        // Whatever the answer says, it may be kept from now on.
                        told.insert(name.clone(), Wanted { instances: UNKNOWN, wish: obeyed, ..now.clone() });
                        // What runs ends, also where it would go on with these settings.
                        let is_ending = now.wish > obeyed && !self.are_ended(registered).await;
                        match self.keep(registered, if is_ending { 0 } else { instances }).await {
                            Ok(()) if is_ending => look_again(Instant::now() + AGAIN),
                            Ok(()) => {
                                self.refusals.taken(name);
                                told.insert(name.clone(), now);
                            }
                            Err(error) => look_again(self.refusals.refused(name, &now, error.to_string())),
                        }
                    }
                }
                Some(other) => {
                    self.refusals.forget(name);
                    let Some(Wanted { registered, .. }) = told.get(name).cloned() else { continue };
                    if other.place == self.owner.place {
                        self.carrier.release(name);
                    } else if let Err(error) = self.keep(&registered, 0).await {
                        warn!(job = %name, "the processes of the job go on here, although it runs at {} now: {error}; the \
                            stop is tried again", other.place);
                        look_again(Instant::now() + AGAIN);
                        continue;
                    } else {
                        self.kept.delete(name).await?;
                    }
                    told.remove(name);
                    info!(job = %name, "scheduler {} looks after the processes of the job now", other.scheduler);
                }
            }
        }
        let gone: BTreeSet<JobName> = told.keys().filter(|name| !wanted.contains_key(*name)).cloned().collect();
        for name in gone {
            let Some(Wanted { registered, .. }) = told.get(&name) else { continue };
            // It may have been registered since the registrations were read, or its registration cannot be used.
            if !all.is_disabled(&registered.job) && self.may_be_daemon(&name).await? {
                continue;
            }
            self.refusals.forget(&name);
            match self.keep(registered, 0).await {
                Ok(()) if !self.are_ended(registered).await => look_again(Instant::now() + AGAIN),
                Ok(()) => {
                    self.kept.delete(&name).await?;
                    told.remove(&name);
                    self.disown(&name).await;
                }
                Err(error) => {
                    warn!(job = %name, "the job is not a DAEMON job any more, and its processes go on: {error}; the stop is tried again");
                    look_again(Instant::now() + AGAIN);
                }
            }
        }
        Ok(again_at)
    }

    /// The jobs of which the carrier was told what to keep.
    fn told_of(&self, told: Option<&Told>) -> impl Iterator<Item = (JobName, Wanted, Daemon)> {
        let known = told.into_iter().flatten().filter(|(_, wanted)| wanted.instances != UNKNOWN);
        known.map(|(name, wanted)| (name.clone(), wanted.clone(), self.daemon(&wanted.registered, wanted.instances)))
    }

    async fn keep(&self, registered: &Registered, instances: u32) -> Result<(), LaunchError> {
        self.carrier.keep(self.daemon(registered, instances)).await
    }

    fn daemon(&self, registered: &Registered, instances: u32) -> Daemon {
        let Registered { app, job } = registered.clone();
        Daemon { app, job, instances, registry_center: self.registry_center.clone() }
    }

    /// Whether no process of a job is there any more. A carrier that does not answer may have one.
    async fn are_ended(&self, registered: &Registered) -> bool {
        self.carrier.kept(&registered.job.job_name).await.is_ok_and(|kept| kept.is_empty())
    }

    /// Whether the job is registered as a `DAEMON` job now, as far as its registration can be read.
    async fn may_be_daemon(&self, name: &JobName) -> Result<bool, RegistryError> {
        let Some(node) = self.registry.get(&Node::Job(name.clone()).path()).await? else { return Ok(false) };
        let job = serde_json::from_str::<CarriedJob>(node.data.text().unwrap_or_default());
        Ok(job.map_or(true, |job| job.job_execution_type == ExecutionType::Daemon))
    }

    /// Takes a job that no scheduler has. Returns the other scheduler that has it.
    async fn owns(&self, name: &JobName) -> Result<Option<Owner>, RegistryFailure> {
        let path = path(name);
        let mine = self.owner.text();
        loop {
            if let Some(node) = self.registry.get(&path).await? {
                let owner: Option<Owner> = serde_json::from_str(node.data.text().unwrap_or_default()).ok();
                return Ok(owner.filter(|owner| *owner != self.owner));
            }
            let mut transaction = Transaction::new();
            transaction.create(path.clone(), mine.as_str(), CreateMode::Ephemeral);
            match self.registry.commit(transaction).await {
                Ok(_) => return Ok(None),
                // Another one was faster, or the answer was lost: reading shows it.
                Err(CommitError::Refused { reason: Refusal::NodeExists, .. } | CommitError::Unknown { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Gives a job up that this scheduler has.
    async fn disown(&self, name: &JobName) {
        let path = path(name);
        let node = match self.registry.get(&path).await {
            Ok(Some(node)) if node.data.text() == Some(self.owner.text().as_str()) => node,
            // It ends with the session at the latest.
            _ => return,
        };
        let mut transaction = Transaction::new();
        transaction.delete(path, Some(node.stat.version));
        if let Err(error) = self.registry.commit(transaction).await {
            info!(job = %name, "the lock node of this scheduler for the job could not be deleted yet: {error}");
        }
    }
}

/// Marks these jobs, so that the carrier is asked again to keep their processes. A job of which it was asked for something else in the
/// meantime is left out. Returns whether there was any.
fn forget(told: Option<&mut Told>, missing: Told) -> bool {
    let Some(told) = told else { return false };
    let mut is_forgotten = false;
    for (name, asked) in missing {
        if let Some(wanted) = told.get_mut(&name).filter(|wanted| **wanted == asked) {
            wanted.instances = UNKNOWN;
            is_forgotten = true;
        }
    }
    is_forgotten
}

fn path(name: &JobName) -> String {
    format!("{DAEMONS}/{name}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::App;

    /// A `DAEMON` job with its application.
    pub(super) fn registered() -> Registered {
        let app = json!({ "appName": "a", "appURL": "file:///a", "bootstrapScript": "a" });
        let job = json!({ "jobName": "a", "appName": "a", "jobExecutionType": "DAEMON", "cpuCount": 1, "memoryMB": 1,
                          "shardingTotalCount": 1, "cron": "0 0 3 * * ?" });
        let (app, job) = (App::from_json(app).unwrap(), CarriedJob::from_json(job).unwrap());
        Registered { app: Arc::new(app), job: Arc::new(job) }
    }
}
