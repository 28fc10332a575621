//! The command line `elasticjob`, as a process that tests start and kill.

use std::io::{stderr, stdout};
use std::process::ExitCode;

use elasticjob_cli::Console;
use elasticjob_starter::settings::Sources;

#[tokio::main]
async fn main() -> ExitCode {
    let (mut out, mut err) = (stdout(), stderr());
    let console = Console { stdout: &mut out, stderr: &mut err, is_terminal: false };
    elasticjob_cli::run(std::env::args_os(), Sources::of_process(), console).await.into()
}
