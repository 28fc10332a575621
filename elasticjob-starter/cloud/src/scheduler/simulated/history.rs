//! A history: schedulers one after the other run the items of some fires, and what came of it is compared with the truth.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::DateTime;
use elasticjob::api::{
    CancellationToken, Cut, ItemRun, JobClass, JobError, JobResult, Lease, RunInfo, ShardingContext,
};
use elasticjob::fire::{CancelReason, ExecutionSource, Fire, RunKey};
use elasticjob::ident::{InstanceId, ShardingItem};
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use elasticjob::testing::rng::Rng;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use super::carrier::Modelled;
use super::checks::Counts;
use super::engine::{Engine, Life};
use crate::carrier::{LaunchId, LaunchItem};
use crate::model::{App, CarriedJob};
use crate::scheduler::item_states::Hub;
use crate::scheduler::launch_marks::Marks;
use crate::scheduler::launches::Launches;
use crate::scheduler::nodes::{DIRECTORIES, Node};
use crate::scheduler::place_losses::Losses;
use crate::scheduler::registrations::Registered;

const FIRES: i64 = 3;

/// The time of a fire before all others.
const EARLY: i64 = -100_000;

/// More than the launches of a job that are kept.
const FIRES_OF_THE_OTHER: i64 = 14;

/// The most disturbances of a fire. After them everything heals, and the fire has to end.
const DISTURBANCES: u64 = 4;

/// The longest time in milliseconds for which a scheduler goes on after another one has its items.
const LONGEST_BELIEF: u64 = 60_000;

/// How long the engine waits for a run that an operator cancelled.
const DROPPED_AFTER: Duration = Duration::from_secs(5);

/// A fire that has not ended after this never will.
const FOR_EVER: Duration = Duration::from_secs(3_600);

/// What can be wrong: in the scheduler, as its carrier sees or tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bug {
    /// A scheduler does not find the notes of what others launched.
    HasNoNotesOfOthers,
    /// An engine that does not answer is taken for one that knows nothing.
    TakesAnErrorForALoss,
    /// After missed events nothing is read again.
    IgnoresGaps,
    /// A launch whose answer got lost is taken for a failure.
    GivesUpAfterALostAnswer,
    /// Each scheduler has ids of its own.
    HasOtherIdsThanOthers,
    /// A launch of another scheduler is taken for one that has ended, without a look at the notes, and forgotten.
    ForgetsWhatOthersRun,
    /// An item that was asked to end is taken for one that has ended.
    TakesAStopForAnEnd,
    /// Runs have no fencing token.
    HasNoTokens,
    /// What waits at a carrier is started, whether its scheduler still has it or not.
    StartsWhatWasLetGo,
    /// A carrier does not tell which launches it knows.
    HidesWhatIsNotNoted,
    /// A carrier that did not reach its engine says that it does not know whether it did.
    HidesThatNothingArrived,
}

impl Bug {
    pub(super) const ALL: &[Self] = &[
        Self::HasNoNotesOfOthers,
        Self::TakesAnErrorForALoss,
        Self::IgnoresGaps,
        Self::GivesUpAfterALostAnswer,
        Self::HasOtherIdsThanOthers,
        Self::ForgetsWhatOthersRun,
        Self::TakesAStopForAnEnd,
        Self::HasNoTokens,
        Self::StartsWhatWasLetGo,
        Self::HidesWhatIsNotNoted,
        Self::HidesThatNothingArrived,
    ];
}

pub(super) struct History {
    rng: Rng,
    began: Instant,
    bug: Option<Bug>,
    pub(super) registered: Arc<Registered>,
    registry: MemoryRegistry,
    /// The engine of all schedulers, or those of each, as hosts are for processes.
    pub(super) engines: Vec<Engine>,
    pub(super) is_shared: bool,
    /// Whether the registry center ends with its scheduler: then there is only one at a time.
    is_embedded: bool,
    /// Whether the engines refuse some launches.
    refuses: bool,
    schedulers: i64,
    /// How often items were begun: the fencing token of the last ones.
    begins: i64,
    /// What was recorded of each item of each fire, and when.
    pub(super) recorded: BTreeMap<(i64, ShardingItem), Recorded>,
    pub(super) let_go: LetGo,
    /// The fires whose scheduler was killed with its registry center, and when: nothing is recorded of what ran then.
    pub(super) abandoned: BTreeMap<i64, Duration>,
    /// The schedulers that had an item of a fire, by their numbers.
    pub(super) holders: BTreeMap<(i64, ShardingItem), BTreeMap<i64, Holder>>,
}

