//! Asking a strategy, which may be code of the program, and checking its answer.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Assignment, ShardingStrategy};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::panics::panic_message;

/// The fault in the answer of a strategy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrategyFault {
    /// It panicked with this message.
    Panicked(String),
    /// It gave items to an instance that is not available.
    UnknownInstance(InstanceId),
    /// It assigned an item that the job does not have.
    NoSuchItem(ShardingItem),
    /// It assigned an item twice.
    Twice(ShardingItem),
    /// It left items without an owner.
    Forgotten(Vec<ShardingItem>),
}

/// Lets a strategy assign the items; every item gets one of the instances, or nothing is assigned.
pub(crate) fn assign_checked(
    strategy: &dyn ShardingStrategy,
    job: &JobName,
    instances: &[InstanceId],
    total: u32,
) -> Result<BTreeMap<ShardingItem, InstanceId>, StrategyFault> {
    let answer = catch_unwind(AssertUnwindSafe(|| strategy.assign(job, instances, total)));
    owners(answer.map_err(|panic| StrategyFault::Panicked(panic_message(panic.as_ref())))?, instances, total)
}

fn owners(
    assignment: Assignment,
    instances: &[InstanceId],
    total: u32,
) -> Result<BTreeMap<ShardingItem, InstanceId>, StrategyFault> {
    let mut owners = BTreeMap::new();
    for (instance, items) in assignment {
        if !items.is_empty() && !instances.contains(&instance) {
            return Err(StrategyFault::UnknownInstance(instance));
        }
        for item in items {
            if item >= total {
                return Err(StrategyFault::NoSuchItem(item));
            }
            if owners.insert(item, instance.clone()).is_some() {
                return Err(StrategyFault::Twice(item));
            }
        }
    }
    let forgotten: Vec<ShardingItem> = (0..total).filter(|item| !owners.contains_key(item)).collect();
    if forgotten.is_empty() { Ok(owners) } else { Err(StrategyFault::Forgotten(forgotten)) }
}

impl fmt::Display for StrategyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(message) => write!(f, "it panicked: {message}"),
            Self::UnknownInstance(instance) => write!(f, "it gave items to {instance}, which is not available"),
            Self::NoSuchItem(item) => write!(f, "it assigned item {item}, which the job does not have"),
            Self::Twice(item) => write!(f, "it assigned item {item} twice"),
            Self::Forgotten(items) => write!(f, "it left the items {items:?} without an owner"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives the answer that the test wants.
    struct Answer(fn(&[InstanceId]) -> Assignment);

    impl ShardingStrategy for Answer {
        fn type_name(&self) -> &str {
            "ANSWER"
        }

        fn assign(&self, _: &JobName, instances: &[InstanceId], _: u32) -> Assignment {
            (self.0)(instances)
        }
    }

    fn asked(answer: fn(&[InstanceId]) -> Assignment) -> Result<Vec<InstanceId>, StrategyFault> {
        let instances = [InstanceId::of_process("10.0.0.2", 1), InstanceId::of_process("10.0.0.1", 1)];
        let owners = assign_checked(&Answer(answer), &JobName::new("job").unwrap(), &instances, 2)?;
        Ok(owners.into_values().collect())
    }

    #[test]
    fn a_total_assignment_to_given_instances_is_taken() {
        let [two, one] = ["10.0.0.2", "10.0.0.1"].map(|ip| InstanceId::of_process(ip, 1));
        assert_eq!(asked(|ids| Assignment::from([(ids[0].clone(), vec![1, 0])])), Ok(vec![two.clone(), two.clone()]));
        assert_eq!(
            asked(|ids| Assignment::from([(ids[0].clone(), vec![1]), (ids[1].clone(), vec![0])])),
            Ok(vec![one, two])
        );
        let gone_without_items = InstanceId::of_process("10.0.0.9", 1);
        assert!(
            asked(|ids| Assignment::from([
                (ids[0].clone(), vec![0, 1]),
                (InstanceId::of_process("10.0.0.9", 1), vec![])
            ]))
            .is_ok_and(|owners| !owners.contains(&gone_without_items))
        );
    }

    #[test]
    fn every_other_answer_is_refused_with_what_is_wrong() {
        assert_eq!(asked(|ids| Assignment::from([(ids[0].clone(), vec![1])])), Err(StrategyFault::Forgotten(vec![0])));
        assert_eq!(
            asked(|ids| Assignment::from([(ids[0].clone(), vec![0, 1]), (ids[1].clone(), vec![1])])),
            Err(StrategyFault::Twice(1))
        );
        assert_eq!(asked(|ids| Assignment::from([(ids[0].clone(), vec![0, 1, 2])])), Err(StrategyFault::NoSuchItem(2)));
        let stranger = InstanceId::of_process("10.0.0.9", 1);
        assert_eq!(
            asked(|_| Assignment::from([(InstanceId::of_process("10.0.0.9", 1), vec![0, 1])])),
            Err(StrategyFault::UnknownInstance(stranger))
        );
        let panicked = asked(|_| std::panic::resume_unwind(Box::new("no idea")));
        assert_eq!(panicked, Err(StrategyFault::Panicked("no idea".to_owned())));
    }
}
