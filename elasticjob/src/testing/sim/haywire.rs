//! A sharding strategy that goes wrong in every way there is, as one of a user may.

use std::sync::Arc;

use crate::ident::{InstanceId, JobName};
use crate::sharding::{Assignment, ShardingStrategies, ShardingStrategy};
use crate::spi::TypeOrigin;

/// Its type name.
pub const HAYWIRE: &str = "HAYWIRE";

/// The built-in strategies, and this one.
pub(super) fn strategies() -> Arc<ShardingStrategies> {
    let mut strategies = ShardingStrategies::built_in();
    strategies.add(HAYWIRE, TypeOrigin::Added, Arc::new(Haywire)).expect("no built-in one has the name");
    Arc::new(strategies)
}

struct Haywire;

impl ShardingStrategy for Haywire {
    fn type_name(&self) -> &str {
        HAYWIRE
    }

    fn assign(&self, _: &JobName, instances: &[InstanceId], total: u32) -> Assignment {
        let (first, last) = (&instances[0], &instances[instances.len() - 1]);
        match (instances.len() as u32 + total) % 6 {
            // Without the message that a panic prints.
            0 => std::panic::resume_unwind(Box::new("it is lost")),
            1 => Assignment::from([(first.clone(), (1..total).collect())]),
            2 => Assignment::from([(first.clone(), (0..total).chain([0]).collect())]),
            3 => Assignment::from([(InstanceId::of_process("10.9.9.9", 9), (0..total).collect())]),
            4 => Assignment::from([(first.clone(), (0..=total).collect())]),
            _ => Assignment::from([(last.clone(), (0..total).collect())]),
        }
    }
}
