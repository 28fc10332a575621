//! A finding: a reason with all that a page or a program needs to show it in its own words.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::reason::Reason;
use crate::fire::{Begun, FireState};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::operations::shell::{shell_operand, shell_option};
use crate::schedule::{TimeZone, format_rfc3339};

/// A reason why a job or an item runs, does not run, or did not run, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The reason.
    pub reason: Reason,
    /// Since when it holds, by the clock of the registry center, in milliseconds since 1970. It is the time of the node
    /// that says it, so that it is known for nodes of Java instances as well. `None` where no node says it.
    pub since: Option<i64>,
    /// The item; `None` for the whole job.
    pub item: Option<ShardingItem>,
}

/// A value in a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Argument {
    /// A text, for example an instance or a cause.
    Text(String),
    /// Texts, for example instances.
    Texts(Vec<String>),
    /// A time in milliseconds since 1970. The name of the argument ends in `At`.
    Time(i64),
    /// A number.
    Number(u64),
    /// Whether something holds.
    Flag(bool),
}

/// The remedy against an obstacle.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Start a program of the job.
    StartInstance,
    /// Enable the registration of the carried job, or of its application, at a scheduler: `POST /api/job/{job}/enable`,
    /// `POST /api/app/{app}/enable`.
    EnableRegistration,
    /// Read the log of the process: the page *Log of the processes*, or `GET /api/job/{job}/log?process=N` of the scheduler.
    ReadLog,
    /// Give the run what it waits for, or cancel the run of this item.
    CancelRun(ShardingItem),
    /// Correct the configuration in the registry center.
    CorrectConfiguration,
    /// Change the schedule in the registry center.
    ChangeSchedule,
    /// Enable all servers of the job.
    EnableServers,
    /// Enable this server for the job.
    EnableServer(String),
    /// Enable the item.
    EnableItem(ShardingItem),
    /// Trigger the job, where the lost run has to be made up for.
    Trigger,
}

impl Remedy {
    /// Its name for programs. It never changes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::StartInstance => "start-instance",
            Self::EnableRegistration => "enable-registration",
            Self::ReadLog => "read-log",
            Self::CancelRun(_) => "cancel-run",
            Self::CorrectConfiguration => "correct-configuration",
            Self::ChangeSchedule => "change-schedule",
            Self::EnableServers => "enable-servers",
            Self::EnableServer(_) => "enable-server",
            Self::EnableItem(_) => "enable-item",
            Self::Trigger => "trigger",
        }
    }

    /// The command that does it, to be pasted into a shell; `None` where no command does.
    pub fn command(&self, job: &JobName) -> Option<String> {
        let (operand, option) = (shell_operand(job.as_str()), shell_option("--job", job.as_str()));
        Some(match self {
            Self::StartInstance | Self::EnableRegistration | Self::ReadLog => return None,
            Self::CancelRun(item) => format!("elasticjob cancel --item {item} {operand}"),
            Self::CorrectConfiguration => format!("elasticjob config set {operand} SETTING=VALUE"),
            Self::ChangeSchedule => format!("elasticjob config set {operand} cron='EXPR'"),
            Self::EnableServers => format!("elasticjob enable {option}"),
            Self::EnableServer(server) => {
                let of_server = shell_option("--server", server);
                format!("elasticjob enable {option} {of_server}")
            }
            Self::EnableItem(item) => format!("elasticjob enable {option} --item {item}"),
            Self::Trigger => format!("elasticjob trigger {operand}"),
        })
    }
}

impl Finding {
    pub(super) fn new(reason: Reason, since: Option<i64>) -> Self {
        Self { reason, since, item: None }
    }

    pub(super) fn of_item(self, item: ShardingItem) -> Self {
        Self { item: Some(item), ..self }
    }

