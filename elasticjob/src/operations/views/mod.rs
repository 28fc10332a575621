//! The views of operators: these files read the registry center and the traces, and write nothing.

pub mod alarms;
mod briefs;
pub mod disabled;
mod finding;
mod graph;
mod nodes;
mod overview;
mod past;
mod reason;
mod sharding;
mod snapshot;
mod watched_lists;
mod why;

pub use briefs::{InstanceBrief, JobBrief, JobOfServer, JobState, ServerBrief, ServerInJob};
pub use finding::{Argument, Finding, Remedy};
pub use graph::{GraphEdge, GraphFire, GraphJob, GraphRun, GraphRuns, GraphState, JobGraph, RunOfJob};
pub use nodes::{InvalidNodePath, Node, NodeLevel, NodePath};
pub use overview::{ItemCounts, JobOverview, Overdue};
pub use past::{Happened, PastError, PastFire};
pub use reason::Reason;
pub use sharding::{ShardInfo, ShardState};
pub use snapshot::{ItemSnapshot, JobSnapshot, RunningMark};
pub use watched_lists::{Catalogue, Listed};
