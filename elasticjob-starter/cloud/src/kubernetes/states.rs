//! Reads the states of items from a Job and its pods. Pure.
//!
//! The pods tell when items begin and end, as the Job is up to date a second later. What the Job says of an index is final, and
//! stays when its pod is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use elasticjob::ident::ShardingItem;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodCondition};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;

use super::indexed_job::{REPLACE, items};
use super::losses::Losses;
use super::names::{CONTAINER, DAEMON, DISRUPTED, INDEX, LOST_AFTER, stopped_item};
use super::outcome::outcomes;
use crate::carrier::{ItemState, ItemStates, LostPlace, Outcome, StopCause};

/// How long after the time by which a pod must have ended on its node it is given up. The node stops it by itself until then,
/// where it lives and only the cluster does not hear of it.
const MARGIN: Duration = Duration::from_secs(5);

/// The states of all items of a Job.
pub(super) fn states<'a>(job: &Job, pods: impl IntoIterator<Item = &'a Pod>) -> ItemStates {
    let mut by_index = by_index(pods);
    let (about, causes) = (About::of(job), causes(job));
    let mut states = ItemStates::new();
    for (index, items) in items(job).into_iter().enumerate() {
        let pods = by_index.remove(&index).unwrap_or_default();
        let lost = Losses::of(job, index, &pods).last();
        let states_of = about.states(index, &items, pods, lost).into_iter();
        states.extend(states_of.map(|(item, state)| (item, state.stopped_for(causes.get(&item).cloned()))));
    }
    states
}

/// The pods of each index of a Job.
pub(super) fn by_index<'a>(pods: impl IntoIterator<Item = &'a Pod>) -> BTreeMap<usize, Vec<&'a Pod>> {
    let mut by_index: BTreeMap<usize, Vec<&Pod>> = BTreeMap::new();
    for pod in pods {
        if let Some(index) = index(pod) {
            by_index.entry(index).or_default().push(pod);
        }
    }
    by_index
}

/// The index of a pod in its Job.
pub(super) fn index(pod: &Pod) -> Option<usize> {
    pod.metadata.labels.as_ref()?.get(INDEX)?.parse().ok()
}

/// The newest of some pods of an index: the others were lost.
pub(super) fn latest<'a>(pods: impl IntoIterator<Item = &'a Pod>) -> Option<&'a Pod> {
    let age = |pod: &&Pod| (pod.metadata.creation_timestamp.as_ref().map(|time| time.0), pod.metadata.name.clone());
    pods.into_iter().max_by_key(age)
}

/// What an item waits for that has no pod so far.
pub(super) const BEING_MADE: &str = "its pod is being made";

/// Whether an item has no pod so far.
pub(super) fn is_being_made(state: &ItemState) -> bool {
    matches!(state, ItemState::Waiting { why, .. } if why == BEING_MADE)
}

/// The items of a Job that are stopped on request.
pub(super) fn stopped(job: &Job) -> BTreeSet<ShardingItem> {
    let names = job.metadata.annotations.iter().flat_map(|annotations| annotations.keys());
    names.filter_map(|name| stopped_item(name)).collect()
}

/// Why items of a Job were stopped, where a scheduler has noted that. An earlier release noted no cause.
fn causes(job: &Job) -> BTreeMap<ShardingItem, StopCause> {
    let notes = job.metadata.annotations.iter().flatten();
    notes.filter_map(|(name, cause)| Some((stopped_item(name)?, serde_json::from_str(cause).ok()?))).collect()
}

/// Whether a Job waits in a queue, or was stopped there: then it gets no pods when its turn comes.
pub(super) fn is_suspended(job: &Job) -> bool {
    job.spec.as_ref().is_some_and(|spec| spec.suspend == Some(true) || spec.parallelism == Some(0))
}

/// What a Job says of its indexes.
struct About {
    completed: Indexes,
    failed: Indexes,
    stopped: BTreeSet<ShardingItem>,
    suspended: bool,
    replaces: bool,
    queue: Option<String>,
}

