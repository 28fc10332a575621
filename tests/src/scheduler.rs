//! Schedulers of carried jobs as processes, with their REST API.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::frozen::wait_frozen;

/// The session of a scheduler: a short one, so that others take over soon.
const SESSION_TIMEOUT: Duration = Duration::from_secs(2);

/// How schedulers are started.
#[derive(Debug, Clone)]
pub struct SchedulerProgram {
    /// The program `scheduler`.
    pub binary: PathBuf,
    /// The connect string of ZooKeeper; empty for the embedded registry.
    pub zookeeper: String,
    /// The namespace, which is also a name for its folder.
    pub namespace: String,
    /// The folder that all schedulers work in.
    pub folder: PathBuf,
    /// The carrier and its options.
    pub carrier: Vec<String>,
}

/// A scheduler, killed with SIGKILL when it is dropped.
#[derive(Debug)]
pub struct SchedulerProcess {
    process: Child,
    address: String,
}

impl SchedulerProgram {
    /// Starts a scheduler and waits until its API listens.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start(&self) -> SchedulerProcess {
        std::fs::create_dir_all(&self.folder).expect("a folder");
        let mut command = Command::new(&self.binary);
        command.args(["--server-lists", &self.zookeeper, "--namespace", &self.namespace]);
        command.args(["cloud", "--no-authentication", "--listen", "127.0.0.1:0", "--work"]);
        command.arg(self.folder.join("work")).args(&self.carrier).current_dir(&self.folder);
        let timeout = SESSION_TIMEOUT.as_millis().to_string();
        command.env("ELASTICJOB_REG_CENTER_SESSION_TIMEOUT_MILLISECONDS", timeout);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the scheduler starts");
        let mut lines = BufReader::new(process.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
        let mut log = File::options().create(true).append(true).open(self.log()).expect("a log");
        let mut said = String::new();
        let address = lines.by_ref().find_map(|line| {
            said.push_str(&line);
            said.push('\n');
            line.strip_prefix("the console is at http://").map(|url| url.trim_end_matches('/').to_owned())
        });
        let address = address.unwrap_or_else(|| panic!("it does not listen:\n{said}"));
        // A pipe that is full would stop the scheduler.
        std::thread::spawn(move || lines.for_each(|line| drop(writeln!(log, "{line}"))));
        SchedulerProcess { process, address }
    }

    fn log(&self) -> PathBuf {
        self.folder.join("schedulers.log")
    }

    /// What the schedulers wrote.
    pub fn logs(&self) -> String {
        std::fs::read_to_string(self.log()).unwrap_or_default()
    }

    /// An application whose program is this script; `$DIR` is the folder.
    ///
    /// # Panics
    /// When the script cannot be written.
    pub fn app(&self, name: &str, script: &str) -> Value {
        let file = self.folder.join(format!("{name}.sh"));
        std::fs::write(&file, format!("#!/bin/sh\nDIR={}\n{script}\n", self.folder.display())).expect("a script");
        json!({ "appName": name, "appURL": format!("file://{}", file.display()), "bootstrapScript": format!("./{name}.sh"),
                "cpuCount": 0, "memoryMB": 16 })
    }

    /// The lines that items wrote into a file of the folder.
    pub fn lines(&self, file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(Path::new(&self.folder).join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// How many lines of the file `runs` begin with this text, such as `begun`.
    pub fn noted(&self, text: &str) -> usize {
        self.lines("runs").iter().filter(|line| line.starts_with(text)).count()
    }
}

impl SchedulerProcess {
    /// The status and the body of an answer.
    ///
    /// # Errors
    /// When the scheduler does not answer.
    pub fn call(&self, method: &str, path: &str, body: &str) -> io::Result<(u16, String)> {
        let mut stream = TcpStream::connect(&self.address)?;
        let length = body.len();
        write!(stream, "{method} {path} HTTP/1.0\r\nHost: {}\r\nContent-Length: {length}\r\n\r\n{body}", self.address)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let parts = answer.split_once("\r\n\r\n");
        let parts = parts.and_then(|(head, body)| Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned())));
        parts.ok_or_else(|| io::Error::other(format!("'{answer}' is no answer")))
    }

    /// Gives a command that succeeds.
    ///
    /// # Panics
    /// When it does not.
    pub fn done(&self, method: &str, path: &str, body: &str) {
        let answer = self.call(method, path, body).expect("the scheduler answers");
        assert_eq!(answer, (200, "true".to_owned()), "{method} {path} {body}");
    }

    /// Registers an application and a job.
    ///
    /// # Panics
    /// When they are refused.
    pub fn register(&self, app: &Value, job: &Value) {
        self.done("POST", "/api/app", &app.to_string());
        self.done("POST", "/api/job/register", &job.to_string());
    }

    /// How many entries its list of what runs has; 0 where it does not answer.
    pub fn listed(&self) -> usize {
        let (_, tasks) = self.call("GET", "/api/job/tasks/running", "").unwrap_or_default();
        serde_json::from_str::<Vec<Value>>(&tasks).unwrap_or_default().len()
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Stops it where it is with SIGSTOP.
    ///
    /// # Panics
    /// When it does not stop.
    pub fn freeze(&self) {
        self.signal("STOP");
        wait_frozen(self.id()).expect("the scheduler stops");
    }

    /// Lets it go on after [`SchedulerProcess::freeze`].
    ///
    /// # Panics
    /// When it is gone.
    pub fn thaw(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.id().to_string()).status();
        assert!(status.is_ok_and(|status| status.success()), "kill -{name} {}", self.id());
    }

    /// Whether it was killed, or has ended.
    ///
    /// # Panics
    /// When the system does not say so.
    pub fn is_gone(&mut self) -> bool {
        self.process.try_wait().expect("the system says so").is_some()
    }
}

impl Drop for SchedulerProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
