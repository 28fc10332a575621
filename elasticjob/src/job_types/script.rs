//! `SCRIPT`: each item runs a program.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
#[cfg(unix)]
use uuid::Uuid;

use super::command_line::split;
#[cfg(unix)]
use super::process_tree::ProcessTree;
use crate::api::{ContextJson, JobError, JobResult, JobType, ShardingContext};
use crate::config::{BoundOptions, Invalid, JobConfiguration, OptionNames, Options};
use crate::escaped::Escaped;
use crate::log::{info, warn};
use crate::texts;
use crate::trace::{LogLevel, RunLog};

/// The name of the type.
pub const SCRIPT: &str = "SCRIPT";
/// The command line to run. Required.
const COMMAND_LINE: &str = "script.command.line";
/// Allows the command line of the registry center. Read from the configuration of the program only.
const FROM_REGISTRY: &str = "script.command.line.from-registry";
/// The time after which the program is stopped. Java has no such limit.
const TIMEOUT: &str = "script.timeout.milliseconds";

/// A line of output that is longer than this is cut into several.
const LONGEST_LINE: u64 = 8 * 1024;

/// How long a program that took too long may take to end in order: the longest grace of a run that is cut off.
const GRACE: Duration = Duration::from_secs(5);

/// Runs the programs of items.
pub(super) struct Script;

impl JobType for Script {
    fn type_name(&self) -> &str {
        SCRIPT
    }

    fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        ScriptOptions::read(configuration).err().unwrap_or_default()
    }

    fn options(&self) -> OptionNames {
        &[&[COMMAND_LINE], &[FROM_REGISTRY], &[TIMEOUT]]
    }

    fn bound_options(&self) -> &'static [BoundOptions] {
        &[BoundOptions::Command(&[&[COMMAND_LINE]])]
    }

    async fn process(&self, context: ShardingContext) -> JobResult {
        let ScriptOptions { program, arguments, timeout } =
            ScriptOptions::read(context.configuration()).map_err(JobError::settings)?;
        let mut running = Running::start(&program, &arguments, &context)?;
        // Errors go to logs, tables and chats: they name only the program, as its arguments may be secrets.
        let ended = tokio::select! {
            status = running.end() => status?,
            () = elapsed(timeout) => {
                running.terminate();
                let has_ended = tokio::time::timeout(GRACE, running.end()).await.is_ok();
                running.last_lines().await;
                let how = if has_ended { "terminated" } else { "killed" };
                let limit = timeout.unwrap_or_default().as_millis();
                return Err(JobError::message(format!("'{program}' was {how}: it ran for more than {limit} ms")));
            }
            () = context.cancelled() => {
                running.terminate();
                // The program may end in order until the run is dropped.
                running.end().await?;
                running.last_lines().await;
                return Err(JobError::message(format!("'{program}' was cut off")));
            }
        };
        running.leave().await;
        if ended.success() { Ok(()) } else { Err(JobError::message(format!("'{program}': {}", describe(ended)))) }
    }
}

/// The options of a job.
struct ScriptOptions {
    program: String,
    arguments: Vec<String>,
    timeout: Option<Duration>,
}

impl ScriptOptions {
    fn read(configuration: &JobConfiguration) -> Result<Self, Vec<Invalid>> {
        let mut options = Options::of(configuration, texts::owner_type("SCRIPT"));
        let line = options.required(&[COMMAND_LINE], "/opt/backup/run.sh --full");
        let words = split(line).unwrap_or_else(|why| {
            if !line.is_empty() {
                options.wrong(COMMAND_LINE, texts::property_command(why.to_string()));
            }
            Vec::new()
        });
        let timeout = options.milliseconds_if_given(&[TIMEOUT]);
        options.flag(FROM_REGISTRY, false);
        let mut words = options.end(words)?.into_iter();
        let program = words.next().expect("the lack of one is a problem");
        Ok(Self { program, arguments: words.collect(), timeout })
    }
}

/// A program that runs. Dropping this kills it, with all processes that it started, unless it ended before by itself.
struct Running {
    child: Child,
    #[cfg(unix)]
    tree: ProcessTree,
    output: tokio::task::JoinSet<()>,
}

impl Running {
    fn start(program: &str, arguments: &[String], context: &ShardingContext) -> Result<Self, JobError> {
        let mut command = Command::new(program);
        command.args(arguments).arg(ContextJson::from(context).to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        let run = Uuid::new_v4().to_string();
        #[cfg(unix)]
        command.process_group(0);
        #[cfg(target_os = "linux")]
        command.env(super::escaped_processes::RUN, &run);
        let mut child =
            command.spawn().map_err(|error| JobError::message(format!("'{program}' cannot be started: {error}")))?;
        let mut output = tokio::task::JoinSet::new();
        let (job, item) = (context.job_name(), context.sharding_item());
        if let Some(stdout) = child.stdout.take() {
            let job = job.clone();
            let log = RunLog::current();
            output.spawn(forward(stdout, move |line| {
                kept(log.as_ref(), LogLevel::Info, "stdout", line);
                info!(%job, item, "{}", Escaped(line));
            }));
        }
        if let Some(stderr) = child.stderr.take() {
            let job = job.clone();
            let log = RunLog::current();
            output.spawn(forward(stderr, move |line| {
                kept(log.as_ref(), LogLevel::Warn, "stderr", line);
                warn!(%job, item, "{}", Escaped(line));
            }));
        }
        Ok(Self {
            #[cfg(unix)]
            tree: ProcessTree::of(child.id(), run),
            child,
            output,
        })
    }

    /// Waits until the program ends.
    async fn end(&mut self) -> Result<ExitStatus, JobError> {
        Ok(self.child.wait().await?)
    }

    /// Logs the last lines of the program. Returns whether that was all: a process that it started may keep the output
    /// open.
    async fn last_lines(&mut self) -> bool {
        let is_read = async { while self.output.join_next().await.is_some() {} };
        tokio::time::timeout(LAST_LINES, is_read).await.is_ok()
    }

    /// Leaves processes running that the program left in the background when it ended by itself. They go on, and their
    /// output goes to the log as before: an output that is not read any more would kill them.
    async fn leave(mut self) {
        #[cfg(unix)]
        self.tree.release();
        if !self.last_lines().await {
            self.output.detach_all();
        }
    }

    /// Asks the program to end.
    fn terminate(&self) {
        #[cfg(unix)]
        self.tree.terminate();
    }
}

/// How long reading the last lines of a program that ended may take.
const LAST_LINES: Duration = Duration::from_millis(500);

/// Keeps a line in the log of the run. The tasks that read the output are not within the run: what they log is not kept
/// a second time.
fn kept(log: Option<&RunLog>, level: LogLevel, stream: &str, line: &str) {
    if let Some(log) = log {
        log.line(level, stream, line);
    }
}

/// Passes a stream on line by line, whatever its encoding.
async fn forward(stream: impl AsyncRead + Unpin, tell: impl Fn(&str)) {
    use tokio::io::AsyncReadExt;
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while let Ok(1..) = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line).await {
        tell(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
}

async fn elapsed(limit: Option<Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}

fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("it was killed by signal {signal}");
    }
    status.code().map_or_else(|| "it failed".to_owned(), |code| format!("it ended with exit code {code}"))
}

#[cfg(test)]
mod tests;
