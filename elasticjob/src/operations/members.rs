//! The servers and instances of a job.

use std::collections::BTreeMap;

use super::registration::DisabledRegistration;
use super::{OperationError, Operations, read};
use crate::ident::{InstanceId, JobName};
use crate::registry::NodeData;
use crate::registry::layout::{JobPath, ServerStatus, is_of_java, server_of};

/// A node `servers/{ip}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerNode {
    pub(super) text: String,
    pub(super) version: i32,
    /// When its data were set last, in milliseconds since 1970.
    pub(super) changed: i64,
}

impl ServerNode {
    fn new(node: NodeData) -> Self {
        let text = node.data.text().unwrap_or_default().to_owned();
        Self { text, version: node.stat.version, changed: node.stat.mtime }
    }

    pub(super) fn status(&self) -> ServerStatus {
        ServerStatus::of(Some(&self.text))
    }
}

/// The servers by address, and the instances with the address of their server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Members {
    pub(super) servers: BTreeMap<String, ServerNode>,
    pub(super) instances: BTreeMap<InstanceId, String>,
    /// Nodes of instances that no session owns: no instance lives there.
    pub(super) sessionless: BTreeMap<InstanceId, String>,
    /// When each node of an instance was created, in milliseconds since 1970.
    since: BTreeMap<InstanceId, i64>,
    /// The version of the assignment when the instances were read, or before: each assignment of ours raises it. `None` before the
    /// first one.
    pub(super) assignment: Option<i32>,
    /// Whether an instance is a Java instance, which writes no records of its runs.
    pub(super) has_java: bool,
    /// Why no scheduler runs the carried job, where its registration says so. Read of a job without instances alone.
    pub(super) disabled_registration: Option<DisabledRegistration>,
}

/// A node `instances/{id}`.
struct InstanceNode {
    id: InstanceId,
    server: String,
    since: i64,
    is_sessionless: bool,
    is_java: bool,
}

impl Members {
    /// When the node of an instance was created.
    pub(super) fn since(&self, instance: &InstanceId) -> Option<i64> {
        self.since.get(instance).copied()
    }

    pub(super) fn is_enabled(&self, server: &str) -> bool {
        self.servers.get(server).is_some_and(|server| server.status() == ServerStatus::Enabled)
    }
}

impl Operations {
    /// The servers and instances of a job; `None` where there is no such job.
    pub(super) async fn members(&self, job: &JobName) -> Result<Option<Members>, OperationError> {
        // Answers come in the order of the requests: where the items are assigned anew since, the version is the one before.
        let (root, sharding, servers, instances) = tokio::try_join!(
            self.get(JobPath::Root.absolute(job)),
            self.get(JobPath::Sharding.absolute(job)),
            self.names(JobPath::Servers.absolute(job)),
            self.names(JobPath::Instances.absolute(job)),
        )?;
        if root.is_none() {
            return Ok(None);
        }
        let instances: Vec<InstanceId> = instances.into_iter().filter_map(|name| name.parse().ok()).collect();
        let (servers, instances) = tokio::try_join!(
            read::all(servers.into_iter().map(|ip| self.server(job, ip))),
            read::all(instances.into_iter().map(|id| self.instance(job, id))),
        )?;
        let assignment = sharding.map(|node| node.stat.version);
        let mut members =
            Members { servers: servers.into_iter().flatten().collect(), assignment, ..Members::default() };
        for InstanceNode { id, server, since, is_sessionless, is_java } in instances.into_iter().flatten() {
            members.has_java |= is_java && !is_sessionless;
            members.since.insert(id.clone(), since);
            match is_sessionless {
                true => drop(members.sessionless.insert(id, server)),
                false => drop(members.instances.insert(id, server)),
            }
        }
        if members.instances.is_empty() {
            members.disabled_registration = self.disabled_registration(job).await?;
        }
        Ok(Some(members))
    }

    async fn server(&self, job: &JobName, ip: String) -> Result<Option<(String, ServerNode)>, OperationError> {
        let node = self.get(JobPath::Server(ip.as_str().into()).absolute(job)).await?;
        Ok(node.map(|node| (ip, ServerNode::new(node))))
    }

    /// An instance and its server.
    async fn instance(&self, job: &JobName, id: InstanceId) -> Result<Option<InstanceNode>, OperationError> {
        let node = self.get(JobPath::Instance(id.clone()).absolute(job)).await?;
        Ok(node.map(|node| {
            let (server, is_java) = (server_of(&id, &node.data), is_of_java(&node.data));
            let is_sessionless = node.stat.ephemeral_owner.is_none();
            InstanceNode { id, server, since: node.stat.ctime, is_sessionless, is_java }
        }))
    }
}