impl About {
    fn of(job: &Job) -> Self {
        let status = job.status.as_ref();
        let text = |text: Option<&String>| text.map(|text| Indexes::parse(text)).unwrap_or_default();
        let spec = job.spec.as_ref();
        let rules = spec.and_then(|spec| spec.pod_failure_policy.as_ref()).map(|policy| policy.rules.as_slice());
        Self {
            completed: text(status.and_then(|status| status.completed_indexes.as_ref())),
            failed: text(status.and_then(|status| status.failed_indexes.as_ref())),
            stopped: stopped(job),
            suspended: is_suspended(job),
            replaces: rules.unwrap_or_default().iter().any(|rule| rule.action == REPLACE),
            queue: job.metadata.labels.as_ref().and_then(|labels| labels.get(super::names::QUEUE)).cloned(),
        }
    }

    fn states(&self, index: usize, items: &[ShardingItem], pods: Vec<&Pod>, lost: Option<LostPlace>) -> ItemStates {
        let all = |state: ItemState| items.iter().map(|item| (*item, state.clone())).collect();
        if self.completed.contains(index) {
            return all(Outcome::Succeeded.into());
        }
        let Some(pod) = latest(pods) else {
            let state = |item: &ShardingItem| self.without_pod(index, *item, lost.clone());
            return items.iter().map(|item| (*item, state(item))).collect();
        };
        match outcomes(pod, items) {
            Some(ended) if self.runs_again(&ended) && !self.failed.contains(index) => {
                let why = lost.as_ref().map_or_else(String::new, |lost| format!(": {}", lost.why));
                all(ItemState::waiting(format!("it is run again on another place, as its place was lost{why}"))
                    .after(lost))
            }
            Some(ended) => ended
                .into_iter()
                .map(|(item, outcome)| (item, self.unless_stopped(pod, item, outcome).into()))
                .collect(),
            None => all(alive(pod).after(lost)),
        }
    }

    /// A pod that was deleted because its item is stopped has failed like any other.
    fn unless_stopped(&self, pod: &Pod, item: ShardingItem, outcome: Outcome) -> Outcome {
        let is_deleted = pod.metadata.deletion_timestamp.is_some();
        match outcome {
            Outcome::Failed { exit, .. } if self.stopped.contains(&item) && (exit.is_none() || is_deleted) => {
                Outcome::Stopped
            }
            other => other,
        }
    }

    /// Whether Kubernetes makes another pod.
    fn runs_again(&self, ended: &BTreeMap<ShardingItem, Outcome>) -> bool {
        self.replaces && ended.values().all(|outcome| matches!(outcome, Outcome::Lost { .. }))
    }

    fn without_pod(&self, index: usize, item: ShardingItem, lost: Option<LostPlace>) -> ItemState {
        let is_stopped = self.stopped.contains(&item);
        if self.failed.contains(index) {
            // Where a lost place is replaced, the index has failed for another reason.
            let noted = lost.filter(|_| !self.replaces).map(|lost| lost.why);
            let why = noted.unwrap_or_else(|| "its pod was deleted before its end was read".to_owned());
            return if is_stopped { Outcome::Stopped } else { Outcome::Lost { why } }.into();
        }
        let waits = match (self.suspended, &self.queue) {
            // It has no pod, and gets none.
            (true, _) if is_stopped => Outcome::Stopped.into(),
            (true, Some(queue)) => ItemState::waiting(format!("it waits in the queue '{queue}'")),
            (true, None) => ItemState::waiting("its Job is suspended"),
            (false, _) => ItemState::waiting(BEING_MADE),
        };
        waits.after(lost)
    }
}

/// The end of the wait for a node that does not answer: the limit that the pod was launched with, or what an operator can do.
fn remedy_for_silence(pod: &Pod) -> String {
    match given_up_at(pod) {
        Some(at) => format!("it counts as lost at {}, or when the node is deleted", at.0),
        None if pod.labels().contains_key(DAEMON) => "delete the node once it is certain that it is off".to_owned(),
        None => "delete the node once it is certain that it is off; --lost-after gives up the items of later launches"
            .to_owned(),
    }
}

