//! A folder for a test, which goes with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::UNIX_EPOCH;

/// A fresh folder, removed when it is dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes one below the folder for temporary files.
    #[expect(clippy::new_without_default, reason = "it has an effect")]
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // An earlier process of the same number may have been killed in a test, and has left its folders.
        let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
        let path = std::env::temp_dir().join(format!("elasticjob-cloud-{}-{now:x}-{number}", std::process::id()));
        fs::create_dir(&path).expect("the folder for temporary files can be written");
        Self(path)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
