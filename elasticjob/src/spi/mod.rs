//! What was linked into the program, and the catalog of it.

mod listeners;

use linkme::distributed_slice;

use crate::api::JobDescriptor;
pub use listeners::{DuplicateListener, LISTENERS, ListenerCatalog, ListenerDescriptor};

/// The job functions of the program. Filled when linking, by `#[elastic_job]`.
///
/// A crate that nobody names is not linked: `use my_jobs as _;` makes its jobs appear.
#[distributed_slice]
pub static JOBS: [JobDescriptor];
