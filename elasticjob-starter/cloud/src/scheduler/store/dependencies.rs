//! Checks the jobs that a job runs after, when it is registered or changed: a cycle would never run, and jobs that follow each
//! other item by item need as many items.

use std::collections::BTreeMap;

use elasticjob::config::{JobConfiguration, Message};
use elasticjob::ident::JobName;
use elasticjob::operations::Operations;
use elasticjob::registry::Transaction;

use super::{Store, StoreError};
use crate::model::{CarriedJob, Problem, Problems};
use crate::scheduler::nodes::JOBS;
use crate::texts;

impl Store {
    /// Refuses a job that would wait for itself over the jobs before it, carried ones and others, and one that follows a job with
    /// another number of items item by item. A job that nobody knows is waited for.
    ///
    /// Of two registrations at the same time each could close a cycle with half of the other. So whatever adds jobs before a job
    /// writes their directory as well: the second one is refused, and looks again.
    pub(super) async fn follows(
        &self,
        transaction: &mut Transaction,
        job: &CarriedJob,
        before: Option<&CarriedJob>,
    ) -> Result<(), StoreError> {
        let is_same = |before: &CarriedJob| {
            (&before.depends_on, before.sharding_total_count) == (&job.depends_on, job.sharding_total_count)
        };
        if job.depends_on.is_empty() || before.is_some_and(is_same) {
            return Ok(());
        }
        if let Some(directory) = self.registry.get(JOBS).await? {
            transaction.set(JOBS, directory.data, Some(directory.stat.version));
        }
        let all = self.registrations().await?;
        let registered: BTreeMap<JobName, JobConfiguration> =
            all.jobs.iter().map(|(name, job)| (name.clone(), job.configuration())).collect();
        let problems = Operations::new(self.registry.clone())
            .dependency_problems(&job.configuration(), &registered)
            .await
            .map_err(|why| StoreError::Unchecked { job: job.job_name.clone(), why })?;
        if problems.is_empty() {
            return Ok(());
        }
        let told = problems.into_iter().map(|problem| Problem::new("dependsOn", of_registration(problem.reason)));
        Err(Problems(told.collect()).into())
    }
}

/// A reason of the library that names a setting as programs write it, with the field of a registration instead.
fn of_registration(reason: Message) -> Message {
    let argument =
        |name: &str| reason.arguments().iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    match (reason.code(), argument("job"), argument("total"), argument("own")) {
        (Some("depends-unequal"), Some(job), Some(total), Some(own)) => texts::depends_unequal(job, total, own),
        _ => reason,
    }
}
