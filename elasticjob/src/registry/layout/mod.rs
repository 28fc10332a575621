//! The one place that knows how a job is laid out in the registry center: engine, operations, simulator, checkers and
//! command line take paths, names and formats from here.
//!
//! It is the layout of ElasticJob 3.0.5 with some nodes more: `sharding/{i}/fire`, `sessions/{session}`,
//! `guarantee/rounds`, `dependencies`, and notes for operators. `docs/registry-layout.md` says which instance writes a node, when, and with
//! which guard.
//!
//! | node | data | format |
//! |---|---|---|
//! | any | | the path: `JobPath`, `ItemNode` |
//! | `servers/{ip}` | `ENABLED` or `DISABLED` | [`ServerStatus`] |
//! | `instances/{id}` | id and server as YAML | `instance_yaml`, `server_of`, `is_of_java` |
//! | `leader/election/latch/{name}` | none; the name says all | `candidate_prefix`, `candidate_number` |
//! | `leader/election/instance`, `sharding/{i}/{instance,running,failover,failovering}`, `sessions/{session}` | id of an instance | [`InstanceId`](crate::ident::InstanceId) |
//! | `trigger/{id}`, `sharding/{i}/{disabled,misfire}`, `leader/sharding/*`, `leader/failover/items/{i}` | empty: that the node exists says all | |
//!
//! Formats that stand on the words of higher rooms are defined there: `config` in [`config::wire`](crate::config::wire),
//! `sharding/{i}/fire` and which mark a run lives with in [`fire`](crate::fire), `sharding`, `guarantee/rounds` and
//! `dependencies` in the engine.

mod candidate;
mod instance;
pub(crate) mod name;
mod path;
mod server;

pub(crate) use candidate::{candidate_number, candidate_prefix};
pub(crate) use instance::{instance_yaml, is_of_java, server_of};
#[doc(hidden)]
pub use path::{ItemNode, JobPath};
pub use server::ServerStatus;
