//! The records that processes under test make of their runs, and the checks of all together.

mod call;
mod check;
mod fault;
mod history;
mod observed;
mod run;
mod skip;
mod takeover;

use std::time::{SystemTime, UNIX_EPOCH};

use elasticjob::fire::{ExecutionSource, Hook};
use serde::{Deserialize, Serialize};

pub use self::call::{Call, Listener, Round};
pub use self::check::{Account, Expected, ExpectedTrigger, TRIGGERS, UNOBSERVED, Verdict, beside_java};
pub use self::fault::{Fault, FaultKind};
pub use self::history::History;
pub use self::observed::{Observed, Presence, Tenure, pid_of};
pub use self::run::{Ending, ProcessRecords, Run, records_of_worker};
pub use self::skip::{Reason, Skip};
pub use self::takeover::{Takeover, takeovers};

/// One line in the records of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// When, in microseconds since 1970.
    pub at_us: i64,
    /// The process.
    pub pid: u32,
    /// The job.
    pub job: String,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// What happened in a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    /// A run began.
    Begin {
        /// The number of the run in its process.
        run: u64,
        /// The item.
        item: u32,
        /// The scheduled time, in milliseconds since 1970.
        scheduled_ms: i64,
        /// Why it is run.
        source: ExecutionSource,
        /// The fencing token, where the program has one.
        token: Option<i64>,
        /// The instance that runs it.
        instance: String,
    },
    /// A run wrote to the fenced sink and was refused.
    Refused {
        /// The run.
        run: u64,
    },
    /// A run is over.
    End {
        /// The run.
        run: u64,
        /// How it ended.
        how: Ending,
    },
    /// A listener is called. Recorded when the call returns, if it is one before the items, or when it begins.
    Called {
        /// The listener.
        listener: Listener,
        /// Which of its hooks.
        hook: Hook,
        /// The scheduled time of the fire, in milliseconds since 1970.
        scheduled_ms: i64,
        /// Why the items of the process are run.
        source: ExecutionSource,
    },
    /// The process said that it does not run a fire, or some items of it.
    Skipped {
        /// The scheduled time of the first fire that is meant, in milliseconds since 1970.
        from_ms: i64,
        /// That of the last one.
        until_ms: i64,
        /// The items, none when all of this process are meant.
        items: Vec<u32>,
        /// Why.
        reason: Reason,
    },
}

/// The wall clock in microseconds since 1970.
pub fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// The lines of a file that a process is appending to.
pub fn complete_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'))
}
