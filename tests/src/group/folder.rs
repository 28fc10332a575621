//! Folders that go with their test.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io};

/// A fresh folder, gone with all that is in it when this is dropped.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes one.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(purpose: &str) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("elasticjob-{purpose}-{}-{number}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Leaves it where it is.
    pub fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // Empty when it is to be kept.
        let _ = fs::remove_dir_all(&self.0);
    }
}
