//! Listeners of the simulated job: which there are, and their calls.

use std::sync::Arc;
use std::time::Duration;

use super::happening::Happening;
use super::host::Millis;
use super::world::World;
use crate::engine::{Event, KnownListeners, ListenerCall, ListenerSpec, OnceTimeouts, RoundId};
use crate::fire::{Fire, Hook, RunKey};
use crate::registry::SessionId;
use crate::testing::invariants::Observation;
use crate::testing::rng::Rng;

/// The listeners of a history.
#[derive(Debug, Clone)]
pub struct SimListeners {
    /// All that the program has, in the order in which the job names them.
    specs: Vec<ListenerSpec>,
    /// Whether the configuration names them now.
    pub on: bool,
    /// The longest call.
    pub longest: Millis,
}

/// A call of listeners on a host.
#[derive(Debug, Clone)]
pub struct SimCall {
    /// Tells it from other calls.
    pub serial: u64,
    /// The fire of its round.
    pub fire: Fire,
    /// The hook that they are called for.
    pub hook: Hook,
    /// Their type names.
    pub listeners: Vec<Arc<str>>,
    /// It cannot be dropped: it ends when it ends.
    pub blocking: bool,
    /// Whether its token was fired.
    pub cancelled: bool,
    /// Whether it was told to go: it ends at that moment, unless it is blocking.
    pub aborted: bool,
    /// The session it was begun in.
    pub session: Option<SessionId>,
}

impl SimListeners {
    /// None, and no switch for them.
    pub(super) fn none() -> Self {
        Self { specs: Vec::new(), on: false, longest: 0 }
    }

    /// Those of a seed: mostly none.
    pub(super) fn draw(rng: &mut Rng) -> Self {
        let mut specs = Vec::new();
        let on = rng.one_in(3);
        let longest = rng.pick(&[50, 300, 1_200]);
        if on {
            let every = |name: &str, order| ListenerSpec { type_name: name.into(), order, once: None };
            if rng.one_in(2) {
                specs.push(every("late", i32::MAX));
                specs.push(every("early", -1));
            }
            // Every other time short enough to be over in the midst of a run, else beyond everything that is right.
            let short = rng.one_in(3);
            let mut limit = |most: Millis| match rng.below(3) {
                _ if short => Some(Duration::from_millis(rng.between(500, most))),
                0 => Some(Duration::from_secs(200)),
                _ => None,
            };
            let mut once = |name: &str, order| {
                let once = Some(OnceTimeouts { started: limit(6_000), completed: limit(20_000) });
                ListenerSpec { type_name: name.into(), order, once }
            };
            specs.push(once("once", 5));
            if longest < 1_000 {
                specs.push(once("again", 5));
            }
        }
        Self { specs, on, longest }
    }

    /// Whether the history has none.
    pub(super) fn is_none(&self) -> bool {
        self.specs.is_empty()
    }

    /// What engines know of them.
    pub(super) fn known(&self) -> Arc<KnownListeners> {
        Arc::new(KnownListeners::added(self.specs.iter().cloned()))
    }

    /// The names in force.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        self.specs.iter().filter(|_| self.on).map(|spec| spec.type_name.as_ref())
    }

    /// Names of those that are called once for the group.
    pub fn once(&self) -> impl Iterator<Item = &str> {
        let once = self.specs.iter().filter(|spec| self.on && spec.once.is_some());
        once.map(|spec| spec.type_name.as_ref())
    }

    /// Whether nobody may time out unless something is wrong.
    pub fn is_patient(&self) -> bool {
        let limits = self.specs.iter().filter_map(|spec| spec.once).flat_map(|once| [once.started, once.completed]);
        limits.flatten().all(|limit| limit >= Duration::from_secs(200))
    }

    /// The time by which a run may take longer because of them.
    pub fn delay(&self) -> Millis {
        // A second for the requests, and one for those that are refused, as another fire writes the same node.
        if self.on { 2_000 + 2 * self.longest * self.specs.len() as Millis } else { 0 }
    }
}

impl World {
    pub(super) fn switch_listeners(&mut self) {
        self.shape.listeners.on = !self.shape.listeners.on;
        let total = self.total;
        self.configure(total);
    }

    pub(super) fn call_listeners(&mut self, host: usize, life: u64, call: &ListenerCall) -> Result<(), String> {
        let serial = self.next_serial();
        let blocking = self.rng.one_in(12);
        let duration = self.rng.between(1, self.shape.listeners.longest * call.listeners.len() as Millis);
        let Some(process) = self.live(host, life) else { return Ok(()) };
        let ListenerCall { key: RunKey { fire, .. }, hook, .. } = *call;
        let listeners = call.listeners.clone();
        let session = process.program.engine().and_then(|engine| engine.registered_in());
        let (cancelled, aborted) = (false, false);
        let running = SimCall { serial, fire, hook, listeners, blocking, cancelled, aborted, session };
        if process.calls.insert(call.round, running).is_some() {
            return Err(format!("host {host} has two calls of round {} at a time", call.round));
        }
        self.counts.count("listener_calls");
        self.log(|_| format!("host {host} calls {:?} {hook} {fire}", call.listeners));
        self.observe(Observation::Called { host, fire, hook, listeners: &call.listeners })?;
        let at = self.now + duration;
        self.at(at, Happening::CallEnds { host, life, round: call.round, serial });
        Ok(())
    }

    pub(super) fn end_call(&mut self, host: usize, life: u64, round: RoundId, serial: u64) -> Result<(), String> {
        let now = self.now;
        let Some(process) = self.live(host, life) else { return Ok(()) };
        if let Some(until) = process.frozen_until {
            self.at(until.max(now + 1), Happening::CallEnds { host, life, round, serial });
            return Ok(());
        }
        if process.calls.get(&round).is_none_or(|call| call.serial != serial) {
            return Ok(());
        }
        let Some(SimCall { fire, hook, listeners, .. }) = process.calls.remove(&round) else { return Ok(()) };
        self.observe(Observation::CallEnded { host, fire, hook, listeners: &listeners })?;
        self.attend(host, life, Some(Event::ListenersCalled { round }))
    }

    /// The token of a call is fired: some listen, some do not.
    pub(super) fn cancel_call(&mut self, host: usize, life: u64, round: RoundId) {
        let listens = self.rng.one_in(2);
        let at = self.now + self.rng.below(50);
        let Some(call) = self.live(host, life).and_then(|process| process.calls.get_mut(&round)) else { return };
        call.cancelled = true;
        let serial = call.serial;
        if listens && !call.blocking {
            self.at(at, Happening::CallEnds { host, life, round, serial });
        }
    }

    pub(super) fn abort_call(&mut self, host: usize, life: u64, round: RoundId) {
        let at = self.now;
        let Some(call) = self.live(host, life).and_then(|process| process.calls.get_mut(&round)) else { return };
        if !call.blocking {
            call.aborted = true;
            let serial = call.serial;
            self.at(at, Happening::CallEnds { host, life, round, serial });
        }
    }
}
