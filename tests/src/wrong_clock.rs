//! Processes whose wall clock is wrong, by means of libfaketime.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::group::TemporaryFolder;

/// A clock that some processes are given, as far off as it is set to.
#[derive(Debug)]
pub struct WrongClock {
    library: PathBuf,
    folder: TemporaryFolder,
}

impl WrongClock {
    /// A clock that is right yet.
    ///
    /// # Errors
    /// Says what is missing here.
    pub fn find() -> Result<Self, String> {
        let library = library().ok_or("there is no libfaketimeMT.so.1 in /usr/lib/*/faketime")?;
        let clock = Self { library, folder: TemporaryFolder::new("clock").map_err(|error| error.to_string())? };
        clock.set(0);
        Ok(clock)
    }

    /// Gives it to a process that is about to start.
    pub fn give(&self, mut command: Command) -> Command {
        // Only the wall clock: sessions and time-outs go by the other one.
        command.env("LD_PRELOAD", &self.library).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        command.env("FAKETIME_TIMESTAMP_FILE", self.file()).env("FAKETIME_NO_CACHE", "1");
        command
    }

    /// From now on it is so many seconds ahead.
    ///
    /// # Panics
    /// When the file that tells it cannot be written.
    pub fn set(&self, ahead: i64) {
        // At once: a clock that is read while it is written would step twice.
        let new = self.folder.path().join("new");
        fs::write(&new, format!("{ahead:+}")).expect("a file for the clock");
        fs::rename(new, self.file()).expect("a file for the clock");
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("ahead")
    }
}

fn library() -> Option<PathBuf> {
    let folders = fs::read_dir("/usr/lib").ok()?;
    let inside = |folder: fs::DirEntry| folder.path().join("faketime/libfaketimeMT.so.1");
    folders.flatten().map(inside).find(|library| library.is_file())
}