/// The items that schedulers let go of, and have not got again: by the number of the scheduler and the time of the fire, with when
/// that was.
pub(super) type LetGo = Arc<Mutex<BTreeMap<(i64, i64, ShardingItem), Duration>>>;

/// A scheduler that had an item.
pub(super) struct Holder {
    pub(super) carrier: Modelled,
    /// When it got the item first.
    pub(super) since: Instant,
}

/// What a scheduler said of the end of an item, and when.
pub(super) type Recorded = (Duration, JobResult);

/// A scheduler that lives.
struct Scheduler {
    number: i64,
    carrier: Modelled,
    launches: Launches,
    engine: Engine,
}

/// Items that a scheduler runs.
struct Running {
    ends: JoinSet<(ShardingItem, Recorded)>,
    cancellation: CancellationToken,
    cut: Cut,
    /// What the history notes when its scheduler lets go of it.
    of: Vec<(i64, i64, ShardingItem)>,
    began: Instant,
    let_go: LetGo,
}

impl Running {
    /// Its scheduler lets go of it.
    async fn let_go(&mut self, reason: CancelReason) {
        let when = self.began.elapsed();
        self.let_go.lock().unwrap().extend(self.of.iter().map(|key| (*key, when)));
        self.cut.note(reason);
        self.cancellation.cancel();
        while self.ends.join_next().await.is_some() {}
    }
}

impl History {
    pub(super) fn new(seed: u64, bug: Option<Bug>) -> Self {
        let mut rng = Rng::new(seed);
        let app = json!({ "appName": "work", "appURL": "file:///work.sh", "bootstrapScript": "./work.sh" });
        let job = json!({ "jobName": "work", "appName": "work", "jobExecutionType": "TRANSIENT", "cpuCount": 1, "memoryMB": 1,
                          "shardingTotalCount": rng.between(1, 5), "failover": rng.one_in(2) });
        let (app, job) = (App::from_json(app).unwrap(), CarriedJob::from_json(job).unwrap());
        let is_shared = rng.one_in(2);
        let is_embedded = is_shared && rng.one_in(4);
        Self {
            rng,
            began: Instant::now(),
            bug,
            registered: Arc::new(Registered { app: Arc::new(app), job: Arc::new(job) }),
            registry: MemoryRegistry::new(),
            engines: Vec::new(),
            is_shared,
            is_embedded,
            refuses: true,
            schedulers: 0,
            begins: 0,
            recorded: BTreeMap::new(),
            let_go: LetGo::default(),
            abandoned: BTreeMap::new(),
            holders: BTreeMap::new(),
        }
    }

    /// Plays it to its end, and checks it.
    pub(super) async fn play(mut self) -> Result<Counts, String> {
        let mut scheduler = self.scheduler().await;
        for fire in 0..FIRES {
            scheduler = self.fire(fire * 100_000, scheduler).await?;
        }
        self.check()
    }

    /// Plays a history of two schedulers that live at the same time: one has an item that runs on, as a busy item stays with its
    /// owner, and the other one begins and ends the runs of more fires than are kept.
    pub(super) async fn play_split(mut self) -> Result<Counts, String> {
        (self.is_shared, self.is_embedded, self.refuses) = (true, false, false);
        let busy = self.scheduler().await;
        busy.engine.make_long(0);
        let (first, second) = (BTreeSet::from([0]), BTreeSet::from([1]));
        let mut long = self.begin(&busy, 0, &first, ExecutionSource::NormalTrigger);
        while busy.engine.ids().is_empty() {
            sleep(Duration::from_millis(100)).await;
        }
        // The last launch that is noted of this item has not arrived: it waits where the engine does not see it.
        let mut early = self.begin(&busy, EARLY, &second, ExecutionSource::NormalTrigger);
        self.record(EARLY, &mut early).await?;
        let pending = LaunchId { job: self.registered.job.job_name.clone(), fire: Fire::Scheduled(EARLY) };
        let marks = Marks::new(Arc::new(self.registry.connect()));
        let item = LaunchItem::new(2, Some(self.begins));
        marks.note(&pending, &[item], marks.read(&pending.job).await?).await?;
        let other = self.scheduler().await;
        other.launches.learn().await;
        for fire in 1..=FIRES_OF_THE_OTHER {
            let mut running = self.begin(&other, fire * 100_000, &second, ExecutionSource::NormalTrigger);
            self.record(fire * 100_000, &mut running).await?;
        }
        self.record(0, &mut long).await?;
        if !busy.engine.ids().contains(&pending) {
            return Err(format!("{pending} was forgotten, and an item of it was noted that had not arrived"));
        }
        self.check()
    }

