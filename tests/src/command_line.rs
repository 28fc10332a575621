//! An operator who writes commands.

use std::io::Write;

use elasticjob_cli::Console;
use elasticjob_starter::settings::Sources;
use serde_json::Value;

use crate::group::TemporaryFolder;

/// The command line for a namespace.
#[derive(Debug)]
pub struct CommandLine {
    server: String,
    namespace: String,
    /// The trace that the operator's commands belong to.
    caller: Option<String>,
    /// Without settings that would count.
    folder: TemporaryFolder,
}

impl CommandLine {
    /// Commands for a namespace of a ZooKeeper.
    ///
    /// # Panics
    /// When no temporary folder can be made.
    pub fn new(server: String, namespace: impl Into<String>) -> Self {
        let folder = TemporaryFolder::new("command-line").expect("a folder");
        Self { server, namespace: namespace.into(), caller: None, folder }
    }

    /// The same commands for a program that traces to this database.
    ///
    /// # Panics
    /// When the settings cannot be written.
    #[must_use]
    pub fn traced_to(self, url: &str) -> Self {
        let yaml = format!("elasticjob:\n  tracing:\n    type: RDB\n    data-source: {{url: '{url}'}}\n");
        std::fs::write(self.folder.path().join("application.yaml"), yaml).expect("a file");
        self
    }

    /// The same commands in this trace.
    #[must_use]
    pub fn called_by(self, trace_parent: &str) -> Self {
        Self { caller: Some(trace_parent.to_owned()), ..self }
    }

    /// Runs a command; returns its exit code and what it says on the standard error.
    ///
    /// # Panics
    /// When that is no text.
    pub async fn write(&self, arguments: &[&str], stdout: &mut (dyn Write + Send)) -> (u8, String) {
        let environment = [
            ("ELASTICJOB_REG_CENTER_SERVER_LISTS", self.server.as_str()),
            ("ELASTICJOB_REG_CENTER_NAMESPACE", "wrong"),
        ];
        let caller = self.caller.as_deref().map(|caller| ("TRACEPARENT", caller));
        let sources = Sources::in_folder(self.folder.path()).environment(environment.into_iter().chain(caller));
        let arguments = ["elasticjob", "--namespace", &self.namespace].into_iter().chain(arguments.iter().copied());
        let mut stderr = Vec::new();
        let console = Console { stdout, stderr: &mut stderr, is_terminal: false };
        let code = elasticjob_cli::run(arguments, sources, console).await;
        (code, String::from_utf8(stderr).expect("text"))
    }

    /// What a command says that succeeds.
    ///
    /// # Panics
    /// When it fails.
    pub async fn says(&self, arguments: &[&str]) -> String {
        let mut stdout = Vec::new();
        let (code, stderr) = self.write(arguments, &mut stdout).await;
        assert_eq!((code, stderr.as_str()), (0, ""), "{arguments:?}");
        String::from_utf8(stdout).expect("text")
    }

    /// The same, as JSON.
    ///
    /// # Panics
    /// When it fails.
    pub async fn json(&self, arguments: &[&str]) -> Value {
        let text = self.says(&[arguments, &["--json"]].concat()).await;
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// What a command says that fails with a code.
    ///
    /// # Panics
    /// When it does anything else.
    pub async fn fails(&self, code: u8, arguments: &[&str]) -> String {
        let mut stdout = Vec::new();
        let (failed, stderr) = self.write(arguments, &mut stdout).await;
        assert_eq!((failed, stdout), (code, Vec::new()), "{arguments:?}: {stderr}");
        stderr
    }
}
