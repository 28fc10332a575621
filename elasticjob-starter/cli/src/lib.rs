//! The command line `elasticjob`: shows and operates the jobs of a registry center, without being an instance of a job.
//!
//! The standard output has only the result of the command. After an error it is empty, and one line that begins with
//! `error:` goes to the standard error. Exit codes: 0 done, 1 failed or not found, 2 wrong usage or settings, 3 the
//! registry center was not reached.
//!
//! The promise of this package is that command line. Its library is there for the program and the tests; not meant to be
//! used without them.

mod alarms;
mod args;
mod audit;
mod audit_writer;
#[cfg(feature = "console")]
mod away;
#[cfg(all(feature = "cloud", unix))]
mod cloud;
mod config;
mod connect;
#[cfg(feature = "console")]
mod console;
mod decisions;
mod failure;
mod graph;
mod history;
#[cfg(all(feature = "kubernetes", unix))]
mod kubernetes;
#[cfg(feature = "console")]
mod leaving;
mod lists;
mod log;
mod next;
mod nodes;
mod operate;
mod past;
#[cfg(feature = "console")]
mod serve;
mod states;
mod status;
mod table;
mod time;
mod traces;
mod watch;
mod why;

use std::ffi::OsString;
use std::io::{ErrorKind, Write, stderr};

use clap::{CommandFactory, Parser};
use elasticjob::fire::{CancelRequest, TraceParent};
use elasticjob::operations::{Operations, dump};
use elasticjob_starter::settings::Sources;

use args::{Arguments, Command, ConfigCommand, Dump, RegistryCommand};
use failure::Failure;

/// The outputs of a command.
pub struct Console<'a> {
    /// For the result.
    pub stdout: &'a mut (dyn Write + Send),
    /// For errors and remarks.
    pub stderr: &'a mut (dyn Write + Send),
    /// Whether the standard output is a terminal; only a terminal can be cleared.
    pub is_terminal: bool,
}

impl Console<'_> {
    /// Writes warnings about oddities of the settings.
    fn warn(&mut self, warnings: Vec<String>) {
        for warning in warnings {
            let _ = writeln!(self.stderr, "warning: {warning}");
        }
    }
}

/// The standard error for a command. One that serves until it is stopped does not wait for a reader of what it says: it loses
/// lines that a full pipe does not take.
pub fn standard_error<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> Box<dyn Write + Send> {
    let serves = match Arguments::try_parse_from(arguments).map(|arguments| arguments.command) {
        #[cfg(feature = "console")]
        Ok(Command::Console(_)) => true,
        #[cfg(feature = "cloud")]
        Ok(Command::Cloud(_)) => true,
        _ => false,
    };
    if serves { Box::new(elasticjob_starter::__private::patient_stderr()) } else { Box::new(stderr()) }
}

/// Runs the command line. The first argument is the name of the program; settings are read from the environment and the
/// folders of `sources`. Returns the exit code.
///
/// It must be called inside of a tokio runtime.
pub async fn run<A: Into<OsString> + Clone>(
    arguments: impl IntoIterator<Item = A>,
    sources: Sources,
    mut console: Console<'_>,
) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let to = if error.use_stderr() { console.stderr } else { console.stdout };
            // When the output is closed, its reader does not want the text.
            let _ = write!(to, "{}", error.render());
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let done = perform(arguments, &sources, &mut console).await;
    match done.and_then(|text| written(console.stdout, &shown(&text))) {
        Ok(_) => 0,
        Err(failure) => {
            let _ = writeln!(console.stderr, "error: {}", shown(&failure.to_string()));
            failure.exit_code()
        }
    }
}

/// Writes a result. Returns `false` when the output is closed: its reader wants no more of it.
fn written(stdout: &mut (dyn Write + Send), text: &str) -> Result<bool, Failure> {
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::Output(error)),
    }
}

/// A text with its control characters escaped, except ends of lines and tabs: texts in the registry center may have
/// been written to change the terminal of an operator.
fn shown(text: &str) -> String {
    let is_harmless = |character: char| !character.is_control() || matches!(character, '\n' | '\t');
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match is_harmless(character) {
            true => shown.push(character),
            false => shown.extend(character.escape_default()),
        }
    }
    shown
}

