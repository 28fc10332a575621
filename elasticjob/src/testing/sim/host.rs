//! One host of the simulated group: an engine, its connection to the server, and the runs of its items.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::clocks::MonoClock;
use super::fallen::Fallen;
use super::java::{Call, JavaProcess, Reply, Ticket};
use super::listeners::SimCall;
use super::watches::SimWatches;
use crate::clock::Now;
use crate::engine::{Event, JobEngine, RoundId};
use crate::fire::Fire;
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::layout::JobPath;
use crate::registry::{SessionId, Transaction};

/// Milliseconds of simulated time.
pub type Millis = u64;

/// Simulated time starts at this wall clock time.
pub const EPOCH: i64 = 1_700_000_000_000;

/// A request on its way, or waiting for its answer.
#[derive(Debug, Clone)]
pub enum Request {
    /// Children of a node.
    List { generation: u32, path: JobPath },
    /// Data of a node.
    Read { generation: u32, path: JobPath },
    /// A transaction.
    Commit(Transaction),
    /// A transaction that writes nothing.
    Probe,
    /// A question of a thread of a Java process.
    Java(Ticket, Call),
}

/// A request with what is remembered of it.
#[derive(Debug, Clone)]
pub struct Sent {
    pub id: u64,
    /// By the clocks of the host.
    pub at: Now,
    pub request: Request,
}

/// Something that arrives at a host.
#[derive(Debug, Clone)]
pub enum Incoming {
    /// An event of the engine that needs nothing else.
    Event(Event),
    /// An answer to a request, of the server or by this side, and the session that it proves.
    Answer { id: u64, sent: Now, from_server: bool, proves: Option<SessionId>, answer: Answer },
}

/// An answer, or that there is none.
#[derive(Debug, Clone)]
pub enum Answer {
    /// To a question of an engine.
    Engine(Event),
    /// To a call of a Java process.
    Java(Ticket, Reply),
}

/// A run of an item on this host.
#[derive(Debug, Clone)]
pub struct Execution {
    /// Tells it from other runs.
    pub serial: u64,
    /// The fire it belongs to.
    pub fire: Fire,
    /// Its fencing token.
    pub token: Option<i64>,
    /// It cannot be dropped: it ends when it ends.
    pub blocking: bool,
    /// Whether its token was fired.
    pub cancelled: bool,
    /// Whether it was told to go: it ends at that moment, unless it is blocking.
    pub aborted: bool,
    /// The session it began in.
    pub session: Option<SessionId>,
}

/// One host. A process that crashed leaves its host behind for the next one.
#[derive(Debug)]
pub struct Host {
    /// The address.
    pub ip: String,
    /// Process id of the process that runs or will run.
    pub pid: u32,
    /// The process, while one runs.
    pub process: Option<Process>,
    /// The offset of its wall clock, in milliseconds.
    pub clock_offset: i64,
    /// Its other clock.
    pub mono: MonoClock,
    /// Whether its processes are Java.
    pub java: bool,
    /// Whether its process has the id of the one before it.
    pub id_reused: bool,
}

/// The program that runs in a process.
#[derive(Debug)]
pub enum Program {
    /// An engine of this implementation.
    Engine(Box<JobEngine>),
    /// A stand-in for an engine that is gone while the session of its process goes on.
    Fallen(Box<Fallen>),
    /// A modelled instance of the Java release.
    Java(JavaProcess),
}

/// A running process.
#[derive(Debug)]
pub struct Process {
    /// The program that runs in it.
    pub program: Program,
    /// Tells it from other processes of the same host.
    pub life: u64,
    /// The session it has or had last.
    pub session: Option<SessionId>,
    /// The connection, while there is one.
    pub connection: Option<u64>,
    /// Whether the connection is one to the follower, not to the leader.
    pub on_follower: bool,
    /// When its server heard of it, the last word that its leader may know of and those after it.
    pub spoke: VecDeque<Millis>,
    /// Set while it is frozen.
    pub frozen_until: Option<Millis>,
    /// When it went on after it was frozen last.
    pub thawed_at: Option<Millis>,
    /// The messages on their way to it, and when each arrives.
    pub incoming: VecDeque<(Millis, Incoming)>,
    /// Requests that are not answered yet, in the order in which they were sent.
    pub outstanding: Vec<Sent>,
    /// Those among them whose engine is gone: the server does them all the same.
    pub orphans: BTreeSet<u64>,
    /// The newest proof by a request of another job of the process that its engine did not hear of.
    pub proof_beside: Option<(SessionId, Now)>,
    /// The nodes that it watches.
    pub watches: SimWatches,
    /// The jobs that its engine follows.
    pub following: Vec<JobName>,
    /// The runs whose futures live.
    pub executions: BTreeMap<ShardingItem, Execution>,
    /// Calls of listeners whose futures live, one a round.
    pub calls: BTreeMap<RoundId, SimCall>,
    /// When the last message to it arrives: connections keep the order.
    pub last_in: Millis,
    /// The same for what it sends.
    pub last_out: Millis,
    /// Wake-ups asked for, so that the same one is not asked for twice.
    pub next_wake: Option<Millis>,
    /// Whether it was asked to leave.
    pub leaving: bool,
    /// Whether it heard that an operator removed it.
    pub heard_of_removal: bool,
    /// Runs of an engine that is gone, by their serials, and when they are dropped.
    pub cut_off: Option<(Millis, Vec<(ShardingItem, u64)>)>,
    /// Runs it left behind.
    pub abandoned: BTreeSet<ShardingItem>,
}

