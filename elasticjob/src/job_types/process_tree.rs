//! A process and all that it starts.

use rustix::process::{Pid, Signal, kill_process_group};

#[cfg(target_os = "linux")]
use super::strays;

/// A process that leads a group of its own, and all that it started. Killed when this is dropped, unless it was released.
#[derive(Debug)]
pub(super) struct ProcessTree {
    /// `None` when it was released.
    group: Option<Pid>,
    /// What the environment of all of them has.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux shows the environment of processes"))]
    run: String,
}

impl ProcessTree {
    /// Of a child that was started in a group of its own, with `run` in its environment.
    pub(super) fn of(id: Option<u32>, run: String) -> Self {
        Self { group: id.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw), run }
    }

    /// Asks all of them to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Leaves alone what is left of it: its leader has ended by itself.
    pub(super) fn release(&mut self) {
        self.group = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // An error says that none is left.
            let _ = kill_process_group(group, signal);
            #[cfg(target_os = "linux")]
            strays::signal(&self.run, signal);
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
