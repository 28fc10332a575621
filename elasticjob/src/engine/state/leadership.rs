//! Leading the group, and what a member remembers of its leader.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::JobPath;

/// Leading, seen from one instance.
#[derive(Debug, Default)]
pub(in crate::engine) struct Leadership {
    /// Set while this instance leads.
    pub(in crate::engine) term: Option<Term>,
    pub(in crate::engine) rerequest: Rerequest,
    /// When this instance sweeps up what its leader left behind.
    pub(in crate::engine) unswept: Option<Duration>,
    /// When the leader looks at everything again.
    pub(in crate::engine) reconcile_at: Option<Duration>,
}

/// The state that an instance keeps while it leads.
#[derive(Debug, Default)]
pub(in crate::engine) struct Term {
    /// The basis from which the last sharding was computed.
    pub(in crate::engine) basis: Option<Basis>,
    /// Items that kept their owner because they were busy.
    pub(in crate::engine) pinned: BTreeSet<ShardingItem>,
    /// An assignment of which some items were written. Boxed, as most fit into one transaction.
    pub(in crate::engine) in_part: Option<Box<InPart>>,
    pub(in crate::engine) idle_servers: IdleServers,
}

/// An assignment that takes several transactions. The strategy is asked once for all of them: an own strategy may answer
/// otherwise each time, and there would be no end.
#[derive(Debug)]
pub(in crate::engine) struct InPart {
    pub(in crate::engine) basis: Basis,
    pub(in crate::engine) wanted: BTreeMap<ShardingItem, InstanceId>,
    /// What the transactions so far have changed, for the log.
    pub(in crate::engine) moved: Vec<String>,
}

/// The values that an assignment depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct Basis {
    pub(in crate::engine) instances: Vec<InstanceId>,
    pub(in crate::engine) total: u32,
    pub(in crate::engine) strategy: String,
}

/// How long a server has to be without instances. A Java instance creates the node of its server before its own node,
/// and counts as disabled for good when the node of the server is deleted in between.
const IDLE: Duration = Duration::from_secs(60);

/// The servers without instances that a leader knows.
#[derive(Debug, Default)]
pub(in crate::engine) enum IdleServers {
    /// They are still to be looked for: when leading begins, and when the leader reconciles.
    #[default]
    Unknown,
    /// These servers had no instances at that time, at these versions of their nodes.
    Seen { at: Duration, servers: Vec<(JobPath, i32)> },
    /// There are no such servers.
    None,
}

impl IdleServers {
    /// When those that were seen may be deleted.
    pub(in crate::engine) fn due(&self) -> Option<Duration> {
        match self {
            Self::Seen { at, .. } => Some(*at + IDLE),
            Self::Unknown | Self::None => None,
        }
    }
}

/// How long an assignment may be missed: far longer than leaders of this implementation take.
const ASSIGNED_WITHIN: Duration = Duration::from_secs(30);

/// Since when this instance misses what the leader has to do.
#[derive(Debug, Default)]
pub(in crate::engine) struct Rerequest {
    /// Since when there is a request that is not served.
    pub(in crate::engine) requested: Option<Duration>,
    /// Since when fires find items without a live owner, or a request that is not served.
    pub(in crate::engine) unsettled: Option<Duration>,
    /// Since when fires find nothing to do here, or the assignment unsettled.
    pub(in crate::engine) missed: Option<Duration>,
    /// The instances among which this one was left out when it asked last: a strategy may do so on purpose.
    pub(in crate::engine) asked_among: Option<Vec<InstanceId>>,
}

impl Rerequest {
    pub(in crate::engine) fn due_at(&self) -> Option<Duration> {
        self.missed.map(|since| since + ASSIGNED_WITHIN)
    }
}
