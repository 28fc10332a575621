//! The command line `elasticjob`: looks at jobs in a registry center and operates them, without being part of any.
//!
//! What was asked for is written to the standard output, and nothing else: in an error it stays empty, and one line that
//! begins with `error:` goes to the standard error. Exit codes: 0 done, 1 failed or not found, 2 wrong usage or settings,
//! 3 the registry center was not reached.

mod args;
mod connect;
mod failure;
mod next;
mod operate;
mod settings;
mod statistics;
mod status;
mod table;
mod time;
mod watch;
mod why;

use std::ffi::OsString;
use std::io::Write;

use clap::{CommandFactory, Parser};
use elasticjob::operations::Operations;
use elasticjob_starter::settings::Sources;

use args::{Arguments, Command, ConfigCommand};
use failure::Failure;

/// Runs the command line. The first argument is the name of the program; settings are read from the environment and the
/// folders of `sources`. Returns the exit code.
///
/// Has to be called inside of a tokio runtime.
pub async fn run<A: Into<OsString> + Clone>(
    arguments: impl IntoIterator<Item = A>,
    sources: Sources,
    stdout: &mut (dyn Write + Send),
    stderr: &mut (dyn Write + Send),
) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let to: &mut dyn Write = if error.use_stderr() { stderr } else { stdout };
            // Whoever closed it does not want to know.
            let _ = write!(to, "{}", error.render());
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match perform(arguments, sources, stdout).await {
        Ok(text) => {
            let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
            0
        }
        Err(failure) => {
            let _ = writeln!(stderr, "error: {failure}");
            failure.exit_code()
        }
    }
}

/// Does what was asked for, and returns what is to be said of it.
async fn perform(arguments: Arguments, sources: Sources, stdout: &mut (dyn Write + Send)) -> Result<String, Failure> {
    let Arguments { command, registry, json } = arguments;
    match command {
        Command::Next(next) => return next::next(&next, json),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "elasticjob", &mut script);
            return Ok(String::from_utf8_lossy(&script).into_owned());
        }
        Command::Dump(args::Dump { job, from: Some(address), .. }) => {
            return Ok(elasticjob::operations::dump::ask(&address, &job).await?);
        }
        _ => {}
    }
    let center = connect::connect(&registry, &sources).await?;
    let operations = Operations::new(center.clone());
    let done = on_registry(command, &operations, json, stdout).await;
    center.close().await;
    done
}

async fn on_registry(
    command: Command,
    operations: &Operations,
    json: bool,
    stdout: &mut (dyn Write + Send),
) -> Result<String, Failure> {
    match command {
        Command::Jobs(jobs) => statistics::jobs(operations, jobs, json).await,
        Command::Servers => statistics::servers(operations, json).await,
        Command::Shards { job } => statistics::shards(operations, &job, json).await,
        Command::Status { job, watch: false } => status::status(operations, &job, json).await,
        Command::Status { job, watch: true } => watch::watch(operations, &job, json, stdout).await,
        Command::Why { job, item } => why::why(operations, &job, item, json).await,
        Command::Trigger { job } => operate::trigger(operations, &job, json).await,
        Command::Enable(what) => operate::switch(operations, what, true, json).await,
        Command::Disable(what) => operate::switch(operations, what, false, json).await,
        Command::Shutdown(target) => operate::shut_down(operations, target, json).await,
        Command::Remove(target) => operate::remove(operations, target, json).await,
        Command::Config { command: ConfigCommand::Get { job } } => settings::get(operations, &job, json).await,
        Command::Config { command: ConfigCommand::Set(set) } => settings::set(operations, set, json).await,
        Command::Config { command: ConfigCommand::Remove { job, force } } => {
            operate::remove_job(operations, &job, force, json).await
        }
        Command::Dump(dump) => operate::dump(operations, &dump).await,
        Command::Next(_) | Command::Completions { .. } => unreachable!("they need no registry center"),
    }
}

#[cfg(test)]
mod tests;
