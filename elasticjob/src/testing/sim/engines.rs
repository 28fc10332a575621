//! Drives the engines: hands them what arrived, performs what they want done, runs items.

use super::happening::Happening;
use super::host::{Execution, Process, Program, Request};
use super::world::World;
use crate::engine::{Action, Event, Notice, Start};
use crate::fire::{CancelReason, ExecutionSource, FireState, ItemEnd};
use crate::ident::ShardingItem;
use crate::testing::invariants::Observation;

impl World {
    /// Lets the engine of a host take what is there, and performs its actions.
    pub(super) fn attend(&mut self, host: usize, life: u64, first: Option<Event>) -> Result<(), String> {
        let now = self.now;
        let eager = self.rng.one_in(2);
        let Some(process) = self.live(host, life).filter(|process| !process.is_frozen()) else { return Ok(()) };
        match process.program {
            Program::Java(_) => return self.attend_java(host, life, first),
            Program::Fallen(_) => return self.attend_fallen(host, life, first),
            Program::Engine(_) => {}
        }
        let mut events: Vec<Event> = first.into_iter().collect();
        events.extend(process.take_events(now, eager));
        // A proof alone does not ask it what is due by now.
        if matches!(events.last(), None | Some(Event::Proven { .. })) {
            events.push(Event::Tick);
        }
        let last = events.len() - 1;
        for (number, event) in events.into_iter().enumerate() {
            let at = self.hosts[host].now(now);
            let Some(engine) = self.live(host, life).and_then(|process| process.program.engine()) else {
                return Ok(());
            };
            // As a driver gathers them.
            let is_gathered = matches!(
                event,
                Event::Watch(_)
                    | Event::Watching(_)
                    | Event::ItemEnded { .. }
                    | Event::Read { .. }
                    | Event::Listed { .. }
            );
            if number < last && is_gathered {
                engine.note(at, event);
                continue;
            }
            engine.handle(at, event);
            self.perform(host, life)?;
        }
        self.check_trust(host, life)?;
        self.observe(Observation::Attended { host })?;
        self.arm(host, life)
    }

    pub(super) fn arm(&mut self, host: usize, life: u64) -> Result<(), String> {
        let now = self.now;
        let Some(process) = self.live(host, life) else { return Ok(()) };
        let asked = process.next_wake;
        let Some(timeout) = process.program.engine().map(|engine| engine.poll_timeout()) else { return Ok(()) };
        let mono = timeout.mono.map(|at| self.hosts[host].when_mono(at));
        let wall = timeout.wall.map(|wall| self.hosts[host].when(wall));
        let shown = self.hosts[host].now(now);
        let late = timeout.wall.is_some_and(|wall| wall <= shown.wall);
        if late || timeout.mono.is_some_and(|at| at < shown.mono) {
            return Err(format!("host {host} waits for a time that has passed: {timeout:?} at {now}"));
        }
        let Some(at) = mono.into_iter().chain(wall).min().map(|at| at.max(now + 1)) else { return Ok(()) };
        if asked.is_none_or(|asked| at < asked || asked < now) {
            if let Some(process) = self.live(host, life) {
                process.next_wake = Some(at);
            }
            self.at(at, Happening::Wake { host, life });
        }
        Ok(())
    }

    pub(super) fn perform(&mut self, host: usize, life: u64) -> Result<(), String> {
        while let Some(action) = self.next_action(host, life) {
            match action {
                Action::List { generation, paths } => {
                    for path in paths {
                        self.send(host, life, Request::List { generation, path });
                    }
                }
                Action::Read { generation, paths } => {
                    for path in paths {
                        self.send(host, life, Request::Read { generation, path });
                    }
                }
                Action::Commit(transaction) => self.send(host, life, Request::Commit(transaction)),
                Action::Watch(changes) => self.change_watches(host, life, changes),
                Action::Prove => self.prove(host, life),
                Action::Start(start) => self.start_items(host, life, &start)?,
                // Runs of the simulator are not streams: they go on.
                Action::AskToStop(_) => {}
                Action::Cancel { items, .. } => self.cancel_items(host, life, &items),
                Action::FollowJobs(jobs) => self.follow(host, life, jobs),
                Action::CancelOnRequest { item, .. } => self.cancel_items(host, life, &[item]),
                Action::Abort(items) => self.abort_items(host, life, &items),
                Action::Abandon(items) => {
                    if let Some(process) = self.live(host, life) {
                        process.abandoned.extend(items);
                    }
                }
                // A start that fails is followed by the end of the engine.
                Action::AnswerStart(_) => {}
                Action::CallListeners(call) => self.call_listeners(host, life, &call)?,
                Action::CancelListeners(round) => self.cancel_call(host, life, round),
                Action::AbortListeners(round) => self.abort_call(host, life, round),
                Action::AnswerTrigger(id, answer) => {
                    self.log(|_| format!("host {host}: trigger {id}: {answer:?}"));
                    self.observe(Observation::Triggered { answer: &answer })?;
                }
                Action::Tell(notice) => {
                    self.log_words(|_| format!("host {host}: {notice:?}"));
                    if matches!(notice, Notice::RunsCancelled { reason: CancelReason::SessionUnproven, .. }) {
                        self.plan_fall(host, life);
                    }
                    if notice == Notice::RemovedByOperator
                        && let Some(process) = self.live(host, life)
                    {
                        process.heard_of_removal = true;
                    }
                    if matches!(notice, Notice::StartFailed { .. } | Notice::RemovedByOperator) {
                        self.incident();
                    }
                    self.observe(Observation::Notice { host, notice: &notice })?;
                }
                Action::Stopped => {
                    self.log(|_| format!("host {host} has left"));
                    if self.stays_without_engine(host, life) {
                        return self.leave_something_behind(host, life);
                    }
                    let Some(process) = self.hosts[host].process.take() else { return Ok(()) };
                    if !process.leaving && !self.closing {
                        // Whatever starts processes starts this one again.
                        let delay = self.rng.between(1_000, 5_000);
                        self.restart_later(host, false, delay);
                    }
                    let Process { session, abandoned, connection, .. } = &process;
                    if connection.is_some() {
                        self.observe(Observation::Left { host, session: *session, abandoned })?;
                    }
                    self.stopped_beside(host, *session)?;
                }
            }
        }
        Ok(())
    }

