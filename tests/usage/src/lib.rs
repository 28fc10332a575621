//! Arguments and exit codes of the test programs.

use std::env::{Args, args};
use std::error::Error;
use std::fmt::Display;
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

/// Reads the value of an option that is a number above 0.
///
/// # Errors
/// The mistake, with the option and its value.
pub fn positive(option: &str, value: &str) -> Result<u32, String> {
    match value.parse() {
        Ok(0) | Err(_) => Err(format!("{option} {value}: a number above 0 is needed")),
        Ok(number) => Ok(number),
    }
}

/// Runs what a program does with two threads for user code, prints what it came to, and gives the exit code: 1 after an
/// error.
pub fn run<T: Display>(program: impl Future<Output = Result<T, Box<dyn Error>>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    match runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(program)) {
        Ok(result) => {
            println!("{result}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(1)
        }
    }
}
