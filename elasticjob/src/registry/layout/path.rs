//! The nodes of one job, relative to its root. Layout of ElasticJob 3.0.5, plus the nodes that the parent module names.

use std::fmt;

use super::name::{
    CONFIG, DAEMON, DEPENDENCIES, DISABLED, ELECTION, FAILOVER, FAILOVERING, FIRE, GUARANTEE, INSTANCE, INSTANCES,
    ITEMS, LATCH, LEADER, MISFIRE, NECESSARY, PROCESSING, REFUSALS, ROUNDS, RUNNING, SERVERS, SESSIONS, SHARDING,
    TRIGGER, WAITS,
};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::SessionId;

/// A node of a job that this implementation reads or writes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobPath {
    /// `/{job}`: class name or type of the job, or blank.
    Root,
    /// `config`: the configuration as YAML.
    Config,
    /// `daemon`: ephemeral, how the processes of a carried `DAEMON` job end. Only a scheduler of carried jobs writes it.
    Daemon,
    /// `dependencies`: which fires of other jobs are fires of this one. Only this implementation writes it.
    Dependencies,
    /// `guarantee`
    Guarantee,
    /// `guarantee/rounds`: which once listeners were called. Only this implementation writes it.
    Rounds,
    /// `servers`
    Servers,
    /// `servers/{ip}`: `ENABLED` or `DISABLED`.
    Server(Box<str>),
    /// `instances`
    Instances,
    /// `instances/{id}`: ephemeral, one for each live instance.
    Instance(InstanceId),
    /// `sharding`
    Sharding,
    /// `sharding/{i}` and what is below it.
    Item(ShardingItem, ItemNode),
    /// `leader`
    Leader,
    /// `leader/election`
    Election,
    /// `leader/election/instance`: ephemeral, id of the leader.
    LeaderInstance,
    /// `leader/election/latch`
    Latch,
    /// `leader/election/latch/{name}`: ephemeral, one for each candidate.
    Candidate(Box<str>),
    /// `leader/failover`
    LeaderFailover,
    /// `leader/failover/items`
    FailoverItems,
    /// `leader/failover/items/{i}`: the run of the item was lost, and an instance has to take it over.
    FailoverItem(ShardingItem),
    /// `leader/sharding`
    LeaderSharding,
    /// `leader/sharding/necessary`: the leader shall reshard.
    Necessary,
    /// `leader/sharding/processing`: a Java leader is resharding.
    Processing,
    /// `trigger`
    Triggers,
    /// `trigger/{id}`: the instance shall run its items once.
    Trigger(InstanceId),
    /// `sessions`
    Sessions,
    /// `sessions/{session}`: ephemeral, shows that the session of a run lives. Only this implementation writes it.
    Session(SessionId),
    /// `refusals`
    Refusals,
    /// `refusals/{session}`: ephemeral, why an instance refuses the configuration. Only this implementation writes it.
    Refusal(SessionId),
    /// `waits`
    Waits,
    /// `waits/{session}`: ephemeral, which items a scheduler of carried jobs launched that do not start. Only such a scheduler writes it.
    Wait(SessionId),
    /// A node that no instance creates, by its path below the root. It matters only where it is in the way.
    Foreign(Box<str>),
}

/// A node below `sharding/{i}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemNode {
    /// `sharding/{i}` itself.
    Dir,
    /// `disabled`: no instance runs the item.
    Disabled,
    /// `failover`: ephemeral, id of the instance that took the item over.
    Failover,
    /// `failovering`: the same id; it outlives that instance.
    Failovering,
    /// `fire`: the record of the last fire that was begun. Only this implementation writes it.
    Fire,
    /// `instance`: id of the owner.
    Instance,
    /// `misfire`: a fire came while another one ran, and will be made up for.
    Misfire,
    /// `running`: id of the instance that runs the item.
    Running,
    /// Any other node: known only so that it is deleted with the item. Boxed twice, since it is rare and would make
    /// every path larger.
    Other(Box<Box<str>>),
}

impl JobPath {
    /// `sharding/{item}/instance`
    pub fn owner_of(item: ShardingItem) -> Self {
        Self::Item(item, ItemNode::Instance)
    }

    /// `sharding/{item}/running`
    pub fn running(item: ShardingItem) -> Self {
        Self::Item(item, ItemNode::Running)
    }

    /// `sharding/{item}/fire`
    pub fn fire(item: ShardingItem) -> Self {
        Self::Item(item, ItemNode::Fire)
    }

