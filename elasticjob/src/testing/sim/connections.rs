//! Connections and sessions: what delays, breaks and expires between engines and the server.

use std::time::Duration;

use super::happening::Happening;
use super::host::{Answer, EPOCH, Incoming, Millis, Request, Sent};
use super::java::{Call, Reply};
use super::operators::describe;
use super::world::{ANSWER_TIMEOUT, World};
use crate::engine::{Bug, Event};
use crate::ident::JobName;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::tree::TreeError;
use crate::registry::{CommitError, Committed, Op, RegistryError, SessionId, SessionState, Transaction, WatchEvent};
use crate::testing::invariants::Observation;

impl World {
    /// The connection of a process breaks.
    pub(super) fn cut(&mut self, host: usize, outage: Millis) {
        self.of_process(host).for_each(|host| self.cut_one(host, outage));
    }

    /// What is under way is lost, the client notices later and tries again.
    fn cut_one(&mut self, host: usize, outage: Millis) {
        self.incident();
        let notice = self.now + self.rng.below(200);
        let back = notice + outage;
        let Some(process) = &mut self.hosts[host].process else { return };
        if process.connection.take().is_none() {
            return;
        }
        // What the server sent and was under way is lost with the connection; what this side tells itself is not.
        process.incoming.retain(|(_, incoming)| match incoming {
            Incoming::Event(event) => !matches!(event, Event::Watch(_) | Event::Watching(_) | Event::Parent { .. }),
            Incoming::Answer { from_server, .. } => !from_server,
        });
        process.watches.lose();
        let life = process.life;
        self.at(notice, Happening::NoticeCut { host, life });
        self.at(back, Happening::Reconnect { host, life });
    }

    pub(super) fn notice_cut(&mut self, host: usize, life: u64) -> Result<(), String> {
        if self.live(host, life).is_some() {
            self.cut_shared(host);
        }
        let Some(process) = self.live(host, life) else { return Ok(()) };
        let lost = std::mem::take(&mut process.outstanding);
        let session = process.session;
        if let Some(id) = session {
            self.receive(host, life, Incoming::Event(Event::Session(SessionState::Suspended { id })));
        }
        for sent in lost {
            let answer = unanswered(&sent.request);
            self.receive(
                host,
                life,
                Incoming::Answer { id: sent.id, sent: sent.at, from_server: false, proves: None, answer },
            );
        }
        self.attend(host, life, None)
    }

    pub(super) fn reconnect(&mut self, host: usize, life: u64) -> Result<(), String> {
        let now = self.now;
        let Some(process) = self.live(host, life) else { return Ok(()) };
        if process.connection.is_some() {
            return Ok(());
        }
        if now < self.away_until {
            self.at(self.away_until, Happening::Reconnect { host, life });
            return Ok(());
        }
        let Some(process) = self.live(host, life) else { return Ok(()) };
        if process.is_frozen() {
            let at = process.frozen_until.unwrap_or(now) + 1;
            self.at(at, Happening::Reconnect { host, life });
            return Ok(());
        }
        let before = process.session;
        // The process has one session and one connection, whichever of its jobs was there first.
        let beside = self.process_beside(host).map(|beside| (beside.session, beside.connection, beside.on_follower));
        let shared = beside.filter(|(_, connection, _)| connection.is_some());
        let session = shared.map_or_else(|| before.or(beside?.0), |(session, ..)| session);
        // One that has lost its leader takes nobody.
        let on_follower = !self.hosts[host].java && self.rng.one_in(2) && self.lagging.is_none();
        let on_follower = shared.map_or(on_follower, |(.., on_follower)| on_follower);
        let connection = self.next_serial();
        let alive = session.filter(|session| self.tree.session_timeout(*session).is_some());
        if shared.is_some() && alive.is_none() {
            // Its end is heard of first.
            self.at(now + 100, Happening::Reconnect { host, life });
            return Ok(());
        }
        let id = alive.unwrap_or_else(|| {
            let id = SessionId(self.next_serial() as i64 + 1_000_000);
            self.tree.open_session(id, Duration::from_millis(self.session_timeout));
            id
        });
        self.heard.insert(id, now);
        let new = before != Some(id);
        let known = self.held(self.limits.of(id));
        let granted = self.limits.connect(id);
        let granted = self.held(granted);
        self.log(|_| format!("host {host} is connected, session {id}{}", if new { " (new)" } else { "" }));
        let Some(process) = self.live(host, life) else { return Ok(()) };
        process.connection = Some(connection);
        process.on_follower = on_follower;
        process.spoke = [now].into();
        process.session = Some(id);
        let mut messages = process.watches.place_all();
        if new && before.is_some() {
            self.drop_cut_off(host, life, true);
            self.receive(host, life, Incoming::Event(Event::Session(SessionState::Connecting)));
        }
        let connected = |timeout| Event::Session(SessionState::Connected { id, timeout });
        // The gaps come before or after it.
        let at = if self.rng.one_in(2) { messages.len() } else { 0 };
        messages.insert(at, connected(known));
        let learned = (granted < known).then(|| connected(granted));
        for event in messages.into_iter().chain(learned) {
            self.receive(host, life, Incoming::Event(event));
        }
        self.tell_parents(host);
        Ok(())
    }