    /// The name of the reason for programs. It never changes.
    pub fn code(&self) -> &'static str {
        match &self.reason {
            Reason::NoConfiguration => "no-configuration",
            Reason::ConfigurationRefused(_) => "configuration-refused",
            Reason::RefusedByInstances { .. } => "refused-by-instances",
            Reason::DaemonEnds { .. } => "daemon-ends",
            Reason::DaemonWaits { .. } => "daemon-waits",
            Reason::CarriedWaits { .. } => "carried-waits",
            Reason::NoInstance => "no-instance",
            Reason::RegistrationDisabled { .. } => "registration-disabled",
            Reason::SessionlessInstances(_) => "sessionless-instances",
            Reason::AllServersDisabled => "all-servers-disabled",
            Reason::NoLeader => "no-leader",
            Reason::Resharding => "resharding",
            Reason::OneOff => "one-off",
            Reason::AfterJobs(_) => "after-jobs",
            Reason::TotalsDiffer { .. } => "totals-differ",
            Reason::WaitsForItem { .. } => "waits-for-item",
            Reason::SkippedAfter { .. } => "skipped-after",
            Reason::NeverFiresAgain => "never-fires-again",
            Reason::Triggered(_) => "triggered",
            Reason::NotMonitored => "not-monitored",
            Reason::JavaTakesPart => "java-takes-part",
            Reason::OwnTypes(_) => "own-types",
            Reason::BoundToPrograms(_) => "bound-to-programs",
            Reason::NotAssignedYet => "not-assigned-yet",
            Reason::NoSuchItem(_) => "no-such-item",
            Reason::ItemDisabled => "item-disabled",
            Reason::NoOwner => "no-owner",
            Reason::OwnerOffline(_) => "owner-offline",
            Reason::OwnerDisabled(_) => "owner-disabled",
            Reason::Running { .. } => "running",
            Reason::RunLost { .. } => "run-lost",
            Reason::AwaitsFailover => "awaits-failover",
            Reason::Misfired(_) => "misfired",
            Reason::NotBegun { .. } => "not-begun",
            Reason::LeftUndone(_) => "left-undone",
            Reason::Ended(_) => "ended",
            Reason::NeverRun => "never-run",
        }
    }

    /// The values in the finding, by name.
    pub fn arguments(&self) -> BTreeMap<&'static str, Argument> {
        let text = |text: &dyn fmt::Display| Argument::Text(text.to_string());
        let all = |instances: &[InstanceId]| Argument::Texts(instances.iter().map(ToString::to_string).collect());
        let mut arguments = BTreeMap::new();
        let mut add = |name, argument: Option<Argument>| {
            if let Some(argument) = argument {
                arguments.insert(name, argument);
            }
        };
        add("item", self.item.map(|item| Argument::Number(item.into())));
        match &self.reason {
            Reason::ConfigurationRefused(why) => add("why", Some(text(why))),
            Reason::RefusedByInstances { instances, joined, why } => {
                add("instances", Some(all(instances)));
                add("joined", Some(Argument::Flag(*joined)));
                add("why", Some(text(why)));
            }
            Reason::DaemonEnds { process, ends, why } => {
                add("process", Some(Argument::Number((*process).into())));
                add("ends", Some(Argument::Number((*ends).into())));
                add("why", Some(text(why)));
            }
            Reason::DaemonWaits { process, why } => {
                add("process", Some(Argument::Number((*process).into())));
                add("why", Some(text(why)));
            }
            Reason::CarriedWaits { at, manual, carrier, why } => {
                add("fireAt", Some(Argument::Time(*at)));
                add("manual", Some(Argument::Flag(*manual)));
                add("carrier", Some(text(carrier)));
                add("why", Some(text(why)));
            }
            Reason::SessionlessInstances(instances) | Reason::Triggered(instances) => {
                add("instances", Some(all(instances)));
            }
            Reason::OwnTypes(types) => add("types", Some(Argument::Texts(types.clone()))),
            Reason::BoundToPrograms(notes) => add("notes", Some(Argument::Texts(notes.clone()))),
            Reason::AfterJobs(jobs) => add("jobs", Some(Argument::Texts(jobs.clone()))),
            Reason::TotalsDiffer { job, of_job, own } => {
                add("job", Some(text(job)));
                add("itemsOfJob", Some(Argument::Number((*of_job).into())));
                add("items", Some(Argument::Number((*own).into())));
            }
            Reason::WaitsForItem { at, jobs } => {
                add("fireAt", Some(Argument::Time(*at)));
                add("jobs", Some(Argument::Texts(jobs.clone())));
            }
            Reason::SkippedAfter { at, why } => {
                add("fireAt", Some(Argument::Time(*at)));
                add("why", Some(text(why)));
            }
            Reason::NoSuchItem(count) => add("items", Some(Argument::Number((*count).into()))),
            Reason::OwnerOffline(instance) => add("instance", Some(text(instance))),
            Reason::OwnerDisabled(instance) => {
                add("instance", Some(text(instance)));
                add("server", Some(text(&instance.server_ip())));
            }
            Reason::Running { instance, taken_over, .. } => {
                add("instance", instance.as_ref().map(|instance| text(instance)));
                add("takenOver", Some(Argument::Flag(*taken_over)));
            }
            Reason::RunLost { instance, failover } => {
                add("instance", instance.as_ref().map(|instance| text(instance)));
                add("failover", failover.map(Argument::Flag));
            }
            Reason::Misfired(at) => add("fireAt", at.map(Argument::Time)),
            Reason::NotBegun { first, more, limit, given_up } => {
                add("firstFireAt", Some(Argument::Time(*first)));
                add("more", Some(Argument::Flag(*more)));
                add("limitSeconds", limit.map(Argument::Number));
                add("givenUp", Some(Argument::Flag(*given_up)));
            }
            Reason::LeftUndone(begun) | Reason::Ended(begun) => {
                add("fireAt", Some(Argument::Time(begun.at)));
                add("manual", Some(Argument::Flag(begun.manual)));
                add("source", Some(text(&begun.source)));
                add("instance", Some(text(&begun.instance)));
                add("state", Some(text(&begun.state)));
                add("beganAt", begun.began.map(Argument::Time));
                add("endedAt", begun.ended.map(Argument::Time));
                add("tookMilliseconds", begun.took.map(Argument::Number));
                add("error", begun.error.as_ref().map(|error| text(error)));
            }
            Reason::RegistrationDisabled { app } => add("app", app.as_ref().map(|app| text(app))),
            Reason::NoConfiguration
            | Reason::NoInstance
            | Reason::AllServersDisabled
            | Reason::NoLeader
            | Reason::Resharding
            | Reason::OneOff
            | Reason::NeverFiresAgain
            | Reason::NotMonitored
            | Reason::JavaTakesPart
            | Reason::NotAssignedYet
            | Reason::ItemDisabled
            | Reason::NoOwner
            | Reason::AwaitsFailover
            | Reason::NeverRun => {}
        }
        arguments
    }

    /// The remedy that an operator has; `None` where nothing has to be done, or it ends by itself.
    pub fn remedy(&self) -> Option<Remedy> {
        match &self.reason {
            Reason::NoConfiguration | Reason::NoInstance => Some(Remedy::StartInstance),
            Reason::RegistrationDisabled { .. } => Some(Remedy::EnableRegistration),
            Reason::DaemonEnds { .. } => Some(Remedy::ReadLog),
            Reason::CarriedWaits { .. } => self.item.map(Remedy::CancelRun),
            Reason::ConfigurationRefused(_) | Reason::RefusedByInstances { .. } | Reason::TotalsDiffer { .. } => {
                Some(Remedy::CorrectConfiguration)
            }
            Reason::NeverFiresAgain => Some(Remedy::ChangeSchedule),
            Reason::AllServersDisabled => Some(Remedy::EnableServers),
            Reason::OwnerDisabled(instance) => Some(Remedy::EnableServer(instance.server_ip().to_owned())),
            Reason::ItemDisabled => self.item.map(Remedy::EnableItem),
            Reason::RunLost { failover: Some(false), .. } | Reason::LeftUndone(_) => Some(Remedy::Trigger),
            Reason::NotBegun { given_up: true, .. } => Some(Remedy::Trigger),
            Reason::Ended(Begun { state: FireState::Failed | FireState::Cancelled | FireState::NotRun, .. }) => {
                Some(Remedy::Trigger)
            }
            Reason::NoLeader
            | Reason::Resharding
            | Reason::OneOff
            | Reason::SessionlessInstances(_)
            | Reason::Triggered(_)
            | Reason::NotMonitored
            | Reason::JavaTakesPart
            | Reason::OwnTypes(_)
            | Reason::BoundToPrograms(_)
            | Reason::NotAssignedYet
            | Reason::AfterJobs(_)
            | Reason::WaitsForItem { .. }
            | Reason::SkippedAfter { .. }
            | Reason::NoSuchItem(_)
            | Reason::NoOwner
            | Reason::OwnerOffline(_)
            | Reason::Running { .. }
            | Reason::RunLost { .. }
            | Reason::AwaitsFailover
            | Reason::Misfired(_)
            | Reason::NotBegun { .. }
            | Reason::Ended(_)
            | Reason::DaemonWaits { .. }
            | Reason::NeverRun => None,
        }
    }

    /// Whether it keeps the item, or the job, from running at the next fire, or kept it from running at the last fire.
    pub fn is_obstacle(&self) -> bool {
        self.reason.is_obstacle()
    }

    /// The finding as a sentence; `time` writes a time that is given in milliseconds since 1970.
    pub fn describe(&self, time: &dyn Fn(i64) -> String) -> String {
        let text = self.reason.describe(time);
        match self.since.filter(|_| !self.reason.says_since()) {
            Some(since) => format!("{text} (since {})", time(since)),
            None => text,
        }
    }
}

impl fmt::Display for Finding {
    /// Shows times in UTC.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(&|at| format_rfc3339(at, TimeZone::UTC)))
    }
}
