//! The Indexed Job of a launch: one pod for each item, or for some of them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use elasticjob::ident::ShardingItem;
use k8s_openapi::api::batch::v1::{
    Job, JobSpec, PodFailurePolicy, PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyRule,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::names::{self, CENTER, DISRUPTED, ID, ITEMS, JOB, LAUNCH, MANAGED_BY, OF, QUEUE, SCOPE};
use super::operator_template::Template;
use super::pod_template::{Wanted, package, template};
use super::shell;
use crate::carrier::{Launch, LaunchId, LaunchItem, job_token};
use crate::model::CarriedJob;

/// The most pods of a Job: each pod carries what all of them are told, so a larger one would cost its square.
pub(super) const PODS: usize = 50;

/// How long Kubernetes keeps a Job that no scheduler forgets, in seconds.
const KEPT: i32 = 7 * 24 * 3_600;

/// What a Job does with a pod that the cluster ended: make another one, or fail the index.
pub(super) const REPLACE: &str = "Ignore";
const FAIL: &str = "FailIndex";

/// What the Jobs of a carrier have in common.
#[derive(Debug, Clone)]
pub(super) struct Common {
    /// The namespace of the registry center.
    pub(super) namespace: String,
    /// The same as a label.
    pub(super) scope: String,
    /// What tells the registry center from others with the same namespace, once it is known.
    pub(super) center: OnceLock<String>,
    pub(super) lost_after: Option<i64>,
    pub(super) template: Template,
}

impl Common {
    /// The labels of everything that a carrier makes in its scope.
    pub(super) fn selector(&self) -> String {
        let (name, value) = MANAGED_BY;
        format!("{name}={value},{SCOPE}={}", self.scope)
    }
}

/// How many of the items fit into a Job.
pub(super) fn room(job: &CarriedJob) -> usize {
    PODS * job.items_per_process as usize
}

/// The Job of this number for these items of a launch.
pub(super) fn job(launch: &Launch, items: &[LaunchItem], number: usize, common: &Common) -> Job {
    let pods: Vec<&[LaunchItem]> = items.chunks(launch.job.items_per_process.max(1) as usize).collect();
    let most = pods.iter().map(|items| items.len()).max().unwrap_or(1);
    let numbers: Vec<Vec<ShardingItem>> =
        pods.iter().map(|items| items.iter().map(|item| item.item).collect()).collect();
    let mut labels = labels(&launch.id, common);
    let annotations =
        BTreeMap::from([(ID.to_owned(), launch.id.to_string()), (JOB.to_owned(), launch.id.job.to_string())]);
    let wanted = Wanted {
        app: &launch.app,
        run: shell::of_launch(launch, &pods, package(&launch.app)),
        cpus: launch.job.cpus(&launch.app, most),
        memory_mb: launch.job.memory(&launch.app, most),
        items: most,
        grace_seconds: launch.job.grace_period_seconds,
        lost_after: common.lost_after,
        labels: labels.clone(),
        annotations: annotations.clone(),
        restart_policy: "Never",
    };
    let template = template(&common.template, wanted);
    let mut of_job = annotations;
    of_job.insert(ITEMS.to_owned(), serde_json::to_string(&numbers).expect("numbers have a JSON form"));
    labels.insert(OF.to_owned(), job_token(&common.namespace, &launch.id.job));
    labels.extend(common.center.get().map(|center| (CENTER.to_owned(), center.clone())));
    labels.extend(launch.job.queue_name.iter().map(|queue| (QUEUE.to_owned(), queue.clone())));
    let count = i32::try_from(pods.len()).expect("a Job has few pods");
    Job {
        metadata: ObjectMeta {
            name: Some(names::job(&launch.id, &common.namespace, number)),
            labels: Some(labels),
            annotations: Some(of_job),
            ..ObjectMeta::default()
        },
        spec: Some(JobSpec {
            completion_mode: Some("Indexed".to_owned()),
            completions: Some(count),
            parallelism: Some(count),
            // A program that fails is a failed item: it is never run again.
            backoff_limit_per_index: Some(0),
            pod_failure_policy: Some(PodFailurePolicy { rules: vec![when_disrupted(launch.replaces_lost())] }),
            // No second copy while the first one may live.
            pod_replacement_policy: Some("Failed".to_owned()),
            suspend: launch.job.queue_name.is_some().then_some(true),
            ttl_seconds_after_finished: Some(KEPT),
            template,
            ..JobSpec::default()
        }),
        status: None,
    }
}

fn when_disrupted(replaces: bool) -> PodFailurePolicyRule {
    PodFailurePolicyRule {
        action: if replaces { REPLACE } else { FAIL }.to_owned(),
        on_pod_conditions: Some(vec![PodFailurePolicyOnPodConditionsPattern {
            type_: DISRUPTED.to_owned(),
            status: "True".to_owned(),
        }]),
        ..PodFailurePolicyRule::default()
    }
}

fn labels(id: &LaunchId, common: &Common) -> BTreeMap<String, String> {
    let (name, value) = MANAGED_BY;
    let token = id.token(&common.namespace);
    let labels = [(name, value.to_owned()), (SCOPE, common.scope.clone()), (LAUNCH, token)];
    labels.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The id of the launch that a Job is of. `None` for a Job that is not this carrier's.
pub(super) fn id(job: &ObjectMeta) -> Option<LaunchId> {
    job.annotations.as_ref()?.get(ID)?.parse().ok()
}

/// The registry center whose schedulers launched a Job, where that is another one.
pub(super) fn foreign_center<'a>(job: &'a ObjectMeta, center: &str) -> Option<&'a str> {
    let of = job.labels.as_ref()?.get(CENTER)?;
    (of != center).then_some(of)
}

/// The items of each index of a Job.
pub(super) fn items(job: &Job) -> Vec<Vec<ShardingItem>> {
    let text = job.metadata.annotations.as_ref().and_then(|annotations| annotations.get(ITEMS));
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}
