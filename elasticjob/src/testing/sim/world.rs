//! The state and the time of the world around the engines, and the queue of what happens next.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::Keep;
use super::beside::{Beside, FIRST};
use super::faults::FaultCounts;
use super::follower::Lagging;
use super::happening::Happening;
use super::host::{EPOCH, Host, Millis, Process};
use super::java::java_hosts;
use super::limits::{Limits, transactions_full_from};
use super::shape::Shape;
use super::shared::Shared;
use super::watches::large_groups_from;
use crate::engine::Bug;
use crate::ident::JobName;
use crate::registry::SessionId;
use crate::registry::tree::Tree;
use crate::testing::invariants::{Fates, Invariants, Observation};
use crate::testing::rng::Rng;

/// The session an operator's commands run in.
pub(super) const OPERATOR: SessionId = SessionId(1);
/// How long a client waits for an answer.
pub(super) const ANSWER_TIMEOUT: Millis = 2_000;
/// Grace of a shutdown.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// A simulated group.
#[derive(Debug)]
pub struct World {
    pub(super) rng: Rng,
    pub(super) now: Millis,
    pub(super) hosts: Vec<Host>,
    pub(super) session_timeout: Millis,
    pub(super) limits: Limits,
    /// From which weight on a transaction takes no further item, where that is less than usual.
    pub(super) transactions_full_from: Option<usize>,
    /// From how many instances on the group is a large one, where that is less than usual.
    pub(super) large_groups_from: Option<usize>,
    pub(super) latency: Millis,
    /// The follower, while it has lost its leader.
    pub(super) lagging: Option<Lagging>,
    /// For how long the follower will lose its leader, at the worst moment for a run that begins then.
    pub(super) ambush: Option<Millis>,
    /// Until then no client reaches the registry.
    pub(super) away_until: Millis,
    /// How many answers to transactions get lost next.
    pub(super) lose_answers: u64,
    /// The fire that a clock far ahead began.
    pub(super) begun_ahead: Option<i64>,
    pub(super) job: JobName,
    pub(super) bug: Option<Bug>,
    pub(super) period: u32,
    pub(super) total: u32,
    pub(super) shape: Shape,
    /// How long a run takes at least.
    pub(super) shortest_run: Millis,
    pub(super) tree: Tree,
    /// When the server heard of each session last.
    pub(super) heard: BTreeMap<SessionId, Millis>,
    pub(super) agenda: BinaryHeap<Reverse<(Millis, u64, Happening)>>,
    pub(super) serial: u64,
    pub(super) faults_until: Millis,
    /// Faults that end a process are left out.
    pub(super) spares_processes: bool,
    /// Nothing starts any more.
    pub(super) closing: bool,
    pub(super) invariants: Invariants,
    /// Where fires are run again: what draws the re-run in the calm.
    pub(super) reruns: Option<Rng>,
    /// Further jobs of the processes.
    pub(super) beside: Vec<Beside>,
    /// Transactions on their way, where a process has several jobs.
    pub(super) shared: BTreeMap<usize, Shared>,
    pub(super) counts: FaultCounts,
    pub(super) history: Option<Vec<String>>,
    /// Of what happened, without what the engines say of it: two engines that do the same have the same.
    hash: Option<DefaultHasher>,
}

/// More happens within a second only where engines do not come to rest: they ask again and again.
const BUSY: u32 = 100_000;