    /// The server ends a session without the client hearing of it, as after a partition that healed.
    pub(super) fn expire_silently(&mut self, host: usize) {
        let Some(session) = self.hosts[host].process.as_ref().and_then(|process| process.session) else { return };
        // The server may only do so after a time-out without hearing from the client.
        let outage = self.session_timeout + self.rng.between(200, 2_000);
        self.cut(host, outage);
        self.heard.entry(session).and_modify(|heard| *heard = self.now.min(*heard));
    }

    /// Sends a message to a host, behind everything that is under way to it.
    pub(super) fn receive(&mut self, host: usize, life: u64, incoming: Incoming) {
        let delay = self.rng.below(self.latency + 1);
        let now = self.now;
        let Some(process) = self.live(host, life) else { return };
        let at = process.last_in.max(now + delay);
        process.last_in = at;
        process.incoming.push_back((at, incoming));
        self.at(at, Happening::Wake { host, life });
    }

    pub(super) fn publish(&mut self, events: &[WatchEvent]) {
        self.trigger_beside_a_joiner(events);
        for (host, times) in self.hearing(events).into_iter().enumerate() {
            let Some(process) = &self.hosts[host].process else { continue };
            if process.connection.is_none() || self.is_lagging(host) {
                continue;
            }
            let life = process.life;
            for (event, times) in events.iter().zip(times) {
                for _ in 0..times {
                    self.receive(host, life, Incoming::Event(Event::Watch(event.clone())));
                }
            }
        }
        self.publish_parents(events);
    }

    pub(super) fn send(&mut self, host: usize, life: u64, request: Request) {
        let id = self.next_serial();
        let now = self.now;
        let delay = self.rng.below(self.latency + 1);
        let shown = self.hosts[host].now(now);
        let shares = !self.beside.is_empty();
        let Some(process) = self.live(host, life) else { return };
        let Some(connection) = process.connection else {
            let not_reached = || CommitError::NotReached { why: "not connected".into() };
            let answer = match &request {
                Request::Commit(_) => Answer::Engine(Event::Committed(Err(not_reached()))),
                other => unanswered(other),
            };
            self.receive(host, life, Incoming::Answer { id, sent: shown, from_server: false, proves: None, answer });
            return;
        };
        if shares && let Request::Commit(transaction) = &request {
            let transaction = transaction.clone();
            process.outstanding.push(Sent { id, at: shown, request });
            return self.share(host, life, id, transaction);
        }
        let at = process.last_out.max(now + delay);
        process.last_out = at;
        process.outstanding.push(Sent { id, at: shown, request });
        self.at(at, Happening::Arrive { host, life, connection, id });
        self.at(now + ANSWER_TIMEOUT, Happening::AnswerTimeout { host, life, id });
    }

    pub(super) fn give_up_waiting(&mut self, host: usize, life: u64, id: u64) -> Result<(), String> {
        let Some(process) = self.live(host, life) else { return Ok(()) };
        let Some(index) = process.outstanding.iter().position(|sent| sent.id == id) else { return Ok(()) };
        if process
            .incoming
            .iter()
            .any(|(_, incoming)| matches!(incoming, Incoming::Answer { id: other, .. } if *other == id))
        {
            return Ok(());
        }
        let sent = process.outstanding.remove(index);
        let answer = unanswered(&sent.request);
        self.receive(host, life, Incoming::Answer { id, sent: sent.at, from_server: false, proves: None, answer });
        Ok(())
    }

