//! The configuration of a job: valid by construction, and as the registry stores it.

mod bound;
mod builder;
mod check;
mod differences;
mod edit;
mod foreign;
mod items;
mod job;
mod kind;
mod masked;
mod option_names;
mod options;
pub(crate) mod room;
mod settings;
mod time_diff;
pub mod wire;

pub use bound::BoundOptions;
pub(crate) use bound::Followed;
pub use builder::JobConfigurationBuilder;
pub use check::ConfigurationCheck;
pub(crate) use check::caught;
pub use foreign::ForeignToJava;
pub use items::{ItemParameterError, ItemParameters};
pub use job::{ConfigError, Invalid, JobConfiguration, LOG};
pub use kind::JobKind;
#[cfg(test)]
pub(crate) use kind::STREAMING;
pub(crate) use kind::is_streaming;
pub use option_names::OptionNames;
pub(crate) use option_names::unread;
pub(crate) use options::Options;
pub use settings::JobSettings;
