//! The folder of an item, which the keeper on the node and all schedulers share: what became of the item.
//!
//! Slurm forgets jobs some minutes after their end. So the keeper writes the exit code, and the carrier the outcome as soon as
//! it has seen it.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use elasticjob::log::warn;

use super::ages::age;
use super::queue::{End, JobState, Row, waits_for};
use crate::carrier::{ItemState, LostPlace, Outcome, Stop, StopCause};
use crate::files::{last_words, log, text_of, write_first, write_whole};

/// The file that is written when an exit code is missed first.
const MISSED: &str = "missed";

/// The file that says for how many seconds a run was halted.
const HALTED: &str = "halted";

/// The file that says why the item was stopped first.
const CAUSE: &str = "stop-cause";

/// The file that says that the item was stopped, and for how many seconds it may go on.
const STOP: &str = "stop";

/// How long an exit code may be missing after Slurm has told the end.
const SEEN_LATE: Duration = Duration::from_secs(90);

/// The folder of an item.
#[derive(Debug, Clone)]
pub(super) struct Place {
    folder: PathBuf,
    /// The limit of the memory in MB.
    limit: u64,
}

impl Place {
    pub(super) fn new(folder: PathBuf, limit: u64) -> Self {
        Self { folder, limit }
    }

    /// Prepares it for a submission.
    pub(super) fn prepare(&self, script: &str) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        write_whole(&self.file("run.sh"), script)
    }

    /// Notes that Slurm has accepted the item.
    pub(super) fn note_submitted(&self, array: u64) -> io::Result<()> {
        write_whole(&self.file("submitted"), &array.to_string())
    }

    /// Notes that the item is stopped on request, why, where no earlier stop is noted, and how long it may take to end. What has not
    /// begun will not begin.
    pub(super) fn note_stop(&self, stop: &Stop) -> io::Result<()> {
        let cause = serde_json::to_string(&stop.cause).expect("texts and numbers have a JSON form");
        if let Err(error) = write_first(&self.file(CAUSE), &cause) {
            let place = self.folder.display();
            warn!(
                "the item of {place} is stopped, and its cause cannot be noted: {error}; a scheduler that adopts it does not hear why"
            );
        }
        write_whole(&self.file(STOP), &stop.grace.as_secs().to_string())
    }

    /// The grace of its stop, where it was stopped.
    pub(super) fn stop_grace(&self) -> io::Result<Option<Duration>> {
        Ok(text_of(&self.file(STOP))?.map(|grace| Duration::from_secs(grace.trim().parse().unwrap_or(0))))
    }

    /// Why it was stopped first, where that is noted.
    fn cause(&self) -> io::Result<Option<StopCause>> {
        Ok(text_of(&self.file(CAUSE))?.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Whether Slurm was given the item once.
    pub(super) fn was_submitted(&self) -> bool {
        ["submitted", "claim", "outcome", STOP].iter().any(|name| self.file(name).exists())
    }

    /// The last bytes of what its latest run wrote.
    pub(super) fn log(&self, most: usize) -> io::Result<Option<String>> {
        log(&self.run(self.attempt()?), most)
    }

    /// The state of the item. `rows` are those that Slurm has of it. `was_submitted` was asked before Slurm was. An end is kept,
    /// so that it does not matter when Slurm forgets it.
    pub(super) fn state(&self, rows: &[Row], was_submitted: bool) -> io::Result<Option<ItemState>> {
        if let Some(outcome) = text_of(&self.file("outcome"))? {
            let outcome: Outcome = serde_json::from_str(&outcome)?;
            return Ok(Some(ItemState::from(outcome).stopped_for(self.cause()?)));
        }
        let outcome = match self.row(rows)? {
            Some(row) => match row.state {
                JobState::Ended(End::Completed | End::Failed) if !self.has_exit()? && self.may_come()? => {
                    let why =
                        "Slurm says that it has ended, and its exit code is not to be seen in the shared folder yet";
                    return Ok(Some(ItemState::waiting(why)));
                }
                // An item that has begun waits to be started again.
                JobState::Pending => {
                    return Ok(Some(
                        ItemState::waiting(waits_for(&row.reason, row.since)).after(self.begun()?.map(lost)),
                    ));
                }
                JobState::Starting => {
                    let why = format!("Slurm starts its node {} for it", row.node);
                    return Ok(Some(ItemState::waiting(why).after(self.begun()?.map(lost))));
                }
                JobState::Suspended => {
                    let why = format!("it is halted on {}; scontrol resume lets it go on", row.node);
                    return Ok(Some(ItemState::halted(&row.node, why).after(self.attempt()?.checked_sub(1).map(lost))));
                }
                JobState::Running => return self.running(row).map(Some),
                JobState::Ended(end) => self.outcome(Some((end, row)))?,
            },
            None if was_submitted => self.outcome(None)?,
            None => return Ok(None),
        };
        let text = serde_json::to_string(&outcome).expect("texts and numbers have a JSON form");
        write_whole(&self.file("outcome"), &text)?;
        Ok(Some(ItemState::from(outcome).stopped_for(self.cause()?)))
    }

    /// The row that counts. There are several where the answer to a submission got lost and it was repeated: then the array
    /// counts that has claimed the item, or that will.
    fn row<'a>(&self, rows: &'a [Row]) -> io::Result<Option<&'a Row>> {
        if let [only] = rows
            && only.is_live()
        {
            return Ok(Some(only));
        }
        Ok(match self.claim()? {
            Some(array) => rows.iter().find(|row| row.array == array),
            None => rows.iter().min_by_key(|row| (!row.is_live(), row.array)),
        })
    }

    /// The rows that will never run anything: another array has claimed the item. As long as none has, each of them may.
    pub(super) fn surplus<'a>(&self, rows: &'a [Row]) -> io::Result<Vec<&'a Row>> {
        let claim = if rows.len() > 1 { self.claim()? } else { None };
        let Some(claim) = claim else { return Ok(Vec::new()) };
        Ok(rows.iter().filter(|row| row.is_live() && row.array != claim).collect())
    }

    /// The array that runs the item.
    fn claim(&self) -> io::Result<Option<u64>> {
        Ok(text_of(&self.file("claim"))?.and_then(|id| id.trim().parse().ok()))
    }

    fn running(&self, row: &Row) -> io::Result<ItemState> {
        let since = match row.since {
            // The time that it was halted does not count: its process began so much later, as far as limits go.
            Some(since) => (since + self.halted(row)?) * 1_000,
            None => 0,
        };
        let before = self.attempt()?.checked_sub(1);
        Ok(ItemState::running(&row.node, since).after(before.map(lost)))
    }

    /// For how many seconds its latest run was halted. Slurm answers a little late and says less then, so the most that it has said is
    /// kept.
    fn halted(&self, row: &Row) -> io::Result<i64> {
        let note = self.run(self.attempt()?).join(HALTED);
        let known = text_of(&note)?.and_then(|seconds| seconds.trim().parse().ok()).unwrap_or(0);
        if row.halted > known {
            match write_whole(&note, &row.halted.to_string()) {
                // Its keeper has not made the folder of the run so far, or not to be seen here.
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(row.halted.max(known))
    }

    /// How the item ended, by what its keeper wrote and by what Slurm says. Without a row Slurm has forgotten it.
    fn outcome(&self, row: Option<(End, &Row)>) -> io::Result<Outcome> {
        let run = self.run(self.attempt()?);
        let exit: Option<i32> = text_of(&run.join("exit"))?.and_then(|code| code.trim().parse().ok());
        let end = row.map(|(end, _)| end);
        let failed = |text: &str| Outcome::Failed { exit, text: text.to_owned() };
        if exit == Some(0) {
            return Ok(Outcome::Succeeded);
        }
        if end == Some(End::OutOfMemory) {
            return Ok(Outcome::OutOfMemory { limit: self.limit });
        }
        if self.file(STOP).exists() {
            return Ok(Outcome::Stopped);
        }
        if self.file("given-up").exists() {
            return Ok(Outcome::Lost {
                why: "Slurm has taken it off its node three times, and it is not started again".to_owned(),
            });
        }
        Ok(match (end, exit) {
            (Some(End::Timeout), _) => failed(
                "it reached its time limit in Slurm: raise slurm.timeLimitMinutes of the application, or the limit of the \
                 partition",
            ),
            (Some(End::Deadline), _) => failed("it reached its deadline in Slurm"),
            (_, Some(code)) => failed(&last_words(&run, code)),
            (Some(End::Cancelled), _) => {
                failed("it was cancelled in Slurm, by scancel, by an administrator or by Slurm itself")
            }
            (Some(End::NodeFailed), _) => Outcome::Lost { why: format!("its node {} failed", node(row)) },
            (Some(End::Preempted), _) => Outcome::Lost { why: format!("other jobs took its node {}", node(row)) },
            (Some(End::Revoked), _) => Outcome::Lost { why: "another cluster of the federation has it".to_owned() },
            (Some(End::Completed | End::Failed | End::OutOfMemory), None) => failed(&format!(
                "Slurm says {}, and the keeper left no exit code in {}: all nodes have to share this folder",
                row.map(|(_, row)| row.reason.as_str()).filter(|reason| *reason != "None").unwrap_or("that it ended"),
                self.folder.display(),
            )),
            (None, None) => Outcome::Lost {
                why: "Slurm does not know it any more, and it left no exit code: it was killed, or never began"
                    .to_owned(),
            },
        })
    }

    /// Whether the keeper of its latest run has written an exit code, as far as it is to be seen here.
    fn has_exit(&self) -> io::Result<bool> {
        Ok(text_of(&self.run(self.attempt()?).join("exit"))?.is_some() || self.file(STOP).exists())
    }

    /// Whether an exit code that is missing may still come: clients of a shared folder see what a node wrote, or that a file is there
    /// at all, up to a minute later. The first look that misses it is noted for all schedulers.
    fn may_come(&self) -> io::Result<bool> {
        let missed = self.file(MISSED);
        write_first(&missed, "")?;
        Ok(age(&missed).unwrap_or_default() < SEEN_LATE)
    }

    /// How often the item was started again after its node was lost.
    fn attempt(&self) -> io::Result<u32> {
        Ok(self.begun()?.unwrap_or(0))
    }

    /// The same; `None` where it has not begun.
    fn begun(&self) -> io::Result<Option<u32>> {
        Ok(text_of(&self.file("attempt"))?.and_then(|attempt| attempt.trim().parse().ok()))
    }

    fn run(&self, attempt: u32) -> PathBuf {
        self.file(&attempt.to_string())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// The place of a run that Slurm starts again: it tells neither the node nor why.
fn lost(restarts_before: u32) -> LostPlace {
    LostPlace::new(
        restarts_before + 1,
        None,
        "Slurm has taken it off its node: the node failed, other jobs took it, or the item was requeued",
    )
}

fn node(row: Option<(End, &Row)>) -> &str {
    row.map_or("", |(_, row)| row.node.as_str())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::scratch::Scratch;

    struct Item {
        place: Place,
        scratch: Scratch,
    }

    impl Item {
        fn new() -> Self {
            let scratch = Scratch::new();
            fs::create_dir(scratch.path().join("0")).unwrap();
            Self { place: Place::new(scratch.path().to_path_buf(), 80), scratch }
        }

        fn with(self, file: &str, text: &str) -> Self {
            fs::write(self.scratch.path().join(file), text).unwrap();
            self
        }

        /// As after a look of a scheduler that is so long ago.
        fn missed_before(self, ago: Duration) -> Self {
            let item = self.with(MISSED, "");
            let note = fs::File::options().write(true).open(item.scratch.path().join(MISSED)).unwrap();
            note.set_modified(SystemTime::now() - ago).unwrap();
            item
        }

        fn outcome(&self, row: Option<Row>) -> Outcome {
            let state = self.place.state(row.as_slice(), true).unwrap();
            state.and_then(|state| state.outcome().cloned()).unwrap()
        }
    }

    fn row(array: u64, state: JobState) -> Row {
        let (name, node, reason) = ("ej-a".to_owned(), "n1".to_owned(), "None".to_owned());
        Row { array, index: 0, name, state, node, since: Some(7), halted: 0, reason }
    }

    fn ended(end: End) -> Option<Row> {
        Some(row(1, JobState::Ended(end)))
    }

    #[test]
    fn the_exit_code_decides_unless_slurm_knows_better() {
        let failed = |exit, text: &str| Outcome::Failed { exit, text: text.to_owned() };
        assert_eq!(Item::new().with("0/exit", "0").outcome(ended(End::Completed)), Outcome::Succeeded);
        let item = Item::new().with("0/exit", "3").with("0/stderr", "the table is locked\n");
        assert_eq!(item.outcome(ended(End::Failed)), failed(Some(3), "the table is locked"));
        let item = Item::new().with("0/exit", "137");
        assert_eq!(item.outcome(ended(End::OutOfMemory)), Outcome::OutOfMemory { limit: 80 });
        let timeout = Item::new().with("0/exit", "143").outcome(ended(End::Timeout));
        assert!(matches!(&timeout, Outcome::Failed { text, .. } if text.contains("timeLimitMinutes")), "{timeout:?}");
        let item = Item::new().with("0/exit", "143").with("stop", "5");
        assert_eq!(item.outcome(ended(End::Failed)), Outcome::Stopped);
        let lost = Item::new().outcome(ended(End::NodeFailed));
        assert_eq!(lost, Outcome::Lost { why: "its node n1 failed".to_owned() });
        let cancelled = Item::new().outcome(ended(End::Cancelled));
        assert!(matches!(&cancelled, Outcome::Failed { text, .. } if text.contains("cancelled")), "{cancelled:?}");
        let unshared = Item::new().missed_before(2 * SEEN_LATE).outcome(ended(End::Completed));
        assert!(matches!(&unshared, Outcome::Failed { text, .. } if text.contains("share")), "{unshared:?}");
    }

    #[test]
    fn an_exit_code_that_is_not_to_be_seen_yet_is_looked_for_again() {
        // The clock of the scheduler that looked first is years behind, as its note says: that does not count.
        let item = Item::new().with(MISSED, "7");
        let rows = ended(End::Completed);
        for _ in 0..2 {
            let state = item.place.state(rows.as_slice(), true).unwrap();
            assert!(matches!(&state, Some(ItemState::Waiting { why, .. }) if why.contains("exit code")), "{state:?}");
        }
        assert_eq!(item.with("0/exit", "0").outcome(rows), Outcome::Succeeded);
    }

    #[test]
    fn the_script_with_the_environment_is_closed_to_other_users() {
        use std::os::unix::fs::PermissionsExt;
        let item = Item::new();
        item.place.prepare("exec true").unwrap();
        let script = fs::metadata(item.scratch.path().join("run.sh")).unwrap();
        assert_eq!(script.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_slurm_has_forgotten_is_told_by_the_exit_code_or_lost() {
        assert_eq!(Item::new().with("0/exit", "0").outcome(None), Outcome::Succeeded);
        assert!(matches!(Item::new().outcome(None), Outcome::Lost { .. }));
        assert_eq!(Item::new().place.state(&[], false).unwrap(), None);
    }

    #[test]
    fn the_time_that_an_item_was_halted_moves_its_begin_and_is_kept_for_each_run() {
        let item = Item::new().with("attempt", "0");
        let since = |item: &Item, halted| {
            let rows = [Row { halted, ..row(1, JobState::Running) }];
            let state = item.place.state(&rows, true).unwrap();
            match state {
                Some(ItemState::Running { since, .. }) => since,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(since(&item, 0), 7_000);
        assert!(!item.scratch.path().join("0/halted").exists(), "nothing is written for what was not halted");
        assert_eq!(since(&item, 60), 67_000);
        // A later answer took longer. Another scheduler reads the same.
        assert_eq!(since(&item, 58), 67_000);
        fs::create_dir(item.scratch.path().join("1")).unwrap();
        let again = item.with("attempt", "1");
        assert_eq!(since(&again, 0), 7_000, "the next run was not halted");
    }

    #[test]
    fn the_first_cause_of_a_stop_is_told_with_the_end() {
        let item = Item::new();
        let limit = StopCause::TimeLimit { milliseconds: 5 };
        for cause in [limit.clone(), StopCause::Operator] {
            item.place.note_stop(&Stop::new(Duration::from_secs(5), cause)).unwrap();
        }
        let row = ended(End::Failed);
        let stopped = Some(ItemState::from(Outcome::Stopped).stopped_for(Some(limit)));
        assert_eq!(item.place.state(row.as_slice(), true).unwrap(), stopped);
        // The end is kept by now.
        assert_eq!(item.place.state(&[], true).unwrap(), stopped);
        assert_eq!(fs::read_to_string(item.scratch.path().join("stop")).unwrap(), "5");
    }

    #[test]
    fn an_outcome_is_kept_also_when_slurm_forgets_the_job() {
        let item = Item::new().with("0/exit", "137");
        item.outcome(ended(End::OutOfMemory));
        assert_eq!(item.outcome(None), Outcome::OutOfMemory { limit: 80 });
    }

    #[test]
    fn of_two_arrays_the_one_that_claimed_the_item_counts() {
        let rows = [row(7, JobState::Pending), row(9, JobState::Running)];
        let item = Item::new();
        // No array has it yet: the older one will.
        assert!(matches!(item.place.state(&rows, true).unwrap(), Some(ItemState::Waiting { .. })));
        assert!(item.place.surplus(&rows).unwrap().is_empty());
        let item = item.with("claim", "9");
        assert!(matches!(item.place.state(&rows, true).unwrap(), Some(ItemState::Running { .. })));
        assert_eq!(item.place.surplus(&rows).unwrap(), [&rows[0]]);
        // The second array found the item claimed, and Slurm has forgotten the first one.
        let rows = [row(10, JobState::Ended(End::Completed))];
        let item = item.with("0/exit", "4");
        assert!(matches!(
            item.place.state(&rows, true).unwrap().unwrap().outcome(),
            Some(Outcome::Failed { exit: Some(4), .. })
        ));
    }

    #[test]
    fn an_item_whose_node_boots_or_whose_process_is_halted_waits() {
        for (slurm, words) in
            [("CONFIGURING", "starts its node n1"), ("POWER_UP_NODE", "starts its node n1"), ("SUSPENDED", "resume")]
        {
            let rows = [row(1, JobState::parse(slurm).unwrap())];
            let state = Item::new().place.state(&rows, true).unwrap();
            let Some(ItemState::Waiting { why, lost: None, halted }) = &state else { panic!("{state:?}") };
            assert!(why.contains(words), "{why}");
            assert_eq!(halted.as_deref(), (slurm == "SUSPENDED").then_some("n1"), "{slurm}");
            let second = Item::new().with("attempt", "1").place.state(&rows, true).unwrap().unwrap();
            let before = if slurm == "SUSPENDED" { lost(0) } else { lost(1) };
            assert_eq!(second.lost(), Some(&before), "{slurm}");
        }
        let unknown = Row { since: None, ..row(1, JobState::Running) };
        assert_eq!(Item::new().place.state(&[unknown], true).unwrap(), Some(ItemState::running("n1", 0)));
    }

    #[test]
    fn a_later_attempt_is_told_and_its_log_is_shown() {
        let item = Item::new().with("attempt", "1").with("0/stdout", "first");
        fs::create_dir(item.scratch.path().join("1")).unwrap();
        let item = item.with("1/stdout", "second");
        let running = item.place.state(&[row(1, JobState::Running)], true).unwrap();
        assert_eq!(running, Some(ItemState::running("n1", 7_000).after(Some(lost(0)))));
        let waiting = item.place.state(&[row(1, JobState::Pending)], true).unwrap().unwrap();
        assert_eq!(waiting.lost(), Some(&lost(1)), "its second node is lost, too");
        let first = Item::new().place.state(&[row(1, JobState::Pending)], true).unwrap().unwrap();
        assert_eq!(first.lost(), None, "it has not begun");
        assert_eq!(item.place.log(100).unwrap().as_deref(), Some("second"));
    }
}
