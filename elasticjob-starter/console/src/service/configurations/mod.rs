//! The configurations of many jobs: as a file of settings, and beside those of another registry center.

pub(crate) mod compared;
pub(crate) mod exported;

use elasticjob::config::Message;
use elasticjob::ident::JobName;
use elasticjob::operations::{OperationError, StoredConfiguration};

use crate::api::Problem;
use crate::registries::Registry;

/// The most configurations that are read at a time.
const AT_ONCE: usize = 16;

/// The block of a configuration that Java alone reads.
const EXTRA: &str = "jobExtraConfigurations";

/// A configuration, as far as there is one.
#[derive(Debug)]
enum Read {
    Stored(Box<StoredConfiguration>),
    /// It cannot be used or read, for this reason.
    Unusable(Message),
    /// The job was removed meanwhile.
    Gone,
}

impl Read {
    /// Only a registry center that is not reached ends it all: another error is about this job alone.
    fn of(read: Result<StoredConfiguration, OperationError>) -> Result<Self, OperationError> {
        match read {
            Ok(stored) => Ok(Self::Stored(Box::new(stored))),
            Err(OperationError::NoSuchJob { .. } | OperationError::NoConfiguration { .. }) => Ok(Self::Gone),
            Err(error) if error.is_unreachable() => Err(error),
            Err(error) => Ok(Self::Unusable(error.message())),
        }
    }

    fn why_unusable(self) -> Option<Message> {
        match self {
            Self::Unusable(why) => Some(why),
            Self::Stored(_) | Self::Gone => None,
        }
    }
}

async fn read(registry: &Registry, job: &JobName) -> Result<Read, Problem> {
    let read = registry.views().configuration(job).await;
    Read::of(read).map_err(|error| Problem::from(error).of_registry(registry.name()))
}

/// The setting that names the code of a job, with the name. The root node does not say whether that is a class or a type: names of
/// classes and functions have a path, or begin with a small letter where they are the last part of one.
fn code_of(class_or_type: Option<&str>) -> Option<(&'static str, &str)> {
    let name = class_or_type?;
    let is_class = name.contains(['.', ':']) || name.starts_with(char::is_lowercase);
    Some((if is_class { "elastic-job-class" } else { "elastic-job-type" }, name))
}

#[cfg(test)]
mod tests {
    use elasticjob::registry::{Refusal, RegistryError};

    use super::*;

    #[test]
    fn a_node_that_is_refused_is_about_its_job_and_a_registry_center_that_is_away_is_not() {
        let refused = RegistryError::Refused { path: "/x/config".to_owned(), reason: Refusal::NoAuth };
        let read = Read::of(Err(OperationError::Read(refused))).expect("other jobs are read");
        assert!(read.why_unusable().is_some_and(|why| why.as_str().contains("/x/config")));
        let away = RegistryError::NoAnswer { why: "lost".to_owned() };
        assert!(Read::of(Err(OperationError::Read(away))).is_err());
        let job = JobName::new("x").expect("a name");
        assert!(matches!(Read::of(Err(OperationError::NoSuchJob { job, jobs: Vec::new() })), Ok(Read::Gone)));
    }

    #[test]
    fn a_name_of_code_is_a_class_or_a_type() {
        for class in ["com.example.Peer", "shop::jobs::settle", "settle"] {
            assert_eq!(code_of(Some(class)), Some(("elastic-job-class", class)));
        }
        for job_type in ["SCRIPT", "HTTP", "PAGER", "Pager"] {
            assert_eq!(code_of(Some(job_type)), Some(("elastic-job-type", job_type)));
        }
        assert_eq!(code_of(None), None);
    }
}
