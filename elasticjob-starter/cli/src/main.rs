//! The program `elasticjob`.

use std::process::ExitCode;

use elasticjob_starter::settings::Sources;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = std::env::args_os();
    elasticjob_cli::run(arguments, Sources::of_process(), &mut std::io::stdout(), &mut std::io::stderr()).await.into()
}
