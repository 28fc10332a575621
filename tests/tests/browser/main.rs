//! The web console in a real Chromium, beside a real ZooKeeper, jobs that run, and traces in PostgreSQL.

use std::process::ExitCode;

#[cfg(all(feature = "console", feature = "databases"))]
mod suite;

#[cfg(all(feature = "console", feature = "databases"))]
fn main() -> ExitCode {
    suite::run()
}

/// Built without them: what is left out is still said.
#[cfg(not(all(feature = "console", feature = "databases")))]
fn main() -> ExitCode {
    let mut harness = elasticjob_tests::harness::Harness::new();
    let missing = "run it with `--features console,databases`, or all tests with tests/run".to_owned();
    harness.with_service("chromium", Some(missing), "all", async || ());
    harness.run()
}
