//! The machine: events in, actions out.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::action::{Action, TriggerAnswer};
use super::calendar::Calendar;
use super::clock::ClockCheck;
use super::event::{Event, ItemEnd, Now};
use super::fire::{Attempt, ExecutionSource, Fire, FireState};
use super::foreign::ForeignNodes;
use super::given_up::GivenUp;
use super::left::LeftRun;
use super::listener_round::RoundId;
use super::listeners::{KnownListeners, ListenerPlan};
use super::notice::{Notice, SkipReason};
use super::once_calls::SettledClaim;
use super::pending_triggers::PendingTrigger;
use super::planted::{Bug, DEAF, Planted};
use super::proposal::{Proposal, Purpose, Write};
use super::retry::Retry;
use super::rules::{IdleServers, Noted, RULES, Reminder, Step, Unresolved};
use super::run_state::{OpenFire, Runs, Stage};
use super::session::{Session, SessionChange};
use super::status::Skip;
use super::strategy::ShardingStrategies;
use super::takeover::Losses;
use crate::config::wire::QUICKLY_READ;
use crate::config::{BoundOptions, ConfigurationCheck, JobConfiguration, room};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::mirror::{Lookup, Mirror};
use crate::registry::path::JobPath;
use crate::registry::{Data, SessionId, SessionState, WatchEvent};

/// The identity of this engine.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The id to register under.
    pub base: InstanceId,
    /// The id in use: the base, or the base with a suffix where that was taken.
    pub instance: InstanceId,
    /// Appended to the id when it is taken.
    pub suffix: u16,
    /// Makes the name of the candidate node unique: a random UUID.
    pub candidate: String,
    /// Tells the attempts of this engine from those of others in the same session: a random number.
    pub nonce: u32,
}

impl Identity {
    /// The prefix of the names of its candidate nodes.
    pub(super) fn candidate_prefix(&self) -> String {
        format!("_c_{}-latch-", self.candidate)
    }
}