    fn next_action(&mut self, host: usize, life: u64) -> Option<Action> {
        self.live(host, life)?.program.engine()?.poll_action()
    }

    pub(super) fn start_items(&mut self, host: usize, life: u64, start: &Start) -> Result<(), String> {
        for (item, token) in &start.items {
            let serial = self.next_serial();
            let blocking = self.rng.one_in(12);
            let duration = self.rng.between(self.shortest_run, self.shape.longest_run);
            let fire = start.key.fire;
            let Some(process) = self.live(host, life) else { return Ok(()) };
            let session = process.program.engine().and_then(|engine| engine.registered_in());
            let (token, cancelled, aborted) = (*token, false, false);
            let execution = Execution { serial, fire, token, blocking, cancelled, aborted, session };
            if process.executions.insert(*item, execution).is_some() {
                return Err(format!("host {host} starts item {item}, which it is executing already"));
            }
            match start.key.source {
                ExecutionSource::NormalTrigger => {}
                ExecutionSource::Misfire => self.counts.count("runs_misfire"),
                ExecutionSource::Failover => self.counts.count("runs_failover"),
            }
            self.observe(Observation::Started { host, item: *item, fire, source: start.key.source, token })?;
            let at = self.now + duration;
            self.at(at, Happening::ItemEnds { host, life, item: *item, serial });
        }
        Ok(())
    }

    pub(super) fn end_item(
        &mut self,
        host: usize,
        life: u64,
        item: ShardingItem,
        serial: u64,
        state: Option<FireState>,
    ) -> Result<(), String> {
        let failed = self.rng.one_in(10);
        let now = self.now;
        let Some(process) = self.live(host, life) else { return Ok(()) };
        if let Some(until) = process.frozen_until {
            self.at(until.max(now + 1), Happening::ItemEnds { host, life, item, serial });
            return Ok(());
        }
        let ours = process.executions.get(&item).is_some_and(|execution| execution.serial == serial);
        if !ours {
            return Ok(());
        }
        process.executions.remove(&item);
        let state = state.unwrap_or(if failed { FireState::Failed } else { FireState::Succeeded });
        let end = ItemEnd { state, took: 1, error: None };
        self.attend(host, life, Some(Event::ItemEnded { item, end }))
    }

    /// Tokens are fired: some runs listen, some do not.
    pub(super) fn cancel_items(&mut self, host: usize, life: u64, items: &[ShardingItem]) {
        for item in items {
            let listens = self.rng.one_in(2);
            let at = self.now + self.rng.below(50);
            let Some(process) = self.live(host, life) else { return };
            if let Some(execution) = process.executions.get_mut(item) {
                execution.cancelled = true;
                let serial = execution.serial;
                if listens && !execution.blocking {
                    self.at(at, Happening::ItemEnds { host, life, item: *item, serial });
                }
            }
        }
    }

    pub(super) fn abort_items(&mut self, host: usize, life: u64, items: &[ShardingItem]) {
        for item in items {
            let now = self.now;
            let Some(process) = self.live(host, life) else { return };
            if let Some(execution) = process.executions.get_mut(item)
                && !execution.blocking
            {
                execution.aborted = true;
                let serial = execution.serial;
                self.at(now, Happening::ItemEnds { host, life, item: *item, serial });
            }
        }
    }
}
