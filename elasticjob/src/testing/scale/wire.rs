//! The messages between the processes and the servers.

use std::collections::BTreeMap;

use super::Micros;
use super::SESSION_TIMEOUT;
use super::server::SERVERS;
use super::world::{Happening, Out, Question, Ticket, World};
use crate::engine::Event;
use crate::registry::group_commit::{Answers, Outcome};
use crate::registry::layout::JobPath;
use crate::registry::mirror::Watched;
use crate::registry::tree::TreeError;
use crate::registry::{SessionId, Transaction, WatchEvent};

impl World {
    /// Sends a question to the server.
    pub(super) fn ask(&mut self, host: usize, question: Question) {
        let life = self.processes[self.hosts[host].process].life;
        let at = self.now + self.deployment.rates.network_us;
        self.at(at, Happening::Asked { host, life, question });
    }

    /// The server takes a question. Its answer is of this moment: what changes later is told behind it.
    pub(super) fn asked(&mut self, host: usize, life: u64, question: Question) {
        let process = self.hosts[host].process;
        if !self.is_alive(process, life) {
            return;
        }
        self.counts.at(self.now).reads += 1;
        let job = &self.jobs[self.hosts[host].job].name;
        let event = match question {
            Question::List { generation, path } => {
                let children = self.tree.children(&path.absolute(job)).expect("a valid path");
                Event::Listed { generation, path, children: Ok(children) }
            }
            Question::Read { generation, path } => {
                let node = self.tree.get(&path.absolute(job)).expect("a valid path");
                Event::Read { generation, path, node: Ok(node) }
            }
            Question::Watch(watched) => {
                let Some(in_place) = self.hosts[host].watches.get_mut(&watched) else { return };
                if std::mem::replace(in_place, true) {
                    return;
                }
                Event::placed(&watched)
            }
        };
        let at = self.serve(process, self.deployment.rates.read_ns);
        self.deliver(host, at, event);
    }

    /// The server of a process does a piece of work for it. Returns when its message reaches the process, behind all that
    /// are under way to it.
    fn serve(&mut self, process: usize, cost: u64) -> Micros {
        let slices = self.slices();
        let done = self.servers[process % SERVERS].serve(self.now, cost, slices, &mut self.rng);
        self.behind_others(process, done)
    }

    fn behind_others(&mut self, process: usize, sent: Micros) -> Micros {
        let state = &mut self.processes[process];
        state.last_in = state.last_in.max(sent + self.deployment.rates.network_us);
        state.last_in
    }

    /// Something reaches a host at this time.
    pub(super) fn deliver(&mut self, host: usize, at: Micros, event: Event) {
        let life = self.processes[self.hosts[host].process].life;
        let inbox = &mut self.hosts[host].inbox;
        let place = inbox.partition_point(|(other, _)| *other <= at);
        inbox.insert(place, (at, event));
        self.at(at, Happening::Wake { host, life });
    }

    /// Sends a transaction of an engine, at once or with the next request of its process.
    pub(super) fn submit(&mut self, process: usize, ticket: Ticket, transaction: Transaction) {
        self.processes[process].group.submit(ticket, transaction);
        self.send(process);
    }

    fn send(&mut self, process: usize) {
        loop {
            let Some(session) = self.processes[process].session else { return };
            let (life, hosts) = (self.processes[process].life, &self.hosts);
            let is_gone = |ticket: &Ticket| match ticket {
                Ticket::Host { host, life: of } => *of != life || hosts[*host].engine.is_none(),
                Ticket::Proof => false,
            };
            let (request, answers) = self.processes[process].group.next(session, is_gone);
            self.give(process, answers);
            let Some(request) = request else { return };
            let rates = self.deployment.rates;
            let operations: usize = request.transactions().map(|transaction| transaction.ops().len()).sum();
            let cost = rates.write_ns + rates.operation_ns * operations as u64;
            let (now, slices) = (self.now, self.slices());
            let applied = self.leader.serve(now + rates.network_us, cost, slices, &mut self.rng);
            let transactions = request.tickets().filter(|ticket| matches!(ticket, Ticket::Host { .. })).count();
            let counts = self.counts.at(applied);
            counts.writes += 1;
            counts.transactions += transactions as u64;
            counts.operations += operations as u64;
            let (serial, sent) = (self.next_serial(), self.clocks());
            self.processes[process].out.insert(serial, Out { request, sent, outcome: None });
            self.at(applied, Happening::Applied { process, life, serial });
            self.at(now + SESSION_TIMEOUT.as_micros() as Micros, Happening::GivenUp { process, life, serial });
        }
    }

    /// The servers apply all transactions of a request, or none.
    pub(super) fn applied(&mut self, process: usize, life: u64, serial: u64) {
        if !self.is_alive(process, life) {
            return;
        }
        let wall = self.clocks().wall;
        let Some(session) = self.processes[process].session else { return };
        let Some(out) = self.processes[process].out.get_mut(&serial) else { return };
        let mut all = Transaction::new();
        for op in out.request.transactions().flat_map(|transaction| transaction.ops()) {
            all.push(op.clone());
        }
        let (outcome, events) = match self.tree.commit(session, &all, wall) {
            Ok((committed, events)) => (Outcome::Applied(committed.results), events),
            Err(TreeError::Refused { index, reason, .. }) => {
                (Outcome::Refused { index: Some(index), reason }, Vec::new())
            }
            Err(TreeError::NoSession) => {
                (Outcome::NotReached { index: None, why: "the session has ended".into() }, Vec::new())
            }
        };
        out.outcome = Some(outcome);
        self.publish(&events);
        let at = self.behind_others(process, self.now);
        self.at(at, Happening::Answered { process, life, serial });
    }

