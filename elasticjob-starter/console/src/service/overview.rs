//! The jobs that need a look, of those the caller may see.

use std::collections::BTreeMap;
use std::sync::Arc;

use elasticjob::operations::alarms::Concern;
use elasticjob::operations::{JobOverview, Listed};

use super::changes;
use super::jobs::next_fire;
use crate::here::Here;

/// The most jobs that a list of the overview has.
pub(crate) const MOST: usize = 20;

/// What needs a look.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overview {
    /// How many jobs there are.
    pub(crate) total: usize,
    /// How many of them run now.
    pub(crate) running: usize,
    /// The jobs of each concern, the most urgent first.
    pub(crate) concerns: BTreeMap<Concern, Vec<Arc<JobOverview>>>,
    /// The jobs that run, the oldest run first.
    pub(crate) now: Vec<Arc<JobOverview>>,
    /// The jobs that fire next: the first of them.
    pub(crate) next: Vec<Arc<JobOverview>>,
    /// How many further jobs fire.
    pub(crate) more_next: usize,
    /// The jobs whose configuration was written last, the last one first.
    pub(crate) configured: Vec<Arc<JobOverview>>,
}

impl Overview {
    /// The overview for the caller.
    pub(crate) fn of(here: &Here, listed: Listed) -> Self {
        Self::of_jobs(listed.jobs.into_iter().filter(|job| here.sees(&job.job)))
    }

    fn of_jobs(jobs: impl Iterator<Item = Arc<JobOverview>>) -> Self {
        let mut overview = Self::default();
        for job in jobs {
            overview.total += 1;
            if job.configured.is_some() {
                overview.configured.push(job.clone());
            }
            if let Some(concern) = Concern::of(&job) {
                overview.concerns.entry(concern).or_default().push(job.clone());
            }
            if job.running_since.is_some() {
                overview.running += 1;
                overview.now.push(job.clone());
            }
            if next_fire(&job).is_some() {
                overview.next.push(job);
            }
        }
        if let Some(overdue) = overview.concerns.get_mut(&Concern::Overdue) {
            overdue.sort_by_key(|job| job.overdue.map(|overdue| overdue.since));
        }
        overview.now.sort_by_key(|job| job.running_since);
        overview.now.truncate(MOST);
        overview.configured.sort_by_key(|job| std::cmp::Reverse(job.configured));
        overview.configured.truncate(changes::MOST);
        overview.next.sort_by_key(|job| next_fire(job));
        overview.more_next = overview.next.len().saturating_sub(MOST / 2);
        overview.next.truncate(MOST / 2);
        overview
    }

    /// How many jobs need nothing.
    pub(crate) fn well(&self) -> usize {
        self.total - self.concerns.values().map(Vec::len).sum::<usize>()
    }

    pub(crate) fn count(&self, concern: &Concern) -> usize {
        self.concerns.get(concern).map_or(0, Vec::len)
    }
}
