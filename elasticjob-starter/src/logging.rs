//! Logging for programs that set up no logging of their own.

mod lossy;
mod run_log;

use std::io::{IsTerminal, Write};

use tracing_subscriber::filter::{EnvFilter, FilterExt, LevelFilter};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use self::lossy::{Lossy, PatientStderr};
pub use self::run_log::RunLogLayer;
use crate::AppError;

/// Filters of the log; the first one that is set counts.
const VARIABLES: [&str; 2] = ["ELASTICJOB_LOG", "RUST_LOG"];

/// The default filter. The library reports the connections of the ZooKeeper client in its own log lines, with their
/// meaning, so the lines of the client are not needed. So does the scheduler of carried jobs with those of the client of Kubernetes, which
/// logs the errors of its requests and returns them, with each attempt and whole answers. What it says of certificates it says nowhere else.
const DEFAULT: &str =
    "info,kube_client::client=off,kube_client::client::tls=warn,kube_runtime=off,zookeeper_client=error";

/// Writes the log to the standard error, filtered by `ELASTICJOB_LOG` or `RUST_LOG`, by default
/// `info,kube_client::client=off,kube_client::client::tls=warn,kube_runtime=off,zookeeper_client=error`.
///
/// A line that cannot be written, because the pipe is closed, the disk is full, or the reader of the pipe reads no more,
/// is lost; jobs go on. The number of lost lines is written before the next line that can be written.
///
/// What jobs log within their runs is kept as well, where `elasticjob.tracing.run-log` asks for it: lines of INFO or above,
/// and those that the filter lets through.
///
/// A program that has set up `tracing` itself keeps its subscriber; it adds [`RunLogLayer`] for the logs of runs. No other function of this library calls this one.
///
/// # Errors
/// [`AppError::LogFilter`] when the variable is not a filter.
pub fn init_logging() -> Result<(), AppError> {
    let filter = || filter(|variable| std::env::var(variable).ok());
    let is_terminal = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(Lossy::new(std::io::stderr()))
        // The subscriber would report such errors on the standard error, which may be the broken output, and panic.
        .log_internal_errors(false)
        .with_ansi(is_terminal)
        .with_filter(filter()?);
    let of_runs = RunLogLayer::new().with_filter(LevelFilter::INFO.or(filter()?));
    // An error means that the program has a subscriber already.
    let _ = tracing_subscriber::registry().with(lines).with(of_runs).try_init();
    Ok(())
}

/// The standard error for what a program says beside its log: a pipe that no process reads, or that is closed, costs
/// lines, and never time.
pub fn patient_stderr() -> impl Write + Send + 'static {
    PatientStderr::by_lines()
}

fn filter(variable: impl Fn(&str) -> Option<String>) -> Result<EnvFilter, AppError> {
    let given = VARIABLES.iter().find_map(|name| Some((*name, variable(name).filter(|filter| !filter.is_empty())?)));
    let Some((variable, filter)) = given else { return Ok(EnvFilter::new(DEFAULT)) };
    EnvFilter::try_new(filter).map_err(|error| AppError::LogFilter { variable, reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_variable_counts_before_the_common_one_and_info_is_the_default() {
        let filter_of = |given: &[(&str, &str)]| {
            let find =
                |name: &str| given.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            filter(find).map(|filter| filter.to_string()).map_err(|error| error.to_string())
        };
        let default = filter_of(&[]).unwrap();
        let parts = [
            "info",
            "kube_client::client=off",
            "kube_client::client::tls=warn",
            "kube_runtime=off",
            "zookeeper_client=error",
        ];
        assert!(parts.iter().all(|part| default.contains(part)), "{default}");
        assert_eq!(filter_of(&[("RUST_LOG", "warn")]).unwrap(), "warn");
        assert_eq!(filter_of(&[("RUST_LOG", "warn"), ("ELASTICJOB_LOG", "debug")]).unwrap(), "debug");
        let error = filter_of(&[("ELASTICJOB_LOG", "loud=very")]).unwrap_err();
        assert!(error.contains("ELASTICJOB_LOG"), "{error}");
    }
}
