//! The StatefulSet of a `DAEMON` job: Kubernetes keeps its pods alive, with pauses that grow.

use std::collections::{BTreeMap, HashMap};
use std::sync::{MutexGuard, PoisonError};

use elasticjob::ident::JobName;
use k8s_openapi::api::apps::v1::{StatefulSet, StatefulSetSpec, StatefulSetUpdateStrategy};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};

use super::errors::{Trouble, answer, if_there};
use super::indexed_job::Common;
use super::names::{DAEMON, JOB, MANAGED_BY, POD_INDEX, SCOPE};
use super::pod_template::{Wanted, needs, package, template};
use super::states::{BEING_MADE, alive, container};
use super::{KubernetesCarrier, shell};
use crate::carrier::{Daemon, DaemonProcess, ItemState, LaunchError, job_token};

/// A StatefulSet as it was when this carrier had applied it. Kubernetes counts the changes of its specification, whoever makes
/// them; one that is made again has another id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Applied {
    id: Option<String>,
    generation: Option<i64>,
}

impl Applied {
    fn of(set: &StatefulSet) -> Self {
        Self { id: set.metadata.uid.clone(), generation: set.metadata.generation }
    }
}

impl KubernetesCarrier {
    /// Makes, changes or deletes the StatefulSet of a job.
    pub(super) async fn keeps(&self, daemon: Daemon) -> Result<(), LaunchError> {
        // What is ended needs no application that can be run.
        if daemon.instances > 0
            && let Some(problem) = needs(&daemon.app).into_iter().next()
        {
            return Err(LaunchError::Refused { why: problem.to_string() });
        }
        let name = name(&daemon.job.job_name, &self.common);
        let done = if daemon.instances == 0 {
            self.applied().remove(&name);
            if_there(answer(self.stateful_sets.delete(&name, &DeleteParams::background())).await).map(drop)
        } else {
            let wanted = stateful_set(&daemon, &self.common);
            let apply = PatchParams::apply(MANAGED_BY.1).force();
            let applied = answer(self.stateful_sets.patch(&name, &apply, &Patch::Apply(&wanted))).await;
            applied.map(|set| drop(self.applied().insert(name, Applied::of(&set))))
        };
        done.map_err(Trouble::of_launch)
    }

    /// Whether the cluster has the StatefulSet of a job as this carrier applied it last, or none where there is to be none.
    pub(super) async fn has_set_of(&self, daemon: &Daemon) -> Result<bool, Trouble> {
        let name = name(&daemon.job.job_name, &self.common);
        let set = if_there(answer(self.stateful_sets.get(&name)).await)?;
        // One that is being deleted takes no changes: it is looked at again when it is gone.
        if set.as_ref().is_some_and(|set| set.metadata.deletion_timestamp.is_some()) {
            return Ok(true);
        }
        let wanted = if daemon.instances == 0 { None } else { self.applied().get(&name).cloned() };
        Ok(set.map(|set| Applied::of(&set)) == wanted)
    }

    fn applied(&self) -> MutexGuard<'_, HashMap<String, Applied>> {
        self.applied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The processes of a job, by index.
    pub(super) async fn processes(&self, job: &JobName) -> Result<Vec<DaemonProcess>, Trouble> {
        let name = name(job, &self.common);
        let labels = format!("{},{DAEMON}={name}", self.common.selector());
        let pods = answer(self.pods.list(&ListParams::default().labels(&labels))).await?;
        let mut processes: Vec<DaemonProcess> = pods.items.iter().filter_map(process).collect();
        // A Role of an earlier version has no right to read it: then only pods are shown.
        let missing = answer(self.stateful_sets.get(&name)).await.map(|set| without_pod(&set, &processes));
        let missing = missing.unwrap_or_default();
        if !missing.is_empty() {
            let why = self.refusal("StatefulSet", &name).await.unwrap_or_else(|| BEING_MADE.to_owned());
            processes.extend(missing.into_iter().map(|index| DaemonProcess::new(index, ItemState::waiting(&*why), 0)));
        }
        processes.sort_by_key(|process| process.index);
        Ok(processes)
    }
}

/// The name of the StatefulSet of a job, which is also the value of its label.
fn name(job: &JobName, common: &Common) -> String {
    job_token(&common.namespace, job)
}

/// The name of the pod of a process: Kubernetes makes it from the name of the StatefulSet.
pub(super) fn pod_name(job: &JobName, index: u32, common: &Common) -> String {
    format!("{}-{index}", name(job, common))
}

