//! The worker program as a member of groups.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Program, TemporaryFolder};
use crate::fence::Fence;
use crate::records::{Run, runs_of_records};
use crate::zookeeper::ZookeeperServer;

/// Time between two fires of the jobs of groups.
const PERIOD: Duration = Duration::from_secs(1);

/// How long one write to the fence takes at the very most.
const WRITE: Duration = Duration::from_millis(200);

/// How to start `worker`: a job that fires each second.
#[derive(Debug)]
pub struct WorkerProgram {
    binary: PathBuf,
    zookeeper: String,
    namespace: String,
    items: u32,
    run: Duration,
    session_timeout: Duration,
    folder: TemporaryFolder,
    fence: Fence,
}

impl WorkerProgram {
    /// A job of so many items which take `run` each.
    pub fn new(
        binary: impl Into<PathBuf>,
        server: &ZookeeperServer,
        namespace: &str,
        items: u32,
        run: Duration,
        session_timeout: Duration,
    ) -> Self {
        let folder = TemporaryFolder::new("fence").expect("a folder for the fence");
        let fence = Fence::new(folder.path()).expect("a folder for the fence");
        let (zookeeper, namespace) = (server.connect_string(), namespace.to_owned());
        Self { binary: binary.into(), zookeeper, namespace, items, run, session_timeout, folder, fence }
    }

    /// The sink that its runs write to.
    pub fn fence(&self) -> Fence {
        self.fence.clone()
    }
}

impl Program for WorkerProgram {
    fn command(&self, records: &Path) -> Command {
        let mut command = Command::new(&self.binary);
        command.stdout(Stdio::null());
        command.args(["--zookeeper", &self.zookeeper, "--namespace", &self.namespace, "--cron", "* * * * * ?"]);
        command.args(["--session-timeout-ms", &self.session_timeout.as_millis().to_string()]);
        command.args(["--items", &self.items.to_string(), "--run-ms", &self.run.as_millis().to_string()]);
        command.arg("--records").arg(records).arg("--fence").arg(self.folder.path());
        command
    }

    fn runs(&self, _: u32, records: &str) -> Vec<Run> {
        runs_of_records(records).expect("workers write records")
    }

    fn takeover(&self) -> Duration {
        self.session_timeout + 2 * PERIOD
    }

    /// A process that is frozen in the midst of a write holds the lock of an item: the others, of which the test is about
    /// to see that they go on, would wait for it.
    fn may_freeze(&self) -> bool {
        let is_free = |item| {
            let deadline = Instant::now() + WRITE;
            loop {
                if self.fence.is_free(item).expect("the fence can be used") {
                    return true;
                }
                if Instant::now() > deadline {
                    return false;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        (0..self.items).all(is_free)
    }
}
