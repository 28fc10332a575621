//! Past fires that are run again.

use elasticjob::ident::JobName;
use elasticjob::operations::RerunAsked;

use crate::access::Role;
use crate::api::Problem;
use crate::here::Here;

/// Runs the fire of a job at this time again, where the caller may operate the jobs after it too: they run again with it.
pub(crate) async fn run_again(here: &Here, job: &JobName, at: i64, reason: &str) -> Result<RerunAsked, Problem> {
    let operations = here.operations(reason);
    if let Some(other) = operations.jobs_after(job).await?.iter().find(|after| !here.may(Role::Operator, after)) {
        return Err(Problem::forbidden_after(Some(other).filter(|other| here.sees(other))));
    }
    Ok(operations.rerun(job, at).await?)
}
