//! Everything that can happen to a simulated group, and the part of the simulator that each of it calls.

use super::host::Millis;
use super::liveness::LOOK;
use super::world::World;
use crate::engine::RoundId;
use crate::ident::ShardingItem;
use crate::registry::SessionId;
use crate::registry::layout::{JobPath, ServerStatus};
use crate::registry::mirror::Watched;
use crate::testing::invariants::Observation;

/// What happens at some time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Happening {
    /// A request reaches the server.
    Arrive {
        host: usize,
        life: u64,
        connection: u64,
        id: u64,
    },
    /// A watch reaches the server.
    WatchArrives {
        host: usize,
        life: u64,
        connection: u64,
        watched: Watched,
    },
    /// A message is there for a host, or its engine wants to be asked.
    Wake {
        host: usize,
        life: u64,
    },
    /// A run of an item ends by itself.
    ItemEnds {
        host: usize,
        life: u64,
        item: ShardingItem,
        serial: u64,
    },
    /// A call of listeners returns by itself.
    CallEnds {
        host: usize,
        life: u64,
        round: RoundId,
        serial: u64,
    },
    /// The client of a host has noticed that its connection is gone.
    NoticeCut {
        host: usize,
        life: u64,
    },
    /// A connection may be made again.
    Reconnect {
        host: usize,
        life: u64,
    },
    /// A process can send what waits.
    SharedSend {
        machine: usize,
    },
    /// A request of the jobs of a process reaches the server.
    SharedArrives {
        machine: usize,
        serial: u64,
    },
    /// The answer to one reaches its client.
    SharedAnswered {
        machine: usize,
        serial: u64,
    },
    /// A client stops waiting for the answer to one.
    SharedTimeout {
        machine: usize,
        serial: u64,
    },
    /// A client stops waiting for an answer.
    AnswerTimeout {
        host: usize,
        life: u64,
        id: u64,
    },
    /// An instance makes room for its successor.
    Deploy {
        host: usize,
    },
    /// An instance whose node was deleted has had the time to leave.
    CheckRemoved {
        host: usize,
        life: u64,
        session: SessionId,
        nonce: Option<u32>,
    },
    Thaw {
        host: usize,
        life: u64,
    },
    /// The driver of a job ends by a bug.
    EngineFalls {
        host: usize,
        life: u64,
    },
    /// An engine takes the place of one that is gone.
    EngineStarts {
        host: usize,
        life: u64,
    },
    /// Runs of an engine that is gone are dropped.
    DropCutOff {
        host: usize,
        life: u64,
    },
    /// The wall clock of a host is set.
    SetClock {
        host: usize,
        offset: i64,
    },
    /// A machine is suspended, and its clock is set back after it goes on.
    Suspend {
        host: usize,
        duration: Millis,
        set_back: Option<Millis>,
    },
    /// A supervisor ends a process whose engine does not come back.
    ProcessEnds {
        host: usize,
        life: u64,
    },
    Restart {
        host: usize,
    },
    /// The follower finds that it has lost its leader.
    LagEnds,
    /// An operator enables a server again.
    EnableServer {
        host: usize,
    },
    /// The servers start again with other limits.
    LimitsChange,
    /// The registry is away.
    RegistryFalls {
        outage: Millis,
    },
    /// It is back, without its data.
    DataLost,
    /// An operator looks whether the jobs are there again.
    LookForLoss,
    /// All processes are gone at the same time.
    AllDown {
        draw: u64,
    },
    /// An operator edits the configuration.
    Edit {
        draw: u64,
    },
    /// An operator cancels a run.
    Cancel,
    /// An operator runs a past fire again.
    Rerun {
        draw: u64,
    },
    /// An operator triggers the job by hand.
    Trigger {
        host: usize,
    },
    /// The server looks for sessions that ended.
    Expire,
    Inject,
    /// An operator looks after Java instances once more.
    Inspect,
}

