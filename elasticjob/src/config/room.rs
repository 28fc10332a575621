//! Checks that a job and its configuration fit into the registry center.

use super::job::{Invalid, JobConfiguration};
use super::{ConfigurationCheck, wire};
use crate::ident::JobName;
use crate::registry::TRANSACTION_LIMIT;

/// The most that an item weighs in the transaction that shards a job or begins a fire, in bytes, without the names:
/// paths, owner and record.
const ITEM_WEIGHT: usize = 520;

/// How many nodes of an item such a transaction has.
const NODES: usize = 3;

impl JobConfiguration {
    /// The problems of size in a registry center whose namespace makes each path longer by so many bytes: too many
    /// items for one transaction, or a configuration longer than the limit for reading.
    pub fn problems_of_room(&self, namespace_bytes: usize) -> Vec<Invalid> {
        let total = too_many(self.job_name(), self.sharding_total_count(), namespace_bytes);
        total.into_iter().chain(too_long(self)).collect()
    }
}

/// A check that finds these problems.
pub(crate) fn check(namespace: usize) -> ConfigurationCheck {
    ConfigurationCheck::new(move |configuration| configuration.problems_of_room(namespace))
}

/// A total count that does not fit into one transaction.
pub(super) fn too_many(job: &JobName, total: u32, namespace: usize) -> Option<Invalid> {
    let item = ITEM_WEIGHT + NODES * (job.as_str().len() + namespace);
    let limit = TRANSACTION_LIMIT / item;
    (total as usize > limit).then(|| {
        let reason = format!(
            "{total} items do not fit into one transaction of the registry center ({TRANSACTION_LIMIT} bytes): at most \
             {limit} are possible; have fewer, or a shorter name of the job or the namespace"
        );
        Invalid::new("sharding-total-count", reason)
    })
}

/// The problem of a configuration that other instances would refuse to read.
fn too_long(configuration: &JobConfiguration) -> Option<Invalid> {
    let (length, most) = (wire::to_yaml(configuration).len(), wire::LIMITS.bytes);
    (length > most).then(|| {
        let longest = configuration.texts().into_iter().max_by_key(|(_, text)| text.len());
        let setting = longest.map_or("job-parameter", |(setting, _)| setting);
        let reason = format!(
            "the configuration has {length} bytes in the registry center, and at most {most} are read: shorten it"
        );
        Invalid::new(setting, reason)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_namespace_counts_among_what_an_item_needs() {
        let job = |total| JobConfiguration::builder("a-name-of-18-chars", total).build().unwrap();
        assert!(&job(1_500).problems_of_room(0).is_empty());
        let long = &job(1_500).problems_of_room(120);
        assert_eq!(long.len(), 1);
        let told = long[0].to_string();
        assert!(told.contains("1500 items do not fit") && told.contains("at most 963 are possible"), "{told}");
        assert!(&job(963).problems_of_room(120).is_empty());
    }

    #[test]
    fn a_configuration_that_nobody_would_read_is_refused() {
        let job = JobConfiguration::builder("job", 1).job_parameter("x".repeat(wire::LIMITS.bytes)).build().unwrap();
        let told = job.problems_of_room(0)[0].to_string();
        assert!(told.starts_with("job-parameter: the configuration has ") && told.contains("at most 262144"), "{told}");
    }
}
