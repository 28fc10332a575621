//! How the test programs take their arguments.

use std::env::{Args, args};
use std::iter::Skip;
use std::process::ExitCode;

/// Parses the arguments of the process; a mistake is told with the usage, and is exit code 2.
///
/// # Errors
/// The exit code to end with.
pub fn arguments<A>(parse: impl FnOnce(Skip<Args>) -> Result<A, String>, usage: &str) -> Result<A, ExitCode> {
    parse(args().skip(1)).map_err(|error| {
        eprintln!("{error}\n{usage}");
        ExitCode::from(2)
    })
}
