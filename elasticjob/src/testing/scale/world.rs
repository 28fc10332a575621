//! The processes, their engines and the servers, and the queue of what happens next.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::Micros;
use super::counts::Counts;
use super::mix::{BEGIN, Kind, MIDNIGHT, Times};
use super::server::{SERVERS, Station};
use super::{Deployment, SESSION_TIMEOUT};
use crate::clock::Now;
use crate::config::JobConfiguration;
use crate::engine::{Event, Identity, JobEngine};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::group_commit::{GroupCommit, Outcome, Request};
use crate::registry::layout::JobPath;
use crate::registry::mirror::Watched;
use crate::registry::tree::Tree;
use crate::registry::{SessionId, SessionState};
use crate::sharding::ShardingStrategies;
use crate::testing::rng::Rng;

/// The caller that waits for the answer to a transaction.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ticket {
    /// The engine of a job in a process.
    Host { host: usize, life: u64 },
    /// A proof of the session.
    Proof,
}

/// A question that does not write.
#[derive(Debug)]
pub(super) enum Question {
    List { generation: u32, path: JobPath },
    Read { generation: u32, path: JobPath },
    Watch(Watched),
}

/// What happens at some time.
#[derive(Debug)]
pub(super) enum Happening {
    /// A process starts.
    Starts { process: usize },
    /// A process has its session.
    Connected { process: usize, life: u64 },
    /// A question reaches the server.
    Asked { host: usize, life: u64, question: Question },
    /// The servers apply a request.
    Applied { process: usize, life: u64, serial: u64 },
    /// The answer to one reaches its process.
    Answered { process: usize, life: u64, serial: u64 },
    /// A process stops waiting for one.
    GivenUp { process: usize, life: u64, serial: u64 },
    /// Something is there for a host, or its engine wants to be asked.
    Wake { host: usize, life: u64 },
    /// A run ends.
    RunEnds { host: usize, item: ShardingItem, serial: u64 },
    /// The servers end a session.
    SessionEnds { process: usize, session: SessionId },
}

#[derive(Debug)]
struct Entry(Micros, u64, Happening);

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}

/// A request that was sent.
#[derive(Debug)]
pub(super) struct Out {
    pub(super) request: Request<Ticket>,
    pub(super) sent: Now,
    pub(super) outcome: Option<Outcome>,
}

/// A process, or the place for the next one.
#[derive(Debug)]
pub(super) struct Process {
    ip: String,
    pid: u32,
    /// Grows with each start and each end.
    pub(super) life: u64,
    pub(super) session: Option<SessionId>,
    /// Whether it is there and not leaving.
    pub(super) is_up: bool,
    pub(super) group: GroupCommit<Ticket>,
    pub(super) out: BTreeMap<u64, Out>,
    pub(super) proof: Option<(SessionId, Now)>,
    /// Hosts that wait for the proof under way.
    pub(super) proving: Vec<usize>,
    /// When the last message to it arrives.
    pub(super) last_in: Micros,
    pub(super) hosts: Vec<usize>,
    /// When the servers ended the session of the process that was killed here.
    pub(super) expired_at: Option<Micros>,
}

/// One job in one process.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) job: usize,
    pub(super) process: usize,
    pub(super) engine: Option<Box<JobEngine>>,
    /// The id under which it is registered.
    pub(super) registered: Option<InstanceId>,
    pub(super) inbox: VecDeque<(Micros, Event)>,
    /// Each with whether the server has it.
    pub(super) watches: BTreeMap<Watched, bool>,
    /// When the engine wants to be asked.
    pub(super) timer: Option<Micros>,
    pub(super) proof: Option<(SessionId, Now)>,
    /// Runs of items, each with its number.
    pub(super) runs: BTreeMap<ShardingItem, u64>,
}

/// One job.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) name: JobName,
    pub(super) configuration: Arc<JobConfiguration>,
    pub(super) times: Times,
    pub(super) hosts: Vec<usize>,
    /// Since when all its items have a live owner.
    pub(super) settled: Option<Micros>,
}

