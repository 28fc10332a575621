//! The note of an instance in the registry center about a configuration that it refuses.

use serde::{Deserialize, Serialize};

use crate::ident::InstanceId;

/// An instance refuses the configuration in the registry center: its program cannot use it. Other programs may be able to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConfigurationRefusal {
    /// The instance.
    pub instance: InstanceId,
    /// The version of the node `config` that it refuses.
    pub version: i32,
    /// Whether it takes part in the job, and goes on with the last configuration that it could use. Else it waits until it can
    /// join.
    pub joined: bool,
    /// The fault of the configuration, in the words of its program.
    pub why: String,
    /// Since when it refuses that version, in milliseconds since 1970 by its own clock.
    pub since: i64,
}

impl ConfigurationRefusal {
    /// A refusal.
    pub(crate) fn new(instance: InstanceId, version: i32, joined: bool, why: String, since: i64) -> Self {
        Self { instance, version, joined, why, since }
    }
}
