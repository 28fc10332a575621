//! The reasons why items run or do not run, and their English texts.

use std::fmt;

use crate::config::Message;
use crate::escaped::Escaped;
use crate::fire::{Begun, FireState};
use crate::ident::InstanceId;

/// The advice where fires were lost.
const LOST_FIRES: &str = "trigger the job if these runs are still needed";

/// A reason why a job or an item runs, does not run, or did not run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// No instance has started the job so far, or its configuration was deleted. Instances that run go on with what
    /// they had.
    NoConfiguration,
    /// Instances use the last good configuration; new instances do not start.
    ConfigurationRefused(Message),
    /// The programs of these instances cannot use the configuration: a program without a type that it names, for example.
    RefusedByInstances {
        /// The instances.
        instances: Vec<InstanceId>,
        /// Whether they take part, with the last configuration that they could use. Else they wait.
        joined: bool,
        /// What is wrong, in the words of their program.
        why: String,
    },
    /// A process of the carried `DAEMON` job ends soon after each start: the scheduler starts it with growing pauses.
    DaemonEnds {
        /// The number of the process.
        process: u32,
        /// How often it has ended since it was well last.
        ends: u32,
        /// How it ended last, and when it starts again.
        why: String,
    },
    /// A process of the carried `DAEMON` job waits for its start for long.
    DaemonWaits {
        /// The number of the process.
        process: u32,
        /// What it waits for, in the words of the carrier.
        why: String,
    },
    /// Its run was launched, and the carrier does not say that its process runs.
    CarriedWaits {
        /// The time of the fire, in milliseconds since 1970.
        at: i64,
        /// Whether it is a manual trigger.
        manual: bool,
        /// The name of the carrier.
        carrier: String,
        /// What it waits for, in the words of the carrier.
        why: String,
    },
    /// No instance is online.
    NoInstance,
    /// No scheduler runs the carried job, as its registration is disabled.
    RegistrationDisabled {
        /// The application that is disabled, with all its jobs; `None` where the job itself is.
        app: Option<String>,
    },
    /// No session owns these nodes of instances: no instance lives there.
    SessionlessInstances(Vec<InstanceId>),
    /// Every server is disabled.
    AllServersDisabled,
    /// There is no leader, so items are not assigned.
    NoLeader,
    /// The leader reshards before anything runs.
    Resharding,
    /// It has no schedule.
    OneOff,
    /// Its schedule has ended.
    NeverFiresAgain,
    /// These instances were triggered and have not begun.
    Triggered(Vec<InstanceId>),
    /// The registry center does not know which items run.
    NotMonitored,
    /// A Java instance takes part: fires that no instance began are not known.
    JavaTakesPart,
    /// Its configuration names these types, which are not built in: a program without one refuses the configuration.
    OwnTypes(Vec<String>),
    /// The commands and addresses of its configuration, and how programs handle them, one property each.
    BoundToPrograms(Vec<String>),
    /// The items do not exist yet.
    NotAssignedYet,
    /// It has no schedule: it runs after these jobs.
    AfterJobs(Vec<String>),
    /// A job that its items follow item by item has another number of items, so that none of its fires is begun.
    TotalsDiffer {
        /// That job.
        job: String,
        /// How many items that job has.
        of_job: u32,
        /// How many items this job has.
        own: u32,
    },
    /// For its fire that is under way, the item waits for the items with its number of these jobs.
    WaitsForItem {
        /// The fire, in milliseconds since 1970.
        at: i64,
        /// The jobs.
        jobs: Vec<String>,
    },
    /// Its latest fire was skipped because of the jobs before it.
    SkippedAfter {
        /// The fire, in milliseconds since 1970.
        at: i64,
        /// Why.
        why: String,
    },
    /// No item has this number now.
    NoSuchItem(u32),
    /// An operator disabled the item.
    ItemDisabled,
    /// The item has no owner.
    NoOwner,
    /// The owner is not online.
    OwnerOffline(InstanceId),
    /// The owner is on a server that is disabled.
    OwnerDisabled(InstanceId),
    /// It runs.
    Running {
        /// The instance that runs it.
        instance: Option<InstanceId>,
        /// The begin, in milliseconds since 1970.
        since: i64,
        /// Whether this run took the item over.
        taken_over: bool,
    },
    /// Its run was lost with its instance.
    RunLost {
        /// The instance that ran it.
        instance: Option<InstanceId>,
        /// Whether another instance will run it again; `None` where the configuration cannot be used and so does not
        /// say it.
        failover: Option<bool>,
    },
    /// Its run was cut off, and it waits for an instance that takes it over.
    AwaitsFailover,
    /// A fire came while another one ran, and is made up for after that run.
    Misfired(Option<i64>),
    /// Fires were due since its last run, and no instance began them.
    NotBegun {
        /// The first of them, in milliseconds since 1970.
        first: i64,
        /// Whether there are more.
        more: bool,
        /// How late they may begin, in seconds; `None` where they may begin until the next fire is due.
        limit: Option<u64>,
        /// Whether the time to begin them is over.
        given_up: bool,
    },
    /// Its last run was begun and no instance finished it.
    LeftUndone(Begun),
    /// The end of its last run.
    Ended(Begun),
    /// It has no record.
    NeverRun,
}

