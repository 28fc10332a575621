//! What an engine keeps about the jobs that its job depends on.

use crate::engine::dependencies::{DueFire, Parents};
use crate::ident::JobName;

/// Empty for a job that depends on none.
#[derive(Debug, Default)]
pub(in crate::engine) struct Dependencies {
    /// The jobs that the edge tells of: those that the configuration names, while this instance leads.
    pub(in crate::engine) following: Vec<JobName>,
    pub(in crate::engine) parents: Parents,
    /// The latest fire that came here.
    pub(in crate::engine) taken: Option<i64>,
    /// The latest fires that came here, in ascending order.
    pub(in crate::engine) due: Vec<DueFire>,
}
