//! The folder of a process: what its keeper wrote there, and the lock that says whether the keeper lives.
//!
//! The lock is the truth. The kernel takes it from a process that ends, however it ends, and gives it to no other one. A
//! process id that was written down may belong to another process by now, so it is used only while the lock is held.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, UNIX_EPOCH};

use elasticjob::carried::FAILURE;
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use tokio::process::{Child, Command};

use super::memory::{Limit, Memory};
use crate::carrier::{LostPlace, Outcome, Stop, StopCause, digest};
use crate::files::{INHERITED, MOST_OUTPUT, last_words, log, misses_memory, rotate, text_of, write_first, write_whole};

/// The script that keeps a process.
const KEEPER: &str = include_str!("keeper.sh");

/// The file that says that the address space of the process is limited.
const ADDRESS_SPACE: &str = "address-space";

/// The file that says that a scheduler let go of the item before it began.
const LET_GO: &str = "let-go";

/// The file with the number of the attempt that was started last. Without it that is the first one.
const ATTEMPT: &str = "attempt";

/// The file with the place that was lost last.
const LOST: &str = "lost";

/// The file with the first stop. An earlier release wrote nothing into it.
const STOP: &str = "stop";

/// The file that says that a scheduler has asked the process to end. Many programs take a second signal for the wish that they end
/// at once.
const ASKED: &str = "asked";

/// The file that says that the process is about to be asked to end.
const ENDING: &str = "ending";

/// A stop, as it is noted in the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StopNote {
    pub(super) why: StopCause,
    /// When the grace began, in milliseconds since 1970.
    at: i64,
    grace_milliseconds: u64,
}

impl StopNote {
    /// A stop at this time, in milliseconds since 1970.
    pub(super) fn new(stop: &Stop, at: i64) -> Self {
        let grace_milliseconds = u64::try_from(stop.grace.as_millis()).unwrap_or(u64::MAX);
        Self { why: stop.cause.clone(), at, grace_milliseconds }
    }

    /// What is left of the grace. The clock may have been set back: then it is the whole of it.
    pub(super) fn left(&self, now: i64) -> Duration {
        let passed = u64::try_from(now.saturating_sub(self.at)).unwrap_or(0);
        Duration::from_millis(self.grace_milliseconds.saturating_sub(passed))
    }
}

/// Where the process of an item is kept.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    /// What its keeper writes. Another one for each launch.
    pub(super) folder: PathBuf,
    /// The lock. The same one for all launches of an item of a job: two of them never run at a time.
    pub(super) lock: PathBuf,
    /// The launch that wants the lock, by a name.
    pub(super) holder: String,
    /// The limit of its memory in MB.
    pub(super) limit: u64,
}

/// What a look at a slot shows.
#[derive(Debug)]
pub(super) enum Look {
    /// Nothing was started.
    Untouched,
    /// The keeper lives.
    Alive {
        /// When it began, in milliseconds since 1970; `None` in the moment before it says so.
        since: Option<i64>,
    },
    /// The lock is held for another launch.
    Held,
    /// It has ended, or never will begin.
    Ended(Outcome),
}

/// What is started.
pub(super) struct Start<'a> {
    pub(super) command: &'a str,
    pub(super) arguments: Vec<String>,
    pub(super) environment: BTreeMap<String, String>,
    /// The folder of the unpacked package.
    pub(super) package: &'a Path,
}

impl Slot {
    /// Looks at it.
    pub(super) fn look(&self) -> io::Result<Look> {
        if let Some(outcome) = self.written()? {
            return Ok(Look::Ended(outcome));
        }
        if self.is_locked()? {
            return Ok(match self.holds()? {
                true => Look::Alive { since: self.since() },
                false => Look::Held,
            });
        }
        // It may have ended since the first look.
        if let Some(outcome) = self.written()? {
            return Ok(Look::Ended(outcome));
        }
        Ok(match (self.file("pid").exists(), self.is_stopped()) {
            (_, true) => Look::Ended(Outcome::Stopped),
            (true, false) => Look::Ended(Outcome::Lost {
                why: "its processes were killed, or the host was started again".to_owned(),
            }),
            (false, false) => Look::Untouched,
        })
    }

    /// The outcome that the keeper wrote, or that stands for a process that could not be started.
    fn written(&self) -> io::Result<Option<Outcome>> {
        if let Some(text) = text_of(&self.file("refused"))? {
            return Ok(Some(Outcome::Failed { exit: None, text }));
        }
        let Some(exit) = text_of(&self.file("exit"))? else { return Ok(None) };
        let (code, exceeded) = match exit.split_once(' ') {
            Some((code, _)) => (code, true),
            None => (exit.as_str(), false),
        };
        let code: i32 = code.trim().parse().unwrap_or(-1);
        Ok(Some(match code {
            0 => Outcome::Succeeded,
            _ if exceeded => Outcome::OutOfMemory { limit: self.limit },
            _ if self.is_stopped() => Outcome::Stopped,
            code => Outcome::Failed { exit: Some(code), text: self.why_it_failed(code) },
        }))
    }

