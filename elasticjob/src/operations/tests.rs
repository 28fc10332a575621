//! Operations on jobs that run on the embedded registry.

mod alarms;
mod assigned;
mod audited;
mod cancelled;
mod carried_wait;
mod configurations;
mod daemon;
mod depends;
mod explained;
mod operated;
mod races;
mod refusals;
mod removed;
mod rerun;
mod statistics;
mod watched_lists;

use std::sync::Arc;

use super::*;
use crate::api::ItemHandler;
use crate::config::{JobConfiguration, JobConfigurationBuilder};
use crate::ident::{JobName, ShardingItem};
use crate::registry::memory::MemoryRegistry;
use crate::registry::{CreateMode, RegistryCenter, Transaction};
use crate::runtime::tests::{reporter, soon};
use crate::runtime::{JobEnvironment, ScheduleJobBootstrap};

/// A registry with an operator, and the environment of jobs.
struct Desk {
    memory: MemoryRegistry,
    environment: JobEnvironment,
    operations: Operations,
}

impl Desk {
    fn new() -> Self {
        let memory = MemoryRegistry::new();
        let operations = Operations::new(Arc::new(memory.connect()));
        Self { memory, environment: JobEnvironment::builder().build().unwrap(), operations }
    }

    /// Starts an instance of a job, in a session of its own.
    async fn start(&self, configuration: JobConfigurationBuilder, handler: ItemHandler) -> ScheduleJobBootstrap {
        let (registry, configuration) = (Arc::new(self.memory.connect()), configuration.build().unwrap());
        let mut job = ScheduleJobBootstrap::new(&self.environment, registry, configuration, handler).unwrap();
        job.schedule().await.unwrap();
        job
    }

    /// Writes nodes as another client does, each with its parents.
    async fn write(&self, nodes: &[(&str, &str)]) {
        for (path, data) in nodes {
            let mut transaction = Transaction::new();
            for (end, _) in path.match_indices('/').skip(1) {
                if self.operations.registry.get(&path[..end]).await.unwrap().is_none() {
                    transaction.create(&path[..end], "", CreateMode::Persistent);
                }
            }
            match self.operations.registry.get(path).await.unwrap() {
                Some(_) => transaction.set(*path, *data, None),
                None => {
                    let lives = path.contains("/instances/") && !path.ends_with("copied");
                    transaction.create(*path, *data, if lives { CreateMode::Ephemeral } else { CreateMode::Persistent })
                }
            };
            self.operations.registry.commit(transaction).await.unwrap();
        }
    }

    async fn text(&self, path: &str) -> Option<String> {
        self.operations.text(path.to_owned()).await.unwrap()
    }
}

/// The reasons for the whole job.
fn reasons(snapshot: &JobSnapshot) -> Vec<Reason> {
    snapshot.findings(0).into_iter().map(|finding| finding.reason).collect()
}

fn name(job: &str) -> JobName {
    JobName::new(job).unwrap()
}

/// A job that fires only at the turn of the year.
fn once_a_year(job: &str, items: u32) -> JobConfigurationBuilder {
    JobConfiguration::builder(job, items).cron("0 0 0 1 1 ?").time_zone("UTC")
}
