//! Processes that SIGSTOP stops. The signal comes to all threads, but not at once: until then they go on.

use std::time::{Duration, Instant};
use std::{fs, io, thread};

/// How long a signal may take to stop a process.
const LIMIT: Duration = Duration::from_secs(5);

/// Returns when SIGSTOP has stopped a process, that is, all of its threads.
///
/// # Errors
/// When it does not stop, or is gone.
pub fn wait_frozen(process: u32) -> io::Result<()> {
    let deadline = Instant::now() + LIMIT;
    while !is_frozen(process)? {
        if Instant::now() >= deadline {
            return Err(io::Error::other(format!("process {process} does not stop")));
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn is_frozen(process: u32) -> io::Result<bool> {
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        let stat = fs::read_to_string(thread?.path().join("stat"))?;
        // The state follows the name, which is in parentheses and may contain anything.
        if stat.rsplit_once(") ").is_none_or(|(_, rest)| !rest.starts_with('T')) {
            return Ok(false);
        }
    }
    Ok(true)
}
