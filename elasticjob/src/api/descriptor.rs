//! A job as the attribute registers it.

use super::{Beans, ItemHandler, MissingBean, dataflow};
use crate::config::{ConfigurationCheck, JobSettings};

/// A job found when linking. Made by `#[elastic_job]`.
#[derive(Debug, Clone, Copy)]
pub struct JobDescriptor {
    /// Name of the job: the option `name`, else the name of the function or the type.
    pub name: &'static str,
    /// Path of the function or type, for example `my_app::jobs::sync_orders`: what `elastic-job-class` refers to. Its
    /// own name alone is enough where it is unique.
    pub function: &'static str,
    /// File and line of it.
    pub place: &'static str,
    /// What it is made of.
    pub kind: JobKind,
    /// The settings that the attribute gives.
    pub settings: fn() -> JobSettings,
    /// Finds the arguments of the function among what the application provides.
    pub bind: fn(&Beans) -> Result<ItemHandler, Vec<MissingBean>>,
}

/// What a job that has code is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// A function.
    Simple,
    /// A type with the functions `fetch` and `process`.
    Dataflow,
}

impl JobKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Simple, Self::Dataflow];

    /// Its name in `elastic-job-type`.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Simple => "SIMPLE",
            Self::Dataflow => "DATAFLOW",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.type_name() == name)
    }

    /// What a job of this kind needs of its configuration.
    pub fn check(self) -> ConfigurationCheck {
        match self {
            Self::Simple => ConfigurationCheck::default(),
            Self::Dataflow => dataflow::check(),
        }
    }
}
