//! The description that a carried process gets: the process of a job that a scheduler of `elasticjob-cloud` launches, on the host, on
//! Kubernetes or on Slurm. The scheduler writes it, the program that `elasticjob-starter` starts reads it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fire::{ExecutionSource, Fire, Rerun};
use crate::ident::{JobName, ShardingItem};

/// The variable of a carried process with its [`Carried`] as JSON.
pub const CARRIED: &str = "ELASTICJOB_CARRIED";

/// The variable of a carried process with the path of the file into which it writes why it failed. Not every carrier has one.
pub const FAILURE: &str = "ELASTICJOB_FAILURE";

/// The variable of the process of an item with its [attempt](crate::api::ShardingContext::attempt): 1, and one more each time the carrier
/// runs the item again because its place was lost.
pub const ATTEMPT: &str = "ELASTICJOB_ATTEMPT";

/// The id of a launch: `JOB/scheduled@MILLISECONDS` or `JOB/manual@0xTRANSACTION@MILLISECONDS`. Where a past fire is run again,
/// `@of@MILLISECONDS@MILLISECONDS` follows: its scheduled time, and when it was asked for.
pub fn launch_id(job: &JobName, fire: Fire) -> String {
    match fire {
        Fire::Scheduled(at) => format!("{job}/scheduled@{at}"),
        Fire::Manual { trigger, at, rerun, .. } => {
            let again = rerun.map(|rerun| format!("@of@{}@{}", rerun.of, rerun.asked));
            format!("{job}/manual@0x{trigger:x}@{at}{}", again.unwrap_or_default())
        }
    }
}

/// The job and the fire of the [id of a launch](launch_id); `None` for another text.
pub fn parse_launch_id(text: &str) -> Option<(JobName, Fire)> {
    let (job, fire) = text.split_once('/')?;
    let (kind, rest) = fire.split_once('@')?;
    let fire = match kind {
        "scheduled" => Fire::Scheduled(rest.parse().ok()?),
        "manual" => {
            let (trigger, at) = rest.strip_prefix("0x")?.split_once('@')?;
            let (at, rerun) = match at.split_once("@of@") {
                Some((at, again)) => {
                    let (of, asked) = again.split_once('@')?;
                    (at, Some(Rerun::new(of.parse().ok()?, asked.parse().ok()?)))
                }
                None => (at, None),
            };
            Fire::manual(i64::from_str_radix(trigger, 16).ok()?, at.parse().ok()?, rerun)
        }
        _ => return None,
    };
    Some((JobName::new(job).ok()?, fire))
}

/// The description of its work that a carried process reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Carried {
    /// The job.
    pub job: JobName,
    /// The [id of the launch](launch_id); none for a process of a `DAEMON` job, which schedules by itself.
    #[serde(default)]
    pub launch: Option<String>,
    /// The items that the process runs; empty for a process of a `DAEMON` job.
    #[serde(default)]
    pub items: Vec<ShardingItem>,
    /// Why the items are run.
    #[serde(default)]
    pub source: ExecutionSource,
    /// The fencing token of the item, where there is one.
    #[serde(default)]
    pub fencing_token: Option<i64>,
    /// The number of items of the job.
    pub sharding_total_count: u32,
    /// The parameters of the items that have one.
    #[serde(default)]
    pub sharding_item_parameters: BTreeMap<ShardingItem, String>,
    /// The parameter of the job.
    #[serde(default)]
    pub job_parameter: Option<String>,
    /// The properties of the job.
    #[serde(default)]
    pub props: BTreeMap<String, String>,
    /// Of so many runs of a `DAEMON` job one is traced by its process; 0 and 1: each.
    #[serde(default)]
    pub event_trace_sampling_count: u32,
    /// The schedule of a process of a `DAEMON` job; none for a launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<CarriedSchedule>,
}

impl Carried {
    /// The description for a process of a job with so many items, without what is optional.
    pub fn new(job: JobName, sharding_total_count: u32) -> Self {
        Self {
            job,
            launch: None,
            items: Vec::new(),
            source: ExecutionSource::default(),
            fencing_token: None,
            sharding_total_count,
            sharding_item_parameters: BTreeMap::new(),
            job_parameter: None,
            props: BTreeMap::new(),
            event_trace_sampling_count: 0,
            schedule: None,
        }
    }
}

/// The configuration of a `DAEMON` job that its processes schedule by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CarriedSchedule {
    /// The cron expression by which the job fires.
    pub cron: Option<String>,
    /// The time zone of `cron`; that of the program where there is none.
    pub time_zone: Option<String>,
    /// Whether a fire that fell into a running one is made up for.
    #[serde(default)]
    pub misfire: bool,
    /// Whether another process takes over the items of one that is gone.
    #[serde(default)]
    pub failover: bool,
    /// The type name of the error handler, which handles failed items.
    pub job_error_handler_type: Option<String>,
    /// The purpose of the job, for readers.
    pub description: Option<String>,
    /// The registry center of the scheduler, for a program that sets none of its own.
    pub registry_center: Option<CarriedCenter>,
}

/// The address of a registry center. It has no digest: a process that runs commands of others need not be able to register jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CarriedCenter {
    /// `host:port` of its servers, with commas between them.
    pub server_lists: String,
    /// The namespace of the jobs.
    pub namespace: String,
}
