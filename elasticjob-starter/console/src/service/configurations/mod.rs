//! The configurations of many jobs: as a file of settings, and beside those of another registry center.

pub(crate) mod compared;
pub(crate) mod exported;

use std::fmt;

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
    Read::of(read).map_err(|error| Problem::from(error).of_registry(registry))
}

/// The class or the type of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Code<'a> {
    setting: CodeSetting,
    name: &'a str,
}

/// The setting that has the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodeSetting {
    Class,
    Type,
    /// The root node has one name for both, and this one may be either. The first one is the likely one.
    Either(&'static str, &'static str),
}

const CLASS: &str = "elastic-job-class";
const TYPE: &str = "elastic-job-type";

impl<'a> Code<'a> {
    /// The code of a configuration; `None` where that is found by the name of the job. Names of classes and functions have a path, or
    /// begin with a small letter where they are its last part; but an own type may have such a name, and a class of Java may be in no
    /// package.
    fn of(stored: &'a StoredConfiguration) -> Option<Self> {
        stored.class_or_type().map(Self::named)
    }

    fn named(name: &'a str) -> Self {
        let setting = match name {
            "SCRIPT" | "HTTP" => CodeSetting::Type,
            _ if name.contains(['.', ':']) => CodeSetting::Class,
            _ if name.starts_with(char::is_lowercase) => CodeSetting::Either(CLASS, TYPE),
            _ => CodeSetting::Either(TYPE, CLASS),
        };
        Self { setting, name }
    }
}

impl fmt::Display for CodeSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class => f.write_str(CLASS),
            Self::Type => f.write_str(TYPE),
            Self::Either(..) => write!(f, "{CLASS} or {TYPE}"),
        }
    }
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
        let away = RegistryError::NoAnswer { why: "lost".into() };
        assert!(Read::of(Err(OperationError::Read(away))).is_err());
        let job = JobName::new("x").expect("a name");
        assert!(matches!(Read::of(Err(OperationError::NoSuchJob { job, jobs: Vec::new() })), Ok(Read::Gone)));
    }

    #[test]
    fn a_name_of_code_is_a_class_or_a_type_where_that_is_sure() {
        for (name, setting) in [
            ("com.example.Peer", CodeSetting::Class),
            ("shop::jobs::settle", CodeSetting::Class),
            ("SCRIPT", CodeSetting::Type),
            ("HTTP", CodeSetting::Type),
            ("settle", CodeSetting::Either(CLASS, TYPE)),
            ("PAGER", CodeSetting::Either(TYPE, CLASS)),
            ("Peer", CodeSetting::Either(TYPE, CLASS)),
        ] {
            assert_eq!(Code::named(name), Code { setting, name });
        }
    }
}