impl World {
    pub(super) fn happen(&mut self, happening: Happening) -> Result<(), String> {
        match happening {
            Happening::Arrive { host, life, connection, id } => return self.arrive(host, life, connection, id),
            Happening::WatchArrives { host, life, connection, watched } => {
                self.place_watch(host, life, connection, &watched);
            }
            Happening::Wake { host, life } => {
                let now = self.now;
                let Some(process) = self.live(host, life) else { return Ok(()) };
                let asked = process.next_wake.take_if(|at| *at <= now).is_some();
                // Without a message and before its time an engine is not asked: it must not depend on that.
                if asked || process.incoming.front().is_some_and(|(at, _)| *at <= now) {
                    return self.attend(host, life, None);
                }
            }
            Happening::ItemEnds { host, life, item, serial } => return self.end_item(host, life, item, serial, None),
            Happening::Cancel => self.cancel_run(),
            Happening::Rerun { draw } => return self.rerun(draw),
            Happening::CallEnds { host, life, round, serial } => return self.end_call(host, life, round, serial),
            Happening::NoticeCut { host, life } => return self.notice_cut(host, life),
            Happening::Reconnect { host, life } => return self.reconnect(host, life),
            Happening::SharedSend { machine } => self.send_shared(machine),
            Happening::SharedArrives { machine, serial } => return self.shared_arrives(machine, serial),
            Happening::SharedAnswered { machine, serial } => return self.shared_answered(machine, serial),
            Happening::SharedTimeout { machine, serial } => self.shared_timeout(machine, serial),
            Happening::AnswerTimeout { host, life, id } => return self.give_up_waiting(host, life, id),
            Happening::Thaw { host, life } => return self.thaw(host, life),
            Happening::EngineFalls { host, life } if self.live(host, life).is_some() => return self.drop_engine(host),
            Happening::EngineFalls { .. } => {}
            Happening::EngineStarts { host, life } => return self.start_engine(host, life),
            Happening::ProcessEnds { host, life } => self.end_process(host, life),
            Happening::DropCutOff { host, life } => self.drop_cut_off(host, life, false),
            Happening::Restart { host } => return self.start(host),
            Happening::SetClock { host, offset } if self.now < self.faults_until => self.set_clock(host, offset),
            Happening::SetClock { .. } => {}
            Happening::Suspend { host, duration, set_back } => self.suspend_and_set_back(host, duration, set_back),
            Happening::LagEnds => self.end_lag(),
            Happening::LimitsChange => self.change_limits(),
            Happening::RegistryFalls { outage } => self.registry_falls(outage),
            Happening::DataLost => return self.lose_data(),
            Happening::LookForLoss => return self.look_for_loss(),
            Happening::AllDown { draw } => self.all_down(draw),
            Happening::Edit { draw } => self.edit(draw),
            Happening::Trigger { host } => self.trigger(host),
            Happening::Deploy { host } => self.deploy(host),
            Happening::EnableServer { host } => {
                let server = JobPath::Server(self.hosts[host].ip.as_str().into());
                self.operator_sets(&server, ServerStatus::Enabled.as_str());
                self.incident();
            }
            Happening::CheckRemoved { host, life, session, nonce } => {
                return self.check_removed(host, life, session, nonce);
            }
            Happening::Expire => {
                self.keep_drifting()?;
                self.expire()?;
                let (latency, lagging) = (self.latency, self.lagging.is_some());
                self.observe(Observation::Passed { latency, lagging })?;
                let next = self.now + LOOK;
                self.at(next, Happening::Expire);
            }
            Happening::Inject if self.now < self.faults_until => {
                self.inject()?;
                let next = self.now + self.rng.between(100, 6_000);
                self.at(next, Happening::Inject);
            }
            Happening::Inject => self.heal(),
            Happening::Inspect => {
                self.restart_stuck_java();
                self.enable_servers();
            }
        }
        Ok(())
    }
}
