//! Finds what was done to an item's owner, or to the registry, so that it was not begun.

use std::time::Duration;

use super::duty::REACTION;
use super::{Fire, HAIR};
use crate::records::history::{SETTLE, us};
use crate::records::{Fault, FaultKind};

/// How long before a fault a fire may have come that was not begun: its transaction was under way.
const UNDER_WAY: Duration = Duration::from_secs(1);

/// The reason of a fire of which nobody saw who had to begin it.
pub const UNOBSERVED: &str = "unobserved";

impl Fire<'_> {
    /// The name of the fault that cost the item, and whether it is known for sure.
    pub(super) fn cause(&self) -> Option<(String, bool)> {
        let owners = self.owners();
        let known = self.history.faults.iter().filter_map(|fault| self.hit(fault, &owners));
        // Who they were is not known for sure where that was not to be seen.
        let is_seen = !self.unobserved().touches(self.at_us() - us(HAIR), self.next_us());
        let known = known.min().map(|(_, name)| (name.to_owned(), is_seen));
        known.or_else(|| Some((self.disturbance()?.to_owned(), false)))
    }

    /// Whether a fault hit an owner of the item, or the registry, and the fire lies between it and the time by which the
    /// group must have reacted; the most telling first.
    fn hit(&self, fault: &Fault, owners: &[Option<u32>]) -> Option<(u8, &'static str)> {
        let owns = |pid: u32| owners.contains(&Some(pid));
        let name = match fault.kind {
            FaultKind::Killed { pid } if owns(pid) => (0, "killed"),
            FaultKind::Frozen { pid } if owns(pid) => (1, "frozen"),
            FaultKind::CutOff { pid } if owns(pid) => (2, "cut_off"),
            FaultKind::Outage => (3, "registry_away"),
            FaultKind::Disabled => (4, "server_enabled_again"),
            FaultKind::Left { pid } if owns(pid) => (5, "left"),
            _ => return None,
        };
        let at = self.at_us();
        let (_, until) = match fault.kind {
            FaultKind::Left { .. } => (fault.from_us, fault.until_us.saturating_add(us(SETTLE))),
            _ => self.history.reach(fault),
        };
        // What waits for the assignment of its items has not begun yet.
        let waited = self.unassigned.touches(at - us(SETTLE), at + us(UNDER_WAY));
        let ahead = if waited { us(REACTION) } else { us(UNDER_WAY) };
        super::within((fault.from_us - ahead, until), at).then_some(name)
    }

    /// What else may have cost it: the items were just being given to others, because something was done to the group
    /// shortly before, or to an instance that waited for them. Nobody may have seen that.
    fn disturbance(&self) -> Option<&'static str> {
        let (from, until) = (self.at_us() - us(SETTLE), self.at_us() + self.reaction_us());
        let since = from - us(self.history.session_timeout) - us(SETTLE + SETTLE);
        let is_disturbed = self.history.faults.iter().any(|fault| {
            let reach = self.history.reach(fault).1.max(fault.from_us);
            fault.from_us <= until && reach >= since
        });
        let moves = self.tenures().iter().any(|tenure| (from..=until).contains(&tenure.from_us));
        let was_unobserved = self.unobserved().touches(from, until);
        match (self.unassigned.touches(from, until), moves) {
            _ if !is_disturbed => None,
            (true, _) => Some("unassigned"),
            (false, true) => Some("moved"),
            (false, false) => was_unobserved.then_some(UNOBSERVED),
        }
    }
}
