//! The jobs of a process share requests: transactions that wait at the same moment go out as one ([`GroupCommit`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::connections::is_begin;
use super::each_alone::{agree, each_alone};
use super::happening::Happening;
use super::host::{Answer, EPOCH, Host, Incoming, Millis, Process};
use super::operators::describe;
use super::world::{ANSWER_TIMEOUT, World};
use crate::engine::{Bug, Event};
use crate::registry::group_commit::{self, GroupCommit, Outcome, Request};
use crate::registry::layout::JobPath;
use crate::registry::tree::TreeError;
use crate::registry::{CommitError, Committed, Op, OpResult, SessionId, Transaction};
use crate::testing::invariants::Observation;

/// The caller that waits for the answer to a transaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    host: usize,
    life: u64,
    id: u64,
}

impl Ticket {
    /// Whether no engine waits for it any more.
    fn is_gone(&self, hosts: &[Host]) -> bool {
        let process = hosts[self.host].process.as_ref().filter(|process| process.life == self.life);
        process.is_none_or(|process| process.orphans.contains(&self.id))
    }
}

/// The transactions of a process on their way.
#[derive(Debug)]
pub(super) struct Shared {
    group: GroupCommit<Ticket>,
    out: BTreeMap<u64, Out>,
}

/// A request that was sent.
#[derive(Debug)]
struct Out {
    request: Request<Ticket>,
    /// The jobs that were connected, and the connection of each, which the simulator numbers by job.
    connections: Vec<(usize, u64)>,
    /// What the server answered, once the answer is on its way.
    answered: Option<Answered>,
}

#[derive(Debug)]
struct Answered {
    outcome: Outcome,
    session: SessionId,
    /// The answer that each transaction would have got by itself.
    alone: Vec<Result<Committed, CommitError>>,
    is_applied: bool,
}

impl Default for Shared {
    fn default() -> Self {
        Self { group: GroupCommit::new(0), out: BTreeMap::new() }
    }
}

impl World {
    /// Sends a transaction of an engine, at once or with the next request of its process.
    pub(super) fn share(&mut self, host: usize, life: u64, id: u64, transaction: Transaction) {
        let machine = self.machine_of(host);
        self.shared.entry(machine).or_default().group.submit(Ticket { host, life, id }, transaction);
        // A request of more jobs, which the simulator does not play, may be out.
        if self.rng.one_in(2) {
            let at = self.now + self.rng.between(1, 2 * self.latency + 1);
            self.at(at, Happening::SharedSend { machine });
        } else {
            self.send_shared(machine);
        }
    }

    fn machine_of(&self, host: usize) -> usize {
        host % self.machines()
    }

    /// A process starts: what the one before it had on its way is not its own.
    pub(super) fn forget_shared(&mut self, host: usize) {
        if self.process_beside(host).is_none() {
            self.shared.remove(&self.machine_of(host));
        }
    }

    /// The jobs of a process that are there.
    fn present(&self, machine: usize) -> impl Iterator<Item = (usize, &Process)> {
        self.of_process(machine).filter_map(|host| self.hosts[host].process.as_ref().map(|process| (host, process)))
    }

    fn frozen_until(&self, machine: usize) -> Option<Millis> {
        self.present(machine).find_map(|(_, process)| process.frozen_until)
    }

    pub(super) fn send_shared(&mut self, machine: usize) {
        if let Some(until) = self.frozen_until(machine) {
            let later = until.max(self.now) + 1;
            return self.at(later, Happening::SharedSend { machine });
        }
        loop {
            let connected = self.present(machine).find_map(|(_, process)| process.connection.and(process.session));
            let Some(shared) = self.shared.get_mut(&machine) else { return };
            let Some(session) = connected else {
                let answers = shared.group.give_up(&"not connected".into());
                return self.answer_shared(answers, None);
            };
            let (request, answers) = shared.group.next(session, |ticket| ticket.is_gone(&self.hosts));
            self.answer_shared(answers, None);
            let Some(request) = request else { return };
            self.put_out(machine, request);
        }
    }

