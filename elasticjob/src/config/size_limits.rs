//! Checks that a job and its configuration fit into the registry center.

use super::job::{Invalid, JobConfiguration};
use super::{ConfigurationCheck, wire};
use crate::texts;
use crate::yaml;

/// The most items of a job. A registry center lists them in one answer, and clients of ZooKeeper take 1 MiB at most: the
/// numbers of so many items are 0.9 MB. Transactions are no limit, as there may be several.
const MOST_ITEMS: u32 = 100_000;

impl JobConfiguration {
    /// The problems of size that other instances would have with this configuration: it is longer than the limit for
    /// reading.
    pub fn problems_of_size(&self) -> Vec<Invalid> {
        let (length, most) = (wire::to_yaml(self).len(), yaml::LIMITS_OF_CONFIGURATION.bytes);
        let problem = (length > most).then(|| {
            let longest = self.texts().into_iter().max_by_key(|(_, text)| text.len());
            let setting = longest.map_or("job-parameter", |(setting, _)| setting);
            Invalid::new(setting, texts::configuration_too_long(length, most))
        });
        problem.into_iter().collect()
    }
}

/// A check that finds these problems.
pub(crate) fn check() -> ConfigurationCheck {
    ConfigurationCheck::new(JobConfiguration::problems_of_size)
}

/// A total count of more items than a registry center lists.
pub(super) fn too_many(total: u32) -> Option<Invalid> {
    (total > MOST_ITEMS).then(|| Invalid::new("sharding-total-count", texts::count_too_large(total, MOST_ITEMS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_items_than_a_registry_center_lists_are_refused() {
        let job = |total| JobConfiguration::builder("job", total).build();
        assert!(job(MOST_ITEMS).is_ok());
        let told = job(MOST_ITEMS + 1).unwrap_err().to_string();
        assert!(told.contains("100001 items are more than") && told.contains("at most 100000 are possible"), "{told}");
    }

    #[test]
    fn a_configuration_that_nobody_would_read_is_refused() {
        let job = JobConfiguration::builder("job", 1)
            .job_parameter("x".repeat(yaml::LIMITS_OF_CONFIGURATION.bytes))
            .build()
            .unwrap();
        let told = job.problems_of_size()[0].to_string();
        assert!(told.starts_with("job-parameter: the configuration has ") && told.contains("at most 262144"), "{told}");
    }
}
