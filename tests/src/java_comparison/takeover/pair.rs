//! Two processes of one kind with the same jobs, whose runs take a different time in each process.

use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::registry::RegistryCenter;
use elasticjob::registry::layout::JobPath;

use super::JOBS;
use crate::group::{Group, Program, WorkerProgram};
use crate::java_comparison::stage::{SESSION_TIMEOUT, Stage, path, text_of, until};
use crate::java_peer::{JavaPeer, Kind};
use crate::measure::beside;
use crate::observer::Observer;
use crate::records::{ProcessRecords, now_us, pid_of};
use crate::worker::JobPlan;

/// One for each process.
const ITEMS: u32 = 2;

/// How long a busy survivor runs its own item: until some seconds after the session of the dead one has ended.
const BUSY_MS: u64 = 8_000;

/// How long the victim would run its items.
const LOST_MS: u64 = 60_000;

/// Jobs run when triggered: another fire in the midst of a takeover would take part in it.
const NEVER: &str = "0 0 0 1 1 ?";

/// Both processes.
#[derive(Debug)]
pub(super) struct Pair {
    pub group: Group<PairProgram>,
    /// The process that is killed.
    pub victim: u32,
    pub survivor: u32,
}

/// The program of both. [`Group::start`] starts the survivor.
#[derive(Debug)]
pub(super) struct PairProgram {
    kind: Kind,
    peer: JavaPeer,
    survivor: WorkerProgram,
    victim: WorkerProgram,
}

impl Pair {
    /// Starts them, the leader first, and waits until their next run is shared.
    pub async fn start(
        stage: &Stage,
        kind: Kind,
        namespace: &str,
        registry: &Arc<dyn RegistryCenter>,
        victim_leads: bool,
    ) -> io::Result<Self> {
        let observer = Observer::start(registry, JOBS.map(|(name, _)| name));
        let mut group = Group::new(PairProgram::new(stage, kind, namespace)?).observed_by(observer);
        let (victim, survivor);
        if victim_leads {
            victim = group.start_command(PairProgram::victim_command).await;
            leads(&group, registry, victim).await?;
            survivor = group.start().await;
        } else {
            survivor = group.start().await;
            leads(&group, registry, survivor).await?;
            victim = group.start_command(PairProgram::victim_command).await;
        }
        until(&group, "an item for each of two processes", async || {
            let observed = group.history().observed;
            for (job, _) in JOBS {
                if observed.online(job, now_us()).count() < 2 || !will_share(registry, kind, job).await? {
                    return Ok(None);
                }
            }
            Ok(Some(()))
        })
        .await?;
        Ok(Self { group, victim, survivor })
    }
}

/// Waits until a process leads all jobs.
async fn leads(group: &Group<PairProgram>, registry: &Arc<dyn RegistryCenter>, pid: u32) -> io::Result<()> {
    until(group, &format!("process {pid} as the leader"), async || {
        for (job, _) in JOBS {
            let leader = text_of(registry, &path(job, JobPath::LeaderInstance)).await?;
            if leader.as_deref().and_then(pid_of) != Some(pid) {
                return Ok(None);
            }
        }
        Ok(Some(()))
    })
    .await
}

/// Whether the next run is shared. A Java leader assigns the items with it, when that was asked for.
async fn will_share(registry: &Arc<dyn RegistryCenter>, kind: Kind, job: &str) -> io::Result<bool> {
    if kind == Kind::Java {
        return Ok(text_of(registry, &path(job, JobPath::Necessary)).await?.is_some());
    }
    let first = text_of(registry, &path(job, JobPath::owner_of(0))).await?;
    let second = text_of(registry, &path(job, JobPath::owner_of(1))).await?;
    Ok(first.is_some() && second.is_some() && first != second)
}

impl PairProgram {
    fn new(stage: &Stage, kind: Kind, namespace: &str) -> io::Result<Self> {
        let worker = beside("worker")?;
        let program = |run_ms: fn(bool) -> u64| {
            let jobs = JOBS.map(|(name, busy)| JobPlan {
                cron: NEVER.to_owned(),
                failover: true,
                ..JobPlan::each_second(name, ITEMS, run_ms(busy))
            });
            let server = stage.server.connect_string();
            WorkerProgram::new((&worker, &[]), server, namespace, jobs.to_vec(), SESSION_TIMEOUT)
        };
        let survivor = program(|busy| if busy { BUSY_MS } else { 0 });
        Ok(Self { kind, peer: stage.peer.clone(), survivor, victim: program(|_| LOST_MS) })
    }

    fn victim_command(&self, records: &Path, registry: Option<&str>) -> Command {
        self.command_of(&self.victim, records, registry)
    }

    fn command_of(&self, worker: &WorkerProgram, records: &Path, registry: Option<&str>) -> Command {
        let plan = worker.plan();
        match self.kind {
            Kind::Rust => worker.command(records, registry),
            Kind::Java => self.peer.instance(plan, registry.unwrap_or(&plan.zookeeper), records),
        }
    }
}

impl Program for PairProgram {
    fn command(&self, records: &Path, registry: Option<&str>) -> Command {
        self.command_of(&self.survivor, records, registry)
    }

    fn records(&self, pid: u32, text: &str) -> ProcessRecords {
        self.survivor.records(pid, text)
    }

    fn session_timeout(&self) -> Duration {
        SESSION_TIMEOUT
    }
}
