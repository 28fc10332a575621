//! Further jobs in the processes of the group. Each has engines, records and a leader of its own, and shares with the first
//! job what a process has once: its session and connection, the requests on it, its proofs, its clocks, and its end.
//!
//! What runs such a job is a host of its own beside each first one, so that everything that happens to a host is written once.

use std::time::Duration;

use super::depending;
use super::host::{EPOCH, Host, Incoming, Millis, Process, Program, Request};
use super::shape::Shape;
use super::world::World;
use crate::clock::Now;
use crate::config::{Dependency, DependencyItems};
use crate::engine::{Bug, Event, oldest_answer};
use crate::ident::{InstanceId, JobName};
use crate::registry::SessionId;
use crate::testing::invariants::{Follows, Invariants, Observation};
use crate::testing::rng::Rng;

/// The name of the first job.
pub(super) const FIRST: &str = "job";

/// A further job.
#[derive(Debug)]
pub(super) struct Beside {
    job: JobName,
    invariants: Invariants,
    /// Where it runs after the first job.
    follows: Option<Follows>,
    after: Option<Dependency>,
}

impl Beside {
    /// In one of four groups there is a second job, and in one of four of these there are four jobs. The second one may run after
    /// the first.
    pub(super) fn draw(seed: u64, mixed: bool, total: u32, period: u32, shape: &Shape) -> Vec<Self> {
        let mut rng = Rng::new(seed ^ 0xbe51de);
        if mixed || !rng.one_in(4) {
            return Vec::new();
        }
        let count = if rng.one_in(4) { 3 } else { 1 };
        let beside = |number| {
            let job = JobName::new(format!("beside-{number}")).expect("a valid name");
            let after = depending::draw(seed).filter(|_| number == 1);
            let invariants = Invariants::new(total, period, shape.clone());
            let invariants = if after.is_some() { invariants.of_job_after_another() } else { invariants };
            let follows = after.as_ref().map(|after| Follows::new(job.clone(), after));
            Self { job, invariants, follows, after }
        };
        (1..=count).map(beside).collect()
    }
}

fn instance_of(host: &Host) -> Option<&InstanceId> {
    match &host.process.as_ref()?.program {
        Program::Engine(engine) => Some(engine.instance()),
        Program::Fallen(_) | Program::Java(_) => None,
    }
}

impl World {
    /// Tells the checks of jobs that run after the first one what no transaction of an instance shows.
    pub(super) fn tell_followers(&mut self, tell: impl Fn(&mut Follows)) {
        self.beside.iter_mut().filter_map(|beside| beside.follows.as_mut()).for_each(tell);
    }

    /// How often each excuse held for ends that such a job followed.
    pub(super) fn excused_ends(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let follows = self.beside.iter().filter_map(|beside| beside.follows.as_ref());
        follows.flat_map(|follows| follows.excused().iter().map(|(excuse, count)| (*excuse, *count)))
    }

    /// How many jobs a process has.
    fn jobs_of_process(&self) -> usize {
        1 + self.beside.len()
    }

    /// The hosts of the first job: faults and operators choose among them.
    pub(super) fn machines(&self) -> usize {
        self.hosts.len() / self.jobs_of_process()
    }

    /// The job that a host runs.
    pub(super) fn job_of(&self, host: usize) -> &JobName {
        match (host / self.machines()).checked_sub(1) {
            Some(number) => &self.beside[number].job,
            None => &self.job,
        }
    }

    /// All jobs.
    pub(super) fn jobs(&self) -> Vec<JobName> {
        [&self.job].into_iter().chain(self.beside.iter().map(|beside| &beside.job)).cloned().collect()
    }

    /// How the fires of the first job have to end, where this job runs after it.
    pub(super) fn runs_after_first(&self, job: &JobName) -> Option<&Dependency> {
        self.beside.iter().find(|beside| beside.job == *job)?.after.as_ref()
    }

    /// What runs the jobs of a process, the given one first.
    pub(super) fn of_process(&self, host: usize) -> impl Iterator<Item = usize> + use<> {
        [host].into_iter().chain(self.others(host))
    }

    /// What runs the other jobs of a process.
    fn others(&self, host: usize) -> impl Iterator<Item = usize> + use<> {
        let machines = self.machines();
        (host % machines..self.hosts.len()).step_by(machines).filter(move |other| *other != host)
    }

