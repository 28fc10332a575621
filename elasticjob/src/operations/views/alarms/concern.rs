//! The reasons why a job needs a look.

use crate::fire::Begun;
use crate::operations::{Finding, JobOverview, JobState, Reason};

/// From when on a run counts as late, in milliseconds; the alert `ElasticjobLate` has the same.
const LATE: u64 = 5_000;

/// The delay of the run of a scheduled fire, in milliseconds; `None` for one in time, one that was triggered by hand, and a
/// past fire that was run again.
pub fn lateness(run: &Begun) -> Option<u64> {
    let began = run.began.filter(|_| !run.manual && run.rerun().is_none())?;
    u64::try_from(began - run.at).ok().filter(|late| *late >= LATE)
}

/// The reason why a job needs a look. The first that holds counts. Later releases may have more of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Concern {
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
    /// Items of a carried job were launched and have not started, or a process of a `DAEMON` job does not start.
    CarriedWaits,
    /// The last run of an item failed.
    Failing,
    /// An operator disabled it or an item of it.
    Disabled,
    /// The latest fire began late.
    Late,
}

impl Concern {
    /// All, the most urgent first.
    pub const ALL: &[Self] = &[
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
    pub fn code(self) -> &'static str {
        match self {
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

    /// The concern that is shown of the job. A job that is disabled as a whole is that before its items are looked at.
    pub fn of(job: &JobOverview) -> Option<Self> {
        if job.state == JobState::Disabled {
            return [Self::Refused, Self::Disabled].into_iter().find(|concern| concern.holds(job));
        }
        Self::ALL.iter().copied().find(|concern| concern.holds(job))
    }

    /// Whether it holds, also where another concern is shown before it.
    pub fn holds(self, job: &JobOverview) -> bool {
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

    /// Since when it holds of a job that has it, as far as that is known, in milliseconds since 1970. A job fails since the end of
    /// its last good run; of one that began late it is the scheduled time of the fire.
    pub fn since(self, job: &JobOverview) -> Option<i64> {
        match self {
            Self::Overdue => job.overdue.map(|overdue| overdue.since),
            Self::Failing => job.failing_since,
            Self::Late => job.last.as_ref().map(|last| last.at),
            _ => {
                let own = job.obstacles.iter().filter(|finding| self.is_of(finding, job.state));
                own.filter_map(|finding| finding.since).min()
            }
        }
    }

    /// Whether an obstacle of a job in this state is what makes it: other ones of the same job may be older.
    fn is_of(self, Finding { reason, .. }: &Finding, state: JobState) -> bool {
        match self {
            Self::DaemonEnds => matches!(reason, Reason::DaemonEnds { .. }),
            Self::Crashed => matches!(reason, Reason::NoInstance | Reason::SessionlessInstances(_)),
            Self::Refused => matches!(reason, Reason::ConfigurationRefused(_) | Reason::RefusedByInstances { .. }),
            Self::Unassigned => matches!(
                reason,
                Reason::NoLeader
                    | Reason::Resharding
                    | Reason::NotAssignedYet
                    | Reason::NoOwner
                    | Reason::OwnerOffline(_)
                    | Reason::OwnerDisabled(_)
                    | Reason::RunLost { .. }
                    | Reason::AwaitsFailover
            ),
            Self::CarriedWaits => matches!(reason, Reason::CarriedWaits { .. } | Reason::DaemonWaits { .. }),
            Self::Disabled if state == JobState::Disabled => {
                matches!(reason, Reason::AllServersDisabled | Reason::RegistrationDisabled { .. })
            }
            Self::Disabled => *reason == Reason::ItemDisabled,
            Self::Overdue | Self::Failing | Self::Late => false,
        }
    }
}
