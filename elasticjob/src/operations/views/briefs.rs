//! Short views of jobs and servers.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{ItemSnapshot, JobSnapshot};
use crate::fire::{FireRecord, FireState};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::operations::members::Members;
use crate::operations::{OperationError, Operations, read};
use crate::registry::layout::{ItemNode, JobPath, ServerStatus};

/// The state of a job. The names and the rules are those of ElasticJob's console, in another order: the first rule that
/// holds counts, and a job that an operator disabled stays disabled when its processes are stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum JobState {
    /// No instance is online. The console shows it also of a job that is disabled.
    Crashed,
    /// All its servers are disabled, or no scheduler runs the carried job as its registration is disabled.
    Disabled,
    /// An item belongs to an instance that is not online, or no item has an owner.
    ShardingFlag,
    /// Its configuration cannot be used: instances keep the last good one, and new instances start only when it is
    /// corrected. The console does not know this state.
    ConfigurationRefused,
    /// The last run of an item failed, or no instance finished it and none will. The console does not know this state, and shows OK.
    Failing,
    /// None of the states above.
    Ok,
}

impl JobState {
    /// All states.
    pub const ALL: [Self; 6] =
        [Self::Crashed, Self::Disabled, Self::ShardingFlag, Self::ConfigurationRefused, Self::Failing, Self::Ok];

    /// The name in the console.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Crashed => "CRASHED",
            Self::Disabled => "DISABLED",
            Self::ShardingFlag => "SHARDING_FLAG",
            Self::ConfigurationRefused => "CONFIGURATION_REFUSED",
            Self::Failing => "FAILING",
            Self::Ok => "OK",
        }
    }

    /// Applies the rules in order. As in Java, a job without servers is not called disabled.
    fn of(members: &Members, items: &ItemsInBrief, refused: bool) -> Self {
        let mut servers = members.servers.values().map(|server| server.status());
        let is_online = |id: &InstanceId| members.instances.contains_key(id);
        let all_are_disabled = !members.servers.is_empty() && servers.all(|status| status == ServerStatus::Disabled);
        if all_are_disabled || members.disabled_registration.is_some() {
            Self::Disabled
        } else if members.instances.is_empty() {
            Self::Crashed
        } else if items.owners.is_empty() || !items.owners.iter().all(is_online) {
            Self::ShardingFlag
        } else if refused {
            Self::ConfigurationRefused
        } else if !items.failed.is_empty() {
            Self::Failing
        } else {
            Self::Ok
        }
    }
}

/// The part of the items that the state of a job depends on.
#[derive(Debug, Default)]
struct ItemsInBrief {
    /// The owners of items that have one.
    owners: Vec<InstanceId>,
    /// The items whose last run failed, with the cause.
    failed: BTreeMap<ShardingItem, String>,
}

impl ItemsInBrief {
    fn add(&mut self, item: ShardingItem, owner: Option<InstanceId>, failure: Option<String>) {
        self.owners.extend(owner);
        self.failed.extend(failure.map(|cause| (item, cause)));
    }
}

/// Why the last run of an item failed; empty where no instance finished it. `goes_on` is whether it runs, or an instance
/// will look at it: its mark is there, or it waits for a takeover.
fn failure(record: &FireRecord, goes_on: bool) -> Option<String> {
    let last = record.last.as_ref()?;
    match last.state {
        FireState::Failed => Some(last.error.clone().unwrap_or_default()),
        FireState::Running | FireState::Cancelled if !goes_on => Some(String::new()),
        FireState::Running | FireState::Cancelled | FireState::Succeeded | FireState::NotRun => None,
    }
}

impl JobSnapshot {
    /// The state of the job.
    pub fn state(&self) -> JobState {
        let mut items = ItemsInBrief::default();
        for (item, nodes) in &self.items {
            items.add(*item, nodes.owner.clone(), self.failure_of(*item, nodes));
        }
        JobState::of(&self.members, &items, matches!(self.configuration, Some(Err(_))))
    }

    /// Why the last run of an item failed; empty where no instance finished it and none will.
    pub(super) fn failure_of(&self, item: ShardingItem, nodes: &ItemSnapshot) -> Option<String> {
        // A Java instance may have run it since.
        let is_newest = nodes.recorded_since.is_some();
        failure(&nodes.record, !is_newest || nodes.running.is_some() || self.to_take_over.contains(&item))
    }
}

/// A short view of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JobBrief {
    /// The job.
    pub job: JobName,
    /// Its state.
    pub status: JobState,
    /// The description in its configuration.
    pub description: String,
    /// Its cron expression; `None` for a one-off job.
    pub cron: Option<String>,
    /// The number of instances that are online.
    pub instance_count: usize,
    /// The number of items of a fire.
    pub sharding_total_count: u32,
    /// Why the configuration cannot be used. The fields that come from it are empty then.
    pub problem: Option<String>,
    /// The items whose last run failed, with the cause; it is empty where no instance finished the run and none will. Only runs of this implementation are recorded, and only where
    /// execution is monitored.
    pub failed_items: BTreeMap<ShardingItem, String>,
}

