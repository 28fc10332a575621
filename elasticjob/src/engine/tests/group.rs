//! Engines on one tree, driven by hand: every request is answered at once, unless a test says otherwise.

mod edge;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Now;
use crate::config::JobConfiguration;
use crate::engine::{
    Event, Identity, JobEngine, KnownListeners, ListenerCall, ListenerSpec, Notice, RoundId, Start, TriggerAnswer,
};
use crate::fire::{ExecutionSource, Fire, FireState, Hook, ItemEnd};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::layout::JobPath;
use crate::registry::mirror::Watched;
use crate::registry::tree::Tree;
use crate::registry::{CreateMode, SessionId, SessionState, Transaction};
use crate::sharding::ShardingStrategies;

/// Wall clock at time 0: a full ten seconds.
pub(super) const EPOCH: i64 = 1_700_000_000_000;
/// Session time-out: grace is 2 s, the deadline 7 s after the proof.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);
const OPERATOR: SessionId = SessionId(1);

/// The fate of the answer to the next transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lost {
    No,
    AfterItWasApplied,
    BeforeItArrived,
}

pub(super) struct Host {
    pub(super) engine: JobEngine,
    pub(super) session: SessionId,
    pub(super) connected: bool,
    /// It asked while its connection was lost and it did not know: the answer is that of the lost connection.
    asks_for_proof: bool,
    /// Whether its process was killed.
    pub(super) killed: bool,
    pub(super) lost: Lost,
    /// How many transactions are answered before that one.
    pub(super) answered_before: usize,
    /// What was done since the test looked at it last, oldest first.
    pub(super) commits: Vec<String>,
    pub(super) reads: usize,
    pub(super) started: Vec<Start>,
    pub(super) asked_to_stop: Vec<ShardingItem>,
    pub(super) following: Vec<JobName>,
    pub(super) cancelled: Vec<ShardingItem>,
    pub(super) aborted: Vec<ShardingItem>,
    /// Calls of listeners that are not over, oldest first.
    pub(super) calls: Vec<ListenerCall>,
    pub(super) calls_cancelled: Vec<RoundId>,
    pub(super) calls_aborted: Vec<RoundId>,
    pub(super) answers: Vec<TriggerAnswer>,
    pub(super) notices: Vec<Notice>,
    pub(super) stopped: bool,
    /// What it watches, how often it changed that, and how many events it was told.
    pub(super) watches: BTreeSet<Watched>,
    pub(super) watches_changed: usize,
    pub(super) told: usize,
}

impl Host {
    /// Forgets what was done so far.
    pub(super) fn clear(&mut self) {
        self.commits.clear();
        self.reads = 0;
        (self.watches_changed, self.told) = (0, 0);
        self.started.clear();
        self.notices.clear();
        self.answers.clear();
    }
}

pub(super) struct Group {
    pub(super) tree: Tree,
    /// The strategies that instances which join from now on can name.
    pub(super) strategies: Arc<ShardingStrategies>,
    pub(super) hosts: Vec<Host>,
    /// The listeners of all programs.
    pub(super) listeners: Arc<KnownListeners>,
    /// How far the wall clocks of the hosts are ahead of the server's, in milliseconds.
    pub(super) clock_offset: i64,
    /// How far the clocks of the hosts and of the server are ahead of what they were, in milliseconds.
    all_clocks: i64,
    /// The bytes that the namespace adds to each path.
    pub(super) namespace_bytes: usize,
    /// From which weight on a transaction takes no further item, where that is less than usual.
    pub(super) full_from: Option<usize>,
    now: u64,
    sessions: i64,
    events: VecDeque<(usize, Event)>,
}

pub(super) fn job() -> JobName {
    JobName::new("job").unwrap()
}

/// Every five seconds.
pub(super) fn every_five(total: u32) -> JobConfiguration {
    JobConfiguration::builder("job", total).cron("0/5 * * * * ?").build().unwrap()
}

impl Group {
    pub(super) fn new() -> Self {
        let mut tree = Tree::new(100);
        tree.open_session(OPERATOR, Duration::from_secs(1_000));
        let (strategies, listeners) = (Arc::new(ShardingStrategies::built_in()), Arc::new(KnownListeners::added([])));
        let (hosts, events) = (Vec::new(), VecDeque::new());
        Self {
            tree,
            strategies,
            hosts,
            listeners,
            clock_offset: 0,
            all_clocks: 0,
            namespace_bytes: 0,
            full_from: None,
            now: 1_000,
            sessions: 1,
            events,
        }
    }

    /// A group of instances that have registered and shared the items, 1 s before a fire.
    pub(super) fn settled(instances: u32, configuration: &JobConfiguration) -> Self {
        Self::listening(instances, configuration, [])
    }

