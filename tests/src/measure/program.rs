//! Programs that measure: each is beside the one that runs it, and its last line is what it measured, as JSON.

use std::env;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// A program beside this one.
///
/// # Errors
/// When the system does not say where this one is.
pub fn beside(name: &str) -> io::Result<PathBuf> {
    Ok(env::current_exe()?.with_file_name(name))
}

/// Runs a program to its end, and reads its last line.
///
/// # Errors
/// When it fails, or says something else; with all that it logged.
pub fn last_line(command: &mut Command) -> io::Result<Value> {
    let output = command.output()?;
    read(command, &output)
}

/// The same of a program that has to end within a time: `None` when it does not, and is ended.
///
/// # Errors
/// As of [`last_line`].
pub fn last_line_within(command: &mut Command, limit: Duration) -> io::Result<Option<Value>> {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let pid = child.id().to_string();
    let (ended, waits) = mpsc::channel();
    // What it says is read all the time, or it would wait for its reader.
    let reader = thread::spawn(move || ended.send(child.wait_with_output()));
    let output = waits.recv_timeout(limit);
    if output.is_err() {
        Command::new("kill").args(["-KILL", &pid]).status()?;
    }
    // It ends with the program.
    let _ = reader.join();
    output.ok().map(|output| read(command, &output?)).transpose()
}

fn read(command: &Command, output: &Output) -> io::Result<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().last().filter(|_| output.status.success()).map(serde_json::from_str) {
        Some(Ok(line)) => Ok(line),
        _ => Err(io::Error::other(format!(
            "{command:?}: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_program_that_does_not_end_in_time_is_ended() {
        let minute = Duration::from_secs(60);
        assert_eq!(last_line_within(&mut shell("echo 1; echo 2"), minute).unwrap(), Some(json!(2)));
        assert_eq!(last_line_within(&mut shell("echo 1; exec sleep 600"), Duration::from_millis(50)).unwrap(), None);
        let failed = last_line_within(&mut shell("echo 1; echo why >&2; exit 3"), minute).unwrap_err().to_string();
        assert!(failed.contains("why") && failed.contains('3'), "{failed}");
    }
}