    /// Tells the processes of changes, as they watch.
    pub(super) fn publish(&mut self, events: &[WatchEvent]) {
        let mut of_job: BTreeMap<usize, Vec<&WatchEvent>> = BTreeMap::new();
        for event in events {
            let (WatchEvent::Created(path) | WatchEvent::Changed(path) | WatchEvent::Deleted(path)) = event else {
                continue;
            };
            if let Some(job) = Self::job_at(path) {
                of_job.entry(job).or_default().push(event);
            }
        }
        for (job, events) in of_job {
            self.publish_to(job, &events);
            self.look_at(job);
        }
    }

    fn publish_to(&mut self, job: usize, events: &[&WatchEvent]) {
        let name = &self.jobs[job].name;
        let telling: Vec<_> = events.iter().map(|event| Watched::telling(name, event)).collect();
        for host in self.jobs[job].hosts.clone() {
            let state = &self.hosts[host];
            if state.engine.is_none() {
                continue;
            }
            let is_told = |telling: &Vec<Watched>| {
                telling.iter().any(|watched| state.watches.get(watched).is_some_and(|in_place| *in_place))
            };
            let told = events.iter().zip(&telling).filter(|(_, telling)| is_told(telling));
            let told: Vec<WatchEvent> = told.map(|(event, _)| (*event).clone()).collect();
            if told.is_empty() {
                continue;
            }
            let process = state.process;
            self.counts.at(self.now).notifications += told.len() as u64;
            let cost = self.deployment.rates.notification_ns * told.len() as u64;
            let at = self.serve(process, cost);
            let life = self.processes[process].life;
            self.hosts[host].inbox.extend(told.into_iter().map(|event| (at, Event::Watch(event))));
            self.at(at, Happening::Wake { host, life });
        }
    }

    /// A process has the answer to a request.
    pub(super) fn answered(&mut self, process: usize, life: u64, serial: u64) {
        if !self.is_alive(process, life) {
            return;
        }
        let state = &mut self.processes[process];
        let Some(Out { request, sent, outcome: Some(outcome) }) = state.out.remove(&serial) else { return };
        if let Some(session) = state.session.filter(|_| !matches!(outcome, Outcome::NotReached { .. })) {
            state.proof = Some((session, sent));
        }
        let answers = state.group.answered(request, outcome);
        self.give(process, answers);
        self.send(process);
    }

    /// A process waits no longer for an answer, nor for what waits behind it.
    pub(super) fn given_up(&mut self, process: usize, life: u64, serial: u64) {
        if !self.is_alive(process, life) {
            return;
        }
        let state = &mut self.processes[process];
        let Some(out) = state.out.remove(&serial) else { return };
        self.counts.note("no answer in time");
        let mut answers = state.group.give_up(&"an earlier request got no answer".into());
        answers.extend(state.group.answered(out.request, Outcome::Unknown { why: "no answer".into() }));
        self.give(process, answers);
        self.send(process);
    }

    /// Gives answers to the engines. What happened before is there by now.
    fn give(&mut self, process: usize, answers: Answers<Ticket>) {
        let life = self.processes[process].life;
        for (ticket, answer) in answers {
            match ticket {
                Ticket::Host { host, life: of } if of == life => {
                    self.deliver(host, self.now, Event::Committed(answer));
                }
                Ticket::Host { .. } => {}
                Ticket::Proof => {
                    let proof = self.processes[process].proof.filter(|_| answer.is_ok());
                    for host in std::mem::take(&mut self.processes[process].proving) {
                        self.deliver(host, self.now, Event::ProofAnswered(proof));
                    }
                }
            }
        }
    }

    /// A process proves its session by a transaction that writes nothing.
    pub(super) fn send_proof(&mut self, host: usize) {
        let process = self.hosts[host].process;
        self.processes[process].proving.push(host);
        if self.processes[process].proving.len() == 1 {
            let mut check = Transaction::new();
            check.check(JobPath::Config.absolute(&self.jobs[self.hosts[host].job].name), None);
            self.submit(process, Ticket::Proof, check);
        }
    }

    /// The servers end a session, which is a write, and delete its ephemeral nodes.
    pub(super) fn session_ends(&mut self, process: usize, session: SessionId) {
        let rates = self.deployment.rates;
        let events = self.tree.close_session(session);
        let operations = events.len() as u64;
        let (now, slices) = (self.now, self.slices());
        let cost = rates.write_ns + rates.operation_ns * operations;
        let _ = self.leader.serve(now, cost, slices, &mut self.rng);
        let counts = self.counts.at(now);
        counts.writes += 1;
        counts.operations += operations;
        self.processes[process].expired_at = Some(now);
        self.publish(&events);
    }
}
