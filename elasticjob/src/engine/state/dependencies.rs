//! The engine's state for the jobs that its job depends on.

use crate::engine::dependencies::{DueFire, Parents};
use crate::ident::JobName;

/// Empty for a job that depends on none.
#[derive(Debug, Default)]
pub(in crate::engine) struct Dependencies {
    /// The jobs that the edge tells of: those that the configuration names, while this instance leads.
    pub(in crate::engine) following: Vec<JobName>,
    pub(in crate::engine) parents: Parents,
    /// A fire of these jobs that began before its time: it is decided when its time has come.
    pub(in crate::engine) undecided: Option<i64>,
    /// The latest fires that came here, in the order in which they did.
    pub(in crate::engine) due: Vec<DueFire>,
}
