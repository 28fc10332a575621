//! The settings of the program: files, profiles, environment and command line, merged.
//!
//! Later sources win, one setting at a time: the defaults; `application.{yaml,yml,toml,properties}`; the files of the
//! active profiles, `application-{profile}.*`; environment variables `ELASTICJOB_...`; arguments `--elasticjob.*`.
//! In a file only the section `elasticjob` counts. kebab-case, camelCase and snake_case of a name are the same key.

mod arguments;
mod console;
mod dependency;
mod dotted;
mod doubt;
mod dump;
mod environment;
mod error;
mod files;
mod jobs;
mod layer;
mod load;
mod metrics;
mod node;
mod placeholder;
mod properties;
mod read;
mod reference;
mod reg_center;
mod resolve;
mod run_log;
mod schema;
mod sources;
mod toml;
mod tracing;
mod yaml;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

pub use console::{ConsoleGrant, ConsoleOidc, ConsoleSettings, ConsoleToken, ConsoleUser};
pub(crate) use doubt::Doubt;
pub use dump::DumpSettings;
pub use error::SettingError;
pub use jobs::JobEntry;
pub(crate) use load::{DEFAULT, Read};
pub use metrics::MetricsSettings;
pub use node::Origin;
pub use reference::{SettingReference, reference};
pub use reg_center::RegCenterSettings;
pub use run_log::RunLogSettings;
pub(crate) use schema::{Key, nearest};
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
    /// `elasticjob.reg-centers`, by name.
    pub reg_centers: BTreeMap<String, RegCenterSettings>,
    /// `elasticjob.jobs`, by name.
    pub jobs: Vec<JobEntry>,
    /// `elasticjob.preferred.network.interface`: the network interface whose address names this instance.
    pub preferred_network_interface: Option<String>,
    /// `elasticjob.preferred.network.ip`: a pattern of the address that names this instance.
    pub preferred_network_ip: Option<String>,
    /// The place of the settings of `elasticjob.preferred.network`, or of the first of them.
    pub preferred_network_origin: Option<Origin>,
    /// `elasticjob.shutdown.grace`: how long running items may go on at a shutdown. Default 25 s.
    pub shutdown_grace: Duration,
    /// `elasticjob.tracing`, `None` when no type is set.
    pub tracing: Option<TracingSettings>,
    /// `elasticjob.tracings`, by name; `None` where its type is empty.
    pub tracings: BTreeMap<String, Option<TracingSettings>>,
    /// `elasticjob.dump`, `None` when no port is set, or it is not enabled.
    pub dump: Option<DumpSettings>,
    /// `elasticjob.console`.
    pub console: ConsoleSettings,
    /// `elasticjob.metrics`.
    pub metrics: MetricsSettings,
    /// The profiles that are active; later ones win.
    pub profiles: Vec<String>,
    /// The files that were read; later ones win.
    pub files: Vec<PathBuf>,
    /// Oddities that are no errors, for the log.
    pub warnings: Vec<String>,
}
