//! Processes whose engine is gone while their session goes on: its driver ended by a bug, or the job has left and something
//! of it is left: code of its runs that goes on, or nodes that the registry did not answer to delete. What stands in for the
//! engine is the production one.

use std::collections::BTreeSet;

use super::happening::Happening;
use super::host::{Millis, Process, Program, Request};
use super::watches::SimWatches;
use super::world::{GRACE, World};
use crate::engine::{Action, CleanUp, Event, Identity, JobEngine};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::{SessionState, WatchEvent};
use crate::testing::invariants::Observation;
use crate::testing::rng::Rng;

/// The stand-in of an engine.
#[derive(Debug)]
pub struct Fallen {
    clean_up: CleanUp,
    /// The engine that comes; `None` where the process is restarted instead.
    next: Option<Box<JobEngine>>,
    /// Whether the job is made again: the one before has left.
    is_anew: bool,
    /// The job was asked to leave meanwhile.
    shutdown: bool,
}

impl Fallen {
    /// The instance that is cleaned up after.
    pub fn instance(&self) -> &InstanceId {
        self.clean_up.instance()
    }

    /// The engine that comes, if the process goes on.
    pub(super) fn next(&self) -> Option<&JobEngine> {
        self.next.as_deref()
    }
}

impl World {
    /// A driver ends by a bug at this moment: its engine is gone with all it knows, its runs are cut off.
    pub(super) fn drop_engine(&mut self, host: usize) -> Result<(), String> {
        let (candidate, nonce) = (format!("{:032x}", self.next_serial()), self.next_serial() as u32);
        // The others are started again with their process.
        let comes_back = !self.rng.one_in(5);
        let pause = self.rng.between(100, 4_000);
        let at = self.hosts[host].now(self.now);
        let Some(process) = self.hosts[host].process.as_mut().filter(|process| !process.is_frozen()) else {
            return Ok(());
        };
        let life = process.life;
        let Some(engine) = process.program.engine() else { return Ok(()) };
        let clean_up = CleanUp::after(engine);
        let identity = Identity { candidate, nonce, ..engine.identity().clone() };
        // Some runs end at once, others when they are dropped. Not drawn, so that other histories stay what they are.
        let is_cut_off = process.executions.values().any(|run| run.cancelled);
        let drop_at = (is_cut_off || nonce % 2 == 0).then_some(engine.drop_at(at));
        let next = comes_back.then(|| Box::new(engine.successor(identity)));
        self.count("driver_dies");
        if is_cut_off {
            self.count("driver_dies_after_a_cut");
        }
        self.incident();
        if comes_back {
            let at = self.now + pause;
            self.at(at, Happening::EngineStarts { host, life });
        } else {
            let at = self.now + 5_000 + pause;
            self.at(at, Happening::ProcessEnds { host, life });
        }
        let Some(process) = self.live(host, life) else { return Ok(()) };
        process.program = Program::Fallen(Box::new(Fallen { clean_up, next, is_anew: false, shutdown: false }));
        let drop_at = drop_at.map(|at| self.hosts[host].when_mono(at));
        self.cut_off(host, life, drop_at);
        self.begin_clean_up(host, life)
    }

    /// Its driver may end by a bug while runs that were cut off still have their grace. Drawn beside all else, so that the
    /// other histories stay what they are.
    pub(super) fn plan_fall(&mut self, host: usize, life: u64) {
        let mut rng = Rng::new(self.now ^ (host as u64) << 48 ^ 0x66_616c_6c73);
        if self.now < self.faults_until && rng.one_in(4) {
            let at = self.now + rng.between(self.session_timeout / 10, self.session_timeout / 5);
            self.at(at, Happening::EngineFalls { host, life });
        }
    }

    /// Whether a process whose job has left goes on, with something that the job left.
    pub(super) fn stays_without_engine(&mut self, host: usize, life: u64) -> bool {
        let stays = self.now < self.faults_until && self.rng.one_in(2);
        // It goes on with its other job anyway.
        let stays = !self.closing && (stays || self.process_beside(host).is_some());
        let Some(process) = self.live(host, life) else { return false };
        stays && process.program.engine().is_some_and(|engine| engine.leaves_something())
    }