    /// The absolute path inside the namespace.
    pub fn absolute(&self, job: &JobName) -> String {
        match self {
            Self::Root => format!("/{job}"),
            path => format!("/{job}/{path}"),
        }
    }

    /// The node that an absolute path names. `None` for nodes of other jobs and for nodes that this implementation does
    /// not use.
    pub fn parse(job: &JobName, absolute: &str) -> Option<Self> {
        let relative = absolute.strip_prefix('/')?.strip_prefix(job.as_str())?;
        match relative.strip_prefix('/') {
            Some(relative) => Self::parse_relative(relative),
            None => relative.is_empty().then_some(Self::Root),
        }
    }

    fn parse_relative(relative: &str) -> Option<Self> {
        let mut segments = relative.split('/');
        let segments = (segments.next()?, segments.next(), segments.next(), segments.next(), segments.next());
        Some(match segments {
            (CONFIG, None, ..) => Self::Config,
            (DAEMON, None, ..) => Self::Daemon,
            (DEPENDENCIES, None, ..) => Self::Dependencies,
            (GUARANTEE, None, ..) => Self::Guarantee,
            (GUARANTEE, Some(ROUNDS), None, ..) => Self::Rounds,
            (SERVERS, None, ..) => Self::Servers,
            (SERVERS, Some(ip), None, ..) => Self::Server(ip.into()),
            (INSTANCES, None, ..) => Self::Instances,
            (INSTANCES, Some(id), None, ..) => Self::Instance(id.parse().ok()?),
            (SHARDING, None, ..) => Self::Sharding,
            (SHARDING, Some(item), node, None, None) => Self::Item(parse_item(item)?, ItemNode::parse(node)),
            (LEADER, None, ..) => Self::Leader,
            (LEADER, Some(ELECTION), None, ..) => Self::Election,
            (LEADER, Some(ELECTION), Some(INSTANCE), None, None) => Self::LeaderInstance,
            (LEADER, Some(ELECTION), Some(LATCH), None, None) => Self::Latch,
            (LEADER, Some(ELECTION), Some(LATCH), Some(name), None) => Self::Candidate(name.into()),
            (LEADER, Some(FAILOVER), None, ..) => Self::LeaderFailover,
            (LEADER, Some(FAILOVER), Some(ITEMS), None, None) => Self::FailoverItems,
            (LEADER, Some(FAILOVER), Some(ITEMS), Some(item), None) => Self::FailoverItem(parse_item(item)?),
            (LEADER, Some(SHARDING), None, ..) => Self::LeaderSharding,
            (LEADER, Some(SHARDING), Some(NECESSARY), None, None) => Self::Necessary,
            (LEADER, Some(SHARDING), Some(PROCESSING), None, None) => Self::Processing,
            (TRIGGER, None, ..) => Self::Triggers,
            (TRIGGER, Some(id), None, ..) => Self::Trigger(id.parse().ok()?),
            (SESSIONS, None, ..) => Self::Sessions,
            (SESSIONS, Some(id), None, ..) => Self::Session(parse_session(id)?),
            (REFUSALS, None, ..) => Self::Refusals,
            (REFUSALS, Some(id), None, ..) => Self::Refusal(parse_session(id)?),
            (WAITS, None, ..) => Self::Waits,
            (WAITS, Some(id), None, ..) => Self::Wait(parse_session(id)?),
            _ => return None,
        })
    }

