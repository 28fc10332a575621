//! Programs that measure: each is beside the one that runs it, and its last line is what it measured, as JSON.

use std::env;
use std::io;
use std::path::PathBuf;
use std::process::Command;

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
