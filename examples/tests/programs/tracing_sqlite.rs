//! The example of tracing.

use crate::example::Example;

#[test]
fn what_became_of_each_item_stands_in_a_file() {
    let example = Example::start("tracing_sqlite", env!("CARGO_BIN_EXE_tracing_sqlite"), &[]);
    example.wait("all items", |_, log| {
        let settled = ["Beijing", "Shanghai"].iter().all(|region| log.contains(&format!("{region} is settled")));
        settled && log.contains("the ledger of Guangzhou is closed")
    });
    let database = example.folder().join("elasticjob-trace.db");
    assert!(database.is_file(), "{}", database.display());
    let log = example.end();
    let counts = log.lines().find(|line| line.ends_with(" events were written, 0 lost"));
    let counts = counts.unwrap_or_else(|| panic!("{log}"));
    let written = counts.trim_end_matches(" events were written, 0 lost").rsplit(' ').next().unwrap_or_default();
    assert!(written.parse::<u64>().is_ok_and(|written| written >= 6), "{counts}");
}
