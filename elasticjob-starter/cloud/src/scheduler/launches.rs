//! Runs the items of carried jobs: launches those of a fire together, waits for their ends, or lets go of them.

mod not_given;
mod preparing;
mod stopping;

use std::collections::HashMap;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use elasticjob::api::{JobClass, JobError, JobResult, ShardingContext};
use elasticjob::fire::CancelReason;
use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::log::{info, warn};
use tokio::sync::watch;
use tokio::time::sleep;

use super::earlier_runs::Formers;
use super::ends::{Ends, Open};
use super::item_states::Hub;
use super::launch_marks::Marks;
use super::registrations::Registered;
use super::time_limits::outcome_within;
use crate::carrier::{
    Carrier, CarrierError, ItemState, ItemStates, Launch, LaunchError, LaunchId, LaunchItem, Outcome, Permit, Stop,
    StopCause,
};
use not_given::NotGiven;
use stopping::Cut;

/// How long the first item of a fire waits for the others that began with it. They are there at once, unless one was cut off
/// before it started.
const TOGETHER: Duration = Duration::from_millis(200);
/// The pauses between requests that did not reach the engine.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How many launches of a job are kept, with their logs.
const KEPT: usize = 10;

/// The kind of jobs whose items are carried. Cheap to clone.
#[derive(Clone)]
pub(super) struct Launches(Arc<Shared>);

struct Shared {
    carrier: Arc<dyn Carrier>,
    hub: Hub,
    marks: Marks,
    /// Whether the registry center ends with its process, and the notes with it.
    loses_notes: bool,
    formers: Formers,
    not_given: NotGiven,
    groups: Mutex<HashMap<GroupKey, Arc<Group>>>,
    /// The launches of each job that the carrier keeps, the oldest first.
    kept: Mutex<HashMap<JobName, Vec<LaunchId>>>,
}

/// A launch, and the items of the run that it is for.
type GroupKey = (LaunchId, Vec<ShardingItem>);

/// Items that are launched together.
struct Group {
    items: watch::Sender<Vec<LaunchItem>>,
    /// Whether nothing of it is left to launch.
    is_done: watch::Sender<bool>,
}

impl JobClass for Launches {
    type Job = Registered;

    async fn process(&self, registered: &Registered, context: ShardingContext) -> JobResult {
        let id = LaunchId { job: context.job_name().clone(), fire: context.fire() };
        let item = context.sharding_item();
        let mut following = self.0.hub.follow(&id, item);
        let permit = permit(&context);
        // What was not started by the end of the run is for the next scheduler to start.
        let withdrawn = permit.withdraw_on_drop();
        let mut launched = self.join(&id, registered, &context, permit);
        // What has ended, or is known to be lost, need not wait until the others of its launch are accepted.
        let ended = async {
            let left_alone = async {
                let is_done = launched.wait_for(|is_done| *is_done).await.is_ok();
                match is_done {
                    true => pending().await,
                    false => Outcome::Failed { exit: None, text: "the scheduler is ending".to_owned() },
                }
            };
            let limit = registered.job.time_limit();
            let stop = || {
                let milliseconds = u64::try_from(limit.unwrap_or_default().as_millis()).unwrap_or(u64::MAX);
                let cause = StopCause::TimeLimit { milliseconds };
                drop(self.0.formers.stop(&id, item, Stop::new(registered.job.grace(), cause)));
            };
            let cause = || self.0.formers.cause(&id, item);
            let outcome = tokio::select! {
                biased;
                outcome = outcome_within(&mut following, limit, stop, cause) => outcome,
                outcome = left_alone => return outcome,
            };
            // What was lost may go on where it is not seen. What has ended is there, also where the answer to its launch is not.
            if !matches!(outcome, Outcome::Lost { .. }) {
                self.0.formers.saw_end(&id, item);
                self.keep(id.clone());
            }
            outcome
        };
        tokio::select! {
            biased;
            outcome = ended => of_job(outcome),
            () = context.cancelled() => {
                let launch = Cut { withdrawn, launched, fencing_token: context.fencing_token() };
                self.cut(registered, &id, item, context.cut_reason(), &mut following, launch).await
            }
        }
    }
}

fn of_job(outcome: Outcome) -> JobResult {
    match outcome {
        Outcome::Succeeded => Ok(()),
        other => Err(JobError::message(other.to_string())),
    }
}

/// Whether another scheduler may take over what is cut off for this reason. Any other one is the wish that it ends.
fn lets_go(reason: CancelReason) -> bool {
    matches!(reason, CancelReason::SessionUnproven | CancelReason::ClockLeapt | CancelReason::Shutdown)
}

/// A permit to start the item of a run, as long as this scheduler has it. It looks at the clocks itself: a process that was frozen
/// hears of the end of its session only some time after it goes on.
fn permit(context: &ShardingContext) -> Permit {
    let context = context.clone();
    Permit::new(move || {
        context.is_session_proven() && !(context.is_cancelled() && context.cut_reason().is_none_or(lets_go))
    })
}

