//! Groups of real processes that share jobs, and what a test does to them.

mod faults;
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
use crate::fence::SinkWrite;
use crate::observer::Observer;
use crate::proxy::Proxy;
use crate::records::{Expected, Fault, History, ProcessRecords, UNOBSERVED};

/// A program whose processes make up a group.
pub trait Program {
    /// How to start a process that records its runs in a file, and reaches the registry at that address where there is
    /// one.
    fn command(&self, records: &Path, registry: Option<&str>) -> Command;

    /// Where the registry is, when each process is to have a link to it that can be cut.
    fn registry(&self) -> Option<String> {
        None
    }

    /// What a process recorded so far.
    fn records(&self, pid: u32, text: &str) -> ProcessRecords;

    /// What the sink of the processes took.
    fn sink(&self) -> Vec<SinkWrite> {
        vec![]
    }

    /// After how long without a sign of life the session of a process ends.
    fn session_timeout(&self) -> Duration;

    /// Whether a process may be frozen right now: it must hold nothing that others need.
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
    observer: Option<Observer>,
}

#[derive(Debug)]
struct Member {
    process: TestProcess,
    link: Option<Proxy>,
    records: PathBuf,
}

impl<P: Program> Group<P> {
    /// A group without processes.
    pub fn new(program: P) -> Self {
        let folder = TemporaryFolder::new("group").expect("a folder for records and logs");
        Self { program, folder, members: Vec::new(), faults: Vec::new(), observer: None }
    }

    /// The same, with an observer of the registry.
    #[must_use]
    pub fn observed_by(self, observer: Observer) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// Starts one more process and returns its id.
    pub async fn start(&mut self) -> u32 {
        self.start_command(P::command).await
    }

    /// Starts one more process by a command that is made as [`Program::command`] makes it.
    pub async fn start_command(&mut self, command: impl Fn(&P, &Path, Option<&str>) -> Command) -> u32 {
        let number = self.members.len();
        let records = self.folder.path().join(format!("records-{number}"));
        let log = self.folder.path().join(format!("log-{number}"));
        let link = match self.program.registry() {
            Some(registry) => Some(Proxy::start(registry).await.expect("a proxy starts")),
            None => None,
        };
        let address = link.as_ref().map(Proxy::connect_string);
        // Everything that is recorded goes by the id, and the system uses the ids of the dead again.
        let (process, pid) = loop {
            let process = TestProcess::start(command(&self.program, &records, address.as_deref()), log.clone());
            let process = process.expect("the process starts");
            let pid = process.pid();
            if self.members.iter().all(|member| member.process.pid() != pid) {
                break (process, pid);
            }
        };
        self.members.push(Member { process, link, records });
        pid
    }

    /// What the processes recorded and what was done to them so far.
    pub fn history(&self) -> History {
        let mut history = History {
            faults: self.faults.clone(),
            observed: self.observer.as_ref().map(Observer::observed).unwrap_or_default(),
            session_timeout: self.program.session_timeout(),
            ..History::default()
        };
        for member in &self.members {
            let text = fs::read_to_string(&member.records).unwrap_or_default();
            let records = self.program.records(member.process.pid(), &text);
            history.runs.extend(records.runs);
            history.skips.extend(records.skips);
            history.calls.extend(records.calls);
        }
        history
    }

    /// The same, with what the sink took.
    pub fn full_history(&self) -> History {
        History { sink: self.program.sink(), ..self.history() }
    }

    /// Waits until something is to be found in the records.
    ///
    /// # Panics
    /// When it is not there in time, with the logs of all processes.
    pub async fn wait<T>(&self, what: &str, limit: Duration, find: impl Fn(&History) -> Option<T>) -> T {
        let found = self.find(limit, find).await;
        found.unwrap_or_else(|| panic!("{what}: not within {limit:?}\n{}", self.logs()))
    }

    /// Waits for something in the logs, which are written on a thread of their own: a line may come after what it tells of.
    ///
    /// # Panics
    /// When it is not there in time.
    pub async fn wait_logged(&self, said: &str, limit: Duration) {
        self.wait(said, limit, |_| self.logs().contains(said).then_some(())).await;
    }

    /// As [`Self::wait`]; `None` when it is not there in time.
    pub async fn find<T>(&self, limit: Duration, find: impl Fn(&History) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(found) = find(&self.history()) {
                return Some(found);
            }
            if Instant::now() > deadline {
                return None;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits for a fire of a job after `after_ms` of which exactly these processes began all items; returns it.
    ///
    /// # Panics
    /// When there is none in time.
    pub async fn wait_split(&self, job: &str, items: u32, pids: &[u32], after_ms: i64, limit: Duration) -> i64 {
        let mut wanted = pids.to_vec();
        wanted.sort_unstable();
        let find = |history: &History| {
            history.fires(job).into_iter().find(|at| {
                let owners = history.owners(job, *at);
                let mut pids: Vec<u32> = owners.values().copied().collect();
                pids.sort_unstable();
                pids.dedup();
                *at > after_ms && owners.len() == items as usize && pids == wanted
            })
        };
        self.wait(&format!("{items} items split over the processes {pids:?}"), limit, find).await
    }

    /// Waits for the end of a process.
    ///
    /// # Panics
    /// When it does not end in time.
    pub async fn exited(&mut self, pid: u32, limit: Duration) -> ExitStatus {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.exit_status(pid) {
                return status;
            }
            assert!(Instant::now() < deadline, "process {pid} does not end within {limit:?}\n{}", self.logs());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// How a process ended, if it did.
    pub fn exit_status(&mut self, pid: u32) -> Option<ExitStatus> {
        self.member(pid).process.exit_status()
    }

    /// Fails unless all that must hold does, with these fires of a job.
    ///
    /// # Panics
    /// With everything that is wrong, and the logs of all processes.
    pub fn check(&self, expected: Expected) {
        let history = self.full_history();
        let verdict = history.check(&[expected], &[]);
        let mut wrong = verdict.violations();
        let unobserved = verdict.lost_to_fault.get(UNOBSERVED).map(|count| format!("{count} fires: {UNOBSERVED}"));
        wrong.extend(unobserved);
        let all: String = history.runs.iter().map(|run| format!("{run:?}\n")).collect();
        assert!(wrong.is_empty(), "{}\nafter {:?} in\n{all}{}", wrong.join("\n"), history.faults, self.logs());
    }

    /// What the processes logged.
    pub fn logs(&self) -> String {
        let log = |member: &Member| format!("--- process {}\n{}", member.process.pid(), member.process.log());
        self.members.iter().map(log).collect::<Vec<_>>().join("\n")
    }

    /// Where the records and logs of the processes are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends all processes and leaves their records and logs where they are.
    pub fn keep_folder(mut self) -> PathBuf {
        self.members.clear();
        self.folder.keep()
    }

    /// What the processes run.
    pub fn program(&self) -> &P {
        &self.program
    }

    fn member(&mut self, pid: u32) -> &mut Member {
        let member = self.members.iter_mut().find(|member| member.process.pid() == pid);
        member.expect("a process of this group")
    }

    fn process(&mut self, pid: u32) -> &mut TestProcess {
        &mut self.member(pid).process
    }
}
