//! Tells which reasons of a skipped item hold without any fault, and which a user accepts.

use crate::fire::SkipReason;

/// Reasons that a run is one of.
pub(super) fn is_run(reason: &SkipReason) -> bool {
    matches!(reason, SkipReason::StillRunning { .. } | SkipReason::RunsElsewhere { .. })
}

/// Reasons that a user accepts. Static sharding leaves items to an owner that is gone, which the leader says.
pub(super) fn is_accepted(reason: &SkipReason) -> bool {
    is_good(reason) || matches!(reason, SkipReason::OwnerGone { .. })
}

/// Reasons that hold without any fault.
pub(super) fn is_good(reason: &SkipReason) -> bool {
    match reason {
        SkipReason::StillRunning { .. }
        | SkipReason::ClockOff { .. }
        | SkipReason::RunsElsewhere { .. }
        | SkipReason::ItemDisabled => true,
        // Only while the owner is gone, which is looked at by itself.
        SkipReason::OwnerGone { .. }
        | SkipReason::AlreadyBegun { .. }
        | SkipReason::DecidedAhead { .. }
        | SkipReason::AwaitingFailover
        | SkipReason::BeginUnknown
        | SkipReason::Refused
        | SkipReason::NotBegunInTime
        | SkipReason::ServerDisabled
        | SkipReason::Leaving
        | SkipReason::RegistryLost
        | SkipReason::TooLate { .. }
        | SkipReason::DependencyNotMet { .. }
        | SkipReason::ItemDependencyNotMet { .. }
        | SkipReason::RegisteredSince { .. }
        | SkipReason::MaybeRunByJava => false,
    }
}