impl Reason {
    /// Whether its text says by itself since when it holds.
    pub(super) fn says_since(&self) -> bool {
        matches!(self, Self::Running { .. } | Self::NotBegun { .. } | Self::LeftUndone(_) | Self::Ended(_))
    }

    /// Whether it keeps the item, or the job, from running at the next fire, or kept it from running at the last fire.
    pub fn is_obstacle(&self) -> bool {
        match self {
            Self::NoConfiguration
            | Self::ConfigurationRefused(_)
            | Self::RefusedByInstances { .. }
            | Self::DaemonEnds { .. }
            | Self::DaemonWaits { .. }
            | Self::CarriedWaits { .. }
            | Self::NoInstance
            | Self::RegistrationDisabled { .. }
            | Self::AllServersDisabled
            | Self::NoLeader
            | Self::Resharding
            | Self::NeverFiresAgain
            | Self::NotAssignedYet
            | Self::NoSuchItem(_)
            | Self::ItemDisabled
            | Self::NoOwner
            | Self::OwnerOffline(_)
            | Self::OwnerDisabled(_)
            | Self::RunLost { .. }
            | Self::AwaitsFailover
            | Self::TotalsDiffer { .. }
            | Self::NotBegun { .. } => true,
            Self::OneOff
            | Self::AfterJobs(_)
            | Self::SkippedAfter { .. }
            | Self::WaitsForItem { .. }
            | Self::SessionlessInstances(_)
            | Self::Triggered(_)
            | Self::NotMonitored
            | Self::JavaTakesPart
            | Self::OwnTypes(_)
            | Self::BoundToPrograms(_)
            | Self::Running { .. }
            | Self::Misfired(_)
            | Self::LeftUndone(_)
            | Self::Ended(_)
            | Self::NeverRun => false,
        }
    }
}

