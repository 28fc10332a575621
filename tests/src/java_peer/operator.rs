//! The life-cycle API of the Java release.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::Value;

use super::JavaPeer;

/// A Java process that operates the jobs of a namespace. It is killed when this is dropped.
#[derive(Debug)]
pub struct JavaOperator {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl JavaOperator {
    /// Starts one. With a digest it authenticates with `user:password`.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start(peer: &JavaPeer, servers: &str, namespace: &str, digest: Option<&str>) -> Self {
        let mut command = peer.command("api");
        command.args([servers, namespace]).args(digest);
        // What it logs is of interest when it fails, and is shown with the output of the test.
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the Java program starts");
        let input = process.stdin.take().expect("its input is a pipe");
        let output = BufReader::new(process.stdout.take().expect("its output is a pipe"));
        Self { process, input, output }
    }

    /// Performs an operation and returns its result.
    ///
    /// # Panics
    /// When it fails.
    pub fn perform(&mut self, operation: &str, operands: &[Option<&str>]) -> Value {
        let words: Vec<Option<&str>> = [Some(operation)].into_iter().chain(operands.iter().copied()).collect();
        let line = serde_json::to_string(&words).expect("words are JSON");
        writeln!(self.input, "{line}").expect("the Java program reads");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("the Java program answers");
        let mut answer: Value =
            serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{line}: {error}: {answer}"));
        assert!(answer["error"].is_null(), "{line}: {answer}");
        answer["done"].take()
    }
}

impl Drop for JavaOperator {
    fn drop(&mut self) {
        // An error says that it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
