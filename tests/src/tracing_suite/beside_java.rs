//! Tables that the Java release made, wrote to and reads.

use std::process::Stdio;

use elasticjob::trace::{TaskState, TracingStorage};
use serde_json::{Value, json};

use super::events::{end, execution, start, state, status};
use super::tables::open;
use crate::databases::Database;
use crate::java_peer::JavaPeer;

/// Java makes the tables of its release, Rust writes to them, Java reads the rows of both with its own statements, and
/// writes on.
pub async fn java_reads_and_writes_the_same_tables(database: Database, peer: &JavaPeer) {
    java(&database, peer, "write", "java");
    let storage = open(&database).await;
    let failed = end("ends", Some("no disk"));
    let task = failed.task_id.as_str().to_owned();
    storage
        .write(&[
            execution(start("ends")),
            execution(failed),
            execution(end("well", None)),
            status(state("first", TaskState::Staging)),
            status(state("then", TaskState::Error)),
        ])
        .await
        .expect("it is written");
    java(&database, peer, "write", "java");

    let read = java(&database, peer, "read", &task);
    let of = |rows: &Value, column: &str| -> Vec<Value> {
        rows.as_array().expect("rows").iter().map(|row| row[column].clone()).collect()
    };
    // Java reads them in any order.
    let states = read["states"].as_array().expect("rows");
    let by_id = |id: &str| states.iter().find(|row| row["id"] == id).unwrap_or(&Value::Null);
    assert_eq!(states.len(), 2, "{read}");
    assert_eq!((&by_id("first")["state"], &by_id("then")["state"]), (&json!("TASK_STAGING"), &json!("TASK_ERROR")));
    for (column, value) in [
        ("jobName", "settle"),
        ("slaveId", "192.0.2.2"),
        ("source", "LITE_EXECUTOR"),
        ("executionType", "READY"),
        ("shardingItems", "[3, 4]"),
    ] {
        assert_eq!(by_id("first")[column], value, "{column}: {read}");
    }
    let executions = &read["executions"];
    assert_eq!(of(executions, "id"), ["ends", "well"], "{read}");
    assert_eq!(of(executions, "failure_cause"), [json!("no disk"), Value::Null], "{read}");
    assert_eq!(of(executions, "execution_source"), ["NORMAL_TRIGGER", "NORMAL_TRIGGER"], "{read}");
    for (row, well) in [(0, false), (1, true)] {
        let success = &executions[row]["is_success"];
        assert!(*success == json!(well) || *success == json!(i32::from(well)), "{read}");
        assert_ne!(executions[row]["complete_time"], Value::Null, "{read}");
    }

    let read = java(&database, peer, "read", "java");
    assert_eq!(of(&read["states"], "message"), ["text", "text"], "{read}");
    assert_eq!(read["executions"].as_array().map(Vec::len), Some(2), "{read}");
}

/// What it prints, which is nothing for `write`.
fn java(database: &Database, peer: &JavaPeer, operation: &str, task: &str) -> Value {
    let mut command = peer.command("tracing");
    command.args(database.jdbc().expect("a server")).args([operation, task]).stdin(Stdio::null());
    let output = command.output().expect("the Java program starts");
    let (told, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{operation} {task}: {log}");
    let last = told.lines().last().unwrap_or("null");
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{operation} {task}: {error}: {told}{log}"))
}
