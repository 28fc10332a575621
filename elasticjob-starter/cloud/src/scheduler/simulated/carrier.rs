//! The modelled carrier of one scheduler: between it and its engine requests and answers get lost, and events are missed.

use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use elasticjob::fire::Fire;
use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::testing::rng::Rng;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::engine::Engine;
use super::history::Bug;
use crate::carrier::{
    Answer, Carrier, CarrierError, Daemon, DaemonProcess, ItemStates, Launch, LaunchError, LaunchEvent, LaunchId,
    LaunchStream, Launched, Outcome, Stop,
};
use crate::model::{App, CarriedJob, Problem};

/// Why an engine takes no launch.
pub(super) const REFUSED: &str = "the account has no quota left";

#[derive(Clone)]
pub(super) struct Modelled {
    engine: Engine,
    rng: Arc<Mutex<Rng>>,
    /// The scheduler was killed: its calls come to nothing any more.
    killed: CancellationToken,
    number: i64,
    /// What it was asked to launch.
    asked: Arc<Mutex<BTreeSet<LaunchId>>>,
    /// Its requests to launch something.
    requests: Arc<Mutex<BTreeMap<LaunchId, Requests>>>,
    /// Launches of which it does not know whether they arrived.
    unknown: Arc<Mutex<BTreeSet<LaunchId>>>,
    /// Of what it was asked to stop items.
    stopped: Arc<Mutex<BTreeSet<LaunchId>>>,
    /// Whether its engine refuses some launches.
    refuses: bool,
    bug: Option<Bug>,
}

/// The requests for a launch.
#[derive(Default)]
struct Requests {
    /// How many have no answer.
    open: u32,
    /// When the last answer came.
    answered: Option<Instant>,
    /// Whether one was refused.
    is_refused: bool,
}

impl Modelled {
    pub(super) fn new(engine: Engine, number: i64, seed: u64, refuses: bool, bug: Option<Bug>) -> Self {
        let rng = Arc::new(Mutex::new(Rng::new(seed)));
        Self {
            engine,
            rng,
            killed: CancellationToken::new(),
            number,
            asked: Arc::default(),
            requests: Arc::default(),
            unknown: Arc::default(),
            stopped: Arc::default(),
            refuses,
            bug,
        }
    }

    /// Kills its scheduler.
    pub(super) fn kill(&self) {
        self.killed.cancel();
    }

    fn below(&self, end: u64) -> u64 {
        self.rng.lock().unwrap().below(end)
    }

    /// A way over the network, in either direction.
    async fn travel(&self) {
        let time = Duration::from_millis(self.below(400));
        tokio::select! {
            biased;
            () = sleep(time) => {}
            () = self.killed.cancelled() => pending().await,
        }
    }

    /// The machine of the scheduler may stand still before a request leaves it.
    async fn stand_still(&self) {
        if self.below(20) == 0 {
            let time = Duration::from_millis(self.below(30_000));
            tokio::select! {
                biased;
                () = sleep(time) => {}
                () = self.killed.cancelled() => pending().await,
            }
        }
    }

    /// The id as the engine knows it.
    fn known(&self, id: &LaunchId) -> LaunchId {
        match (self.bug, id.fire) {
            (Some(Bug::HasOtherIdsThanOthers), Fire::Scheduled(at)) => {
                LaunchId { fire: Fire::Scheduled(at + self.number), ..id.clone() }
            }
            _ => id.clone(),
        }
    }

    async fn counted(&self, launch: Launch) -> Result<Launched, LaunchError> {
        let id = launch.id.clone();
        self.requests.lock().unwrap().entry(id.clone()).or_default().open += 1;
        let answer = self.request(launch).await;
        let mut requests = self.requests.lock().unwrap();
        let of_launch = requests.get_mut(&id).unwrap();
        of_launch.open -= 1;
        of_launch.answered = Some(Instant::now());
        of_launch.is_refused |= matches!(answer, Err(LaunchError::Refused { .. }));
        answer
    }

