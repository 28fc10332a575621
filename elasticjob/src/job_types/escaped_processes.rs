//! Finds the processes that a script started and that left its process group, with `setsid` for example.
//!
//! Only their environment shows to which run they belong: a process hands it on to the processes that it starts. The
//! process tree killer of Jenkins finds them in the same way. To let a process outlive its script, start it without the
//! variable (`env -u`). A process that overwrites its environment, as some servers do to show a title, is not found.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The environment variable with the run that a process belongs to.
pub(super) const RUN: &str = "ELASTICJOB_RUN";

/// How many times all processes are searched: a process may start another one during a search.
const ROUNDS: usize = 5;

/// Signals all processes of a run: once with a signal that a process can handle, and with KILL until none is left.
pub(super) fn signal(run: &str, signal: Signal) {
    let rounds = if signal == Signal::KILL { ROUNDS } else { 1 };
    for _ in 0..rounds {
        if signal_once(run, signal) == 0 {
            return;
        }
    }
}

/// Signals each process once; returns how many got the signal.
fn signal_once(run: &str, signal: Signal) -> usize {
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    let ids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut signalled = 0;
    for id in ids.filter_map(Pid::from_raw) {
        // Opened before its environment is read: a moment later another process may have this number.
        let Ok(process) = pidfd_open(id, PidfdFlags::empty()) else { continue };
        if is_of(id, run) && pidfd_send_signal(&process, signal).is_ok() {
            signalled += 1;
        }
    }
    signalled
}

/// Whether a process has the run in its environment. Processes of other users do not show theirs.
fn is_of(id: Pid, run: &str) -> bool {
    let environment = fs::read(format!("/proc/{}/environ", id.as_raw_nonzero())).unwrap_or_default();
    let mut variables = environment.split(|byte| *byte == 0);
    variables.any(|variable| {
        let value = variable.strip_prefix(RUN.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
        value == Some(run.as_bytes())
    })
}