impl Host {
    /// One on which nothing runs yet.
    pub(super) fn new(ip: String, pid: u32, clock_offset: i64) -> Self {
        Self { ip, pid, process: None, clock_offset, mono: MonoClock::new(), java: false, id_reused: false }
    }

    /// The id of its process, without a suffix.
    pub fn instance(&self) -> InstanceId {
        InstanceId::of_process(&self.ip, self.pid)
    }
}

impl Program {
    /// The engine of the job.
    pub fn engine(&mut self) -> Option<&mut JobEngine> {
        match self {
            Self::Engine(engine) => Some(engine),
            Self::Fallen(_) | Self::Java(_) => None,
        }
    }

    /// The Java process.
    pub fn java(&mut self) -> Option<&mut JavaProcess> {
        match self {
            Self::Engine(_) | Self::Fallen(_) => None,
            Self::Java(java) => Some(java),
        }
    }
}

impl Request {
    /// Whether only the leader can answer it. Reads are answered by whichever server the client is connected to.
    pub fn is_for_the_leader(&self) -> bool {
        match self {
            Self::Commit(_) | Self::Probe | Self::Java(_, Call::Commit(_)) => true,
            Self::List { .. } | Self::Read { .. } | Self::Java(..) => false,
        }
    }
}

impl Process {
    /// A process that has just started.
    pub fn new(program: Program, life: u64) -> Self {
        Self {
            program,
            life,
            session: None,
            connection: None,
            on_follower: false,
            spoke: VecDeque::new(),
            frozen_until: None,
            thawed_at: None,
            incoming: VecDeque::new(),
            outstanding: Vec::new(),
            orphans: BTreeSet::new(),
            proof_beside: None,
            watches: SimWatches::of_job(false),
            following: Vec::new(),
            executions: BTreeMap::new(),
            calls: BTreeMap::new(),
            last_in: 0,
            last_out: 0,
            next_wake: None,
            leaving: false,
            heard_of_removal: false,
            cut_off: None,
            abandoned: BTreeSet::new(),
        }
    }

    /// Whether it does nothing at all.
    pub fn is_frozen(&self) -> bool {
        self.frozen_until.is_some()
    }

    /// The events that have arrived for its engine by now. A driver looks for events of the watch before it takes an answer, so one
    /// that is eager sees later ones first.
    pub fn take_events(&mut self, now: Millis, eager: bool) -> Vec<Event> {
        let mut due = self.take_due(now);
        if eager {
            due.sort_by_key(|incoming| !matches!(incoming, Incoming::Event(Event::Watch(_) | Event::Watching(_))));
        }
        let mut events = Vec::new();
        for incoming in due {
            // A driver looks for the proofs of others when an answer or another state of the session comes.
            if matches!(incoming, Incoming::Answer { .. } | Incoming::Event(Event::Session(_))) {
                events.extend(self.proof_beside.take().map(|(session, at)| Event::Proven { session, at }));
            }
            match incoming {
                Incoming::Event(event) => events.push(event),
                Incoming::Answer { answer: Answer::Java(..), .. } => {}
                Incoming::Answer { id, sent, from_server, proves, answer: Answer::Engine(event) } => {
                    // Given up meanwhile, or asked by an engine that is gone.
                    let waited = self.outstanding.iter().any(|sent| sent.id == id);
                    self.outstanding.retain(|sent| sent.id != id);
                    let is_orphan = self.orphans.remove(&id);
                    if let Some(session) = proves {
                        events.push(Event::Proven { session, at: sent });
                    }
                    if (waited || !from_server) && !is_orphan {
                        events.push(event);
                    }
                }
            }
        }
        events
    }

    /// Takes what has arrived by now.
    pub fn take_due(&mut self, now: Millis) -> Vec<Incoming> {
        let count = self.incoming.iter().take_while(|(at, _)| *at <= now).count();
        self.incoming.drain(..count).map(|(_, incoming)| incoming).collect()
    }
}
