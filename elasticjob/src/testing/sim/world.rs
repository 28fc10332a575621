//! The world around the engines: server, connections, time, operators.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;
use std::time::Duration;

use super::faults::FaultCounts;
use super::host::{EPOCH, Execution, Host, Incoming, Millis, Process, Request, Sent};
use crate::config::{JobConfiguration, wire};
use crate::engine::{Action, Activity, Bug, Event, FireState, Identity, ItemEnd, JobEngine, Notice, Start};
use crate::ident::{JobName, ShardingItem};
use crate::registry::path::{ItemNode, JobPath};
use crate::registry::tree::{Tree, TreeError};
use crate::registry::{CommitError, CreateMode, Op, RegistryError, SessionId, SessionState, Transaction, WatchEvent};
use crate::testing::invariants::{Invariants, Observation};
use crate::testing::rng::Rng;

/// The session an operator's commands run in.
const OPERATOR: SessionId = SessionId(1);
/// How long a client waits for an answer.
const ANSWER_TIMEOUT: Millis = 2_000;
/// Grace of a shutdown.
const GRACE: Duration = Duration::from_secs(5);

/// What happens at some time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    /// A request reaches the server.
    Arrive {
        host: usize,
        life: u64,
        connection: u64,
        id: u64,
    },
    /// A message is there for a host, or its engine wants to be asked.
    Wake {
        host: usize,
        life: u64,
    },
    /// A run of an item ends by itself.
    ItemEnds {
        host: usize,
        life: u64,
        item: ShardingItem,
        serial: u64,
    },
    /// The client of a host has noticed that its connection is gone.
    NoticeCut {
        host: usize,
        life: u64,
    },
    /// A connection may be made again.
    Reconnect {
        host: usize,
        life: u64,
    },
    /// A client stops waiting for an answer.
    AnswerTimeout {
        host: usize,
        life: u64,
        id: u64,
    },
    /// An instance whose node was deleted has had the time to leave.
    CheckRemoved {
        host: usize,
        life: u64,
        session: SessionId,
    },
    Thaw {
        host: usize,
        life: u64,
    },
    Restart {
        host: usize,
    },
    /// The server looks for sessions that ended.
    Expire,
    Inject,
}

/// A simulated group.
#[derive(Debug)]
pub struct World {
    pub(super) rng: Rng,
    pub(super) now: Millis,
    pub(super) hosts: Vec<Host>,
    pub(super) session_timeout: Millis,
    pub(super) latency: Millis,
    /// How many answers to transactions get lost next.
    pub(super) lose_answers: u64,
    job: JobName,
    bug: Option<Bug>,
    pub(super) period: u32,
    pub(super) total: u32,
    monitored: bool,
    longest_run: Millis,
    tree: Tree,
    /// When the server heard of each session last.
    heard: BTreeMap<SessionId, Millis>,
    agenda: BinaryHeap<Reverse<(Millis, u64, Happening)>>,
    serial: u64,
    faults_until: Millis,
    /// Nothing starts any more.
    closing: bool,
    invariants: Invariants,
    counts: FaultCounts,
    history: Option<Vec<String>>,
}

