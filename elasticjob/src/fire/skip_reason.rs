//! The reasons for which a fire, or an item of it, does not run. How to add one: `docs/howto.md`.

use std::fmt;

use super::Fire;
use crate::ident::{InstanceId, JobName, ShardingItem};

/// A fire, or some items of it, that an instance did not run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skip {
    /// The fire.
    pub fire: Fire,
    /// The items, none when the whole fire is meant.
    pub items: Vec<ShardingItem>,
    /// Why.
    pub reason: SkipReason,
}

/// Why a fire or an item of it is not run here.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkipReason {
    /// The previous fire still runs here.
    StillRunning {
        /// The previous fire.
        since: Fire,
    },
    /// Whether the previous fire has begun was still unknown when the next one came, which took its place: the registry
    /// center did not answer.
    BeginUnknown,
    /// Another instance runs the item.
    RunsElsewhere {
        /// The instance, when known.
        by: Option<InstanceId>,
    },
    /// The item was begun for this fire, or decided against, before.
    AlreadyBegun {
        /// The instance that began it or decided against it, when known.
        by: Option<InstanceId>,
    },
    /// The item was begun, or decided against, for fires that are still far ahead by the clock of this host: the clock
    /// of the host that began the last one was ahead, or the clock of this host is behind. No fire of the item is begun
    /// until then.
    DecidedAhead {
        /// The instance that began it or decided against it, when known.
        by: Option<InstanceId>,
        /// For how long from now on, in seconds.
        seconds: i64,
    },
    /// The run of an earlier fire was lost and is to be taken over first.
    AwaitingFailover,
    /// The registry kept refusing to begin the item.
    Refused,
    /// The next fire came before this one could begin: no assignment, or no proven session.
    NotBegunInTime,
    /// The server of this instance is disabled.
    ServerDisabled,
    /// The item is disabled.
    ItemDisabled,
    /// The clock of this host is too far off from that of the registry center.
    ClockOff {
        /// The difference in milliseconds, positive when this host is ahead.
        difference: i64,
    },
    /// Static sharding leaves the item to an instance that is not online.
    OwnerGone {
        /// That instance.
        owner: InstanceId,
    },
    /// The instance leaves.
    Leaving,
    /// The registry center is not connected.
    RegistryLost,
    /// No instance has begun it, and it may not begin so late.
    TooLate {
        /// How late it is, in seconds.
        seconds: u64,
        /// How late it may begin, in seconds.
        limit: u64,
    },
    /// A job that this one depends on ended otherwise than this one waits for.
    DependencyNotMet {
        /// That job.
        job: JobName,
        /// How its fire ended, in words.
        end: String,
        /// The end that this job waits for.
        when: &'static str,
    },
    /// The item with the same number of a job that this one depends on ended otherwise than this one waits for.
    ItemDependencyNotMet {
        /// That job.
        job: JobName,
        /// How its item ended, in words.
        end: String,
        /// The end that this item waits for.
        when: &'static str,
    },
    /// By the clock of the registry center the job was registered after the fire was due, so no record says what ran before. The
    /// clock of this host is behind.
    RegisteredSince {
        /// How long after it, in milliseconds.
        milliseconds: u64,
    },
    /// It is late and no record says that it was begun, but a Java instance may have run it, which writes none.
    MaybeRunByJava,
}

impl SkipReason {
    /// Whether a fire that was to run is lost for this reason, and nobody asked for that. With misfire off it is also lost for
    /// [`Self::BeginUnknown`], and where it fell into a run.
    pub fn gives_up(&self) -> bool {
        matches!(
            self,
            Self::RegistryLost
                | Self::NotBegunInTime
                | Self::Refused
                | Self::TooLate { .. }
                | Self::OwnerGone { .. }
                | Self::DecidedAhead { .. }
                | Self::RegisteredSince { .. }
        )
    }
}

macro_rules! codes {
    ($($reason:ident $code:literal,)*) => {
        impl SkipReason {
            /// The names of all reasons.
            pub const CODES: &[&str] = &[$($code,)*];

            /// Its name for programs. It never changes.
            pub fn code(&self) -> &'static str {
                match self { $(Self::$reason { .. } => $code,)* }
            }
        }
    };
}