    /// The job has left and something of it is left; then it is made again in the same process.
    pub(super) fn leave_something_behind(&mut self, host: usize, life: u64) -> Result<(), String> {
        let (serial, nonce) = (self.next_serial(), self.next_serial() as u32);
        let pause = self.rng.between(10, 12_000);
        let Some(process) = self.live(host, life) else { return Ok(()) };
        // Where it is not connected its nodes stay, until it is again.
        let session = process.session.filter(|_| process.connection.is_some());
        let abandoned = std::mem::take(&mut process.abandoned);
        let Some(engine) = process.program.engine() else { return Ok(()) };
        let clean_up = CleanUp::after(engine);
        let before = engine.identity().clone();
        let left = if session.is_some() { "left_code_behind" } else { "left_unanswered" };
        self.count(left);
        self.incident();
        self.observe(Observation::Left { host, session, abandoned: &abandoned })?;
        let identity = Identity { candidate: format!("{serial:032x}"), nonce, instance: before.base.clone(), ..before };
        let next = Some(Box::new(self.engine(self.job_of(host), identity)));
        let at = self.now + pause;
        self.at(at, Happening::EngineStarts { host, life });
        if let Some(process) = self.live(host, life) {
            process.program = Program::Fallen(Box::new(Fallen { clean_up, next, is_anew: true, shutdown: false }));
        }
        self.cut_off(host, life, None);
        self.begin_clean_up(host, life)
    }

    /// What was asked for goes on its way without its engine, and what runs is told to end. What does not is dropped, at once
    /// or at that time.
    fn cut_off(&mut self, host: usize, life: u64, drop_at: Option<Millis>) {
        let Some(process) = self.live(host, life) else { return };
        process.orphans.extend(process.outstanding.iter().map(|sent| sent.id));
        let items: Vec<_> = process.executions.keys().copied().collect();
        // Those that were cancelled before do not look at their tokens.
        let uncancelled = process.executions.iter().filter(|(_, run)| !run.cancelled);
        let uncancelled: Vec<_> = uncancelled.map(|(item, _)| *item).collect();
        let calls: Vec<_> = process.calls.keys().copied().collect();
        self.cancel_items(host, life, &uncancelled);
        match drop_at.filter(|at| *at > self.now) {
            None => self.abort_items(host, life, &items),
            Some(at) => {
                let Some(process) = self.live(host, life) else { return };
                let serials = process.executions.iter().map(|(item, run)| (*item, run.serial)).collect();
                process.cut_off = Some((at, serials));
                self.at(at, Happening::DropCutOff { host, life });
            }
        }
        for round in calls {
            self.cancel_call(host, life, round);
            self.abort_call(host, life, round);
        }
    }

    /// Drops the runs that an engine left when their time has come, or when their session is over.
    pub(super) fn drop_cut_off(&mut self, host: usize, life: u64, is_over: bool) {
        let now = self.now;
        let Some(process) = self.live(host, life).filter(|process| !process.is_frozen()) else { return };
        let Some((_, serials)) = process.cut_off.take_if(|(at, _)| is_over || *at <= now) else { return };
        let runs =
            |(item, serial): &(ShardingItem, u64)| process.executions.get(item).is_some_and(|it| it.serial == *serial);
        let items: Vec<_> = serials.into_iter().filter(runs).map(|(item, _)| item).collect();
        self.abort_items(host, life, &items);
    }

    fn begin_clean_up(&mut self, host: usize, life: u64) -> Result<(), String> {
        let state = self.known_session(host, life);
        if let SessionState::Connected { id, .. } = state {
            self.clean_up_beside(id);
        }
        self.attend_fallen(host, life, Some(Event::Session(state)))
    }

    /// The session as the first one that looks at it finds it.
    fn known_session(&mut self, host: usize, life: u64) -> SessionState {
        match self.live(host, life).map(|process| (process.session, process.connection)) {
            Some((Some(id), Some(_))) => SessionState::Connected { id, timeout: self.held(self.limits.of(id)) },
            Some((Some(id), None)) => SessionState::Suspended { id },
            _ => SessionState::Connecting,
        }
    }