/// One slice of a deployment.
#[derive(Debug)]
pub struct World {
    pub(super) deployment: Deployment,
    pub(super) rng: Rng,
    pub(super) now: Micros,
    pub(super) tree: Tree,
    pub(super) leader: Station,
    pub(super) servers: [Station; SERVERS],
    pub(super) jobs: Vec<Job>,
    pub(super) processes: Vec<Process>,
    pub(super) hosts: Vec<Host>,
    agenda: BinaryHeap<Reverse<Entry>>,
    serial: u64,
    pub(super) counts: Counts,
    /// Runs that were lost and are not taken over, each with its process.
    pub(super) lost: BTreeMap<(usize, ShardingItem), usize>,
    /// How long after the end of its session each run was taken over.
    pub(super) taken_over: Vec<Micros>,
}

impl World {
    /// The slice of a deployment, where nothing has started yet.
    pub fn new(deployment: &Deployment, only: Option<Kind>) -> Self {
        let mut rng = Rng::new(deployment.seed);
        let processes = deployment.processes / deployment.slices;
        let mut world = Self {
            now: 0,
            tree: Tree::new(1_000),
            leader: Station::default(),
            servers: Default::default(),
            jobs: Vec::new(),
            processes: (0..processes).map(Process::new).collect(),
            hosts: Vec::new(),
            agenda: BinaryHeap::new(),
            serial: 0,
            counts: Counts::default(),
            lost: BTreeMap::new(),
            taken_over: Vec::new(),
            deployment: *deployment,
            rng: rng.clone(),
        };
        for job in 0..deployment.jobs / deployment.slices {
            let times = Times::draw(only.unwrap_or_else(|| Kind::of_mix(job)), deployment.alignment, &mut rng);
            let first = rng.below(u64::from(processes)) as u32;
            world.add_job(times, (0..deployment.instances).map(|n| ((first + n) % processes) as usize));
        }
        world.rng = rng;
        world
    }

    fn add_job(&mut self, times: Times, processes: impl Iterator<Item = usize>) {
        let job = self.jobs.len();
        let name = format!("job{job:07}");
        let configuration = times.configuration(&name, self.deployment.items);
        let mut hosts = Vec::new();
        for process in processes {
            let host = self.hosts.len();
            self.hosts.push(Host {
                job,
                process,
                engine: None,
                registered: None,
                inbox: VecDeque::new(),
                watches: BTreeMap::new(),
                timer: None,
                proof: None,
                runs: BTreeMap::new(),
            });
            self.processes[process].hosts.push(host);
            hosts.push(host);
        }
        let name = configuration.job_name().clone();
        self.jobs.push(Job { name, configuration, times, hosts, settled: None });
    }

    /// The number of a job by the path of a node.
    pub(super) fn job_at(path: &str) -> Option<usize> {
        path.strip_prefix("/job")?.split('/').next()?.parse().ok()
    }

    pub(super) fn slices(&self) -> u64 {
        u64::from(self.deployment.slices)
    }

    /// What all clocks show.
    pub(super) fn clocks(&self) -> Now {
        Now { wall: MIDNIGHT + ((BEGIN + self.now) / 1_000) as i64, mono: Duration::from_micros(self.now) }
    }

    /// The time of the simulation at which the wall clocks show this.
    pub(super) fn when(wall: i64) -> Micros {
        ((wall - MIDNIGHT).max(0) as Micros * 1_000).saturating_sub(BEGIN)
    }

    pub(super) fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    pub(super) fn at(&mut self, at: Micros, happening: Happening) {
        let serial = self.next_serial();
        self.agenda.push(Reverse(Entry(at.max(self.now), serial, happening)));
    }

