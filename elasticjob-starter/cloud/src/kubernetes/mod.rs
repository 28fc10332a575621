//! `KUBERNETES`: the items run as pods of a cluster, version 1.29 or newer.
//!
//! A launch is an Indexed Job, named after the fire: a second one of that name is refused, so nothing is started twice. A
//! `DAEMON` job is a StatefulSet. The cluster decides where pods run, keeps to the limits, and says what becomes of them. It
//! knows everything that this carrier knows: a scheduler that starts again, or another one, reads it there.

mod connect;
mod daemon;
mod errors;
mod follow;
mod job;
mod log;
mod mirror;
mod names;
mod outcome;
mod pod;
mod shell;
mod states;
mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use elasticjob::ident::{JobName, ShardingItem};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;
use tokio::task::AbortHandle;

pub use self::connect::{KubernetesError, KubernetesOptions};
use crate::carrier::{
    Answer, Carrier, Daemon, DaemonProcess, EventSender, ItemStates, Launch, LaunchError, LaunchId, LaunchItem,
    LaunchStream, Launched, digest,
};
use crate::model::{App, CarriedJob, Problem, SourceScheme};
use errors::{Trouble, answer, if_there};
use follow::Following;
use job::Common;
use names::{DAEMON, LAUNCH, MANAGED_BY, SCOPE};

/// The name of the carrier.
pub const KUBERNETES: &str = "KUBERNETES";

/// How often a launch is tried to which other schedulers add items at the same time.
const ATTEMPTS: usize = 8;

/// The most items of a pod: each of them needs room in the text that says how they ended.
const ITEMS_OF_A_POD: u32 = 100;

/// Carries items as pods of a cluster. Dropping it ends nothing: what runs goes on, and the next carrier adopts it.
#[derive(Debug)]
pub struct KubernetesCarrier {
    jobs: Api<Job>,
    pods: Api<Pod>,
    stateful_sets: Api<StatefulSet>,
    namespace: String,
    common: Common,
    events: EventSender,
    following: AbortHandle,
}

impl Drop for KubernetesCarrier {
    fn drop(&mut self) {
        self.following.abort();
    }
}

impl KubernetesCarrier {
    /// Connects to a cluster and begins to follow its Jobs. It needs a tokio runtime.
    ///
    /// # Errors
    /// [`KubernetesError`] says what is missing.
    pub async fn connect(options: &KubernetesOptions) -> Result<Self, KubernetesError> {
        let template = options.template()?;
        let (client, namespace) = connect::connect(options).await?;
        let common = Common {
            namespace: options.registry_namespace.clone(),
            scope: digest(&[&options.registry_namespace]),
            lost_after: options.lost_after.map(|after| i64::try_from(after.as_secs()).unwrap_or(i64::MAX)),
            template,
        };
        let jobs = Api::namespaced(client.clone(), &namespace);
        let pods = Api::namespaced(client.clone(), &namespace);
        let events = EventSender::default();
        let following = Following {
            jobs: jobs.clone(),
            pods: pods.clone(),
            selector: format!("{},{LAUNCH}", of_scope(&common)),
            events: events.clone(),
        };
        let following = tokio::spawn(following.follow()).abort_handle();
        Ok(Self {
            jobs,
            pods,
            stateful_sets: Api::namespaced(client, &namespace),
            namespace,
            common,
            events,
            following,
        })
    }

    /// Launches what is not known, Job by Job.
    async fn launched(&self, launch: Launch) -> Result<Launched, LaunchError> {
        if let Some(problem) = needs(&launch.app).into_iter().next() {
            return Err(LaunchError::Refused { why: problem.to_string() });
        }
        let mut launched = Launched::default();
        // Most fires are launched once: they are not looked for before.
        let (mut number, mut left) = (0, launch.items.clone());
        for _ in 0..ATTEMPTS {
            let mut conflicts = false;
            while !left.is_empty() && !conflicts {
                let now: Vec<LaunchItem> = left.iter().take(job::room(&launch)).cloned().collect();
                let job = job::job(&launch, &now, number, &self.common);
                match answer(self.jobs.create(&PostParams::default(), &job)).await {
                    Ok(_) => {
                        launched.started.extend(now.iter().map(|item| item.item));
                        left.drain(..now.len());
                        number += 1;
                    }
                    Err(trouble) if trouble.is_conflict() => conflicts = true,
                    Err(trouble) => return Err(trouble.of_launch()),
                }
            }
            if left.is_empty() {
                return Ok(launched);
            }
            let known = self.jobs_of(&launch.id).await.map_err(Trouble::of_launch)?;
            let token = launch.id.token(&self.common.namespace);
            number =
                known.iter().filter_map(|job| names::number(&job.name_any(), &token)).max().map_or(0, |last| last + 1);
            let known: BTreeSet<ShardingItem> = known.iter().flat_map(job::items).flatten().collect();
            let adopted = left.extract_if(.., |item| known.contains(&item.item));
            launched.adopted.extend(adopted.map(|item| item.item));
        }
        let why = format!("other schedulers add items to it all the time: {ATTEMPTS} attempts");
        Err(LaunchError::Unknown { why })
    }

