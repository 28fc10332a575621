//! Who disabled a job, a server of a job or an item, and why, from the recorded actions of operators.

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::operations::{JobOverview, JobSnapshot, Reason, ServerStatus};
use elasticjob::trace::{DecisionFilter, DecisionKind, OperatorAction, PageRequest, TraceReader};
use serde::Serialize;
use utoipa::ToSchema;

use super::audit::ActionRecord;
use super::fires::instant;
use crate::here::Here;

/// How far the recorded time of an action and the time of the node that it changed may be apart, in milliseconds: two machines write
/// them, each by its own clock.
const APART: i64 = 60_000;

/// How many actions are read, the newest ones.
const MOST: u32 = 1_000;

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

/// The recorded actions that may have disabled what is disabled now.
#[derive(Debug, Default)]
pub(crate) struct Disablings(Vec<ActionRecord>);

impl Disablings {
    /// Reads the actions on these jobs, each of which something is disabled since this time: all jobs of a page together. Nothing is
    /// asked where nothing is disabled. Where the records cannot be read, it is not known who disabled something.
    pub(crate) async fn of(here: &Here, disabled: Vec<(JobName, i64)>) -> Self {
        let times = || disabled.iter().map(|(_, since)| *since);
        let (Some(reader), Some(first), Some(last)) = (here.registry.action_reader(), times().min(), times().max())
        else {
            return Self::default();
        };
        let mut filter = DecisionFilter::default();
        filter.kinds = vec![DecisionKind::Operator];
        filter.jobs = disabled.iter().map(|(job, _)| job.to_string()).collect();
        filter.jobs.sort_unstable();
        filter.jobs.dedup();
        (filter.from, filter.until) = (Some(instant(first - APART)), Some(instant(last + APART)));
        let found = reader.decisions(&filter, &PageRequest::default().limit(MOST)).await;
        Self(found.map(|page| page.records.into_iter().map(ActionRecord).collect()).unwrap_or_default())
    }

    /// Who disabled it at this time. `None` where that was not recorded.
    pub(crate) fn by(&self, job: &JobName, what: &What, since: Option<i64>) -> Option<DisabledBy> {
        let since = since?;
        let apart = |record: &ActionRecord| (record.0.at.timestamp_millis() - since).abs();
        let is_meant = |record: &&ActionRecord| {
            record.0.job_name == job.as_str()
                && matches!(record.action().outcome(), "done" | "unknown")
                && apart(record) <= APART
                && what.is_of(record.action())
        };
        let record = self.0.iter().filter(is_meant).min_by_key(|record| apart(record))?;
        Some(DisabledBy { actor: record.action().actor().to_owned(), reason: record.0.reason.clone() })
    }

    /// Who disabled the job or the first of its items that is disabled. `None` where nothing of it is, or that was not recorded.
    pub(crate) fn by_of_job(&self, job: &JobOverview) -> Option<DisabledBy> {
        let (what, since) = disabled(job)?;
        self.by(&job.job, &what, since)
    }
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
