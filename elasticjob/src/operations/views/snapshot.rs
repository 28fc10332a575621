//! A snapshot of the coordination of a job in the registry center.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{Invalid, JobConfiguration, Message, wire};
use crate::engine::{DependencyRecord, ShardingData};
use crate::fire::{FireRecord, Lifeline};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::operations::dependency_checks::{OtherJobs, other_totals};
use crate::operations::members::Members;
use crate::operations::{CarriedWait, ConfigurationRefusal, DaemonTrouble, OperationError, Operations, read};
use crate::registry::layout::{ItemNode, JobPath, ServerStatus};
use crate::registry::watched::Gone;
use crate::registry::{NodeData, SessionId};
use crate::texts;

/// A job in the registry center, without its traces in databases and logs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JobSnapshot {
    /// The job.
    pub job: JobName,
    /// The configuration, or why it cannot be used; `None` where there is none.
    pub configuration: Option<Result<JobConfiguration, Message>>,
    /// The leader.
    pub leader: Option<InstanceId>,
    /// Whether the leader still has to assign items.
    pub resharding: bool,
    /// The items that exist.
    pub items: BTreeMap<ShardingItem, ItemSnapshot>,
    /// Items whose run was cut off and that wait for a takeover.
    pub to_take_over: BTreeSet<ShardingItem>,
    /// Instances that were triggered and have not begun yet.
    pub triggered: BTreeSet<InstanceId>,
    /// The commands and addresses of the configuration, and how programs handle them, one line each.
    pub bound_to_programs: Vec<String>,
    /// The types that the configuration names and that are not built in, each with its setting.
    pub own_types: Vec<String>,
    /// The decisions on the fires of the jobs that it depends on; `None` where it depends on none.
    pub dependencies: Option<DependencyRecord>,
    /// A process of the `DAEMON` job that ends soon after each start, or does not start, as a scheduler of carried jobs notes it.
    pub daemon: Option<DaemonTrouble>,
    /// Items of a carried job that were launched and have not started, as its schedulers note them.
    pub waits: Vec<CarriedWait>,
    /// The instances whose programs cannot use the configuration, as they note it.
    pub refusals: Vec<ConfigurationRefusal>,
    /// The jobs that its items follow item by item and that have another number of items, with that number.
    pub(super) other_totals: Vec<(JobName, u32)>,
    /// Since when the schedule is followed, in milliseconds since 1970.
    pub(in crate::operations) followed_since: Option<i64>,
    pub(super) times: Times,
    /// When the last instance left and the last leader did, as far as a watch saw it.
    pub(super) gone: Gone,
    pub(in crate::operations) members: Members,
    pub(super) sessions: BTreeSet<SessionId>,
}

/// The times of nodes, in milliseconds since 1970 by the clock of the registry center. Nodes of Java instances have them,
/// too.
#[derive(Debug, Clone, Default)]
pub(super) struct Times {
    /// When the configuration was written last.
    pub(super) configured: Option<i64>,
    /// When the leader was elected.
    pub(super) elected: Option<i64>,
    /// When resharding was asked for.
    pub(super) resharding: Option<i64>,
    /// When the run of each item that waits for a takeover was found lost, or was cut off.
    pub(super) to_take_over: BTreeMap<ShardingItem, i64>,
    /// When each instance was triggered.
    pub(super) triggered: BTreeMap<InstanceId, i64>,
}