    /// What a program said before it failed. Where its address space was limited and it got no memory, that is the likely cause: a
    /// runtime that reserves much more than it uses says nothing of the limit.
    fn why_it_failed(&self, code: i32) -> String {
        let text = last_words(&self.folder, code);
        if !self.file(ADDRESS_SPACE).exists() || !misses_memory(&self.folder) {
            return text;
        }
        let limit = self.limit;
        format!(
            "{text}; its address space was limited to {limit} MB (ulimit -v), which programs on a JVM or of Go do not bear: give the \
             scheduler --memory-limit off, or let it make control groups"
        )
    }

    /// Whether a keeper ever said that it began, or that it never will. Asked under the lock.
    pub(super) fn has_begun(&self) -> bool {
        ["pid", "exit", STOP, "refused"].iter().any(|name| self.file(name).exists())
    }

    /// Another holder of the lock.
    pub(super) fn other_holder(&self) -> Option<String> {
        holder(&self.lock).ok().flatten().filter(|holder| *holder != self.holder)
    }

    /// Keeps the folder and takes the lock. `None` when the lock is held.
    pub(super) fn claim(&self) -> io::Result<Option<Claim>> {
        fs::create_dir_all(&self.folder)?;
        let lock = self.open_lock()?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                fs::write(holder_file(&self.lock), &self.holder)?;
                Ok(Some(Claim(lock)))
            }
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Starts a process, whose keeper takes over the lock.
    pub(super) fn start(&self, claim: Claim, start: Start<'_>, memory: &Memory) -> io::Result<Child> {
        let Limit { kilobytes, cgroup, events } = memory.limit(&self.group(), self.limit)?;
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
        let text = |path: Option<PathBuf>| path.unwrap_or_default();
        if kilobytes.is_some() {
            fs::write(self.file(ADDRESS_SPACE), "")?;
        }
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(KEEPER).arg("elasticjob-keeper");
        command.arg(&self.folder).arg(start.command).arg(kilobytes.map(|limit| limit.to_string()).unwrap_or_default());
        command.arg(text(cgroup)).arg(text(events)).args(start.arguments);
        command.current_dir(start.package).env_clear();
        command.envs(INHERITED.iter().filter_map(|name| Some((*name, std::env::var_os(name)?))));
        command.env("PATH", format!("{}:{path}", start.package.display()));
        command.envs(start.environment).env(FAILURE, self.file("failure"));
        // No pipe: the process outlives the scheduler.
        command.stdin(Stdio::from(claim.0)).stdout(Stdio::null()).stderr(Stdio::null());
        command.process_group(0).kill_on_drop(false).spawn()
    }

