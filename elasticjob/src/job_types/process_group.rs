//! A process and all that it starts.

use rustix::process::{Pid, Signal, kill_process_group};

/// The group of a process that leads one. Killed when this is dropped, with all its processes, unless it was released.
#[derive(Debug)]
pub(super) struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    /// The group of a child that was started in a group of its own.
    pub(super) fn of(id: Option<u32>) -> Self {
        Self(id.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    /// Asks all of them to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Leaves alone what is left of it: its leader has ended by itself.
    pub(super) fn release(&mut self) {
        self.0 = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // Nobody is left.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
