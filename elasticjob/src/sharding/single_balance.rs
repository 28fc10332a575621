//! `SINGLE_SHARDING_BALANCE`: the items move on by one instance with each fire. Java does that for a single item, and
//! takes two instances on one host for one.

use super::SINGLE_SHARDING_BALANCE;
use super::average::Average;
use super::round_robin::first_place;
use super::{Assignment, ShardingStrategy, java_order};
use crate::ident::{InstanceId, JobName};

/// Assigns to the instances in the order of their turns, see [`in_turn`].
pub(super) struct SingleBalance;

impl ShardingStrategy for SingleBalance {
    fn type_name(&self) -> &str {
        SINGLE_SHARDING_BALANCE
    }

    fn assign(&self, job: &JobName, instances: &[InstanceId], total: u32) -> Assignment {
        Average.assign(job, instances, total)
    }
}

/// The instances beginning with the one that gets item 0: its owner, or the next one when the items move on or the owner
/// is not among them. Without an owner it is the one that [`ROUND_ROBIN`](super::round_robin) begins with.
pub(crate) fn in_turn(job: &JobName, instances: &[InstanceId], owner: Option<&str>, moves_on: bool) -> Vec<InstanceId> {
    let mut instances = instances.to_vec();
    if instances.is_empty() {
        return instances;
    }
    let first = match owner {
        None => first_place(job, instances.len()),
        Some(owner) => {
            let comes_first = |id: &InstanceId| {
                let order = java_order(owner, id.as_str());
                order.is_lt() || (order.is_eq() && !moves_on)
            };
            instances.iter().position(comes_first).unwrap_or(0)
        }
    };
    instances.rotate_left(first);
    instances
}
