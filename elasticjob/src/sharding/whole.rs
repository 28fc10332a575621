//! `WHOLE`: all items of a job to one instance, and the jobs spread over the instances. Java has no such strategy.

use super::{Assignment, ShardingStrategy};
use crate::ident::{InstanceId, JobName};

/// Its type name.
pub const WHOLE: &str = "WHOLE";

/// The instance whose id and the name of the job have the highest hash together gets all items. So an instance that comes
/// or goes moves only the jobs that it gets or had.
pub(super) struct Whole;

impl ShardingStrategy for Whole {
    fn type_name(&self) -> &str {
        WHOLE
    }

    fn assign(&self, job: &JobName, instances: &[InstanceId], total: u32) -> Assignment {
        let highest = instances.iter().max_by_key(|instance| (weight(job, instance), *instance));
        highest.map(|instance| (instance.clone(), (0..total).collect())).into_iter().collect()
    }
}

/// FNV-1a with a final mix: texts that differ only at their end have weights that have nothing in common. It never
/// changes, as instances of several releases have to agree.
fn weight(job: &JobName, instance: &InstanceId) -> u64 {
    let bytes = job.as_str().bytes().chain([0]).chain(instance.as_str().bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(job: usize, instances: &[InstanceId]) -> InstanceId {
        let assigned = Whole.assign(&JobName::new(format!("job-{job}")).unwrap(), instances, 3);
        let mut owners = assigned.into_iter();
        let (owner, items) = owners.next().unwrap();
        assert_eq!((items, owners.next()), (vec![0, 1, 2], None));
        owner
    }

    #[test]
    fn jobs_are_spread_and_an_instance_that_goes_moves_only_its_own() {
        let instances: Vec<InstanceId> = (1..=4).map(|pid| InstanceId::of_process("10.0.0.1", pid)).collect();
        let before: Vec<InstanceId> = (0..400).map(|job| owner(job, &instances)).collect();
        for instance in &instances {
            let share = before.iter().filter(|owner| *owner == instance).count();
            assert!((60..140).contains(&share), "{instance} has {share} of 400 jobs");
        }
        let gone = &instances[2];
        let left: Vec<InstanceId> = instances.iter().filter(|instance| *instance != gone).cloned().collect();
        for (job, before) in before.iter().enumerate().filter(|(_, before)| *before != gone) {
            assert_eq!(&owner(job, &left), before, "job {job} moved");
        }
    }

    #[test]
    fn the_order_of_the_instances_does_not_matter_and_none_is_no_assignment() {
        let mut instances: Vec<InstanceId> = (1..=3).map(|pid| InstanceId::of_process("10.0.0.1", pid)).collect();
        let first = owner(7, &instances);
        instances.reverse();
        assert_eq!(owner(7, &instances), first);
        assert!(Whole.assign(&JobName::new("job").unwrap(), &[], 3).is_empty());
    }
}
