//! The operator who disabled a job, a server of a job or an item, and the reason, from the recorded actions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::operations::{JobOverview, JobSnapshot, Reason, ServerStatus};
use elasticjob::trace::{
    AnyTraceReader, DecisionFilter, DecisionKind, OperatorAction, PageRequest, ReadError, TraceReader,
};
use futures_util::stream::{self, StreamExt};
use serde::Serialize;
use tokio::time::{Instant, timeout_at};
use utoipa::ToSchema;

use super::audit::ActionRecord;
use super::fires::instant;
use super::now;
use crate::here::Here;

const MINUTE: i64 = 60_000;

/// How far the recorded time of an action and the time of the node that it changed may be apart, in milliseconds: two machines write
/// them, each by its own clock.
const APART: i64 = 60_000;

/// For this long a record may be on its way to the database, in milliseconds.
const ON_ITS_WAY: i64 = 60_000;

/// How many actions are read around a moment, the newest ones.
const MOST: u32 = 200;

/// How many moments are read for a page, and how many of them at a time. The next time it is drawn it has further ones.
const MOST_READ: usize = 24;
const AT_A_TIME: usize = 4;

/// How long a page waits for them. It is drawn whenever something changes, and says the rest without them.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long records are not asked for that could not be read.
const PAUSE: Duration = Duration::from_secs(30);

/// For how many moments actions are kept.
const MOST_KEPT: usize = 10_000;

/// The operator who disabled something, as far as that was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DisabledBy {
    /// The operator.
    pub(crate) actor: String,
    /// The reason that the operator gave; empty where there was none.
    pub(crate) reason: String,
}

/// Something of a job that is disabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// All servers of the job.
    Job,
    Server(String),
    Item(ShardingItem),
}

impl What {
    /// Whether an action is one that disabled it.
    fn is_of(&self, action: OperatorAction<'_>) -> bool {
        let has = |part: &str| action.parts().contains(&part);
        match self {
            Self::Job => action.name() == "disable-servers",
            Self::Server(server) => action.name() == "disable-servers" && has(&format!("server {server}")),
            Self::Item(item) => action.name() == "disable-item" && has(&format!("item {item}")),
        }
    }
}

/// What is known of who disabled something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum By {
    Operator(DisabledBy),
    /// No action is recorded: another program did it, or a console that records nothing.
    NotRecorded,
    /// The records could not be read so far, or may not be written yet.
    Unread,
}

impl By {
    /// The operator, where one is known.
    pub(crate) fn operator(self) -> Option<DisabledBy> {
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
pub(crate) struct KeptActions(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    of: BTreeMap<Moment, Arc<[ActionRecord]>>,
    /// Until then none are asked for.
    pauses_until: Option<Instant>,
}

impl KeptActions {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, moment: Moment, actions: Arc<[ActionRecord]>) {
        let mut kept = self.lock();
        if kept.of.len() >= MOST_KEPT {
            kept.of.clear();
        }
        kept.of.insert(moment, actions);
    }
}

/// The recorded actions that may have disabled what is disabled now.
#[derive(Debug, Default)]
pub(crate) struct Disablings {
    of: BTreeMap<Moment, Arc<[ActionRecord]>>,
    /// Whether there are records at all.
    is_recorded: bool,
    now: i64,
}

impl Disablings {
    /// The actions on these jobs, each of which something is disabled since this time. Each job is asked for by its name and for two
    /// minutes, so that the database has it in its index, and once; nothing is asked where nothing is disabled.
    pub(crate) async fn of(here: &Here, disabled: Vec<(JobName, i64)>) -> Self {
        let now = now();
        let Some(reader) = here.registry.action_reader() else { return Self { now, ..Self::default() } };
        let moments: BTreeSet<Moment> = disabled.into_iter().map(|(job, since)| (job, minute(since))).collect();
        let kept = here.registry.kept_actions();
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

    /// Who disabled it at this time.
    pub(crate) fn by(&self, job: &JobName, what: &What, since: Option<i64>) -> By {
        let Some(since) = since.filter(|_| self.is_recorded) else { return By::NotRecorded };
        let Some(actions) = self.of.get(&(job.clone(), minute(since))) else { return By::Unread };
        let apart = |record: &ActionRecord| (record.0.at.timestamp_millis() - since).abs();
        let is_meant = |record: &&ActionRecord| {
            record.action().outcome() == "done" && apart(record) <= APART && what.is_of(record.action())
        };
        match actions.iter().filter(is_meant).min_by_key(|record| apart(record)) {
            Some(record) => {
                By::Operator(DisabledBy { actor: record.action().actor().to_owned(), reason: record.0.reason.clone() })
            }
            None if self.now < since + ON_ITS_WAY => By::Unread,
            None => By::NotRecorded,
        }
    }

    /// Who disabled the job or the first of its items that is disabled. `None` where nothing of it is.
    pub(crate) fn by_of_job(&self, job: &JobOverview) -> Option<By> {
        let (what, since) = disabled(job)?;
        Some(self.by(&job.job, &what, since))
    }
}

/// The minute of a time.
fn minute(at: i64) -> i64 {
    at - at.rem_euclid(MINUTE)
}

/// Reads the actions on a job that may have disabled something of it in a minute.
async fn read(reader: &AnyTraceReader, moment: Moment) -> Result<(Moment, Arc<[ActionRecord]>), ReadError> {
    let mut filter = DecisionFilter::of_job(moment.0.clone());
    filter.kinds = vec![DecisionKind::Operator];
    (filter.from, filter.until) = (Some(instant(moment.1 - APART)), Some(instant(moment.1 + MINUTE + APART)));
    let page = reader.decisions(&filter, &PageRequest::default().limit(MOST)).await?;
    Ok((moment, page.records.into_iter().map(ActionRecord).collect()))
}

/// The jobs of a list of which something is disabled, with since when.
pub(crate) fn of_list<'j>(jobs: impl IntoIterator<Item = &'j JobOverview>) -> Vec<(JobName, i64)> {
    jobs.into_iter().filter_map(|job| Some((job.job.clone(), disabled(job)?.1?))).collect()
}

/// A job for each of its servers and items that is disabled, with since when.
pub(crate) fn of_parts(snapshot: &JobSnapshot) -> Vec<(JobName, i64)> {
    let servers = snapshot.servers().filter(|(_, status)| *status == ServerStatus::Disabled);
    let servers = servers.filter_map(|(server, _)| snapshot.server_changed(server));
    let items = snapshot.items.values().filter(|item| item.disabled).filter_map(|item| item.disabled_since);
    servers.chain(items).map(|since| (snapshot.job.clone(), since)).collect()
}

/// The job for an item of it, where that is disabled, with since when.
pub(crate) fn of_item(snapshot: &JobSnapshot, item: ShardingItem) -> Vec<(JobName, i64)> {
    let since = snapshot.items.get(&item).filter(|item| item.disabled).and_then(|item| item.disabled_since);
    since.map(|since| (snapshot.job.clone(), since)).into_iter().collect()
}

/// What is disabled of a job, and since when: the whole job, or else the first of its items.
pub(crate) fn disabled(job: &JobOverview) -> Option<(What, Option<i64>)> {
    let of_job = job.obstacles.iter().find(|finding| finding.reason == Reason::AllServersDisabled);
    let of_item = || job.obstacles.iter().find(|finding| finding.reason == Reason::ItemDisabled);
    match of_job {
        Some(finding) => Some((What::Job, finding.since)),
        None => of_item().and_then(|finding| Some((What::Item(finding.item?), finding.since))),
    }
}

#[cfg(test)]
mod tests;