    /// The parent node; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        Some(match self {
            Self::Root => return None,
            Self::Config
            | Self::Daemon
            | Self::Dependencies
            | Self::Guarantee
            | Self::Servers
            | Self::Instances
            | Self::Sharding
            | Self::Leader
            | Self::Triggers
            | Self::Sessions
            | Self::Refusals
            | Self::Waits => Self::Root,
            Self::Rounds => Self::Guarantee,
            Self::Server(_) => Self::Servers,
            Self::Instance(_) => Self::Instances,
            Self::Item(_, ItemNode::Dir) => Self::Sharding,
            Self::Item(item, _) => Self::Item(*item, ItemNode::Dir),
            Self::Election | Self::LeaderFailover | Self::LeaderSharding => Self::Leader,
            Self::LeaderInstance | Self::Latch => Self::Election,
            Self::Candidate(_) => Self::Latch,
            Self::FailoverItems => Self::LeaderFailover,
            Self::FailoverItem(_) => Self::FailoverItems,
            Self::Necessary | Self::Processing => Self::LeaderSharding,
            Self::Trigger(_) => Self::Triggers,
            Self::Session(_) => Self::Sessions,
            Self::Refusal(_) => Self::Refusals,
            Self::Wait(_) => Self::Waits,
            Self::Foreign(path) => match path.rsplit_once('/') {
                None => Self::Root,
                Some((above, _)) => Self::parse_relative(above).unwrap_or_else(|| Self::Foreign(above.into())),
            },
        })
    }

    /// The child of this node with a name. `None` when this implementation does not use that node.
    pub fn child(&self, job: &JobName, name: &str) -> Option<Self> {
        Self::parse(job, &format!("{}/{name}", self.absolute(job)))
    }

    /// A child of this node that this implementation does not use.
    pub fn foreign_child(&self, name: &str) -> Self {
        Self::Foreign(format!("{self}/{name}").into())
    }

    /// Whether this implementation uses nodes below this one.
    pub fn has_children(&self) -> bool {
        match self {
            Self::Root
            | Self::Guarantee
            | Self::Servers
            | Self::Instances
            | Self::Sharding
            | Self::Leader
            | Self::Election
            | Self::Latch
            | Self::LeaderFailover
            | Self::FailoverItems
            | Self::LeaderSharding
            | Self::Triggers
            | Self::Sessions
            | Self::Refusals
            | Self::Waits => true,
            Self::Item(_, node) => *node == ItemNode::Dir,
            _ => false,
        }
    }

    /// Whether this implementation reads the data of this node. Of other directories only the existence matters.
    pub fn has_data(&self) -> bool {
        matches!(self, Self::Root | Self::Sharding) || !self.has_children()
    }
}

impl ItemNode {
    fn parse(name: Option<&str>) -> Self {
        match name {
            None => Self::Dir,
            Some(DISABLED) => Self::Disabled,
            Some(FAILOVER) => Self::Failover,
            Some(FAILOVERING) => Self::Failovering,
            Some(FIRE) => Self::Fire,
            Some(INSTANCE) => Self::Instance,
            Some(MISFIRE) => Self::Misfire,
            Some(RUNNING) => Self::Running,
            Some(other) => Self::Other(Box::new(other.into())),
        }
    }

    /// Its name below the node of the item.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Dir => "",
            Self::Disabled => DISABLED,
            Self::Failover => FAILOVER,
            Self::Failovering => FAILOVERING,
            Self::Fire => FIRE,
            Self::Instance => INSTANCE,
            Self::Misfire => MISFIRE,
            Self::Running => RUNNING,
            Self::Other(name) => name,
        }
    }
}

/// Only the canonical form of a number is an item: `07` is no item.
fn parse_item(text: &str) -> Option<ShardingItem> {
    let is_canonical = text == "0" || !text.starts_with(['0', '+']);
    text.parse().ok().filter(|_| is_canonical)
}

/// In hexadecimal, as in the attempts of a session.
fn parse_session(text: &str) -> Option<SessionId> {
    let id = i64::from_str_radix(text, 16).ok().or_else(|| u64::from_str_radix(text, 16).ok().map(u64::cast_signed))?;
    (format!("{id:x}") == text).then_some(SessionId(id))
}

