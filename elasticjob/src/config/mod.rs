//! The configuration of a job: valid by construction, and its form in the registry.

mod as_settings;
mod bound;
mod builder;
mod check;
mod defaults;
mod dependency;
mod differences;
mod edit;
mod items;
mod job;
mod kind;
mod props_reader;
mod redact;
mod settings;
pub(crate) mod size_limits;
pub(crate) mod strategy_names;
mod time_diff;
mod unknown_props;
pub mod wire;

#[doc(hidden)]
pub use crate::texts::CODES as MESSAGE_CODES;
pub use bound::BoundOptions;
pub(crate) use bound::Followed;
pub use builder::JobConfigurationBuilder;
pub use check::ConfigurationCheck;
pub(crate) use check::caught;
pub use dependency::{Dependency, DependencyItems, When};
pub use elasticjob_syntax::message::{Argument as MessageArgument, Message};
pub use items::{ItemParameterError, ItemParameters};
pub use job::{ConfigError, Invalid, JobConfiguration, LOG};
pub use kind::JobKind;
#[cfg(test)]
pub(crate) use kind::STREAMING;
pub(crate) use kind::is_streaming;
pub(crate) use props_reader::Options;
pub use settings::JobSettings;
pub use unknown_props::OptionNames;
pub(crate) use unknown_props::unread;
