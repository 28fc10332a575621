//! Fires that come from the records of other jobs instead of a clock. Pure.
//!
//! The leader of a job that depends on others follows their records, decides which of their fires are fires of its job,
//! and writes that into the node `dependencies` of its job. All instances go by that node: it takes the place that the
//! clock has for a job with a schedule. What follows is the same for both: owners begin their items, late ones too, and
//! the records of the items keep them from being begun twice.
//!
//! A leader that takes office looks at the records as they are. It needs to have seen nothing.

mod decide;
mod parent;
mod parent_end;
mod record;
mod rerun;

pub(crate) use decide::{Decided, decide};
pub use parent::{ParentItem, ParentView};
pub(crate) use parent::{Parents, Stand};
pub use parent_end::ParentEnd;
pub use record::{DecidedFire, DependencyRecord, DueFire, FollowedRerun, Unmet};
pub(crate) use rerun::{Following, Reruns, follow_rerun};
