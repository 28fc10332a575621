//! A sink that only the latest run of an item may write to: what a user's storage does with fencing tokens.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

/// One file for each item: a line for each write that was taken, the last of them with the highest token.
#[derive(Debug, Clone)]
pub struct Fence {
    folder: PathBuf,
}

/// The writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer {
    /// The fencing token.
    pub token: i64,
    /// The process.
    pub pid: u32,
    /// The number of the run in its process.
    pub run: u64,
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

/// A write that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SinkWrite {
    /// The job.
    pub job: String,
    /// The item.
    pub item: u32,
    /// The fencing token.
    pub token: i64,
    /// The process.
    pub pid: u32,
    /// The number of the run in its process.
    pub run: u64,
    /// When, in microseconds since 1970.
    pub at_us: i64,
}

/// Lines are of the same length, so that the last one is found without the others.
const LINE: usize = 20 + 1 + 10 + 1 + 20 + 1 + 20 + 1;

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

    /// Writes for an item of a job at some time, atomically for all processes.
    ///
    /// # Errors
    /// When the file cannot be used, or holds no token.
    pub fn write(&self, job: &str, item: u32, writer: Writer, at_us: i64) -> io::Result<FencedWrite> {
        // The lock goes with the file.
        let mut file = self.open(job, item)?;
        file.lock()?;
        match last_token(&mut file)? {
            Some(seen) if writer.token < seen => Ok(FencedWrite::Refused { by: seen }),
            _ => {
                let Writer { token, pid, run } = writer;
                // In one call: a process that is killed leaves all of it or nothing.
                file.write_all(format!("{token:020} {pid:010} {run:020} {at_us:020}\n").as_bytes())?;
                Ok(FencedWrite::Accepted)
            }
        }
    }

    /// The highest token that wrote for an item.
    ///
    /// # Errors
    /// When the file cannot be used, or holds no token.
    pub fn token(&self, job: &str, item: u32) -> io::Result<Option<i64>> {
        let mut file = self.open(job, item)?;
        file.lock_shared()?;
        last_token(&mut file)
    }

    /// All writes for an item that were taken, in order.
    ///
    /// # Errors
    /// When the file cannot be used, or holds something else.
    pub fn writes(&self, job: &str, item: u32) -> io::Result<Vec<SinkWrite>> {
        let mut text = String::new();
        self.open(job, item)?.read_to_string(&mut text)?;
        let parse = |line: &str| {
            let mut numbers = line.split(' ').map(str::parse::<i64>);
            let mut next = || numbers.next()?.ok();
            let (token, pid, run, at_us) = (next()?, next()?, next()?, next()?);
            let (pid, run) = (u32::try_from(pid).ok()?, u64::try_from(run).ok()?);
            Some(SinkWrite { job: job.to_owned(), item, token, pid, run, at_us })
        };
        let lines = text.lines();
        lines.map(|line| parse(line).ok_or_else(|| io::Error::other(format!("'{line}' is no write")))).collect()
    }

    /// Whether no process writes for the item right now.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn is_free(&self, job: &str, item: u32) -> io::Result<bool> {
        match self.open(job, item)?.try_lock() {
            Ok(()) => Ok(true),
            Err(fs::TryLockError::WouldBlock) => Ok(false),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn open(&self, job: &str, item: u32) -> io::Result<File> {
        let path = self.folder.join(format!("{job}-{item}"));
        OpenOptions::new().read(true).append(true).create(true).open(path)
    }
}

fn last_token(file: &mut File) -> io::Result<Option<i64>> {
    let length = file.metadata()?.len();
    if length == 0 {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(length.saturating_sub(LINE as u64)))?;
    let mut line = String::new();
    file.read_to_string(&mut line)?;
    let token = line.split(' ').next().unwrap_or_default();
    token.parse().map(Some).map_err(|_| io::Error::other(format!("'{line}' is no write")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::TemporaryFolder;

    fn writer(token: i64) -> Writer {
        Writer { token, pid: 7, run: 3 }
    }

    #[test]
    fn a_smaller_token_than_the_last_is_refused_for_that_item_only() {
        let folder = TemporaryFolder::new("fence").unwrap();
        let fence = Fence::new(folder.path().join("fence")).unwrap();
        assert_eq!(fence.token("job", 0).unwrap(), None);
        let write = |item, token| fence.write("job", item, writer(token), 5).unwrap();
        assert_eq!(write(0, 7), FencedWrite::Accepted);
        assert_eq!(write(0, 7), FencedWrite::Accepted);
        assert_eq!(write(0, i64::MAX), FencedWrite::Accepted);
        assert_eq!(write(0, 11), FencedWrite::Refused { by: i64::MAX });
        assert_eq!(fence.token("job", 0).unwrap(), Some(i64::MAX));
        assert_eq!(write(1, 1), FencedWrite::Accepted);
        assert_eq!(fence.write("other", 0, writer(1), 5).unwrap(), FencedWrite::Accepted);
    }

    #[test]
    fn what_was_taken_can_be_read_in_order() {
        let folder = TemporaryFolder::new("fence").unwrap();
        let fence = Fence::new(folder.path()).unwrap();
        for token in [7, 12, 9] {
            fence.write("job", 1, writer(token), 5).unwrap();
        }
        let write = |token| SinkWrite { job: "job".to_owned(), item: 1, token, pid: 7, run: 3, at_us: 5 };
        assert_eq!(fence.writes("job", 1).unwrap(), [write(7), write(12)]);
    }

    #[test]
    fn it_tells_whether_somebody_holds_the_lock_of_an_item() {
        let folder = TemporaryFolder::new("fence").unwrap();
        let fence = Fence::new(folder.path()).unwrap();
        let held = fence.open("job", 0).unwrap();
        held.lock().unwrap();
        assert!(!fence.is_free("job", 0).unwrap());
        drop(held);
        assert!(fence.is_free("job", 0).unwrap());
    }
}
