//! Processes whose wall clock is wrong, by means of libfaketime.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

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
        command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        self.give_with_monotonic(command)
    }

    /// The same, with the monotonic clock that timers of the process go by. That of the whole time since the start of the
    /// machine (`CLOCK_BOOTTIME`) stays right: the process asks the system for it, and not the library of C.
    pub fn give_with_monotonic(&self, mut command: Command) -> Command {
        command.env("LD_PRELOAD", &self.library);
        command.env("FAKETIME_TIMESTAMP_FILE", self.file()).env("FAKETIME_NO_CACHE", "1");
        command
    }

    /// From now on it is so many seconds ahead.
    ///
    /// # Panics
    /// When the file that tells it cannot be written.
    pub fn set(&self, ahead: i64) {
        self.write(&format!("{ahead:+}"));
    }

    /// From now on it is behind by a time for which it stood still.
    ///
    /// # Panics
    /// When the file that tells it cannot be written.
    pub fn set_behind(&self, behind: Duration) {
        self.write(&format!("-{:.6}", behind.as_secs_f64()));
    }

    fn write(&self, offset: &str) {
        // At once: a clock that is read while it is written would step twice.
        let new = self.folder.path().join("new");
        fs::write(&new, offset).expect("a file for the clock");
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
