//! A process under test.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

/// A process whose standard error goes to a file. It is killed when this is dropped.
#[derive(Debug)]
pub struct TestProcess {
    child: Child,
    log: PathBuf,
}

impl TestProcess {
    /// Starts it.
    ///
    /// # Errors
    /// When the log cannot be made, or the program not be run.
    pub fn start(mut command: Command, log: PathBuf) -> io::Result<Self> {
        let child = command.stdin(Stdio::null()).stderr(File::create(&log)?).spawn()?;
        Ok(Self { child, log })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it logged so far.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Sends a signal, given by its name.
    ///
    /// # Panics
    /// When it cannot be sent: the process has ended, and that was waited for.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.pid().to_string()).status();
        assert!(status.is_ok_and(|status| status.success()), "kill -{name} {}\n{}", self.pid(), self.log());
    }

    /// Sends SIGKILL.
    pub fn send_kill(&mut self) {
        // An error says that it has ended already.
        let _ = self.child.kill();
    }

    /// Kills it with SIGKILL, and returns when it is gone.
    pub fn kill(&mut self) {
        self.send_kill();
        // An error says that it has ended already.
        let _ = self.child.wait();
    }

    /// How it ended, if it did.
    pub fn exit_status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }
}

impl Drop for TestProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