    /// The Jobs of a launch, as the cluster has them now.
    async fn jobs_of(&self, id: &LaunchId) -> Result<Vec<Job>, Trouble> {
        answer(self.jobs.list(&self.of_launch(id))).await.map(|list| list.items)
    }

    fn of_launch(&self, id: &LaunchId) -> ListParams {
        let token = id.token(&self.common.namespace);
        ListParams::default().labels(&format!("{},{LAUNCH}={token}", of_scope(&self.common)))
    }

    async fn states_of(&self, id: &LaunchId) -> Result<Option<ItemStates>, Trouble> {
        let jobs = self.jobs_of(id).await?;
        if jobs.is_empty() {
            return Ok(None);
        }
        let pods = answer(self.pods.list(&self.of_launch(id))).await?.items;
        let mut by_job: BTreeMap<String, Vec<&Pod>> = BTreeMap::new();
        for pod in &pods {
            by_job.entry(pod.labels().get(names::OF_JOB).cloned().unwrap_or_default()).or_default().push(pod);
        }
        let states = jobs.iter().flat_map(|job| {
            let pods = by_job.remove(&job.name_any()).unwrap_or_default();
            states::states(job, pods)
        });
        Ok(Some(states.collect()))
    }

    /// Notes on the Jobs that items are stopped. The task that follows the Jobs ends their pods.
    async fn note_stop(&self, id: &LaunchId, items: &[ShardingItem]) -> Result<(), Trouble> {
        for job in self.jobs_of(id).await? {
            let of_job: BTreeSet<ShardingItem> = job::items(&job).into_iter().flatten().collect();
            let mut stopped = states::stopped(&job);
            let new: Vec<ShardingItem> =
                items.iter().copied().filter(|item| of_job.contains(item) && !stopped.contains(item)).collect();
            if new.is_empty() {
                continue;
            }
            stopped.extend(&new);
            let notes: BTreeMap<String, &str> = new.iter().map(|item| (names::stopped(*item), "true")).collect();
            let mut patch = json!({ "metadata": { "annotations": notes } });
            if states::is_suspended(&job) && stopped == of_job {
                // It waits in a queue, and is not to run when its turn comes.
                patch["spec"] = json!({ "parallelism": 0 });
            }
            let patched = answer(self.jobs.patch(&job.name_any(), &PatchParams::default(), &Patch::Merge(patch))).await;
            if_there(patched)?;
        }
        Ok(())
    }

    /// Deletes the Jobs of a launch, the first one last: its name is what keeps the launch from being made again.
    async fn forgotten(&self, id: &LaunchId) -> Result<(), Trouble> {
        let token = id.token(&self.common.namespace);
        let mut jobs = self.jobs_of(id).await?;
        jobs.sort_by_key(|job| std::cmp::Reverse(names::number(&job.name_any(), &token)));
        for job in jobs {
            if_there(answer(self.jobs.delete(&job.name_any(), &DeleteParams::background())).await)?;
        }
        Ok(())
    }

    async fn keeps(&self, daemon: Daemon) -> Result<(), LaunchError> {
        if let Some(problem) = needs(&daemon.app).into_iter().next() {
            return Err(LaunchError::Refused { why: problem.to_string() });
        }
        let name = daemon::name(&daemon.job.job_name, &self.common);
        let done = if daemon.instances == 0 {
            if_there(answer(self.stateful_sets.delete(&name, &DeleteParams::background())).await).map(drop)
        } else {
            let wanted = daemon::stateful_set(&daemon, &self.common);
            let apply = PatchParams::apply(MANAGED_BY.1).force();
            answer(self.stateful_sets.patch(&name, &apply, &Patch::Apply(&wanted))).await.map(drop)
        };
        done.map_err(Trouble::of_launch)
    }