/// A sharding item in the registry center.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ItemSnapshot {
    /// Its owner.
    pub owner: Option<InstanceId>,
    /// The time at which the leader wrote the owner last, in milliseconds since 1970 by the clock of the registry center.
    pub owned_since: Option<i64>,
    /// Whether an operator disabled it.
    pub disabled: bool,
    /// The time at which an operator disabled it.
    pub disabled_since: Option<i64>,
    /// The mark of its run.
    pub running: Option<RunningMark>,
    /// Whether a fire came while another one ran, and will be made up for.
    pub misfired: bool,
    /// The time at which that fire was noted.
    pub misfired_since: Option<i64>,
    /// The instance that took it over, as long as that run goes on.
    pub taken_over_by: Option<InstanceId>,
    /// The record of the last fire that was begun. Empty where only Java instances ran it, or where execution is not
    /// monitored.
    pub record: FireRecord,
    /// Since when begins of the item are recorded, in milliseconds since 1970. `None` where they are not recorded, and
    /// where a Java leader may have assigned the item since then to a Java instance, which writes no records.
    pub(super) recorded_since: Option<i64>,
}

/// The mark of an item that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunningMark {
    /// The instance that runs it; `None` for a mark without an instance.
    pub instance: Option<InstanceId>,
    /// The begin, by the clock of the server, in milliseconds since 1970.
    pub since: i64,
    /// Whether the node is deleted when the session of the run ends.
    pub ephemeral: bool,
}

impl JobSnapshot {
    /// The instances that are online, with the address of their server.
    pub fn instances(&self) -> impl Iterator<Item = (&InstanceId, &str)> {
        self.members.instances.iter().map(|(id, server)| (id, server.as_str()))
    }

    /// The servers, with whether they may run items.
    pub fn servers(&self) -> impl Iterator<Item = (&str, ServerStatus)> {
        self.members.servers.iter().map(|(ip, node)| (ip.as_str(), node.status()))
    }

    /// Since when an instance is online, in milliseconds since 1970 by the clock of the registry center.
    pub fn online_since(&self, instance: &InstanceId) -> Option<i64> {
        self.members.instances.get(instance).and_then(|_| self.members.since(instance))
    }

    /// The time at which a server was enabled or disabled last, in milliseconds since 1970 by the clock of the registry center.
    pub fn server_changed(&self, server: &str) -> Option<i64> {
        self.members.servers.get(server).map(|server| server.changed)
    }

    /// Since when the leader leads, in milliseconds since 1970 by the clock of the registry center.
    pub fn leader_since(&self) -> Option<i64> {
        self.times.elected
    }

    /// The time at which the configuration was written last, in milliseconds since 1970 by the clock of the registry center.
    pub fn configured_since(&self) -> Option<i64> {
        self.times.configured
    }

    /// The configuration, if it can be used.
    pub fn usable(&self) -> Option<&JobConfiguration> {
        self.configuration.as_ref()?.as_ref().ok()
    }

    /// Whether the run of a mark lives, by the rules of the other instances. An ephemeral mark lives with its session.
    /// With failover marks are persistent: a run of this implementation lives with the session of its attempt, a run of
    /// Java with its instance.
    pub fn is_run_alive(&self, item: &ItemSnapshot) -> bool {
        let Some(mark) = &item.running else { return false };
        if mark.ephemeral {
            return true;
        }
        match Lifeline::of(mark.instance.as_ref().map(InstanceId::as_str), &item.record) {
            Lifeline::Session(session) => session.is_some_and(|session| self.sessions.contains(&session)),
            Lifeline::Instance(id) => id.is_some_and(|id| self.members.instances.contains_key(&id)),
        }
    }
}

