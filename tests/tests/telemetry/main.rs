//! Tests of what programs tell others about themselves: metrics, as Prometheus reads them, and traces in databases.

#[cfg(all(feature = "databases", feature = "cloud"))]
mod carried_jobs;
#[cfg(feature = "databases")]
mod databases;
#[cfg(all(feature = "metrics", feature = "console"))]
mod prometheus;
#[cfg(all(feature = "metrics", feature = "console"))]
mod server;

use std::process::ExitCode;

use elasticjob_tests::harness::Harness;

fn main() -> ExitCode {
    let mut harness = Harness::new();
    prometheus::add_tests(&mut harness);
    databases::add_tests(&mut harness);
    harness.run()
}

/// Built without them: what is left out is still said.
#[cfg(not(all(feature = "metrics", feature = "console")))]
mod prometheus {
    pub fn add_tests(harness: &mut elasticjob_tests::harness::Harness) {
        let missing = "run it with `--features metrics,console`, or all tests with tests/run".to_owned();
        harness.with_service("promtool", Some(missing), "prometheus::all", async || ());
    }
}

/// Built without the drivers: what is left out is still said.
#[cfg(not(feature = "databases"))]
mod databases {
    pub fn add_tests(harness: &mut elasticjob_tests::harness::Harness) {
        for kind in ["sqlite", "postgresql", "mariadb"] {
            let missing = "run it with `--features databases`, or all tests with tests/run".to_owned();
            harness.with_service(kind, Some(missing), format!("{kind}::all"), async || ());
        }
    }
}
