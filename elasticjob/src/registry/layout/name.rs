//! The names of nodes, each of them written once. Other code takes [`JobPath`](super::JobPath); only where a path is read
//! or written name by name it takes these.

pub(crate) const CONFIG: &str = "config";
pub(crate) const DAEMON: &str = "daemon";
pub(crate) const DEPENDENCIES: &str = "dependencies";
pub(crate) const DISABLED: &str = "disabled";
pub(crate) const ELECTION: &str = "election";
/// Below an item, and below `leader`.
pub(crate) const FAILOVER: &str = "failover";
pub(crate) const FAILOVERING: &str = "failovering";
pub(crate) const FIRE: &str = "fire";
pub(crate) const GUARANTEE: &str = "guarantee";
/// Below an item its owner, below `leader/election` the leader.
pub(crate) const INSTANCE: &str = "instance";
pub(crate) const INSTANCES: &str = "instances";
pub(crate) const ITEMS: &str = "items";
pub(crate) const LATCH: &str = "latch";
pub(crate) const LEADER: &str = "leader";
pub(crate) const MISFIRE: &str = "misfire";
pub(crate) const NECESSARY: &str = "necessary";
pub(crate) const PROCESSING: &str = "processing";
pub(crate) const ROUNDS: &str = "rounds";
pub(crate) const RUNNING: &str = "running";
pub(crate) const SERVERS: &str = "servers";
pub(crate) const SESSIONS: &str = "sessions";
/// The parent of the items, and below `leader` what is said of their assignment.
pub(crate) const SHARDING: &str = "sharding";
pub(crate) const TRIGGER: &str = "trigger";
pub(crate) const REFUSALS: &str = "refusals";
pub(crate) const WAITS: &str = "waits";
