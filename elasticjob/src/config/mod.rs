//! The configuration of a job: valid by construction, and as the registry stores it.

mod check;
mod edit;
mod features;
mod foreign;
mod items;
mod job;
mod settings;
pub mod wire;

pub use check::ConfigurationCheck;
pub use features::{UnsupportedSetting, unsupported};
pub use foreign::ForeignToJava;
pub use items::{ItemParameterError, ItemParameters};
pub use job::{CPU, ConfigError, Invalid, JobConfiguration, JobConfigurationBuilder};
pub use settings::JobSettings;