    /// The same with programs that have these listeners.
    pub(super) fn listening(
        instances: u32,
        configuration: &JobConfiguration,
        listeners: impl IntoIterator<Item = ListenerSpec>,
    ) -> Self {
        let mut group = Self::new();
        group.listeners = Arc::new(KnownListeners::added(listeners));
        for n in 1..=instances {
            group.join(&format!("10.0.0.{n}"), configuration);
        }
        group.run_until(4_000);
        group.hosts.iter_mut().for_each(Host::clear);
        group
    }

    /// Starts process 7 of a host and connects it.
    pub(super) fn join(&mut self, ip: &str, configuration: &JobConfiguration) -> usize {
        let host = self.start(ip, configuration);
        self.connect_anew(host);
        host
    }

    /// Starts process 7 of a host.
    pub(super) fn start(&mut self, ip: &str, configuration: &JobConfiguration) -> usize {
        let instance = InstanceId::of_process(ip, 7);
        let candidate = format!("candidate{}", self.hosts.len());
        let identity = Identity { base: instance.clone(), instance, suffix: 0xab, candidate, nonce: 7 };
        let mut engine = JobEngine::new(identity, Arc::new(configuration.clone()), self.strategies.clone())
            .with_listeners(self.listeners.clone())
            .with_namespace(self.namespace_bytes);
        if let Some(weight) = self.full_from {
            engine = engine.with_full_transactions_from(weight);
        }
        self.hosts.push(Host {
            engine,
            session: SessionId(0),
            connected: false,
            asks_for_proof: false,
            killed: false,
            lost: Lost::No,
            answered_before: 0,
            commits: Vec::new(),
            reads: 0,
            started: Vec::new(),
            asked_to_stop: Vec::new(),
            following: Vec::new(),
            cancelled: Vec::new(),
            aborted: Vec::new(),
            calls: Vec::new(),
            calls_cancelled: Vec::new(),
            calls_aborted: Vec::new(),
            answers: Vec::new(),
            notices: Vec::new(),
            stopped: false,
            watches: BTreeSet::from([Watched::job()]),
            watches_changed: 0,
            told: 0,
        });
        self.hosts.len() - 1
    }

    /// Connects with a new session; the old one, if any, lives on at the server.
    pub(super) fn connect_anew(&mut self, host: usize) {
        self.sessions += 1;
        self.hosts[host].session = SessionId(self.sessions);
        self.tree.open_session(SessionId(self.sessions), TIMEOUT);
        self.connect(host);
    }

    pub(super) fn connect(&mut self, host: usize) {
        self.hosts[host].connected = true;
        let id = self.hosts[host].session;
        self.tell(host, Event::Session(SessionState::Connected { id, timeout: TIMEOUT }));
        for watched in self.hosts[host].watches.clone() {
            self.tell(host, Event::placed(&watched));
        }
    }

    pub(super) fn disconnect(&mut self, host: usize) {
        self.hosts[host].connected = false;
        let id = self.hosts[host].session;
        self.tell(host, Event::Session(SessionState::Suspended { id }));
        if std::mem::take(&mut self.hosts[host].asks_for_proof) {
            self.tell(host, Event::ProofAnswered(None));
        }
    }

    /// The server starts again without data: it knows neither nodes nor sessions. Its transactions go on from before.
    pub(super) fn lose_data(&mut self) {
        self.tree = Tree::new(self.tree.last_zxid());
        self.tree.open_session(OPERATOR, Duration::from_secs(1_000));
        for host in 0..self.hosts.len() {
            self.disconnect(host);
        }
    }

    /// Ends a process and its session at the same moment.
    pub(super) fn kill(&mut self, host: usize) {
        self.hosts[host].killed = true;
        self.hosts[host].connected = false;
        self.expire(self.hosts[host].session);
    }

    /// The server ends a session.
    pub(super) fn expire(&mut self, session: SessionId) {
        let events = self.tree.close_session(session);
        self.publish(&events);
        self.settle_events();
    }

    /// Hands an event to a host and performs everything that follows.
    pub(super) fn tell(&mut self, host: usize, event: Event) {
        self.events.push_back((host, event));
        self.settle_events();
    }

    /// The same, and the answers wait until something else is told.
    pub(super) fn tell_unanswered(&mut self, host: usize, event: Event) {
        let now = self.now();
        self.hosts[host].engine.handle(now, event);
        while let Some(action) = self.hosts[host].engine.poll_action() {
            self.perform(host, action);
        }
    }

    /// Sets the clocks of the hosts and of the server.
    pub(super) fn set_all_clocks(&mut self, offset: i64) {
        self.all_clocks = offset;
    }

    /// The time that the server's clock shows.
    fn server_time(&self) -> i64 {
        EPOCH + self.now as i64 + self.all_clocks
    }

    /// The time that the clocks of the hosts show.
    pub(super) fn now(&self) -> Now {
        let wall = self.server_time() + self.clock_offset;
        Now { wall, mono: Duration::from_millis(self.now) }
    }

