//! Processes that a script started and that left its process group, with `setsid` for example.
//!
//! Nothing but their environment tells whose they are: a process hands it on to those that it starts. The process tree
//! killer of Jenkins finds them in the same way. A process that should outlive its script is started without the variable
//! (`env -u`); one that overwrites its environment, as some servers do to show a title, is not found.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The variable that says which run a process is of.
pub(super) const RUN: &str = "ELASTICJOB_RUN";

/// How often all processes are looked through: one may start another while it is looked for.
const ROUNDS: usize = 5;

/// Signals all processes of a run. They get a signal that can be heeded once, one that kills until none is left.
pub(super) fn signal(run: &str, signal: Signal) {
    let rounds = if signal == Signal::KILL { ROUNDS } else { 1 };
    for _ in 0..rounds {
        if signal_once(run, signal) == 0 {
            return;
        }
    }
}

/// How many there were.
fn signal_once(run: &str, signal: Signal) -> usize {
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    let ids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut signalled = 0;
    for id in ids.filter_map(Pid::from_raw) {
        // Opened before it is looked at: the number may be that of another process a moment later.
        let Ok(process) = pidfd_open(id, PidfdFlags::empty()) else { continue };
        if is_of(id, run) && pidfd_send_signal(&process, signal).is_ok() {
            signalled += 1;
        }
    }
    signalled
}

/// Whether a process has the run in its environment. Those of other users do not show theirs.
fn is_of(id: Pid, run: &str) -> bool {
    let environment = fs::read(format!("/proc/{}/environ", id.as_raw_nonzero())).unwrap_or_default();
    let mut variables = environment.split(|byte| *byte == 0);
    variables.any(|variable| {
        let value = variable.strip_prefix(RUN.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
        value == Some(run.as_bytes())
    })
}