    /// Records the ends of all items that run.
    async fn record(&mut self, at: i64, running: &mut Running) -> Result<(), String> {
        while let Some(end) = timeout(FOR_EVER, running.ends.join_next())
            .await
            .map_err(|_| format!("an item of the fire {at} never ends: {:?}", self.lives(at)))?
        {
            let (item, end) = end.unwrap();
            self.recorded.insert((at, item), end);
        }
        Ok(())
    }

    async fn scheduler(&mut self) -> Scheduler {
        let engine = match (self.is_shared, self.engines.first()) {
            (true, Some(engine)) => engine.clone(),
            _ => {
                let asks_for_permits = !self.is_shared && self.bug != Some(Bug::StartsWhatWasLetGo);
                self.engines.push(Engine::new(self.rng.next_u64(), self.began, asks_for_permits));
                self.engines.last().unwrap().clone()
            }
        };
        self.schedulers += 1;
        // A host starts what it is asked to, or the item fails there: it refuses no launch as a whole.
        let refuses = self.refuses && self.is_shared;
        let carrier = Modelled::new(engine.clone(), self.schedulers, self.rng.next_u64(), refuses, self.bug);
        let shared = Arc::new(carrier.clone());
        let losses = Losses { tracing: None, instance: InstanceId::of_process("10.0.0.1", 7) };
        let hub = Hub::new(shared.clone(), losses);
        if self.is_embedded {
            self.registry = MemoryRegistry::new();
        }
        let registry = match self.bug {
            Some(Bug::HasNoNotesOfOthers | Bug::ForgetsWhatOthersRun) => MemoryRegistry::new(),
            _ => self.registry.clone(),
        };
        let center = registry.connect();
        let registration = Node::Job(self.registered.job.job_name.clone()).path();
        for path in DIRECTORIES.into_iter().chain([registration.as_str()]) {
            let mut transaction = Transaction::new();
            transaction.create(path, "", CreateMode::Persistent);
            // An error says that another scheduler was first.
            let _ = center.commit(transaction).await;
        }
        let marks = Marks::new(Arc::new(center));
        Scheduler {
            number: self.schedulers,
            carrier,
            launches: Launches::new(shared, hub, marks, self.is_embedded),
            engine,
        }
    }

    /// Runs a fire to its end, through disturbances. Returns the scheduler that lives then.
    async fn fire(&mut self, at: i64, mut scheduler: Scheduler) -> Result<Scheduler, String> {
        let mut left: BTreeSet<ShardingItem> = self.registered.job.items().collect();
        let mut source = ExecutionSource::NormalTrigger;
        for _ in 0..self.rng.below(DISTURBANCES) {
            let mut running = self.begin(&scheduler, at, &left, source);
            let until = Instant::now() + Duration::from_millis(self.rng.below(20_000));
            while let Some((item, end)) = tokio::select! {
                biased;
                () = sleep_until(until) => None,
                end = running.ends.join_next() => end.map(|end| end.unwrap()),
            } {
                left.remove(&item);
                self.recorded.insert((at, item), end);
            }
            if left.is_empty() {
                return Ok(scheduler);
            }
            if self.is_embedded && self.rng.one_in(2) {
                // What it ran goes on, and no other scheduler hears of it.
                scheduler.carrier.kill();
                running.ends.abort_all();
                self.abandoned.insert(at, self.began.elapsed());
                return Ok(self.scheduler().await);
            }
            scheduler = self.disturb(scheduler, running).await;
            source = ExecutionSource::Failover;
        }
        let mut running = self.begin(&scheduler, at, &left, source);
        if self.rng.one_in(4) {
            return self.cancel(at, scheduler, running).await;
        }
        self.record(at, &mut running).await?;
        Ok(scheduler)
    }