    async fn processes(&self, job: &JobName) -> Result<Vec<DaemonProcess>, Trouble> {
        let name = daemon::name(job, &self.common);
        let labels = format!("{},{DAEMON}={name}", of_scope(&self.common));
        let pods = answer(self.pods.list(&ListParams::default().labels(&labels))).await?;
        let mut processes: Vec<DaemonProcess> = pods.items.iter().filter_map(daemon::process).collect();
        processes.sort_by_key(|process| process.index);
        Ok(processes)
    }
}

/// The labels of everything that a carrier makes in its scope.
fn of_scope(common: &Common) -> String {
    let (name, value) = MANAGED_BY;
    format!("{name}={value},{SCOPE}={}", common.scope)
}

/// What an application needs to run in pods.
fn needs(app: &App) -> Vec<Problem> {
    let Ok(source) = app.source() else { return Vec::new() };
    let mut problems = Vec::new();
    match source.scheme {
        SourceScheme::Oci => {}
        SourceScheme::File => problems.push(Problem::new(
            "appURL",
            format!(
                "names a file of the scheduler's host, which the nodes of {KUBERNETES} do not have: use oci: or https:"
            ),
        )),
        SourceScheme::Web => {
            if app.image.is_none() {
                let why = "is missing: the image with the shell and the tools that the package needs";
                problems.push(Problem::new("image", why.to_owned()));
            }
            if source.sha256.is_none() {
                let why = "has no checksum: each pod fetches the package by itself, and all have to run the same; add #sha256=HEX";
                problems.push(Problem::new("appURL", why.to_owned()));
            }
        }
    }
    problems
}

impl Carrier for KubernetesCarrier {
    fn type_name(&self) -> &str {
        KUBERNETES
    }

    fn place(&self) -> String {
        format!("{KUBERNETES}:{}", self.namespace)
    }

    fn check(&self, app: &App, job: &CarriedJob) -> Vec<Problem> {
        let mut problems = needs(app);
        if job.items_per_process > ITEMS_OF_A_POD {
            let why = format!("is {}: at most {ITEMS_OF_A_POD} items share a pod", job.items_per_process);
            problems.push(Problem::new("itemsPerProcess", why));
        }
        problems
    }

    fn launch(&self, launch: Launch) -> Answer<'_, Launched, LaunchError> {
        Box::pin(self.launched(launch))
    }

    fn stop<'a>(&'a self, id: &'a LaunchId, items: &'a [ShardingItem], _grace: Duration) -> Answer<'a, ()> {
        // The grace is part of the pod since it was made.
        Box::pin(async move { self.note_stop(id, items).await.map_err(|trouble| trouble.of_carrier("stop the items")) })
    }

    fn forget<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, ()> {
        Box::pin(async move {
            self.forgotten(id).await.map_err(|trouble| trouble.of_carrier("delete the Jobs of the launch"))
        })
    }

    fn states<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, Option<ItemStates>> {
        Box::pin(async move { self.states_of(id).await.map_err(|trouble| trouble.of_carrier("read the states")) })
    }

    fn launches(&self) -> Answer<'_, Vec<LaunchId>> {
        Box::pin(async {
            let labels = format!("{},{LAUNCH}", of_scope(&self.common));
            let listed = answer(self.jobs.list(&ListParams::default().labels(&labels))).await;
            let jobs = listed.map_err(|trouble| trouble.of_carrier("list the launches"))?.items;
            let ids: BTreeSet<LaunchId> = jobs.iter().filter_map(job::id).collect();
            Ok(ids.into_iter().collect())
        })
    }

    fn watch(&self) -> Box<dyn LaunchStream> {
        self.events.stream()
    }

    fn keep(&self, daemon: Daemon) -> Answer<'_, (), LaunchError> {
        Box::pin(self.keeps(daemon))
    }

    fn kept<'a>(&'a self, job: &'a JobName) -> Answer<'a, Vec<DaemonProcess>> {
        Box::pin(
            async move { self.processes(job).await.map_err(|trouble| trouble.of_carrier("list the pods of the job")) },
        )
    }

    fn log<'a>(&'a self, id: &'a LaunchId, item: ShardingItem, most: usize) -> Answer<'a, Option<String>> {
        Box::pin(async move { self.log_of(id, item, most).await.map_err(|trouble| trouble.of_carrier("read the log")) })
    }
}

#[cfg(test)]
mod tests;
