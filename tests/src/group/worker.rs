//! The worker program as a member of groups.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Program, TemporaryFolder};
use crate::fence::{Fence, SinkWrite};
use crate::records::{ProcessRecords, records_of_worker};
use crate::worker::{Bug, JobPlan, Pace, WorkerPlan};

/// How long one write to the fence takes at the very most.
const WRITE: Duration = Duration::from_millis(200);

/// How to start a worker.
#[derive(Debug)]
pub struct WorkerProgram {
    binary: PathBuf,
    arguments: Vec<String>,
    plan: WorkerPlan,
    fence: Fence,
    /// Of the sink, and of the pace.
    folder: TemporaryFolder,
}

impl WorkerProgram {
    /// Workers with these jobs. The binary takes the plan of a worker as its last argument, after those given.
    pub fn new(
        (binary, arguments): (impl Into<PathBuf>, &[&str]),
        zookeeper: String,
        namespace: &str,
        jobs: Vec<JobPlan>,
        session_timeout: Duration,
    ) -> Self {
        let folder = TemporaryFolder::new("fence").expect("a folder for the fence");
        let fence = Fence::new(folder.path()).expect("a folder for the fence");
        let plan = WorkerPlan {
            zookeeper,
            namespace: namespace.to_owned(),
            digest: None,
            session_timeout_ms: u64::try_from(session_timeout.as_millis()).unwrap_or(u64::MAX),
            jobs,
            records: PathBuf::new(),
            fence: folder.path().to_owned(),
            pace: None,
            bug: None,
        };
        let arguments = arguments.iter().map(ToString::to_string).collect();
        Self { binary: binary.into(), arguments, plan, fence, folder }
    }

    /// Workers that do something wrong.
    #[must_use]
    pub fn with_bug(mut self, bug: Option<Bug>) -> Self {
        self.plan.bug = bug;
        self
    }

    /// Workers whose runs take as long as planned only when told to.
    #[must_use]
    pub fn quick_at_first(mut self) -> Self {
        self.plan.pace = Some(Pace::new(self.folder.path().join("pace")));
        self
    }

    /// Workers that authenticate, with `user:password`.
    #[must_use]
    pub fn with_digest(mut self, digest: &str) -> Self {
        self.plan.digest = Some(digest.to_owned());
        self
    }

    /// What they are told, but for what differs from one to the other.
    pub fn plan(&self) -> &WorkerPlan {
        &self.plan
    }

    /// What tells their runs to take as long as planned, where that has to be told.
    pub fn pace(&self) -> Option<&Pace> {
        self.plan.pace.as_ref()
    }

    /// The sink that the runs write to.
    pub fn fence(&self) -> Fence {
        self.fence.clone()
    }

    /// Every item of every job.
    fn items(&self) -> impl Iterator<Item = (&str, u32)> {
        self.plan.jobs.iter().flat_map(|job| (0..job.items).map(|item| (job.name.as_str(), item)))
    }
}

impl Program for WorkerProgram {
    fn command(&self, records: &Path, registry: Option<&str>) -> Command {
        let zookeeper = registry.unwrap_or(&self.plan.zookeeper).to_owned();
        let plan = WorkerPlan { zookeeper, records: records.to_owned(), ..self.plan.clone() };
        let mut command = Command::new(&self.binary);
        command.stdout(Stdio::null()).args(&self.arguments).arg(plan.to_string());
        command
    }

    fn registry(&self) -> Option<String> {
        Some(self.plan.zookeeper.clone())
    }

    fn records(&self, _: u32, text: &str) -> ProcessRecords {
        records_of_worker(text).expect("workers write records")
    }

    fn sink(&self) -> Vec<SinkWrite> {
        let writes = |(job, item)| self.fence.writes(job, item).expect("the fence can be read");
        self.items().flat_map(writes).collect()
    }

    fn session_timeout(&self) -> Duration {
        Duration::from_millis(self.plan.session_timeout_ms)
    }

    /// A process that is frozen in the midst of a write holds the lock of an item. The others would wait for it, and
    /// the test is about to see that they go on.
    fn may_freeze(&self) -> bool {
        let is_free = |(job, item)| {
            let deadline = Instant::now() + WRITE;
            loop {
                if self.fence.is_free(job, item).expect("the fence can be used") {
                    return true;
                }
                if Instant::now() > deadline {
                    return false;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        self.items().all(is_free)
    }
}