    /// Lets everything happen until a time.
    pub fn run_until(&mut self, end: Micros) {
        while let Some(Reverse(Entry(at, ..))) = self.agenda.peek() {
            if *at > end {
                break;
            }
            let Some(Reverse(Entry(at, _, happening))) = self.agenda.pop() else { break };
            self.now = at;
            self.happen(happening);
        }
        self.now = end;
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Starts { process } => self.start(process),
            Happening::Connected { process, life } => self.connected(process, life),
            Happening::Asked { host, life, question } => self.asked(host, life, question),
            Happening::Applied { process, life, serial } => self.applied(process, life, serial),
            Happening::Answered { process, life, serial } => self.answered(process, life, serial),
            Happening::GivenUp { process, life, serial } => self.given_up(process, life, serial),
            Happening::Wake { host, life } => {
                if self.is_alive(self.hosts[host].process, life) {
                    self.attend(host);
                }
            }
            Happening::RunEnds { host, item, serial } => self.run_ends(host, item, serial),
            Happening::SessionEnds { process, session } => self.session_ends(process, session),
        }
    }

    pub(super) fn is_alive(&self, process: usize, life: u64) -> bool {
        self.processes[process].life == life
    }

    /// A process starts with all its jobs.
    fn start(&mut self, process: usize) {
        let life = self.next_serial();
        let session = SessionId(1_000 + life as i64);
        let (now, rates, slices) = (self.now, self.deployment.rates, self.slices());
        let state = &mut self.processes[process];
        state.life = life;
        state.is_up = true;
        state.pid += 1;
        state.session = Some(session);
        (state.group, state.out) = (GroupCommit::new(0), BTreeMap::new());
        (state.proof, state.proving, state.last_in) = (None, Vec::new(), now);
        // The session is a write of the leader.
        let done = self.leader.serve(now + rates.network_us, rates.write_ns, slices, &mut self.rng);
        self.counts.at(done).writes += 1;
        self.at(done + rates.network_us, Happening::Connected { process, life });
    }

    fn connected(&mut self, process: usize, life: u64) {
        if !self.is_alive(process, life) {
            return;
        }
        let Some(session) = self.processes[process].session else { return };
        self.tree.open_session(session, SESSION_TIMEOUT);
        for host in self.processes[process].hosts.clone() {
            let engine = self.engine(host);
            let state = &mut self.hosts[host];
            state.engine = Some(Box::new(engine));
            state.registered = None;
            state.inbox.clear();
            state.runs.clear();
            (state.timer, state.proof) = (None, None);
            state.watches = [(Watched::job(), false)].into();
            self.ask(host, Question::Watch(Watched::job()));
            let connected = SessionState::Connected { id: session, timeout: SESSION_TIMEOUT };
            self.hand_over(host, Event::Session(connected));
        }
    }

    fn engine(&mut self, host: usize) -> JobEngine {
        let state = &self.hosts[host];
        let process = &self.processes[state.process];
        let id = InstanceId::of_process(&process.ip, process.pid);
        let nonce = (process.life as u32) ^ (host as u32).rotate_left(16);
        let identity = Identity {
            base: id.clone(),
            instance: id,
            suffix: host as u16,
            candidate: format!("{:016x}{host:016x}", process.life),
            nonce,
        };
        let configuration = self.jobs[state.job].configuration.clone();
        JobEngine::new(identity, configuration, Arc::new(ShardingStrategies::built_in()))
    }

    /// Looks whether all items of a job have a live owner.
    pub(super) fn look_at(&mut self, job: usize) {
        let settled = self.is_settled(job);
        let now = self.now;
        let since = &mut self.jobs[job].settled;
        *since = if settled { since.or(Some(now)) } else { None };
    }

    fn is_settled(&self, job: usize) -> bool {
        let Job { name, hosts, .. } = &self.jobs[job];
        let up = hosts.iter().map(|host| &self.hosts[*host]).filter(|host| self.processes[host.process].is_up);
        let registered: Option<Vec<&str>> = up.map(|host| host.registered.as_ref().map(InstanceId::as_str)).collect();
        let Some(registered) = registered.filter(|registered| !registered.is_empty()) else { return false };
        let node = |path: JobPath| self.tree.get(&path.absolute(name)).ok().flatten();
        let is_owned = |item| {
            let owner = node(JobPath::owner_of(item));
            owner.is_some_and(|owner| owner.data.text().is_some_and(|owner| registered.contains(&owner)))
        };
        node(JobPath::Necessary).is_none() && (0..self.deployment.items).all(is_owned)
    }

    /// When the last job was settled; `None` while one is not.
    pub(super) fn settled(&self) -> Option<Micros> {
        self.jobs.iter().map(|job| job.settled).max_by_key(|at| at.unwrap_or(Micros::MAX)).flatten()
    }
}

impl Process {
    fn new(number: u32) -> Self {
        let [_, a, b, c] = number.to_be_bytes();
        Self {
            ip: format!("10.{a}.{b}.{c}"),
            pid: 100,
            life: 0,
            session: None,
            is_up: false,
            group: GroupCommit::new(0),
            out: BTreeMap::new(),
            proof: None,
            proving: Vec::new(),
            last_in: 0,
            hosts: Vec::new(),
            expired_at: None,
        }
    }
}