/// A job on one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JobOfServer {
    /// The job.
    pub job: JobName,
    /// Whether the server may run items of the job.
    pub status: ServerStatus,
    /// The number of the job's instances that are online there.
    pub instance_count: usize,
}

/// A server of one job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerInJob {
    /// The address.
    pub server: String,
    /// Whether it may run items of the job. `None` where the server was removed while its instances are online; they
    /// run no items then.
    pub status: Option<ServerStatus>,
    /// The instances that are online there.
    pub instances: BTreeSet<InstanceId>,
}

/// A short view of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerBrief {
    /// The address.
    pub server: String,
    /// The instances that are online there. A process has the same id in each of its jobs.
    pub instances: BTreeSet<InstanceId>,
    /// The jobs that know the server.
    pub jobs: BTreeSet<JobName>,
    /// In how many of them it is disabled.
    pub disabled_jobs: usize,
}

/// A short view of an instance that is online.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InstanceBrief {
    /// The instance. A process has the same id in each of its jobs.
    pub instance: InstanceId,
    /// The address of its server.
    pub server: String,
    /// Since when it is online, in milliseconds since 1970: in the job where it came first.
    pub since: i64,
    /// The jobs that it runs.
    pub jobs: BTreeSet<JobName>,
}

impl Operations {
    /// A short view of a job.
    ///
    /// # Errors
    /// [`OperationError::NoSuchJob`], [`OperationError::NoConfiguration`], [`OperationError::Read`].
    pub async fn job(&self, job: &JobName) -> Result<JobBrief, OperationError> {
        match self.brief(job).await? {
            Some(brief) => Ok(brief),
            None if self.get(JobPath::Root.absolute(job)).await?.is_some() => {
                Err(OperationError::NoConfiguration { job: job.clone() })
            }
            None => Err(self.no_such_job(job).await),
        }
    }

    /// Short views of all jobs of the namespace, in ascending order. A node without a configuration is no job.
    ///
    /// # Errors
    /// [`OperationError::Read`].
    pub async fn jobs(&self) -> Result<Vec<JobBrief>, OperationError> {
        let jobs = self.job_names().await?;
        let briefs = read::all(jobs.iter().map(|job| self.brief(job))).await?;
        Ok(briefs.into_iter().flatten().collect())
    }

    async fn brief(&self, job: &JobName) -> Result<Option<JobBrief>, OperationError> {
        let Some(config) = self.get(JobPath::Config.absolute(job)).await? else { return Ok(None) };
        let root = self.text(JobPath::Root.absolute(job));
        let (class, members, items) = tokio::try_join!(root, self.members(job), self.items_in_brief(job))?;
        let members = members.unwrap_or_default();
        let read = self.usable(job, &config, class.as_deref().unwrap_or_default());
        let (configuration, problem) = match &read {
            Ok(configuration) => (Some(configuration), None),
            Err(problem) => (None, Some(problem.to_string())),
        };
        let schedule = configuration.and_then(|configuration| configuration.schedule());
        Ok(Some(JobBrief {
            job: job.clone(),
            status: JobState::of(&members, &items, problem.is_some()),
            description: configuration.and_then(|it| it.settings().description).unwrap_or_default(),
            cron: schedule.map(|schedule| schedule.cron().to_string()),
            instance_count: members.instances.len(),
            sharding_total_count: configuration.map_or(0, |it| it.sharding_total_count()),
            problem,
            failed_items: items.failed,
        }))
    }

    async fn items_in_brief(&self, job: &JobName) -> Result<ItemsInBrief, OperationError> {
        let items = self.names(JobPath::Sharding.absolute(job)).await?;
        let items = items.into_iter().filter_map(|item| item.parse::<ShardingItem>().ok());
        let read = read::all(items.map(|item| async move {
            let owner = self.text(JobPath::owner_of(item).absolute(job));
            let (owner, failure) = tokio::try_join!(owner, self.failure_of(job, item))?;
            Ok::<_, OperationError>((item, owner, failure))
        }));
        let mut brief = ItemsInBrief::default();
        for (item, owner, failure) in read.await? {
            brief.add(item, owner.and_then(|owner| owner.parse().ok()), failure);
        }
        Ok(brief)
    }

    /// Why the last run of an item failed. A run that is unfinished may end between the reads of its record and of its mark: it was
    /// lost where there was no mark while the record was the same.
    async fn failure_of(&self, job: &JobName, item: ShardingItem) -> Result<Option<String>, OperationError> {
        let read = async || {
            let record = self.get(JobPath::fire(item).absolute(job)).await?;
            Ok::<_, OperationError>(record.map_or_else(FireRecord::empty, |node| FireRecord::parse(&node.data)))
        };
        let mut record = read().await?;
        loop {
            let goes_on = record.unfinished().is_some() && self.goes_on(job, item).await?;
            if goes_on || record.unfinished().is_none() {
                return Ok(failure(&record, goes_on));
            }
            let again = read().await?;
            if again.unfinished() == record.unfinished() {
                return Ok(failure(&again, false));
            }
            record = again;
        }
    }

