//! `SCRIPT`: an item is a run of a program.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tracing::{info, warn};

use super::command_line::split;
use super::context_json::context_json;
#[cfg(unix)]
use super::process_group::ProcessGroup;
use crate::api::{JobError, JobResult, ShardingContext, TypedJobItemExecutor};
use crate::config::{Invalid, JobConfiguration, Options};

/// Its name.
pub const SCRIPT: &str = "SCRIPT";
/// What is run. Required.
const COMMAND_LINE: &str = "script.command.line";
/// After how long it is stopped. Java has no such limit.
const TIMEOUT: &str = "script.timeout.milliseconds";

/// A line of output that is longer than this is cut into several.
const LONGEST_LINE: u64 = 8 * 1024;

/// How long a program that took too long may take to end in order: the longest that a run has which is cut off.
const GRACE: Duration = Duration::from_secs(5);

/// Runs programs.
pub(super) struct Script;

impl TypedJobItemExecutor for Script {
    fn type_name(&self) -> &str {
        SCRIPT
    }

    fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        ScriptOptions::read(configuration).err().unwrap_or_default()
    }

    async fn process(&self, context: ShardingContext) -> JobResult {
        let ScriptOptions { line, words, timeout } =
            ScriptOptions::read(context.configuration()).map_err(JobError::settings)?;
        let mut running = Running::start(&words, &context)?;
        let ended = tokio::select! {
            status = running.end() => status?,
            () = elapsed(timeout) => {
                running.terminate();
                let has_ended = tokio::time::timeout(GRACE, running.end()).await.is_ok();
                let how = if has_ended { "terminated" } else { "killed" };
                let limit = timeout.unwrap_or_default().as_millis();
                return Err(JobError::message(format!("'{line}' was {how}: it ran for more than {limit} ms")));
            }
            () = context.cancelled() => {
                running.terminate();
                // It may end in order until the run is dropped.
                running.end().await?;
                return Err(JobError::message(format!("'{line}' was cut off")));
            }
        };
        if ended.success() { Ok(()) } else { Err(JobError::message(format!("'{line}': {}", describe(ended)))) }
    }
}

/// What is run.
struct ScriptOptions<'a> {
    line: &'a str,
    words: Vec<String>,
    timeout: Option<Duration>,
}

impl<'a> ScriptOptions<'a> {
    fn read(configuration: &'a JobConfiguration) -> Result<Self, Vec<Invalid>> {
        let mut options = Options::of(configuration, "a job of type SCRIPT");
        let line = options.required(&[COMMAND_LINE], "/opt/backup/run.sh --full");
        let words = split(line).unwrap_or_else(|why| {
            if !line.is_empty() {
                options.wrong(COMMAND_LINE, format!("'{line}': {why}"));
            }
            Vec::new()
        });
        let timeout = options.milliseconds_if_given(&[TIMEOUT]);
        options.end(Self { line, words, timeout })
    }
}

/// A program that runs. Killed when this is dropped, with all that it started.
struct Running {
    child: Child,
    #[cfg(unix)]
    group: ProcessGroup,
    output: tokio::task::JoinSet<()>,
}

impl Running {
    fn start(words: &[String], context: &ShardingContext) -> Result<Self, JobError> {
        let (program, arguments) = words.split_first().ok_or_else(|| JobError::message("no program is named"))?;
        let mut command = Command::new(program);
        command.args(arguments).arg(context_json(context));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child =
            command.spawn().map_err(|error| JobError::message(format!("'{program}' cannot be started: {error}")))?;
        let mut output = tokio::task::JoinSet::new();
        if let Some(stdout) = child.stdout.take() {
            let context = context.clone();
            output.spawn(forward(stdout, move |line| {
                info!(job = %context.job_name(), item = context.sharding_item(), "{line}");
            }));
        }
        if let Some(stderr) = child.stderr.take() {
            let context = context.clone();
            output.spawn(forward(stderr, move |line| {
                warn!(job = %context.job_name(), item = context.sharding_item(), "{line}");
            }));
        }
        Ok(Self {
            #[cfg(unix)]
            group: ProcessGroup::of(child.id()),
            child,
            output,
        })
    }

    /// Waits for its end, and for the end of what it writes.
    async fn end(&mut self) -> Result<ExitStatus, JobError> {
        let status = self.child.wait().await?;
        // What it left running in the background keeps its output open: it is not waited for, and ends with this.
        let _ = tokio::time::timeout(LAST_LINES, async { while self.output.join_next().await.is_some() {} }).await;
        Ok(status)
    }

    /// Asks it to end.
    fn terminate(&self) {
        #[cfg(unix)]
        self.group.terminate();
    }
}

/// How long the last lines of a program that ended may take.
const LAST_LINES: Duration = Duration::from_millis(500);

/// Hands on a stream line by line, whatever its encoding.
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
