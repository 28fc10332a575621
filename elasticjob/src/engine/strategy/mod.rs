//! Sharding strategies: which instance gets which items. Pure, and the same as in ElasticJob 3.0.5, so that a change of
//! leader between implementations moves nothing.

mod average;
mod odevity;
mod round_robin;

use std::collections::BTreeMap;

use crate::ident::{InstanceId, JobName, ShardingItem};

/// The items of each instance.
pub type Assignment = BTreeMap<InstanceId, Vec<ShardingItem>>;

/// Assigns items to instances.
pub trait ShardingStrategy: Sync {
    /// The name in `job-sharding-strategy-type`.
    fn type_name(&self) -> &'static str;

    /// Assigns the items 0 to `total` exclusive. The instances come as [`sort_as_java`] orders them; nothing is assigned
    /// when there are none.
    fn assign(&self, job: &JobName, instances: &[InstanceId], total: u32) -> Assignment;
}

const STRATEGIES: [&dyn ShardingStrategy; 3] = [&average::Average, &odevity::Odevity, &round_robin::RoundRobin];

/// The type names there are.
pub const TYPES: [&str; 3] = ["AVG_ALLOCATION", "ODEVITY", "ROUND_ROBIN"];

/// The strategy with a type name.
pub fn by_type(name: &str) -> Option<&'static dyn ShardingStrategy> {
    STRATEGIES.into_iter().find(|strategy| strategy.type_name() == name)
}

/// Orders instances as Java lists them: descending, by UTF-16 code units.
pub fn sort_as_java(instances: &mut [InstanceId]) {
    instances.sort_by(|a, b| b.as_str().encode_utf16().cmp(a.as_str().encode_utf16()));
}

/// `String.hashCode` of Java, on which two of the strategies stand.
fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

#[cfg(test)]
mod tests;
