//! The operator who disabled a job, a server of a job or an item, and the reason, from the recorded actions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::stream::{self, StreamExt};
use serde::Serialize;
use tokio::time::{Instant, timeout_at};

use super::{JobOverview, JobSnapshot, Reason};
use crate::ident::{JobName, ShardingItem};
use crate::operations::ServerStatus;
use crate::trace::{
    AnyTraceReader, DecisionFilter, DecisionKind, DecisionRecord, OperatorAction, PageRequest, ReadError, TraceReader,
};

const MINUTE: i64 = 60_000;

/// How far the recorded time of an action and the time of the node that it changed may be apart, in milliseconds: two machines write
/// them, each by its own clock.
const APART: i64 = 60_000;

/// For this long a record may be on its way to the database, in milliseconds.
const ON_ITS_WAY: i64 = 60_000;

/// How many actions are read around a moment, the newest ones.
const MOST: u32 = 200;

/// The largest number of moments that are read for a page. The next time it is drawn it has further ones.
pub const MOST_READ: usize = 24;

/// How many of them are read at a time.
const AT_A_TIME: usize = 4;

/// The time that a page waits for them. It is drawn whenever something changes, and says the rest without them.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// The time for which records are not asked for that could not be read.
pub const PAUSE: Duration = Duration::from_secs(30);

/// For how many moments actions are kept.
const MOST_KEPT: usize = 10_000;

/// The operator who disabled something, as far as that was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DisabledBy {
    /// The operator.
    pub actor: String,
    /// The reason that the operator gave; empty where there was none.
    pub reason: String,
}

/// Something of a job that is disabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// All servers of the job.
    Job,
    /// A server of the job, by its address.
    Server(String),
    /// An item of the job.
    Item(ShardingItem),
}

impl What {
    /// Whether an action is one that disabled it.
    fn is_of(&self, action: OperatorAction<'_>) -> bool {
        let has = |part: &str| action.parts().contains(&part);
        let is_meant = match self {
            Self::Job => action.name() == "disable-servers",
            Self::Server(server) => action.name() == "disable-servers" && has(&format!("server {server}")),
            Self::Item(item) => action.name() == "disable-item" && has(&format!("item {item}")),
        };
        is_meant && action.outcome() == "done"
    }
}

/// The knowledge of who disabled something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// An operator.
    Operator(DisabledBy),
    /// No action is recorded: another program did it, or a console that records nothing.
    NotRecorded,
    /// The records could not be read so far, or may not be written yet.
    Unread,
}

impl By {
    /// The operator, where one is known.
    pub fn operator(self) -> Option<DisabledBy> {
        match self {
            Self::Operator(by) => Some(by),
            Self::NotRecorded | Self::Unread => None,
        }
    }
}

/// A job, and the minute in which something of it was disabled.
type Moment = (JobName, i64);

/// The actions that were read so far. They are over, so they are read once.
#[derive(Debug, Default)]
pub struct KeptActions(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    of: BTreeMap<Moment, Arc<[DecisionRecord]>>,
    /// Until then none are asked for.
    pauses_until: Option<Instant>,
}

impl KeptActions {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, moment: Moment, actions: Arc<[DecisionRecord]>) {
        let mut kept = self.lock();
        if kept.of.len() >= MOST_KEPT {
            kept.of.clear();
        }
        kept.of.insert(moment, actions);
    }
}

/// The recorded actions that may have disabled what is disabled now.
#[derive(Debug, Default)]
pub struct Disablings {
    of: BTreeMap<Moment, Arc<[DecisionRecord]>>,
    /// Whether there are records at all.
    is_recorded: bool,
    now: i64,
}

impl Disablings {
    /// The actions on these jobs, each of which something is disabled since this time. Each job is asked for by its name and for two
    /// minutes, so that the database has it in its index, and once; nothing is asked where nothing is disabled.
    ///
    /// `kept` has what was read so far. Without a reader nothing is recorded. `now` is in milliseconds since 1970.
    pub async fn of(
        reader: Option<&AnyTraceReader>,
        kept: &KeptActions,
        disabled: Vec<(JobName, i64)>,
        now: i64,
    ) -> Self {
        let Some(reader) = reader else { return Self { now, ..Self::default() } };
        let moments: BTreeSet<Moment> = disabled.into_iter().map(|(job, since)| (job, minute(since))).collect();
        let (mut of, pauses) = {
            let known = kept.lock();
            let of = |moment: &Moment| Some((moment.clone(), known.of.get(moment)?.clone()));
            let of: BTreeMap<_, _> = moments.iter().filter_map(of).collect();
            (of, known.pauses_until.is_some_and(|until| Instant::now() < until))
        };
        let unread: Vec<Moment> = moments.into_iter().filter(|moment| !pauses && !of.contains_key(moment)).collect();
        let reads: Vec<_> = unread.into_iter().take(MOST_READ).map(|moment| read(reader, moment)).collect();
        let mut reads = stream::iter(reads).buffer_unordered(AT_A_TIME);
        let until = Instant::now() + PATIENCE;
        loop {
            match timeout_at(until, reads.next()).await {
                Ok(Some(Ok((moment, actions)))) => {
                    if moment.1 + MINUTE + ON_ITS_WAY < now {
                        kept.keep(moment.clone(), actions.clone());
                    }
                    of.insert(moment, actions);
                }
                Ok(None) => break,
                // The pages of the records say what is wrong with them.
                Ok(Some(Err(_))) | Err(_) => {
                    kept.lock().pauses_until = Some(Instant::now() + PAUSE);
                    break;
                }
            }
        }
        Self { of, is_recorded: true, now }
    }

