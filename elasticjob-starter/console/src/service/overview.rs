//! The jobs that need a look, of those the caller may see.

use std::collections::BTreeMap;
use std::sync::Arc;

use elasticjob::operations::{JobOverview, JobState, Listed};

use crate::here::Here;

/// The most jobs that a list of the overview has.
pub(crate) const MOST: usize = 20;

/// The reason why a job needs a look. The first that holds counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Concern {
    /// A fire was due, and no instance began it.
    Overdue,
    /// No instance is online.
    Crashed,
    /// The stored configuration cannot be used.
    Refused,
    /// Items have no owner that is online, or a run was lost.
    Unassigned,
    /// The last run of an item failed.
    Failing,
    /// An operator disabled it or an item of it.
    Disabled,
}

impl Concern {
    pub(crate) const ALL: [Self; 6] =
        [Self::Overdue, Self::Crashed, Self::Refused, Self::Unassigned, Self::Failing, Self::Disabled];

    /// Its name for programs.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Overdue => "overdue",
            Self::Crashed => "crashed",
            Self::Refused => "configuration-refused",
            Self::Unassigned => "unassigned",
            Self::Failing => "failing",
            Self::Disabled => "disabled",
        }
    }

    pub(crate) fn of(job: &JobOverview) -> Option<Self> {
        let (state, items) = (job.state, &job.items);
        let concerns = [
            (job.overdue.is_some() && state != JobState::Disabled, Self::Overdue),
            (state == JobState::Crashed, Self::Crashed),
            (job.problem.is_some(), Self::Refused),
            (state == JobState::Disabled, Self::Disabled),
            // A one-off job that never ran has no items.
            (
                items.unassigned + items.lost > 0 || (state == JobState::ShardingFlag && job.cron.is_some()),
                Self::Unassigned,
            ),
            (!job.failed.is_empty(), Self::Failing),
            (items.disabled > 0, Self::Disabled),
        ];
        concerns.into_iter().find_map(|(holds, concern)| holds.then_some(concern))
    }
}

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
    /// The jobs that fire next.
    pub(crate) next: Vec<Arc<JobOverview>>,
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
            if let Some(concern) = Concern::of(&job) {
                overview.concerns.entry(concern).or_default().push(job.clone());
            }
            if job.running_since.is_some() {
                overview.running += 1;
                overview.now.push(job.clone());
            }
            if job.next_fire.is_some() && !matches!(job.state, JobState::Crashed | JobState::Disabled) {
                overview.next.push(job);
            }
        }
        if let Some(overdue) = overview.concerns.get_mut(&Concern::Overdue) {
            overdue.sort_by_key(|job| job.overdue.map(|overdue| overdue.since));
        }
        overview.now.sort_by_key(|job| job.running_since);
        overview.now.truncate(MOST);
        overview.next.sort_by_key(|job| job.next_fire);
        overview.next.truncate(MOST / 2);
        overview
    }

    /// How many jobs need nothing.
    pub(crate) fn well(&self) -> usize {
        self.total - self.concerns.values().map(Vec::len).sum::<usize>()
    }

    pub(crate) fn count(&self, concern: Concern) -> usize {
        self.concerns.get(&concern).map_or(0, Vec::len)
    }
}
