//! The copy of the registrations on disk, which an embedded registry center needs, as it forgets with its process.

use std::path::{Path, PathBuf};

use elasticjob::registry::{NodeData, RegistryCenter};
use serde_json::json;
use tokio::sync::Mutex;

use super::StoreError;
#[cfg(unix)]
use crate::files::{make_private, write_durably};
use crate::scheduler::nodes::Node;
use crate::scheduler::registrations::nodes;
use crate::scheduler::stops;

/// A file with the path and the text of each node.
pub(super) struct DiskCopy {
    path: PathBuf,
    /// Held from the read of the nodes to the write of the file: else an older reading may be written last.
    writes: Mutex<()>,
}

impl DiskCopy {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, writes: Mutex::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The nodes that it has; none where it is not there. Then the folder is made for it.
    pub(super) fn kept(&self) -> Result<Vec<(String, String)>, StoreError> {
        match std::fs::read_to_string(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                make_folder_of(&self.path).map_err(|cause| self.not_kept(cause))?;
                Ok(Vec::new())
            }
            Err(cause) => Err(self.not_kept(cause)),
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| self.not_kept(std::io::Error::new(std::io::ErrorKind::InvalidData, error))),
        }
    }

    /// Writes all nodes as they are: also those that this version cannot use, as a newer one may.
    pub(super) async fn write(&self, registry: &dyn RegistryCenter) -> Result<(), StoreError> {
        let writes = self.writes.lock().await;
        let text_of = |(path, node): (String, NodeData)| {
            let text = match Node::parse(&path) {
                Some(Node::StoppedApp(_) | Node::StoppedJob(_)) => stops::kept(&node),
                _ => node.data.text().unwrap_or_default().to_owned(),
            };
            (path, text)
        };
        let nodes: Vec<(String, String)> = nodes(registry).await?.into_iter().map(text_of).collect();
        let (path, text) = (self.path.clone(), json!(nodes).to_string());
        let written = tokio::task::spawn_blocking(move || write_durably(&path, &text)).await;
        drop(writes);
        written.unwrap_or_else(|error| Err(std::io::Error::other(error))).map_err(|cause| self.not_kept(cause))
    }

    fn not_kept(&self, cause: std::io::Error) -> StoreError {
        StoreError::NotKept { path: self.path.clone(), cause }
    }
}

/// Makes the folder of the copy, as carriers whose engine is elsewhere have none. Registrations may have secrets: it is closed to
/// other users where that can be.
fn make_folder_of(copy: &Path) -> std::io::Result<()> {
    match copy.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => make_private(folder),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// Writes a file that is there as a whole or not at all.
#[cfg(not(unix))]
fn write_durably(path: &Path, text: &str) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    std::fs::write(&beside, text)?;
    std::fs::File::open(&beside)?.sync_all()?;
    std::fs::rename(beside, path)
}