/// The coordination of one job on one instance.
#[derive(Debug)]
pub struct JobEngine {
    pub(super) job: JobName,
    pub(super) identity: Identity,
    /// The configuration of the program.
    pub(super) local: Arc<JobConfiguration>,
    /// The strategies that a configuration can name.
    pub(super) strategies: Arc<ShardingStrategies>,
    pub(super) check: ConfigurationCheck,
    /// The options that the registry does not decide alone.
    pub(super) bound: Arc<[BoundOptions]>,
    /// The configuration in force, and the data it was read from.
    pub(super) configuration: Option<Arc<JobConfiguration>>,
    pub(super) configuration_data: Option<Data>,
    pub(super) phase: Phase,
    pub(super) session: Session,
    pub(super) mirror: Mirror,
    pub(super) membership: Membership,
    pub(super) leadership: Option<Leadership>,
    pub(super) reminder: Reminder,
    /// When this instance sweeps up what its leader left behind.
    pub(super) unswept: Option<Duration>,
    /// When the leader looks at everything again.
    pub(super) reconcile_at: Option<Duration>,
    pub(super) calendar: Calendar,
    /// Boxed, as most of the time there is none.
    pub(super) open: Option<Box<OpenFire>>,
    /// The last scheduled fire while another fire is open: it stays due for items that come here. Or the manual trigger
    /// that took its place for a moment, while the scheduled fire is open again.
    pub(super) standing: Option<Box<OpenFire>>,
    /// Since when the schedule in force is followed, by the server's clock in milliseconds since 1970.
    pub(super) follows_since: Option<i64>,
    /// Fires that were given up here.
    pub(super) given_up: GivenUp,
    pub(super) runs: Runs,
    /// The live instances at a watch gap during a run, until all nodes are listed again.
    pub(super) instances_before_gap: Option<Vec<InstanceId>>,
    /// The latest scheduled fire that fell into a run, until it is known which items missed it.
    pub(super) missed: Option<i64>,
    /// The latest fire that single items missed, until the registry knows it or it is made up for.
    pub(super) missed_items: BTreeMap<ShardingItem, i64>,
    /// The latest missed fire, until another fire comes. Boxed, as most of the time there is none.
    pub(super) noted: Option<Box<Noted>>,
    pub(super) losses: Losses,
    /// The nodes below a node that could not be deleted. Boxed, as most of the time there is nothing.
    pub(super) foreign: Option<Box<ForeignNodes>>,
    /// Nodes that stay because the nodes below them cannot be deleted.
    pub(super) obstructed: BTreeSet<JobPath>,
    /// Runs that go on because they could not be stopped: the node of their session has to say so.
    pub(super) abandoned: Vec<LeftRun>,
    /// Whether the engine left without an answer of the registry center to its leaving.
    pub(super) gave_up: bool,
    /// A begin of which it is not known whether it went through. Boxed, as most of the time there is none.
    pub(super) unresolved: Option<Box<Unresolved>>,
    /// Manual triggers that were asked for here and are not written yet.
    pub(super) triggers: Vec<PendingTrigger>,
    /// The listeners of the program, and those of the configuration in force.
    pub(super) listeners: Arc<KnownListeners>,
    pub(super) plan: Option<ListenerPlan>,
    /// The id of the last listener round that began.
    pub(super) rounds: RoundId,
    /// Claims of this instance whose calls are over, or will not be made.
    pub(super) settled: Vec<SettledClaim>,
    /// Scheduled fires that are over here.
    pub(super) fires: u64,
    /// For the status: the last skip, the own items as this instance saw them last, why the registry center did not do
    /// what was asked, why its configuration is not in force, and which of its values are not in force.
    pub(super) last_skip: Option<Arc<Skip>>,
    pub(super) own_items_seen: Vec<ShardingItem>,
    pub(super) trouble: Option<Arc<str>>,
    pub(super) refused_configuration: Option<Arc<str>>,
    pub(super) refused_values: Option<Arc<str>>,
    pub(super) clock: ClockCheck,
    pub(super) planted: Planted,
    /// Boxed, as most of the time there is none.
    write: Option<Box<Write>>,
    /// When this engine was asked last: it has looked at the timers up to then.
    pub(super) seen: Option<Now>,
    pub(super) retry: Retry,
    attempts: u64,
    /// The differences that were reported last: once, however often the engine tries to register.
    told_differences: Vec<String>,
    wishes: RefCell<BTreeSet<JobPath>>,
    actions: VecDeque<Action>,
}

/// Where the life of the engine stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Not registered yet.
    Joining,
    /// Takes part.
    Active,
    /// Runs end, then the instance is deleted.
    Leaving {
        /// When running items are cut off.
        cut_at: Duration,
        /// When it leaves without the registry's answer; set once nothing executes any more.
        give_up_at: Option<Duration>,
    },
    /// Over.
    Stopped,
}

/// The registration of this engine, as it knows it.
#[derive(Debug, Default)]
pub(super) struct Membership {
    /// The session in which the instance was registered last.
    pub(super) session: Option<SessionId>,
    /// The sessions of this engine. Nodes of the earlier ones are left over, and the engine replaces them.
    pub(super) own_sessions: Vec<SessionId>,
    /// The time that the clock of this host showed when the instance was about to register for the first time.
    pub(super) joining_since: Option<i64>,
    /// An earlier engine of the process was in the group: the program does not start, only the coordination starts
    /// again, so the settings of the program overwrite nothing.
    pub(super) is_back: bool,
    /// Since when the registry has had the schedule, by the server's clock; set where the schedule was in the registry
    /// before the registration wrote the configuration.
    pub(super) schedule_since: Option<i64>,
    /// The configuration in the registry was written with the registration.
    pub(super) wrote_configuration: bool,
    /// A read confirmed in the live session that the instance is gone: an operator deleted it.
    pub(super) removal_confirmed: bool,
}

impl Membership {
    /// Whether an ephemeral node is of one of the sessions of this engine.
    pub(super) fn is_own(&self, owner: Option<SessionId>) -> bool {
        owner.is_some_and(|owner| self.own_sessions.contains(&owner))
    }
}

