//! Some rows of the comparison with Quartz, other ones each time; `cron_vs_quartz` of this package compares more of them.

use std::sync::Arc;

use elasticjob_tests::cron_vs_quartz::compare;
use elasticjob_tests::harness::Harness;
use elasticjob_tests::java_peer::JavaPeer;
use elasticjob_tests::records::now_us;

const ROWS: usize = 500;

/// Adds the tests of this file.
pub fn add_tests(harness: &mut Harness) {
    harness.with_java("random_expressions_fire_when_quartz_fires_them", random_rows);
}

async fn random_rows(peer: Arc<JavaPeer>) {
    let seed = now_us().unsigned_abs();
    eprintln!("cron_vs_quartz --rows {ROWS} --seed {seed}");
    let comparison = compare(&peer, seed, ROWS).expect("Quartz answers");
    let different: Vec<String> = comparison.different.iter().map(ToString::to_string).collect();
    assert!(different.is_empty(), "with seed {seed}:\n{}", different.join("\n"));
    assert!(comparison.alike > ROWS / 2 && comparison.refused > 0, "with seed {seed}: {comparison:?}");
}
