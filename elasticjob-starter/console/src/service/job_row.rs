//! A job in a list, as the API writes it.

use std::collections::BTreeMap;

use elasticjob::operations::{ItemCounts, JobOverview, Overdue};
use serde::Serialize;
use utoipa::ToSchema;

use super::disabled::{DisabledBy, Disablings};
use super::job::{FindingView, RunView};
use super::time::Time;
use crate::here::Here;
use crate::schedule_words;

/// A job: its state, what runs, what went wrong, and what should have run and did not.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobRow {
    job: String,
    /// OK, CRASHED, DISABLED, SHARDING_FLAG, CONFIGURATION_REFUSED or FAILING.
    status: &'static str,
    description: String,
    /// `null` for a one-off job.
    cron: Option<String>,
    time_zone: Option<String>,
    /// The schedule in words, in the language of the header Accept-Language; `null` where it has no short words.
    schedule_words: Option<String>,
    /// Why the stored configuration cannot be used. The fields that come from it are empty then.
    problem: Option<String>,
    #[schema(value_type = Option<String>)]
    next_fire: Option<Time>,
    instance_count: usize,
    server_count: usize,
    sharding_total_count: usize,
    items: ItemCountsView,
    /// The run that was begun last, of all items.
    last: Option<RunView>,
    /// Of the ends of the last successful run of each item, the earliest; `null` where it is not known of an item.
    #[schema(value_type = Option<String>)]
    last_success: Option<Time>,
    /// The begin of the oldest run that goes on.
    #[schema(value_type = Option<String>)]
    running_since: Option<Time>,
    /// The items whose last run failed, with the cause; it is empty where no instance finished the run.
    #[schema(value_type = BTreeMap<String, String>)]
    failed_items: BTreeMap<u32, String>,
    overdue: Option<OverdueView>,
    /// What keeps the job or some of its items from running. Of several items with the same obstacle it has the first.
    obstacles: Vec<FindingView>,
    /// Who disabled the job, or the first of its items that is disabled; `null` where nothing of it is, or that was not
    /// recorded or not read so far.
    disabled_by: Option<DisabledBy>,
}

/// How many items are in which state.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ItemCountsView {
    running: usize,
    pending: usize,
    disabled: usize,
    /// Without an owner that is online.
    unassigned: usize,
    /// With a run that was lost.
    lost: usize,
}

/// Fires that no instance began.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OverdueView {
    /// The scheduled time of the earliest of them.
    #[schema(value_type = String)]
    since: Time,
    /// How many items it concerns.
    items: usize,
    /// Whether the time to begin it is over for an item.
    given_up: bool,
}

impl JobRow {
    pub(crate) fn of(here: &Here, disablings: &Disablings, job: &JobOverview) -> Self {
        Self {
            job: job.job.to_string(),
            status: job.state.as_str(),
            description: job.description.clone(),
            cron: job.cron.clone(),
            time_zone: job.time_zone.map(|zone| zone.to_string()),
            schedule_words: job.cron.as_deref().and_then(|cron| schedule_words::of(&here.text, cron)),
            problem: job.problem.as_ref().map(ToString::to_string),
            next_fire: job.next_fire.map(Time),
            instance_count: job.instances,
            server_count: job.servers,
            sharding_total_count: job.items.total,
            items: job.items.into(),
            last: job.last.clone().map(RunView::from),
            last_success: job.last_success.map(Time),
            running_since: job.running_since.map(Time),
            failed_items: job.failed.clone(),
            overdue: job.overdue.map(OverdueView::from),
            disabled_by: disablings.by_of_job(job).and_then(DisabledBy::of),
            obstacles: job.obstacles.iter().map(|finding| FindingView::of(here, finding, &job.job)).collect(),
        }
    }
}

impl From<ItemCounts> for ItemCountsView {
    fn from(counts: ItemCounts) -> Self {
        let ItemCounts { running, pending, disabled, unassigned, lost, .. } = counts;
        Self { running, pending, disabled, unassigned, lost }
    }
}

impl From<Overdue> for OverdueView {
    fn from(overdue: Overdue) -> Self {
        Self { since: Time(overdue.since), items: overdue.items, given_up: overdue.given_up }
    }
}