codes! {
    StillRunning "still-running",
    BeginUnknown "begin-unknown",
    RunsElsewhere "runs-elsewhere",
    AlreadyBegun "already-begun",
    DecidedAhead "decided-ahead",
    AwaitingFailover "awaiting-failover",
    Refused "refused",
    NotBegunInTime "not-begun-in-time",
    ServerDisabled "server-disabled",
    ItemDisabled "item-disabled",
    ClockOff "clock-off",
    OwnerGone "owner-gone",
    Leaving "leaving",
    RegistryLost "registry-lost",
    TooLate "too-late",
    DependencyNotMet "dependency-not-met",
    ItemDependencyNotMet "item-dependency-not-met",
    RegisteredSince "registered-since",
    MaybeRunByJava "maybe-run-by-java",
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instance_or_another =
            |by: &Option<InstanceId>| by.as_ref().map_or("another instance".to_owned(), ToString::to_string);
        match self {
            Self::StillRunning { .. } => f.write_str("the previous run has not ended"),
            Self::BeginUnknown => f.write_str(
                "whether the previous fire has begun was not known before the next one came, as the registry center gave no answer",
            ),
            Self::RunsElsewhere { by } => write!(f, "the item is running on {}", instance_or_another(by)),
            Self::AlreadyBegun { by } => write!(f, "already begun or decided against by {}", instance_or_another(by)),
            Self::DecidedAhead { by, seconds } => write!(
                f,
                "{} has already begun or decided against the fires of the next {seconds} s: the clock of a host is wrong by that \
                 much, or was. When the clocks of all hosts agree, delete the node `sharding/ITEM/fire`: then the item runs \
                 again at once",
                instance_or_another(by)
            ),
            Self::AwaitingFailover => f.write_str("the lost run of an earlier fire is to be taken over first"),
            Self::Refused => f.write_str("the registry center kept refusing to begin it"),
            Self::NotBegunInTime => f.write_str("the next fire came before it could begin"),
            Self::ServerDisabled => f.write_str("the server is disabled"),
            Self::ItemDisabled => f.write_str("the item is disabled"),
            Self::ClockOff { difference } => {
                let side = if *difference > 0 { "ahead of" } else { "behind" };
                let seconds = difference.unsigned_abs() as f64 / 1_000.0;
                write!(f, "the clock of this host is {seconds} s {side} that of the registry center")
            }
            Self::OwnerGone { owner } => {
                write!(f, "static sharding leaves the item to {owner}, which is not online")
            }
            Self::Leaving => f.write_str("the instance is leaving"),
            Self::RegistryLost => f.write_str("the registry center is not connected"),
            Self::TooLate { seconds, limit } => {
                write!(f, "no instance has begun it. It is {seconds} s late; it may begin {limit} s late at most")
            }
            Self::DependencyNotMet { job, end, when } => {
                write!(f, "job '{job}' {end}, and this job runs when it {when}")
            }
            Self::ItemDependencyNotMet { job, end, when } => {
                write!(f, "the item of job '{job}' with its number {end}, and this one runs when that one {when}")
            }
            Self::RegisteredSince { milliseconds } => {
                let seconds = *milliseconds as f64 / 1_000.0;
                write!(
                    f,
                    "by the clock of the registry center the job was registered {seconds} s after it was due, and no record says \
                     what ran before: the clock of this host is behind"
                )
            }
            Self::MaybeRunByJava => f.write_str(
                "no record says that it was begun, but a Java instance may have run it without one, so it does not begin late",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fire_is_given_up_where_nobody_wanted_that_and_nothing_runs_instead() {
        let by = Some(InstanceId::of_process("10.0.0.1", 7));
        let lost = [
            SkipReason::RegistryLost,
            SkipReason::TooLate { seconds: 31, limit: 20 },
            SkipReason::OwnerGone { owner: by.clone().unwrap() },
            SkipReason::DecidedAhead { by: by.clone(), seconds: 90 },
            SkipReason::RegisteredSince { milliseconds: 5 },
        ];
        let others = [
            SkipReason::AlreadyBegun { by },
            SkipReason::ItemDisabled,
            SkipReason::AwaitingFailover,
            SkipReason::StillRunning { since: Fire::Scheduled(0) },
        ];
        assert!(lost.iter().all(SkipReason::gives_up));
        assert!(!others.iter().any(SkipReason::gives_up));
    }
}
