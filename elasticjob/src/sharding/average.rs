//! `AVG_ALLOCATION`: equal blocks in order; the items that are left over go one by one to the first instances.

use super::{AVG_ALLOCATION, Assignment, ShardingStrategy};
use crate::ident::{InstanceId, JobName};

pub(super) struct Average;

impl ShardingStrategy for Average {
    fn type_name(&self) -> &str {
        AVG_ALLOCATION
    }

    fn assign(&self, _: &JobName, instances: &[InstanceId], total: u32) -> Assignment {
        let Some(block) = u32::try_from(instances.len()).ok().and_then(|count| total.checked_div(count)) else {
            return Assignment::new();
        };
        let count = instances.len() as u32;
        let items = |k: u32| {
            let left_over = (k < total % count).then_some(block * count + k);
            (k * block..(k + 1) * block).chain(left_over).collect()
        };
        (0..).zip(instances).map(|(k, instance)| (instance.clone(), items(k))).collect()
    }
}
