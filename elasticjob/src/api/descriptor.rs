//! A job in the form in which the attribute registers it.

use super::{Beans, ItemHandler, MissingBean};
use crate::config::{JobKind, JobSettings};

/// A job found when linking. Made by `#[elastic_job]`.
#[derive(Debug, Clone, Copy)]
pub struct JobDescriptor {
    /// Name of the job: the option `name`, else the name of the function or the type.
    pub name: &'static str,
    /// Path of the function or type, for example `my_app::jobs::sync_orders`. `elastic-job-class` refers to it. The
    /// last part of the path is enough where it is unique.
    pub function: &'static str,
    /// File and line of the function or type.
    pub place: &'static str,
    /// The kind of the job.
    pub kind: JobKind,
    /// The settings that the attribute gives.
    pub settings: fn() -> JobSettings,
    /// Finds the arguments of the function among what the application provides.
    pub bind: fn(&Beans) -> Result<ItemHandler, Vec<MissingBean>>,
}
