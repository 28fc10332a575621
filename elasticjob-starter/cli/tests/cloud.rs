//! `elasticjob cloud` as a process: registrations by REST, and kill -9 in the midst of a run.

#![cfg(all(feature = "cloud", unix))]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A scheduler, killed when it is dropped.
struct Scheduler {
    process: Child,
    address: String,
    /// Reads what it says after its address.
    rest: Option<JoinHandle<Vec<String>>>,
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Scheduler {
    fn start(folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_elasticjob"));
        command.args(["cloud", "--carrier", "process", "--no-authentication", "--listen", "127.0.0.1:0"]);
        command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let url = lines.find_map(|line| line.unwrap().strip_prefix("the console is at http://").map(str::to_owned));
        // Read to the end: a pipe that is full would stop the scheduler.
        let rest = std::thread::spawn(move || lines.map_while(Result::ok).collect());
        Self { process, address: url.unwrap().trim_end_matches('/').to_owned(), rest: Some(rest) }
    }

    /// The status and the body of an answer.
    fn call(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        write!(stream, "{method} {path} HTTP/1.0\r\nHost: {}\r\nContent-Length: {length}\r\n\r\n{body}", self.address)
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn done(&self, method: &str, path: &str, body: &str) {
        assert_eq!(self.call(method, path, body), (200, "true".to_owned()), "{method} {path}");
    }

    /// Triggers the job as soon as it is scheduled.
    fn trigger(&self, job: &str) {
        until("triggered", || self.call("POST", "/api/job/trigger", job).0 == 200);
    }
}

fn until(what: &str, mut is: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is() {
        assert!(started.elapsed() < Duration::from_secs(60), "not within 60 s: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A fresh folder, with a script `name.sh` in it.
fn folder(name: &str, script: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("work.sh"), format!("#!/bin/sh\ncd {}\n{script}\n", folder.display())).unwrap();
    folder
}

fn register(scheduler: &Scheduler, folder: &Path) {
    let app = format!(
        r#"{{"appName":"work","appURL":"file://{}/work.sh","bootstrapScript":"./work.sh","cpuCount":0,"memoryMB":16}}"#,
        folder.display()
    );
    scheduler.done("POST", "/api/app", &app);
    let job = r#"{"jobName":"work","appName":"work","jobExecutionType":"TRANSIENT","cpuCount":0.1,"memoryMB":32,
                  "shardingTotalCount":1,"gracePeriodSeconds":1}"#;
    scheduler.done("POST", "/api/job/register", job);
}

fn lines(file: &Path) -> Vec<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn a_scheduler_that_was_killed_keeps_its_registrations_and_no_run_overlaps_the_one_that_it_left() {
    let script = "echo begun >>runs; while [ ! -e end ]; do sleep 0.05; done; echo ended >>runs";
    let folder = folder("killed", script);
    let runs = folder.join("runs");
    let first = Scheduler::start(&folder);
    register(&first, &folder);
    first.trigger("work");
    until("it runs", || lines(&runs) == ["begun"]);
    drop(first);

    let second = Scheduler::start(&folder);
    let (_, jobs) = second.call("GET", "/api/job/jobs", "");
    assert!(jobs.contains(r#""jobName":"work""#), "{jobs}");
    second.trigger("work");
    until("the next run waits for the one that goes on", || {
        second.call("GET", "/api/job/tasks/ready", "").1.contains("has not ended")
    });
    assert_eq!(lines(&runs), ["begun"]);
    fs::write(folder.join("end"), "").unwrap();
    until("both have ended", || lines(&runs).iter().filter(|line| *line == "ended").count() == 2);
    assert_eq!(lines(&runs), ["begun", "ended", "begun", "ended"]);
}

#[test]
fn with_the_embedded_registry_a_shutdown_ends_what_runs() {
    let folder =
        folder("left", "echo begun >>runs; trap 'echo stopped >>runs; exit 1' TERM; while :; do sleep 0.05; done");
    let runs = folder.join("runs");
    let mut scheduler = Scheduler::start(&folder);
    register(&scheduler, &folder);
    scheduler.trigger("work");
    until("it runs", || lines(&runs) == ["begun"]);
    let asked = Command::new("kill").arg(scheduler.process.id().to_string()).status().unwrap();
    assert!(asked.success());
    assert!(scheduler.process.wait().unwrap().success());
    assert_eq!(lines(&runs), ["begun", "stopped"]);
    let said = scheduler.rest.take().unwrap().join().unwrap().join("\n");
    assert!(!said.contains("log in as"), "where no login is asked for none is told: {said}");
}

#[test]
fn nobody_lets_other_hosts_run_commands_without_a_login() {
    let folder = folder("open", "true");
    let mut command = Command::new(env!("CARGO_BIN_EXE_elasticjob"));
    command.args(["cloud", "--no-authentication", "--listen", "0.0.0.0:0"]).current_dir(&folder);
    // A user, so that the console would listen there.
    let hash = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$v6nJ0tVYxqbGDYuHn2eqE3KQvYsAy9tqz7nqqzWkIJo";
    command.env("ELASTICJOB_CONSOLE_USERS_ROOT_PASSWORD_HASH", hash).env("ELASTICJOB_CONSOLE_USERS_ROOT_ROLE", "admin");
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("0.0.0.0"), "{told}");
}

/// The exit code of a scheduler with these arguments, which does not start, and what it says.
#[cfg(any(feature = "kubernetes", feature = "slurm"))]
fn refused(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elasticjob"));
    let output = command.args(["cloud", "--no-authentication"]).args(arguments).current_dir(folder).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[cfg(feature = "kubernetes")]
#[test]
fn options_of_processes_are_refused_by_name_where_pods_run_items() {
    let folder = folder("options-of-pods", "true");
    for [option, value] in [["--cpus", "4"], ["--memory", "64"], ["--memory-limit", "off"]] {
        let (code, told) = refused(&folder, &["--carrier", "kubernetes", option, value]);
        assert!(code == Some(2) && told.contains(&format!("{option} is for --carrier process")), "{code:?} {told}");
    }
    let (code, told) = refused(&folder, &["--carrier", "kubernetes", "--package-limit", "64"]);
    assert!(code == Some(2) && told.contains("--package-limit is for --carrier process and slurm"), "{code:?} {told}");
}

#[cfg(feature = "slurm")]
#[test]
fn options_of_another_carrier_are_refused_by_name() {
    let folder = folder("options", "true");
    let said = |arguments: &[&str]| refused(&folder, arguments);
    let (code, told) = said(&["--carrier", "slurm"]);
    assert!(code == Some(2) && told.contains("--carrier slurm needs --work DIR"), "{code:?} {told}");
    assert!(!folder.join("elasticjob-cloud").exists());
    let (code, told) = said(&["--carrier", "slurm", "--work", "shared", "--cpus", "4"]);
    assert!(code == Some(2) && told.contains("--cpus is for --carrier process"), "{code:?} {told}");
    let (code, told) = said(&["--slurm-conf", "slurm.conf"]);
    assert!(code == Some(2) && told.contains("--slurm-conf is for --carrier slurm"), "{code:?} {told}");
    let (code, told) = said(&["--carrier", "slurm", "--work", "shared", "--slurm-commands", "/no/such/folder"]);
    assert!(code == Some(1) && told.contains("/no/such/folder/scontrol"), "{code:?} {told}");
    let (code, told) = said(&["--carrier", "slurm", "--work", "shared", "--slurm-conf", "/no/such/slurm.conf"]);
    assert!(code == Some(1) && told.contains("/no/such/slurm.conf, cannot be read"), "{code:?} {told}");
}
