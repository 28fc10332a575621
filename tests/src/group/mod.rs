//! Groups of real processes that share a job, and what a test does to them.

mod folder;
mod process;
mod worker;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

pub use self::folder::TemporaryFolder;
pub use self::process::TestProcess;
pub use self::worker::WorkerProgram;
use crate::records::{Fault, History, Run, now_us};

/// A program whose processes make up a group.
pub trait Program {
    /// How to start a process that records its runs in a file.
    fn command(&self, records: &Path) -> Command;

    /// The runs that a process recorded so far.
    fn runs(&self, pid: u32, records: &str) -> Vec<Run>;

    /// How long after a process was killed or frozen its items may be without a run.
    fn takeover(&self) -> Duration;

    /// Whether a process may be frozen right now, which holds nothing then that others need.
    fn may_freeze(&self) -> bool {
        true
    }
}

/// Processes of one program. All of them are killed when this is dropped.
#[derive(Debug)]
pub struct Group<P> {
    program: P,
    folder: TemporaryFolder,
    members: Vec<Member>,
    faults: Vec<Fault>,
}

#[derive(Debug)]
struct Member {
    process: TestProcess,
    records: PathBuf,
}

impl<P: Program> Group<P> {
    /// A group without processes.
    pub fn new(program: P) -> Self {
        let folder = TemporaryFolder::new("group").expect("a folder for records and logs");
        Self { program, folder, members: Vec::new(), faults: Vec::new() }
    }

    /// Starts one more process and returns its id.
    pub fn start(&mut self) -> u32 {
        let number = self.members.len();
        let records = self.folder.path().join(format!("records-{number}"));
        let log = self.folder.path().join(format!("log-{number}"));
        let process = TestProcess::start(self.program.command(&records), log).expect("the process starts");
        let pid = process.pid();
        self.members.push(Member { process, records });
        pid
    }

    /// All runs so far.
    pub fn history(&self) -> History {
        let runs = self.members.iter().flat_map(|member| {
            let text = fs::read_to_string(&member.records).unwrap_or_default();
            self.program.runs(member.process.pid(), &text)
        });
        History { runs: runs.collect(), faults: self.faults.clone() }
    }

    /// Waits until something is to be found in the records.
    ///
    /// # Panics
    /// When it is not there in time, with the logs of all processes.
    pub async fn wait<T>(&self, what: &str, limit: Duration, find: impl Fn(&History) -> Option<T>) -> T {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(found) = find(&self.history()) {
                return found;
            }
            assert!(Instant::now() < deadline, "{what}: not within {limit:?}\n{}", self.logs());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits for a fire after `after_ms` of which exactly these processes began all items; returns it.
    ///
    /// # Panics
    /// When there is none in time.
    pub async fn wait_split(&self, items: u32, pids: &[u32], after_ms: i64, limit: Duration) -> i64 {
        let mut wanted = pids.to_vec();
        wanted.sort_unstable();
        let find = |history: &History| {
            history.fires().into_iter().find(|at| {
                let owners = history.owners(*at);
                let mut pids: Vec<u32> = owners.values().copied().collect();
                pids.sort_unstable();
                pids.dedup();
                *at > after_ms && owners.len() == items as usize && pids == wanted
            })
        };
        self.wait(&format!("{items} items split over the processes {pids:?}"), limit, find).await
    }

    /// Kills a process with SIGKILL.
    pub fn kill(&mut self, pid: u32) {
        let from_us = now_us();
        self.process(pid).kill();
        self.note_stop(pid, from_us);
    }

    /// Stops a process where it is with SIGSTOP.
    ///
    /// # Panics
    /// When it does not stop.
    pub fn freeze(&mut self, pid: u32) {
        for _ in 0..50 {
            let from_us = now_us();
            self.process(pid).signal("STOP");
            self.process(pid).wait_frozen();
            if self.program.may_freeze() {
                self.note_stop(pid, from_us);
                return;
            }
            self.process(pid).signal("CONT");
        }
        panic!("process {pid} holds what others need whenever it is frozen\n{}", self.logs());
    }

    /// Lets a frozen process go on; returns the moment before it does.
    pub fn thaw(&mut self, pid: u32) -> i64 {
        let at = now_us();
        self.process(pid).signal("CONT");
        at
    }

    /// Sends a signal that ends a process in good order, and waits for its end.
    ///
    /// # Panics
    /// When it does not end in time.
    pub async fn end(&mut self, pid: u32, signal: &str, limit: Duration) -> ExitStatus {
        self.process(pid).signal(signal);
        self.exited(pid, limit).await
    }

    /// Waits for the end of a process.
    ///
    /// # Panics
    /// When it does not end in time.
    pub async fn exited(&mut self, pid: u32, limit: Duration) -> ExitStatus {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.process(pid).exit_status() {
                return status;
            }
            assert!(Instant::now() < deadline, "process {pid} does not end within {limit:?}\n{}", self.logs());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Notes that the registry was away from a time until now: nothing could begin, and not before all came back.
    pub fn note_outage(&mut self, from_us: i64) {
        self.faults.push(Fault::Outage { from_us, excused_until_us: now_us() + micros(self.program.takeover()) });
    }

    /// Fails unless all that must hold does, over the scheduled seconds after `from_ms` to `until_ms`.
    ///
    /// # Panics
    /// With everything that is wrong, and the logs of all processes.
    pub fn check(&self, items: u32, from_ms: i64, until_ms: i64) {
        let history = self.history();
        let fires = (from_ms / 1_000 + 1..=until_ms / 1_000).map(|second| second * 1_000);
        let wrong = [history.violations(), history.lost(items, fires)].concat();
        let all: String = history.runs.iter().map(|run| format!("{run:?}\n")).collect();
        assert!(wrong.is_empty(), "{}\nafter {:?} in\n{all}{}", wrong.join("\n"), history.faults, self.logs());
    }

    /// What the processes logged.
    pub fn logs(&self) -> String {
        let log = |member: &Member| format!("--- process {}\n{}", member.process.pid(), member.process.log());
        self.members.iter().map(log).collect::<Vec<_>>().join("\n")
    }

    fn process(&mut self, pid: u32) -> &mut TestProcess {
        let member = self.members.iter_mut().find(|member| member.process.pid() == pid);
        &mut member.expect("a process of this group").process
    }

    fn note_stop(&mut self, pid: u32, from_us: i64) {
        let at_us = now_us();
        let excused_until_us = at_us + micros(self.program.takeover());
        self.faults.push(Fault::Stopped { pid, from_us, at_us, excused_until_us });
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