    /// The connections of a process, which the simulator numbers by job.
    fn connections(&self, machine: usize) -> impl Iterator<Item = (usize, u64)> {
        self.present(machine).filter_map(|(host, process)| Some((host, process.connection?)))
    }

    /// Whether the connection is there on which a request was sent. It breaks for all jobs of a process.
    fn is_connected(&self, machine: usize, out: &Out) -> bool {
        self.connections(machine).any(|connection| out.connections.contains(&connection))
    }

    fn put_out(&mut self, machine: usize, request: Request<Ticket>) {
        let (now, delay, serial) = (self.now, self.rng.below(self.latency + 1), self.next_serial());
        let tickets: Vec<Ticket> = request.tickets().copied().collect();
        if tickets.len() > 1 {
            self.counts.count("shared_requests");
        }
        let last_out = |ticket: &Ticket| self.hosts[ticket.host].process.as_ref().map(|process| process.last_out);
        let at = tickets.iter().filter_map(last_out).max().unwrap_or(now).max(now + delay);
        for ticket in tickets {
            let shown = self.hosts[ticket.host].now(now);
            let Some(process) = self.live(ticket.host, ticket.life) else { continue };
            process.last_out = at;
            process.outstanding.iter_mut().filter(|sent| sent.id == ticket.id).for_each(|sent| sent.at = shown);
        }
        let connections = self.connections(machine).collect();
        let Some(shared) = self.shared.get_mut(&machine) else { return };
        shared.out.insert(serial, Out { request, connections, answered: None });
        self.at(at, Happening::SharedArrives { machine, serial });
        self.at(now + ANSWER_TIMEOUT, Happening::SharedTimeout { machine, serial });
    }

    /// The server does what a request asks.
    pub(super) fn shared_arrives(&mut self, machine: usize, serial: u64) -> Result<(), String> {
        let Some(out) = self.shared.get(&machine).and_then(|shared| shared.out.get(&serial)) else { return Ok(()) };
        let (request, is_connected) = (out.request.clone(), self.is_connected(machine, out));
        let connected = self.present(machine).find(|(_, process)| process.connection.is_some());
        let Some((host, Some(session))) = connected.map(|(host, process)| (host, process.session)) else {
            return Ok(());
        };
        if !is_connected || self.is_lagging(host) {
            return Ok(());
        }
        if self.tree.session_timeout(session).is_none() {
            // The server drops a connection whose session has ended.
            self.cut(host, 50);
            return Ok(());
        }
        self.speak(host);
        self.depose_on_the_way(&request);
        let answered = self.commit_shared(session, &request)?;
        let mut members = request.tickets().zip(request.transactions());
        let begins = members.any(|(ticket, transaction)| is_begin(self.job_of(ticket.host), transaction));
        if begins && self.may_ambush(host) {
            self.ambush(host);
        }
        if self.lose_answers > 0 {
            self.lose_answers -= 1;
            self.log(|_| format!("the answer to host {host} gets lost"));
            return Ok(());
        }
        if let Some(out) = self.shared.get_mut(&machine).and_then(|shared| shared.out.get_mut(&serial)) {
            out.answered = Some(answered);
        }
        let at = self.now + self.rng.below(self.latency + 1);
        self.at(at, Happening::SharedAnswered { machine, serial });
        Ok(())
    }

    /// An operator takes the lead from an instance at the worst moment: what it decided as the leader is on its way, together
    /// with what other jobs decided.
    fn depose_on_the_way(&mut self, request: &Request<Ticket>) {
        let leader = JobPath::LeaderInstance.absolute(&self.job);
        let checks = |op: &Op| matches!(op, Op::Check { path, .. } if *path == leader);
        let is_decided = request.transactions().flat_map(|transaction| transaction.ops()).any(checks);
        let is_shared = request.tickets().nth(1).is_some();
        if is_decided && is_shared && self.now < self.faults_until && self.rng.one_in(3) {
            self.count("leader_deleted_on_the_way");
            self.delete_leader();
        }
    }

