//! Jobs and servers in brief.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::members::Members;
use super::{JobSnapshot, OperationError, Operations, ServerStatus, read};
use crate::engine::{FireRecord, FireState};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::path::JobPath;

/// How a job is. The names are those of ElasticJob's console, and so are the rules: the first that holds counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum JobState {
    /// No instance is online.
    Crashed,
    /// All its servers are disabled.
    Disabled,
    /// An item belongs to an instance that is not online, or none belongs to any.
    ShardingFlag,
    /// Its configuration cannot be used: instances keep the last one that could, new ones start when it is
    /// mended. The console does not know this one.
    ConfigurationRefused,
    /// The last run of an item failed. The console does not know this one, and shows OK.
    Failing,
    /// None of that.
    Ok,
}

impl JobState {
    /// As the console writes it.
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

    /// A job without servers is not called disabled, as Java does.
    fn of(members: &Members, items: &ItemsInBrief, refused: bool) -> Self {
        let mut servers = members.servers.values().map(|server| server.status());
        let is_online = |id: &InstanceId| members.instances.contains_key(id);
        if members.instances.is_empty() {
            Self::Crashed
        } else if !members.servers.is_empty() && servers.all(|status| status == ServerStatus::Disabled) {
            Self::Disabled
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

/// What the state of a job depends on, of its items.
#[derive(Debug, Default)]
struct ItemsInBrief {
    /// The owners of those that have one.
    owners: Vec<InstanceId>,
    /// Those whose last run failed, with why.
    failed: BTreeMap<ShardingItem, String>,
}

impl ItemsInBrief {
    fn add(&mut self, item: ShardingItem, owner: Option<InstanceId>, record: &FireRecord) {
        self.owners.extend(owner);
        if let Some(failed) = record.last.as_ref().filter(|last| last.state == FireState::Failed) {
            self.failed.insert(item, failed.error.clone().unwrap_or_default());
        }
    }
}

impl JobSnapshot {
    /// How the job is.
    pub fn state(&self) -> JobState {
        let mut items = ItemsInBrief::default();
        self.items.iter().for_each(|(item, nodes)| items.add(*item, nodes.owner.clone(), &nodes.record));
        JobState::of(&self.members, &items, matches!(self.configuration, Some(Err(_))))
    }
}

/// A job in brief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobBrief {
    /// The job.
    pub job: JobName,
    /// How it is.
    pub status: JobState,
    /// What its configuration says about it.
    pub description: String,
    /// When it fires; `None` for a one-off job.
    pub cron: Option<String>,
    /// How many instances are online.
    pub instance_count: usize,
    /// How many items a fire is split into.
    pub sharding_total_count: u32,
    /// Why the configuration cannot be used; then what it should tell is empty.
    pub problem: Option<String>,
    /// The items whose last run failed, with why. Only what this implementation ran is recorded, and only where execution
    /// is monitored.
    pub failed_items: BTreeMap<ShardingItem, String>,
}

/// A job on one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobOfServer {
    /// The job.
    pub job: JobName,
    /// Whether the server may run items of it.
    pub status: ServerStatus,
    /// How many of its instances are online there.
    pub instance_count: usize,
}

/// A server of one job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerInJob {
    /// The address.
    pub server: String,
    /// Whether it may run items of the job; `None` where it was forgotten under its instances, which run none then.
    pub status: Option<ServerStatus>,
    /// The instances that are online there.
    pub instances: BTreeSet<InstanceId>,
}

/// A server in brief.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
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

impl Operations {
    /// A job in brief.
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

    /// All jobs of the namespace in brief, in ascending order. What has no configuration is no job.
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
            Err(problem) => (None, Some(problem.clone())),
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
            let record = self.get(JobPath::fire(item).absolute(job));
            let (owner, record) = tokio::try_join!(owner, record)?;
            Ok::<_, OperationError>((item, owner, record))
        }));
        let mut brief = ItemsInBrief::default();
        for (item, owner, record) in read.await? {
            let record = record.map_or_else(FireRecord::empty, |node| FireRecord::parse(&node.data));
            brief.add(item, owner.and_then(|owner| owner.parse().ok()), &record);
        }
        Ok(brief)
    }

    /// How many jobs there are in the namespace. What has no configuration is no job.
    ///
    /// # Errors
    /// [`OperationError::Read`].
    #[doc(alias = "getJobsTotalCount")]
    pub async fn job_count(&self) -> Result<usize, OperationError> {
        let jobs = self.job_names().await?;
        let configured = jobs.iter().map(|job| self.get(JobPath::Config.absolute(job)));
        Ok(read::all(configured).await?.into_iter().flatten().count())
    }

    /// How many servers there are in the namespace: those that a job knows, and those on which an instance is.
    ///
    /// # Errors
    /// [`OperationError::Read`].
    #[doc(alias = "getServersTotalCount")]
    pub async fn server_count(&self) -> Result<usize, OperationError> {
        Ok(self.servers().await?.len())
    }

    /// The jobs that know a server, in ascending order; none where no job does.
    ///
    /// # Errors
    /// [`OperationError::Read`].
    pub async fn jobs_of_server(&self, server: &str) -> Result<Vec<JobOfServer>, OperationError> {
        let jobs = self.all_members().await?.into_iter();
        Ok(jobs
            .filter_map(|(job, members)| {
                let status = members.servers.get(server)?.status();
                let instance_count = members.instances.values().filter(|ip| *ip == server).count();
                Some(JobOfServer { job, status, instance_count })
            })
            .collect())
    }

    /// The servers of a job, in ascending order: those that it knows, and those on which an instance of it is.
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

    /// All servers of the namespace, in ascending order: those that a job knows, and those on which an instance is.
    ///
    /// # Errors
    /// [`OperationError::Read`].
    pub async fn servers(&self) -> Result<Vec<ServerBrief>, OperationError> {
        let mut servers: BTreeMap<String, ServerBrief> = BTreeMap::new();
        for (job, members) in self.all_members().await? {
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
        Ok(servers.into_values().collect())
    }
}
