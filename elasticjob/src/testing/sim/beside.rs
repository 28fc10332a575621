//! A second job in the processes of the group. It has engines, records and a leader of its own, and shares with the first
//! job what a process has once: its session and connection, its proofs, its clocks, and its end.
//!
//! What runs it is a host of its own beside each first one, so that everything that happens to a host is written once.

use super::depending;
use super::host::{EPOCH, Host, Incoming, Millis, Process};
use super::shape::Shape;
use super::world::World;
use crate::clock::Now;
use crate::config::When;
use crate::engine::{Bug, Event};
use crate::ident::JobName;
use crate::registry::{SessionId, WatchEvent};
use crate::testing::invariants::{Follows, Invariants, Observation};
use crate::testing::rng::Rng;

/// The name of the first job.
pub(super) const FIRST: &str = "job";

/// The second job.
#[derive(Debug)]
pub(super) struct Beside {
    job: JobName,
    invariants: Invariants,
    /// Where it runs after the first job.
    follows: Option<Follows>,
    when: Option<When>,
}

impl Beside {
    /// In one of four groups.
    pub(super) fn draw(seed: u64, mixed: bool, total: u32, period: u32, shape: &Shape) -> Option<Self> {
        let is_drawn = !mixed && Rng::new(seed ^ 0xbe51de).one_in(4);
        let job = JobName::new("beside").expect("a valid name");
        let when = depending::draw(seed).filter(|_| is_drawn);
        let invariants = Invariants::new(total, period, shape.clone());
        let invariants = if when.is_some() { invariants.of_job_after_another() } else { invariants };
        let first = JobName::new(FIRST).expect("a valid name");
        let follows = when.map(|when| Follows::new(first, job.clone(), when));
        is_drawn.then(|| Self { job, invariants, follows, when })
    }
}

impl World {
    /// The hosts of the first job: faults and operators choose among them.
    pub(super) fn machines(&self) -> usize {
        if self.beside.is_some() { self.hosts.len() / 2 } else { self.hosts.len() }
    }

    /// The job that a host runs.
    pub(super) fn job_of(&self, host: usize) -> &JobName {
        match &self.beside {
            Some(beside) if host >= self.machines() => &beside.job,
            _ => &self.job,
        }
    }

    /// All jobs.
    pub(super) fn jobs(&self) -> Vec<JobName> {
        [&self.job].into_iter().chain(self.beside.as_ref().map(|beside| &beside.job)).cloned().collect()
    }

    /// How the fires of the first job have to end, where this job runs after it.
    pub(super) fn runs_after_first(&self, job: &JobName) -> Option<When> {
        self.beside.as_ref().filter(|beside| beside.job == *job)?.when
    }

    /// What runs the other job of a process.
    pub(super) fn other(&self, host: usize) -> Option<usize> {
        let machines = self.machines();
        self.beside.as_ref().map(|_| if host < machines { host + machines } else { host - machines })
    }

    /// What runs the jobs of a process.
    pub(super) fn of_process(&self, host: usize) -> impl Iterator<Item = usize> + use<> {
        [host].into_iter().chain(self.other(host))
    }

    /// The other job of a process, while it is there.
    pub(super) fn process_beside(&self, host: usize) -> Option<&Process> {
        self.hosts[self.other(host)?].process.as_ref()
    }

    /// One of the jobs of a process.
    pub(super) fn one_job_of(&mut self, host: usize) -> usize {
        match self.other(host) {
            Some(other) if self.rng.one_in(2) => other,
            _ => host,
        }
    }

    /// Adds what runs the second job.
    pub(super) fn add_beside(&mut self) {
        let hosts: Vec<Host> =
            self.hosts.iter().map(|host| Host::new(host.ip.clone(), host.pid, host.clock_offset)).collect();
        self.count("second_job");
        if self.beside.as_ref().is_some_and(|beside| beside.when.is_some()) {
            self.count("second_job_after_the_first");
        }
        self.hosts.extend(hosts);
    }

    pub(super) fn observe(&mut self, mut observation: Observation<'_>) -> Result<(), String> {
        let machines = self.machines();
        let Self { invariants, beside, tree, hosts, job, now, total, .. } = self;
        if let Some(follows) = beside.as_mut().and_then(|beside| beside.follows.as_mut()) {
            follows.check(*now, *total, tree, &observation).map_err(|why| format!("a job after another one: {why}"))?;
        }
        let (first, second) = hosts.split_at(machines);
        let is_second = match observation.host() {
            Some(host) if *host >= machines => {
                *host -= machines;
                true
            }
            Some(_) => false,
            None => {
                invariants.observe(*now, job, tree, first, &observation)?;
                // Triggered by hand is the first job alone.
                beside.is_some() && !matches!(observation, Observation::Triggered { .. })
            }
        };
        match beside {
            Some(Beside { job, invariants, .. }) if is_second => {
                let observed = invariants.observe(*now, job, tree, second, &observation);
                observed.map_err(|why| format!("{why} (second job)"))
            }
            _ if observation.host().is_some() => invariants.observe(*now, job, tree, first, &observation),
            _ => Ok(()),
        }
    }

    /// The invariants of all jobs.
    pub(super) fn each_invariants(&mut self, mut change: impl FnMut(&mut Invariants)) {
        change(&mut self.invariants);
        self.beside.iter_mut().for_each(|beside| change(&mut beside.invariants));
    }

    /// What is wrong now makes itself felt later, too.
    pub(super) fn incident_in(&mut self, later: Millis) {
        let wall = EPOCH + (self.now + later) as i64;
        self.each_invariants(|invariants| invariants.incident(wall));
    }

    /// Whether an event of the watch is of the job that a host runs.
    pub(super) fn is_watched(&self, host: usize, event: &WatchEvent) -> bool {
        match event {
            WatchEvent::Gap => true,
            WatchEvent::Created(path) | WatchEvent::Changed(path) | WatchEvent::Deleted(path) => {
                let below = path.strip_prefix('/').and_then(|path| path.strip_prefix(self.job_of(host).as_str()));
                below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
            }
        }
    }

    /// An answer to one job of a process proves the session to the other one too.
    pub(super) fn prove_beside(&mut self, host: usize, session: SessionId, at: Now) {
        if let Some((other, process)) = self.other(host).zip(self.process_beside(host)) {
            let life = process.life;
            self.receive(other, life, Incoming::Event(Event::Proven { session, at }));
        }
    }

    /// A job has stopped, and the other one of its process goes on.
    pub(super) fn stopped_beside(&mut self, host: usize, session: Option<SessionId>) -> Result<(), String> {
        match session.filter(|_| self.bug == Some(Bug::EndsSession) && self.process_beside(host).is_some()) {
            Some(session) => self.end_session(session),
            None => Ok(()),
        }
    }

    /// The clean-up after one job takes along what the session has in the others.
    pub(super) fn clean_up_beside(&mut self, session: SessionId) {
        if self.bug != Some(Bug::CleansSession) {
            return;
        }
        let mut transaction = crate::registry::Transaction::new();
        for path in self.tree.paths() {
            let owner = self.tree.get(&path).ok().flatten().and_then(|node| node.stat.ephemeral_owner);
            if owner == Some(session) {
                transaction.delete(path, None);
            }
        }
        self.operate(&transaction);
    }
}
