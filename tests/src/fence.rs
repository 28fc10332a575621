//! A sink that only the latest run of an item may write to: what a user's storage does with fencing tokens.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// One file for each item, which holds the highest token that wrote to it.
#[derive(Debug, Clone)]
pub struct Fence {
    folder: PathBuf,
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FencedWrite {
    /// No higher token was seen.
    Accepted,
    /// A run with this higher token has written before.
    Refused {
        /// The higher token.
        by: i64,
    },
}

impl Fence {
    /// A fence in a folder, which is made when missing.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn new(folder: impl Into<PathBuf>) -> io::Result<Self> {
        let folder = folder.into();
        fs::create_dir_all(&folder)?;
        Ok(Self { folder })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes for an item under a token, atomically for all processes.
    ///
    /// # Errors
    /// When the file cannot be used, or holds no token.
    pub fn write(&self, item: u32, token: i64) -> io::Result<FencedWrite> {
        // The lock goes with the file.
        let mut file = self.open(item)?;
        file.lock()?;
        match read(&mut file)? {
            Some(seen) if token < seen => Ok(FencedWrite::Refused { by: seen }),
            _ => {
                file.rewind()?;
                // All of the same length, in one call: a process that is killed leaves the old token or the new one.
                file.write_all(format!("{token:020}").as_bytes())?;
                Ok(FencedWrite::Accepted)
            }
        }
    }

    /// The highest token that wrote for an item.
    ///
    /// # Errors
    /// When the file cannot be used, or holds no token.
    pub fn token(&self, item: u32) -> io::Result<Option<i64>> {
        let mut file = self.open(item)?;
        file.lock_shared()?;
        read(&mut file)
    }

    /// Whether nobody is writing for the item right now.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn is_free(&self, item: u32) -> io::Result<bool> {
        match self.open(item)?.try_lock() {
            Ok(()) => Ok(true),
            Err(fs::TryLockError::WouldBlock) => Ok(false),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn open(&self, item: u32) -> io::Result<File> {
        let path = self.folder.join(format!("item-{item}"));
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
    }
}

fn read(file: &mut File) -> io::Result<Option<i64>> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| io::Error::other(format!("'{text}' is no token")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::TemporaryFolder;

    #[test]
    fn a_smaller_token_than_the_last_is_refused_for_that_item_only() {
        let folder = TemporaryFolder::new("fence").unwrap();
        let fence = Fence::new(folder.path().join("fence")).unwrap();
        assert_eq!(fence.token(0).unwrap(), None);
        assert_eq!(fence.write(0, 7).unwrap(), FencedWrite::Accepted);
        assert_eq!(fence.write(0, 7).unwrap(), FencedWrite::Accepted);
        assert_eq!(fence.write(0, 12).unwrap(), FencedWrite::Accepted);
        assert_eq!(fence.write(0, 11).unwrap(), FencedWrite::Refused { by: 12 });
        assert_eq!(fence.token(0).unwrap(), Some(12));
        assert_eq!(fence.write(1, 1).unwrap(), FencedWrite::Accepted);
    }

    #[test]
    fn it_tells_whether_somebody_holds_the_lock_of_an_item() {
        let folder = TemporaryFolder::new("fence").unwrap();
        let fence = Fence::new(folder.path()).unwrap();
        let held = fence.open(0).unwrap();
        held.lock().unwrap();
        assert!(!fence.is_free(0).unwrap());
        drop(held);
        assert!(fence.is_free(0).unwrap());
    }
}
