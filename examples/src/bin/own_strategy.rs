//! An own sharding strategy: an instance that joins or leaves moves as few items as possible.
//!
//! The built-in strategies assign blocks of neighbouring items, so nearly all items move with every change. Here each
//! item goes to the instance with which its hash is highest (rendezvous hashing). An instance that joins takes its
//! share from the others, and no other item moves. That is worth it where an instance keeps data of its items in
//! memory.
//!
//! ```text
//! cargo run --bin own_strategy
//! ```

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use elasticjob_starter::prelude::*;
use tracing::info;

struct Rendezvous;

impl ShardingStrategy for Rendezvous {
    fn type_name(&self) -> &str {
        "RENDEZVOUS"
    }

    fn assign(&self, job: &JobName, instances: &[InstanceId], total: u32) -> Assignment {
        let mut assignment = Assignment::new();
        for item in 0..total {
            if let Some(owner) = instances.iter().max_by_key(|instance| weight(job, item, instance)) {
                assignment.entry(owner.clone()).or_default().push(item);
            }
        }
        assignment
    }
}

register_sharding_strategy!(Rendezvous);

/// The weight is the same in every process: the hasher has fixed keys.
fn weight(job: &JobName, item: ShardingItem, instance: &InstanceId) -> u64 {
    let mut hasher = DefaultHasher::new();
    (job.as_str(), item, instance.as_str()).hash(&mut hasher);
    hasher.finish()
}

#[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 6, job_sharding_strategy_type = "RENDEZVOUS")]
async fn warm_cache(context: ShardingContext) {
    info!("item {} is warm on {}", context.sharding_item(), context.instance_id());
}

#[tokio::main]
async fn main() -> Result<(), AppError> {
    init_logging()?;
    ElasticJobApp::builder().run().await
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn owners(instances: &[InstanceId]) -> BTreeMap<ShardingItem, InstanceId> {
        let job = JobName::new("warm_cache").expect("a valid name");
        let assignment = Rendezvous.assign(&job, instances, 60);
        assignment.into_iter().flat_map(|(id, items)| items.into_iter().map(move |item| (item, id.clone()))).collect()
    }

    #[test]
    fn a_joiner_takes_its_share_and_nothing_else_moves() {
        let instances: Vec<InstanceId> = (1..=4).map(|n| InstanceId::of_process(&format!("10.0.0.{n}"), 7)).collect();
        let (before, after) = (owners(&instances[..3]), owners(&instances));
        assert_eq!((before.len(), after.len()), (60, 60));
        let joiner = &instances[3];
        assert!(before.iter().all(|(item, owner)| after[item] == *owner || after[item] == *joiner));
        assert!((5..30).contains(&after.values().filter(|owner| *owner == joiner).count()));
    }
}