impl World {
    /// The group of a seed.
    pub fn new(seed: u64, bug: Option<Bug>, keep: Keep) -> Self {
        let mut rng = Rng::new(seed);
        let hosts = rng.between(1, 5) as usize;
        let session_timeout = rng.pick(&[2_000, 4_000, 10_000]);
        let period = rng.pick(&[1, 2, 5, 10, 10, 30]);
        let java = java_hosts(seed, hosts);
        let mixed = java.contains(&true);
        let shape = Shape::draw(&mut rng, mixed);
        let total = rng.between(1, 7) as u32;
        let job = JobName::new(FIRST).expect("a valid name");
        let mut tree = Tree::new(1_000);
        tree.open_session(OPERATOR, Duration::from_secs(1_000_000));
        // Several processes on one host share its address, and in containers even the number of the process.
        let one_address = rng.one_in(6);
        let one_pid = one_address && rng.one_in(2);
        // A Java process takes away the node of the instance that has its id: hosts of a mixed group need ids of their own.
        let one_pid = one_pid && !mixed;
        let hosts = (0..hosts)
            .map(|n| {
                let ip = format!("10.0.0.{}", if one_address { 1 } else { n + 1 });
                let pid = if one_pid { 1 } else { 100 + 1_000 * n as u32 };
                Host { java: java[n], ..Host::new(ip, pid, rng.below(40) as i64) }
            })
            .collect();
        let mut world = Self {
            now: 0,
            hosts,
            session_timeout,
            limits: Limits::new(session_timeout),
            transactions_full_from: transactions_full_from(seed),
            large_groups_from: large_groups_from(seed),
            latency: rng.pick(&[1, 3, 30]),
            lagging: None,
            ambush: None,
            away_until: 0,
            lose_answers: 0,
            begun_ahead: None,
            job,
            bug,
            period,
            total,
            invariants: Invariants::new(total, period, shape.clone()),
            reruns: None,
            beside: Beside::draw(seed, mixed, total, period, &shape),
            shared: BTreeMap::new(),
            shape,
            shortest_run: 1,
            tree,
            heard: BTreeMap::new(),
            agenda: BinaryHeap::new(),
            serial: 0,
            faults_until: 0,
            spares_processes: false,
            closing: false,
            counts: FaultCounts::default(),
            history: (keep == Keep::Lines).then(Vec::new),
            hash: (keep == Keep::Hash).then(DefaultHasher::new),
            rng,
        };
        world.log(|world| {
            format!(
                "seed {seed}: {} hosts, session {session_timeout} ms, every {period} s, {total} items, \
                 {:?}",
                world.hosts.len(),
                world.shape
            )
        });
        if mixed {
            world.count("mixed_group");
        }
        if !world.beside.is_empty() {
            world.add_beside();
        }
        if world.transactions_full_from.is_some() {
            world.count("small_transactions");
        }
        for host in 0..world.hosts.len() {
            if world.hosts[host].java {
                world.count("java_host");
            }
            let at = world.rng.below(3_000);
            world.at(at, Happening::Restart { host });
        }
        world.configure(total);
        world.faults_until = world.rng.between(20_000, 90_000);
        let first = world.rng.between(2_000, 10_000);
        world.at(first, Happening::Inject);
        world.at(100, Happening::Expire);
        world.plan_limits(seed);
        world.plan_edit(seed);
        world.plan_loss(seed);
        world.plan_suspensions(seed);
        world.plan_reruns(seed);
        world
    }

    /// Plays the whole history.
    ///
    /// # Errors
    /// The invariant that does not hold, and why.
    pub fn play(&mut self) -> Result<(), String> {
        let mixed = self.is_mixed();
        // Calls of Java are repeated for many seconds, and its leader reshards when it fires and nothing runs. What the
        // others find out by looking at everything again takes a minute.
        let patience = if mixed || self.shape.unheard { 70_000 } else { 0 };
        let (longest_run, longest_round) = (self.shape.longest_run, self.shape.longest_round());
        let settle = 4 * self.session_timeout + longest_run + 30_000 + longest_round + patience;
        let calm_from = self.faults_until + settle;
        let listening = 2 * longest_round * u64::from(self.shape.listeners.on);
        let calm_until = calm_from + 4_000 * u64::from(self.period) + 2 * longest_run + listening;
        self.run_until(calm_from)?;
        self.observe(Observation::Converged)?;
        self.log(|_| "-- calm --".to_owned());
        self.log_engines();
        if !mixed {
            for _ in 0..3 {
                let at = calm_from + self.rng.below(2_000 * u64::from(self.period));
                self.at(at, Happening::Cancel);
            }
        }
        for _ in 0..2 {
            let host = self.rng.below(self.machines() as u64) as usize;
            let at = calm_from + self.rng.below(1_000 * u64::from(self.period));
            self.at(at, Happening::Trigger { host });
        }
        self.plan_reruns_in_calm(calm_from);
        if self.shape.may_deploy() && !mixed && self.machines() > 1 && self.rng.one_in(2) {
            let host = self.rng.below(self.machines() as u64) as usize;
            let at = calm_from + self.rng.below(1_000 * u64::from(self.period));
            self.at(at, Happening::Deploy { host });
        }
        self.run_until(calm_until)?;
        self.observe(Observation::Calm { from: EPOCH + calm_from as i64, until: EPOCH + calm_until as i64 })?;
        self.closing = true;
        for host in 0..self.hosts.len() {
            self.leave(host);
        }
        if mixed {
            // What waits for its run, or for a leader that is gone, is killed.
            self.run_until(calm_until + longest_run + 5_000)?;
            self.kill_java()?;
        }
        self.run_until(calm_until + 2 * self.session_timeout + longest_run + 15_000)?;
        self.observe(Observation::AllLeft)?;
        self.observe(Observation::Over)
    }

