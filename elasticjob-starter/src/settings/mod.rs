//! The settings of the program: files, profiles, environment and command line, laid over each other.
//!
//! Later sources win, one setting at a time: the defaults; `application.{yaml,yml,toml,properties}`; the files of the
//! active profiles, `application-{profile}.*`; environment variables `ELASTICJOB_...`; arguments `--elasticjob.*`.
//! In a file only the section `elasticjob` counts. kebab-case, camelCase and snake_case of a name are the same key.

mod arguments;
mod dotted;
mod dump;
mod environment;
mod error;
mod files;
mod jobs;
mod layer;
mod load;
mod node;
mod placeholder;
mod properties;
mod read;
mod reference;
mod resolve;
mod schema;
mod sources;
mod toml;
mod tracing;
mod yaml;

use std::path::PathBuf;
use std::time::Duration;

use elasticjob::registry::zookeeper::ZookeeperConfiguration;
use elasticjob::secret::Secret;

pub use dump::DumpSettings;
pub use error::SettingError;
pub use jobs::JobEntry;
pub use node::Origin;
pub use reference::{SettingReference, reference};
pub(crate) use schema::nearest;
pub use sources::Sources;
pub use tracing::{DataSourceSettings, TracingSettings};

/// All settings, checked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// `elasticjob.enabled`: whether jobs are started at all. Default true.
    pub enabled: bool,
    /// `elasticjob.reg-center`.
    pub reg_center: RegCenterSettings,
    /// `elasticjob.jobs`, those of one source by name.
    pub jobs: Vec<JobEntry>,
    /// `elasticjob.preferred.network.interface`: the network interface whose address names this instance.
    pub preferred_network_interface: Option<String>,
    /// `elasticjob.preferred.network.ip`: a pattern of the address that names this instance.
    pub preferred_network_ip: Option<String>,
    /// Where the settings of `elasticjob.preferred.network` stand, or the first of them.
    pub preferred_network_origin: Option<Origin>,
    /// `elasticjob.shutdown.grace`: how long running items may go on at a shutdown. Default 25 s.
    pub shutdown_grace: Duration,
    /// `elasticjob.tracing`, `None` when no type is set.
    pub tracing: Option<TracingSettings>,
    /// `elasticjob.dump`, `None` when no port is set, or it is not enabled.
    pub dump: Option<DumpSettings>,
    /// The profiles that are active; later ones win.
    pub profiles: Vec<String>,
    /// The files that were read, in the order in which later ones win.
    pub files: Vec<PathBuf>,
    /// What is odd but no error, for the log.
    pub warnings: Vec<String>,
}

/// `elasticjob.reg-center`: how the registry center is reached. Values that are not set have the defaults of
/// ElasticJob.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RegCenterSettings {
    /// `host:port` of the ZooKeeper servers. Empty: the embedded registry of this process.
    pub server_lists: Vec<String>,
    /// The node under which the jobs are kept.
    pub namespace: Option<String>,
    /// Shortest wait between two attempts to connect, in milliseconds.
    pub base_sleep_time_milliseconds: Option<u32>,
    /// Longest wait between two attempts to connect, in milliseconds.
    pub max_sleep_time_milliseconds: Option<u32>,
    /// How often an attempt to connect is repeated.
    pub max_retries: Option<u32>,
    /// How long the server keeps a session it does not hear of, in milliseconds; 0 for the default.
    pub session_timeout_milliseconds: Option<u32>,
    /// How long one attempt to connect may take, in milliseconds; 0 for the default.
    pub connection_timeout_milliseconds: Option<u32>,
    /// `user:password` of the scheme `digest`.
    pub digest: Option<Secret>,
}

impl RegCenterSettings {
    /// The configuration of ZooKeeper, `None` when no servers are set.
    pub fn zookeeper(&self) -> Option<ZookeeperConfiguration> {
        if self.server_lists.is_empty() {
            return None;
        }
        let mut zookeeper =
            ZookeeperConfiguration::new(self.server_lists.join(","), self.namespace.clone().unwrap_or_default());
        let set = |target: &mut u64, value: Option<u32>| *target = value.map_or(*target, u64::from);
        set(&mut zookeeper.base_sleep_time_milliseconds, self.base_sleep_time_milliseconds);
        set(&mut zookeeper.max_sleep_time_milliseconds, self.max_sleep_time_milliseconds);
        set(&mut zookeeper.session_timeout_milliseconds, self.session_timeout_milliseconds);
        set(&mut zookeeper.connection_timeout_milliseconds, self.connection_timeout_milliseconds);
        zookeeper.max_retries = self.max_retries.unwrap_or(zookeeper.max_retries);
        zookeeper.digest = self.digest.clone();
        Some(zookeeper)
    }
}