/// Texts for operators; times come from the caller of [`Reason::describe`].
impl Reason {
    /// The reason as a sentence; `time` writes a time that is given in milliseconds since 1970.
    pub fn describe(&self, time: &dyn Fn(i64) -> String) -> String {
        let of = |instance: &Option<InstanceId>| match instance {
            Some(instance) => format!(" on {instance}"),
            None => String::new(),
        };
        match self {
            Self::NoConfiguration => {
                "it has no configuration: no instance has started it yet, or it was deleted while \
                 instances go on with what they had; the next start of one of its programs writes it"
                    .to_owned()
            }
            Self::ConfigurationRefused(reason) => format!(
                "its configuration in the registry center cannot be used: {}; instances keep the last one that could, and new \
                 ones start when it is corrected",
                Escaped(reason)
            ),
            Self::RefusedByInstances { instances, joined, why } => {
                let what = match joined {
                    true => {
                        "cannot use the configuration in the registry center, and goes on with the last one that it could"
                    }
                    false => "cannot use the configuration in the registry center, and does not take part until it can",
                };
                format!("the program of {} {what}: {}", listed(instances), Escaped(why))
            }
            Self::DaemonEnds { process, ends, why } => {
                format!(
                    "process {process} of the DAEMON job has ended {ends} times soon after its start: {}",
                    Escaped(why)
                )
            }
            Self::DaemonWaits { process, why } => {
                format!("process {process} of the DAEMON job does not start: {}", Escaped(why))
            }
            Self::CarriedWaits { at, manual, carrier, why } => {
                let (kind, at) = (kind_of_fire(*manual), time(*at));
                format!("for {kind} of {at} it is to run on {carrier} and is not known to run: {}", Escaped(why))
            }
            Self::NoInstance => "no instance is online".to_owned(),
            Self::RegistrationDisabled { app: None } => {
                "its registration is disabled, so no scheduler runs it: a scheduler enables it, by `POST /api/job/NAME/enable` or on \
                 its page"
                    .to_owned()
            }
            Self::RegistrationDisabled { app: Some(app) } => format!(
                "its application '{}' is disabled, so no scheduler runs it: a scheduler enables it, by `POST /api/app/NAME/enable` \
                 or on its page",
                Escaped(app)
            ),
            Self::SessionlessInstances(instances) => format!(
                "{}: no session owns the node of this instance, so none lives there; it was copied from another place, and a Java \
                 leader gives it items for ever; a leader of this implementation deletes it, and so does `elasticjob shutdown`",
                listed(instances)
            ),
            Self::AllServersDisabled => "all its servers are disabled".to_owned(),
            Self::NoLeader => "it has no leader at the moment, so no instance assigns the items".to_owned(),
            Self::Resharding => "the leader assigns its items again first".to_owned(),
            Self::OneOff => "it is a one-off job: it runs when it is triggered".to_owned(),
            Self::AfterJobs(jobs) => format!("it has no schedule: it runs after {}", jobs.join(", ")),
            Self::TotalsDiffer { job, of_job, own } => format!(
                "it runs after job '{job}' with `items same`, and that job has {of_job} items and this one {own}: none of its \
                 fires begins before both have as many (sharding-total-count)"
            ),
            Self::WaitsForItem { at, jobs } => {
                format!("for the fire of {} it waits for the item with its number of {}", time(*at), jobs.join(", "))
            }
            Self::SkippedAfter { at, why } => {
                format!("its fire of {} did not run: {}; correct that, and run the fire again", time(*at), Escaped(why))
            }
            Self::NeverFiresAgain => "its schedule has ended: it never fires again".to_owned(),
            Self::Triggered(instances) => {
                format!("it was triggered, and {} has not begun yet", listed(instances))
            }
            Self::NotMonitored => {
                "monitor-execution is off: the registry center does not know what runs or ran".to_owned()
            }
            Self::JavaTakesPart => {
                "a Java instance takes part, and those leave no records of fires: which fires no instance began \
                                    is not known"
                    .to_owned()
            }
            Self::OwnTypes(types) => format!(
                "its configuration names what is not built in: {}; a program without it goes on with the last configuration \
                 that it could use, and does not start the job",
                Escaped(&types.join(", "))
            ),
            Self::BoundToPrograms(notes) => notes.join("; "),
            Self::NotAssignedYet => "its items are not assigned yet: that comes with its first fire".to_owned(),
            Self::NoSuchItem(0) => "there are no items yet".to_owned(),
            Self::NoSuchItem(count) => format!("there is no such item: the items are 0 to {}", count - 1),
            Self::ItemDisabled => "the item is disabled".to_owned(),
            Self::NoOwner => "it belongs to no instance".to_owned(),
            Self::OwnerOffline(id) => format!("its owner {id} is not online"),
            Self::OwnerDisabled(id) => format!("the server of its owner {id} is disabled"),
            Self::Running { instance, since, taken_over } => format!(
                "it runs{} since {}{}",
                of(instance),
                time(*since),
                if *taken_over { ", taken over from a run that was lost" } else { "" }
            ),
            Self::RunLost { instance, failover } => format!(
                "its run{} was lost with the process; {}",
                of(instance),
                match failover {
                    Some(true) => "it waits to be taken over",
                    Some(false) => "failover is off, so it is not run again",
                    None => "takeover depends on the configuration that its instances use",
                }
            ),
            Self::AwaitsFailover => "it was cut off, and waits to be taken over".to_owned(),
            Self::Misfired(Some(at)) => {
                format!("the fire of {} came while the item was running; it runs when that run has ended", time(*at))
            }
            Self::Misfired(None) => {
                "a fire came while the item was running; it runs when that run has ended".to_owned()
            }
            Self::NotBegun { first, more: true, .. } => {
                format!("no instance began its fires from {} on: {LOST_FIRES}", time(*first))
            }
            Self::NotBegun { first, given_up: false, limit: Some(limit), .. } => {
                format!("no instance has begun its fire of {} yet; it may begin {limit} s late at most", time(*first))
            }
            Self::NotBegun { first, given_up: false, .. } => {
                format!("no instance has begun its fire of {} yet; it may begin until the next one", time(*first))
            }
            Self::NotBegun { first, limit, .. } => format!(
                "no instance began its fire of {}, and none will: it may begin {} s late at most; {LOST_FIRES}",
                time(*first),
                limit.unwrap_or_default()
            ),
            Self::LeftUndone(begun) => format!(
                "{} was {} and is not run again: failover was off",
                run(begun, time),
                if begun.state == FireState::Cancelled { "cut off" } else { "lost with the process" }
            ),
            Self::Ended(begun) => format!("{} {}", run(begun, time), end(begun, time)),
            Self::NeverRun => "no run of it is recorded".to_owned(),
        }
    }
}

fn listed(instances: &[InstanceId]) -> String {
    instances.iter().map(InstanceId::as_str).collect::<Vec<_>>().join(", ")
}

fn kind_of_fire(manual: bool) -> &'static str {
    if manual { "the trigger" } else { "the fire" }
}

fn run(begun: &Begun, time: &dyn Fn(i64) -> String) -> String {
    let kind = kind_of_fire(begun.manual);
    let began = begun.began.map(|at| format!(" begun at {}", time(at))).unwrap_or_default();
    format!("its last run, {} for {kind} of {} on {}{began},", begun.source, time(begun.at), begun.instance)
}

fn end(begun: &Begun, time: &dyn Fn(i64) -> String) -> String {
    let took = begun.took.map(|took| format!(" after {took} ms")).unwrap_or_default();
    let took = begun.ended.map_or_else(|| took.clone(), |at| format!("{took} at {}", time(at)));
    match begun.state {
        FireState::Succeeded => format!("succeeded{took}"),
        FireState::Failed => {
            format!("failed{took}: {}", Escaped(begun.error.as_deref().unwrap_or("no reason was recorded")))
        }
        FireState::NotRun => "was not started: the clock of the host was off".to_owned(),
        FireState::Running | FireState::Cancelled => format!("was cut off{took}"),
    }
}

impl fmt::Display for Reason {
    /// Shows times in UTC.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let utc = |at| crate::schedule::format_rfc3339(at, crate::schedule::TimeZone::UTC);
        f.write_str(&self.describe(&utc))
    }
}
