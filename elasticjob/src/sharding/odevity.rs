//! `ODEVITY`: as [`AVG_ALLOCATION`](super::average), in ascending order of instances for jobs whose name hashes even.

use super::average::Average;
use super::{Assignment, ShardingStrategy, java_hash};
use crate::ident::{InstanceId, JobName};

pub(super) struct Odevity;

impl ShardingStrategy for Odevity {
    fn type_name(&self) -> &str {
        "ODEVITY"
    }

    fn assign(&self, job: &JobName, instances: &[InstanceId], total: u32) -> Assignment {
        let mut instances = instances.to_vec();
        if java_hash(job.as_str()) % 2 == 0 {
            instances.reverse();
        }
        Average.assign(job, &instances, total)
    }
}