impl World {
    /// The group of a seed.
    pub fn new(seed: u64, bug: Option<Bug>, keep_history: bool) -> Self {
        let mut rng = Rng::new(seed);
        let hosts = rng.between(1, 5) as usize;
        let session_timeout = rng.pick(&[2_000, 4_000, 10_000]);
        let period = rng.pick(&[1, 2, 5, 10]);
        let monitored = !rng.one_in(8);
        let longest_run = rng.pick(&[200, 900, 4_000, 15_000]);
        let total = rng.between(1, 7) as u32;
        let job = JobName::new("job").expect("a valid name");
        let mut tree = Tree::new(1_000);
        tree.open_session(OPERATOR, Duration::from_secs(1_000_000));
        // Several processes on one host share its address, and in containers even the number of the process.
        let one_address = rng.one_in(6);
        let one_pid = one_address && rng.one_in(2);
        let hosts = (0..hosts)
            .map(|n| Host {
                ip: format!("10.0.0.{}", if one_address { 1 } else { n + 1 }),
                pid: if one_pid { 1 } else { 100 + 1_000 * n as u32 },
                process: None,
                clock_offset: rng.below(40) as i64,
            })
            .collect();
        let mut world = Self {
            now: 0,
            hosts,
            session_timeout,
            latency: rng.pick(&[1, 3, 30]),
            lose_answers: 0,
            job,
            bug,
            period,
            total,
            monitored,
            longest_run,
            tree,
            heard: BTreeMap::new(),
            agenda: BinaryHeap::new(),
            serial: 0,
            faults_until: 0,
            closing: false,
            invariants: Invariants::new(total, monitored, period),
            counts: FaultCounts::default(),
            history: keep_history.then(Vec::new),
            rng,
        };
        world.log(|world| {
            format!(
                "seed {seed}: {} hosts, session {session_timeout} ms, every {period} s, {total} items, monitored {monitored}, \
                 runs up to {longest_run} ms",
                world.hosts.len()
            )
        });
        for host in 0..world.hosts.len() {
            let at = world.rng.below(3_000);
            world.at(at, Happening::Restart { host });
        }
        world.configure(total);
        world.faults_until = world.rng.between(20_000, 90_000);
        let first = world.rng.between(2_000, 10_000);
        world.at(first, Happening::Inject);
        world.at(100, Happening::Expire);
        world
    }

    /// Plays the whole history.
    ///
    /// # Errors
    /// The invariant that does not hold, and why.
    pub fn play(&mut self) -> Result<(), String> {
        let settle = 4 * self.session_timeout + 2 * self.longest_run + 30_000;
        let calm_from = self.faults_until + settle;
        let calm_until = calm_from + 4_000 * u64::from(self.period) + self.longest_run;
        self.run_until(calm_from)?;
        self.observe(Observation::Converged)?;
        self.log(|_| "-- calm --".to_owned());
        self.log_engines();
        self.run_until(calm_until)?;
        self.observe(Observation::Calm { from: EPOCH + calm_from as i64, until: EPOCH + calm_until as i64 })?;
        self.closing = true;
        for host in 0..self.hosts.len() {
            self.leave(host);
        }
        self.run_until(calm_until + 2 * self.session_timeout + self.longest_run + 15_000)?;
        self.observe(Observation::AllLeft)?;
        self.observe(Observation::Over)
    }

    /// How often each fault happened.
    pub fn fault_counts(&self) -> FaultCounts {
        self.counts.clone()
    }

    /// What happened, when it was kept.
    pub fn take_history(&mut self) -> Vec<String> {
        self.history.take().unwrap_or_default()
    }

    /// Adds to the history what the engines know and wait for.
    pub fn log_engines(&mut self) {
        for host in 0..self.hosts.len() {
            self.log(|world| match &world.hosts[host].process {
                Some(process) => format!("host {host}: {:?}", process.engine),
                None => format!("host {host} is down"),
            });
        }
    }

    fn run_until(&mut self, end: Millis) -> Result<(), String> {
        while let Some(Reverse((at, _, _))) = self.agenda.peek() {
            if *at > end {
                break;
            }
            let Some(Reverse((at, _, happening))) = self.agenda.pop() else { break };
            self.now = at;
            self.happen(happening)?;
        }
        self.now = end;
        Ok(())
    }

    fn at(&mut self, at: Millis, happening: Happening) {
        self.serial += 1;
        self.agenda.push(Reverse((at, self.serial, happening)));
    }

    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    fn log(&mut self, line: impl FnOnce(&Self) -> String) {
        if self.history.is_some() {
            let line = format!("{:>8} {}", self.now, line(self));
            self.history.iter_mut().for_each(|history| history.push(line.clone()));
        }
    }

    pub(super) fn count(&mut self, fault: &'static str) {
        self.counts.count(fault);
        self.log(|_| format!("!! {fault}"));
    }

