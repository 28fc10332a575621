//! The paths of registrations in the registry center, below the namespace: those of ElasticJob-Cloud.

use elasticjob::ident::JobName;
pub(super) use elasticjob::operations::{CARRIED_JOBS as JOBS, DISABLED_APPS, DISABLED_CARRIED_JOBS as DISABLED_JOBS};

pub(super) const CONFIG: &str = "/config";
pub(super) const APPS: &str = "/config/app";
pub(super) const DISABLED: &str = "/state/disable";
pub(super) const STOPPED: &str = "/state/stopped";
/// The last wish that what ran of an application ends. ElasticJob-Cloud has no such node, nor the next one.
pub(super) const STOPPED_APPS: &str = "/state/stopped/app";
/// The same of a job.
pub(super) const STOPPED_JOBS: &str = "/state/stopped/job";
/// The fire for which each item was launched last. ElasticJob-Cloud has no such node.
pub(super) const LAUNCHED: &str = "/state/launched";
/// Which scheduler looks after the processes of a `DAEMON` job. ElasticJob-Cloud has no such node.
pub(super) const DAEMONS: &str = "/state/daemon";

/// What a carrier keeps of `DAEMON` jobs, by job and place: it has to be ended there when the job is removed, whichever
/// scheduler of the place is there then. ElasticJob-Cloud has no such node.
pub(super) const KEPT: &str = "/state/kept";

/// Which `TRANSIENT` jobs a place has run, by job and place: what they left there is stopped and forgotten when the job is
/// removed, by whichever scheduler of the place is there then. ElasticJob-Cloud has no such node.
pub(super) const CARRIED: &str = "/state/carried";

/// The schedulers that live, each with its carrier. ElasticJob-Cloud has no such node.
pub(super) const SCHEDULERS: &str = "/state/scheduler";

/// All directories, each after its parent.
pub(super) const DIRECTORIES: [&str; 15] = [
    CONFIG,
    APPS,
    JOBS,
    "/state",
    DISABLED,
    DISABLED_APPS,
    DISABLED_JOBS,
    STOPPED,
    STOPPED_APPS,
    STOPPED_JOBS,
    LAUNCHED,
    DAEMONS,
    KEPT,
    CARRIED,
    SCHEDULERS,
];

/// Names that no carried job can have: their nodes are in the way.
pub(super) const TAKEN: [&str; 2] = ["config", "state"];

/// A registration, by its node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    App(String),
    Job(JobName),
    DisabledApp(String),
    DisabledJob(JobName),
    StoppedApp(String),
    StoppedJob(JobName),
}

impl Node {
    pub(super) fn path(&self) -> String {
        match self {
            Self::App(name) => format!("{APPS}/{name}"),
            Self::Job(name) => format!("{JOBS}/{name}"),
            Self::DisabledApp(name) => format!("{DISABLED_APPS}/{name}"),
            Self::DisabledJob(name) => format!("{DISABLED_JOBS}/{name}"),
            Self::StoppedApp(name) => format!("{STOPPED_APPS}/{name}"),
            Self::StoppedJob(name) => format!("{STOPPED_JOBS}/{name}"),
        }
    }

    /// The registration with this path. `None` for directories and for nodes of others.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let (parent, name) = path.rsplit_once('/')?;
        let job = || JobName::new(name).ok();
        match parent {
            APPS => Some(Self::App(name.to_owned())),
            JOBS => job().map(Self::Job),
            DISABLED_APPS => Some(Self::DisabledApp(name.to_owned())),
            DISABLED_JOBS => job().map(Self::DisabledJob),
            STOPPED_APPS => Some(Self::StoppedApp(name.to_owned())),
            STOPPED_JOBS => job().map(Self::StoppedJob),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_it_is_written() {
        let job = JobName::new("my job").unwrap();
        for node in [
            Node::App("a".into()),
            Node::Job(job.clone()),
            Node::DisabledApp("a".into()),
            Node::DisabledJob(job.clone()),
            Node::StoppedApp("a".into()),
            Node::StoppedJob(job),
        ] {
            assert_eq!(Node::parse(&node.path()), Some(node));
        }
        assert!(DIRECTORIES.iter().all(|path| Node::parse(path).is_none()));
    }
}
