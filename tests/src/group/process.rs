//! A process under test.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a signal may take to stop a process.
const FREEZE_LIMIT: Duration = Duration::from_secs(5);

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

    /// Returns when SIGSTOP has stopped it, that is, all of its threads.
    ///
    /// # Panics
    /// When it does not stop.
    pub fn wait_frozen(&self) {
        let deadline = Instant::now() + FREEZE_LIMIT;
        while !self.is_frozen().expect("the system tells the states of threads") {
            assert!(Instant::now() < deadline, "process {} does not stop", self.pid());
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn is_frozen(&self) -> io::Result<bool> {
        for thread in fs::read_dir(format!("/proc/{}/task", self.pid()))? {
            let stat = fs::read_to_string(thread?.path().join("stat"))?;
            // The state follows the name, which is in parentheses and may contain anything.
            if stat.rsplit_once(") ").is_none_or(|(_, rest)| !rest.starts_with('T')) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Drop for TestProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
