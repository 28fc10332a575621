//! The program `elasticjob`.

use std::io::{IsTerminal, stdout};
use std::process::ExitCode;

use elasticjob_cli::Console;
use elasticjob_starter::settings::Sources;

#[tokio::main]
async fn main() -> ExitCode {
    let (mut out, mut err) = (stdout(), elasticjob_cli::standard_error(std::env::args_os()));
    let is_terminal = out.is_terminal();
    let console = Console { stdout: &mut out, stderr: &mut *err, is_terminal };
    elasticjob_cli::run(std::env::args_os(), Sources::of_process(), console).await.into()
}