/// The state that an instance keeps while it leads.
#[derive(Debug, Default)]
pub(super) struct Leadership {
    /// The basis from which the last sharding was computed.
    pub(super) basis: Option<Basis>,
    /// Items that kept their owner because they were busy.
    pub(super) pinned: BTreeSet<ShardingItem>,
    pub(super) idle_servers: IdleServers,
}

/// The values that an assignment depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Basis {
    pub(super) instances: Vec<InstanceId>,
    pub(super) total: u32,
    pub(super) strategy: String,
}

impl JobEngine {
    /// An engine that has not heard anything yet.
    pub fn new(identity: Identity, local: Arc<JobConfiguration>, strategies: Arc<ShardingStrategies>) -> Self {
        let job = local.job_name().clone();
        // The end of a call that an earlier engine made may still be reported to this one: the ids of their rounds
        // differ.
        let rounds = RoundId::from(identity.nonce) << 32;
        Self {
            mirror: Mirror::new(job.clone()),
            job,
            identity,
            local,
            strategies,
            check: ConfigurationCheck::default(),
            bound: Arc::default(),
            configuration: None,
            configuration_data: None,
            phase: Phase::Joining,
            session: Session::new(),
            membership: Membership::default(),
            leadership: None,
            reminder: Reminder::default(),
            unswept: None,
            reconcile_at: None,
            calendar: Calendar::default(),
            open: None,
            standing: None,
            follows_since: None,
            given_up: GivenUp::default(),
            runs: Runs::default(),
            instances_before_gap: None,
            missed: None,
            missed_items: BTreeMap::new(),
            noted: None,
            losses: Losses::default(),
            foreign: None,
            obstructed: BTreeSet::new(),
            abandoned: Vec::new(),
            gave_up: false,
            unresolved: None,
            triggers: Vec::new(),
            listeners: Arc::new(KnownListeners::new("listener")),
            plan: None,
            rounds,
            settled: Vec::new(),
            fires: 0,
            last_skip: None,
            own_items_seen: Vec::new(),
            trouble: None,
            refused_configuration: None,
            refused_values: None,
            clock: ClockCheck::default(),
            planted: Planted::default(),
            write: None,
            seen: None,
            retry: Retry::default(),
            attempts: 0,
            told_differences: Vec::new(),
            wishes: RefCell::new(BTreeSet::new()),
            actions: VecDeque::new(),
        }
    }

    /// The engine of a program that has these listeners.
    #[must_use]
    pub fn with_listeners(mut self, listeners: Arc<KnownListeners>) -> Self {
        self.listeners = listeners;
        self
    }

    /// The engine of a program that has limits: it refuses a configuration of the registry that asks for more.
    #[must_use]
    pub fn with_check(mut self, check: ConfigurationCheck) -> Self {
        self.check = check;
        self
    }

    /// The engine of a program that has options which the registry does not decide alone.
    #[must_use]
    pub fn with_bound_options(mut self, bound: Arc<[BoundOptions]>) -> Self {
        self.bound = bound;
        self
    }

    /// The engine of a job in a namespace that makes each path longer by `bytes`.
    #[must_use]
    pub fn with_namespace(mut self, bytes: usize) -> Self {
        self.check = self.check.and(&room::check(bytes));
        self.mirror.count_namespace(bytes);
        self
    }

    /// Plants a bug, to see that the simulator finds it.
    #[cfg(feature = "testing")]
    pub fn plant(&mut self, bug: Bug) {
        self.planted.plant(bug);
        self.session.planted = self.planted;
    }

    /// The configuration of the program.
    pub fn local_configuration(&self) -> &Arc<JobConfiguration> {
        &self.local
    }

    /// The configuration in force, `None` before there is one.
    pub fn configuration(&self) -> Option<&Arc<JobConfiguration>> {
        self.configuration.as_ref()
    }

    /// The session that this instance is or was registered in last.
    #[cfg(feature = "testing")]
    pub fn registered_in(&self) -> Option<SessionId> {
        self.membership.session
    }

