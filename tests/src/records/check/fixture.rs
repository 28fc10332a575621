//! Histories for the tests of the checks: one job, fires every second.

use std::time::Duration;

use elasticjob::fire::ExecutionSource;

use crate::records::{Ending, Expected, Fault, FaultKind, History, Reason, Run, Skip};

/// A second in microseconds.
pub(super) const S: i64 = 1_000_000;

pub(super) const JOB: &str = "job";

/// A run of item 0 that begins at a second and takes half of one.
pub(super) fn run(pid: u32, second: i64) -> Run {
    Run {
        pid,
        number: second.unsigned_abs(),
        job: JOB.to_owned(),
        item: 0,
        scheduled_ms: second * 1_000,
        source: ExecutionSource::NormalTrigger,
        token: Some(second),
        instance: instance(pid),
        began_us: second * S,
        end: Some((second * S + S / 2, Ending::Finished)),
        refused: 0,
    }
}

/// A run whose end no process recorded.
pub(super) fn open(pid: u32, second: i64) -> Run {
    Run { end: None, ..run(pid, second) }
}

pub(super) fn instance(pid: u32) -> String {
    format!("10.0.0.1@-@{pid}")
}

pub(super) fn killed(pid: u32, at_us: i64) -> Fault {
    Fault { kind: FaultKind::Killed { pid }, from_us: at_us, at_us, until_us: at_us }
}

pub(super) fn frozen(pid: u32, from_us: i64, until_us: i64) -> Fault {
    Fault { kind: FaultKind::Frozen { pid }, from_us, at_us: from_us, until_us }
}

pub(super) fn cut_off(pid: u32, from_us: i64, until_us: i64) -> Fault {
    Fault { kind: FaultKind::CutOff { pid }, from_us, at_us: from_us, until_us }
}

pub(super) fn skip(pid: u32, second: i64, items: &[u32], reason: Reason) -> Skip {
    let (from_ms, until_ms) = (second * 1_000, second * 1_000);
    Skip { at_us: second * S, pid, job: JOB.to_owned(), from_ms, until_ms, items: items.to_vec(), reason }
}

pub(super) fn history(runs: &[Run], faults: &[Fault]) -> History {
    let session_timeout = Duration::from_secs(4);
    History { runs: runs.to_vec(), faults: faults.to_vec(), session_timeout, ..History::default() }
}

/// The fires of the seconds from 1 on.
pub(super) fn each_second(seconds: i64) -> Expected {
    Expected::every(1_000, JOB, 1, 0, seconds * 1_000 + 999)
}

/// There is one violation, and it says that.
pub(super) fn only(violations: &[String], part: &str) {
    assert!(violations.len() == 1 && violations[0].contains(part), "{violations:?}");
}