    fn observe(&mut self, observation: Observation<'_>) -> Result<(), String> {
        let Self { invariants, tree, hosts, job, now, .. } = self;
        invariants.observe(*now, job, tree, hosts, &observation)
    }

    /// Something happened that may cost a fire.
    pub(super) fn incident(&mut self) {
        self.invariants.incident(EPOCH + self.now as i64);
    }

    fn live(&mut self, host: usize, life: u64) -> Option<&mut Process> {
        self.hosts[host].process.as_mut().filter(|process| process.life == life)
    }

    fn happen(&mut self, happening: Happening) -> Result<(), String> {
        match happening {
            Happening::Arrive { host, life, connection, id } => return self.arrive(host, life, connection, id),
            Happening::Wake { host, life } => {
                let now = self.now;
                let Some(process) = self.live(host, life) else { return Ok(()) };
                let asked = process.next_wake.take_if(|at| *at <= now).is_some();
                // Without a message and before its time an engine is not asked: it must not depend on that.
                if asked || process.incoming.front().is_some_and(|(at, _)| *at <= now) {
                    return self.attend(host, life, None);
                }
            }
            Happening::ItemEnds { host, life, item, serial } => return self.end_item(host, life, item, serial, None),
            Happening::NoticeCut { host, life } => return self.notice_cut(host, life),
            Happening::Reconnect { host, life } => return self.reconnect(host, life),
            Happening::AnswerTimeout { host, life, id } => return self.give_up_waiting(host, life, id),
            Happening::Thaw { host, life } => return self.thaw(host, life),
            Happening::Restart { host } => return self.start(host),
            Happening::CheckRemoved { host, life, session } => return self.check_removed(host, life, session),
            Happening::Expire => {
                self.expire();
                let next = self.now + 100;
                self.at(next, Happening::Expire);
            }
            Happening::Inject if self.now < self.faults_until => {
                self.inject();
                let next = self.now + self.rng.between(100, 6_000);
                self.at(next, Happening::Inject);
            }
            Happening::Inject => self.heal(),
        }
        Ok(())
    }

    /// Faults are over: the network is fast, clocks are right, servers are enabled, and everything that is down comes back by itself.
    fn heal(&mut self) {
        self.log(|_| "-- faults stop --".to_owned());
        self.latency = 2;
        self.lose_answers = 0;
        let total = self.total;
        self.configure(total);
        for item in 0..total {
            self.enable_item(item);
        }
        for host in 0..self.hosts.len() {
            self.hosts[host].clock_offset = self.rng.below(40) as i64;
            let server = JobPath::Server(self.hosts[host].ip.as_str().into());
            if self.tree.get(&server.absolute(&self.job)).ok().flatten().is_some() {
                self.operator_sets(&server, "ENABLED");
            }
            self.wake_soon(host);
        }
        self.incident();
    }

    // ---- processes

    fn start(&mut self, host: usize) -> Result<(), String> {
        if let Some(process) = &self.hosts[host].process {
            if process.leaving && !self.closing {
                let later = self.now + 500;
                self.at(later, Happening::Restart { host });
            }
            return Ok(());
        }
        let life = self.next_serial();
        let instance = self.hosts[host].instance();
        self.log(|_| format!("host {host} starts {instance}"));
        let candidate = format!("{life:032x}");
        let suffix = self.rng.next() as u16;
        let identity = Identity { base: instance.clone(), instance, suffix, candidate };
        let mut engine = JobEngine::new(identity, Arc::new(self.configuration(3)));
        if let Some(bug) = self.bug {
            engine.plant(bug);
        }
        self.hosts[host].process = Some(Process {
            engine,
            life,
            started: self.now,
            session: None,
            connection: None,
            frozen_until: None,
            incoming: Default::default(),
            outstanding: Vec::new(),
            executions: BTreeMap::new(),
            last_in: 0,
            last_out: 0,
            next_wake: None,
            leaving: false,
            abandoned: BTreeSet::new(),
            fenced: false,
        });
        self.reconnect(host, life)
    }

    pub(super) fn crash(&mut self, host: usize) {
        self.incident();
        self.hosts[host].process = None;
    }

