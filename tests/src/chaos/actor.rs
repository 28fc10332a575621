//! Does what the plan says to a group of processes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob::registry::layout::ServerStatus;
use elasticjob::registry::zookeeper::ZookeeperConfiguration;
use elasticjob::runtime::JobEnvironment;

use super::jobs::{is_far_apart, jobs};
use super::operator::Operator;
use super::plan::{Planned, Step};
use super::server::Server;
use super::{SESSION_TIMEOUT, Settings};
use crate::group::{Group, WorkerProgram};
use crate::java_peer::{JavaPeer, MixedProgram};
use crate::observer::Observer;
use crate::records::{ExpectedTrigger, FaultKind, History, now_us};
use crate::worker::JobPlan;

/// How long a process may take to leave: its longest run, with something to spare.
const LEAVE: Duration = Duration::from_secs(40);

/// How long a Java process may take. While the server is away it does not end. Then it is killed, as a
/// supervisor would do.
const JAVA_LEAVE: Duration = Duration::from_secs(15);

/// How a virtual machine for Java says that it ended in good order at SIGTERM.
const JAVA_TERMINATED: i32 = 128 + 15;

/// A place for a process, with the one that is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    kind: Kind,
    pid: u32,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rust,
    Java,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Up,
    Frozen,
    CutOff,
    Down,
}

/// The group, and what was done to it.
pub(super) struct Actor {
    pub(super) group: Group<MixedProgram>,
    pub(super) jobs: Vec<JobPlan>,
    pub(super) triggers: Vec<ExpectedTrigger>,
    /// How many faults of each kind there were.
    pub(super) faults: BTreeMap<&'static str, u64>,
    /// What is wrong beside what the records show.
    pub(super) complaints: Vec<String>,
    server: Server,
    places: Vec<Place>,
    operator: Operator,
    /// What the connections of observer and operator live on.
    _environment: JobEnvironment,
}

impl Actor {
    /// Starts all processes.
    pub(super) async fn start(settings: &Settings, server: Server) -> Result<Self, String> {
        let environment = JobEnvironment::builder().build().map_err(|error| error.to_string())?;
        let namespace = format!("chaos-{}-{}", std::process::id(), now_us());
        let mut zookeeper = ZookeeperConfiguration::new(server.connect_string(), &namespace);
        zookeeper.base_sleep_time_milliseconds = 100;
        zookeeper.max_sleep_time_milliseconds = 500;
        zookeeper.max_retries = 20;
        // A server that is being started may never answer a connect, and the observer is blind until that is given up. A busy
        // machine must not break a connection that works.
        zookeeper.connection_timeout_milliseconds = 4_000;
        let registry = environment.connect_zookeeper(zookeeper).await.map_err(|error| error.to_string())?;
        let jobs = jobs();
        let (binary, arguments) = &settings.worker;
        let program =
            WorkerProgram::new((binary, arguments), server.connect_string(), &namespace, jobs.clone(), SESSION_TIMEOUT);
        let peer = match settings.java {
            0 => None,
            _ => Some(JavaPeer::build().map_err(|error| error.to_string())?),
        };
        let program = MixedProgram::new(program.with_bug(settings.bug), peer.map(Arc::new));
        let observer = Observer::start(&registry, jobs.iter().map(|job| job.name.as_str()));
        let mut actor = Self {
            group: Group::new(program).observed_by(observer),
            operator: Operator::new(registry, jobs.clone()),
            jobs,
            triggers: Vec::new(),
            faults: BTreeMap::new(),
            complaints: Vec::new(),
            server,
            places: Vec::new(),
            _environment: environment,
        };
        for number in 0..settings.instances {
            let kind = if number < settings.java { Kind::Java } else { Kind::Rust };
            let pid = actor.start_kind(kind).await;
            actor.places.push(Place { kind, pid, state: State::Up });
        }
        Ok(actor)
    }

