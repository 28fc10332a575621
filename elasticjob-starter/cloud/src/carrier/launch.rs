//! A launch: the items of a fire, and what their processes need.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use elasticjob::api::ContextJson;
use elasticjob::carried::{CARRIED, Carried, launch_id, parse_launch_id};
use elasticjob::config::Message;
use elasticjob::fire::{ExecutionSource, Fire};
use elasticjob::ident::{JobName, ShardingItem};
use sha2::{Digest, Sha256};

use super::Permit;
use crate::model::{App, CarriedJob};
use crate::texts;

/// The identity of a launch: a fire of a job. It is the same in every scheduler, and no two fires share it.
///
/// As text it is `JOB/scheduled@MILLISECONDS` or `JOB/manual@0xTRANSACTION@MILLISECONDS`. The time of a manual trigger is
/// part of it, as an embedded registry numbers its transactions from the beginning in every process. Where a past fire is run
/// again, `@of@MILLISECONDS@MILLISECONDS` follows: its scheduled time, which the program sees as its own, and when it was asked
/// for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaunchId {
    /// The job.
    pub job: JobName,
    /// The fire.
    pub fire: Fire,
}

/// A text that is no id of a launch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct UnknownLaunchId(pub String);

impl UnknownLaunchId {
    /// The message: which text it is, and what to write.
    pub fn message(&self) -> Message {
        texts::no_such_launch(&self.0)
    }
}

impl fmt::Display for UnknownLaunchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl LaunchId {
    /// A name for places that take only lower-case letters, digits and `-`: at most 45 of them, first a letter, and other
    /// ones for every launch of a namespace.
    pub fn token(&self, namespace: &str) -> String {
        format!("{}-{}", readable(&self.job), digest(&[namespace, &self.to_string()]))
    }
}

/// A name of a job for the same places, without the fire.
pub(crate) fn job_token(namespace: &str, job: &JobName) -> String {
    format!("{}-{}", readable(job), digest(&[namespace, job.as_str()]))
}

/// What of a name can be part of any other name.
fn readable(job: &JobName) -> String {
    let plain = job.as_str().chars().map(|letter| match letter.to_ascii_lowercase() {
        letter if letter.is_ascii_alphanumeric() => letter,
        _ => '-',
    });
    let plain: String = plain.take(24).collect();
    format!("ej-{}", plain.trim_matches('-'))
}

/// 16 hexadecimal digits of a hash.
pub(crate) fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

impl fmt::Display for LaunchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&launch_id(&self.job, self.fire))
    }
}

impl FromStr for LaunchId {
    type Err = UnknownLaunchId;

    fn from_str(text: &str) -> Result<Self, UnknownLaunchId> {
        let (job, fire) = parse_launch_id(text).ok_or_else(|| UnknownLaunchId(text.to_owned()))?;
        Ok(Self { job, fire })
    }
}

/// An item of a launch.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LaunchItem {
    /// The item.
    pub item: ShardingItem,
    /// A number that only grows from one run of this item to the next, for stores that refuse late writes.
    pub fencing_token: Option<i64>,
    /// Whether it may still be started.
    pub permit: Permit,
}

impl LaunchItem {
    /// An item that may be started until its permit is withdrawn.
    pub fn new(item: ShardingItem, fencing_token: Option<i64>) -> Self {
        Self { item, fencing_token, permit: Permit::default() }
    }
}

/// Items of a fire that are launched together.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Launch {
    /// The fire.
    pub id: LaunchId,
    /// Why the items are run.
    pub source: ExecutionSource,
    /// The time of the fire in the zone of the job, as RFC 3339.
    pub scheduled_at: String,
    /// The id of the run as ElasticJob writes it.
    pub task_id: String,
    /// The items, in ascending order, at least one.
    pub items: Vec<LaunchItem>,
    /// The application whose program is run.
    pub app: Arc<App>,
    /// The job, with the resources of an item.
    pub job: Arc<CarriedJob>,
    /// What all of its processes are told. Made once: to make it is to build the configuration of the job.
    pub(crate) told: Arc<Carried>,
}

impl Launch {
    /// Describes a launch of these items, for a fire that came.
    pub fn new(id: LaunchId, items: Vec<LaunchItem>, app: Arc<App>, job: Arc<CarriedJob>) -> Self {
        let (source, scheduled_at, task_id) = (ExecutionSource::NormalTrigger, String::new(), String::new());
        let told = Arc::new(job.description_of_process());
        Self { id, source, scheduled_at, task_id, items, app, job, told }
    }

    /// Leaves out the items that may not be started any more.
    pub fn leave_out_withdrawn(&mut self) {
        self.items.retain(|item| !item.permit.is_withdrawn());
    }

    /// Completes when none of the items may be started any more, for what takes a while before they start.
    pub async fn withdrawn(&self) {
        for item in &self.items {
            item.permit.withdrawn().await;
        }
    }

    /// Whether the carrier runs an item again that was lost with its place. A program that fails is never run again.
    pub fn replaces_lost(&self) -> bool {
        self.job.failover
    }

    /// The command that a shell runs in the folder of the package: the script of a script job, else that of the application.
    pub fn command(&self) -> &str {
        self.job.script().unwrap_or(&self.app.bootstrap_script)
    }

    /// The arguments of the command. A script gets the sharding context as JSON, as jobs of the type `SCRIPT` do.
    pub fn arguments(&self, item: ShardingItem) -> Vec<String> {
        let context = ContextJson {
            job_name: self.id.job.as_str(),
            task_id: &self.task_id,
            sharding_total_count: self.job.sharding_total_count,
            job_parameter: self.job.job_parameter.as_deref().unwrap_or_default(),
            sharding_item: item,
            sharding_parameter: self.parameter(item),
        };
        self.job.script().map(|_| context.to_string()).into_iter().collect()
    }

