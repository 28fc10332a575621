//! Decides that the rules of the group need not be asked again, as nothing of the group has changed.
//!
//! Thousands of jobs in a process fire at the same moment, and most rules look at the group: its instances, its leader,
//! the owners of items. While none of this changes, these rules would answer the same again.

use super::engine::JobEngine;
use super::planted::Bug;
use super::state::group::Group;
use super::state::membership::Phase;

impl JobEngine {
    /// Whether the rules of the group would pass again.
    ///
    /// Only of a job whose execution is not monitored: otherwise each fire writes, and the marks of own runs play a part.
    /// With static sharding the first assignment waits for the first fire. What a leader or a member does after some time
    /// needs the rules at that time.
    pub(super) fn is_group_settled(&self) -> bool {
        let Some(configuration) = self.configuration.in_force.as_deref() else { return false };
        self.group == Group::Settled
            && self.phase == Phase::Active
            && self.is_registered()
            && !self.configuration.is_monitored()
            && !configuration.static_sharding()
            && self.leadership.unswept.is_none()
            && self.leadership.term.as_ref().is_none_or(|term| term.idle_servers.due().is_none())
            && !self.planted.has(Bug::Usurper)
    }
}