    async fn request(&self, launch: Launch) -> Result<Launched, LaunchError> {
        self.stand_still().await;
        self.asked.lock().unwrap().insert(launch.id.clone());
        let launch = Launch { id: self.known(&launch.id), ..launch };
        self.travel().await;
        if self.engine.is_away() {
            return self.told(Err(LaunchError::NotReached { why: "the engine is away".to_owned() }));
        }
        let id = launch.id.clone();
        let lost = || {
            self.unknown.lock().unwrap().insert(id.clone());
            Err(LaunchError::Unknown { why: "the answer got lost".to_owned() })
        };
        if self.refuses && self.below(30) == 0 {
            return Err(LaunchError::Refused { why: REFUSED.to_owned() });
        }
        let answer = match self.below(8) {
            0 => Err(LaunchError::NotReached { why: "no connection".to_owned() }),
            1 => lost(),
            2 => {
                self.engine.launch(&launch);
                lost()
            }
            3 => {
                // It is on its way, and arrives when no scheduler expects it any more.
                let (engine, time) = (self.engine.clone(), Duration::from_millis(self.below(30_000)));
                tokio::spawn(async move {
                    sleep(time).await;
                    engine.launch(&launch);
                });
                lost()
            }
            _ => Ok(self.engine.launch(&launch)),
        };
        self.travel().await;
        self.told(answer)
    }

    /// What the scheduler is told of an answer.
    fn told(&self, answer: Result<Launched, LaunchError>) -> Result<Launched, LaunchError> {
        match answer {
            Err(LaunchError::Unknown { why }) if self.bug == Some(Bug::GivesUpAfterALostAnswer) => {
                Err(LaunchError::Refused { why })
            }
            Err(LaunchError::NotReached { why }) if self.bug == Some(Bug::HidesThatNothingArrived) => {
                Err(LaunchError::Unknown { why })
            }
            answer => answer,
        }
    }

    /// A question, whose answer may be missing.
    async fn asked<T>(&self, answer: impl Fn() -> T + Send) -> Result<T, CarrierError>
    where
        T: Send,
    {
        self.stand_still().await;
        self.travel().await;
        let answer = match self.engine.is_away() || self.below(6) == 0 {
            true => Err(CarrierError::new("ask the engine", "it does not answer")),
            false => Ok(answer()),
        };
        self.travel().await;
        answer
    }

    async fn ask(&self, id: &LaunchId) -> Result<Option<ItemStates>, CarrierError> {
        match self.asked(|| self.engine.states(&self.known(id))).await {
            Err(_) if self.bug == Some(Bug::TakesAnErrorForALoss) => Ok(None),
            Ok(Some(states)) if self.bug == Some(Bug::ForgetsWhatOthersRun) && !self.has_asked(id) => {
                Ok(Some(states.into_keys().map(|item| (item, Outcome::Succeeded.into())).collect()))
            }
            Ok(Some(states)) if self.bug == Some(Bug::TakesAStopForAnEnd) && self.was_told_to_stop(id) => {
                Ok(Some(states.into_keys().map(|item| (item, Outcome::Stopped.into())).collect()))
            }
            answer => answer,
        }
    }

    fn was_told_to_stop(&self, id: &LaunchId) -> bool {
        self.stopped.lock().unwrap().contains(id)
    }

    /// Whether it knows of each of its requests to launch this whether it arrived.
    pub(super) fn knows_of(&self, id: &LaunchId) -> bool {
        !self.unknown.lock().unwrap().contains(&self.known(id))
    }

    /// Whether a request to launch this was refused. A part of it may have been taken: the scheduler asks, and may hear nothing.
    pub(super) fn has_refused(&self, id: &LaunchId) -> bool {
        self.requests.lock().unwrap().get(id).is_some_and(|of_launch| of_launch.is_refused)
    }