    /// Lets what stands in for an engine take what is there.
    pub(super) fn attend_fallen(&mut self, host: usize, life: u64, first: Option<Event>) -> Result<(), String> {
        let now = self.now;
        let Some(process) = self.live(host, life).filter(|process| !process.is_frozen()) else { return Ok(()) };
        let mut events: Vec<Event> = first.into_iter().collect();
        events.extend(process.take_events(now, false));
        events.push(Event::Tick);
        let at = self.hosts[host].now(now);
        for event in events {
            let Some(fallen) = self.fallen(host, life) else { return Ok(()) };
            fallen.shutdown |= matches!(event, Event::Shutdown { .. });
            fallen.clean_up.handle(at, event);
            while let Some(action) = self.fallen(host, life).and_then(|fallen| fallen.clean_up.poll_action()) {
                match action {
                    Action::List { generation, paths } => {
                        let ask = |path| Request::List { generation, path };
                        paths.into_iter().map(ask).for_each(|request| self.send(host, life, request));
                    }
                    Action::Read { generation, paths } => {
                        let ask = |path| Request::Read { generation, path };
                        paths.into_iter().map(ask).for_each(|request| self.send(host, life, request));
                    }
                    Action::Commit(transaction) => self.send(host, life, Request::Commit(transaction)),
                    other => return Err(format!("host {host} cleans up by {other:?}")),
                }
            }
        }
        let retry = self.fallen(host, life).and_then(|fallen| fallen.clean_up.poll_timeout());
        if let Some(at) = retry.map(|at| self.hosts[host].when_mono(at).max(now + 1)) {
            if let Some(process) = self.live(host, life) {
                process.next_wake = Some(at);
            }
            self.at(at, Happening::Wake { host, life });
        }
        Ok(())
    }

    /// The next engine starts, when everything of the last one is cleaned up.
    pub(super) fn start_engine(&mut self, host: usize, life: u64) -> Result<(), String> {
        let now = self.now;
        let state = self.known_session(host, life);
        let Some(process) = self.live(host, life) else { return Ok(()) };
        let frozen = process.is_frozen();
        let Program::Fallen(fallen) = &mut process.program else { return Ok(()) };
        if frozen || !fallen.clean_up.is_clean() {
            self.at(now + 100, Happening::EngineStarts { host, life });
            return Ok(());
        }
        let busy: BTreeSet<ShardingItem> = fallen.clean_up.busy().collect();
        if let SessionState::Connected { id, .. } = state {
            self.observe(Observation::CleanedUp { host, session: id, busy: &busy })?;
        }
        let Some(Process { program: Program::Fallen(fallen), .. }) = self.live(host, life) else { return Ok(()) };
        let Some(mut engine) = fallen.next.take() else { return Ok(()) };
        engine.take_left_runs(fallen.clean_up.take_left());
        let (is_anew, shutdown) = (fallen.is_anew, fallen.shutdown);
        let Some(process) = self.live(host, life) else { return Ok(()) };
        process.program = Program::Engine(engine);
        process.leaving &= !is_anew;
        // The program asks for the job again.
        process.heard_of_removal &= !is_anew;
        process.orphans.extend(process.outstanding.iter().map(|sent| sent.id));
        self.log(|_| format!("host {host} has an engine again"));
        self.incident();
        self.attend(host, life, Some(Event::Session(state)))?;
        if let Some(process) = self.live(host, life) {
            process.watches = SimWatches::of_job(process.connection.is_some());
        }
        self.attend(host, life, Some(Event::Watch(WatchEvent::Gap)))?;
        // One that was to leave before does so by itself.
        match shutdown && !is_anew {
            true => self.attend(host, life, Some(Event::Shutdown { grace: GRACE })),
            false => Ok(()),
        }
    }

    /// A process whose job does not come back is restarted by its supervisor.
    pub(super) fn end_process(&mut self, host: usize, life: u64) {
        if self.fallen(host, life).is_some() {
            self.crash(host, false, 500);
        }
    }

    fn fallen(&mut self, host: usize, life: u64) -> Option<&mut Fallen> {
        match self.live(host, life) {
            Some(Process { program: Program::Fallen(fallen), .. }) => Some(fallen),
            _ => None,
        }
    }
}
