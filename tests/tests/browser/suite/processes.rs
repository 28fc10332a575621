//! The processes beside the test: one with jobs that are traced, and `elasticjob console`.

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use elasticjob_cli::Console;
use elasticjob_starter::RunLogLayer;
use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::prelude::*;

/// What the error of [`failing`] holds: it has to be shown as text.
pub const ERROR: &str = "the file <b>is not</b> there <script>document.title = 'owned'</script>";

/// It fires at a time that has not come when the test looks at it.
#[elastic_job(
    cron = "0 0 3 * * ?",
    time_zone = "Asia/Shanghai",
    sharding_total_count = 3,
    description = "closes the books 关账"
)]
async fn nightly(_: ShardingContext) {}

#[elastic_job(cron = "* * * * * ?", sharding_total_count = 2)]
async fn settle(_: ShardingContext) {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

#[elastic_job(cron = "* * * * * ?", sharding_total_count = 1)]
async fn failing(_: ShardingContext) -> JobResult {
    Err(JobError::message(ERROR))
}

/// A chain: `feed_report` runs after two others, and `feed_ledger` is skipped each time.
#[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 2)]
async fn feed(_: ShardingContext) {}

#[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 1)]
async fn feed_check(_: ShardingContext) -> JobResult {
    Err(JobError::message("two lines of the feed are the same"))
}

#[elastic_job(depends_on = ["feed", "feed_check when failed"], sharding_total_count = 3)]
async fn feed_report(_: ShardingContext) {}

#[elastic_job(depends_on = ["feed_check"], sharding_total_count = 1)]
async fn feed_ledger(_: ShardingContext) {}

/// How many lines a run of [`archive`] logs, one after the other.
pub const LINES: u32 = 12;

/// It never fires by itself, and takes some seconds.
#[elastic_job(cron = "0 0 4 1 1 ?", sharding_total_count = 1)]
async fn archive(_: ShardingContext) {
    for line in 1..=LINES {
        tracing::info!(rows = line * 100, "part {line} of {LINES} <b>is</b> archived");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// How to start the process with the jobs, with the settings of a folder.
pub fn jobs(folder: &Path) -> Command {
    itself("as-jobs", folder)
}

/// How to start `elasticjob console` with the settings of a folder.
pub fn console(folder: &Path) -> Command {
    itself("as-console", folder)
}

/// How to start `elasticjob cloud` with the settings of a folder.
pub fn cloud(folder: &Path) -> Command {
    itself("as-cloud", folder)
}

fn itself(role: &str, folder: &Path) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program has a path"));
    command.arg(role).arg(folder).stdout(Stdio::null());
    command
}

/// Runs one of them where the arguments say so.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = env::args().skip(1);
    let (role, folder) = (arguments.next()?, arguments.next());
    if !role.starts_with("as-") {
        return None;
    }
    let folder = folder.expect("a folder with settings");
    let work = format!("{folder}/work");
    let sources = Sources::in_folder(folder);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime starts");
    Some(runtime.block_on(async {
        match role.as_str() {
            "as-console" => command(&["console"], sources).await,
            "as-cloud" => command(&["cloud", "--carrier", "process", "--work", &work], sources).await,
            _ => run_jobs(sources).await,
        }
    }))
}

/// Runs a command of the command line.
async fn command(arguments: &[&str], sources: Sources) -> ExitCode {
    let (mut stdout, mut stderr) = (std::io::stdout(), std::io::stderr());
    let terminal = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
    let all = ["elasticjob"].iter().chain(arguments).copied();
    ExitCode::from(elasticjob_cli::run(all, sources, terminal).await)
}

async fn run_jobs(sources: Sources) -> ExitCode {
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    tracing_subscriber::registry().with(lines).with(RunLogLayer::new()).with(LevelFilter::INFO).init();
    let ended = async { ElasticJobApp::builder().sources(sources).start().await?.until_shutdown().await };
    match ended.await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let error: AppError = error;
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
