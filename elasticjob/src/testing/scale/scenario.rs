//! The steps of a deployment, and the measurements of it.

use std::collections::BTreeMap;

use super::counts::{Lateness, Load};
use super::mix::Kind;
use super::world::{Happening, World};
use super::{Deployment, Micros, SECOND, SESSION_TIMEOUT};
use crate::engine::Event;
use crate::registry::SessionId;

const MINUTE: Micros = 60 * SECOND;
/// In how many parts processes are lost or deployed.
const PARTS: usize = 10;
/// How often the server looks for sessions that have ended.
const TICK: Micros = 2 * SECOND;
/// Processes that start together do so within this time.
const START_SPREAD: Micros = 10 * SECOND;
/// From the end of a process to the start of the next one in its place.
const RESTART: Micros = 5 * SECOND;
/// A deployment that takes longer has failed.
const LONGEST_DEPLOYMENT: Micros = 20 * MINUTE;

/// The data that the servers keep.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct Kept {
    /// Nodes.
    pub nodes: u64,
    /// Bytes of their paths.
    pub path_bytes: u64,
    /// Bytes of their data.
    pub data_bytes: u64,
    /// Watches of all sessions.
    pub watches: u64,
}

impl Kept {
    /// About how much memory a server takes for it: 350 bytes for a node beside its path, which is kept twice, and its
    /// data, and 300 bytes for a watch.
    pub fn memory(&self) -> u64 {
        350 * self.nodes + 2 * self.path_bytes + self.data_bytes + 300 * self.watches
    }
}

/// The result of the loss of a tenth of the processes.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct Loss {
    /// Runs of items that were lost with them.
    pub lost_runs: u64,
    /// Those that another process took over.
    pub taken_over: u64,
    /// The time after the end of the session in which they began there, in seconds: half of them, all of them.
    pub takeover_p50: f64,
    /// The last one.
    pub takeover_max: f64,
    /// From the loss to the moment from which every item had a live owner again, in seconds; sessions take up to 32 s of it.
    pub settled_after: Option<f64>,
    /// From the return of the processes to the moment from which all take part and every item has an owner.
    pub back_after: Option<f64>,
}

/// The results of a deployment.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Report {
    /// Processes.
    pub processes: u32,
    /// Jobs.
    pub jobs: u32,
    /// Instances of each job.
    pub instances: u32,
    /// Items of each job.
    pub items: u32,
    /// At which seconds the jobs fire.
    pub alignment: &'static str,
    /// The number of slices of the deployment: it is so many times as large as the one that is simulated.
    pub slices: u32,
    /// The data that the servers keep.
    pub kept: Kept,
    /// The mean of a second.
    pub mean: Load,
    /// The worst second of each count, 03:00:00 with the nightly jobs among them.
    pub worst: Load,
    /// The part of the time that the leader is busy with writes, in the mean: 1 is all the time.
    pub leader_busy: f64,
    /// The part of the time that the servers are busy with reads and notifications, in the mean.
    pub servers_busy: f64,
    /// From the start of all processes to the moment from which every item has an owner, in seconds.
    pub start_after: Option<f64>,
    /// Fires of two quiet minutes.
    pub quiet: Lateness,
    /// Fires of the minute from 03:00:00 on.
    pub night: Lateness,
    /// The result of the loss of a tenth of the processes.
    pub loss: Loss,
    /// From the begin to the end of a rolling deployment, a tenth of the processes after the other, in seconds.
    pub rolling_after: Option<f64>,
    /// The notices of the engines about work that was late or not done, up to the loss and in all.
    pub notices_before_loss: BTreeMap<&'static str, u64>,
    /// The same of the whole simulation.
    pub notices: BTreeMap<&'static str, u64>,
}

/// The cost of a fire of one job.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct CostOfFire {
    /// Instances of the job.
    pub instances: u32,
    /// Items of the job.
    pub items: u32,
    /// Requests.
    pub requests: f64,
    /// Those that write.
    pub writes: f64,
    /// Operations in them.
    pub operations: f64,
    /// Notifications.
    pub notifications: f64,
    /// Requests of the start of all instances, for each of them.
    pub start_requests: f64,
    /// Notifications of the start of all instances, for each of them.
    pub start_notifications: f64,
    /// The data that the servers keep.
    pub kept: Kept,
}