/// The StatefulSet of a job.
pub(super) fn stateful_set(daemon: &Daemon, common: &Common) -> StatefulSet {
    let name = name(&daemon.job.job_name, common);
    let (managed, by) = MANAGED_BY;
    let selector = BTreeMap::from([(DAEMON.to_owned(), name.clone())]);
    let mut labels = selector.clone();
    labels.extend([(managed.to_owned(), by.to_owned()), (SCOPE.to_owned(), common.scope.clone())]);
    let annotations = BTreeMap::from([(JOB.to_owned(), daemon.job.job_name.to_string())]);
    let items = daemon.items_of_a_process();
    let wanted = Wanted {
        app: &daemon.app,
        run: shell::of_daemon(daemon, package(&daemon.app)),
        cpus: daemon.job.cpus(&daemon.app, items),
        memory_mb: daemon.job.memory(&daemon.app, items),
        items: 1,
        grace_seconds: daemon.job.grace_period_seconds,
        // A pod of a StatefulSet has one place at a time: Kubernetes makes no other one before it is certain.
        lost_after: None,
        labels: labels.clone(),
        annotations: annotations.clone(),
        restart_policy: "Always",
    };
    StatefulSet {
        metadata: ObjectMeta {
            name: Some(name.clone()),
            labels: Some(labels),
            annotations: Some(annotations),
            ..ObjectMeta::default()
        },
        spec: Some(StatefulSetSpec {
            replicas: Some(i32::try_from(daemon.instances).unwrap_or(i32::MAX)),
            pod_management_policy: Some("Parallel".to_owned()),
            selector: LabelSelector { match_labels: Some(selector), ..LabelSelector::default() },
            service_name: Some(name),
            // Where another program has set another one, later settings would not reach the pods.
            update_strategy: Some(StatefulSetUpdateStrategy {
                type_: Some("RollingUpdate".to_owned()),
                ..StatefulSetUpdateStrategy::default()
            }),
            template: template(&common.template, wanted),
            ..StatefulSetSpec::default()
        }),
        status: None,
    }
}

/// The processes that a StatefulSet is to have, and that have no pod.
fn without_pod(set: &StatefulSet, known: &[DaemonProcess]) -> Vec<u32> {
    if set.metadata.deletion_timestamp.is_some() {
        return Vec::new();
    }
    let wanted = set.spec.as_ref().and_then(|spec| spec.replicas).and_then(|replicas| u32::try_from(replicas).ok());
    (0..wanted.unwrap_or(0)).filter(|index| known.iter().all(|process| process.index != *index)).collect()
}

/// What a pod of a StatefulSet says of the process.
fn process(pod: &Pod) -> Option<DaemonProcess> {
    let index = pod.metadata.labels.as_ref()?.get(POD_INDEX)?.parse().ok()?;
    let status = container(pod);
    let restarts = status.map_or(0, |status| u32::try_from(status.restart_count).unwrap_or(0));
    let state = match (alive(pod), status.and_then(|status| status.last_state.as_ref()?.terminated.as_ref())) {
        (ItemState::Waiting { why, .. }, Some(ended)) => {
            let text = ended.message.as_deref().unwrap_or_default().trim_end_matches('\u{1e}').trim_end();
            let last = text.lines().last().or(ended.reason.as_deref()).unwrap_or("it left no text");
            ItemState::waiting(format!("it ended with exit code {}: {last}; {why}", ended.exit_code))
        }
        (ItemState::Running { place, since, lost, .. }, _) => {
            ItemState::Running { place, since, attempt: restarts + 1, lost }
        }
        (state, _) => state,
    };
    Some(DaemonProcess::new(index, state, restarts))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn processes_without_a_pod_are_known_until_the_set_is_deleted() {
        let mut set: StatefulSet = serde_json::from_value(json!({
            "metadata": {},
            "spec": { "replicas": 3, "selector": {}, "serviceName": "a", "template": {} },
        }))
        .unwrap();
        let known = [DaemonProcess::new(1, ItemState::waiting("it is started"), 0)];
        assert_eq!(without_pod(&set, &known), [0, 2]);
        set.metadata.deletion_timestamp = serde_json::from_value(json!("2026-11-26T08:00:00Z")).unwrap();
        assert_eq!(without_pod(&set, &known), [0; 0]);
    }
}