    fn settle_events(&mut self) {
        while let Some((host, event)) = self.events.pop_front() {
            if self.hosts[host].killed || self.hosts[host].stopped {
                continue;
            }
            self.tell_unanswered(host, event);
        }
    }

    /// Lets time pass; engines are asked at the times they want to be.
    pub(super) fn run_until(&mut self, end: u64) {
        loop {
            let due = |host: &Host| {
                let timeout = host.engine.poll_timeout();
                let wall = timeout
                    .wall
                    .map(|wall| self.now.max((wall - EPOCH - self.clock_offset - self.all_clocks).max(0) as u64));
                timeout.mono.map(|at| at.as_millis() as u64).into_iter().chain(wall).min()
            };
            let alive = self.hosts.iter().enumerate().filter(|(_, state)| !state.killed && !state.stopped);
            let next = alive.filter_map(|(host, state)| Some((due(state)?, host))).min();
            match next.filter(|(at, _)| *at <= end) {
                Some((at, host)) => {
                    assert!(at >= self.now, "host {host} waits for {at}, which has passed at {}", self.now);
                    self.now = at;
                    self.tell(host, Event::Tick);
                }
                None => break,
            }
        }
        self.now = end;
    }

    /// Lets time pass in which no engine is asked: a thread that comes late, processes that are stopped.
    pub(super) fn sleep_until(&mut self, end: u64) {
        self.now = end;
    }

    pub(super) fn end_items(&mut self, host: usize, items: &[ShardingItem]) {
        for item in items {
            let end = ItemEnd { state: FireState::Succeeded, took: 3, error: None };
            self.tell(host, Event::ItemEnded { item: *item, end });
        }
    }

    /// Ends the oldest call of listeners that is under way, and returns which it was.
    pub(super) fn end_call(&mut self, host: usize) -> (Hook, Vec<String>) {
        let call = self.hosts[host].calls.remove(0);
        self.tell(host, Event::ListenersCalled { round: call.round });
        (call.hook, call.listeners.iter().map(ToString::to_string).collect())
    }

    /// Hosts with a call of listeners under way.
    pub(super) fn callers(&self) -> Vec<usize> {
        (0..self.hosts.len()).filter(|host| !self.hosts[*host].calls.is_empty()).collect()
    }

    pub(super) fn cut_off_items(&mut self, host: usize, items: &[ShardingItem]) {
        for item in items {
            let end = ItemEnd { state: FireState::Cancelled, took: 3, error: None };
            self.tell(host, Event::ItemEnded { item: *item, end });
        }
    }

    /// What a host started: the fire, why, and the items.
    pub(super) fn starts(&self, host: usize) -> Vec<(Fire, ExecutionSource, Vec<ShardingItem>)> {
        let items = |start: &Start| start.items.iter().map(|(item, _)| *item).collect();
        self.hosts[host].started.iter().map(|start| (start.key.fire, start.key.source, items(start))).collect()
    }

    pub(super) fn exists(&self, path: &JobPath) -> bool {
        self.tree.get(&path.absolute(&job())).unwrap().is_some()
    }

    /// The node of a trigger for a host.
    pub(super) fn own_trigger(&self, host: usize) -> String {
        JobPath::Trigger(self.hosts[host].engine.instance().clone()).absolute(&job())
    }

    /// An operator triggers the job on a host. The job was not triggered before.
    pub(super) fn trigger(&mut self, host: usize) {
        let mut trigger = Transaction::new();
        trigger.create(JobPath::Triggers.absolute(&job()), "", CreateMode::Persistent);
        trigger.create(self.own_trigger(host), "", CreateMode::Persistent);
        self.operate(&trigger, false);
    }

    /// Another client writes; hosts hear of it unless it is `unheard`.
    pub(super) fn operate(&mut self, transaction: &Transaction, unheard: bool) {
        let (_, events) = self.tree.commit(OPERATOR, transaction, self.server_time()).unwrap();
        if !unheard {
            self.publish(&events);
            self.tell(0, Event::Tick);
        }
    }

    pub(super) fn set(&mut self, path: &JobPath, data: &str) {
        let mut transaction = Transaction::new();
        transaction.set(path.absolute(&job()), data, None);
        self.operate(&transaction, false);
    }

    /// The owner of each item, as the host's number.
    pub(super) fn owners(&self, total: u32) -> Vec<Option<usize>> {
        let owner = |item| {
            let id = self.text(&JobPath::owner_of(item))?;
            self.hosts.iter().position(|host| host.engine.instance().as_str() == id)
        };
        (0..total).map(owner).collect()
    }

    pub(super) fn text(&self, path: &JobPath) -> Option<String> {
        let node = self.tree.get(&path.absolute(&job())).unwrap()?;
        Some(node.data.text().unwrap().to_owned())
    }
}
