//! Launches items, reads how they are, stops them and forgets them: all by the Jobs of a launch, which the cluster keeps.

use std::collections::{BTreeMap, BTreeSet};

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::log::error;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::json;

use super::errors::{Trouble, answer, if_there};
use super::indexed_job::Common;
use super::names::{self, LAUNCH, OF};
use super::{KubernetesCarrier, indexed_job, pod_template, states};
use crate::carrier::{
    ItemState, ItemStates, Launch, LaunchError, LaunchId, LaunchItem, Launched, StopCause, job_token,
};

/// How often a launch is tried to which other schedulers add items at the same time.
const ATTEMPTS: usize = 8;

impl KubernetesCarrier {
    /// Launches what is not known, Job by Job.
    pub(super) async fn launched(&self, launch: Launch) -> Result<Launched, LaunchError> {
        if let Some(problem) = pod_template::needs(&launch.app).into_iter().next() {
            return Err(LaunchError::Refused { why: problem.to_string() });
        }
        let mut launched = Launched::default();
        // Most fires are launched once: they are not looked for before.
        let (mut number, mut left) = (0, launch.items.clone());
        for _ in 0..ATTEMPTS {
            let mut conflicts = false;
            while !conflicts {
                left.retain(|item| !item.permit.is_withdrawn());
                if left.is_empty() {
                    break;
                }
                let now: Vec<LaunchItem> = left.iter().take(indexed_job::room(&launch.job)).cloned().collect();
                let job = indexed_job::job(&launch, &now, number, &self.common);
                match answer(self.jobs.create(&PostParams::default(), &job)).await {
                    Ok(_) => {
                        launched.started.extend(now.iter().map(|item| item.item));
                        left.drain(..now.len());
                        number += 1;
                    }
                    Err(trouble) if trouble.is_conflict() => conflicts = true,
                    Err(trouble) => return Err(trouble.of_launch().after(&launched)),
                }
            }
            if left.is_empty() {
                return Ok(launched);
            }
            let known = self.jobs_of(&launch.id).await.map_err(|trouble| trouble.of_launch().after(&launched))?;
            let token = launch.id.token(&self.common.namespace);
            number =
                known.iter().filter_map(|job| names::number(&job.name_any(), &token)).max().map_or(0, |last| last + 1);
            let known: BTreeSet<ShardingItem> = known.iter().flat_map(indexed_job::items).flatten().collect();
            let adopted = left.extract_if(.., |item| known.contains(&item.item));
            launched.adopted.extend(adopted.map(|item| item.item));
        }
        let why = format!("other schedulers add items to it all the time: {ATTEMPTS} attempts");
        Err(LaunchError::Unknown { why })
    }

    /// The Jobs of a launch, as the cluster has them now.
    pub(super) async fn jobs_of(&self, id: &LaunchId) -> Result<Vec<Job>, Trouble> {
        answer(self.jobs.list(&self.of_launch(id))).await.map(|list| list.items)
    }

    fn of_launch(&self, id: &LaunchId) -> ListParams {
        let token = id.token(&self.common.namespace);
        ListParams::default().labels(&format!("{},{LAUNCH}={token}", self.common.selector()))
    }

    /// The states of the items of a launch; `None` where the cluster knows none.
    pub(super) async fn states_of(&self, id: &LaunchId) -> Result<Option<ItemStates>, Trouble> {
        let jobs = self.jobs_of(id).await?;
        if jobs.is_empty() {
            return Ok(None);
        }
        let pods = answer(self.pods.list(&self.of_launch(id))).await?.items;
        let mut by_job: BTreeMap<String, Vec<&Pod>> = BTreeMap::new();
        for pod in &pods {
            by_job.entry(pod.labels().get(names::OF_JOB).cloned().unwrap_or_default()).or_default().push(pod);
        }
        let mut all = ItemStates::new();
        for job in &jobs {
            let mut states = states::states(job, by_job.remove(&job.name_any()).unwrap_or_default());
            if states.values().any(states::is_being_made)
                && let Some(why) = self.refusal("Job", &job.name_any()).await
            {
                let being_made = states.values_mut().filter(|state| states::is_being_made(state));
                being_made.for_each(|state| *state = ItemState::waiting(why.clone()));
            }
            all.extend(states);
        }
        Ok(Some(all))
    }

