//! The imports of a program that makes its jobs itself: `use elasticjob::prelude::*;`.

pub use crate::api::{
    Assignment, CancellationToken, Dataflow, Inject, ItemHandler, JobClass, JobError, JobErrorHandler, JobFailure,
    JobListener, JobResult, JobType, ListenerContext, OnceJobListener, PoolSizeProvider, ShardingContext,
    ShardingStrategy, blocking_item_handler, classed_item_handler, dataflow_handler, item_handler,
};
pub use crate::config::JobConfiguration;
pub use crate::elastic_job;
pub use crate::ident::{InstanceId, JobName, ShardingItem};
pub use crate::registry::RegistryCenter;
pub use crate::registry::zookeeper::ZookeeperConfiguration;
pub use crate::runtime::{
    JobEnvironment, OneOffJob, OneOffJobBootstrap, ScheduleJob, ScheduleJobBootstrap, ShutdownMode, Triggered,
};
pub use crate::trace::{JobEvent, TracingStorage, WriteError};

#[cfg(test)]
mod tests {
    use super::*;

    /// All values that a program passes between threads can be sent: a change that breaks this does not compile.
    #[test]
    fn what_a_program_holds_can_be_sent_and_all_but_a_bootstrap_be_shared() {
        fn shared<T: Send + Sync + 'static>() {}
        fn sent<T: Send + 'static>() {}
        shared::<JobEnvironment>();
        shared::<JobConfiguration>();
        shared::<OneOffJob>();
        sent::<OneOffJobBootstrap>();
        shared::<ScheduleJob>();
        sent::<ScheduleJobBootstrap>();
        shared::<ItemHandler>();
        shared::<ShardingContext>();
        shared::<ListenerContext>();
        shared::<JobError>();
        shared::<JobEvent>();
        shared::<crate::operations::Operations>();
    }
}