impl Operations {
    /// Reads all nodes of a job.
    ///
    /// # Errors
    /// [`OperationError::NoSuchJob`], [`OperationError::Read`].
    pub async fn snapshot(&self, job: &JobName) -> Result<JobSnapshot, OperationError> {
        let path = |path: JobPath| path.absolute(job);
        let (
            members,
            class,
            config,
            daemon,
            waits,
            mut refusals,
            sharding,
            leader,
            necessary,
            processing,
            items,
            lost,
            triggers,
            sessions,
        ) = tokio::try_join!(
            self.members(job),
            self.text(path(JobPath::Root)),
            self.get(path(JobPath::Config)),
            self.daemon(job),
            self.waits(job),
            self.refusals(job),
            self.get(path(JobPath::Sharding)),
            self.get(path(JobPath::LeaderInstance)),
            self.get(path(JobPath::Necessary)),
            self.get(path(JobPath::Processing)),
            self.names(path(JobPath::Sharding)),
            self.names(path(JobPath::FailoverItems)),
            self.names(path(JobPath::Triggers)),
            self.names(path(JobPath::Sessions)),
        )?;
        let Some(members) = members else { return Err(self.no_such_job(job).await) };
        let below = |parent: &JobPath, names: Vec<String>| -> Vec<JobPath> {
            names.iter().filter_map(|name| parent.child(job, name)).collect()
        };
        let items = below(&JobPath::Sharding, items).into_iter().filter_map(|path| match path {
            JobPath::Item(item, _) => Some(self.item(job, item)),
            _ => None,
        });
        let items = read::all(items).await?;
        let lost = below(&JobPath::FailoverItems, lost).into_iter().filter_map(|path| match path {
            JobPath::FailoverItem(item) => Some(item),
            _ => None,
        });
        let sessions = below(&JobPath::Sessions, sessions).into_iter().filter_map(|path| match path {
            JobPath::Session(session) => Some(session),
            _ => None,
        });
        let lost: BTreeSet<ShardingItem> = lost.collect();
        let triggered: BTreeSet<InstanceId> = triggers.iter().filter_map(|id| id.parse().ok()).collect();
        let (to_take_over, triggered_at) = tokio::try_join!(
            self.created(lost.iter().map(|item| (*item, path(JobPath::FailoverItem(*item))))),
            self.created(triggered.iter().map(|id| (id.clone(), path(JobPath::Trigger(id.clone()))))),
        )?;
        let created = |node: &Option<NodeData>| node.as_ref().map(|node| node.stat.ctime);
        let times = Times {
            configured: config.as_ref().map(|node| node.stat.mtime),
            elected: created(&leader),
            resharding: created(&necessary).or(created(&processing)),
            to_take_over,
            triggered: triggered_at,
        };
        // Where it was changed since, the instance has not looked at it yet.
        refusals.retain(|refusal| config.as_ref().is_some_and(|node| node.stat.version == refusal.version));
        let configuration = config.map(|node| self.usable(job, &node, class.as_deref().unwrap_or_default()));
        let usable = configuration.as_ref().and_then(|read| read.as_ref().ok());
        let noted = sharding.zip(usable).and_then(|(node, usable)| ShardingData::parse(&node.data).since(usable));
        let dependencies = match usable.is_some_and(|usable| !usable.depends_on().is_empty()) {
            true => self.get(path(JobPath::Dependencies)).await?,
            false => None,
        };
        let other_totals = match usable {
            Some(usable) => other_totals(OtherJobs::of(&*self.registry), usable).await?,
            None => Vec::new(),
        };
        Ok(JobSnapshot {
            daemon,
            waits,
            refusals,
            other_totals,
            dependencies: dependencies.and_then(|node| DependencyRecord::parse(&node.data)),
            job: job.clone(),
            bound_to_programs: usable.map(|usable| self.built_in.bound_notes(usable)).unwrap_or_default(),
            own_types: usable.map(|usable| self.built_in.own_types(usable)).unwrap_or_default(),
            configuration,
            leader: leader.and_then(|node| instance(&node)),
            resharding: necessary.is_some() || processing.is_some(),
            items: items.into_iter().flatten().collect(),
            to_take_over: lost,
            triggered,
            followed_since: noted.or(times.configured),
            times,
            // What is read does not say it: nodes that are gone have no times.
            gone: Gone::default(),
            members,
            sessions: sessions.collect(),
        })
    }

