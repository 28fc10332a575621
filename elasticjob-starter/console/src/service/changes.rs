//! The last changes in a registry center: what operators did, and configurations that were written.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use elasticjob::operations::JobOverview;
use elasticjob::trace::{AnyTraceReader, DecisionFilter, DecisionKind, PageRequest, ReadError, TraceReader};
use tokio::time::{Instant, timeout};

use super::audit::ActionRecord;
use super::fires::instant;
use super::now;
use super::versions::is_near;
use crate::here::Here;

/// How many changes are shown.
pub(crate) const MOST: usize = 10;

/// How many actions that changed something are enough for all viewers together: each sees those on its own jobs.
const ENOUGH: usize = 100;

/// How many actions are read at a time, and how many times at the most: many of them may have changed nothing.
const READ: u32 = 100;
const ROUNDS: usize = 10;

/// How old an action is at the most, in milliseconds. The index of the records is by time.
const OLDEST: i64 = 7 * 24 * 60 * 60 * 1_000;

/// For this long a record may be on its way to the database, in milliseconds.
const ON_ITS_WAY: i64 = 60_000;

/// How long a page waits for them. It is drawn whenever something changes.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long what was read counts for all viewers.
const KEPT: Duration = Duration::from_secs(3);

/// How long actions are not asked for that could not be read.
const PAUSE: Duration = Duration::from_secs(30);

/// A change of a job, or of all.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) job: String,
    pub(crate) at: i64,
    pub(crate) source: Source,
}

/// What made a change.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// This action of an operator.
    Action(Box<ActionRecord>),
    /// No action is recorded of a configuration that was written: a program wrote it, or another console.
    NotRecorded,
    /// A configuration was written, and the actions of that time are not read, or may not be recorded yet.
    Unread,
    /// A configuration was written before the time of which actions are read.
    Older,
}

impl Change {
    pub(crate) fn action(&self) -> Option<&ActionRecord> {
        match &self.source {
            Source::Action(record) => Some(record),
            Source::NotRecorded | Source::Unread | Source::Older => None,
        }
    }
}

/// How many of the actions are read that a list may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    All,
    /// The newest ones: the list may lack older ones.
    Part,
    /// They could not be read, or nothing keeps them.
    Nothing,
}

/// The last changes, the last one first.
#[derive(Debug, Clone)]
pub(crate) struct Changes {
    pub(crate) list: Vec<Change>,
    pub(crate) reach: Reach,
}

impl Changes {
    /// The last changes of jobs that the caller sees, of which these had their configuration written last.
    pub(crate) async fn of(here: &Here, configured: &[Arc<JobOverview>]) -> Self {
        let written = configured.iter().filter_map(|job| Some((job.job.to_string(), job.configured?)));
        let sees = |job: &str| here.identity.sees_job(here.registry.name(), job);
        let read = match here.registry.action_reader() {
            Some(reader) => here.registry.kept_changes().get(reader).await,
            None => None,
        };
        merged(read.as_deref(), sees, written)
    }
}

/// The last actions that changed something, or may have.
#[derive(Debug)]
struct Actions {
    /// The last one first.
    list: Vec<ActionRecord>,
    /// All from this time on were read.
    since: i64,
    /// When they were read.
    read_at: i64,
}

impl Actions {
    /// Reads them of all jobs: each viewer is shown a part.
    async fn read(reader: &AnyTraceReader) -> Result<Self, ReadError> {
        let read_at = now();
        let mut filter = DecisionFilter::default();
        (filter.kinds, filter.from) = (vec![DecisionKind::Operator], Some(instant(read_at - OLDEST)));
        let mut read = Self { list: Vec::new(), since: read_at, read_at };
        let mut cursor = None;
        for _ in 0..ROUNDS {
            let found = reader.decisions(&filter, &PageRequest::default().limit(READ).after(cursor)).await?;
            read.since = found.records.last().map_or(read.since, |record| record.at.timestamp_millis());
            let actions = found.records.into_iter().map(ActionRecord);
            read.list.extend(actions.filter(|record| matches!(record.action().outcome(), "done" | "unknown")));
            cursor = found.next;
            if cursor.is_none() {
                read.since = read_at - OLDEST;
                break;
            }
            if read.list.len() >= ENOUGH {
                break;
            }
        }
        Ok(read)
    }

