//! The decision on the fires of a job that depends on others.

use super::parent::{Parents, Stand};
use super::record::{DependencyRecord, Unmet};
use crate::config::Dependency;

/// A fire that is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decided {
    /// Its scheduled time in milliseconds since 1970.
    pub(crate) at: i64,
    /// Why it is not run; `None` where it is.
    pub(crate) unmet: Option<Unmet>,
}

/// The fires that can be decided now and are not yet, in ascending order. A fire waits for the one before it: an item runs
/// one fire at a time, so the later one is not over before the earlier one is.
///
/// A time at which one of the jobs has no fire is no fire of this job.
pub(crate) fn decide(
    dependencies: &[Dependency],
    parents: &Parents,
    record: &DependencyRecord,
    is_far_ahead: impl Fn(i64) -> bool,
) -> Vec<Decided> {
    let mut decided = Vec::new();
    let undecided = parents.fires().into_iter().filter(|at| !record.covers(*at));
    // A fire that a wrong clock has run before its time waits until its time has come.
    'fires: for at in undecided.take_while(|at| !is_far_ahead(*at)) {
        let mut unmet = None;
        let mut is_pending = false;
        for dependency in dependencies {
            match parents.stand(&dependency.job, at) {
                Stand::NoSuchFire => continue 'fires,
                Stand::Pending => is_pending = true,
                Stand::Over(end) if !end.meets(dependency.when) => {
                    unmet.get_or_insert_with(|| Unmet::new(dependency.job.clone(), dependency.when, end));
                }
                Stand::Over(_) => {}
            }
        }
        if is_pending {
            break;
        }
        decided.push(Decided { at, unmet });
    }
    decided
}
