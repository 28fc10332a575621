//! A process and all processes that it started.

use rustix::process::{Pid, Signal, kill_process_group};

#[cfg(target_os = "linux")]
use super::escaped_processes;

/// A process that leads a group of its own, and all processes that it started. Dropping this kills them, unless it was
/// released.
#[derive(Debug)]
pub(super) struct ProcessTree {
    /// `None` when it was released.
    group: Option<Pid>,
    /// The value of the environment variable that all of them have.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux shows the environment of processes"))]
    run: String,
}

impl ProcessTree {
    /// The tree of a child that was started in a group of its own, with `run` in its environment.
    pub(super) fn of(id: Option<u32>, run: String) -> Self {
        Self { group: id.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw), run }
    }

    /// Asks all of them to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Leaves the remaining processes alone: their leader has ended by itself.
    pub(super) fn release(&mut self) {
        self.group = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // An error says that no process is left.
            let _ = kill_process_group(group, signal);
            #[cfg(target_os = "linux")]
            escaped_processes::signal(&self.run, signal);
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