/// The path relative to the root of the job.
impl fmt::Display for JobPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Config => f.write_str(CONFIG),
            Self::Daemon => f.write_str(DAEMON),
            Self::Dependencies => f.write_str(DEPENDENCIES),
            Self::Guarantee => f.write_str(GUARANTEE),
            Self::Rounds => write!(f, "{GUARANTEE}/{ROUNDS}"),
            Self::Servers => f.write_str(SERVERS),
            Self::Server(ip) => write!(f, "{SERVERS}/{ip}"),
            Self::Instances => f.write_str(INSTANCES),
            Self::Instance(id) => write!(f, "{INSTANCES}/{id}"),
            Self::Sharding => f.write_str(SHARDING),
            Self::Item(item, ItemNode::Dir) => write!(f, "{SHARDING}/{item}"),
            Self::Item(item, node) => write!(f, "{SHARDING}/{item}/{}", node.name()),
            Self::Leader => f.write_str(LEADER),
            Self::Election => write!(f, "{LEADER}/{ELECTION}"),
            Self::LeaderInstance => write!(f, "{LEADER}/{ELECTION}/{INSTANCE}"),
            Self::Latch => write!(f, "{LEADER}/{ELECTION}/{LATCH}"),
            Self::Candidate(name) => write!(f, "{LEADER}/{ELECTION}/{LATCH}/{name}"),
            Self::LeaderFailover => write!(f, "{LEADER}/{FAILOVER}"),
            Self::FailoverItems => write!(f, "{LEADER}/{FAILOVER}/{ITEMS}"),
            Self::FailoverItem(item) => write!(f, "{LEADER}/{FAILOVER}/{ITEMS}/{item}"),
            Self::LeaderSharding => write!(f, "{LEADER}/{SHARDING}"),
            Self::Necessary => write!(f, "{LEADER}/{SHARDING}/{NECESSARY}"),
            Self::Processing => write!(f, "{LEADER}/{SHARDING}/{PROCESSING}"),
            Self::Triggers => f.write_str(TRIGGER),
            Self::Trigger(id) => write!(f, "{TRIGGER}/{id}"),
            Self::Sessions => f.write_str(SESSIONS),
            Self::Session(id) => write!(f, "{SESSIONS}/{:x}", id.0),
            Self::Refusals => f.write_str(REFUSALS),
            Self::Refusal(id) => write!(f, "{REFUSALS}/{:x}", id.0),
            Self::Waits => f.write_str(WAITS),
            Self::Wait(id) => write!(f, "{WAITS}/{:x}", id.0),
            Self::Foreign(path) => f.write_str(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> JobName {
        JobName::new("my.job").unwrap()
    }

    #[test]
    fn every_node_reads_back_what_it_writes_and_stands_below_its_parent() {
        let id = InstanceId::of_process("10.0.0.1", 7);
        let nodes = [
            JobPath::Root,
            JobPath::Config,
            JobPath::Daemon,
            JobPath::Dependencies,
            JobPath::Guarantee,
            JobPath::Rounds,
            JobPath::Servers,
            JobPath::Server("10.0.0.1".into()),
            JobPath::Instances,
            JobPath::Instance(id.clone()),
            JobPath::Sharding,
            JobPath::Item(10, ItemNode::Dir),
            JobPath::Item(10, ItemNode::Disabled),
            JobPath::fire(10),
            JobPath::owner_of(10),
            JobPath::running(10),
            JobPath::Item(10, ItemNode::Failover),
            JobPath::Item(10, ItemNode::Failovering),
            JobPath::Item(10, ItemNode::Misfire),
            JobPath::Item(10, ItemNode::Other(Box::new("foreign".into()))),
            JobPath::Leader,
            JobPath::Election,
            JobPath::LeaderInstance,
            JobPath::Latch,
            JobPath::Candidate("_c_0-latch-0000000001".into()),
            JobPath::LeaderFailover,
            JobPath::FailoverItems,
            JobPath::FailoverItem(10),
            JobPath::LeaderSharding,
            JobPath::Necessary,
            JobPath::Processing,
            JobPath::Triggers,
            JobPath::Trigger(id),
            JobPath::Sessions,
            JobPath::Session(SessionId(0x1000_2a3b)),
            JobPath::Session(SessionId(-1)),
            JobPath::Refusals,
            JobPath::Refusal(SessionId(0x1000_2a3b)),
            JobPath::Waits,
            JobPath::Wait(SessionId(0x1000_2a3b)),
        ];
        for node in nodes {
            let absolute = node.absolute(&job());
            assert_eq!(JobPath::parse(&job(), &absolute).as_ref(), Some(&node), "{absolute}");
            let Some(parent) = node.parent() else { continue };
            assert!(parent.has_children(), "{parent:?}");
            let (above, name) = absolute.rsplit_once('/').unwrap();
            assert_eq!(parent.absolute(&job()), above);
            assert_eq!(parent.child(&job(), name), Some(node));
        }
    }

    #[test]
    fn foreign_nodes_are_not_ours() {
        for path in [
            "/other/config",
            "/my.job2/config",
            "/my.job/sharding/07",
            "/my.job/sharding/x",
            "/my.job/sharding/+7",
            "/my.job/sharding/00",
            "/my.job/guarantee/started",
            "/my.job/sessions/0A",
        ] {
            assert_eq!(JobPath::parse(&job(), path), None, "{path}");
        }
    }

    #[test]
    fn a_foreign_node_stands_below_the_node_it_is_a_child_of() {
        let server = JobPath::Server("10.0.0.1".into());
        let child = server.foreign_child("status");
        assert_eq!(child.absolute(&job()), "/my.job/servers/10.0.0.1/status");
        assert_eq!(child.parent(), Some(server));
        assert_eq!(child.foreign_child("x").parent(), Some(child));
    }
}