    /// The launches of a job that the cluster knows. Their ids are in the metadata of the Jobs, which are otherwise large.
    pub(super) async fn launches_with(&self, job: &JobName) -> Result<Vec<LaunchId>, Trouble> {
        let mut jobs = self.metadata(&format!("{OF}={}", job_token(&self.common.namespace, job))).await?;
        // Schedulers of an earlier build may run beside this one: their Jobs do not have the label.
        jobs.extend(self.metadata(&format!("{LAUNCH},!{OF}")).await?);
        Ok(ids(&jobs).into_iter().filter(|id| id.job == *job).collect())
    }

    /// All launches that the cluster knows. The log says once where some are of another registry center.
    pub(super) async fn all_launches(&self) -> Result<Vec<LaunchId>, Trouble> {
        let jobs = self.metadata(LAUNCH).await?;
        if let Some((id, other)) = self.foreign(&jobs)
            && self.foreign_told.set(()).is_ok()
        {
            let Common { namespace: of_registry, scope, .. } = &self.common;
            let namespace = &self.namespace;
            error!(
                "the Kubernetes namespace '{namespace}' has launches of another registry center with the namespace \
                 '{of_registry}', as {id}: each of the two takes those of the other for its own where jobs have the same name; \
                 give one of them another elasticjob.reg-center.namespace or --kube-namespace, and where the other one is no \
                 more, delete what it left: \
                 kubectl -n {namespace} delete jobs -l elasticjob/scope={scope},elasticjob/center={other}"
            );
        }
        Ok(ids(&jobs).into_iter().collect())
    }

    /// A launch of another registry center whose launches have the same names, with the label of that center.
    pub(super) fn foreign<'a>(&self, jobs: &'a [ObjectMeta]) -> Option<(LaunchId, &'a str)> {
        let center = self.common.center.get()?;
        jobs.iter().find_map(|job| Some((indexed_job::id(job)?, indexed_job::foreign_center(job, center)?)))
    }

    /// The metadata of Jobs of this scope.
    async fn metadata(&self, label: &str) -> Result<Vec<ObjectMeta>, Trouble> {
        let labels = format!("{},{label}", self.common.selector());
        let jobs = answer(self.jobs.list_metadata(&ListParams::default().labels(&labels))).await?;
        Ok(jobs.items.into_iter().map(|job| job.metadata).collect())
    }

    /// Notes on the Jobs that items are stopped, and why, where no earlier stop is noted. The task that follows the Jobs ends their pods.
    pub(super) async fn note_stop(
        &self,
        id: &LaunchId,
        items: &[ShardingItem],
        cause: &StopCause,
    ) -> Result<(), Trouble> {
        let cause = serde_json::to_string(cause).expect("texts and numbers have a JSON form");
        for job in self.jobs_of(id).await? {
            let of_job: BTreeSet<ShardingItem> = indexed_job::items(&job).into_iter().flatten().collect();
            let mut stopped = states::stopped(&job);
            let new: Vec<ShardingItem> =
                items.iter().copied().filter(|item| of_job.contains(item) && !stopped.contains(item)).collect();
            if new.is_empty() {
                continue;
            }
            stopped.extend(&new);
            let notes: BTreeMap<String, &str> =
                new.iter().map(|item| (names::stopped(*item), cause.as_str())).collect();
            let mut patch = json!({ "metadata": { "annotations": notes } });
            let has_pods = job.status.as_ref().and_then(|status| status.active).is_some_and(|active| active > 0);
            if stopped == of_job && (states::is_suspended(&job) || !has_pods) {
                // It waits in a queue, or the cluster makes no pod of it: it is not to run when its turn comes.
                patch["spec"] = json!({ "parallelism": 0 });
            }
            let patched = answer(self.jobs.patch(&job.name_any(), &PatchParams::default(), &Patch::Merge(patch))).await;
            if_there(patched)?;
        }
        Ok(())
    }

    /// Deletes the Jobs of a launch, the first one last: its name is what keeps the launch from being made again.
    pub(super) async fn forgotten(&self, id: &LaunchId) -> Result<(), Trouble> {
        let token = id.token(&self.common.namespace);
        let mut jobs = self.jobs_of(id).await?;
        jobs.sort_by_key(|job| std::cmp::Reverse(names::number(&job.name_any(), &token)));
        for job in jobs {
            if_there(answer(self.jobs.delete(&job.name_any(), &DeleteParams::background())).await)?;
        }
        Ok(())
    }
}

/// The launches of Jobs, each once.
fn ids(jobs: &[ObjectMeta]) -> BTreeSet<LaunchId> {
    jobs.iter().filter_map(indexed_job::id).collect()
}
