//! The registry: both back ends keep to the same rules, and ZooKeeper where things go wrong, also over TLS.
//!
//! This program is both: the tests, and with a variable of the environment the process under test.

mod conformance;
mod differential;
mod log_secrets;
#[cfg(feature = "zookeeper-tls")]
mod tls;
mod zookeeper;

use std::process::ExitCode;

use elasticjob_tests::harness::Harness;

fn main() -> ExitCode {
    if let Some(code) = play() {
        return code;
    }
    let mut harness = Harness::new();
    conformance::add_tests(&mut harness);
    differential::add_tests(&mut harness);
    zookeeper::add_tests(&mut harness);
    log_secrets::add_tests(&mut harness);
    with_tls(harness)
}

/// Plays the process under test, where this is one.
fn play() -> Option<ExitCode> {
    #[cfg(feature = "zookeeper-tls")]
    let played = log_secrets::play().or_else(tls::play);
    #[cfg(not(feature = "zookeeper-tls"))]
    let played = log_secrets::play();
    played
}

#[cfg(feature = "zookeeper-tls")]
fn with_tls(mut harness: Harness) -> ExitCode {
    let _kept = tls::add_tests(&mut harness);
    harness.run()
}

/// Built without the library: what is left out is still said.
#[cfg(not(feature = "zookeeper-tls"))]
fn with_tls(mut harness: Harness) -> ExitCode {
    let missing = "run it with `--features zookeeper-tls`, or all tests with tests/run".to_owned();
    harness.with_service("tls", Some(missing), "tls::all", async || ());
    harness.run()
}