    /// The operator who disabled it at this time, as far as that is known.
    pub fn by(&self, job: &JobName, what: &What, since: Option<i64>) -> By {
        let Some(since) = since.filter(|_| self.is_recorded) else { return By::NotRecorded };
        let Some(actions) = self.of.get(&(job.clone(), minute(since))) else { return By::Unread };
        let apart = |record: &DecisionRecord| (record.at.timestamp_millis() - since).abs();
        let is_meant = |record: &&DecisionRecord| apart(record) <= APART && what.is_of(OperatorAction::of(record));
        match actions.iter().filter(is_meant).min_by_key(|record| apart(record)) {
            Some(record) => {
                let actor = OperatorAction::of(record).actor().to_owned();
                By::Operator(DisabledBy { actor, reason: record.reason.clone() })
            }
            None if self.now < since + ON_ITS_WAY => By::Unread,
            None => By::NotRecorded,
        }
    }

    /// The operator who disabled the job or the first of its items that is disabled. `None` where nothing of it is.
    pub fn by_of_job(&self, job: &JobOverview) -> Option<By> {
        let (what, since) = disabled(job)?;
        Some(self.by(&job.job, &what, since))
    }
}

fn instant(at: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(at).unwrap_or_default()
}

/// The minute of a time.
fn minute(at: i64) -> i64 {
    at - at.rem_euclid(MINUTE)
}

/// Reads the actions on a job that may have disabled something of it in a minute.
async fn read(reader: &AnyTraceReader, moment: Moment) -> Result<(Moment, Arc<[DecisionRecord]>), ReadError> {
    let mut filter = DecisionFilter::of_job(moment.0.clone());
    filter.kinds = vec![DecisionKind::Operator];
    (filter.from, filter.until) = (Some(instant(moment.1 - APART)), Some(instant(moment.1 + MINUTE + APART)));
    let page = reader.decisions(&filter, &PageRequest::default().limit(MOST)).await?;
    Ok((moment, page.records.into()))
}

/// The jobs of a list of which something is disabled, with since when.
pub fn of_list<'j>(jobs: impl IntoIterator<Item = &'j JobOverview>) -> Vec<(JobName, i64)> {
    jobs.into_iter().filter_map(|job| Some((job.job.clone(), disabled(job)?.1?))).collect()
}

/// A job for each of its servers and items that is disabled, with since when.
pub fn of_parts(snapshot: &JobSnapshot) -> Vec<(JobName, i64)> {
    let servers = snapshot.servers().filter(|(_, status)| *status == ServerStatus::Disabled);
    let servers = servers.filter_map(|(server, _)| snapshot.server_changed(server));
    let items = snapshot.items.values().filter(|item| item.disabled).filter_map(|item| item.disabled_since);
    servers.chain(items).map(|since| (snapshot.job.clone(), since)).collect()
}

/// The job for an item of it, where that is disabled, with since when.
pub fn of_item(snapshot: &JobSnapshot, item: ShardingItem) -> Vec<(JobName, i64)> {
    let since = snapshot.items.get(&item).filter(|item| item.disabled).and_then(|item| item.disabled_since);
    since.map(|since| (snapshot.job.clone(), since)).into_iter().collect()
}

/// The disabled part of a job, and since when it is: the whole job, or else the first of its items.
pub fn disabled(job: &JobOverview) -> Option<(What, Option<i64>)> {
    let of_job = job.obstacles.iter().find(|finding| finding.reason == Reason::AllServersDisabled);
    let of_item = || job.obstacles.iter().find(|finding| finding.reason == Reason::ItemDisabled);
    match of_job {
        Some(finding) => Some((What::Job, finding.since)),
        None => of_item().and_then(|finding| Some((What::Item(finding.item?), finding.since))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_and_not_there_is_not_recorded_once_its_record_must_have_come() {
        let job = JobName::new("off").expect("a name");
        let known =
            |now: i64| Disablings { of: BTreeMap::from([((job.clone(), 120_000), [].into())]), is_recorded: true, now };
        let by = |disablings: &Disablings, since: i64| disablings.by(&job, &What::Job, Some(since));
        assert_eq!(by(&known(190_000), 130_000), By::NotRecorded);
        assert_eq!(by(&known(189_999), 130_000), By::Unread, "the record may be on its way");
        assert_eq!(by(&known(900_000), 180_000), By::Unread, "that minute was not read");
        assert_eq!(by(&Disablings::default(), 130_000), By::NotRecorded, "nothing has records");
        assert_eq!(known(900_000).by(&job, &What::Job, None), By::NotRecorded);
    }
}