    /// Applies all transactions of a request, or none.
    fn commit_shared(&mut self, session: SessionId, request: &Request<Ticket>) -> Result<Answered, String> {
        let wall = EPOCH + self.now as i64;
        let members: Vec<(usize, Arc<Transaction>)> =
            request.tickets().map(|ticket| ticket.host).zip(request.transactions().cloned()).collect();
        let sent = SentOps::of(request, self.bug);
        let leaders: Vec<_> = members.iter().map(|(host, _)| self.leader_session(self.job_of(*host))).collect();
        for (host, transaction) in &members {
            self.observe(Observation::Committing { session, host: Some(*host), transaction })?;
        }
        let before = self.tree.clone();
        let (committed, is_applied) = match self.tree.commit(session, &sent.all, wall) {
            Ok((committed, events)) => {
                self.log(|_| {
                    let hosts: Vec<usize> = members.iter().map(|(host, _)| *host).collect();
                    let ops: Vec<String> = sent.all.ops().iter().map(describe).collect();
                    format!("commit by hosts {hosts:?}: {}", ops.join(", "))
                });
                self.publish(&events);
                for ((host, transaction), leader) in members.iter().zip(leaders) {
                    self.observe(Observation::Committed { session, host: Some(*host), transaction, leader })?;
                }
                (Outcome::Applied(sent.results(committed)), true)
            }
            Err(TreeError::Refused { index, path, reason }) => {
                self.log(|_| format!("refused to hosts {members:?}: {path}: {reason}"));
                if members.len() > 1 {
                    self.counts.count("shared_refusals");
                }
                let index = self.named(&members, sent.index(index));
                (Outcome::Refused { index: Some(index), reason }, false)
            }
            Err(TreeError::NoSession) => {
                (Outcome::NotReached { index: None, why: "the session has ended".into() }, false)
            }
        };
        let transactions = members.iter().map(|(_, transaction)| &**transaction);
        let alone = each_alone(&before, session, transactions, is_applied, wall);
        Ok(Answered { outcome: committed, session, alone, is_applied })
    }

    /// The operation that the refusal names. A planted bug names one of another transaction.
    fn named(&self, members: &[(usize, Arc<Transaction>)], index: usize) -> usize {
        if self.bug != Some(Bug::ForeignAnswer) || members.len() == 1 {
            return index;
        }
        let first = members[0].1.ops().len();
        if index < first { first } else { 0 }
    }

    /// The client has the answer to a request.
    pub(super) fn shared_answered(&mut self, machine: usize, serial: u64) -> Result<(), String> {
        if let Some(until) = self.frozen_until(machine) {
            let later = until.max(self.now) + 1;
            self.at(later, Happening::SharedAnswered { machine, serial });
            return Ok(());
        }
        let out = self.shared.get(&machine).and_then(|shared| shared.out.get(&serial));
        if !out.is_some_and(|out| self.is_connected(machine, out)) {
            return Ok(());
        }
        let Some(shared) = self.shared.get_mut(&machine) else { return Ok(()) };
        let Some(Out { request, answered: Some(answered), .. }) = shared.out.remove(&serial) else { return Ok(()) };
        let ids: Vec<u64> = request.tickets().map(|ticket| ticket.id).collect();
        let answers = shared.group.answered(request, answered.outcome);
        for (ticket, told) in &answers {
            let alone = ids.iter().position(|id| *id == ticket.id).and_then(|number| answered.alone.get(number));
            let agreed = alone.map_or(Ok(()), |alone| agree(told, alone, answered.is_applied));
            agreed.map_err(|why| format!("host {}: {why}", ticket.host))?;
        }
        self.answer_shared(answers, Some(answered.session));
        self.send_shared(machine);
        Ok(())
    }

