//! The program `chaos`: a group lives through faults, and what is wrong with a group is found.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use elasticjob_tests::harness::Harness;
use elasticjob_tests::java_peer::JavaPeer;
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::Value;

/// Adds the tests of this file.
pub fn add_tests(harness: &mut Harness) {
    harness.beside_zookeeper("a_group_of_three_lives_through_a_minute_of_faults", lives_through_faults);
    harness.beside_java("rust_instances_keep_their_promises_beside_java_ones_under_faults", lives_beside_java);
    harness.beside_zookeeper("an_item_that_is_run_twice_behind_the_engines_back_is_found", finds_a_double_run);
    harness.beside_zookeeper("an_item_that_is_left_out_behind_the_engines_back_is_found", finds_a_lost_run);
    harness.test("wrong_usage_is_told", tells_wrong_usage);
}

async fn lives_through_faults() {
    let output = chaos(&["--minutes", "1", "--instances", "3", "--seed", "3"]).await;
    let (line, all) = told(&output);
    assert_eq!(output.status.code(), Some(0), "{all}");
    for none in ["overlaps", "begun_twice", "lost"] {
        assert_eq!(line[none], 0, "{all}");
    }
    let number = |key: &str| line[key].as_u64().unwrap_or_else(|| panic!("{key} is no number: {all}"));
    assert_eq!(number("fires"), number("begun") + number("explained") + number("lost_to_fault"), "{all}");
    let reasons = |kind: &str| {
        let counts = line["reasons"][kind].as_object().unwrap_or_else(|| panic!("no reasons, {kind}: {all}"));
        counts.values().filter_map(Value::as_u64).sum::<u64>()
    };
    assert_eq!(reasons("explained"), number("explained"), "{all}");
    assert_eq!(reasons("lost_to_fault"), number("lost_to_fault"), "{all}");
    assert!(number("not_looked_at") <= number("lost_to_fault"), "{all}");
    assert!(number("begun") > 200, "it goes on between the faults: {all}");
    let faults = line["faults"].as_object().expect("faults by kind");
    assert!(faults.len() >= 6, "{all}");
    assert!(line["takeover_ms"]["p99"].is_f64(), "{all}");
}

async fn lives_beside_java(_: Arc<ZookeeperServer>, _: Arc<JavaPeer>) {
    let output = chaos(&["--minutes", "0.7", "--instances", "4", "--java", "2", "--seed", "3"]).await;
    let (line, all) = told(&output);
    assert_eq!(output.status.code(), Some(0), "{all}");
    assert!(line["begun"].as_u64() > Some(100), "it goes on between the faults: {all}");
    let beside_java = line["beside_java"].as_object().expect("what Java did by its name");
    let of_rust = |name: &&String| matches!(name.as_str(), "twice_rust_after_rust" | "overlap_rust_rust");
    assert_eq!(beside_java.keys().find(of_rust), None, "{all}");
}

async fn finds_a_double_run() {
    let all = finds("double-run", "begun_twice").await;
    assert!(all.contains("a fire of an item was begun twice: Run {"), "{all}");
}

async fn finds_a_lost_run() {
    let all = finds("lost-run", "lost").await;
    assert!(all.contains("and its owner could"), "{all}");
}

/// A bug of the workers is found, counted under a name, and the records are kept; returns everything that was said.
async fn finds(bug: &str, counted: &str) -> String {
    let output = chaos(&["--minutes", "0.05", "--bug", bug]).await;
    let (line, all) = told(&output);
    assert_eq!(output.status.code(), Some(1), "{all}");
    assert!(line[counted].as_u64() > Some(0), "{all}");
    let folder = all.lines().find_map(|line| line.strip_prefix("records, logs and faults: "));
    let folder = folder.unwrap_or_else(|| panic!("no folder is named: {all}"));
    for kept in ["records-0", "log-0", "history.json"] {
        assert!(fs::exists(format!("{folder}/{kept}")).is_ok_and(|there| there), "{kept} is not in {folder}");
    }
    fs::remove_dir_all(folder).expect("the folder can be removed");
    all
}

async fn tells_wrong_usage() {
    for wrong in [
        &[][..],
        &["--minutes", "0"],
        &["--minutes", "1", "--instances", "7"],
        &["--moon", "full"],
        &["--minutes", "1", "--java", "4"],
    ] {
        let output = chaos(wrong).await;
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {told}");
        assert!(told.contains("usage: chaos --minutes M"), "{wrong:?}: {told}");
    }
}

async fn chaos(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chaos"));
    command.args(arguments).stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output()).await.expect("it does not panic");
    output.expect("chaos can be started")
}

/// The line of numbers, and everything that was said.
fn told(output: &Output) -> (Value, String) {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let all = format!("{stdout}{}", String::from_utf8_lossy(&output.stderr));
    let line = stdout.lines().last().unwrap_or_default();
    (serde_json::from_str(line).unwrap_or_else(|error| panic!("the last line is no JSON, {error}:\n{all}")), all)
}
