//! The program `elasticjob`.

use std::io::{IsTerminal, stdout};
use std::process::ExitCode;
use std::time::Duration;

use elasticjob_cli::Console;
use elasticjob_starter::settings::Sources;
use tokio::runtime::Runtime;

/// How long the end of the program waits for threads that are busy: what has to be done is done by then, and what is left may be blocked.
const LAST: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: the program has no threads: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(run());
    runtime.shutdown_timeout(LAST);
    code
}

async fn run() -> ExitCode {
    let (mut out, mut err) = (stdout(), elasticjob_cli::standard_error(std::env::args_os()));
    let is_terminal = out.is_terminal();
    let console = Console { stdout: &mut out, stderr: &mut *err, is_terminal };
    elasticjob_cli::run(std::env::args_os(), Sources::of_process(), console).await.into()
}