    /// Waits until each process has begun items of each job in a fire after that time; tells when. `None` when they do
    /// not in time. Java does not tell which fire it makes up for, so beside it any fires count. Jobs whose fires are far
    /// apart are not waited for.
    pub(super) async fn converged(&self, after_us: i64, limit: Duration) -> Option<i64> {
        let pids: Vec<u32> = self.places.iter().map(|place| place.pid).collect();
        let is_complete = |history: &History, job: &JobPlan| {
            if self.has_java() {
                let of_job = history.runs.iter().filter(|run| run.job == job.name && run.began_us > after_us);
                let mut of_job: Vec<_> = of_job.collect();
                of_job.sort_by_key(|run| run.began_us);
                // The process that began each item last.
                let begun: BTreeMap<u32, u32> = of_job.into_iter().map(|run| (run.item, run.pid)).collect();
                return begun.len() == job.items as usize && pids.iter().all(|pid| begun.values().any(|by| by == pid));
            }
            history.fires(&job.name).into_iter().filter(|at| *at * 1_000 > after_us).any(|at| {
                let owners = history.owners(&job.name, at);
                owners.len() == job.items as usize && pids.iter().all(|pid| owners.values().any(|owner| owner == pid))
            })
        };
        let frequent: Vec<&JobPlan> = self.jobs.iter().filter(|job| !is_far_apart(job)).collect();
        let find = |history: &History| frequent.iter().all(|job| is_complete(history, job)).then(now_us);
        self.group.find(limit, find).await
    }

    /// Whether some of the processes are of the Java release.
    pub(super) fn has_java(&self) -> bool {
        self.places.iter().any(|place| place.kind == Kind::Java)
    }

    pub(super) fn complain(&mut self, what: String) {
        self.complaints.push(what);
    }

    pub(super) async fn perform(&mut self, planned: Planned) {
        let Planned { step, fault, .. } = planned;
        eprintln!("{} {step:?}", now_us());
        if let Some(fault) = fault {
            *self.faults.entry(fault).or_default() += 1;
        }
        self.look_for_crashes().await;
        match step {
            Step::Kill(places) => self.kill(&places),
            Step::Start(place) => self.start_process(place).await,
            Step::Freeze(place) => {
                self.group.freeze(self.places[place].pid);
                self.places[place].state = State::Frozen;
            }
            Step::Thaw(place) => self.recover(place),
            Step::CutOff(place) => {
                self.group.cut_off(self.places[place].pid);
                self.places[place].state = State::CutOff;
            }
            Step::Mend(place) => self.recover(place),
            Step::BreakConnections => self.group.break_connections(),
            Step::RestartAll => {
                for place in 0..self.places.len() {
                    self.leave(place).await;
                    self.start_process(place).await;
                }
            }
            Step::StopServer => {
                self.group.note(FaultKind::Outage, now_us());
                self.server
                    .act(|server| {
                        server.stop();
                        Ok(())
                    })
                    .await;
            }
            Step::StartServer => {
                self.server.act(|server| server.resume()).await;
                self.group.note_end(FaultKind::Outage);
            }
            Step::FreezeServer => {
                self.group.note(FaultKind::Outage, now_us());
                self.server.act(|server| server.freeze()).await;
            }
            Step::ThawServer => {
                self.server.act(|server| server.thaw()).await;
                self.group.note_end(FaultKind::Outage);
            }
            Step::PartFollower(_)
            | Step::KillLeader
            | Step::FreezeMember(_)
            | Step::LeaveReaders(_)
            | Step::MendEnsemble
            | Step::RestartMembers => self.disturb_ensemble(&step).await,
            Step::Disable => {
                self.group.note(FaultKind::Disabled, now_us());
                self.set_servers(ServerStatus::Disabled).await;
            }
            Step::Enable => {
                self.set_servers(ServerStatus::Enabled).await;
                self.group.note_end(FaultKind::Disabled);
            }
            Step::Trigger => self.triggers.extend(self.operator.trigger().await),
        }
    }

