use serde_json::json;

use super::*;
use crate::carrier::{ItemState, Outcome};

const NOW: i64 = 1_767_225_600_000;

fn job(stopped: &[u32]) -> Job {
    let mut annotations = json!({ "elasticjob/id": "a/scheduled@1", "elasticjob/items": "[[0],[1]]" });
    for item in stopped {
        annotations[format!("elasticjob/stopped-{item}")] = json!("true");
    }
    serde_json::from_value(
        json!({ "metadata": { "name": "j", "annotations": annotations }, "spec": { "template": {} } }),
    )
    .unwrap()
}

fn pod(index: usize, phase: &str) -> Pod {
    let pod = json!({
        "metadata": { "name": format!("p{index}"), "labels": {
            "batch.kubernetes.io/job-name": "j", "batch.kubernetes.io/job-completion-index": index.to_string() } },
        "spec": { "nodeName": "n1", "containers": [] }, "status": { "phase": phase }
    });
    serde_json::from_value(pod).unwrap()
}

/// A mirror of a Job with these pods.
fn mirror(job: Job, pods: &[Pod]) -> (Mirror, Vec<LaunchEvent>) {
    let mut mirror = Mirror::default();
    let mut told = Vec::new();
    for event in [Event::Init, Event::InitApply(job), Event::InitDone] {
        told.extend(mirror.job(event));
    }
    assert_eq!(told, [], "nothing is known before the pods are");
    let pods = pods.iter().cloned().map(Event::InitApply);
    for event in std::iter::once(Event::Init).chain(pods).chain([Event::InitDone]) {
        told.extend(mirror.pod(event));
    }
    (mirror, told)
}

fn states(events: Vec<LaunchEvent>) -> Vec<(u32, ItemState)> {
    let state = |event| match event {
        LaunchEvent::Changed { item, state, .. } => Some((item, state)),
        LaunchEvent::Gap => None,
    };
    events.into_iter().filter_map(state).collect()
}

#[test]
fn a_listing_is_a_gap_and_then_what_is_news() {
    let (mut mirror, told) = mirror(job(&[]), &[pod(0, "Succeeded")]);
    assert_eq!(told[0], LaunchEvent::Gap);
    let states = states(told);
    assert_eq!(states[0], (0, Outcome::Succeeded.into()));
    assert!(matches!(states[1], (1, ItemState::Waiting { .. })), "{states:?}");
    let mut again = Vec::new();
    for event in [Event::Init, Event::InitApply(job(&[])), Event::InitDone] {
        again.extend(mirror.job(event));
    }
    assert_eq!(again, [LaunchEvent::Gap]);
}

#[test]
fn a_change_is_told_once_and_an_end_is_final() {
    let (mut mirror, _) = mirror(job(&[]), &[]);
    let end = states(mirror.pod(Event::Apply(pod(1, "Succeeded"))));
    assert_eq!(end, [(1, Outcome::Succeeded.into())]);
    assert_eq!(mirror.pod(Event::Apply(pod(1, "Succeeded"))), []);
    assert_eq!(mirror.pod(Event::Delete(pod(1, "Succeeded"))), []);
}

#[test]
fn a_job_that_is_gone_before_its_items_ended_is_a_gap() {
    let (mut first, _) = mirror(job(&[]), &[pod(0, "Succeeded")]);
    assert_eq!(first.job(Event::Delete(job(&[]))), [LaunchEvent::Gap]);
    let (mut ended, _) = mirror(job(&[]), &[pod(0, "Succeeded"), pod(1, "Succeeded")]);
    assert_eq!(ended.job(Event::Delete(job(&[]))), []);
}

#[test]
fn stopped_items_are_ended_until_they_are() {
    let stopped = |pods: &[Pod]| mirror(job(&[1]), pods).0.duties(None, NOW);
    assert_eq!(stopped(&[pod(0, "Running"), pod(1, "Running")]), [Duty::Expire("p1".to_owned())]);
    let mut unplaced = pod(1, "Pending");
    unplaced.spec.as_mut().unwrap().node_name = None;
    assert_eq!(stopped(&[unplaced]), [Duty::Delete("p1".to_owned())]);
    let mut asked = pod(1, "Running");
    asked.spec.as_mut().unwrap().active_deadline_seconds = Some(PASSED);
    assert_eq!(stopped(&[asked]), []);
    assert_eq!(stopped(&[pod(1, "Failed")]), []);
}