impl Launches {
    pub(super) fn new(carrier: Arc<dyn Carrier>, hub: Hub, marks: Marks, loses_notes: bool) -> Self {
        let formers = Formers::new(carrier.clone(), hub.clone());
        Self(Arc::new(Shared {
            carrier,
            hub,
            marks,
            loses_notes,
            formers,
            not_given: NotGiven::default(),
            groups: Mutex::default(),
            kept: Mutex::default(),
        }))
    }

    /// Joins the items of the run that are launched together. The receiver tells when nothing is left to launch.
    fn join(
        &self,
        id: &LaunchId,
        registered: &Registered,
        context: &ShardingContext,
        permit: Permit,
    ) -> watch::Receiver<bool> {
        let run = context.run();
        let item = LaunchItem { permit, ..LaunchItem::new(context.sharding_item(), context.fencing_token()) };
        let key = (id.clone(), run.items.clone());
        let mut groups = self.0.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_first = false;
        let group = groups.entry(key.clone()).or_insert_with(|| {
            is_first = true;
            Arc::new(Group { items: watch::Sender::new(Vec::new()), is_done: watch::Sender::new(false) })
        });
        group.items.send_modify(|items| items.push(item));
        let (group, is_done) = (group.clone(), group.is_done.subscribe());
        drop(groups);
        if is_first {
            let mut launch = Launch::new(id.clone(), Vec::new(), registered.app.clone(), registered.job.clone());
            launch.source = context.source();
            launch.scheduled_at = context.scheduled_at().to_rfc3339();
            launch.task_id = context.task_id().to_string();
            tokio::spawn(self.clone().launch(key, group, launch));
        }
        is_done
    }

    /// Launches a group when all of its items are there.
    async fn launch(self, key: GroupKey, group: Arc<Group>, mut launch: Launch) {
        let mut items = group.items.subscribe();
        let all = items.wait_for(|items| items.len() >= key.1.len());
        // Items that come later make a group of their own.
        let _ = tokio::time::timeout(TOGETHER, all).await;
        self.0.groups.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        launch.items = group.items.borrow().clone();
        launch.items.sort_unstable_by_key(|item| item.item);
        tokio::select! {
            biased;
            () = self.attempt(launch) => drop(group.is_done.send_replace(true)),
            // All of them were cut off.
            () = group.is_done.closed() => {}
        }
    }

