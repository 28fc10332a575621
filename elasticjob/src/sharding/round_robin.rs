//! `ROUND_ROBIN`: as [`AVG_ALLOCATION`](super::average), beginning with an instance that depends on the job's name.

use super::average::Average;
use super::{Assignment, ShardingStrategy, java_hash};
use crate::ident::{InstanceId, JobName};

pub(super) struct RoundRobin;

impl ShardingStrategy for RoundRobin {
    fn type_name(&self) -> &str {
        "ROUND_ROBIN"
    }

    fn assign(&self, job: &JobName, instances: &[InstanceId], total: u32) -> Assignment {
        let mut instances = instances.to_vec();
        if !instances.is_empty() {
            let first = first_place(job, instances.len());
            instances.rotate_left(first);
        }
        Average.assign(job, &instances, total)
    }
}

/// Which of so many instances a job begins with; there is at least one.
pub(super) fn first_place(job: &JobName, instances: usize) -> usize {
    // Java fails for a hash of the smallest number, whose absolute value is negative there.
    java_hash(job.as_str()).unsigned_abs() as usize % instances
}
