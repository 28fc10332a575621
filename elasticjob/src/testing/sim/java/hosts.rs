//! Drives the Java processes: hands them what arrived, performs what they want done.

use super::jvm::{Call, Reply, Ticket, Wish};
use crate::engine::Event;
use crate::fire::{ExecutionSource, Fire};
use crate::ident::ShardingItem;
use crate::registry::{CommitError, SessionId};
use crate::testing::invariants::Observation;
use crate::testing::sim::happening::Happening;
use crate::testing::sim::host::{Answer, Execution, Incoming, Millis, Request};
use crate::testing::sim::{Host, World};

impl World {
    /// Lets a Java process take what is there, and performs what it wants.
    pub(in crate::testing::sim) fn attend_java(
        &mut self,
        host: usize,
        life: u64,
        first: Option<Event>,
    ) -> Result<(), String> {
        let (now, clock) = (self.now, self.hosts[host].now(self.now));
        let Some(process) = self.live(host, life) else { return Ok(()) };
        let due = process.take_due(now);
        let Some(java) = process.program.java() else { return Ok(()) };
        if let Some(Event::ItemEnded { item, .. }) = first {
            java.on_item_ended(item);
        }
        let mut answered = Vec::new();
        for incoming in due {
            match incoming {
                Incoming::Event(Event::Session(state)) => java.on_session(state),
                Incoming::Event(Event::Watch(event)) => java.on_watch(&event),
                Incoming::Event(Event::Shutdown { .. }) => java.stop(),
                Incoming::Event(Event::Trigger(..)) => java.trigger_all(),
                Incoming::Event(_) => {}
                Incoming::Answer { id, answer: Answer::Java(ticket, reply), .. } => {
                    // One that was given up before has a lost answer already.
                    if process.outstanding.iter().any(|sent| sent.id == id) || matches!(reply, Reply::Lost) {
                        java.on_reply(ticket, reply);
                    }
                    answered.push(id);
                }
                Incoming::Answer { .. } => {}
            }
        }
        let wishes = java.run(clock);
        let broken = java.broken();
        process.outstanding.retain(|sent| !answered.contains(&sent.id));
        if let Some(why) = broken {
            return Err(format!("what Java cannot take: host {host}: {why}"));
        }
        for wish in wishes {
            self.perform_java(host, life, wish)?;
        }
        self.arm_java(host, life);
        Ok(())
    }

    fn perform_java(&mut self, host: usize, life: u64, wish: Wish) -> Result<(), String> {
        match wish {
            Wish::Call(ticket, call) => self.send(host, life, Request::Java(ticket, call)),
            Wish::Start { fire, source, items } => self.start_java_items(host, life, fire, source, &items)?,
            Wish::LeftOut { fires, items, why } => {
                self.log(|_| format!("host {host}: Java leaves out {items:?} of {fires:?}: {why}"));
                let java = self.hosts[host].process.as_mut().and_then(|process| process.program.java());
                if let Some(instance) = java.map(|java| java.id().clone()) {
                    self.observe(Observation::LeftOut { instance: &instance, fires: &fires, items: &items })?;
                }
            }
            Wish::Log(line) => self.log(|_| format!("host {host}: {line}")),
            Wish::Exit => {
                self.log(|_| format!("host {host}: the job is over in this Java process"));
                self.exit_java(host, life);
            }
        }
        Ok(())
    }

    /// Whatever starts processes starts this one again.
    fn exit_java(&mut self, host: usize, life: u64) {
        let Some(leaving) = self.live(host, life).map(|process| process.leaving) else { return };
        self.incident();
        self.hosts[host].process = None;
        if !leaving && !self.closing {
            let delay = self.rng.between(1_000, 5_000);
            self.restart_later(host, false, delay);
        }
    }

    /// Restarts the Java processes of which marks stay that nobody can tell from those of live runs: a run ended with an
    /// exception as the configuration could not be read, or the process has the id of a dead one (finding 3).
    pub(in crate::testing::sim) fn restart_stuck_java(&mut self) {
        for host in 0..self.hosts.len() {
            let Host { process, java, id_reused, pid, .. } = &mut self.hosts[host];
            let stuck = process.as_mut().and_then(|process| process.program.java()).is_some_and(|java| java.is_stuck());
            if stuck {
                self.count("java_restarted_by_operator");
                self.crash(host, false, 1_000);
            } else if process.is_none() && *java && *id_reused {
                // It is about to start.
                *pid += 1;
                *id_reused = false;
            }
        }
    }

    /// Java processes that wait for something when all were asked to leave.
    pub(in crate::testing::sim) fn kill_java(&mut self) -> Result<(), String> {
        for host in 0..self.hosts.len() {
            let Some(java) = self.hosts[host].process.as_mut().and_then(|process| process.program.java()) else {
                continue;
            };
            let instance = java.id().clone();
            for wish in java.last_words() {
                if let Wish::LeftOut { fires, items, .. } = wish {
                    self.observe(Observation::LeftOut { instance: &instance, fires: &fires, items: &items })?;
                }
            }
            self.kill(host);
        }
        Ok(())
    }

    fn start_java_items(
        &mut self,
        host: usize,
        life: u64,
        fire: Fire,
        source: ExecutionSource,
        items: &[ShardingItem],
    ) -> Result<(), String> {
        for item in items {
            let serial = self.next_serial();
            let duration = self.rng.between(self.shortest_run, self.shape.longest_run);
            let Some(process) = self.live(host, life) else { return Ok(()) };
            // Java neither cancels nor drops what runs.
            let (token, blocking, cancelled, aborted, session) = (None, true, false, false, None);
            let execution = Execution { serial, fire, token, blocking, cancelled, aborted, session };
            process.executions.insert(*item, execution);
            self.observe(Observation::Started { host, item: *item, fire, source, token: None })?;
            let at = self.now + duration;
            self.at(at, Happening::ItemEnds { host, life, item: *item, serial });
        }
        Ok(())
    }

    fn arm_java(&mut self, host: usize, life: u64) {
        let now = self.now;
        let Some(process) = self.live(host, life) else { return };
        let asked = process.next_wake;
        let Some(at) = process.program.java().and_then(|java| java.next_wake()).map(|at: Millis| at.max(now + 1))
        else {
            return;
        };
        if asked.is_none_or(|asked| at < asked || asked < now) {
            process.next_wake = Some(at);
            self.at(at, Happening::Wake { host, life });
        }
    }

    /// The server does what a thread asks.
    pub(in crate::testing::sim) fn answer_java(
        &mut self,
        host: usize,
        session: SessionId,
        ticket: Ticket,
        call: Call,
    ) -> Result<Answer, String> {
        let reply = match call {
            Call::Get(path) => Reply::Node(self.tree.get(&path).map_err(|reason| format!("{path}: {reason}"))?),
            Call::Children(path) => {
                Reply::Children(self.tree.children(&path).map_err(|reason| format!("{path}: {reason}"))?)
            }
            Call::Commit(transaction) => match self.commit(session, &transaction, Some(host))? {
                Ok(_) => Reply::Written(Ok(())),
                Err(CommitError::Refused { reason, .. }) => Reply::Written(Err(reason)),
                Err(_) => Reply::Lost,
            },
        };
        Ok(Answer::Java(ticket, reply))
    }
}
