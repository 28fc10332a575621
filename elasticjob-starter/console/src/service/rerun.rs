//! Past fires that are run again.

use elasticjob::ident::JobName;
use elasticjob::operations::{NotRerun, OperationError, RerunAsked};

use crate::access::Role;
use crate::api::Problem;
use crate::here::Here;

/// Runs the fire of a job at this time again, where the caller may operate the jobs after it too: they run again with it.
pub(crate) async fn run_again(here: &Here, job: &JobName, at: i64, reason: &str) -> Result<RerunAsked, Problem> {
    let may = |after: &JobName| here.may(Role::Operator, after);
    match here.operations(reason).rerun_if(job, at, may).await {
        Err(OperationError::NotRerun { why: NotRerun::NotAllowed(other), .. }) => {
            Err(Problem::forbidden_after(Some(&other).filter(|other| here.sees(other))))
        }
        asked => Ok(asked?),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use elasticjob::config::JobSettings;
    use elasticjob::registry::RegistryCenter;
    use elasticjob::registry::memory::MemoryRegistry;

    use super::*;
    use crate::access::{Grant, Identity};
    use crate::testing::traced::here;
    use crate::testing::{start_job, with_users};
    use crate::{Console, Registry};

    /// New year of 2026, a fire of the jobs of tests.
    const NEW_YEAR: i64 = 1_767_225_600_000;

    /// How many requests a re-run costs in a registry center with so many other jobs.
    async fn requests_beside(others: usize) -> u64 {
        let memory = MemoryRegistry::new();
        let mut jobs = vec![start_job(&memory, "extract", &JobSettings::default()).await];
        for other in 0..others {
            jobs.push(start_job(&memory, &format!("other-{other}"), &JobSettings::default()).await);
        }
        let center = Arc::new(memory.connect());
        let console = Console::new(with_users(), [Registry::new("default", center.clone())]).expect("it is right");
        let identity = Identity::user("li", vec![Grant::everywhere(Role::Operator)]);
        let here = Here { identity, ..here(&console) };
        let before = center.requests().requests;
        run_again(&here, &JobName::new("extract").expect("a name"), NEW_YEAR, "").await.expect("it is asked for");
        center.requests().requests - before
    }

    #[tokio::test]
    async fn a_fire_that_is_run_again_reads_each_other_job_once() {
        assert_eq!(requests_beside(5).await - requests_beside(0).await, 5);
    }
}