    /// An operator cancels what runs. Its scheduler may be killed a moment later: another one has the next fire.
    async fn cancel(&mut self, at: i64, scheduler: Scheduler, mut running: Running) -> Result<Scheduler, String> {
        sleep(Duration::from_millis(self.rng.below(10_000))).await;
        running.cut.note(CancelReason::Operator);
        running.cancellation.cancel();
        let until = Instant::now() + DROPPED_AFTER;
        while let Ok(Some(end)) = timeout_at(until, running.ends.join_next()).await {
            let (item, end) = end.unwrap();
            self.recorded.insert((at, item), end);
        }
        running.ends.abort_all();
        for item in self.registered.job.items() {
            let dropped = || (self.began.elapsed(), Err(JobError::message("it was stopped: it did not end in time")));
            self.recorded.entry((at, item)).or_insert_with(dropped);
        }
        if self.rng.one_in(2) {
            scheduler.carrier.kill();
            return Ok(self.scheduler().await);
        }
        Ok(scheduler)
    }

    /// Something happens to the scheduler or its engine. Returns the scheduler that has the items then.
    async fn disturb(&mut self, scheduler: Scheduler, mut running: Running) -> Scheduler {
        let is_away = self.rng.one_in(3);
        if is_away {
            scheduler.engine.leave(Duration::from_millis(self.rng.below(120_000)));
        }
        match self.rng.below(4) {
            _ if self.is_embedded => {
                running.let_go(CancelReason::SessionUnproven).await;
                scheduler
            }
            // Killed: whatever it was about to do comes to nothing.
            0 => {
                scheduler.carrier.kill();
                running.ends.abort_all();
                self.scheduler().await
            }
            // It lost its session, or leaves: it lets go.
            1 => {
                running.let_go(self.rng.pick(&[CancelReason::SessionUnproven, CancelReason::Shutdown])).await;
                self.scheduler().await
            }
            // It lost its session and does not know yet: for a while two believe that the items are theirs.
            2 => {
                let believes = Duration::from_millis(self.rng.below(LONGEST_BELIEF));
                tokio::spawn(async move {
                    sleep(believes).await;
                    running.let_go(CancelReason::SessionUnproven).await;
                });
                self.scheduler().await
            }
            // The same one gets its items back.
            _ => {
                running.let_go(CancelReason::SessionUnproven).await;
                scheduler
            }
        }
    }

    fn begin(
        &mut self,
        scheduler: &Scheduler,
        at: i64,
        items: &BTreeSet<ShardingItem>,
        source: ExecutionSource,
    ) -> Running {
        self.begins += 1;
        let (cancellation, cut) = (CancellationToken::new(), Cut::default());
        let key = RunKey::new(Fire::Scheduled(at), source);
        let instance: InstanceId = format!("10.0.0.{}@-@1", self.schedulers).parse().unwrap();
        let configuration = Arc::new(self.registered.job.configuration());
        let scheduled_at = DateTime::from_timestamp_millis(at).unwrap().fixed_offset();
        let run = RunInfo::new(key, configuration, instance, items.iter().copied().collect(), scheduled_at);
        let run = Arc::new(run);
        let mut ends = JoinSet::new();
        for item in items.iter().copied() {
            let context = ShardingContext::new(ItemRun {
                run: run.clone(),
                item,
                fencing_token: Some(self.begins).filter(|_| self.bug != Some(Bug::HasNoTokens)),
                attempt: 1,
                stop: cancellation.child_token(),
                cancellation: cancellation.clone(),
                cut: cut.clone(),
                lease: Lease::default(),
            });
            let (launches, registered) = (scheduler.launches.clone(), self.registered.clone());
            let began = self.began;
            ends.spawn(async move {
                let end = launches.process(&registered, context).await;
                (item, (began.elapsed(), end))
            });
        }
        for item in items {
            let holder = || Holder { carrier: scheduler.carrier.clone(), since: Instant::now() };
            self.holders.entry((at, *item)).or_default().entry(scheduler.number).or_insert_with(holder);
        }
        let of: Vec<_> = items.iter().map(|item| (scheduler.number, at, *item)).collect();
        self.let_go.lock().unwrap().retain(|key, _| !of.contains(key));
        Running { ends, cancellation, cut, of, began: self.began, let_go: self.let_go.clone() }
    }

    pub(super) fn lives(&self, at: i64) -> Vec<(ShardingItem, Life)> {
        let all = self.engines.iter().flat_map(Engine::lives);
        // A bug may have made the ids of a fire differ by the number of the scheduler.
        let of_fire = all.filter(|(id, ..)| (at..at + 100_000).contains(&id.fire.at()));
        of_fire.map(|(_, item, life)| (item, life)).collect()
    }
}