/// Performs the command, and returns its output.
async fn perform(arguments: Arguments, sources: &Sources, console: &mut Console<'_>) -> Result<String, Failure> {
    let json = arguments.json;
    match arguments.command {
        Command::Next(next) => next::next(&next, json, console),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "elasticjob", &mut script);
            Ok(String::from_utf8_lossy(&script).into_owned())
        }
        #[cfg(feature = "console")]
        // The states of both are large, and would take the stack of every command.
        Command::Console(wanted) => Box::pin(console::run(wanted, &arguments.registry, sources, console)).await,
        #[cfg(all(feature = "cloud", unix))]
        Command::Cloud(wanted) => Box::pin(cloud::run(wanted, &arguments.registry, sources, console)).await,
        #[cfg(all(feature = "cloud", not(unix)))]
        Command::Cloud(_) => Err(Failure::Usage("carried jobs need Unix".to_owned())),
        Command::History(wanted) => {
            let reader = traces::open(&arguments.registry, sources, console).await?;
            history::history(&wanted, &reader, json, console).await
        }
        Command::Log(wanted) => log::log(&wanted, &arguments.registry, sources, json, console).await,
        Command::Decisions(wanted) => {
            let reader = traces::open(&arguments.registry, sources, console).await?;
            decisions::decisions(&wanted, &reader, json, console).await
        }
        Command::States(wanted) => {
            let reader = traces::open(&arguments.registry, sources, console).await?;
            states::states(&wanted, &reader, json, console).await
        }
        Command::Audit(wanted) => {
            let reader = traces::open(&arguments.registry, sources, console).await?;
            audit::actions(&wanted, &reader, json, console).await
        }
        Command::Dump(Dump { job, from: Some(address), .. }) => {
            Ok(operate::dumped(&job, &dump::ask(&address, &job).await?, json))
        }
        Command::Dump(Dump { job, hide_addresses, from: None }) => {
            let center = connect::connect(&arguments.registry, sources, console).await?;
            let done = operate::dump(&Operations::new(center.clone()), &job, hide_addresses, json).await;
            center.close().await;
            done
        }
        Command::OnRegistry(RegistryCommand::Why { job, item, at: Some(at) }) => {
            let reader = traces::open(&arguments.registry, sources, console).await?;
            let center = connect::connect(&arguments.registry, sources, console).await?;
            let done = past::past(&Operations::new(center.clone()), &reader, &job, item, at, json).await;
            center.close().await;
            done
        }
        Command::Alarms => {
            let reader = alarms::traces(&arguments.registry, sources, console).await?;
            let center = connect::connect(&arguments.registry, sources, console).await?;
            let done = alarms::alarms(center.clone(), reader.as_ref(), json).await;
            center.close().await;
            let (text, is_unread) = done?;
            if is_unread {
                let _ = writeln!(
                    console.stderr,
                    "note: who disabled a job is not known: the database did not answer in time"
                );
            }
            Ok(text)
        }
        Command::OnRegistry(command) => {
            let center = connect::connect(&arguments.registry, sources, console).await?;
            // As OpenTelemetry has it for programs that are started by others.
            let caller = sources.variable("TRACEPARENT").and_then(TraceParent::parse);
            let mut operations = Operations::new(center.clone()).caused_by(caller);
            let mut recording = None;
            if command.changes() {
                let reason = arguments.reason.as_deref();
                let (audited, of) =
                    audit_writer::audited(operations, &arguments.registry, sources, reason, console).await;
                (operations, recording) = (audited, Some(of));
            }
            let reason = arguments.reason.as_deref().unwrap_or_default();
            let request = CancelRequest::new(&audit_writer::operator(sources), reason);
            let done = on_registry(command, &operations, &request, json, console).await;
            if let Some(recording) = recording {
                recording.finish(console).await;
            }
            center.close().await;
            done
        }
    }
}

async fn on_registry(
    command: RegistryCommand,
    operations: &Operations,
    request: &CancelRequest,
    json: bool,
    console: &mut Console<'_>,
) -> Result<String, Failure> {
    match command {
        RegistryCommand::Jobs(jobs) => lists::jobs(operations, jobs, json).await,
        RegistryCommand::Servers { job } => lists::servers(operations, job, json).await,
        RegistryCommand::Shards { job } => lists::shards(operations, &job, json).await,
        RegistryCommand::Status { job, watch: false } => status::status(operations, &job, json).await,
        RegistryCommand::Status { job, watch: true } => watch::watch(operations, &job, json, console).await,
        RegistryCommand::Why { job, item, .. } => why::why(operations, &job, item, json).await,
        RegistryCommand::Graph { job, at: Some(at), .. } => {
            graph::run(operations, job.as_ref(), at.timestamp_millis(), json).await
        }
        RegistryCommand::Graph { job, dot, at: None } => {
            let form = match (json, dot) {
                (true, _) => graph::Form::Json,
                (false, true) => graph::Form::Dot,
                (false, false) => graph::Form::Tree,
            };
            graph::graph(operations, job.as_ref(), form).await
        }
        RegistryCommand::Nodes(nodes) => nodes::nodes(operations, &nodes, json, console).await,
        RegistryCommand::Trigger(what) => operate::trigger(operations, what, json).await,
        RegistryCommand::Rerun(what) => operate::rerun(operations, what, json).await,
        RegistryCommand::Cancel(what) => operate::cancel(operations, what, request, json).await,
        RegistryCommand::Enable(what) => operate::switch(operations, what, true, json).await,
        RegistryCommand::Disable(what) => operate::switch(operations, what, false, json).await,
        RegistryCommand::Shutdown(of) => operate::shut_down(operations, of, json).await,
        RegistryCommand::Remove(of) => operate::remove(operations, of, json).await,
        RegistryCommand::Config { command } => match command {
            ConfigCommand::Get { job } => config::get(operations, &job, json).await,
            ConfigCommand::Set(set) => config::set(operations, set, json).await,
            ConfigCommand::Remove { job, force } => operate::remove_job(operations, &job, force, json).await,
        },
    }
}

#[cfg(test)]
mod tests;