    /// The fates of the items of fires.
    pub fn fates(&self) -> Fates {
        let mut fates = self.invariants.fates().clone();
        self.excused_ends().for_each(|(excuse, count)| fates.excuse_end(excuse, count));
        fates
    }

    /// The number of times that each fault happened.
    pub fn fault_counts(&self) -> FaultCounts {
        self.counts.clone()
    }

    /// The events of the history, when they were kept.
    pub fn take_history(&mut self) -> Vec<String> {
        self.history.take().unwrap_or_default()
    }

    /// The hash of what happened, when it was asked for.
    pub fn hash(&self) -> Option<u64> {
        self.hash.as_ref().map(DefaultHasher::finish)
    }

    /// Adds to the history what there is, and what the engines know and wait for.
    pub fn log_engines(&mut self) {
        for path in self.tree.paths() {
            self.log_words(|world| {
                let node = world.tree.get(&path).ok().flatten();
                let data = node.as_ref().and_then(|node| node.data.text()).unwrap_or_default();
                format!("node {path}={}", data.replace('\n', "\\n"))
            });
        }
        for host in 0..self.hosts.len() {
            self.log_words(|world| match &world.hosts[host].process {
                Some(process) => format!("host {host}: {:?}", process.program),
                None => format!("host {host} is down"),
            });
        }
    }

    pub(super) fn run_until(&mut self, end: Millis) -> Result<(), String> {
        let (mut second, mut happenings) = (self.now / 1_000, 0);
        while let Some(Reverse((at, _, _))) = self.agenda.peek() {
            if *at > end {
                break;
            }
            let Some(Reverse((at, _, happening))) = self.agenda.pop() else { break };
            self.now = at;
            happenings = if at / 1_000 == second { happenings + 1 } else { 0 };
            second = at / 1_000;
            if happenings > BUSY {
                return Err(format!("the engines do not come to rest: {BUSY} things happened within a second"));
            }
            self.happen(happening)?;
        }
        self.now = end;
        Ok(())
    }

    pub(super) fn at(&mut self, at: Millis, happening: Happening) {
        self.serial += 1;
        self.agenda.push(Reverse((at, self.serial, happening)));
    }

    pub(super) fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// Something happened.
    pub(super) fn log(&mut self, line: impl FnOnce(&Self) -> String) {
        if self.history.is_some() || self.hash.is_some() {
            let line = format!("{:>8} {}", self.now, line(self));
            self.hash.iter_mut().for_each(|hash| line.hash(hash));
            self.history.iter_mut().for_each(|history| history.push(line.clone()));
        }
    }

    /// The words of an engine, or what it knows.
    pub(super) fn log_words(&mut self, line: impl FnOnce(&Self) -> String) {
        if self.history.is_some() {
            let line = format!("{:>8} {}", self.now, line(self));
            self.history.iter_mut().for_each(|history| history.push(line.clone()));
        }
    }

    pub(super) fn count(&mut self, fault: &'static str) {
        self.counts.count(fault);
        self.log(|_| format!("!! {fault}"));
    }

    /// Something happened that may cost a fire.
    pub(super) fn incident(&mut self) {
        self.incident_in(0);
    }

    pub(super) fn live(&mut self, host: usize, life: u64) -> Option<&mut Process> {
        self.hosts[host].process.as_mut().filter(|process| process.life == life)
    }

    pub(super) fn is_mixed(&self) -> bool {
        self.hosts.iter().any(|host| host.java)
    }
}
