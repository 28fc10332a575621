//! Sharding strategies: which instance gets which items. Pure, and the same as in ElasticJob 3.0.5, so that a change of
//! leader between implementations moves nothing.

mod average;
mod odevity;
mod round_robin;
mod single_balance;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::ident::{InstanceId, JobName, ShardingItem};
pub use single_balance::SINGLE_SHARDING_BALANCE;
pub(super) use single_balance::in_turn;

/// The items of each instance.
pub type Assignment = BTreeMap<InstanceId, Vec<ShardingItem>>;

/// Assigns items to instances.
pub trait ShardingStrategy: Sync {
    /// The name in `job-sharding-strategy-type`.
    fn type_name(&self) -> &str;

    /// Assigns the items 0 to `total` exclusive. The instances come as [`sort_as_java`] orders them; nothing is assigned
    /// when there are none.
    fn assign(&self, job: &JobName, instances: &[InstanceId], total: u32) -> Assignment;
}

const STRATEGIES: [&dyn ShardingStrategy; 4] =
    [&average::Average, &odevity::Odevity, &round_robin::RoundRobin, &single_balance::SingleBalance];

/// The type names there are.
pub const TYPES: [&str; 4] = ["AVG_ALLOCATION", "ODEVITY", "ROUND_ROBIN", SINGLE_SHARDING_BALANCE];

/// The strategy with a type name.
pub fn by_type(name: &str) -> Option<&'static dyn ShardingStrategy> {
    STRATEGIES.into_iter().find(|strategy| strategy.type_name() == name)
}

/// Orders instances as Java lists them: descending, by UTF-16 code units.
pub fn sort_as_java(instances: &mut [InstanceId]) {
    instances.sort_by(|a, b| java_order(a.as_str(), b.as_str()));
}

/// The order of two ids in such a list.
fn java_order(a: &str, b: &str) -> Ordering {
    b.encode_utf16().cmp(a.encode_utf16())
}

/// `String.hashCode` of Java, on which two of the strategies stand.
fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

#[cfg(test)]
mod tests;