/// Plays a deployment: it starts, fires over 03:00, loses a tenth of its processes, gets them back, and is deployed anew.
pub fn play(deployment: &Deployment) -> Report {
    let mut world = World::new(deployment, None);
    world.start_all();
    world.run_until(4 * MINUTE);
    let start_after = world.settled();
    let kept = world.kept();
    world.run_until(10 * MINUTE + 5 * SECOND);
    let mean = world.counts.mean(4 * MINUTE, 6 * MINUTE, world.slices());
    let worst = world.counts.worst(4 * MINUTE, 7 * MINUTE, world.slices());
    let (quiet, night) = (world.lateness(4 * MINUTE, 6 * MINUTE), world.lateness(6 * MINUTE, 7 * MINUTE));
    let notices_before_loss = world.counts.notices.clone();
    let loss = world.lose_and_return();
    let rolling_after = world.deploy();
    let rates = deployment.rates;
    let busy = |nanos: u64| nanos as f64 / 1e9;
    Report {
        processes: deployment.processes,
        jobs: deployment.jobs,
        instances: deployment.instances,
        items: deployment.items,
        alignment: if deployment.alignment == super::Alignment::Aligned { "aligned" } else { "spread" },
        slices: deployment.slices,
        kept,
        mean,
        worst,
        leader_busy: busy(mean.writes * rates.write_ns + mean.operations * rates.operation_ns),
        servers_busy: busy(mean.reads * rates.read_ns + mean.notifications * rates.notification_ns)
            / super::server::SERVERS as f64,
        start_after: start_after.map(seconds),
        quiet,
        night,
        loss,
        rolling_after,
        notices_before_loss,
        notices: world.counts.notices.clone(),
    }
}

/// Measures fires of one job, every five seconds.
pub fn cost_of_fire(deployment: &Deployment) -> CostOfFire {
    let mut world = World::new(deployment, Some(Kind::FiveSeconds));
    world.start_all();
    let mut settled = None;
    while settled.is_none() && world.now < 20 * MINUTE {
        world.run_until(world.now + 5 * SECOND);
        settled = world.settled();
    }
    let start = world.counts.sum(0, world.now);
    let from = world.now.next_multiple_of(MINUTE) + MINUTE + 2 * SECOND;
    let fires = 12;
    let until = from + fires * 5 * SECOND;
    world.run_until(until);
    let load = world.counts.sum(from, until);
    let per_fire = |count: u64| count as f64 / fires as f64;
    let per_instance = |count: u64| count as f64 / f64::from(deployment.instances * deployment.jobs);
    CostOfFire {
        instances: deployment.instances,
        items: deployment.items,
        requests: per_fire(load.requests()),
        writes: per_fire(load.writes),
        operations: per_fire(load.operations),
        notifications: per_fire(load.notifications),
        start_requests: per_instance(start.requests()),
        start_notifications: per_instance(start.notifications),
        kept: world.kept(),
    }
}

fn seconds(time: Micros) -> f64 {
    (time as f64 / 1e4).round() / 1e2
}

impl World {
    /// All processes start.
    pub fn start_all(&mut self) {
        self.start_within(0..self.processes.len());
    }

    fn start_within(&mut self, processes: impl Iterator<Item = usize>) {
        for process in processes {
            let at = self.now + self.rng.below(START_SPREAD);
            self.at(at, Happening::Starts { process });
        }
    }

    /// A tenth of the processes, of all parts of the deployment.
    fn part(&self, part: usize) -> impl Iterator<Item = usize> + use<> {
        (part..self.processes.len()).step_by(PARTS)
    }

    fn lateness(&self, from: Micros, until: Micros) -> Lateness {
        let due = self.jobs.iter().map(|job| job.times.fires_between(from, until)).sum::<u64>();
        self.counts.lateness(from, until, due * u64::from(self.deployment.items))
    }

    fn kept(&self) -> Kept {
        let paths = self.tree.paths();
        let data = |path: &String| self.tree.get(path).ok().flatten().map_or(0, |node| node.data.len() as u64);
        let kept = Kept {
            nodes: paths.len() as u64,
            path_bytes: paths.iter().map(|path| path.len() as u64).sum(),
            data_bytes: paths.iter().map(data).sum(),
            watches: self.hosts.iter().map(|host| host.watches.len() as u64).sum(),
        };
        let slices = self.slices();
        Kept {
            nodes: kept.nodes * slices,
            path_bytes: kept.path_bytes * slices,
            data_bytes: kept.data_bytes * slices,
            watches: kept.watches * slices,
        }
    }

