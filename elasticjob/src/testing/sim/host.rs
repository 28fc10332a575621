//! One host of the simulated group: an engine, its connection to the server, and the runs of its items.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::listeners::SimCall;
use crate::engine::{Event, Fire, JobEngine, Now, RoundId};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::path::JobPath;
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
    /// Anything that proves the session.
    Probe,
}

/// A request with what is remembered of it.
#[derive(Debug, Clone)]
pub struct Sent {
    pub id: u64,
    pub at: Millis,
    pub request: Request,
}

/// Something that arrives at a host.
#[derive(Debug, Clone)]
pub enum Incoming {
    /// An event of the engine that needs nothing else.
    Event(Event),
    /// An answer to a request, which proves the session when it is one.
    Answer { id: u64, sent: Millis, proves: bool, event: Event },
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
    /// How far its wall clock is off, in milliseconds.
    pub clock_offset: i64,
}

/// A running process.
#[derive(Debug)]
pub struct Process {
    /// The engine of the job.
    pub engine: JobEngine,
    /// Tells it from other processes of the same host.
    pub life: u64,
    /// The session it has or had last.
    pub session: Option<SessionId>,
    /// The connection, while there is one.
    pub connection: Option<u64>,
    /// Set while it is frozen.
    pub frozen_until: Option<Millis>,
    /// What is on its way to it, and when it arrives.
    pub incoming: VecDeque<(Millis, Incoming)>,
    /// Requests that are not answered yet, in the order in which they were sent.
    pub outstanding: Vec<Sent>,
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
    /// Runs it left behind.
    pub abandoned: BTreeSet<ShardingItem>,
    /// Until when what it still executes is for the fence to stop: it was frozen past its session.
    pub fenced: bool,
}

impl Host {
    /// The id of its process, without a suffix.
    pub fn instance(&self) -> InstanceId {
        InstanceId::of_process(&self.ip, self.pid)
    }

    /// The time as its clocks show it.
    pub fn now(&self, at: Millis) -> Now {
        Now { wall: EPOCH + at as i64 + self.clock_offset, mono: Duration::from_millis(at) }
    }

    /// The simulated time at which the wall clock of this host shows `wall`.
    pub fn when(&self, wall: i64) -> Millis {
        (wall - EPOCH - self.clock_offset).max(0) as Millis
    }
}

impl Process {
    /// Whether it does nothing at all.
    pub fn is_frozen(&self) -> bool {
        self.frozen_until.is_some()
    }
}
