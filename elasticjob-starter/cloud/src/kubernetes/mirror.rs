//! The Jobs and pods of the cluster as a carrier knows them, and what follows: events for the scheduler, and duties.
//!
//! It is pure. The state of the objects alone decides about stopped items and lost nodes, so a scheduler that missed
//! their events, or another one, does what is left to do.

use std::collections::{BTreeMap, HashMap};

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::runtime::watcher::Event;

use super::indexed_job::{id, items};
use super::losses;
use super::names::OF_JOB;
use super::states::{by_index, given_up_at, index, states, stopped};
use crate::carrier::{ItemStates, LaunchEvent};

/// A deadline that a pod has passed already.
pub(super) const PASSED: i64 = 1;

/// Something to do in the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Duty {
    /// End a pod that has begun: it gets a deadline, so that its log and its end stay to be read.
    Expire(String),
    /// Delete a pod that no node has.
    Delete(String),
    /// Say that a pod has failed whose node does not answer.
    GiveUp(String),
    /// Note on a Job that places were lost, unless it has changed since it was read: another scheduler notes it, too.
    Note {
        job: String,
        /// The version of the Job that was read.
        version: Option<String>,
        /// The annotations.
        notes: BTreeMap<String, String>,
    },
}

impl Duty {
    /// The name of the object, and the words that stand before it where the duty fails.
    pub(super) fn key(&self) -> (&'static str, String) {
        let (purpose, name) = match self {
            Self::Expire(pod) => ("give a deadline to pod", pod),
            Self::Delete(pod) => ("delete pod", pod),
            Self::GiveUp(pod) => ("mark as failed pod", pod),
            Self::Note { job, .. } => ("note lost places on Job", job),
        };
        (purpose, name.clone())
    }
}

/// The Jobs and pods of all launches of a scope.
#[derive(Debug, Default)]
pub(super) struct Mirror {
    jobs: Listed<Job>,
    pods: Listed<HashMap<String, Pod>>,
    /// Pods that are gone from the cluster, whose lost places their Jobs do not note so far, by Job.
    unnoted: HashMap<String, HashMap<String, Pod>>,
    /// What the scheduler was told last, by Job.
    told: HashMap<String, ItemStates>,
}

/// Objects by name: those that are known, and those of a listing that goes on. Nothing is known before the first one is
/// complete.
#[derive(Debug)]
struct Listed<T> {
    known: Option<HashMap<String, T>>,
    listing: HashMap<String, T>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { known: None, listing: HashMap::new() }
    }
}

impl<T> Listed<T> {
    /// Returns what was known before.
    fn complete(&mut self) -> HashMap<String, T> {
        self.known.replace(std::mem::take(&mut self.listing)).unwrap_or_default()
    }
}

impl Mirror {
    /// Takes an event of the Jobs.
    pub(super) fn job(&mut self, event: Event<Job>) -> Vec<LaunchEvent> {
        match event {
            Event::Init => self.jobs.listing.clear(),
            Event::InitApply(job) => drop(self.jobs.listing.insert(job.name_any(), slim(job))),
            Event::InitDone => {
                self.jobs.complete();
                self.forget_noted();
                return self.all_anew();
            }
            Event::Apply(job) => {
                let name = job.name_any();
                if let Some(known) = &mut self.jobs.known {
                    known.insert(name.clone(), slim(job));
                }
                self.forget_noted();
                return self.changes(&name);
            }
            Event::Delete(job) => {
                let name = job.name_any();
                self.jobs.known.iter_mut().for_each(|known| drop(known.remove(&name)));
                self.forget_noted();
                let told = self.told.remove(&name).unwrap_or_default();
                // What has not ended is gone: the scheduler finds that when it reads the states.
                return told
                    .values()
                    .any(|state| state.outcome().is_none())
                    .then_some(LaunchEvent::Gap)
                    .into_iter()
                    .collect();
            }
        }
        Vec::new()
    }

    /// Takes an event of the pods.
    pub(super) fn pod(&mut self, event: Event<Pod>) -> Vec<LaunchEvent> {
        match event {
            Event::Init => self.pods.listing.clear(),
            Event::InitApply(pod) => {
                if let Some(job) = of_job(&pod) {
                    self.pods.listing.entry(job).or_default().insert(pod.name_any(), slim_pod(pod));
                }
            }
            Event::InitDone => {
                let before = self.pods.complete();
                for (job, pods) in before {
                    let listed = self.pods.known.as_ref().and_then(|known| known.get(&job));
                    let gone = pods.into_iter().filter(|(name, _)| listed.is_none_or(|pods| !pods.contains_key(name)));
                    // The cluster sends no event for these.
                    for (_, pod) in gone.collect::<Vec<_>>() {
                        self.keep_unnoted(&job, pod);
                    }
                }
                return self.all_anew();
            }
            Event::Apply(pod) => {
                let Some(job) = of_job(&pod) else { return Vec::new() };
                if let Some(known) = &mut self.pods.known {
                    known.entry(job.clone()).or_default().insert(pod.name_any(), slim_pod(pod));
                }
                return self.changes(&job);
            }
            Event::Delete(pod) => {
                let Some(job) = of_job(&pod) else { return Vec::new() };
                if let Some(known) = &mut self.pods.known
                    && let Some(pods) = known.get_mut(&job)
                {
                    pods.remove(&pod.name_any());
                    if pods.is_empty() {
                        known.remove(&job);
                    }
                }
                self.keep_unnoted(&job, pod);
                return self.changes(&job);
            }
        }
        Vec::new()
    }

