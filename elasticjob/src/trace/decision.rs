//! The decisions about a job that are not normal runs, and the actions of operators.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::ident::{InstanceId, JobName, ShardingItem};

/// A decision about a job: why a fire was not run as usual, or what changed around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobDecisionEvent {
    /// A UUID of version 7: it sorts after those that the process made before.
    pub id: String,
    /// The job.
    pub job_name: JobName,
    /// The time of the decision.
    pub at: DateTime<Utc>,
    /// The kind of the decision.
    pub kind: DecisionKind,
    /// The scheduled time of the fire that it is about, or of the first of these fires.
    pub scheduled_at: Option<DateTime<Utc>>,
    /// The fire that is run instead, where it is about all fires before that one.
    pub scheduled_until: Option<DateTime<Utc>>,
    /// The items; empty for the whole job or fire.
    pub sharding_items: Vec<ShardingItem>,
    /// The instance that decided it; `None` for an action of an operator.
    pub instance: Option<InstanceId>,
    /// Another instance that it is about, for example the one whose run was taken over.
    pub related_instance: Option<InstanceId>,
    /// Why, in English; empty where the kind says it all.
    pub reason: String,
    /// The values that a text in another language needs.
    pub detail: Map<String, Value>,
}

impl JobDecisionEvent {
    /// A decision of now about the whole job, without more. Set the other fields.
    pub fn new(job_name: JobName, kind: DecisionKind) -> Self {
        Self {
            id: Uuid::now_v7().to_string(),
            job_name,
            at: super::now(),
            kind,
            scheduled_at: None,
            scheduled_until: None,
            sharding_items: Vec::new(),
            instance: None,
            related_instance: None,
            reason: String::new(),
            detail: Map::new(),
        }
    }
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $kind:ident $name:literal,)*) => {
        /// The kinds of decisions.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum DecisionKind {
            $($(#[doc = $doc])* $kind,)*
        }

        impl DecisionKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Its name. It never changes.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }
        }
    };
}

kinds! {
    /// An instance does not run a fire, or items of it.
    Skipped "SKIPPED",
    /// Fires were due while the process was stopped, or the clock stepped over them.
    Missed "MISSED",
    /// A missed fire is not made up for by itself: a later one takes its place.
    Collapsed "COLLAPSED",
    /// No instance began fires, and none will.
    NotBegun "NOT_BEGUN",
    /// Items began late.
    BegunLate "BEGUN_LATE",
    /// Items were begun and not started.
    NotStarted "NOT_STARTED",
    /// An item was taken over from an instance that is gone.
    TakenOver "TAKEN_OVER",
    /// Items that were cut off wait for another instance.
    HandedOver "HANDED_OVER",
    /// Runs were cancelled.
    RunsCancelled "RUNS_CANCELLED",
    /// Runs did not end when they were cut off.
    RunsAbandoned "RUNS_ABANDONED",
    /// A run ended after another run of its item had begun.
    Stale "STALE",
    /// A manual trigger asked an instance that is gone: its items are not run for it.
    TriggerDropped "TRIGGER_DROPPED",
    /// A manual trigger asked an instance that is gone: its items are taken over.
    TriggerHandedOver "TRIGGER_HANDED_OVER",
    /// A manual trigger asked an instance that is gone: items do not run once more for it, as an earlier run is not over.
    TriggerMerged "TRIGGER_MERGED",
    /// No instance that a manual trigger asks has items: they may not run for it.
    TriggerLeavesOut "TRIGGER_LEAVES_OUT",
    /// A changed configuration is in force.
    ConfigurationChanged "CONFIGURATION_CHANGED",
    /// A changed configuration is not accepted.
    ConfigurationRefused "CONFIGURATION_REFUSED",
    /// The program has another configuration than the registry center.
    ConfigurationDiffers "CONFIGURATION_DIFFERS",
    /// An instance joined the group.
    Registered "REGISTERED",
    /// An instance left the group.
    Left "LEFT",
    /// An instance leads.
    Elected "ELECTED",
    /// An instance gave up leading.
    Abdicated "ABDICATED",
    /// The leader assigned the items.
    Resharded "RESHARDED",
    /// The sharding strategy failed.
    StrategyFailed "STRATEGY_FAILED",
    /// Processes of a `DAEMON` job end again and again soon after their start.
    DaemonEnds "DAEMON_ENDS",
    /// The place where an item of a carried job ran is gone.
    PlaceLost "PLACE_LOST",
    /// The clock of a host is too far off.
    ClockOff "CLOCK_OFF",
    /// The clock is right again.
    ClockRight "CLOCK_RIGHT",
    /// An instance lost the registry center.
    RegistryLost "REGISTRY_LOST",
    /// The registry center is back.
    RegistryBack "REGISTRY_BACK",
    /// An operator did something, or tried to.
    Operator "OPERATOR",
}

impl fmt::Display for DecisionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text is no kind of decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is no kind of decision", .0.escape_default())]
pub struct UnknownDecision(String);

impl FromStr for DecisionKind {
    type Err = UnknownDecision;

    fn from_str(name: &str) -> Result<Self, UnknownDecision> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == name).ok_or_else(|| UnknownDecision(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_comes_back_from_its_name_and_fits_its_column() {
        for kind in DecisionKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(*kind));
            assert!(kind.as_str().len() <= 40);
        }
        assert!("skipped".parse::<DecisionKind>().is_err());
    }
}