    /// Notes that it never will begin, and why.
    pub(super) fn refuse(&self, why: &str) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        write_whole(&self.file("refused"), why)
    }

    /// Notes that it is stopped on request. What has not begun will not begin. Returns the first stop that was noted; `None` where it
    /// says no cause.
    pub(super) fn note_stop(&self, stop: &StopNote) -> io::Result<Option<StopNote>> {
        fs::create_dir_all(&self.folder)?;
        Ok(serde_json::from_str(&write_first(&self.file(STOP), &serde_json::to_string(stop)?)?).ok())
    }

    /// The first stop that was noted.
    pub(super) fn stop_note(&self) -> io::Result<Option<StopNote>> {
        Ok(text_of(&self.file(STOP))?.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Whether a stop was noted.
    fn is_stopped(&self) -> bool {
        self.file(STOP).exists()
    }

    /// What is left of the grace of a noted stop. A process that nobody has asked to end has the whole of it: the scheduler that
    /// noted the stop may have died before it asked.
    pub(super) fn grace_left(&self, stop: &StopNote, now: i64) -> Duration {
        if self.file(ASKED).exists() { stop.left(now) } else { Duration::from_millis(stop.grace_milliseconds) }
    }

    /// Keeps the program from being started, where its keeper is about to: until then the signal that asks it to end reaches only shells
    /// that wait for it.
    pub(super) fn note_ending(&self) -> io::Result<()> {
        OpenOptions::new().create(true).append(true).mode(0o600).open(self.file(ENDING)).map(drop)
    }

    /// Removes that note. A scheduler that could not note its stop may have left it, and died: it must not keep the next start from its
    /// program.
    pub(super) fn clear_ending(&self) -> io::Result<()> {
        self.remove(ENDING)
    }

    /// Asks the process and all that it started to end, unless another one has asked it or is about to: the one that makes the note
    /// asks, and removes it where that fails. Returns whether this call asked.
    pub(super) fn ask_to_end(&self, memory: &Memory) -> io::Result<bool> {
        if !matches!(self.look()?, Look::Alive { since: Some(_) }) {
            return Ok(false);
        }
        let noted = OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.file(ASKED));
        match &noted {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            // Where it cannot be noted, another scheduler may ask again.
            _ => {}
        }
        let asked = self.signal(Signal::TERM, memory);
        if noted.is_ok() && !matches!(asked, Ok(true)) {
            fs::remove_file(self.file(ASKED))?;
        }
        asked
    }

    /// Notes that its scheduler let go of it before it began: the next launch of it starts it.
    pub(super) fn note_let_go(&self) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        write_whole(&self.file(LET_GO), "")
    }

    /// Whether it was let go of. Says something only of an item that has not begun.
    pub(super) fn was_let_go(&self) -> bool {
        self.file(LET_GO).exists()
    }

    /// The attempt that was started last, from 1; 1, too, where none was.
    pub(super) fn attempt(&self) -> io::Result<u32> {
        Ok(text_of(&self.file(ATTEMPT))?.and_then(|attempt| attempt.trim().parse().ok()).unwrap_or(1))
    }

    /// Notes which attempt is started now, and returns it: the one after that which was lost last. Called under the lock.
    pub(super) fn note_attempt(&self) -> io::Result<u32> {
        let Some(lost) = self.lost()? else { return Ok(1) };
        let attempt = lost.attempt.saturating_add(1);
        write_whole(&self.file(ATTEMPT), &attempt.to_string())?;
        Ok(attempt)
    }

    /// The place that was lost last, whichever scheduler noted it.
    pub(super) fn lost(&self) -> io::Result<Option<LostPlace>> {
        Ok(text_of(&self.file(LOST))?.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Notes that the place of the attempt that was started last is lost.
    pub(super) fn note_lost(&self, lost: &LostPlace) -> io::Result<()> {
        write_whole(&self.file(LOST), &serde_json::to_string(lost)?)
    }

    /// Signals the process and all that it started. Returns whether its keeper lived and had said its id.
    pub(super) fn signal(&self, signal: Signal, memory: &Memory) -> io::Result<bool> {
        if !matches!(self.look()?, Look::Alive { since: Some(_) }) {
            return Ok(false);
        }
        let id = text_of(&self.file("pid"))?.and_then(|id| id.trim().parse().ok()).and_then(Pid::from_raw);
        if let Some(id) = id {
            // An error says that no process is left.
            let _ = kill_process_group(id, signal);
        }
        if signal == Signal::KILL {
            memory.kill(&self.group());
        }
        Ok(id.is_some())
    }

    /// Removes what a process that has ended left beside its folder.
    pub(super) fn clean_up(&self, memory: &Memory) {
        memory.remove(&self.group());
    }

    /// The folder without what the last process left, for the next one.
    pub(super) fn clear(&self) -> io::Result<()> {
        [ENDING, "pid", "exit", STOP, ASKED, "refused", "failure"].iter().try_for_each(|name| self.remove(name))
    }

    /// Removes a file of the folder, if it is there.
    fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.file(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Keeps the outputs of a process that runs from filling the disk.
    pub(super) fn rotate_outputs(&self) {
        rotate(&self.folder, MOST_OUTPUT);
    }

    /// The last bytes of both outputs.
    pub(super) fn log(&self, most: usize) -> io::Result<Option<String>> {
        log(&self.folder, most)
    }

    /// Whether a keeper, or a scheduler that is about to start one, holds the lock.
    fn is_locked(&self) -> io::Result<bool> {
        let lock = match OpenOptions::new().read(true).open(&self.lock) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            opened => opened?,
        };
        // Shared, so that two looks do not take each other for a keeper.
        match flock(&lock, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the lock is held for this launch.
    fn holds(&self) -> io::Result<bool> {
        Ok(holder(&self.lock)?.as_deref() == Some(self.holder.as_str()))
    }

    fn open_lock(&self) -> io::Result<File> {
        if let Some(parent) = self.lock.parent() {
            fs::create_dir_all(parent)?;
        }
        OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&self.lock)
    }

    /// The name of its control group. Carriers with other folders, whose launches may have the same names, use the same parent.
    pub(super) fn group(&self) -> String {
        format!("{}-{}", self.holder, digest(&[&self.folder.to_string_lossy()]))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn since(&self) -> Option<i64> {
        let began = fs::metadata(self.file("pid")).and_then(|file| file.modified()).ok()?;
        i64::try_from(began.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
    }
}

/// The one that had a lock last, or has it.
pub(super) fn holder(lock: &Path) -> io::Result<Option<String>> {
    text_of(&holder_file(lock))
}

fn holder_file(lock: &Path) -> PathBuf {
    lock.with_extension("holder")
}

/// The lock of a slot, until it is handed to a keeper or dropped.
#[derive(Debug)]
pub(super) struct Claim(File);
