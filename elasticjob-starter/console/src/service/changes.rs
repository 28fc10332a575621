//! The last changes in a registry center: what operators did, and configurations that were written.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::operations::JobOverview;
use elasticjob::trace::{AnyTraceReader, DecisionFilter, DecisionKind, PageRequest, ReadError, TraceReader};

use super::audit::ActionRecord;
use super::fires::instant;
use super::now;
use super::versions::is_near;
use crate::here::Here;

/// How many changes are shown.
pub(crate) const MOST: usize = 10;

/// How many actions are read for them: some of them changed nothing.
const READ: u32 = 50;

/// How old an action is at the most, in milliseconds. The index of the records is by time.
const OLDEST: i64 = 7 * 24 * 60 * 60 * 1_000;

/// How long a page waits for them. It is drawn whenever something changes.
const PATIENCE: Duration = Duration::from_secs(1);

/// A change of a job, or of all.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) job: String,
    pub(crate) at: i64,
    /// The action that made it. `None` for a configuration that was written, and of which no action is recorded: a program wrote
    /// it, or another console.
    pub(crate) action: Option<ActionRecord>,
}

/// The last changes, the last one first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    pub(crate) list: Vec<Change>,
    /// Whether the actions of operators could be read, where they are kept.
    pub(crate) are_read: bool,
}

impl Changes {
    /// The last changes of jobs that the caller sees, of which these had their configuration written last.
    pub(crate) async fn of(here: &Here, configured: &[Arc<JobOverview>]) -> Self {
        let actions = match here.registry.action_reader().filter(|_| !here.registry.kept_actions().pauses()) {
            Some(reader) => match tokio::time::timeout(PATIENCE, last(reader, here)).await {
                Ok(Ok(actions)) => Some(actions),
                // The page of the audit says what is wrong with them.
                Ok(Err(_)) | Err(_) => {
                    here.registry.kept_actions().pause();
                    None
                }
            },
            None => None,
        };
        let written = configured.iter().filter_map(|job| Some((job.job.to_string(), job.configured?)));
        Self { are_read: actions.is_some(), list: merged(actions.unwrap_or_default(), written) }
    }
}

/// The last actions that changed something, or may have.
async fn last(reader: &AnyTraceReader, here: &Here) -> Result<Vec<ActionRecord>, ReadError> {
    let mut filter = DecisionFilter::default();
    (filter.jobs, filter.kinds) = (here.identity.seen_jobs(here.registry.name()), vec![DecisionKind::Operator]);
    filter.from = Some(instant(now() - OLDEST));
    let found = reader.decisions(&filter, &PageRequest::default().limit(READ)).await?;
    let actions = found.records.into_iter().map(ActionRecord);
    Ok(actions.filter(|record| matches!(record.action().outcome(), "done" | "unknown")).collect())
}

/// Both in the order of time. A configuration that a recorded action wrote is that action.
fn merged(actions: Vec<ActionRecord>, written: impl Iterator<Item = (String, i64)>) -> Vec<Change> {
    let at = |record: &ActionRecord| record.0.at.timestamp_millis();
    let is_recorded = |job: &str, when: i64| {
        let wrote =
            |record: &&ActionRecord| record.0.job_name == job && record.action().name() == "update-configuration";
        actions.iter().filter(wrote).any(|record| is_near(at(record), when))
    };
    let written: Vec<Change> = written
        .filter(|(job, when)| !is_recorded(job, *when))
        .map(|(job, at)| Change { job, at, action: None })
        .collect();
    let acted = actions.into_iter().map(|record| Change {
        job: record.0.job_name.clone(),
        at: at(&record),
        action: Some(record),
    });
    let mut changes: Vec<Change> = acted.chain(written).collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.at));
    changes.truncate(MOST);
    changes
}

#[cfg(test)]
mod tests;