    /// The server does what a request asks.
    pub(super) fn arrive(&mut self, host: usize, life: u64, connection: u64, id: u64) -> Result<(), String> {
        let Some(process) = self.live(host, life).filter(|process| process.connection == Some(connection)) else {
            return Ok(());
        };
        let Some(sent) = process.outstanding.iter().find(|sent| sent.id == id).cloned() else { return Ok(()) };
        let Some(session) = process.session else { return Ok(()) };
        let lags = self.is_lagging(host);
        if lags && self.needs_leader(&sent.request) {
            return Ok(());
        }
        if !lags {
            if self.tree.session_timeout(session).is_none() {
                // The server drops a connection whose session has ended.
                self.cut(host, 50);
                return Ok(());
            }
            self.speak(host);
        }
        let tree = self.lagging.as_ref().filter(|_| lags).map_or(&self.tree, |lagging| &lagging.tree);
        let is_proof = sent.request.is_for_the_leader() || self.bug == Some(Bug::ProofByRead);
        let proves = is_proof.then_some(session);
        let is_begin =
            matches!(&sent.request, Request::Commit(transaction) if is_begin(self.job_of(host), transaction));
        let writes = matches!(&sent.request, Request::Commit(_) | Request::Java(_, Call::Commit(_)));
        let answer = match sent.request {
            Request::Probe => Answer::Engine(Event::ProofAnswered(Some((session, sent.at)))),
            Request::List { generation, path } => {
                let children =
                    tree.children(&path.absolute(self.job_of(host))).map_err(|reason| format!("{path}: {reason}"))?;
                Answer::Engine(Event::Listed { generation, path, children: Ok(children) })
            }
            Request::Read { generation, path } => {
                let node = tree.get(&path.absolute(self.job_of(host))).map_err(|reason| format!("{path}: {reason}"))?;
                Answer::Engine(Event::Read { generation, path, node: Ok(node) })
            }
            Request::Commit(transaction) => {
                Answer::Engine(Event::Committed(match transaction.check_session(session) {
                    Ok(()) => self.commit(session, &transaction, Some(host))?,
                    Err(error) => Err(error),
                }))
            }
            Request::Java(ticket, call) => self.answer_java(host, session, ticket, call)?,
        };
        if is_begin && self.may_ambush(host) {
            self.ambush(host);
        }
        if writes && self.lose_answers > 0 {
            self.lose_answers -= 1;
            self.log(|_| format!("the answer to host {host} gets lost"));
            return Ok(());
        }
        self.receive(host, life, Incoming::Answer { id, sent: sent.at, from_server: true, proves, answer });
        if let Some(session) = proves {
            self.prove_beside(host, session, sent.at);
        }
        Ok(())
    }

    pub(super) fn commit(
        &mut self,
        session: SessionId,
        transaction: &Transaction,
        host: Option<usize>,
    ) -> Result<Result<Committed, CommitError>, String> {
        let wall = EPOCH + self.now as i64;
        let leader = self.leader_session(host.map_or(&self.job, |host| self.job_of(host)));
        self.observe(Observation::Committing { session, host, transaction })?;
        match self.tree.commit(session, transaction, wall) {
            Ok((committed, events)) => {
                if host.is_some_and(|host| is_assigned_in_part(self.job_of(host), transaction)) {
                    self.count("assigned_in_part");
                }
                self.log(|_| {
                    let ops: Vec<String> = transaction.ops().iter().map(describe).collect();
                    format!(
                        "commit by {}: {}",
                        host.map_or("operator".into(), |host| format!("host {host}")),
                        ops.join(", ")
                    )
                });
                self.publish(&events);
                self.observe(Observation::Committed { session, host, transaction, leader })?;
                Ok(Ok(committed))
            }
            Err(TreeError::Refused { index, path, reason }) => {
                self.log(|_| format!("refused to host {host:?}: {path}: {reason}"));
                Ok(Err(CommitError::Refused { index, path, reason }))
            }
            Err(TreeError::NoSession) => Ok(Err(CommitError::NotReached { why: "the session has ended".into() })),
        }
    }

    pub(super) fn leader_session(&self, job: &JobName) -> Option<SessionId> {
        self.tree.get(&JobPath::LeaderInstance.absolute(job)).ok()??.stat.ephemeral_owner
    }
}

/// Whether a transaction marks items as running.
pub(super) fn is_begin(job: &JobName, transaction: &Transaction) -> bool {
    transaction.ops().iter().any(|op| {
        let path = JobPath::parse(job, op.path());
        matches!((op, path), (Op::Create { .. }, Some(JobPath::Item(_, ItemNode::Running))))
    })
}

/// Whether a transaction assigns items, and leaves the request for the transactions that follow.
fn is_assigned_in_part(job: &JobName, transaction: &Transaction) -> bool {
    let request = JobPath::Necessary.absolute(job);
    transaction.ops().iter().any(|op| matches!(op, Op::Check { path, .. } if *path == request))
}

pub(super) fn unanswered(request: &Request) -> Answer {
    let why = || "the connection was lost".into();
    Answer::Engine(match request {
        Request::List { generation, path } => Event::Listed {
            generation: *generation,
            path: path.clone(),
            children: Err(RegistryError::NoAnswer { why: why() }),
        },
        Request::Read { generation, path } => Event::Read {
            generation: *generation,
            path: path.clone(),
            node: Err(RegistryError::NoAnswer { why: why() }),
        },
        Request::Commit(_) => Event::Committed(Err(CommitError::Unknown { why: why() })),
        Request::Probe => Event::ProofAnswered(None),
        Request::Java(ticket, _) => return Answer::Java(*ticket, Reply::Lost),
    })
}