    /// The configuration of a job, or the reason why instances cannot use it.
    pub(super) fn usable(&self, job: &JobName, node: &NodeData, class: &str) -> Result<JobConfiguration, Message> {
        let configuration = wire::from_yaml(job, &node.data).map_err(|error| error.message())?;
        let problems: Vec<Message> =
            self.built_in.problems(&configuration, class).iter().map(Invalid::message).collect();
        if problems.is_empty() { Ok(configuration) } else { Err(texts::problems(problems)) }
    }

    /// When nodes were created; nodes that are gone since their names were read are left out.
    async fn created<K: Ord>(
        &self,
        nodes: impl Iterator<Item = (K, String)>,
    ) -> Result<BTreeMap<K, i64>, OperationError> {
        let read = read::all(nodes.map(|(key, path)| async move {
            let node = self.get(path).await?;
            Ok::<_, OperationError>(node.map(|node| (key, node.stat.ctime)))
        }));
        Ok(read.await?.into_iter().flatten().collect())
    }

    /// Reads an item. `None` when it was deleted since its name was read.
    async fn item(
        &self,
        job: &JobName,
        item: ShardingItem,
    ) -> Result<Option<(ShardingItem, ItemSnapshot)>, OperationError> {
        let mut read = self.item_once(job, item).await?;
        // Either its run was lost, or it began after its nodes were listed and before its record was read. It was lost where the
        // nodes were listed while the record was the same.
        loop {
            let unfinished = |read: &Option<(ShardingItem, ItemSnapshot)>| {
                let (_, nodes) = read.as_ref()?;
                nodes.record.unfinished().filter(|_| nodes.running.is_none()).cloned()
            };
            let Some(attempt) = unfinished(&read) else { return Ok(read) };
            let again = self.item_once(job, item).await?;
            if unfinished(&again).is_some_and(|again| again == attempt) {
                return Ok(again);
            }
            read = again;
        }
    }

    async fn item_once(
        &self,
        job: &JobName,
        item: ShardingItem,
    ) -> Result<Option<(ShardingItem, ItemSnapshot)>, OperationError> {
        let Some(names) = self.children(JobPath::Item(item, ItemNode::Dir).absolute(job)).await? else {
            return Ok(None);
        };
        let has = |node: &ItemNode| names.iter().any(|name| name == node.name());
        let read = |node: ItemNode| {
            let asked = has(&node).then(|| self.get(JobPath::Item(item, node).absolute(job)));
            async move {
                match asked {
                    Some(asked) => asked.await,
                    None => Ok(None),
                }
            }
        };
        let (owner, disabled, misfire, running, failovering, fire) = tokio::try_join!(
            read(ItemNode::Instance),
            read(ItemNode::Disabled),
            read(ItemNode::Misfire),
            read(ItemNode::Running),
            read(ItemNode::Failovering),
            read(ItemNode::Fire),
        )?;
        let assigned = owner.as_ref().map(|owner| owner.stat.czxid);
        let snapshot = ItemSnapshot {
            recorded_since: fire.as_ref().filter(|fire| assigned <= Some(fire.stat.mzxid)).map(|fire| fire.stat.ctime),
            owned_since: owner.as_ref().map(|node| node.stat.mtime),
            owner: owner.and_then(|node| instance(&node)),
            disabled: has(&ItemNode::Disabled),
            disabled_since: disabled.map(|node| node.stat.ctime),
            running: running.map(|node| RunningMark {
                instance: instance(&node),
                since: node.stat.ctime,
                ephemeral: node.stat.ephemeral_owner.is_some(),
            }),
            misfired: has(&ItemNode::Misfire),
            misfired_since: misfire.map(|node| node.stat.ctime),
            taken_over_by: failovering.and_then(|node| instance(&node)),
            record: fire.map_or_else(FireRecord::empty, |node| FireRecord::parse(&node.data)),
        };
        Ok(Some((item, snapshot)))
    }
}

fn instance(node: &NodeData) -> Option<InstanceId> {
    node.data.text()?.parse().ok()
}
