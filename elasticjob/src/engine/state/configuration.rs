//! The configuration of the job: that of the program, that in force, and what differs between them.

use std::sync::Arc;

use crate::config::{BoundOptions, ConfigurationCheck, JobConfiguration};
use crate::engine::listeners::{KnownListeners, ListenerPlan};
use crate::registry::Data;
use crate::sharding::ShardingStrategies;

/// What an engine knows of the configuration of its job.
#[derive(Debug)]
pub(in crate::engine) struct Configuration {
    /// The configuration of the program.
    pub(in crate::engine) local: Arc<JobConfiguration>,
    /// The strategies that a configuration can name.
    pub(in crate::engine) strategies: Arc<ShardingStrategies>,
    pub(in crate::engine) check: ConfigurationCheck,
    /// The options that the registry does not decide alone.
    pub(in crate::engine) bound: Arc<[BoundOptions]>,
    /// The listeners of the program, and those of the configuration in force.
    pub(in crate::engine) listeners: Arc<KnownListeners>,
    pub(in crate::engine) plan: Option<ListenerPlan>,
    /// The configuration in force, and the data it was read from.
    pub(in crate::engine) in_force: Option<Arc<JobConfiguration>>,
    pub(in crate::engine) data: Option<Data>,
    /// Since when the schedule in force is followed, by the server's clock in milliseconds since 1970.
    pub(in crate::engine) follows_since: Option<i64>,
    /// For the status: why the configuration of the registry is not in force, and which of its values are not in force.
    pub(in crate::engine) refused: Option<Arc<str>>,
    pub(in crate::engine) refused_values: Option<Arc<str>>,
    /// The differences that were reported last: once, however often the engine tries to register.
    pub(in crate::engine) told_differences: Vec<String>,
}

impl Configuration {
    /// Nothing was read from the registry yet.
    pub(in crate::engine) fn new(local: Arc<JobConfiguration>, strategies: Arc<ShardingStrategies>) -> Self {
        Self {
            local,
            strategies,
            check: ConfigurationCheck::default(),
            bound: Arc::default(),
            listeners: Arc::new(KnownListeners::new("listener")),
            plan: None,
            in_force: None,
            data: None,
            follows_since: None,
            refused: None,
            refused_values: None,
            told_differences: Vec::new(),
        }
    }

    /// Whether the registry knows which items run: where the configuration says so, and where a listener is called once
    /// for the group, because the marks say which items the call has to wait for.
    pub(in crate::engine) fn is_monitored(&self) -> bool {
        let is_configured = self.in_force.as_ref().is_some_and(|configuration| configuration.monitor_execution());
        is_configured || self.plan.iter().flat_map(|plan| plan.iter()).any(|listener| listener.once.is_some())
    }

    /// Whether lost runs are taken over. Without marks no instance could see that a run is lost.
    pub(in crate::engine) fn is_failover_on(&self) -> bool {
        let configuration = self.in_force.as_ref();
        configuration.is_some_and(|configuration| configuration.failover() && configuration.monitor_execution())
    }
}
