//! Sharding strategies: which instance gets which items. They are pure. The built-in ones assign as in ElasticJob
//! 3.0.5, so that a change of leader between implementations moves nothing.

mod average;
mod checked;
mod java_incompatible;
mod odevity;
mod round_robin;
mod single_balance;
mod whole;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::{Invalid, JobConfiguration};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::type_registry::{ByType, TypeOrigin};

pub use crate::config::strategy_names::SINGLE_SHARDING_BALANCE;
pub use checked::StrategyFault;
pub(crate) use checked::assign_checked;
pub use java_incompatible::ForeignToJava;
pub(crate) use single_balance::in_turn;
pub use whole::WHOLE;

/// The default strategy. It also stands in for a strategy that fails.
pub const AVG_ALLOCATION: &str = "AVG_ALLOCATION";

/// The items of each instance.
pub type Assignment = BTreeMap<InstanceId, Vec<ShardingItem>>;

/// Assigns items to instances. Jobs name it in `job-sharding-strategy-type`.
///
/// Only the leader asks it, when items have to be assigned again, and any instance may become the leader. So the answer
/// should depend on nothing but the arguments, and all programs of a group should have the strategy. A program without
/// it does not start a job that names it; a running one keeps its last configuration. Java instances do not know it and
/// take `AVG_ALLOCATION` for it when they lead.
///
/// It is asked on the thread that coordinates all jobs of the process: it must neither block nor take long. When it
/// panics, forgets an item, assigns one twice or names an instance that it was not given, the log says so and the items
/// are assigned by `AVG_ALLOCATION`.
///
/// A program adds its own ones with [`register_sharding_strategy!`](crate::register_sharding_strategy), or by hand with
/// [`CatalogBuilder::sharding_strategy`](crate::spi::CatalogBuilder::sharding_strategy).
///
/// # Examples
/// ```
/// use elasticjob::api::{Assignment, ShardingStrategy};
/// use elasticjob::ident::{InstanceId, JobName};
///
/// /// Everything to one instance, the others stand by.
/// struct Standby;
///
/// impl ShardingStrategy for Standby {
///     fn type_name(&self) -> &str {
///         "STANDBY"
///     }
///
///     fn assign(&self, _job: &JobName, instances: &[InstanceId], total: u32) -> Assignment {
///         instances.first().map(|first| (first.clone(), (0..total).collect())).into_iter().collect()
///     }
/// }
///
/// elasticjob::register_sharding_strategy!(Standby);
/// ```
pub trait ShardingStrategy: Send + Sync {
    /// The name in `job-sharding-strategy-type`, unique in the program. It is asked once.
    fn type_name(&self) -> &str;

    /// Assigns the items 0 to `total` exclusive, each to one of the instances. These are the available ones, at least
    /// one, in the order in which Java lists them: descending by their ids as text.
    ///
    /// It is asked by the coordination of all jobs of the process. It must return at once: to look up a name or to wait
    /// for a lock holds up all jobs, and may cost the session.
    fn assign(&self, job: &JobName, instances: &[InstanceId], total: u32) -> Assignment;
}

/// The strategies that a process has.
pub type ShardingStrategies = ByType<dyn ShardingStrategy>;

impl ShardingStrategies {
    /// The strategies of ElasticJob.
    pub fn built_in() -> Self {
        let all: [Arc<dyn ShardingStrategy>; 5] = [
            Arc::new(average::Average),
            Arc::new(odevity::Odevity),
            Arc::new(round_robin::RoundRobin),
            Arc::new(single_balance::SingleBalance),
            Arc::new(whole::Whole),
        ];
        let mut strategies = Self::new("sharding strategy");
        for strategy in all {
            let name = strategy.type_name().to_owned();
            strategies.add(&name, TypeOrigin::BuiltIn, strategy).expect("the built-in names differ");
        }
        strategies
    }

    /// The problem with the strategy of a configuration, if there is one: it has to be one of these.
    pub fn problem(&self, configuration: &JobConfiguration) -> Option<Invalid> {
        let unknown = self.get(configuration.sharding_strategy_type()).err()?;
        Some(Invalid::new("job-sharding-strategy-type", unknown.message()))
    }
}

/// Orders instances as Java lists them: descending, by UTF-16 code units.
pub fn sort_as_java(instances: &mut [InstanceId]) {
    instances.sort_by(|a, b| java_order(a.as_str(), b.as_str()));
}

/// The order of two ids in such a list.
fn java_order(a: &str, b: &str) -> Ordering {
    b.encode_utf16().cmp(a.encode_utf16())
}

/// `String.hashCode` of Java, on which two of the strategies are based.
fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

#[cfg(test)]
mod tests;
