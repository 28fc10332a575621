//! Jobs on the embedded registry, from their bootstraps to what they leave in the registry.

#[cfg(all(feature = "http", feature = "email"))]
mod bound_addresses;
mod bound_commands;
mod depends;
mod ended_runtime;
mod ends;
mod failures;
mod fires;
mod foreign_texts;
mod given_up;
mod listeners;
mod observed;
mod one_off;
mod proof;
mod recreated_job;
mod remote;
mod sessions;
mod shutdown;
mod tracing;
mod unanswered;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{JobEnvironment, ScheduleJobBootstrap};
use crate::api::{ItemHandler, ShardingContext, item_handler};
use crate::config::{JobConfiguration, JobConfigurationBuilder};
use crate::registry::RegistryCenter;
use crate::registry::memory::MemoryRegistry;

/// Everything that a test waits for happens within this time, or never.
const LIMIT: Duration = Duration::from_secs(20);

fn environment() -> JobEnvironment {
    JobEnvironment::builder().build().unwrap()
}

fn connect(registry: &MemoryRegistry) -> Arc<dyn RegistryCenter> {
    Arc::new(registry.connect())
}

/// A job that fires each second.
fn each_second(name: &str, items: u32) -> JobConfigurationBuilder {
    JobConfiguration::builder(name, items).cron("* * * * * ?")
}

async fn scheduled(
    environment: &JobEnvironment,
    registry: &Arc<dyn RegistryCenter>,
    configuration: JobConfigurationBuilder,
    handler: ItemHandler,
) -> ScheduleJobBootstrap {
    let configuration = configuration.build().unwrap();
    let mut job = ScheduleJobBootstrap::new(environment, registry.clone(), configuration, handler).unwrap();
    job.schedule().await.unwrap();
    job
}

/// A handler that sends the context of each run, and the channel that receives the contexts.
pub(crate) fn reporter() -> (ItemHandler, mpsc::UnboundedReceiver<ShardingContext>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let handler = item_handler(move |context: ShardingContext| {
        // A test that has seen enough does not receive any more.
        let _ = sender.send(context);
        async {}
    });
    (handler, receiver)
}

pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(LIMIT, future).await.expect("it happens in time")
}

async fn children(registry: &Arc<dyn RegistryCenter>, path: &str) -> Vec<String> {
    registry.children(path).await.unwrap().unwrap_or_default()
}
