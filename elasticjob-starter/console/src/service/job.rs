//! A job, its items and the reasons why they run or do not run.

use std::collections::BTreeMap;

use elasticjob::fire::Begun;
use elasticjob::ident::{InstanceId, JobName, ShardingItem};
use elasticjob::operations::{
    Argument, Finding, ItemSnapshot, JobSnapshot, OperationError, Remedy, ServerStatus, ShardInfo,
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::disabled::{DisabledBy, Disablings, What};
use super::now;
use super::time::Time;
use crate::here::Here;
use crate::pages::segment;
use crate::parity::of_registry;

/// A job as it stands.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobView {
    job: String,
    /// OK, CRASHED, DISABLED, SHARDING_FLAG, CONFIGURATION_REFUSED or FAILING.
    status: &'static str,
    /// `null` for a one-off job.
    cron: Option<String>,
    time_zone: Option<String>,
    sharding_total_count: Option<u32>,
    /// Why the stored configuration cannot be used.
    problem: Option<String>,
    #[schema(value_type = Option<String>)]
    next_fire: Option<Time>,
    leader: Option<String>,
    #[schema(value_type = Option<String>)]
    leader_since: Option<Time>,
    #[schema(value_type = Option<String>)]
    configured_at: Option<Time>,
    resharding: bool,
    instances: Vec<InstanceView>,
    servers: Vec<ServerView>,
}

/// An instance that is online.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstanceView {
    instance: String,
    server: String,
    #[schema(value_type = Option<String>)]
    since: Option<Time>,
}

/// A server of a job.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerView {
    server: String,
    /// ENABLED or DISABLED.
    status: &'static str,
    #[schema(value_type = Option<String>)]
    changed_at: Option<Time>,
    /// Who disabled it; `null` for a server that is enabled, and where that was not recorded or not read so far.
    disabled_by: Option<DisabledBy>,
}

impl InstanceView {
    /// The id of the instance.
    pub(crate) fn instance(&self) -> &str {
        &self.instance
    }

    /// The instances of a job.
    pub(crate) fn all(snapshot: &JobSnapshot) -> Vec<Self> {
        let view = |(instance, server): (&InstanceId, &str)| Self {
            instance: instance.to_string(),
            server: server.to_owned(),
            since: snapshot.online_since(instance).map(Time),
        };
        snapshot.instances().map(view).collect()
    }
}

impl JobView {
    pub(crate) fn of(snapshot: &JobSnapshot, disablings: &Disablings, now: i64) -> Self {
        let configuration = snapshot.usable();
        let schedule = configuration.and_then(|configuration| configuration.schedule());
        let problem = snapshot.configuration.as_ref().and_then(|read| read.as_ref().err()).map(ToString::to_string);
        Self {
            job: snapshot.job.to_string(),
            status: snapshot.state().as_str(),
            cron: schedule.map(|schedule| schedule.cron().to_string()),
            time_zone: schedule.map(|schedule| schedule.time_zone().to_string()),
            sharding_total_count: configuration.map(|configuration| configuration.sharding_total_count()),
            problem,
            next_fire: snapshot.next_fire(now).map(Time),
            leader: snapshot.leader.as_ref().map(ToString::to_string),
            leader_since: snapshot.leader_since().map(Time),
            configured_at: snapshot.configured_since().map(Time),
            resharding: snapshot.resharding,
            instances: InstanceView::all(snapshot),
            servers: snapshot
                .servers()
                .map(|(server, status)| {
                    let changed = snapshot.server_changed(server);
                    let by = || disablings.by(&snapshot.job, &What::Server(server.to_owned()), changed);
                    ServerView {
                        server: server.to_owned(),
                        status: status.as_str(),
                        changed_at: changed.map(Time),
                        disabled_by: (status == ServerStatus::Disabled).then(by).and_then(DisabledBy::of),
                    }
                })
                .collect(),
        }
    }
}

/// A sharding item.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ItemView {
    item: u32,
    parameter: Option<String>,
    /// PENDING, RUNNING, DISABLED or SHARDING_FLAG.
    status: &'static str,
    instance: Option<String>,
    /// Since when the item is of this instance.
    #[schema(value_type = Option<String>)]
    owned_since: Option<Time>,
    server: Option<String>,
    /// Since when it is disabled.
    #[schema(value_type = Option<String>)]
    disabled_since: Option<Time>,
    /// Who disabled it; `null` for an item that is enabled, and where that was not recorded or not read so far.
    disabled_by: Option<DisabledBy>,
    /// Since when a missed fire waits to be made up for.
    #[schema(value_type = Option<String>)]
    misfired_since: Option<Time>,
    /// Whether an instance took it over after its run was lost.
    failover: bool,
    last: Option<RunView>,
    #[schema(value_type = Option<String>)]
    next_fire: Option<Time>,
}

/// The last run of an item.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunView {
    /// The scheduled time of the fire, or the time of the trigger.
    #[schema(value_type = String)]
    fire_at: Time,
    manual: bool,
    source: String,
    instance: String,
    state: String,
    #[schema(value_type = Option<String>)]
    began_at: Option<Time>,
    #[schema(value_type = Option<String>)]
    ended_at: Option<Time>,
    took_milliseconds: Option<u64>,
    error: Option<String>,
}