    /// Which processes are at the server is left to chance, so it is a fault of the registry for all of them, until all
    /// servers serve again.
    async fn disturb_ensemble(&mut self, step: &Step) {
        let begins = *step != Step::MendEnsemble;
        if begins {
            self.group.note(FaultKind::Outage, now_us());
        }
        let Some(mut ensemble) = self.server.ensemble().await else { return };
        let done = match step {
            Step::PartFollower(number) => ensemble.part(*number).await,
            Step::KillLeader => ensemble.kill_leader().await,
            Step::FreezeMember(number) => ensemble.freeze(*number),
            Step::LeaveReaders(number) => {
                ensemble.leave_readers(*number);
                Ok(())
            }
            Step::RestartMembers => ensemble.restart_all().await,
            _ => ensemble.mend().await,
        };
        done.expect("the servers do what they are told");
        drop(ensemble);
        if !begins || *step == Step::RestartMembers {
            self.group.note_end(FaultKind::Outage);
        }
    }

    /// Ends what is still wrong.
    pub(super) async fn heal(&mut self) {
        if let Some(mut ensemble) = self.server.ensemble().await {
            ensemble.mend().await.expect("the servers come back");
        }
        self.server.act(|server| if server.is_up() { server.thaw() } else { server.resume() }).await;
        self.group.note_end(FaultKind::Outage);
        self.set_servers(ServerStatus::Enabled).await;
        self.group.note_end(FaultKind::Disabled);
        for place in 0..self.places.len() {
            match self.places[place].state {
                State::Up => {}
                State::Frozen | State::CutOff => self.recover(place),
                State::Down => self.start_process(place).await,
            }
        }
    }

    /// Asks all processes to leave, and waits until they have.
    pub(super) async fn stop(&mut self) {
        self.look_for_crashes().await;
        for place in self.places.clone() {
            self.group.ask_to_leave(place.pid, "TERM");
        }
        for place in 0..self.places.len() {
            self.left(place).await;
        }
    }

    fn kill(&mut self, places: &[usize]) {
        let pids: Vec<u32> = places.iter().map(|place| self.places[*place].pid).collect();
        self.group.kill(&pids);
        for place in places {
            self.places[*place].state = State::Down;
        }
    }

    async fn start_process(&mut self, place: usize) {
        let kind = self.places[place].kind;
        let pid = self.start_kind(kind).await;
        self.places[place] = Place { kind, pid, state: State::Up };
    }

    async fn start_kind(&mut self, kind: Kind) -> u32 {
        match kind {
            Kind::Rust => self.group.start().await,
            Kind::Java => self.group.start_java().await,
        }
    }

    fn recover(&mut self, place: usize) {
        let Place { pid, state, .. } = &mut self.places[place];
        match std::mem::replace(state, State::Up) {
            State::Frozen => {
                self.group.thaw(*pid);
            }
            State::CutOff => self.group.mend(*pid),
            before => *state = before,
        }
    }

    async fn leave(&mut self, place: usize) {
        self.group.ask_to_leave(self.places[place].pid, "TERM");
        self.left(place).await;
    }

    async fn left(&mut self, place: usize) {
        let Place { kind, pid, .. } = self.places[place];
        if kind == Kind::Java && !self.leaves_within(pid, JAVA_LEAVE).await {
            self.group.note_end(FaultKind::Left { pid });
            self.kill(&[place]);
            return;
        }
        let status = self.group.exited(pid, LEAVE).await;
        self.group.note_end(FaultKind::Left { pid });
        self.places[place].state = State::Down;
        let is_good = status.success() || (kind == Kind::Java && status.code() == Some(JAVA_TERMINATED));
        if !is_good {
            self.complain(format!("process {pid} was asked to leave and ended with {status}"));
        }
    }

    async fn leaves_within(&mut self, pid: u32, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while self.group.exit_status(pid).is_none() {
            if Instant::now() > deadline {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        true
    }

    async fn set_servers(&mut self, status: ServerStatus) {
        if let Err(why) = self.operator.set_servers(status).await {
            self.complain(format!("the operator could not make the servers {status}: {why}"));
        }
    }

    /// No process ends by itself. One that does is replaced.
    async fn look_for_crashes(&mut self) {
        for place in 0..self.places.len() {
            let Place { pid, state, .. } = self.places[place];
            if state != State::Down
                && let Some(status) = self.group.exit_status(pid)
            {
                self.complain(format!("process {pid} ended by itself with {status}"));
                self.start_process(place).await;
            }
        }
    }
}
