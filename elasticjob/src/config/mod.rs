//! The configuration of a job: valid by construction, and as the registry stores it.

mod check;
mod edit;
mod foreign;
mod items;
mod job;
mod options;
mod secrets;
mod settings;
pub mod wire;

pub use check::ConfigurationCheck;
pub use foreign::ForeignToJava;
pub use items::{ItemParameterError, ItemParameters};
pub use job::{CPU, ConfigError, Invalid, JobConfiguration, JobConfigurationBuilder, LOG};
pub(crate) use options::Options;
pub use settings::JobSettings;