    pub(super) fn restart_later(&mut self, host: usize, same_id: bool, delay: Millis) {
        if !same_id {
            self.hosts[host].pid += 1;
        }
        let at = self.now + delay;
        self.at(at, Happening::Restart { host });
    }

    pub(super) fn leave(&mut self, host: usize) {
        let Some(process) = &mut self.hosts[host].process else { return };
        if process.leaving {
            return;
        }
        process.leaving = true;
        let life = process.life;
        self.log(|_| format!("host {host} is asked to leave"));
        let grace = GRACE;
        self.receive(host, life, Incoming::Event(Event::Shutdown { grace }));
    }

    pub(super) fn freeze(&mut self, host: usize, duration: Millis) {
        self.incident();
        let at = self.now + duration;
        let Some(process) = self.hosts[host].process.as_mut().filter(|process| !process.is_frozen()) else { return };
        process.frozen_until = Some(at);
        let life = process.life;
        self.at(at, Happening::Thaw { host, life });
    }

    fn thaw(&mut self, host: usize, life: u64) -> Result<(), String> {
        self.incident();
        let now = self.now;
        let Some(process) = self.live(host, life) else { return Ok(()) };
        process.frozen_until = None;
        let session = process.session;
        self.log(|_| format!("host {host} goes on"));
        let ended = session.is_some_and(|session| self.tree.session_timeout(session).is_none());
        if ended {
            // What it still does until it has noticed is the fence's matter.
            if let Some(process) = self.live(host, life) {
                process.fenced = true;
            }
            self.cut(host, 1);
        } else if let Some(session) = session {
            self.heard.insert(session, now);
        }
        self.attend(host, life, None)
    }

    pub(super) fn wake_soon(&mut self, host: usize) {
        let now = self.now;
        if let Some(process) = &mut self.hosts[host].process {
            process.next_wake = Some(now);
            let life = process.life;
            self.at(now, Happening::Wake { host, life });
        }
    }

    // ---- connections and sessions

    /// The connection breaks: what is under way is lost, the client notices later and tries again.
    pub(super) fn cut(&mut self, host: usize, outage: Millis) {
        self.incident();
        let notice = self.now + self.rng.below(200);
        let back = notice + outage;
        let Some(process) = &mut self.hosts[host].process else { return };
        if process.connection.take().is_none() {
            return;
        }
        // What the server sent and was under way is lost with the connection; what this side tells itself is not.
        process.incoming.retain(|(_, incoming)| match incoming {
            Incoming::Event(event) => !matches!(event, Event::Watch(_)),
            Incoming::Answer { proves, .. } => !proves,
        });
        let life = process.life;
        self.at(notice, Happening::NoticeCut { host, life });
        self.at(back, Happening::Reconnect { host, life });
    }

    fn notice_cut(&mut self, host: usize, life: u64) -> Result<(), String> {
        let Some(process) = self.live(host, life) else { return Ok(()) };
        let lost = std::mem::take(&mut process.outstanding);
        let session = process.session;
        if let Some(id) = session {
            self.receive(host, life, Incoming::Event(Event::Session(SessionState::Suspended { id })));
        }
        for sent in lost {
            let event = unanswered(&sent.request);
            self.receive(host, life, Incoming::Answer { id: sent.id, sent: sent.at, proves: false, event });
        }
        self.attend(host, life, None)
    }