    /// The client stops waiting for an answer, also of what waits behind it.
    pub(super) fn shared_timeout(&mut self, machine: usize, serial: u64) {
        let Some(shared) = self.shared.get_mut(&machine) else { return };
        if shared.out.get(&serial).is_none_or(|out| out.answered.is_some()) {
            return;
        }
        let Some(out) = shared.out.remove(&serial) else { return };
        let mut answers = shared.group.give_up(&"an earlier request got no answer".into());
        answers.extend(shared.group.answered(out.request, Outcome::Unknown { why: "no answer".into() }));
        self.answer_shared(answers, None);
        self.send_shared(machine);
    }

    /// The client has noticed that its connection is gone. It may have another one already, with requests of its own.
    pub(super) fn cut_shared(&mut self, host: usize) {
        let machine = self.machine_of(host);
        let is_back = self.connections(machine).next().is_some();
        let Some(Shared { out, .. }) = self.shared.get(&machine) else { return };
        let lost = out.iter().filter(|(_, out)| !self.is_connected(machine, out));
        let lost: Vec<u64> = lost.map(|(serial, _)| *serial).collect();
        let Some(shared) = self.shared.get_mut(&machine) else { return };
        let mut answers = if is_back { Vec::new() } else { shared.group.give_up(&"the connection is lost".into()) };
        for Out { request, .. } in lost.into_iter().filter_map(|serial| shared.out.remove(&serial)) {
            let unknown = Outcome::Unknown { why: "the connection was lost".into() };
            answers.extend(shared.group.answered(request, unknown));
        }
        self.answer_shared(answers, None);
        self.send_shared(machine);
    }

    /// Gives answers to the engines: of the leader, with the session that they prove, or of this side.
    fn answer_shared(&mut self, answers: group_commit::Answers<Ticket>, proves: Option<SessionId>) {
        for (Ticket { host, life, id }, result) in answers {
            let Some(process) = self.live(host, life) else { continue };
            let Some(index) = process.outstanding.iter().position(|sent| sent.id == id) else { continue };
            let sent = process.outstanding[index].at;
            if proves.is_none() {
                process.outstanding.remove(index);
            }
            let answer = Answer::Engine(Event::Committed(result));
            let from_server = proves.is_some();
            self.receive(host, life, Incoming::Answer { id, sent, from_server, proves, answer });
            if let Some(session) = proves {
                self.prove_beside(host, session, sent);
            }
        }
    }
}

/// The operations of a request, as the server gets them. A planted bug leaves out guards.
struct SentOps {
    all: Transaction,
    is_left_out: Vec<bool>,
}

impl SentOps {
    fn of(request: &Request<Ticket>, bug: Option<Bug>) -> Self {
        let mut sent = Self { all: Transaction::new(), is_left_out: Vec::new() };
        for (number, transaction) in request.transactions().enumerate() {
            for op in transaction.ops() {
                let forgotten = bug == Some(Bug::ForgottenGuard) && number > 0 && matches!(op, Op::Check { .. });
                sent.is_left_out.push(forgotten);
                if !forgotten {
                    sent.all.push(op.clone());
                }
            }
        }
        sent
    }

    /// The results of all operations.
    fn results(&self, committed: Committed) -> Vec<OpResult> {
        let mut results = committed.results.into_iter();
        let result = |left_out: &bool| if *left_out { Some(OpResult::Check) } else { results.next() };
        self.is_left_out.iter().filter_map(result).collect()
    }

    /// The index among all operations of one that was sent.
    fn index(&self, sent: usize) -> usize {
        let mut indices = self.is_left_out.iter().enumerate().filter(|(_, left_out)| !**left_out);
        indices.nth(sent).map_or(0, |(index, _)| index)
    }
}