impl From<Begun> for RunView {
    fn from(begun: Begun) -> Self {
        Self {
            fire_at: Time(begun.at),
            manual: begun.manual,
            source: begun.source.to_string(),
            instance: begun.instance.to_string(),
            state: begun.state.to_string(),
            began_at: begun.began.map(Time),
            ended_at: begun.ended.map(Time),
            took_milliseconds: begun.took,
            error: begun.error,
        }
    }
}

impl ItemView {
    /// An item of a job, with what the registry center has of it, if anything.
    pub(crate) fn of(snapshot: &JobSnapshot, disablings: &Disablings, info: ShardInfo) -> Self {
        let known = snapshot.items.get(&info.item);
        let since = |of: fn(&ItemSnapshot) -> Option<i64>| known.and_then(of).map(Time);
        Self {
            owned_since: since(|item| item.owned_since),
            disabled_since: since(|item| item.disabled_since),
            disabled_by: known
                .filter(|item| item.disabled)
                .and_then(|of| DisabledBy::of(disablings.by(&snapshot.job, &What::Item(info.item), of.disabled_since))),
            misfired_since: since(|item| item.misfired_since),
            item: info.item,
            parameter: info.parameter,
            status: info.status.as_str(),
            instance: info.instance.map(|instance| instance.to_string()),
            server: info.server,
            failover: info.failover,
            last: info.last.map(RunView::from),
            next_fire: info.next_fire.map(Time),
        }
    }
}

/// A reason why a job or an item runs, does not run, or did not run.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FindingView {
    /// `null` for the whole job.
    item: Option<u32>,
    /// The name of the reason. It never changes.
    code: &'static str,
    #[schema(value_type = Object)]
    arguments: BTreeMap<&'static str, Value>,
    #[schema(value_type = Option<String>)]
    since: Option<Time>,
    /// Whether it keeps the job or the item from running.
    obstacle: bool,
    /// The reason as an English sentence without its subject.
    text: String,
    remedy: Option<RemedyView>,
}

/// What helps.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RemedyView {
    code: &'static str,
    command: Option<String>,
    /// The request of this API that does it.
    request: Option<RequestView>,
}

/// A request of this API.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestView {
    method: &'static str,
    /// From the root of the host.
    path: String,
    /// What the body has at least.
    #[schema(value_type = Object)]
    body: Value,
}

impl RequestView {
    /// The request that does it; `None` where no request can.
    fn of(here: &Here, job: &JobName, remedy: &Remedy) -> Option<Self> {
        let (method, end, body) = match remedy {
            Remedy::CorrectConfiguration | Remedy::ChangeSchedule => ("PATCH", "configuration".to_owned(), json!({})),
            Remedy::EnableServers => ("PUT", "state".to_owned(), json!({ "enabled": true })),
            Remedy::EnableServer(server) => {
                ("PUT", format!("servers/{}/state", segment(server)), json!({ "enabled": true }))
            }
            Remedy::EnableItem(item) => ("PUT", format!("items/{item}/state"), json!({ "enabled": true })),
            Remedy::Trigger => ("POST", "triggers".to_owned(), json!({})),
            // A program can be started on its host alone.
            _ => return None,
        };
        let (base, registry) = (&here.app.options.base_path, here.registry.name());
        let path = format!("{base}/api/v1/registries/{registry}/jobs/{}/{end}", segment(job.as_str()));
        Some(Self { method, path, body })
    }
}

impl FindingView {
    pub(crate) fn of(here: &Here, finding: &Finding, job: &JobName) -> Self {
        let value = |argument: Argument| match argument {
            Argument::Time(at) => Time(at).to_string().into(),
            other => serde_json::to_value(other).unwrap_or_default(),
        };
        Self {
            item: finding.item,
            code: finding.code(),
            arguments: finding.arguments().into_iter().map(|(name, argument)| (name, value(argument))).collect(),
            since: finding.since.map(Time),
            obstacle: finding.is_obstacle(),
            text: finding.reason.to_string(),
            remedy: finding.remedy().map(|remedy| RemedyView {
                code: remedy.code(),
                command: remedy.command(job).map(|command| of_registry(&command, here.registry.name())),
                request: RequestView::of(here, job, &remedy),
            }),
        }
    }
}

/// The reasons for a job, then those for its items, or for one of them.
///
/// Each comes with its place in the list, where it stays when findings of other items come and go.
pub(crate) fn findings(
    here: &Here,
    snapshot: &JobSnapshot,
    item: Option<ShardingItem>,
    now: i64,
) -> Vec<(u64, FindingView)> {
    // Those of the job have the first places; an item has a few findings at most.
    const PLACES: u64 = 1_000;
    let items = item.map_or_else(|| snapshot.items.keys().copied().collect(), |item| vec![item]);
    let of_items = items.into_iter().map(|item| (PLACES * (u64::from(item) + 1), snapshot.findings_of(item, now)));
    let all = std::iter::once((0, snapshot.findings(now))).chain(of_items);
    let placed = all.flat_map(|(first, findings)| (first..).zip(findings));
    placed.map(|(place, finding)| (place, FindingView::of(here, &finding, &snapshot.job))).collect()
}

/// A job with the time at which it was looked at.
pub(crate) async fn look(here: &Here, job: &JobName) -> Result<(JobSnapshot, i64), OperationError> {
    Ok((here.registry.catalogue().snapshot(job).await?, now()))
}
