//! The assignment that a trigger is planned by: it asks instances, and an item that none of them has would be left out.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::task::Poll;

use tokio::time::{Instant, timeout_at};

use super::members::Members;
use super::{ItemOfJob, OperationError, Operations, Target, read};
use crate::config::wire;
use crate::engine::SHARDING_WAIT;
use crate::ident::{JobName, ShardingItem};
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

/// Which items a trigger would reach.
struct Assignment {
    /// Whether nothing is to be assigned.
    is_settled: bool,
    /// The items that no instance runs for it.
    without_instance: Vec<ShardingItem>,
}

impl Assignment {
    fn settled() -> Self {
        Self { is_settled: true, without_instance: Vec::new() }
    }
}

impl Operations {
    /// Waits until each item of the jobs belongs to an instance that a trigger would ask, though not for long: where no leader
    /// assigns them, the others run. Returns the items that no instance has by then which could run them. What cannot be read is an
    /// error of the trigger itself.
    pub(super) async fn await_assignment(&self, target: &Target) -> Vec<ItemOfJob> {
        let Ok(jobs) = self.jobs_of(target).await else { return Vec::new() };
        let meant = jobs.iter().filter(|(_, members)| members.instances.values().any(|server| target.includes(server)));
        let until = Instant::now() + SHARDING_WAIT;
        let waits = meant.map(|(job, _)| async move {
            let mut last = Assignment::settled();
            let _ = timeout_at(until, self.await_assignment_of(job, &mut last)).await;
            let items = last.without_instance.into_iter();
            Ok::<_, OperationError>(items.map(|item| ItemOfJob { job: job.clone(), item }).collect())
        });
        let without: Result<Vec<Vec<ItemOfJob>>, _> = read::all(waits).await;
        without.unwrap_or_default().concat()
    }

    /// Leaves in `last` the assignment that was read last.
    async fn await_assignment_of(&self, job: &JobName, last: &mut Assignment) -> Result<(), OperationError> {
        *last = self.assignment(job).await?;
        if last.is_settled {
            return Ok(());
        }
        let mut changes = self.registry.watch(&JobPath::Root.absolute(job));
        loop {
            *last = self.assignment(job).await?;
            if last.is_settled {
                return Ok(());
            }
            let change = poll_fn(|cx| {
                loop {
                    match changes.poll_next(cx) {
                        Poll::Ready(Some(event)) if !may_assign(job, &event) => {}
                        other => return other,
                    }
                }
            });
            if change.await.is_none() {
                return Ok(());
            }
        }
    }

    /// The assignment of a job as it is now. With static sharding items stay with instances that are gone, and a Java leader assigns
    /// them when they fire.
    async fn assignment(&self, job: &JobName) -> Result<Assignment, OperationError> {
        let path = |path: JobPath| path.absolute(job);
        let (members, config, necessary, processing) = tokio::try_join!(
            self.members(job),
            self.get(path(JobPath::Config)),
            self.get(path(JobPath::Necessary)),
            self.get(path(JobPath::Processing)),
        )?;
        let configuration = config.and_then(|config| wire::from_yaml(job, &config.data).ok());
        let (Some(members), Some(configuration)) = (members, configuration) else {
            return Ok(Assignment::settled());
        };
        let enabled = members.instances.iter().filter(|(_, server)| members.is_enabled(server));
        let enabled: BTreeSet<&str> = enabled.map(|(id, _)| id.as_str()).collect();
        if enabled.is_empty() || members.has_java {
            return Ok(Assignment::settled());
        }
        let owners = (0..configuration.sharding_total_count()).map(|item| self.get(path(JobPath::owner_of(item))));
        let (owners, waiting) = tokio::try_join!(read::all(owners), self.waiting_triggers(job))?;
        let is_enabled = |owner: &NodeData| enabled.contains(id_of(owner));
        // An item that came to an instance after the trigger that waits there may have run for it where it was then.
        let came_before = |owner: &NodeData| waiting.get(id_of(owner)).is_none_or(|since| owner.stat.mzxid < *since);
        let is_assigned =
            |owner: &Option<NodeData>| owner.as_ref().is_some_and(|owner| is_enabled(owner) && came_before(owner));
        // With static sharding the leader assigns what has no owner at the first trigger, and nothing else ever.
        let is_static = configuration.static_sharding();
        let is_settled = is_static || (owners.iter().all(is_assigned) && necessary.is_none() && processing.is_none());
        let is_reached = |owner: &NodeData| is_enabled(owner) && (is_static || came_before(owner));
        let has_none = |owner: &Option<NodeData>| owner.as_ref().map_or(!is_static, |owner| !is_reached(owner));
        let without_instance = (0..).zip(&owners).filter(|(_, owner)| has_none(owner)).map(|(item, _)| item).collect();
        Ok(Assignment { is_settled, without_instance })
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

/// The instance that a node of an owner names.
fn id_of(owner: &NodeData) -> &str {
    owner.data.text().unwrap_or_default()
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
