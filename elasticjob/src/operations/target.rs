//! The target of an operation: jobs and servers.

use std::fmt;

use super::members::Members;
use super::{OperationError, Operations, read};
use crate::ident::JobName;

/// The jobs and servers that an operation is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// All servers of a job.
    Job(JobName),
    /// A server, in every job of the namespace that has it.
    Server(String),
    /// A server of a job.
    ServerOfJob(JobName, String),
}

impl Target {
    /// The target for a job, a server or both; `None` without either.
    pub fn new(job: Option<JobName>, server: Option<String>) -> Option<Self> {
        Some(match (job, server) {
            (Some(job), Some(server)) => Self::ServerOfJob(job, server),
            (Some(job), None) => Self::Job(job),
            (None, Some(server)) => Self::Server(server),
            (None, None) => return None,
        })
    }

    pub(super) fn includes(&self, server: &str) -> bool {
        match self {
            Self::Job(_) => true,
            Self::Server(ip) | Self::ServerOfJob(_, ip) => ip == server,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(job) => write!(f, "job '{job}'"),
            Self::Server(ip) => write!(f, "server '{ip}' in all jobs"),
            Self::ServerOfJob(job, ip) => write!(f, "server '{ip}' of job '{job}'"),
        }
    }
}

impl Operations {
    /// The jobs that the target may match, with their servers and instances.
    pub(super) async fn jobs_of(&self, target: &Target) -> Result<Vec<(JobName, Members)>, OperationError> {
        match target {
            Target::Job(job) | Target::ServerOfJob(job, _) => {
                let members = self.members(job).await?;
                match members {
                    Some(members) => Ok(vec![(job.clone(), members)]),
                    None => Err(self.no_such_job(job).await),
                }
            }
            Target::Server(_) => self.all_members().await,
        }
    }

    /// Servers and instances of all jobs.
    pub(super) async fn all_members(&self) -> Result<Vec<(JobName, Members)>, OperationError> {
        let jobs = self.job_names().await?;
        let members = read::all(jobs.iter().map(|job| self.members(job))).await?;
        // A job may have been removed since the names were read.
        Ok(jobs.into_iter().zip(members).filter_map(|(job, members)| Some((job, members?))).collect())
    }
}
