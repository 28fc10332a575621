//! The list of the jobs.

use std::sync::Arc;

use elasticjob::operations::alarms::Concern;
use elasticjob::operations::{JobOverview, JobState};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::Problem;
use crate::here::Here;
use crate::texts;

/// The most jobs of a page.
const MOST: usize = 200;

/// The longest text that is searched for, in characters.
const LONGEST: usize = 200;

/// How many jobs are on a page unless it is said.
const USUAL: usize = 50;

/// Which jobs are listed.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct JobQuery {
    /// A part of the name or of the description.
    pub(crate) q: String,
    /// The state; empty for all.
    pub(crate) status: String,
    /// A concern of the overview: overdue, daemon-ends, crashed, configuration-refused, unassigned, carried-waits, failing, disabled, late;
    /// empty for all. A job has one, the first that holds.
    pub(crate) concern: String,
    /// `true` for the jobs that run now; empty for all.
    pub(crate) running: String,
    /// The order: `next-fire` for the job that fires next first, and those that do not fire last; empty for the order of names.
    pub(crate) sort: String,
    /// The place after which the page begins, as the page before has it in `next`; empty for the first page.
    pub(crate) cursor: String,
    /// How many.
    pub(crate) limit: Option<usize>,
}

/// The order in which the job that fires next is first.
pub(crate) const NEXT_FIRE: &str = "next-fire";

/// A page of jobs.
#[derive(Debug, Clone)]
pub(crate) struct JobPage {
    pub(crate) jobs: Vec<Arc<JobOverview>>,
    /// How many jobs the filter leaves.
    pub(crate) total: usize,
    /// The cursor of the next page.
    pub(crate) next: Option<String>,
    /// Since when the registry center is lost.
    pub(crate) lost_since: Option<i64>,
}

impl JobQuery {
    /// The parameters of the page that follows.
    pub(crate) fn after(&self, cursor: &str) -> String {
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        let limit = self.limit.map(|limit| limit.to_string()).unwrap_or_default();
        let fields = [
            ("q", self.q.as_str()),
            ("status", &self.status),
            ("concern", &self.concern),
            ("running", &self.running),
            ("sort", &self.sort),
            ("cursor", cursor),
            ("limit", &limit),
        ];
        for (name, value) in fields {
            if !value.is_empty() {
                parameters.append_pair(name, value);
            }
        }
        parameters.finish()
    }

    /// What is wrong with it.
    fn check(&self) -> Result<(), Problem> {
        let is_state = |state: &JobState| self.status.eq_ignore_ascii_case(state.as_str());
        if self.q.chars().count() > LONGEST {
            return Err(Problem::bad_request(texts::search_too_long(LONGEST)));
        }
        if self.limit.is_some_and(|limit| !(1..=MOST).contains(&limit)) {
            return Err(Problem::bad_request(texts::limit_out_of_range(MOST)));
        }
        if !self.status.is_empty() && !JobState::ALL.iter().any(is_state) {
            let states = JobState::ALL.map(JobState::as_str).join(", ");
            return Err(Problem::bad_request(texts::no_such_status(&self.status, states)));
        }
        if !self.concern.is_empty() && self.wanted_concern().is_none() {
            let concerns = Concern::ALL.iter().map(|concern| concern.code()).collect::<Vec<_>>().join(", ");
            return Err(Problem::bad_request(texts::field_one_of("concern", concerns)));
        }
        if !matches!(self.running.as_str(), "" | "true") {
            return Err(Problem::bad_request(texts::field_one_of("running", "true")));
        }
        if !["", NEXT_FIRE].contains(&self.sort.as_str()) {
            return Err(Problem::bad_request(texts::field_one_of("sort", NEXT_FIRE)));
        }
        Ok(())
    }

    fn wanted_concern(&self) -> Option<Concern> {
        Concern::ALL.iter().copied().find(|concern| concern.code() == self.concern)
    }

    /// How many of the jobs come before those that are asked for. Names keep their order, so a cursor is the name of the last one; next
    /// fires do not, so there a cursor is a number.
    fn start(&self, matching: &[Arc<JobOverview>]) -> Result<usize, Problem> {
        match (self.cursor.as_str(), self.sort.is_empty()) {
            ("", _) => Ok(0),
            (last, true) => Ok(matching.partition_point(|job| job.job.as_str() <= last)),
            (number, false) => number
                .parse()
                .map_err(|_| Problem::bad_request(texts::field_wrong("cursor", format!("'{number}' is no number")))),
        }
    }

    fn matches(&self, job: &JobOverview) -> bool {
        let wanted = self.q.to_lowercase();
        let is_named = |text: &str| text.to_lowercase().contains(&wanted);
        (self.status.is_empty() || self.status.eq_ignore_ascii_case(job.state.as_str()))
            && (self.concern.is_empty() || Concern::of(job) == self.wanted_concern())
            && (self.running.is_empty() || job.running_since.is_some())
            && (wanted.is_empty() || is_named(job.job.as_str()) || is_named(&job.description))
    }
}

/// When a job fires next, in milliseconds since 1970; `None` where its state keeps it from firing.
pub(crate) fn next_fire(job: &JobOverview) -> Option<i64> {
    job.next_fire.filter(|_| !matches!(job.state, JobState::Crashed | JobState::Disabled))
}

/// All jobs that the caller may see and that the filters of the query leave, and since when the registry center is lost.
pub(crate) async fn matching(here: &Here, query: &JobQuery) -> Result<(Vec<Arc<JobOverview>>, Option<i64>), Problem> {
    query.check()?;
    let listed = here.registry.catalogue().jobs().await?;
    let matching = listed.jobs.into_iter().filter(|it| query.matches(it) && here.sees(&it.job)).collect();
    Ok((matching, listed.lost_since))
}

/// The page of the jobs that the query asks for.
pub(crate) async fn list(here: &Here, query: &JobQuery) -> Result<JobPage, Problem> {
    let (mut matching, lost_since) = matching(here, query).await?;
    // They come in the order of their names.
    if !query.sort.is_empty() {
        matching.sort_by_key(|job| next_fire(job).unwrap_or(i64::MAX));
    }
    let total = matching.len();
    let start = query.start(&matching)?;
    let jobs: Vec<_> = matching.into_iter().skip(start).take(query.limit.unwrap_or(USUAL)).collect();
    let end = start.saturating_add(jobs.len());
    let next = jobs.last().filter(|_| end < total).map(|last| match query.sort.as_str() {
        "" => last.job.to_string(),
        _ => end.to_string(),
    });
    Ok(JobPage { jobs, total, next, lost_since })
}