    /// One of the other jobs of a process that is there; one that knows the connection, where there is one.
    pub(super) fn process_beside(&self, host: usize) -> Option<&Process> {
        let present = self.others(host).filter_map(|other| self.hosts[other].process.as_ref());
        present.max_by_key(|process| process.connection.is_some())
    }

    /// One of the jobs of a process.
    pub(super) fn one_job_of(&mut self, host: usize) -> usize {
        match self.jobs_of_process() {
            1 => host,
            jobs => host + self.machines() * self.rng.below(jobs as u64) as usize,
        }
    }

    /// Adds what runs the further jobs.
    pub(super) fn add_beside(&mut self) {
        self.count(if self.beside.len() == 1 { "second_job" } else { "four_jobs" });
        let after: Vec<DependencyItems> =
            self.beside.iter().filter_map(|beside| beside.after.as_ref()).map(|after| after.items).collect();
        for items in after {
            self.count(match items {
                DependencyItems::All => "second_job_after_the_first",
                DependencyItems::Same => "items_after_items",
            });
        }
        let machines = self.hosts.len();
        for _ in 0..self.beside.len() {
            for machine in 0..machines {
                let Host { ip, pid, clock_offset, .. } = &self.hosts[machine];
                self.hosts.push(Host::new(ip.clone(), *pid, *clock_offset));
            }
        }
    }

    pub(super) fn observe(&mut self, mut observation: Observation<'_>) -> Result<(), String> {
        let machines = self.machines();
        let Self { invariants, beside, tree, hosts, job, now, total, .. } = self;
        if let Observation::Notice { host, notice } = &observation
            && let Some(beside) = (*host / machines).checked_sub(1).map(|number| &mut beside[number])
            && let (Some(follows), Some(instance)) = (&mut beside.follows, instance_of(&hosts[*host]))
        {
            follows.hear(instance, notice);
        }
        for follows in beside.iter_mut().filter_map(|beside| beside.follows.as_mut()) {
            follows.check(*now, *total, tree, &observation).map_err(|why| format!("a job after another one: {why}"))?;
        }
        let of_host = observation.host().map(|host| {
            let number = *host / machines;
            *host %= machines;
            number
        });
        // Triggered by hand is the first job alone.
        let of_all = !matches!(observation, Observation::Triggered { .. });
        let first = (&*job, invariants);
        let jobs = [first].into_iter().chain(beside.iter_mut().map(|beside| (&beside.job, &mut beside.invariants)));
        for (number, ((job, invariants), hosts)) in jobs.zip(hosts.chunks(machines)).enumerate() {
            if of_host.map_or(number == 0 || of_all, |of| of == number) {
                let observed = invariants.observe(*now, job, tree, hosts, &observation);
                observed.map_err(|why| if number == 0 { why } else { format!("{why} ({job})") })?;
            }
        }
        Ok(())
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

    /// An answer to one job of a process proves the session to the others too, when they look for it.
    pub(super) fn prove_beside(&mut self, host: usize, session: SessionId, at: Now) {
        for other in self.others(host) {
            if let Some(process) = &mut self.hosts[other].process {
                process.proof_beside = Some((session, at));
            }
        }
    }

    /// Proves the session to an engine that asks: by a request of another job, where that is a moment ago, otherwise by one
    /// to the server.
    pub(super) fn prove(&mut self, host: usize, life: u64) {
        let now = self.hosts[host].now(self.now);
        let moment = oldest_answer(Duration::from_millis(self.session_timeout));
        let Some(process) = self.live(host, life) else { return };
        let is_new = |(_, at): &mut (SessionId, Now)| now.mono.saturating_sub(at.mono) < moment;
        match process.proof_beside.take_if(is_new) {
            None => self.send(host, life, Request::Probe),
            Some((session, at)) => {
                self.count("proven_by_another_job");
                let is_planted = self.bug == Some(Bug::OlderProof);
                let answer =
                    if is_planted { Event::Proven { session, at } } else { Event::ProofAnswered(Some((session, at))) };
                self.receive(host, life, Incoming::Event(answer));
            }
        }
    }

    /// A job has stopped, and another one of its process goes on.
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