    /// Launches items until the engine has answered.
    async fn attempt(&self, mut launch: Launch) {
        let id = launch.id.clone();
        let mut pause = FIRST_PAUSE;
        let mut is_noted = false;
        loop {
            let mut wanted = Vec::new();
            let tried = match self.ready(&mut launch, &mut is_noted).await {
                Err(why) => Err(LaunchError::NotReached { why }),
                Ok(()) => {
                    wanted = launch.items.clone();
                    self.give(&mut launch).await
                }
            };
            let failed = match tried {
                Ok(taken) => {
                    wanted.retain(|wanted| !taken.contains(&wanted.item));
                    if !taken.is_empty() {
                        self.accepted(id.clone(), &Vec::from_iter(taken)).await;
                    }
                    // Their runs are cut off, and may be begun again. Or their session was not proven for a moment, and they go on.
                    wanted.retain(|wanted| self.0.hub.follows_item(&id, wanted.item));
                    if wanted.is_empty() {
                        return;
                    }
                    launch.items = wanted;
                    None
                }
                Err(refusal @ LaunchError::Refused { .. }) => match self.0.carrier.states(&id).await {
                    Ok(known) => return self.refused(&launch, &known.unwrap_or_default(), &refusal).await,
                    Err(error) => Some(LaunchError::NotReached { why: error.to_string() }),
                },
                Err(error) => Some(error),
            };
            if let Some(error) = failed {
                self.0.hub.not_taken(&id, launch.items.iter().map(|item| item.item), &error.to_string());
                warn!("{id}: {error}; it is tried again in {} ms", pause.as_millis());
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// The engine has these items of a launch.
    async fn accepted(&self, id: LaunchId, items: &[ShardingItem]) {
        self.0.hub.accepted(&id, items).await;
        self.keep(id);
    }

    /// The engine refused a launch. It may have items of it by an earlier request, or of a scheduler that had them before: those go
    /// on, and the others have failed.
    async fn refused(&self, launch: &Launch, known: &ItemStates, why: &LaunchError) {
        let items = launch.items.iter().map(|item| item.item);
        let (known, refused): (Vec<_>, Vec<_>) =
            items.partition(|item| known.get(item).is_some_and(|state| *state != ItemState::LetGo));
        for item in refused {
            self.0.hub.settle(&launch.id, item, Outcome::Failed { exit: None, text: why.to_string() });
        }
        if !known.is_empty() {
            self.accepted(launch.id.clone(), &known).await;
        }
    }

    /// Learns what the carrier keeps from earlier schedulers. A carrier that does not answer is asked again until it does. No
    /// launch waits for that: only the old ones stay, with their logs, until they are known.
    pub(super) async fn learn(&self) {
        let mut pause = FIRST_PAUSE;
        let mut was_refused = false;
        let ids = loop {
            match self.0.carrier.launches().await {
                Ok(ids) => break ids,
                Err(error) if !was_refused => {
                    was_refused = true;
                    warn!(
                        "{error}: launches of earlier schedulers are not known yet, and stay with their logs; the carrier is \
                         asked again until it answers"
                    );
                }
                Err(_) => {}
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        };
        if was_refused {
            info!("{} launches of earlier schedulers are known now", ids.len());
        }
        let mut kept = self.lock_kept();
        for id in ids {
            let of_job = kept.entry(id.job.clone()).or_default();
            if !of_job.contains(&id) {
                of_job.push(id);
            }
        }
        kept.values_mut().for_each(|ids| ids.sort_unstable_by_key(|id| id.fire.at()));
    }

    /// What the items of a launch wait for that this scheduler has begun and whose process is not known to run: at the carrier, and
    /// here before it gets them.
    pub(super) fn waiting(&self, id: &LaunchId) -> ItemStates {
        let mut waiting = self.0.hub.waiting(id);
        waiting.extend(self.0.formers.waiting(id));
        waiting
    }

    /// Whether no other place than that of this carrier has run a job. Where that cannot be read, another one may have.
    pub(super) async fn is_only_here(&self, job: &JobName) -> bool {
        self.0.marks.is_only_at(job, &self.0.carrier.place()).await.unwrap_or(false)
    }

    /// Follows the ends of launches.
    pub(super) fn ends(&self) -> Ends {
        Ends::of(&*self.0.carrier)
    }

    /// Forgets the launches of a job that is removed, but for those of which something still runs. Returns the items that still run.
    ///
    /// # Errors
    /// [`CarrierError`] when the engine did not answer.
    pub(super) async fn forget_all(&self, job: &JobName) -> Result<Open, CarrierError> {
        self.answered(job).await?;
        let carrier = &self.0.carrier;
        let mut open = Open::new();
        for id in carrier.launches_of(job).await? {
            let running = self.running(&id).await?;
            if running.is_empty() {
                carrier.forget(&id).await?;
            }
            open.extend(running.into_iter().map(|item| (id.clone(), item)));
        }
        // What still runs may be left to a job of the same name: then it is forgotten with the launches of that one.
        if let Some(ids) = self.lock_kept().get_mut(job) {
            ids.retain(|id| open.iter().any(|(of, _)| of == id));
        }
        if open.is_empty() {
            self.lock_kept().remove(job);
            self.0.formers.forget(job);
            self.0.not_given.forget(job);
        }
        Ok(open)
    }

    /// Keeps a launch, and forgets the oldest ones of its job.
    fn keep(&self, id: LaunchId) {
        let mut kept = self.lock_kept();
        let ids = kept.entry(id.job.clone()).or_default();
        if !ids.contains(&id) {
            ids.push(id);
        }
        let surplus = ids.len().saturating_sub(KEPT);
        let old: Vec<LaunchId> = ids.iter().take(surplus).filter(|id| !self.0.hub.follows(id)).cloned().collect();
        drop(kept);
        if !old.is_empty() {
            tokio::spawn(self.clone().forget(old));
        }
    }

    /// Forgets launches of which nothing waits or runs. Another scheduler may have an item of a launch that this one does not
    /// follow: a busy item stays with its owner when the others move. What is not forgotten now is looked at again with the
    /// next launch of the job.
    async fn forget(self, old: Vec<LaunchId>) {
        let carrier = &self.0.carrier;
        for id in old {
            let forgotten = match self.is_over(&id).await {
                Ok(true) => carrier.forget(&id).await.map_err(|error| error.to_string()),
                Ok(false) => continue,
                Err(error) => Err(error),
            };
            match forgotten {
                Ok(()) => {
                    if let Some(ids) = self.lock_kept().get_mut(&id.job) {
                        ids.retain(|kept| *kept != id);
                    }
                }
                Err(error) => warn!(
                    "the launch {id} is not removed yet: {error}; it is tried again with the next launch of the job"
                ),
            }
        }
    }

    /// Whether every item of a launch has ended, and was launched for another fire since: only then its end is recorded. A
    /// scheduler that took the item over a moment ago asks the carrier for it.
    async fn is_over(&self, id: &LaunchId) -> Result<bool, String> {
        if self.0.marks.read(&id.job).await?.has_any_of(id) {
            return Ok(false);
        }
        let states = self.0.carrier.states(id).await.map_err(|error| error.to_string())?.unwrap_or_default();
        Ok(!states.values().any(ItemState::is_open))
    }

    fn lock_kept(&self) -> MutexGuard<'_, HashMap<JobName, Vec<LaunchId>>> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The items of a launch that have not ended.
    async fn running(&self, id: &LaunchId) -> Result<Vec<ShardingItem>, CarrierError> {
        let states = self.0.carrier.states(id).await?.unwrap_or_default();
        Ok(states.into_iter().filter(|(_, state)| state.is_open()).map(|(item, _)| item).collect())
    }
}