/// The state of a pod that has not ended.
pub(super) fn alive(pod: &Pod) -> ItemState {
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
    if let Some(since) = silent_since(pod) {
        let (node, since, remedy) = (node.unwrap_or("?"), since.0, remedy_for_silence(pod));
        return ItemState::waiting(format!(
            "its node {node} does not answer since {since}: it may still run there, so it is not run elsewhere; {remedy}"
        ));
    }
    let status = container(pod);
    let running = status.and_then(|status| status.state.as_ref()?.running.as_ref());
    if let Some(running) = running {
        let since = running.started_at.as_ref().map_or(0, |time| time.0.as_millisecond());
        let name = pod.metadata.name.as_deref().unwrap_or_default();
        return ItemState::running(format!("{}/{name}", node.unwrap_or("?")), since);
    }
    ItemState::waiting(why_it_waits(pod, node))
}

/// The container of the program.
pub(super) fn container(pod: &Pod) -> Option<&ContainerStatus> {
    let containers = pod.status.as_ref()?.container_statuses.as_ref()?;
    containers.iter().find(|status| status.name == CONTAINER)
}

/// Since when the node of a pod is known not to answer. The pod was deleted because of that, which the cluster does later, and no node
/// reports its end.
pub(super) fn silent_since(pod: &Pod) -> Option<&Time> {
    let disrupted = condition(pod, DISRUPTED).filter(|condition| condition.status == "True")?;
    let by_taint = disrupted.reason.as_deref() == Some("DeletionByTaintManager");
    let deleted = disrupted.last_transition_time.as_ref().filter(|_| pod.metadata.deletion_timestamp.is_some());
    // The cluster says of the pods of a silent node that they are not ready. A node that lives says it of their containers, too.
    let is = |type_: &str, status: &str| condition(pod, type_).filter(|condition| condition.status == status);
    // Where gates of the template are open, too, while the pod is well.
    let has_gates =
        pod.spec.as_ref().is_some_and(|spec| spec.readiness_gates.as_ref().is_some_and(|gates| !gates.is_empty()));
    let not_ready = is("Ready", "False").filter(|_| !has_gates && is("ContainersReady", "True").is_some());
    let silent = not_ready.and_then(|condition| condition.last_transition_time.as_ref());
    deleted.filter(|_| by_taint).map(|deleted| silent.unwrap_or(deleted))
}

/// The time at which a pod is given up that was launched so and whose node does not answer: the node would have ended it by then if
/// it lived.
pub(super) fn given_up_at(pod: &Pod) -> Option<Time> {
    let by = pod.metadata.deletion_timestamp.as_ref().filter(|_| pod.annotations().contains_key(LOST_AFTER))?;
    silent_since(pod)?;
    by.0.checked_add(MARGIN).ok().map(Time)
}

/// A condition of a pod.
pub(super) fn condition<'a>(pod: &'a Pod, type_: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.as_ref()?.iter().find(|condition| condition.type_ == type_)
}

fn why_it_waits(pod: &Pod, node: Option<&str>) -> String {
    let scheduled = condition(pod, "PodScheduled").filter(|condition| condition.status == "False");
    if let Some(scheduled) = scheduled {
        let (reason, message) = (scheduled.reason.as_deref(), scheduled.message.as_deref());
        return format!(
            "no node takes it: {}",
            message.or(reason).unwrap_or("the scheduler of the cluster does not say why")
        );
    }
    let status = pod.status.as_ref();
    let lists =
        [status.and_then(|s| s.init_container_statuses.as_ref()), status.and_then(|s| s.container_statuses.as_ref())];
    let waiting = lists.into_iter().flatten().flatten().find_map(|status| {
        let waiting = status.state.as_ref()?.waiting.as_ref()?;
        let reason =
            waiting.reason.as_deref().filter(|reason| !["ContainerCreating", "PodInitializing"].contains(reason))?;
        Some(format!("{reason}: {}", waiting.message.as_deref().unwrap_or(&status.image)))
    });
    waiting.unwrap_or_else(|| match node {
        Some(node) => format!("its pod is being started on {node}"),
        None => "its pod waits for a node".to_owned(),
    })
}

/// Indexes as Kubernetes writes them: `1,3-5,7`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Indexes(Vec<(usize, usize)>);

impl Indexes {
    fn parse(text: &str) -> Self {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
        };
        Self(text.split(',').filter_map(range).collect())
    }

    fn contains(&self, index: usize) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&index))
    }
}

#[cfg(test)]
mod tests;
