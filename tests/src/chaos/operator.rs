//! An operator that acts on the jobs, over a connection of its own.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::ident::{InstanceId, JobName};
use elasticjob::registry::layout::{JobPath, ServerStatus};
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};

use crate::records::{ExpectedTrigger, now_us};
use crate::worker::JobPlan;

/// How often something is tried while the server is busy with itself.
const TRIES: u32 = 300;

#[derive(Debug, Clone)]
pub(super) struct Operator {
    registry: Arc<dyn RegistryCenter>,
    jobs: Vec<JobPlan>,
}

impl Operator {
    pub(super) fn new(registry: Arc<dyn RegistryCenter>, jobs: Vec<JobPlan>) -> Self {
        Self { registry, jobs }
    }

    /// Disables or enables the servers of all jobs. The error says why it could not.
    pub(super) async fn set_servers(&self, status: ServerStatus) -> Result<(), String> {
        let mut done = Ok(());
        for _ in 0..TRIES {
            done = self.try_set_servers(status).await;
            if done.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        done
    }

    async fn try_set_servers(&self, status: ServerStatus) -> Result<(), String> {
        for job in &self.jobs {
            let name = name_of(job);
            let servers = self.registry.children(&JobPath::Servers.absolute(&name)).await;
            let servers = servers.map_err(|error| error.to_string())?;
            for server in servers.ok_or_else(|| format!("{name} has no servers"))? {
                let mut transaction = Transaction::new();
                let path = JobPath::Server(server.into()).absolute(&name);
                transaction.set(path.clone(), status.as_str(), None);
                self.registry.commit(transaction).await.map_err(|error| format!("{path}: {error}"))?;
            }
        }
        Ok(())
    }

    /// Triggers each job on all of its instances. Tells those that it triggered for sure, and that had no trigger before.
    pub(super) async fn trigger(&self) -> Vec<ExpectedTrigger> {
        let mut taken = Vec::new();
        for job in &self.jobs {
            taken.extend(self.trigger_job(job).await);
        }
        taken
    }

    async fn trigger_job(&self, job: &JobPlan) -> Option<ExpectedTrigger> {
        let name = name_of(job);
        let triggers = JobPath::Triggers.absolute(&name);
        match self.registry.children(&triggers).await.ok()? {
            Some(pending) if pending.is_empty() => {}
            Some(_) => return None,
            None => {
                let mut transaction = Transaction::new();
                transaction.create(&triggers, "", CreateMode::Persistent);
                self.registry.commit(transaction).await.ok()?;
            }
        }
        let mut transaction = Transaction::new();
        let instances = self.registry.children(&JobPath::Instances.absolute(&name)).await.ok()??;
        for id in &instances {
            let id: InstanceId = id.parse().ok()?;
            transaction.check(JobPath::Instance(id.clone()).absolute(&name), None);
            transaction.create(JobPath::Trigger(id).absolute(&name), "", CreateMode::Persistent);
        }
        if transaction.is_empty() {
            return None;
        }
        // The time of a trigger is never that of a scheduled fire.
        let into_second = now_us().rem_euclid(1_000_000);
        if !(100_000..900_000).contains(&into_second) {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        let asked_ms = now_us() / 1_000;
        self.registry.commit(transaction).await.ok()?;
        let answered_ms = now_us() / 1_000;
        Some(ExpectedTrigger { job: job.name.clone(), items: job.items, instances, asked_ms, answered_ms })
    }
}

fn name_of(job: &JobPlan) -> JobName {
    JobName::new(job.name.as_str()).expect("a name for a job")
}