    /// Keeps a pod that is gone, where its Job lacks the note that its place was lost.
    fn keep_unnoted(&mut self, job: &str, pod: Pod) {
        let of = self.jobs.known.as_ref().and_then(|jobs| jobs.get(job));
        if of.is_some_and(|of| losses::lacks(of, &pod)) {
            self.unnoted.entry(job.to_owned()).or_default().insert(pod.name_any(), slim_pod(pod));
        }
    }

    /// Forgets the lost places that their Jobs note by now, and those of Jobs that are gone.
    fn forget_noted(&mut self) {
        let jobs = &self.jobs.known;
        self.unnoted.retain(|name, pods| {
            let job = jobs.as_ref().and_then(|jobs| jobs.get(name));
            pods.retain(|_, pod| job.is_some_and(|job| losses::lacks(job, pod)));
            !pods.is_empty()
        });
    }

    /// After a listing: events may have been missed.
    fn all_anew(&mut self) -> Vec<LaunchEvent> {
        let (Some(jobs), Some(_)) = (&self.jobs.known, &self.pods.known) else { return Vec::new() };
        let names: Vec<String> = jobs.keys().cloned().collect();
        self.told.retain(|name, _| jobs.contains_key(name));
        let changes: Vec<LaunchEvent> = names.iter().flat_map(|name| self.changes(name)).collect();
        std::iter::once(LaunchEvent::Gap).chain(changes).collect()
    }

    /// The items of a Job that are in another state than was told.
    fn changes(&mut self, name: &str) -> Vec<LaunchEvent> {
        let (Some(jobs), Some(pods)) = (&self.jobs.known, &self.pods.known) else { return Vec::new() };
        let Some((job, of)) = jobs.get(name).and_then(|job| Some((job, id(&job.metadata)?))) else { return Vec::new() };
        let of_job = pods.get(name).into_iter().chain(self.unnoted.get(name));
        let now = states(job, of_job.flat_map(HashMap::values));
        let told = self.told.entry(name.to_owned()).or_default();
        let mut changes = Vec::new();
        for (item, state) in now {
            // An end is final: when its pod is gone, less is known of it.
            let is_news = told.get(&item).is_none_or(|known| *known != state && known.outcome().is_none());
            if is_news {
                told.insert(item, state.clone());
                changes.push(LaunchEvent::Changed { id: of.clone(), item, state });
            }
        }
        changes
    }

    /// What is to be done for one Job, or for all. `now` is in milliseconds since 1970.
    pub(super) fn duties(&self, of: Option<&str>, now: i64) -> Vec<Duty> {
        let (Some(jobs), Some(pods)) = (&self.jobs.known, &self.pods.known) else { return Vec::new() };
        let jobs = jobs.iter().filter(|(name, _)| of.is_none_or(|of| of == *name));
        let mut duties = Vec::new();
        for (name, job) in jobs {
            let of_job = pods.get(name).into_iter().chain(self.unnoted.get(name));
            let notes = losses::missing(job, &by_index(of_job.flat_map(HashMap::values)));
            if !notes.is_empty() {
                duties.push(Duty::Note { job: name.clone(), version: job.resource_version(), notes });
            }
            let stopped = stopped(job);
            let items = if stopped.is_empty() { Vec::new() } else { items(job) };
            for pod in pods.get(name).into_iter().flat_map(HashMap::values).filter(|pod| is_alive(pod)) {
                let of_pod = index(pod).and_then(|index| items.get(index)).map(Vec::as_slice).unwrap_or_default();
                let ends = of_pod.iter().any(|item| stopped.contains(item));
                duties.extend(if ends { stop(pod) } else { None });
                duties.extend(is_lost(pod, now).then(|| Duty::GiveUp(pod.name_any())));
            }
        }
        duties
    }
}

/// The Job of a pod.
fn of_job(pod: &Pod) -> Option<String> {
    pod.labels().get(OF_JOB).cloned()
}

fn is_alive(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    !matches!(phase, Some("Succeeded" | "Failed"))
}

fn stop(pod: &Pod) -> Option<Duty> {
    let spec = pod.spec.as_ref()?;
    let is_asked = pod.metadata.deletion_timestamp.is_some() || spec.active_deadline_seconds == Some(PASSED);
    let is_placed = spec.node_name.is_some();
    (!is_asked).then(|| if is_placed { Duty::Expire(pod.name_any()) } else { Duty::Delete(pod.name_any()) })
}

/// Whether a pod is to be given up.
fn is_lost(pod: &Pod, now: i64) -> bool {
    given_up_at(pod).is_some_and(|at| now >= at.0.as_millisecond())
}

/// A Job without what nothing here reads, and which is large.
fn slim(mut job: Job) -> Job {
    job.metadata.managed_fields = None;
    if let Some(spec) = &mut job.spec {
        spec.template = Default::default();
    }
    job
}

fn slim_pod(mut pod: Pod) -> Pod {
    pod.metadata.managed_fields = None;
    for container in pod.spec.iter_mut().flat_map(|spec| &mut spec.containers) {
        (container.env, container.command) = (None, None);
    }
    pod
}

#[cfg(test)]
mod tests;
