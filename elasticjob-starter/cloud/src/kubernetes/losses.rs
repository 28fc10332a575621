//! The places that an item has lost, noted on its Job.
//!
//! A pod that the cluster ended is deleted a moment later, and with it why. The note stays as long as the Job: so another scheduler
//! knows, too, which attempt runs and why the one before was lost. Pure.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use serde::{Deserialize, Serialize};

use super::names;
use super::outcome::lost;
use super::states::index;
use crate::carrier::LostPlace;

/// The longest reason that is noted, in characters: a Job has a note for each of its indexes.
const LONGEST: usize = 500;

/// What is noted of an index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Losses {
    /// How many places were lost.
    lost: u32,
    /// The last one: its node and its pod.
    place: String,
    /// Why it was lost.
    why: String,
    /// When its pod was made, in milliseconds since 1970. Those that were made before are noted: an index has one pod at a time.
    made: i64,
    /// The pods that were made in that moment and are noted. The cluster tells times in seconds.
    pods: BTreeSet<String>,
}

impl Losses {
    /// What a Job says of an index, and what those of its pods say that are not noted.
    pub(super) fn of(job: &Job, index: usize, pods: &[&Pod]) -> Self {
        let mut losses = Self::noted(job, index);
        losses.add(pods);
        losses
    }

    fn noted(job: &Job, index: usize) -> Self {
        let note = job.annotations().get(&names::lost(index));
        note.and_then(|note| serde_json::from_str(note).ok()).unwrap_or_default()
    }

    /// The place that was lost last.
    pub(super) fn last(self) -> Option<LostPlace> {
        (self.lost > 0).then(|| LostPlace::new(self.lost, Some(self.place), self.why))
    }

    fn add(&mut self, pods: &[&Pod]) {
        let mut new: Vec<(i64, String, &Pod, String)> = Vec::new();
        for pod in pods {
            let Some(why) = lost(pod) else { continue };
            let made = pod.creation_timestamp().map_or(0, |time| time.0.as_millisecond());
            if made > self.made || made == self.made && !self.pods.contains(&pod.name_any()) {
                new.push((made, pod.name_any(), pod, why));
            }
        }
        new.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        for (made, name, pod, why) in new {
            if made > self.made {
                self.pods.clear();
            }
            let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or("?");
            (self.place, self.made) = (format!("{node}/{name}"), made);
            self.why = why.chars().take(LONGEST).collect();
            self.pods.insert(name);
            self.lost += 1;
        }
    }
}

/// Whether a Job lacks the note of a pod whose place was lost.
pub(super) fn lacks(job: &Job, pod: &Pod) -> bool {
    index(pod).is_some_and(|index| Losses::of(job, index, &[pod]) != Losses::noted(job, index))
}

/// The notes that a Job lacks, by annotation: of indexes that have lost places since.
pub(super) fn missing(job: &Job, by_index: &BTreeMap<usize, Vec<&Pod>>) -> BTreeMap<String, String> {
    let news = by_index.iter().filter_map(|(index, pods)| {
        let losses = Losses::of(job, *index, pods);
        let text = || serde_json::to_string(&losses).expect("texts and numbers have a JSON form");
        (losses != Losses::noted(job, *index)).then(|| (names::lost(*index), text()))
    });
    news.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(notes: &BTreeMap<String, String>) -> Job {
        serde_json::from_value(json!({ "metadata": { "name": "j", "annotations": notes } })).unwrap()
    }

    fn pod(name: &str, second: u32, phase: &str, reason: &str) -> Pod {
        let disrupted =
            json!([{ "type": "DisruptionTarget", "status": "True", "reason": reason, "message": "no room" }]);
        let pod = json!({
            "metadata": { "name": name, "creationTimestamp": format!("2026-01-01T00:00:{second:02}Z") },
            "spec": { "nodeName": "n1", "containers": [] },
            "status": { "phase": phase, "conditions": if reason.is_empty() { json!([]) } else { disrupted } },
        });
        serde_json::from_value(pod).unwrap()
    }

    fn last(job: &Job, pods: &[&Pod]) -> Option<(u32, String, String)> {
        Losses::of(job, 3, pods).last().map(|lost| (lost.attempt, lost.place.unwrap(), lost.why))
    }

    fn notes(job: &Job, pods: &[&Pod]) -> BTreeMap<String, String> {
        missing(job, &BTreeMap::from([(3, pods.to_vec())]))
    }

    #[test]
    fn a_lost_place_is_noted_once_and_known_when_its_pod_is_gone() {
        let fresh = job(&BTreeMap::new());
        let (first, second) = (pod("a", 1, "Failed", "Evicted"), pod("b", 2, "Running", ""));
        let of_first = Some((1, "n1/a".to_owned(), "Evicted: no room".to_owned()));
        assert_eq!(last(&fresh, &[&first, &second]), of_first, "before it is noted");
        let noted = notes(&fresh, &[&first, &second]);
        assert_eq!(noted.keys().collect::<Vec<_>>(), ["elasticjob/lost-3"]);
        let noted = job(&noted);
        // Another scheduler may see the pod longer than this one.
        for pods in [vec![&first, &second], vec![&second], vec![]] {
            assert_eq!(last(&noted, &pods), of_first);
            assert_eq!(notes(&noted, &pods), BTreeMap::new());
        }
        let second = pod("b", 2, "Failed", "Preempted");
        let twice = job(&notes(&noted, &[&first, &second]));
        assert_eq!(last(&twice, &[]), Some((2, "n1/b".to_owned(), "Preempted: no room".to_owned())));
        assert_eq!(notes(&twice, &[&first, &second]), BTreeMap::new());
    }

    #[test]
    fn two_pods_of_one_second_are_two_places() {
        let (first, second) = (pod("b", 1, "Failed", "Evicted"), pod("a", 1, "Failed", "Evicted"));
        let once = job(&notes(&job(&BTreeMap::new()), &[&first]));
        let twice = job(&notes(&once, &[&first, &second]));
        assert_eq!(last(&twice, &[&first, &second]).map(|(attempt, ..)| attempt), Some(2));
        assert_eq!(notes(&twice, &[&first, &second]), BTreeMap::new());
    }

    #[test]
    fn a_program_that_fails_has_lost_no_place() {
        let failed = pod("a", 1, "Failed", "");
        assert_eq!(notes(&job(&BTreeMap::new()), &[&failed]), BTreeMap::new());
        assert_eq!(last(&job(&BTreeMap::new()), &[&failed]), None);
    }
}