    /// Whether an item that is unfinished has a mark, or waits for a takeover.
    async fn goes_on(&self, job: &JobName, item: ShardingItem) -> Result<bool, OperationError> {
        let mark = self.get(JobPath::Item(item, ItemNode::Running).absolute(job));
        let lost = self.get(JobPath::FailoverItem(item).absolute(job));
        let (mark, lost) = tokio::try_join!(mark, lost)?;
        Ok(mark.is_some() || lost.is_some())
    }

    /// The number of jobs of the namespace. A node without a configuration is no job.
    ///
    /// # Errors
    /// [`OperationError::Read`].
    #[doc(alias = "getJobsTotalCount")]
    pub async fn job_count(&self) -> Result<usize, OperationError> {
        let jobs = self.job_names().await?;
        let configured = jobs.iter().map(|job| self.get(JobPath::Config.absolute(job)));
        Ok(read::all(configured).await?.into_iter().flatten().count())
    }

    /// The number of servers of the namespace: servers that a job knows, and servers with an instance.
    ///
    /// # Errors
    /// [`OperationError::Read`].
    #[doc(alias = "getServersTotalCount")]
    pub async fn server_count(&self) -> Result<usize, OperationError> {
        Ok(self.servers().await?.len())
    }

    /// The jobs that know a server, in ascending order. Empty where no job knows it.
    ///
    /// # Errors
    /// [`OperationError::Read`].
    pub async fn jobs_of_server(&self, server: &str) -> Result<Vec<JobOfServer>, OperationError> {
        let all = self.all_members().await?;
        Ok(jobs_of_server(server, all.iter().map(|(job, members)| (job, members))))
    }

    /// The servers of a job, in ascending order: servers that it knows, and servers with an instance of it.
    ///
    /// # Errors
    /// [`OperationError::NoSuchJob`], [`OperationError::Read`].
    pub async fn servers_of_job(&self, job: &JobName) -> Result<Vec<ServerInJob>, OperationError> {
        let Some(members) = self.members(job).await? else { return Err(self.no_such_job(job).await) };
        let addresses: BTreeSet<&String> = members.servers.keys().chain(members.instances.values()).collect();
        let server = |ip: &String| ServerInJob {
            server: ip.clone(),
            status: members.servers.get(ip).map(|node| node.status()),
            instances: members.instances.iter().filter(|(_, on)| *on == ip).map(|(id, _)| id.clone()).collect(),
        };
        Ok(addresses.into_iter().map(server).collect())
    }

    /// All servers of the namespace, in ascending order: servers that a job knows, and servers with an instance.
    ///
    /// # Errors
    /// [`OperationError::Read`].
    pub async fn servers(&self) -> Result<Vec<ServerBrief>, OperationError> {
        let all = self.all_members().await?;
        Ok(servers(all.iter().map(|(job, members)| (job, members))))
    }
}

/// The servers that one of these jobs knows, and those with an instance of one.
pub(super) fn servers<'a>(all: impl Iterator<Item = (&'a JobName, &'a Members)>) -> Vec<ServerBrief> {
    let mut servers: BTreeMap<String, ServerBrief> = BTreeMap::new();
    for (job, members) in all {
        let mut of = |ip: &str, add: &dyn Fn(&mut ServerBrief)| {
            let new = || ServerBrief { server: ip.to_owned(), ..ServerBrief::default() };
            let server = servers.entry(ip.to_owned()).or_insert_with(new);
            server.jobs.insert(job.clone());
            add(server);
        };
        for (ip, node) in &members.servers {
            let is_disabled = node.status() == ServerStatus::Disabled;
            of(ip, &|server| server.disabled_jobs += usize::from(is_disabled));
        }
        for (instance, ip) in &members.instances {
            of(ip, &|server| {
                server.instances.insert(instance.clone());
            });
        }
    }
    servers.into_values().collect()
}

/// The instances of these jobs that are online.
pub(super) fn instances<'a>(all: impl Iterator<Item = (&'a JobName, &'a Members)>) -> Vec<InstanceBrief> {
    let mut instances: BTreeMap<InstanceId, InstanceBrief> = BTreeMap::new();
    for (job, members) in all {
        for (instance, server) in &members.instances {
            let since = members.since(instance).unwrap_or_default();
            let new =
                || InstanceBrief { instance: instance.clone(), server: server.clone(), since, jobs: BTreeSet::new() };
            let brief = instances.entry(instance.clone()).or_insert_with(new);
            brief.since = brief.since.min(since);
            brief.jobs.insert(job.clone());
        }
    }
    instances.into_values().collect()
}

/// Those of these jobs that know a server.
pub(super) fn jobs_of_server<'a>(
    server: &str,
    all: impl Iterator<Item = (&'a JobName, &'a Members)>,
) -> Vec<JobOfServer> {
    let of = |(job, members): (&JobName, &Members)| {
        let status = members.servers.get(server)?.status();
        let instance_count = members.instances.values().filter(|ip| *ip == server).count();
        Some(JobOfServer { job: job.clone(), status, instance_count })
    };
    all.filter_map(of).collect()
}
