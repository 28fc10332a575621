//! What was linked into the program, and the catalog of it.

use linkme::distributed_slice;

use crate::api::JobDescriptor;

/// The job functions of the program. Filled when linking, by `#[elastic_job]`.
///
/// A crate that nobody names is not linked: `use my_jobs as _;` makes its jobs appear.
#[distributed_slice]
pub static JOBS: [JobDescriptor];