    /// Whether a request to launch this had no answer at this time or was made since.
    pub(super) fn is_on_its_way_since(&self, id: &LaunchId, when: Instant) -> bool {
        let requests = self.requests.lock().unwrap();
        requests
            .get(id)
            .is_some_and(|of_launch| of_launch.open > 0 || of_launch.answered.is_some_and(|answered| answered >= when))
    }

    /// Whether its scheduler was not killed.
    pub(super) fn is_alive(&self) -> bool {
        !self.killed.is_cancelled()
    }

    fn has_asked(&self, id: &LaunchId) -> bool {
        self.asked.lock().unwrap().contains(id)
    }

    /// A request that changes the engine: it or its answer may get lost.
    async fn change(&self, what: &'static str, change: impl Fn() + Send) -> Result<(), CarrierError> {
        self.travel().await;
        let lost = || Err(CarrierError::new(what, "the engine does not answer"));
        let answer = match self.below(6) {
            _ if self.engine.is_away() => lost(),
            0 => lost(),
            1 => {
                change();
                lost()
            }
            _ => {
                change();
                Ok(())
            }
        };
        self.travel().await;
        answer
    }
}

impl Carrier for Modelled {
    fn type_name(&self) -> &str {
        "MODELLED"
    }

    fn check(&self, _: &App, _: &CarriedJob) -> Vec<Problem> {
        Vec::new()
    }

    fn launch(&self, launch: Launch) -> Answer<'_, Launched, LaunchError> {
        Box::pin(self.counted(launch))
    }

    fn stop<'a>(&'a self, id: &'a LaunchId, items: &'a [ShardingItem], stop: Stop) -> Answer<'a, ()> {
        self.stopped.lock().unwrap().insert(id.clone());
        Box::pin(self.change("stop the items", move || self.engine.stop(&self.known(id), items, &stop)))
    }

    fn forget<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, ()> {
        Box::pin(self.change("forget the launch", move || self.engine.forget(&self.known(id))))
    }

    fn states<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, Option<ItemStates>> {
        Box::pin(self.ask(id))
    }

    fn launches(&self) -> Answer<'_, Vec<LaunchId>> {
        Box::pin(self.asked(|| match self.bug {
            Some(Bug::HidesWhatIsNotNoted) => Vec::new(),
            _ => self.engine.ids(),
        }))
    }

    fn watch(&self) -> Box<dyn LaunchStream> {
        Box::new(Lossy { events: self.engine.events().stream(), carrier: self.clone(), owes_gap: None })
    }

    fn keep(&self, _: Daemon) -> Answer<'_, (), LaunchError> {
        Box::pin(async { Ok(()) })
    }

    fn kept<'a>(&'a self, _: &'a JobName) -> Answer<'a, Vec<DaemonProcess>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn log<'a>(&'a self, _: &'a LaunchId, _: ShardingItem, _: usize) -> Answer<'a, Option<String>> {
        Box::pin(async { Ok(None) })
    }
}

/// A stream that misses events, and tells so with a gap some time later.
struct Lossy {
    events: Box<dyn LaunchStream>,
    carrier: Modelled,
    /// When it tells that it missed some. Meanwhile it misses all.
    owes_gap: Option<Instant>,
}

impl LaunchStream for Lossy {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Option<LaunchEvent>> + Send + '_>> {
        Box::pin(async {
            loop {
                let gap = async {
                    match self.owes_gap {
                        Some(at) => tokio::time::sleep_until(at).await,
                        None => pending().await,
                    }
                };
                tokio::select! {
                    biased;
                    () = self.carrier.killed.cancelled() => pending().await,
                    () = gap => {
                        self.owes_gap = None;
                        if self.carrier.bug != Some(Bug::IgnoresGaps) {
                            return Some(LaunchEvent::Gap);
                        }
                    }
                    event = self.events.next() => {
                        let is_missed = self.owes_gap.is_some() || self.carrier.below(8) == 0;
                        if !is_missed {
                            return event;
                        }
                        let after = Duration::from_millis(self.carrier.below(10_000));
                        self.owes_gap.get_or_insert(Instant::now() + after);
                    }
                }
            }
        })
    }
}
