//! A registry center with a bug: the coordination of a job that writes to it ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::id;

use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob::registry::{
    Answer, CommitError, Committed, NodeData, Op, Proof, RegistryCenter, RequestCount, SessionState, Transaction,
    WatchStream,
};
use tokio::sync::watch;

/// What the panics say.
pub const BUG: &str = "the bug of this test";

/// A file of this name, with the id of the process, makes the next transaction panic, and is deleted by that.
pub const FALLS: &str = "falls";

/// As long as there is a file of this name, each registration panics.
pub const STAYS_DOWN: &str = "stays-down";

/// As long as there is a file of this name, for all processes, no transaction is answered.
pub const SILENT: &str = "silent";

#[derive(Debug)]
pub struct Buggy {
    center: ZookeeperRegistryCenter,
    falls: PathBuf,
    stays_down: PathBuf,
    silent: PathBuf,
}

impl Buggy {
    pub fn new(center: ZookeeperRegistryCenter, folder: &Path) -> Self {
        let file = |what: &str| folder.join(format!("{what}-{}", id()));
        Self { center, falls: file(FALLS), stays_down: file(STAYS_DOWN), silent: folder.join(SILENT) }
    }
}

impl RegistryCenter for Buggy {
    fn get(&self, path: &str) -> Answer<Option<NodeData>> {
        self.center.get(path)
    }

    fn children(&self, path: &str) -> Answer<Option<Vec<String>>> {
        self.center.children(path)
    }

    fn commit(&self, transaction: Transaction) -> Answer<Committed, CommitError> {
        if self.silent.exists() {
            return Box::pin(std::future::pending());
        }
        let registers = |op: &Op| matches!(op, Op::Create { path, .. } if path.contains("/instances/"));
        let fails = transaction.ops().iter().any(registers) && self.stays_down.exists();
        assert!(!fails && fs::remove_file(&self.falls).is_err(), "{BUG}");
        self.center.commit(transaction)
    }

    fn watch(&self, path: &str) -> Box<dyn WatchStream> {
        self.center.watch(path)
    }

    fn session(&self) -> watch::Receiver<SessionState> {
        self.center.session()
    }

    fn proof(&self) -> Option<Proof> {
        self.center.proof()
    }

    fn requests(&self) -> RequestCount {
        self.center.requests()
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        self.center.close()
    }
}
