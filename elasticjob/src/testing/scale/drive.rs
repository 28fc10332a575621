//! Drives the engines: hands them what arrived, performs what they ask for, runs items.

use super::Micros;
use super::world::{Happening, Question, Ticket, World};
use crate::engine::{Action, Event, Notice, Start, oldest_answer};
use crate::fire::{ExecutionSource, Fire, FireState, ItemEnd};
use crate::ident::ShardingItem;
use crate::testing::scale::SESSION_TIMEOUT;

impl World {
    /// Hands an event to the engine of a host, and performs what it asks for.
    pub(super) fn hand_over(&mut self, host: usize, event: Event) {
        let now = self.clocks();
        let Some(engine) = &mut self.hosts[host].engine else { return };
        engine.handle(now, event);
        self.perform(host);
        self.set_timer(host);
    }

    /// Lets the engine of a host take what has arrived, or tells it that a time has come for which it waits.
    pub(super) fn attend(&mut self, host: usize) {
        let (now, clocks) = (self.now, self.clocks());
        let state = &mut self.hosts[host];
        let count = state.inbox.iter().take_while(|(at, _)| *at <= now).count();
        let is_due = state.timer.is_some_and(|at| at <= now);
        if count == 0 && !is_due || state.engine.is_none() {
            return;
        }
        let mut events: Vec<Event> = state.inbox.drain(..count).map(|(_, event)| event).collect();
        if events.is_empty() {
            events.push(Event::Tick);
        }
        let proof = self.processes[state.process].proof;
        if let Some((session, at)) = proof.filter(|_| state.proof != proof) {
            state.proof = proof;
            events.insert(0, Event::Proven { session, at });
        }
        let last = events.len() - 1;
        for (number, event) in events.into_iter().enumerate() {
            let Some(engine) = &mut self.hosts[host].engine else { return };
            let is_gathered =
                matches!(event, Event::Watch(_) | Event::Watching(_) | Event::ItemEnded { .. } | Event::Read { .. })
                    || matches!(event, Event::Listed { .. });
            if number < last && is_gathered {
                engine.note(clocks, event);
                continue;
            }
            engine.handle(clocks, event);
            self.perform(host);
        }
        self.set_timer(host);
    }

    fn set_timer(&mut self, host: usize) {
        let now = self.now;
        let life = self.processes[self.hosts[host].process].life;
        let state = &mut self.hosts[host];
        let Some(engine) = &state.engine else { return };
        let timeout = engine.poll_timeout();
        let mono = timeout.mono.map(|at| at.as_nanos().div_ceil(1_000) as Micros);
        let next = mono.into_iter().chain(timeout.wall.map(Self::when)).min().map(|at| at.max(now + 1));
        let before = std::mem::replace(&mut state.timer, next);
        if let Some(at) = next.filter(|_| next != before) {
            self.at(at, Happening::Wake { host, life });
        }
    }

    fn perform(&mut self, host: usize) {
        let process = self.hosts[host].process;
        let life = self.processes[process].life;
        while let Some(action) = self.hosts[host].engine.as_mut().and_then(|engine| engine.poll_action()) {
            match action {
                Action::List { generation, paths } => {
                    paths.into_iter().for_each(|path| self.ask(host, Question::List { generation, path }));
                }
                Action::Read { generation, paths } => {
                    paths.into_iter().for_each(|path| self.ask(host, Question::Read { generation, path }));
                }
                Action::Commit(transaction) => self.submit(process, Ticket::Host { host, life }, transaction),
                Action::Watch(changes) => {
                    for watched in changes.add {
                        self.hosts[host].watches.insert(watched.clone(), false);
                        self.ask(host, Question::Watch(watched));
                    }
                    let state = &mut self.hosts[host];
                    state.watches.retain(|watched, _| !changes.drop.contains(watched));
                    let is_dropped = |event: &Event| {
                        let placed = |watched| matches!(event, Event::Watching(placed) if placed == watched);
                        changes.drop.iter().any(placed)
                    };
                    state.inbox.retain(|(_, event)| !is_dropped(event));
                }
                Action::Prove => self.prove(host),
                Action::Start(start) => self.start_items(host, &start),
                Action::Cancel { items, .. } | Action::Abort(items) => {
                    items.into_iter().for_each(|item| self.end_soon(host, item));
                }
                Action::CancelOnRequest { item, .. } => self.end_soon(host, item),
                Action::Tell(notice) => self.tell(host, &notice),
                Action::Stopped => self.stopped(host),
                // Runs end by themselves, nobody triggers the jobs, and they have no listeners and no jobs before them.
                Action::AskToStop(_)
                | Action::FollowJobs(_)
                | Action::Abandon(_)
                | Action::CallListeners(_)
                | Action::CancelListeners(_)
                | Action::AbortListeners(_)
                | Action::AnswerTrigger(..)
                | Action::AnswerStart(_) => {}
            }
        }
    }

    /// A proof of a moment ago serves again; otherwise all jobs of the process share a new one.
    fn prove(&mut self, host: usize) {
        let state = &self.processes[self.hosts[host].process];
        let oldest = self.clocks().mono.saturating_sub(oldest_answer(SESSION_TIMEOUT));
        match state.proof.filter(|(_, at)| at.mono > oldest) {
            Some(proof) => self.deliver(host, self.now, Event::ProofAnswered(Some(proof))),
            None => self.send_proof(host),
        }
    }

    fn start_items(&mut self, host: usize, start: &Start) {
        let job = self.hosts[host].job;
        let end = self.now + self.jobs[job].times.kind.run_time();
        for (item, _) in &start.items {
            let serial = self.next_serial();
            self.hosts[host].runs.insert(*item, serial);
            self.at(end, Happening::RunEnds { host, item: *item, serial });
            match (start.key.source, start.key.fire) {
                (ExecutionSource::NormalTrigger, Fire::Scheduled(at)) => self.counts.begun(Self::when(at), self.now),
                (ExecutionSource::Failover, _) => {
                    let from = self.lost.remove(&(job, *item));
                    let expired = from.and_then(|process| self.processes[process].expired_at);
                    self.taken_over.extend(expired.map(|at| self.now.saturating_sub(at)));
                }
                _ => self.counts.note("misfire"),
            }
        }
    }

    fn end_soon(&mut self, host: usize, item: ShardingItem) {
        if let Some(serial) = self.hosts[host].runs.get(&item).copied() {
            self.counts.note("cut off");
            self.at(self.now, Happening::RunEnds { host, item, serial });
        }
    }

    pub(super) fn run_ends(&mut self, host: usize, item: ShardingItem, serial: u64) {
        if self.hosts[host].runs.get(&item) != Some(&serial) {
            return;
        }
        self.hosts[host].runs.remove(&item);
        let end = ItemEnd { state: FireState::Succeeded, took: 1, error: None };
        self.deliver(host, self.now, Event::ItemEnded { item, end });
    }

    fn tell(&mut self, host: usize, notice: &Notice) {
        match notice {
            Notice::Registered { instance, .. } => {
                self.hosts[host].registered = Some(instance.clone());
                self.look_at(self.hosts[host].job);
            }
            Notice::Skipped { .. } => self.counts.note("skipped"),
            Notice::BegunLate { .. } => self.counts.note("begun late"),
            Notice::NotBegun { .. } => self.counts.note("not begun"),
            Notice::Collapsed { .. } => self.counts.note("collapsed"),
            Notice::StartFailed { .. } => self.counts.note("start failed"),
            _ => {}
        }
    }
}