    fn reaches_back(&self) -> bool {
        self.since <= self.read_at - OLDEST
    }

    /// What is known of a configuration that was written then, of which no action was read.
    fn without(&self, at: i64) -> Source {
        if at < self.read_at - OLDEST {
            Source::Older
        } else if at < self.since || at > self.read_at - ON_ITS_WAY {
            Source::Unread
        } else {
            Source::NotRecorded
        }
    }
}

/// The last actions in a registry center as they were read a moment ago, for all its viewers.
#[derive(Debug, Default)]
pub(crate) struct KeptChanges {
    last: Mutex<Option<Kept>>,
    /// One viewer reads, and the others wait for that.
    reads: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone)]
struct Kept {
    /// `None` where they could not be read.
    actions: Option<Arc<Actions>>,
    until: Instant,
}

impl KeptChanges {
    /// The actions. `None` where they cannot be read in time.
    async fn get(&self, reader: &AnyTraceReader) -> Option<Arc<Actions>> {
        match timeout(PATIENCE, self.kept_or_read(reader)).await {
            Ok(actions) => actions,
            Err(_) => self.keep(None),
        }
    }

    async fn kept_or_read(&self, reader: &AnyTraceReader) -> Option<Arc<Actions>> {
        if let Some(kept) = self.current() {
            return kept.actions;
        }
        let _one = self.reads.lock().await;
        match self.current() {
            Some(kept) => kept.actions,
            // The page of the audit says what is wrong with them.
            None => self.keep(Actions::read(reader).await.ok()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Kept>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self) -> Option<Kept> {
        self.lock().clone().filter(|kept| Instant::now() < kept.until)
    }

    fn keep(&self, actions: Option<Actions>) -> Option<Arc<Actions>> {
        let actions = actions.map(Arc::new);
        let until = Instant::now() + if actions.is_some() { KEPT } else { PAUSE };
        *self.lock() = Some(Kept { actions: actions.clone(), until });
        actions
    }
}

/// Both in the order of time. A configuration that a recorded action wrote is that action.
fn merged(
    read: Option<&Actions>,
    sees: impl Fn(&str) -> bool,
    written: impl Iterator<Item = (String, i64)>,
) -> Changes {
    let at = |record: &ActionRecord| record.0.at.timestamp_millis();
    let actions: Vec<&ActionRecord> =
        read.iter().flat_map(|read| &read.list).filter(|record| sees(&record.0.job_name)).collect();
    let is_recorded = |job: &str, when: i64| {
        let wrote =
            |record: &&&ActionRecord| record.0.job_name == job && record.action().name() == "update-configuration";
        actions.iter().filter(wrote).any(|record| is_near(at(record), when))
    };
    let written = written.filter(|(job, when)| !is_recorded(job, *when)).map(|(job, at)| Change {
        source: read.map_or(Source::Unread, |read| read.without(at)),
        job,
        at,
    });
    let acted = actions.iter().map(|record| Change {
        job: record.0.job_name.clone(),
        at: at(record),
        source: Source::Action(Box::new((*record).clone())),
    });
    let mut list: Vec<Change> = acted.chain(written).collect();
    list.sort_by_key(|change| std::cmp::Reverse(change.at));
    list.truncate(MOST);
    let is_filled = |read: &Actions| list.get(MOST - 1).is_some_and(|last| last.at >= read.since);
    let reach = match read {
        None => Reach::Nothing,
        Some(read) if read.reaches_back() || is_filled(read) => Reach::All,
        Some(_) => Reach::Part,
    };
    Changes { list, reach }
}

#[cfg(test)]
mod tests;
