//! The plan of a Java instance.

use std::path::{Path, PathBuf};

use elasticjob::config::{ConfigError, wire};
use serde::Serialize;

use crate::worker::{JobPlan, Pace, WorkerPlan};

/// Everything that a Java instance is told, as the JSON of its one argument.
#[derive(Debug, Serialize)]
pub(super) struct JavaPlan<'a> {
    registry: Registry<'a>,
    jobs: Vec<Job>,
    records: PathBuf,
    pace: Option<&'a Pace>,
}

#[derive(Debug, Serialize)]
struct Registry<'a> {
    servers: &'a str,
    namespace: &'a str,
    digest: Option<&'a str>,
    session_timeout_milliseconds: u64,
}

#[derive(Debug, Serialize)]
struct Job {
    /// As the registry keeps it, which both kinds read.
    configuration: String,
    run_milliseconds: u64,
}

impl<'a> JavaPlan<'a> {
    /// The same jobs as those of workers.
    ///
    /// # Errors
    /// When their plan makes no sense.
    pub(super) fn beside(plan: &'a WorkerPlan, servers: &'a str, records: &Path) -> Result<Self, ConfigError> {
        let job = |job: &JobPlan| {
            let configuration = wire::to_yaml(&job.configuration()?);
            // Java instances draw no times: all of theirs take the shortest one.
            Ok(Job { configuration, run_milliseconds: job.run_ms.0 })
        };
        let registry = Registry {
            servers,
            namespace: &plan.namespace,
            digest: plan.digest.as_deref(),
            session_timeout_milliseconds: plan.session_timeout_ms,
        };
        let jobs = plan.jobs.iter().map(job).collect::<Result<_, ConfigError>>()?;
        Ok(Self { registry, jobs, records: records.to_owned(), pace: plan.pace.as_ref() })
    }
}
