//! Starts processes, crashes them, freezes them, and asks them to leave.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::happening::Happening;
use super::haywire::strategies;
use super::host::{Incoming, Millis, Process, Program};
use super::java::JavaProcess;
use super::world::{GRACE, World};
use crate::engine::{Event, Identity, JobEngine};
use crate::ident::JobName;
use crate::testing::invariants::Observation;

impl World {
    pub(super) fn start(&mut self, host: usize) -> Result<(), String> {
        if self.closing {
            return Ok(());
        }
        if let Some(process) = &self.hosts[host].process {
            if process.leaving {
                let later = self.now + 500;
                self.at(later, Happening::Restart { host });
            }
            return Ok(());
        }
        // A process that stands still makes no job.
        if let Some(until) = self.process_beside(host).and_then(|beside| beside.frozen_until) {
            let later = until.max(self.now) + 1;
            self.at(later, Happening::Restart { host });
            return Ok(());
        }
        self.look_at_what_was_left(host)?;
        self.forget_shared(host);
        let life = self.next_serial();
        let instance = self.hosts[host].instance();
        self.log(|_| format!("host {host} starts {instance}"));
        let program = if self.hosts[host].java {
            Program::Java(JavaProcess::new(self.job.clone(), instance, life, self.hosts[host].id_reused))
        } else {
            let candidate = format!("{life:032x}");
            let suffix = self.rng.next_u64() as u16;
            let identity = Identity { base: instance.clone(), instance, suffix, candidate, nonce: life as u32 };
            Program::Engine(Box::new(self.engine(self.job_of(host), identity)))
        };
        self.hosts[host].process = Some(Process::new(program, life));
        self.reconnect(host, life)
    }

    /// A job is made again in a process whose session went on with the other job: the one before it has left nothing.
    fn look_at_what_was_left(&mut self, host: usize) -> Result<(), String> {
        let session = self.process_beside(host).and_then(|beside| beside.session);
        match session.filter(|session| self.tree.session_timeout(*session).is_some()) {
            Some(session) => self.observe(Observation::CleanedUp { host, session, busy: &BTreeSet::new() }),
            None => Ok(()),
        }
    }

    /// An engine of the job.
    pub(super) fn engine(&self, job: &JobName, identity: Identity) -> JobEngine {
        let engine = JobEngine::new(identity, Arc::new(self.configuration(job, 3)), strategies());
        let mut engine = engine.with_listeners(self.shape.listeners.known());
        if let Some(weight) = self.transactions_full_from {
            engine = engine.with_full_transactions_from(weight);
        }
        if let Some(instances) = self.large_groups_from {
            engine = engine.with_large_groups_from(instances);
        }
        if let Some(bug) = self.bug {
            engine.plant(bug);
        }
        engine
    }

    /// A process is gone with all its jobs.
    pub(super) fn kill(&mut self, host: usize) {
        self.incident();
        self.of_process(host).for_each(|host| self.hosts[host].process = None);
        self.start_clock(host);
    }

    /// A process is gone with all its jobs, and is restarted later.
    pub(super) fn crash(&mut self, host: usize, same_id: bool, delay: Millis) {
        self.kill(host);
        self.of_process(host).for_each(|host| self.restart_later(host, same_id, delay));
    }

    pub(super) fn restart_later(&mut self, host: usize, same_id: bool, delay: Millis) {
        self.hosts[host].id_reused = same_id;
        // A job that is made again in its process has the id of the process.
        if !same_id && self.process_beside(host).is_none() {
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

    /// Leaves, and starts again around the time of a fire.
    pub(super) fn deploy(&mut self, host: usize) {
        self.count("deployed");
        self.leave(host);
        let period = 1_000 * u64::from(self.period);
        let fire = (self.now / period + self.rng.between(1, 4)) * period;
        let at = (fire + self.rng.below(90)).saturating_sub(80).max(self.now);
        self.restart_later(host, false, at - self.now);
    }

    pub(super) fn freeze(&mut self, host: usize, duration: Millis) {
        self.incident();
        self.of_process(host).for_each(|host| self.freeze_one(host, duration));
    }

    fn freeze_one(&mut self, host: usize, duration: Millis) {
        let at = self.now + duration;
        let Some(process) = self.hosts[host].process.as_mut().filter(|process| !process.is_frozen()) else { return };
        process.frozen_until = Some(at);
        let life = process.life;
        self.at(at, Happening::Thaw { host, life });
    }

    /// A machine is suspended with all that runs on it: the clock that never steps stops too.
    pub(super) fn suspend(&mut self, host: usize, duration: Millis) {
        // Where nothing runs nothing goes on later.
        if self.of_process(host).any(|host| self.hosts[host].process.is_some()) {
            self.stop_clock(host);
        }
        self.freeze(host, duration);
    }

    pub(super) fn thaw(&mut self, host: usize, life: u64) -> Result<(), String> {
        self.incident();
        let now = self.now;
        let Some(process) = self.live(host, life) else { return Ok(()) };
        process.frozen_until = None;
        process.thawed_at = Some(now);
        let session = process.session;
        self.start_clock(host);
        self.log(|_| format!("host {host} goes on"));
        self.drop_cut_off(host, life, false);
        let ended = session.is_some_and(|session| self.tree.session_timeout(session).is_none());
        if self.is_lagging(host) {
            // Neither of the two hears of the other.
        } else if ended {
            self.cut(host, 1);
        } else if let Some(session) = session {
            // Left to the fence: a proof that comes before the leader has heard of a process that said nothing for so long.
            self.speak(host);
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
}