    /// Whether a run that began here is not over, also where it waits for listeners or for the write of its end.
    #[cfg(feature = "testing")]
    pub fn is_busy(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Takes an event and decides what to do; the actions are polled afterwards.
    pub fn handle(&mut self, now: Now, event: Event) {
        if self.phase == Phase::Stopped {
            self.note(now, event);
            return;
        }
        // Every transaction of the process brings a proof; nothing but a begin waits for one.
        if let Event::Proven { session, at } = event
            && self.open.as_ref().is_none_or(|open| open.looked)
            && self.unresolved.is_none()
        {
            self.session.on_proof(session, at);
            return;
        }
        let is_step = |seen: Now| (now.wall - seen.wall).abs_diff((now.mono - seen.mono).as_millis() as i64) > 500;
        if self.seen.is_some_and(is_step) {
            self.planted.deafen(Bug::DeafAfterStep, now.mono + DEAF);
        }
        self.seen = Some(now);
        self.take(now, event);
        self.keep_deadlines(now);
        self.abandon_runs(now);
        self.watch_calendar(now);
        self.ask_to_stop();
        self.advance(now);
        // A run that was started just now may have a deadline that has come already, or there may be a reason to ask it
        // to stop.
        self.keep_deadlines(now);
        self.ask_to_stop();
    }

    /// Takes one of several events that came together, without deciding anything yet. [`Self::handle`] has to follow
    /// with the last of them, or with a tick. Events of items and of watches are taken this way; each decision looks at
    /// all items.
    pub fn note(&mut self, now: Now, event: Event) {
        if self.phase != Phase::Stopped {
            self.take(now, event);
        } else if let Event::ItemEnded { item, end } = event {
            self.on_left_run_ended(item, end);
        }
    }

    /// Whether taking an event may last some hundredths of a second, because the engine reads a long configuration
    /// then.
    pub fn may_take_long(&self, event: &Event) -> bool {
        let is_long = |data: &Data| data.len() > QUICKLY_READ && self.configuration_data.as_ref() != Some(data);
        match event {
            Event::Read { path: JobPath::Config, node: Ok(Some(node)), .. } if is_long(&node.data) => true,
            _ => matches!(self.mirror.lookup(&JobPath::Config), Lookup::Known(known) if is_long(&known.data)),
        }
    }

    /// The next action, until there is none.
    pub fn poll_action(&mut self) -> Option<Action> {
        let action = self.actions.pop_front();
        if action.is_none() {
            // Nothing happens for most of the time: keep no room for it in each of thousands of jobs.
            self.actions = VecDeque::new();
        }
        action
    }

    fn take(&mut self, now: Now, event: Event) {
        match event {
            Event::Tick => {}
            Event::Session(SessionState::Closed) if self.phase == Phase::Joining => {
                let why = "the registry center was closed before the job could register".to_owned();
                self.tell(Notice::StartFailed { why });
                self.stop();
            }
            Event::Session(state) => match self.session.on_state(state) {
                SessionChange::None => {}
                SessionChange::Closed => self.start_leaving(now.mono),
                SessionChange::Lost => self.tell(Notice::RegistryLost),
                SessionChange::Back { new } => {
                    self.planted.deafen(Bug::DeafAfterReconnect, now.mono + DEAF);
                    if self.planted.has(Bug::DroppedHeld) {
                        self.open = None;
                    }
                    self.on_session_back(new);
                }
            },
            Event::Proven { session, at } => self.session.on_proof(session, at),
            Event::NotProven => self.session.on_no_proof(),
            Event::Watch(event) => {
                if event == WatchEvent::Gap {
                    self.foreign = None;
                    self.obstructed.clear();
                    self.remember_instances();
                }
                self.mirror.on_event(&event);
                self.hear_request();
            }
            Event::Listed { generation, path, children } => {
                if generation == self.mirror.generation() {
                    self.on_foreign_listed(&path, &children);
                }
                match children {
                    Ok(children) => {
                        self.trouble = None;
                        self.mirror.on_listed(generation, &path, children);
                    }
                    Err(error) => {
                        self.mirror.on_unanswered(generation, &path);
                        self.back_off(now, error.to_string());
                    }
                }
            }
            Event::Read { generation, path, node } => match node {
                Ok(node) => {
                    self.trouble = None;
                    if node.is_none() && path == JobPath::Instance(self.identity.instance.clone()) {
                        self.membership.removal_confirmed = self.session.connected().is_some();
                    }
                    self.mirror.on_read(generation, &path, node);
                }
                Err(error) => {
                    self.mirror.on_unanswered(generation, &path);
                    self.back_off(now, error.to_string());
                }
            },
            Event::Committed(answer) => self.on_answer(now, answer),
            Event::Trigger(id) => self.triggers.push(PendingTrigger::at(id, now.mono)),
            Event::ItemEnded { item, end } => self.on_item_ended(now, item, end),
            Event::ListenersCalled { round } => self.on_listeners_called(now, round),
            Event::Shutdown { grace } => self.start_leaving(now.mono + grace),
        }
    }

    fn on_session_back(&mut self, new: bool) {
        let Some(session) = self.session.connected() else { return };
        if !self.membership.own_sessions.contains(&session) {
            self.membership.own_sessions.push(session);
        }
        self.membership.removal_confirmed = false;
        self.note_success();
        if new {
            // Leading ended with the session that owned the leader's node.
            self.leadership = None;
            self.reminder = Reminder::default();
            self.unswept = None;
        }
        self.tell(Notice::RegistryBack { session, new });
    }

    fn on_item_ended(&mut self, now: Now, item: ShardingItem, end: ItemEnd) {
        if let Some(run) = self.runs.item_mut(item) {
            // A run that gives up because it was told to has not failed: it was cut off.
            let told = matches!(run.stage, Stage::Cancelled { .. } | Stage::Aborted);
            let state = if told && end.state == FireState::Failed { FireState::Cancelled } else { end.state };
            run.stage = Stage::Ended { at: now.mono, end: ItemEnd { state, ..end } };
        } else {
            self.on_left_run_ended(item, end);
        }
    }

    /// The code of a run that this engine leaves behind has returned: the next engine, or the clean-up, writes that.
    fn on_left_run_ended(&mut self, item: ShardingItem, end: ItemEnd) {
        let mut left = self.abandoned.iter_mut();
        if let Some(left) = left.find(|left| left.item == item && left.end.is_none()) {
            left.ended(end);
        }
    }

    /// Begins to leave; a second, earlier deadline replaces the first.
    pub(super) fn start_leaving(&mut self, cut_at: Duration) {
        let cut_at = match self.phase {
            Phase::Stopped => return,
            Phase::Leaving { cut_at: before, .. } => before.min(cut_at),
            _ => cut_at,
        };
        self.phase = Phase::Leaving { cut_at, give_up_at: None };
        if let Some(open) = self.open.take()
            && !open.looked
        {
            self.tell_skip(open.fire, vec![], SkipReason::Leaving);
        }
        self.answer_triggers(&TriggerAnswer::NotRunning);
    }

    /// Asks the rules until one writes or all pass; then asks for the data that are missing.
    fn advance(&mut self, now: Now) {
        let waiting = self.retry.not_before.is_some_and(|at| now.mono < at);
        if !waiting {
            self.retry.not_before = None;
        }
        if !waiting {
            self.ask_for_lists();
        }
        if self.gave_up_leaving(now) {
            self.gave_up = true;
            self.stop();
            return;
        }
        let Some(session) = self.session.connected() else { return };
        if waiting || self.write.is_some() || !self.mirror.is_synced() {
            return;
        }
        let mut rules = RULES.iter();
        while let Some(rule) = rules.next() {
            match rule(self, now) {
                Step::Pass => {}
                Step::Stop => break,
                Step::Again => rules = RULES.iter(),
                Step::Write(Proposal { transaction, purpose }) => {
                    let transaction = transaction.in_session(session);
                    self.mirror.on_commit_sent(&transaction);
                    self.act(Action::Commit(transaction.clone()));
                    self.write = Some(Box::new(Write { transaction, purpose, session, sent: now.mono }));
                    break;
                }
            }
            if self.phase == Phase::Stopped {
                return;
            }
        }
        self.ask_for_lists();
        let wishes = self.wishes.take();
        if self.write.is_none() {
            let paths = self.mirror.start_reads(wishes);
            if !paths.is_empty() {
                self.act(Action::Read { generation: self.mirror.generation(), paths });
            }
        }
    }

    fn ask_for_lists(&mut self) {
        let mut paths = self.mirror.take_lists();
        paths.extend(self.foreign.iter_mut().flat_map(|foreign| foreign.take_lists()));
        if !paths.is_empty() {
            self.act(Action::List { generation: self.mirror.generation(), paths });
        }
    }

    /// The write in flight, taken when it is answered.
    pub(super) fn take_write(&mut self) -> Option<Write> {
        self.write.take().map(|write| *write)
    }

    /// Whether the begin of a fire that came here is in flight.
    pub(super) fn is_beginning(&self) -> bool {
        self.write.as_ref().is_some_and(|write| match &write.purpose {
            Purpose::Begin(plan) => plan.source != ExecutionSource::Failover,
            _ => false,
        })
    }

    /// Whether the registry knows which items run: where the configuration says so, and where a listener is called once
    /// for the group, because the marks say which items the call has to wait for.
    pub(super) fn is_monitored(&self) -> bool {
        let is_configured = self.configuration.as_ref().is_some_and(|configuration| configuration.monitor_execution());
        is_configured || self.plan.iter().flat_map(|plan| plan.iter()).any(|listener| listener.once.is_some())
    }

    /// Whether lost runs are taken over. Without marks no instance could see that a run is lost.
    pub(super) fn is_failover_on(&self) -> bool {
        let configuration = self.configuration.as_ref();
        configuration.is_some_and(|configuration| configuration.failover() && configuration.monitor_execution())
    }

    /// A new attempt, unique in the group.
    pub(super) fn next_attempt(&mut self) -> Attempt {
        self.attempts += 1;
        // A session outlives the engine: an attempt of another engine in the same session must not be taken for one of
        // this engine.
        Attempt::new(self.session.last().unwrap_or(SessionId(0)), self.identity.nonce, self.attempts)
    }

    /// What the mirror knows of a node. Data that are missing become a wish: the engine reads them next.
    pub(super) fn look(&self, path: &JobPath) -> Lookup<'_> {
        let lookup = self.mirror.lookup(path);
        if lookup == Lookup::Unread {
            self.wishes.borrow_mut().insert(path.clone());
        }
        lookup
    }