    /// The environment of the process of an item: that of the application and the job, and what the item is.
    ///
    /// A carrier adds [`ATTEMPT`](elasticjob::carried::ATTEMPT), which is 1 for the first process of the item and one more for each that
    /// replaces one whose place was lost; and [`FAILURE`](elasticjob::carried::FAILURE) where it can: the path of a file into which the
    /// program writes why it failed.
    pub fn environment(&self, item: &LaunchItem) -> BTreeMap<String, String> {
        let carried = serde_json::to_string(&self.carried(item)).expect("texts and numbers have a JSON form");
        let parameter = self.parameter(item.item).unwrap_or_default().to_owned();
        let token = item.fencing_token.map(|token| token.to_string()).unwrap_or_default();
        let own = [
            (CARRIED, carried),
            ("ELASTICJOB_JOB_NAME", self.id.job.to_string()),
            ("ELASTICJOB_JOB_PARAMETER", self.job.job_parameter.clone().unwrap_or_default()),
            ("ELASTICJOB_SHARDING_ITEM", item.item.to_string()),
            ("ELASTICJOB_SHARDING_PARAMETER", parameter),
            ("ELASTICJOB_SHARDING_TOTAL_COUNT", self.job.sharding_total_count.to_string()),
            ("ELASTICJOB_SCHEDULED_AT", self.scheduled_at.clone()),
            ("ELASTICJOB_FENCING_TOKEN", token),
        ];
        let mut environment = self.app.env.clone();
        environment.extend(self.job.env.clone());
        environment.extend(own.map(|(name, value)| (name.to_owned(), value)));
        environment
    }

    fn carried(&self, item: &LaunchItem) -> Carried {
        let mut carried = Carried::clone(&self.told);
        carried.launch = Some(self.id.to_string());
        carried.items = vec![item.item];
        carried.source = self.source;
        carried.fencing_token = item.fencing_token;
        carried
    }

    fn parameter(&self, item: ShardingItem) -> Option<&str> {
        self.told.sharding_item_parameters.get(&item).map(String::as_str)
    }
}

/// A launch that a carrier accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launched {
    /// Items that it will start, or has started.
    pub started: Vec<ShardingItem>,
    /// Items that it knew already under this id: nothing is started for them.
    pub adopted: Vec<ShardingItem>,
}

#[cfg(test)]
mod tests {
    use elasticjob::fire::Rerun;
    use serde_json::json;

    use super::*;
    use crate::model::BUILT;

    fn id(job: &str, fire: Fire) -> LaunchId {
        LaunchId { job: JobName::new(job).unwrap(), fire }
    }

    #[test]
    fn an_id_is_read_as_it_is_written() {
        let manual = |rerun| Fire::manual(42, 7, rerun);
        let again = manual(Some(Rerun::new(3, 6)));
        for id in [id("a b", Fire::Scheduled(1_700_000_000_000)), id("任务", manual(None)), id("任务", again)] {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        assert_eq!(id("a", manual(None)).to_string(), "a/manual@0x2a@7");
        assert_eq!(id("a", again).to_string(), "a/manual@0x2a@7@of@3@6");
        for wrong in ["a", "a/scheduled", "a/scheduled@x", "/scheduled@1", "a/weekly@1", "a/manual@2a@1"] {
            assert!(wrong.parse::<LaunchId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_parameters_of_the_items_are_parsed_once_for_a_launch() {
        let app = json!({ "appName": "a", "appURL": "file:///a.sh", "bootstrapScript": "./a.sh" });
        let parameters: Vec<String> = (0..1_600).map(|item| format!("{item}=p{item}")).collect();
        let job = json!({ "jobName": "a", "appName": "a", "jobExecutionType": "TRANSIENT", "cpuCount": 1, "memoryMB": 1,
                          "shardingTotalCount": 1_600, "shardingItemParameters": parameters.join(","),
                          "props": { "script.command.line": "run" } });
        let job = Arc::new(CarriedJob::from_json(job).unwrap());
        let items: Vec<LaunchItem> = job.items().map(|item| LaunchItem::new(item, Some(7))).collect();
        let before = BUILT.get();
        let launch = Launch::new(id("a", Fire::Scheduled(1)), items, Arc::new(App::from_json(app).unwrap()), job);
        for item in launch.items.iter().step_by(100) {
            let (environment, wanted) = (launch.environment(item), format!("p{}", item.item));
            assert_eq!(environment["ELASTICJOB_SHARDING_PARAMETER"], wanted);
            let carried: Carried = serde_json::from_str(&environment[CARRIED]).unwrap();
            assert_eq!((carried.items.as_slice(), carried.sharding_item_parameters.len()), (&[item.item][..], 1_600));
            assert_eq!((carried.launch, carried.fencing_token), (Some("a/scheduled@1".to_owned()), Some(7)));
            assert!(launch.arguments(item.item)[0].contains(&wanted));
        }
        assert_eq!(BUILT.get() - before, 1);
    }

    #[test]
    fn tokens_fit_everywhere_and_differ_where_ids_or_namespaces_do() {
        let long = id(&"Settle_Orders.".repeat(9), Fire::Scheduled(1));
        let token = long.token("shop");
        assert!(token.len() <= 45 && token.starts_with("ej-settle-orders-"), "{token}");
        assert!(
            token.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "{token}"
        );
        let others = [
            long.token("stock"),
            id("任务", Fire::Scheduled(1)).token("shop"),
            id("工作", Fire::Scheduled(1)).token("shop"),
        ];
        for (at, other) in others.iter().enumerate() {
            assert!(*other != token && !others[..at].contains(other), "{other}");
        }
        assert_eq!(long.token("shop"), token);
    }
}
