//! What an engine keeps about the jobs that its job depends on.

use crate::engine::dependencies::{DueFire, Parents, Reruns};
use crate::ident::JobName;

/// Empty for a job that depends on none.
#[derive(Debug, Default)]
pub(in crate::engine) struct Dependencies {
    /// The jobs that the edge tells of: those that the configuration names, while this instance leads.
    pub(in crate::engine) following: Vec<JobName>,
    pub(in crate::engine) parents: Parents,
    pub(in crate::engine) reruns: Reruns,
    /// A fire of them that began before its time, and is decided when that has come.
    pub(in crate::engine) undecided: Option<i64>,
    /// When it is known which items take part in a re-run that is not decided.
    pub(in crate::engine) reruns_settle: Option<i64>,
    /// The latest fires that came here, in the order in which they did.
    pub(in crate::engine) due: Vec<DueFire>,
}
