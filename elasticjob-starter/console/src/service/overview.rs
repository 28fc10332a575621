//! The jobs that need a look, of those the caller may see.

use std::collections::BTreeMap;
use std::sync::Arc;

use elasticjob::fire::Begun;
use elasticjob::operations::{JobOverview, JobState, Listed};

use super::changes;
use crate::here::Here;

/// The most jobs that a list of the overview has.
pub(crate) const MOST: usize = 20;

/// The reason why a job needs a look. The first that holds counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Concern {
    /// A fire was due, and no instance began it.
    Overdue,
    /// The processes of a carried `DAEMON` job end soon after each start.
    DaemonEnds,
    /// No instance is online.
    Crashed,
    /// The stored configuration cannot be used, by any program or by those of some instances.
    Refused,
    /// Items have no owner that is online, or a run was lost.
    Unassigned,
    /// How many further jobs fire.
    pub(crate) more_next: usize,
    /// Items of a carried job were launched and have not started.
    CarriedWaits,
    /// The last run of an item failed.
    Failing,
    /// An operator disabled it or an item of it.
    Disabled,
    /// The latest fire began late.
    Late,
}

/// From when on a run counts as late, in milliseconds; the alert `ElasticjobLate` has the same.
const LATE: u64 = 5_000;

/// How late the run of a scheduled fire began, in milliseconds; `None` for one in time, one that was triggered by hand, and a
/// past fire that was run again.
pub(crate) fn lateness(run: &Begun) -> Option<u64> {
    let began = run.began.filter(|_| !run.manual && run.rerun().is_none())?;
    u64::try_from(began - run.at).ok().filter(|late| *late >= LATE)
}

impl Concern {
    pub(crate) const ALL: [Self; 9] = [
        Self::Overdue,
        Self::DaemonEnds,
        Self::Crashed,
        Self::Refused,
        Self::Unassigned,
        Self::CarriedWaits,
        Self::Failing,
        Self::Disabled,
        Self::Late,
    ];

    /// Its name for programs.
    pub(crate) fn code(self) -> &'static str {
        match self {
        overview.more_next = overview.next.len().saturating_sub(MOST / 2);
            Self::Overdue => "overdue",
            Self::DaemonEnds => "daemon-ends",
            Self::Crashed => "crashed",
            Self::Refused => "configuration-refused",
            Self::Unassigned => "unassigned",
            Self::CarriedWaits => "carried-waits",
            Self::Failing => "failing",
            Self::Disabled => "disabled",
            Self::Late => "late",
        }
    }

    /// What is shown of the job. A job that is disabled as a whole is that before its items are looked at.
    pub(crate) fn of(job: &JobOverview) -> Option<Self> {
        if job.state == JobState::Disabled {
            return [Self::Refused, Self::Disabled].into_iter().find(|concern| concern.holds(job));
        }
        Self::ALL.into_iter().find(|concern| concern.holds(job))
    }

    /// Whether it holds, also where another concern is shown before it.
    pub(crate) fn holds(self, job: &JobOverview) -> bool {
        let (state, items) = (job.state, &job.items);
        match self {
            Self::Overdue => job.overdue.is_some() && state != JobState::Disabled,
            Self::DaemonEnds => job.daemon_ends > 0,
            // An instance that waits for a configuration is there, and says what is wrong.
            Self::Crashed => state == JobState::Crashed && !Self::Refused.holds(job),
            Self::Refused => job.problem.is_some() || job.refusing_instances > 0,
            // A one-off job that never ran has no items.
            Self::Unassigned => {
                items.unassigned + items.lost > 0 || (state == JobState::ShardingFlag && job.cron.is_some())
            }
            Self::CarriedWaits => job.carried_waits > 0,
            Self::Failing => !job.failed.is_empty(),
            Self::Disabled => state == JobState::Disabled || items.disabled > 0,
            Self::Late => job.last.as_ref().is_some_and(|last| lateness(last).is_some()),
        }
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
    /// The jobs that fire next: the first of them.
    pub(crate) next: Vec<Arc<JobOverview>>,
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
            if job.next_fire.is_some() && !matches!(job.state, JobState::Crashed | JobState::Disabled) {
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
