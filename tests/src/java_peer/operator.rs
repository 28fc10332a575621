//! The life-cycle API of the Java release.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::JavaPeer;

/// How long an operation may take, with the start of the process.
const LIMIT: Duration = Duration::from_secs(60);

/// A Java process that operates the jobs of a namespace. It is killed when this is dropped.
#[derive(Debug)]
pub struct JavaOperator {
    process: Child,
    input: ChildStdin,
    /// The lines of its output.
    answers: Receiver<String>,
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
        let (answered, answers) = channel();
        // Ends with the process, or with the caller.
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| answered.send(line)));
        Self { process, input, answers }
    }

    /// Performs an operation and returns its result.
    ///
    /// # Panics
    /// When it fails, or takes for ever.
    pub fn perform(&mut self, operation: &str, operands: &[Option<&str>]) -> Value {
        let words: Vec<Option<&str>> = [Some(operation)].into_iter().chain(operands.iter().copied()).collect();
        let line = serde_json::to_string(&words).expect("words are JSON");
        writeln!(self.input, "{line}").expect("the Java program reads");
        let answer = self.answers.recv_timeout(LIMIT).unwrap_or_else(|error| panic!("{line}: {error}"));
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