#[test]
fn duties_come_with_the_change_that_makes_them() {
    let (mut mirror, _) = mirror(job(&[]), &[pod(0, "Running")]);
    assert_eq!(mirror.duties(None, NOW), []);
    mirror.job(Event::Apply(job(&[0])));
    assert_eq!(mirror.duties(Some("j"), NOW), [Duty::Expire("p0".to_owned())]);
    assert_eq!(mirror.duties(Some("other"), NOW), []);
}

#[test]
fn a_lost_place_is_noted_on_the_job_until_it_is() {
    lost_place_is_noted(|mirror, lost| mirror.pod(Event::Delete(lost)));
}

/// As where the API server was away for longer than it keeps its changes.
#[test]
fn a_lost_place_whose_pod_is_in_the_next_listing_no_more_is_noted_as_well() {
    lost_place_is_noted(|mirror, _| {
        let listing = [Event::Init, Event::InitApply(pod(0, "Running")), Event::InitDone];
        let told: Vec<LaunchEvent> = listing.into_iter().flat_map(|event| mirror.pod(event)).collect();
        told.into_iter().filter(|event| *event != LaunchEvent::Gap).collect()
    });
}

fn lost_place_is_noted(goes: impl Fn(&mut Mirror, Pod) -> Vec<LaunchEvent>) {
    let mut lost = pod(1, "Failed");
    let disrupted =
        json!([{ "type": "DisruptionTarget", "status": "True", "reason": "Evicted", "message": "no disk" }]);
    lost.status.as_mut().unwrap().conditions = serde_json::from_value(disrupted).unwrap();
    lost.metadata.creation_timestamp = serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap();
    let mut of = job(&[]);
    of.metadata.resource_version = Some("7".to_owned());
    let (mut mirror, _) = mirror(of.clone(), &[pod(0, "Running"), lost.clone()]);
    let noted = |mirror: &Mirror| {
        let duties = mirror.duties(None, NOW);
        let [Duty::Note { job, version, notes }] = &duties[..] else { panic!("{duties:?}") };
        assert_eq!((job.as_str(), notes.len()), ("j", 1));
        assert!(notes["elasticjob/lost-1"].contains("Evicted: no disk"), "{notes:?}");
        (version.clone(), notes.clone())
    };
    let (version, notes) = noted(&mirror);
    assert_eq!(version.as_deref(), Some("7"));
    // The note was refused as the Job had changed, and the pod is gone: its loss stays known.
    assert_eq!(goes(&mut mirror, lost), []);
    of.metadata.resource_version = Some("8".to_owned());
    mirror.job(Event::Apply(of.clone()));
    assert_eq!(noted(&mirror), (Some("8".to_owned()), notes.clone()));
    for event in [Event::Init, Event::InitApply(of.clone()), Event::InitDone] {
        mirror.job(event);
    }
    assert_eq!(noted(&mirror), (Some("8".to_owned()), notes.clone()));
    of.metadata.annotations.as_mut().unwrap().extend(notes);
    mirror.job(Event::Apply(of));
    assert_eq!(mirror.duties(None, NOW), []);
    assert!(mirror.unnoted.is_empty());
}

#[test]
fn a_pod_of_a_silent_node_is_given_up_when_its_node_must_have_ended_it_and_only_on_request() {
    let mut silent = pod(0, "Running");
    silent.metadata.deletion_timestamp = serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap();
    silent.status = serde_json::from_value(json!({ "phase": "Running", "conditions": [{ "type": "DisruptionTarget",
        "status": "True", "reason": "DeletionByTaintManager", "lastTransitionTime": "2025-12-31T23:59:50Z" }] }))
    .unwrap();
    let (patient, _) = mirror(job(&[]), &[silent.clone()]);
    assert_eq!(patient.duties(None, NOW + 5_000), []);
    silent.metadata.annotations = serde_json::from_value(json!({ "elasticjob/lost-after": "60" })).unwrap();
    let (strict, _) = mirror(job(&[]), &[silent]);
    assert_eq!(strict.duties(None, NOW + 4_999), []);
    assert_eq!(strict.duties(None, NOW + 5_000), [Duty::GiveUp("p0".to_owned())]);
}
