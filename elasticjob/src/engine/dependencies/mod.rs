//! Fires that come from the records of other jobs instead of a clock. Pure.
//!
//! The leader of a job that depends on others follows their records, decides which of their fires are fires of its job,
//! and writes that into the node `dependencies` of its job. All instances go by that node: it takes the place that the
//! clock has for a job with a schedule. What follows is the same for both: owners begin their items, late ones too, and
//! the records of the items keep them from being begun twice.
//!
//! Where an item follows the item with its number, a fire becomes due with its first item, and the node says which ones may
//! begin. The next fire becomes due when that is decided for all of them.
//!
//! A leader that takes office looks at the records as they are. It needs to have seen nothing.

mod decide;
mod item_set;
mod parent;
mod parent_end;
mod record;
mod rerun;
mod taken;
mod unseen;

pub(crate) use decide::{Decided, Decision, decide};
pub use item_set::ItemSet;
pub use parent::{ParentItem, ParentView};
pub(crate) use parent::{Parents, Stand};
pub use parent_end::ParentEnd;
#[cfg(test)]
pub(crate) use record::DecidedItems;
pub(crate) use record::Release;
pub use record::{DecidedFire, DependencyRecord, DueFire, DueItems, FollowedRerun, ReleasedItems, SkippedItems, Unmet};
pub(crate) use rerun::{Following, Reruns, follow_rerun};
pub(crate) use unseen::Unseen;
