//! The assignment that a trigger is planned by: it asks instances, and an item that none of them has would be left out.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::task::Poll;

use tokio::time::{Instant, timeout_at};

use super::members::Members;
use super::{OperationError, Operations, Target, read};
use crate::config::wire;
use crate::engine::SHARDING_WAIT;
use crate::ident::JobName;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, NodeData, Op, WatchEvent, Zxid};

impl Members {
    /// The operations that make a transaction fail where the items were assigned anew since these members were read: an item may
    /// have moved to an instance that is not among them.
    pub(super) fn guard_assignment(&self, job: &JobName) -> Vec<Op> {
        let path = JobPath::Sharding.absolute(job);
        match self.assignment {
            Some(version) => vec![Op::Check { path, version: Some(version) }],
            // Only its creation can check that a node is not there.
            None => vec![
                Op::Create { path: path.clone(), data: "".into(), mode: CreateMode::Persistent },
                Op::Delete { path, version: None },
            ],
        }
    }
}

impl Operations {
    /// Waits until each item of the jobs belongs to an instance that a trigger would ask, though not for long: where no leader
    /// assigns them, the others run. What cannot be read is an error of the trigger itself.
    pub(super) async fn await_assignment(&self, target: &Target) {
        let Ok(jobs) = self.jobs_of(target).await else { return };
        let meant = jobs.iter().filter(|(_, members)| members.instances.values().any(|server| target.includes(server)));
        let until = Instant::now() + SHARDING_WAIT;
        let waits = meant.map(|(job, _)| async move {
            let _ = timeout_at(until, self.await_assignment_of(job)).await;
            Ok::<_, OperationError>(())
        });
        let _ = read::all(waits).await;
    }

    async fn await_assignment_of(&self, job: &JobName) -> Result<(), OperationError> {
        if self.is_assigned(job).await? {
            return Ok(());
        }
        let mut changes = self.registry.watch(&JobPath::Root.absolute(job));
        while !self.is_assigned(job).await? {
            let change = poll_fn(|cx| {
                loop {
                    match changes.poll_next(cx) {
                        Poll::Ready(Some(event)) if !may_assign(job, &event) => {}
                        other => return other,
                    }
                }
            });
            if change.await.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Whether nothing is to be assigned. With static sharding items stay with instances that are gone, and a Java leader assigns
    /// them when they fire.
    async fn is_assigned(&self, job: &JobName) -> Result<bool, OperationError> {
        let path = |path: JobPath| path.absolute(job);
        let (members, config, necessary, processing) = tokio::try_join!(
            self.members(job),
            self.get(path(JobPath::Config)),
            self.get(path(JobPath::Necessary)),
            self.get(path(JobPath::Processing)),
        )?;
        let configuration = config.and_then(|config| wire::from_yaml(job, &config.data).ok());
        let (Some(members), Some(configuration)) = (members, configuration) else { return Ok(true) };
        let enabled = members.instances.iter().filter(|(_, server)| members.is_enabled(server));
        let enabled: BTreeSet<&str> = enabled.map(|(id, _)| id.as_str()).collect();
        if enabled.is_empty() || members.has_java || configuration.static_sharding() {
            return Ok(true);
        }
        let owners = (0..configuration.sharding_total_count()).map(|item| self.get(path(JobPath::owner_of(item))));
        let (owners, waiting) = tokio::try_join!(read::all(owners), self.waiting_triggers(job))?;
        let is_reached = |owner: &NodeData| {
            let id = owner.data.text().unwrap_or_default();
            // An item that came to an instance after this trigger may have run for it where it was then.
            enabled.contains(id) && waiting.get(id).is_none_or(|since| owner.stat.mzxid < *since)
        };
        let is_reached = owners.iter().all(|owner| owner.as_ref().is_some_and(is_reached));
        Ok(is_reached && necessary.is_none() && processing.is_none())
    }

    /// The instances that have a trigger which they have not taken, each with the transaction that wrote it.
    async fn waiting_triggers(&self, job: &JobName) -> Result<BTreeMap<String, Zxid>, OperationError> {
        let ids = self.names(JobPath::Triggers.absolute(job)).await?;
        let waiting = ids.into_iter().map(|id| async move {
            let Ok(instance) = id.parse() else { return Ok(None) };
            let node = self.get(JobPath::Trigger(instance).absolute(job)).await?;
            Ok::<_, OperationError>(node.map(|node| (id, node.stat.czxid)))
        });
        Ok(read::all(waiting).await?.into_iter().flatten().collect())
    }
}

/// Whether a change may be one of the assignment: fires change other nodes of items, time and again.
fn may_assign(job: &JobName, event: &WatchEvent) -> bool {
    let (WatchEvent::Created(path) | WatchEvent::Changed(path) | WatchEvent::Deleted(path)) = event else {
        return true;
    };
    match JobPath::parse(job, path) {
        Some(JobPath::Item(_, node)) => node == ItemNode::Instance,
        Some(
            JobPath::Config
            | JobPath::Server(_)
            | JobPath::Instance(_)
            | JobPath::Necessary
            | JobPath::Processing
            | JobPath::Trigger(_),
        ) => true,
        _ => false,
    }
}
