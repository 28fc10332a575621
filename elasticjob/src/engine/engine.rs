//! The machine: events in, actions out.

use std::collections::VecDeque;
use std::sync::Arc;

use super::action::Action;
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
use super::state::runs::Runs;
use super::state::session::Session;
use crate::clock::Now;
use crate::config::{BoundOptions, ConfigurationCheck, JobConfiguration, size_limits};
use crate::fire::Attempt;
use crate::ident::JobName;
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

    /// Whether a fire that falls into a run is made up for.
    pub fn makes_up(&self) -> bool {
        self.configuration.in_force.as_ref().is_some_and(|configuration| configuration.misfire())
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

    /// The write in flight, taken when it is answered.
    pub(super) fn take_write(&mut self) -> Option<Write> {
        self.link.write.take().map(|write| *write)
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

    pub(super) fn tell(&mut self, notice: Notice) {
        self.actions.push_back(Action::Tell(notice));
    }
}