    fn reconnect(&mut self, host: usize, life: u64) -> Result<(), String> {
        let now = self.now;
        let Some(process) = self.live(host, life) else { return Ok(()) };
        if process.connection.is_some() {
            return Ok(());
        }
        if process.is_frozen() {
            let at = process.frozen_until.unwrap_or(now) + 1;
            self.at(at, Happening::Reconnect { host, life });
            return Ok(());
        }
        let session = process.session;
        let connection = self.next_serial();
        let alive = session.filter(|session| self.tree.session_timeout(*session).is_some());
        let id = alive.unwrap_or_else(|| {
            let id = SessionId(self.next_serial() as i64 + 1_000_000);
            self.tree.open_session(id, Duration::from_millis(self.session_timeout));
            id
        });
        self.heard.insert(id, now);
        let timeout = Duration::from_millis(self.session_timeout);
        let new = alive.is_none();
        self.log(|_| format!("host {host} is connected, session {id}{}", if new { " (new)" } else { "" }));
        let Some(process) = self.live(host, life) else { return Ok(()) };
        process.connection = Some(connection);
        process.session = Some(id);
        if new && session.is_some() {
            self.receive(host, life, Incoming::Event(Event::Session(SessionState::Connecting)));
        }
        let mut messages = [Event::Session(SessionState::Connected { id, timeout }), Event::Watch(WatchEvent::Gap)];
        if self.rng.one_in(2) {
            messages.reverse();
        }
        for event in messages {
            self.receive(host, life, Incoming::Event(event));
        }
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

    fn expire(&mut self) {
        let now = self.now;
        for host in &self.hosts {
            // Pings.
            if let Some(process) = &host.process
                && !process.is_frozen()
                && process.connection.is_some()
                && let Some(session) = process.session
            {
                self.heard.insert(session, now);
            }
        }
        let timeout = self.session_timeout;
        let ended: Vec<SessionId> =
            self.heard.iter().filter(|(_, heard)| now - **heard > timeout).map(|(session, _)| *session).collect();
        for session in ended {
            self.log(|_| format!("server ends session {session}"));
            self.incident();
            self.heard.remove(&session);
            let events = self.tree.close_session(session);
            self.publish(&events);
        }
    }

    /// Sends a message to a host, behind everything that is under way to it.
    fn receive(&mut self, host: usize, life: u64, incoming: Incoming) {
        let delay = self.rng.below(self.latency + 1);
        let now = self.now;
        let Some(process) = self.live(host, life) else { return };
        let at = process.last_in.max(now + delay);
        process.last_in = at;
        process.incoming.push_back((at, incoming));
        self.at(at, Happening::Wake { host, life });
    }

    fn publish(&mut self, events: &[WatchEvent]) {
        for host in 0..self.hosts.len() {
            let Some(process) = &self.hosts[host].process else { continue };
            if process.connection.is_none() {
                continue;
            }
            let life = process.life;
            for event in events {
                self.receive(host, life, Incoming::Event(Event::Watch(event.clone())));
            }
        }
    }

    fn send(&mut self, host: usize, life: u64, request: Request) {
        let id = self.next_serial();
        let now = self.now;
        let delay = self.rng.below(self.latency + 1);
        let Some(process) = self.live(host, life) else { return };
        let Some(connection) = process.connection else {
            let event = match &request {
                Request::Commit(_) => Event::Committed(Err(CommitError::NotReached { why: "not connected".into() })),
                other => unanswered(other),
            };
            self.receive(host, life, Incoming::Answer { id, sent: now, proves: false, event });
            return;
        };
        let at = process.last_out.max(now + delay);
        process.last_out = at;
        process.outstanding.push(Sent { id, at: now, request });
        self.at(at, Happening::Arrive { host, life, connection, id });
        self.at(now + ANSWER_TIMEOUT, Happening::AnswerTimeout { host, life, id });
    }

    fn give_up_waiting(&mut self, host: usize, life: u64, id: u64) -> Result<(), String> {
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
        let event = unanswered(&sent.request);
        self.receive(host, life, Incoming::Answer { id, sent: sent.at, proves: false, event });
        Ok(())
    }

    /// The server does what a request asks.
    fn arrive(&mut self, host: usize, life: u64, connection: u64, id: u64) -> Result<(), String> {
        let now = self.now;
        let Some(process) = self.live(host, life).filter(|process| process.connection == Some(connection)) else {
            return Ok(());
        };
        let Some(sent) = process.outstanding.iter().find(|sent| sent.id == id).cloned() else { return Ok(()) };
        let Some(session) = process.session else { return Ok(()) };
        if self.tree.session_timeout(session).is_none() {
            // The server drops a connection whose session has ended.
            self.cut(host, 50);
            return Ok(());
        }
        self.heard.insert(session, now);
        let event = match sent.request {
            Request::Probe => Event::Tick,
            Request::List { generation, path } => {
                let children =
                    self.tree.children(&path.absolute(&self.job)).map_err(|reason| format!("{path}: {reason}"))?;
                Event::Listed { generation, path, children: Ok(children) }
            }
            Request::Read { generation, path } => {
                let node = self.tree.get(&path.absolute(&self.job)).map_err(|reason| format!("{path}: {reason}"))?;
                Event::Read { generation, path, node: Ok(node) }
            }
            Request::Commit(transaction) => {
                let answer = match transaction.check_session(session) {
                    Ok(()) => self.commit(session, &transaction, Some(host))?,
                    Err(error) => Err(error),
                };
                if self.lose_answers > 0 {
                    self.lose_answers -= 1;
                    self.log(|_| format!("the answer to host {host} gets lost"));
                    return Ok(());
                }
                Event::Committed(answer)
            }
        };
        self.receive(host, life, Incoming::Answer { id, sent: sent.at, proves: true, event });
        Ok(())
    }

    fn commit(
        &mut self,
        session: SessionId,
        transaction: &Transaction,
        host: Option<usize>,
    ) -> Result<Result<crate::registry::Committed, CommitError>, String> {
        let wall = EPOCH + self.now as i64;
        let leader = self.leader_session();
        match self.tree.commit(session, transaction, wall) {
            Ok((committed, events)) => {
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

    fn leader_session(&self) -> Option<SessionId> {
        self.tree.get(&JobPath::LeaderInstance.absolute(&self.job)).ok()??.stat.ephemeral_owner
    }

    // ---- engines

    /// Lets the engine of a host take what is there, and performs its actions.
    fn attend(&mut self, host: usize, life: u64, first: Option<Event>) -> Result<(), String> {
        let now = self.now;
        let eager = self.rng.one_in(2);
        let Some(process) = self.live(host, life).filter(|process| !process.is_frozen()) else { return Ok(()) };
        let mut due: Vec<Incoming> = Vec::new();
        while process.incoming.front().is_some_and(|(at, _)| *at <= now) {
            due.extend(process.incoming.pop_front().map(|(_, incoming)| incoming));
        }
        if eager {
            // A driver looks for events of the watch before it takes an answer, so it may see later ones first.
            due.sort_by_key(|incoming| !matches!(incoming, Incoming::Event(Event::Watch(_))));
        }
        let mut events: Vec<Event> = first.into_iter().collect();
        for incoming in due {
            match incoming {
                Incoming::Event(event) => events.push(event),
                Incoming::Answer { id, sent, proves, event } => {
                    // Given up meanwhile.
                    let waited = process.outstanding.iter().any(|sent| sent.id == id);
                    process.outstanding.retain(|sent| sent.id != id);
                    if proves {
                        events.push(Event::Proven(Duration::from_millis(sent)));
                    }
                    if waited || !proves {
                        events.push(event);
                    }
                }
            }
        }
        if events.is_empty() {
            events.push(Event::Tick);
        }
        for event in events {
            let at = self.hosts[host].now(now);
            let Some(process) = self.live(host, life) else { return Ok(()) };
            process.engine.handle(at, event);
            self.perform(host, life)?;
        }
        self.arm(host, life)
    }

    fn arm(&mut self, host: usize, life: u64) -> Result<(), String> {
        let now = self.now;
        let Some(process) = self.live(host, life) else { return Ok(()) };
        let timeout = process.engine.poll_timeout();
        let asked = process.next_wake;
        let mono = timeout.mono.map(|at| at.as_millis() as Millis);
        let wall = timeout.wall.map(|wall| self.hosts[host].when(wall));
        let late = timeout.wall.is_some_and(|wall| wall <= self.hosts[host].now(now).wall);
        if late || mono.is_some_and(|at| at < now) {
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

    fn perform(&mut self, host: usize, life: u64) -> Result<(), String> {
        while let Some(action) = self.live(host, life).and_then(|process| process.engine.poll_action()) {
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
                Action::Prove => self.send(host, life, Request::Probe),
                Action::Start(start) => self.start_items(host, life, &start)?,
                Action::Cancel(items) => self.cancel_items(host, life, &items),
                Action::Abort(items) => self.abort_items(host, life, &items),
                Action::AnswerTrigger(id, answer) => self.log(|_| format!("host {host}: trigger {id}: {answer:?}")),
                Action::Tell(notice) => {
                    self.log(|_| format!("host {host}: {notice:?}"));
                    if let Notice::RunsAbandoned { items } = &notice
                        && let Some(process) = self.live(host, life)
                    {
                        process.abandoned.extend(items);
                    }
                    if matches!(notice, Notice::StartFailed { .. } | Notice::RemovedByOperator) {
                        self.incident();
                    }
                    self.observe(Observation::Notice { host, notice: &notice })?;
                }
                Action::Stopped => {
                    self.log(|_| format!("host {host} has left"));
                    let Some(process) = self.hosts[host].process.take() else { return Ok(()) };
                    if !process.leaving && !self.closing {
                        // Whatever starts processes starts this one again.
                        let delay = self.rng.between(1_000, 5_000);
                        self.restart_later(host, false, delay);
                    }
                    if process.connection.is_some() {
                        let Process { session, abandoned, .. } = &process;
                        self.observe(Observation::Left { host, session: *session, abandoned })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn start_items(&mut self, host: usize, life: u64, start: &Start) -> Result<(), String> {
        for (item, token) in &start.items {
            let serial = self.next_serial();
            let blocking = self.rng.one_in(12);
            let duration = self.rng.between(1, self.longest_run);
            let fire = start.fire;
            let Some(process) = self.live(host, life) else { return Ok(()) };
            let before =
                process.executions.insert(*item, Execution { serial, fire, token: *token, blocking, cancelled: false });
            if before.is_some() {
                return Err(format!("host {host} starts item {item}, which it is executing already"));
            }
            self.observe(Observation::Started { host, item: *item, fire, token: *token })?;
            let at = self.now + duration;
            self.at(at, Happening::ItemEnds { host, life, item: *item, serial });
        }
        Ok(())
    }

    fn end_item(
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
        if process.executions.is_empty() {
            process.fenced = false;
        }
        let state = state.unwrap_or(if failed { FireState::Failed } else { FireState::Succeeded });
        let end = ItemEnd { state, took: 1, error: None };
        self.attend(host, life, Some(Event::ItemEnded { item, end }))
    }

    /// Tokens are fired: some runs listen, some do not.
    fn cancel_items(&mut self, host: usize, life: u64, items: &[ShardingItem]) {
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

    fn abort_items(&mut self, host: usize, life: u64, items: &[ShardingItem]) {
        for item in items {
            let now = self.now;
            let Some(process) = self.live(host, life) else { return };
            if let Some(execution) = process.executions.get(item)
                && !execution.blocking
            {
                let serial = execution.serial;
                self.at(now, Happening::ItemEnds { host, life, item: *item, serial });
            }
        }
    }

    // ---- operators

    fn configuration(&self, total: u32) -> JobConfiguration {
        JobConfiguration::builder(self.job.as_str(), total)
            .cron(&format!("0/{} * * * * ?", self.period))
            .monitor_execution(self.monitored)
            .build()
            .expect("a valid configuration")
    }

    /// An operator writes the configuration in force, with another total count.
    pub(super) fn configure(&mut self, total: u32) {
        self.incident();
        self.total = total;
        self.invariants.configured(EPOCH + self.now as i64, total, self.period);
        let yaml = wire::to_yaml(&self.configuration(total));
        let root = JobPath::Root;
        if self.tree.get(&root.absolute(&self.job)).ok().flatten().is_none() {
            let mut transaction = Transaction::new();
            transaction.create(root.absolute(&self.job), "", CreateMode::Persistent);
            transaction.create(JobPath::Config.absolute(&self.job), "", CreateMode::Persistent);
            self.operate(&transaction);
        }
        self.operator_sets(&JobPath::Config, &yaml);
    }

    /// An operator writes what cannot be used: nothing may change.
    pub(super) fn misconfigure(&mut self) {
        let bad = self.rng.pick(&[
            "cron: nonsense\njobName: job\nshardingTotalCount: 3\n",
            "",
            "- x",
            "jobName: job\nshardingTotalCount: 0\n",
        ]);
        self.operator_sets(&JobPath::Config, bad);
    }

    pub(super) fn disable_item(&mut self, item: ShardingItem) {
        let mut transaction = Transaction::new();
        let path = JobPath::Item(item, ItemNode::Disabled);
        transaction.create(path.absolute(&self.job), "", CreateMode::Persistent);
        self.operate(&transaction);
    }

    pub(super) fn enable_item(&mut self, item: ShardingItem) {
        self.incident();
        let mut transaction = Transaction::new();
        transaction.delete(JobPath::Item(item, ItemNode::Disabled).absolute(&self.job), None);
        self.operate(&transaction);
    }

    /// An operator deletes the node of an instance, which shall leave.
    pub(super) fn remove_instance(&mut self, host: usize) {
        let Some(process) = &self.hosts[host].process else { return };
        let (Some(session), life) = (process.session, process.life) else { return };
        let status = process.engine.status();
        let instance = JobPath::Instance(status.instance);
        // One that does not know yet that it is in the group registers as if nothing had been there.
        let registered = matches!(
            status.activity,
            Activity::Idle | Activity::Running(_) | Activity::AwaitingSharding(_) | Activity::Leaving
        );
        self.incident();
        let mut transaction = Transaction::new();
        transaction.delete(instance.absolute(&self.job), None);
        if self.operate(&transaction) && registered {
            // Time to see it over a cut, to let runs end, and to be cut off.
            let at = self.now + 45_000 + 2 * self.session_timeout;
            self.at(at, Happening::CheckRemoved { host, life, session });
        }
    }

    fn check_removed(&mut self, host: usize, life: u64, session: SessionId) -> Result<(), String> {
        let Some(process) = self.live(host, life) else { return Ok(()) };
        // In another session it is another registration.
        let same = process.session == Some(session) && process.connection.is_some() && !process.is_frozen();
        let leaving = process.engine.status().activity == Activity::Leaving;
        if same && !leaving {
            return Err(format!("host {host} was removed by an operator and is still there"));
        }
        Ok(())
    }

    pub(super) fn operator_sets(&mut self, path: &JobPath, data: &str) {
        let mut transaction = Transaction::new();
        transaction.set(path.absolute(&self.job), data, None);
        self.operate(&transaction);
    }

    /// Whether it was applied.
    fn operate(&mut self, transaction: &Transaction) -> bool {
        let Ok((_, events)) = self.tree.commit(OPERATOR, transaction, EPOCH + self.now as i64) else { return false };
        self.log(|_| format!("operator: {}", transaction.ops().iter().map(describe).collect::<Vec<_>>().join(", ")));
        self.publish(&events);
        true
    }

    pub(super) fn trigger(&mut self, host: usize) {
        let id = self.next_serial();
        if let Some(process) = &self.hosts[host].process {
            let life = process.life;
            self.receive(host, life, Incoming::Event(Event::Trigger(id)));
        }
    }
}

fn unanswered(request: &Request) -> Event {
    let why = || "the connection was lost".to_owned();
    match request {
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
        Request::Probe => Event::NotProven,
    }
}

fn describe(op: &Op) -> String {
    let text = |data: &[u8]| String::from_utf8_lossy(data).replace('\n', "\\n");
    match op {
        Op::Check { path, .. } => format!("check {path}"),
        Op::Create { path, data, .. } => format!("create {path}={}", text(data)),
        Op::Set { path, data, version } => format!("set {path}@{version:?}={}", text(data)),
        Op::Delete { path, .. } => format!("delete {path}"),
    }
}