    /// Loses a tenth of the processes at once, and starts them again two minutes later.
    fn lose_and_return(&mut self) -> Loss {
        let lost_at = self.now;
        self.taken_over.clear();
        self.part(0).for_each(|process| self.kill(process));
        let lost = self.lost.len() as u64;
        self.run_until(lost_at + 125 * SECOND);
        let settled = self.settled();
        let after = Lateness::of(lost, std::mem::take(&mut self.taken_over));
        self.lost.clear();
        let back_at = self.now;
        self.start_within(self.part(0));
        self.run_until(back_at + 2 * MINUTE);
        Loss {
            lost_runs: lost * self.slices(),
            taken_over: after.begun * self.slices(),
            takeover_p50: after.p50 / 1e3,
            takeover_max: after.max / 1e3,
            settled_after: settled.map(|at| seconds(at.saturating_sub(lost_at))),
            back_after: self.settled().map(|at| seconds(at.saturating_sub(back_at))),
        }
    }

    /// Deploys a tenth of the processes after the other; the next one leaves when all jobs of the one before are registered.
    fn deploy(&mut self) -> Option<f64> {
        let begun_at = self.now;
        let end = begun_at + LONGEST_DEPLOYMENT;
        for part in 0..PARTS {
            self.part(part).for_each(|process| self.leave(process));
            while !self.part(part).all(|process| self.has_joined(process)) {
                if self.now >= end {
                    return None;
                }
                self.run_until(self.now + SECOND / 10);
            }
        }
        while self.settled().is_none() && self.now < end {
            self.run_until(self.now + SECOND / 10);
        }
        self.settled().map(|at| seconds(at - begun_at))
    }

    fn has_joined(&self, process: usize) -> bool {
        let state = &self.processes[process];
        state.is_up && state.hosts.iter().all(|host| self.hosts[*host].registered.is_some())
    }

    /// A process ends at once, and its runs with it.
    fn kill(&mut self, process: usize) {
        let life = self.next_serial();
        let state = &mut self.processes[process];
        (state.is_up, state.life, state.expired_at) = (false, life, None);
        let session = state.session.take();
        for host in state.hosts.clone() {
            let state = &mut self.hosts[host];
            (state.engine, state.registered) = (None, None);
            state.inbox.clear();
            let job = state.job;
            let items = std::mem::take(&mut state.runs).into_keys();
            self.lost.extend(items.map(|item| ((job, item), process)));
            self.look_at(job);
        }
        if let Some(session) = session {
            // The server heard of it last with a ping, of which there is one each third of the time-out.
            let timeout = SESSION_TIMEOUT.as_micros() as Micros;
            let over = self.now + timeout - self.rng.below(timeout / 3);
            self.at((over / TICK + 1) * TICK, Happening::SessionEnds { process, session });
        }
    }

    /// A process is asked to leave, and another one takes its place.
    fn leave(&mut self, process: usize) {
        if self.processes[process].hosts.is_empty() {
            return;
        }
        self.processes[process].is_up = false;
        for host in self.processes[process].hosts.clone() {
            self.look_at(self.hosts[host].job);
            self.hand_over(host, Event::Shutdown { grace: SESSION_TIMEOUT });
        }
    }

    /// An engine has left. The process ends with its last one.
    pub(super) fn stopped(&mut self, host: usize) {
        let process = self.hosts[host].process;
        let state = &mut self.hosts[host];
        (state.engine, state.registered) = (None, None);
        state.runs.clear();
        self.look_at(self.hosts[host].job);
        let is_there = |host: &usize| self.hosts[*host].engine.is_some();
        if self.processes[process].hosts.iter().any(is_there) {
            return;
        }
        let life = self.next_serial();
        self.processes[process].life = life;
        let session: Option<SessionId> = self.processes[process].session.take();
        if let Some(session) = session {
            self.at(self.now + self.deployment.rates.network_us, Happening::SessionEnds { process, session });
        }
        self.at(self.now + RESTART, Happening::Starts { process });
    }
}
