//! Follows the Jobs and pods of the cluster: tells the scheduler what changes, and does what follows from it.

use std::collections::{HashMap, HashSet};
use std::pin::pin;
use std::time::Duration;

use elasticjob::log::warn;
use futures_util::StreamExt;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::runtime::watcher::Event;
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::errors::{Trouble, answer, if_there};
use super::mirror::{Duty, Mirror, PASSED};
use super::names::OF_JOB;
use super::watch::Reach;
use crate::carrier::EventSender;

/// How often it is looked whether a node was silent for long enough, and whether something that failed is to be done again.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// What is followed, and how.
pub(super) struct Following {
    pub(super) client: Client,
    /// The namespace of the cluster.
    pub(super) namespace: String,
    /// The labels of the objects of this scope.
    pub(super) selector: String,
    pub(super) events: EventSender,
}

impl Following {
    /// Goes on until it is dropped.
    pub(super) async fn follow(self) {
        let reach = Reach::default();
        let mut jobs = pin!(reach.watch(&self.client, &self.namespace, &self.selector));
        let mut pods = pin!(reach.watch(&self.client, &self.namespace, &self.selector));
        let mut mirror = Mirror::default();
        let mut duties: JoinSet<(Duty, Result<Option<()>, Trouble>)> = JoinSet::new();
        let mut told = Told::default();
        let mut ticks = tokio::time::interval(LOOK_AGAIN);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let touched = tokio::select! {
                Some(event) = jobs.next() => {
                    let touched = touched(&event, |job: &Job| Some(job.name_any()));
                    mirror.job(event).into_iter().for_each(|event| self.events.send(event));
                    touched
                }
                Some(event) = pods.next() => {
                    let touched = touched(&event, |pod: &Pod| pod.labels().get(OF_JOB).cloned());
                    mirror.pod(event).into_iter().for_each(|event| self.events.send(event));
                    touched
                }
                _ = ticks.tick() => {
                    reach.look();
                    Touched::All
                }
            };
            let of = match &touched {
                Touched::Nothing => continue,
                Touched::All => None,
                Touched::Job(name) => Some(name.as_str()),
            };
            while let Some(done) = duties.try_join_next() {
                if let Ok((duty, done)) = done
                    && let Some(news) = told.news(&duty, done.map_err(|trouble| trouble.text()))
                {
                    warn!("{news}");
                }
            }
            let wanted = mirror.duties(of, chrono::Utc::now().timestamp_millis());
            if of.is_none() {
                told.keep(&wanted);
            }
            for duty in wanted {
                duties.spawn(perform(self.client.clone(), self.namespace.clone(), duty));
            }
        }
    }
}

/// The Jobs that an event is of.
enum Touched {
    Nothing,
    All,
    Job(String),
}

fn touched<K>(event: &Event<K>, job: impl Fn(&K) -> Option<String>) -> Touched {
    match event {
        Event::Init | Event::InitApply(_) => Touched::Nothing,
        Event::InitDone => Touched::All,
        Event::Apply(object) | Event::Delete(object) => job(object).map_or(Touched::Nothing, Touched::Job),
    }
}

/// What was told of duties. A duty that fails is tried again every two seconds.
#[derive(Debug, Default)]
struct Told(HashMap<(&'static str, String), String>);

impl Told {
    /// What is to be told of a duty: that a pod is given up, or why it failed, each once.
    fn news(&mut self, duty: &Duty, done: Result<Option<()>, String>) -> Option<String> {
        let (purpose, name) = duty.key();
        let text = match (done, duty) {
            (Err(why), _) => format!("cannot {purpose} {name}, and tries again: {why}"),
            (Ok(Some(())), Duty::GiveUp(_)) => {
                format!("the node of pod {name} does not answer, and the pod is given up: it is lost")
            }
            (Ok(_), _) => {
                self.0.remove(&(purpose, name));
                return None;
            }
        };
        let before = self.0.insert((purpose, name), text.clone());
        (before.as_ref() != Some(&text)).then_some(text)
    }

    /// Forgets those that are no duties any more.
    fn keep(&mut self, duties: &[Duty]) {
        let wanted: HashSet<(&str, String)> = duties.iter().map(Duty::key).collect();
        self.0.retain(|(purpose, name), _| wanted.contains(&(*purpose, name.clone())));
    }
}

/// Does something in the cluster. What fails is seen at the next look: the duty stays one as long as the objects are so, and a
/// lost place as long as its Job does not note it.
async fn perform(client: Client, namespace: String, duty: Duty) -> (Duty, Result<Option<()>, Trouble>) {
    let (jobs, pods) = (Api::<Job>::namespaced(client.clone(), &namespace), Api::<Pod>::namespaced(client, &namespace));
    let patch = PatchParams::default();
    let done = match &duty {
        Duty::Expire(pod) => {
            let deadline = Patch::Merge(json!({ "spec": { "activeDeadlineSeconds": PASSED } }));
            answer(pods.patch(pod, &patch, &deadline)).await.map(drop)
        }
        Duty::Delete(pod) => answer(pods.delete(pod, &DeleteParams::default())).await.map(drop),
        Duty::GiveUp(pod) => {
            let message = "its node does not answer, and lost-after is over";
            let failed = json!({ "status": { "phase": "Failed", "reason": "NodeLost", "message": message } });
            answer(pods.patch_status(pod, &patch, &Patch::Merge(failed))).await.map(drop)
        }
        Duty::Note { job, version, notes } => {
            let notes = json!({ "metadata": { "resourceVersion": version, "annotations": notes } });
            match answer(jobs.patch_metadata(job, &patch, &Patch::Merge(notes))).await {
                // Its new version says whether it is still to be noted.
                Err(trouble) if trouble.is_conflict() => Ok(()),
                done => done.map(drop),
            }
        }
    };
    (duty, if_there(done))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_told_to_be_given_up_when_it_is_and_a_failure_once_for_each_reason() {
        let (mut told, lost) = (Told::default(), Duty::GiveUp("p0".to_owned()));
        let forbidden = || Err("pods/status is forbidden".to_owned());
        let first = told.news(&lost, forbidden()).unwrap();
        assert_eq!(first, "cannot mark as failed pod p0, and tries again: pods/status is forbidden");
        told.keep(std::slice::from_ref(&lost));
        assert_eq!(told.news(&lost, forbidden()), None);
        assert!(told.news(&lost, Err("timeout".to_owned())).unwrap().ends_with("timeout"));
        assert!(told.news(&lost, Ok(Some(()))).unwrap().contains("p0 does not answer, and the pod is given up"));
        // Until the watch says that it has failed, it is given up once more.
        assert_eq!(told.news(&lost, Ok(Some(()))), None);
        assert_eq!(told.news(&Duty::Delete("p1".to_owned()), Ok(Some(()))), None);
        assert_eq!(told.news(&Duty::GiveUp("gone".to_owned()), Ok(None)), None);
        told.keep(&[Duty::Expire("p0".to_owned())]);
        assert!(told.news(&lost, forbidden()).is_some(), "it was no duty meanwhile");
    }
}
