//! The machine: events in, actions out.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::action::{Action, TriggerAnswer};
use super::listeners::KnownListeners;
use super::notice::Notice;
#[cfg(feature = "testing")]
use super::planted::Bug;
use super::planted::Planted;
use super::state::clock::ClockCheck;
use super::state::configuration::Configuration;
use super::state::dependencies::Dependencies;
use super::state::fires::Fires;
use super::state::group::Group;
use super::state::leadership::Leadership;
use super::state::link::{Link, Write};
use super::state::listener_round::ListenerRounds;
use super::state::membership::{Identity, Membership, Phase};
use super::state::pending_trigger::PendingTrigger;
use super::state::proposal::Purpose;
use super::state::runs::Runs;
use super::state::session::Session;
use crate::clock::Now;
use crate::config::{BoundOptions, ConfigurationCheck, JobConfiguration, size_limits};
use crate::fire::{Attempt, Fire, Skip, SkipReason};
use crate::ident::{JobName, ShardingItem};
use crate::registry::SessionId;
use crate::registry::mirror::Mirror;
use crate::sharding::ShardingStrategies;

/// From how many instances on a group is large. In a smaller one to hear everything costs less than to choose.
const LARGE_GROUP: usize = 4;

/// The coordination of one job on one instance.
#[derive(Debug)]
pub struct JobEngine {
    pub(super) job: JobName,
    pub(super) identity: Identity,
    pub(super) phase: Phase,
    pub(super) configuration: Configuration,
    pub(super) session: Session,
    pub(super) mirror: Mirror,
    pub(super) link: Link,
    pub(super) membership: Membership,
    pub(super) leadership: Leadership,
    pub(super) dependencies: Dependencies,
    pub(super) fires: Fires,
    pub(super) runs: Runs,
    pub(super) rounds: ListenerRounds,
    /// Manual triggers that were asked for here and are not written yet.
    pub(super) pending_triggers: Vec<PendingTrigger>,
    pub(super) clock: ClockCheck,
    /// When this engine was asked last: it has looked at the timers up to then.
    pub(super) seen: Option<Now>,
    pub(super) planted: Planted,
    /// Whether the rules of the group have to be asked.
    pub(super) group: Group,
    /// From how many instances on the group is a large one.
    pub(super) large_group: usize,
    attempts: u64,
    actions: VecDeque<Action>,
}

impl JobEngine {
    /// An engine that has not heard anything yet.
    pub fn new(identity: Identity, local: Arc<JobConfiguration>, strategies: Arc<ShardingStrategies>) -> Self {
        let job = local.job_name().clone();
        Self {
            mirror: Mirror::new(job.clone()),
            job,
            phase: Phase::Joining,
            configuration: Configuration::new(local, strategies),
            session: Session::new(),
            link: Link::default(),
            membership: Membership::default(),
            leadership: Leadership::default(),
            dependencies: Dependencies::default(),
            fires: Fires::default(),
            runs: Runs::default(),
            rounds: ListenerRounds::new(identity.nonce),
            identity,
            pending_triggers: Vec::new(),
            clock: ClockCheck::default(),
            seen: None,
            planted: Planted::default(),
            group: Group::default(),
            large_group: LARGE_GROUP,
            attempts: 0,
            actions: VecDeque::new(),
        }
    }

    /// The engine of a program that has these listeners.
    #[must_use]
    pub fn with_listeners(mut self, listeners: Arc<KnownListeners>) -> Self {
        self.configuration.listeners = listeners;
        self
    }

    /// The engine of a program that has limits: it refuses a configuration of the registry that asks for more.
    #[must_use]
    pub fn with_check(mut self, check: ConfigurationCheck) -> Self {
        self.configuration.check = check;
        self
    }

    /// The engine of a program that has options which the registry does not decide alone.
    #[must_use]
    pub fn with_bound_options(mut self, bound: Arc<[BoundOptions]>) -> Self {
        self.configuration.bound = bound;
        self
    }

    /// The engine of a job in a namespace that makes each path longer by `bytes`.
    #[must_use]
    pub fn with_namespace(mut self, bytes: usize) -> Self {
        self.configuration.check = self.configuration.check.and(&size_limits::check());
        self.mirror.count_namespace(bytes);
        self
    }

    /// The engine of a registry whose transactions take no further item from this weight on.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn with_full_transactions_from(mut self, weight: usize) -> Self {
        self.mirror.fill_from(weight);
        self
    }

    /// Plants a bug, to see that the simulator finds it.
    #[cfg(feature = "testing")]
    pub fn plant(&mut self, bug: Bug) {
        self.planted.plant(bug);
        self.session.planted = self.planted;
        if bug == Bug::KeptPicture {
            self.mirror.keep_picture();
        }
    }

    /// The configuration of the program.
    pub fn local_configuration(&self) -> &Arc<JobConfiguration> {
        &self.configuration.local
    }

    /// The configuration in force, `None` before there is one.
    pub fn configuration(&self) -> Option<&Arc<JobConfiguration>> {
        self.configuration.in_force.as_ref()
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

    /// Begins to leave; a second, earlier deadline replaces the first.
    pub(super) fn start_leaving(&mut self, cut_at: Duration) {
        let cut_at = match self.phase {
            Phase::Stopped => return,
            Phase::Leaving { cut_at: before, .. } => before.min(cut_at),
            _ => cut_at,
        };
        self.phase = Phase::Leaving { cut_at, give_up_at: None };
        if let Some(open) = self.fires.open.take()
            && !open.looked
            && let Some(items) = self.not_begun(&open)
        {
            self.tell_skip(open.key.fire, items, SkipReason::Leaving);
        }
        if let Some(at) = self.fires.undecided.take() {
            self.tell_skip(Fire::Scheduled(at), vec![], SkipReason::Leaving);
        }
        self.answer_triggers(&TriggerAnswer::NotRunning);
    }

    /// The write in flight, taken when it is answered.
    pub(super) fn take_write(&mut self) -> Option<Write> {
        self.link.write.take().map(|write| *write)
    }

    /// Whether the begin of a fire that came here is in flight.
    pub(super) fn is_beginning(&self) -> bool {
        self.link.write.as_ref().is_some_and(|write| match &write.purpose {
            Purpose::Begin(plan) => !plan.key.is_takeover(),
            _ => false,
        })
    }

    /// A new attempt, unique in the group.
    pub(super) fn next_attempt(&mut self) -> Attempt {
        self.attempts += 1;
        // A session outlives the engine: an attempt of another engine in the same session must not be taken for one of
        // this engine.
        Attempt::new(self.session.last().unwrap_or(SessionId(0)), self.identity.nonce, self.attempts)
    }

    pub(super) fn prove(&mut self) {
        if self.session.renew_at().is_some() {
            self.session.start_proving();
            self.act(Action::Prove);
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

    pub(super) fn act(&mut self, action: Action) {
        self.actions.push_back(action);
    }

    /// Reports what is not run here, and why.
    pub(super) fn tell_skip(&mut self, fire: Fire, items: Vec<ShardingItem>, reason: SkipReason) {
        self.note_skip(fire, &items);
        self.fires.last_skip = Some(Arc::new(Skip { fire, items: items.clone(), reason: reason.clone() }));
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
        self.membership.abandoned = left;
        self.answer_triggers(&TriggerAnswer::NotRunning);
        self.act(Action::Stopped);
    }
}
