//! `ROUND_ROBIN`: as [`AVG_ALLOCATION`](super::average), beginning with an instance that depends on the job's name.

use super::average::Average;
use super::{Assignment, ShardingStrategy, java_hash};
use crate::ident::{InstanceId, JobName};

pub(super) struct RoundRobin;

impl ShardingStrategy for RoundRobin {
    fn type_name(&self) -> &'static str {
        "ROUND_ROBIN"
    }

    fn assign(&self, job: &JobName, instances: &[InstanceId], total: u32) -> Assignment {
        let mut instances = instances.to_vec();
        if !instances.is_empty() {
            // Java fails for a hash of the smallest number, whose absolute value is negative there.
            let offset = java_hash(job.as_str()).unsigned_abs() as usize % instances.len();
            instances.rotate_left(offset);
        }
        Average.assign(job, &instances, total)
    }
}