    /// Wishes for a node even where the mirror says that it does not exist.
    pub(super) fn confirm(&self, path: JobPath) {
        self.wishes.borrow_mut().insert(path);
    }

    /// Whether data are wished for.
    pub(super) fn has_wishes(&self) -> bool {
        !self.wishes.borrow().is_empty()
    }

    /// Says what differs between the configuration of the program and that of the registry, if anything.
    pub(super) fn tell_differences(
        &mut self,
        local: &JobConfiguration,
        registry: &JobConfiguration,
        overwritten: bool,
    ) {
        let differences = local.differences(registry);
        if !differences.is_empty() && differences != self.told_differences {
            self.told_differences.clone_from(&differences);
            self.tell(Notice::ConfigurationDiffers { differences, overwritten });
        }
    }

    pub(super) fn prove(&mut self) {
        if self.session.renew_at().is_some() {
            self.session.start_proving();
            self.act(Action::Prove);
        }
    }

    pub(super) fn act(&mut self, action: Action) {
        self.actions.push_back(action);
    }

    /// Reports what is not run here, and why.
    pub(super) fn tell_skip(&mut self, fire: Fire, items: Vec<ShardingItem>, reason: SkipReason) {
        self.note_given_up(fire, &items, &reason);
        self.last_skip = Some(Arc::new(Skip { fire, items: items.clone(), reason: reason.clone() }));
        self.tell(Notice::Skipped { fire, items, reason });
    }

    pub(super) fn tell(&mut self, notice: Notice) {
        self.actions.push_back(Action::Tell(notice));
    }

    /// Stops the engine: nothing follows. Where it stops before it has joined, it also leaves behind the runs of
    /// earlier engines of the job that go on.
    pub(super) fn stop(&mut self) {
        self.phase = Phase::Stopped;
        let left = self.left_runs();
        self.runs = Runs::default();
        self.abandoned = left;
        self.answer_triggers(&TriggerAnswer::NotRunning);
        self.act(Action::Stopped);
    }
}
