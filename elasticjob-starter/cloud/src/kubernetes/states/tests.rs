use serde_json::{Value, json};

use super::*;

fn job(more: Value) -> Job {
    let mut job = json!({
        "metadata": { "name": "j", "annotations": { "elasticjob/items": "[[0],[2]]" } },
        "spec": { "template": {}, "podFailurePolicy": { "rules": [{ "action": "FailIndex" }] } }
    });
    merge(&mut job, more);
    serde_json::from_value(job).unwrap()
}

fn merge(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            more.into_iter().for_each(|(key, value)| merge(into.entry(key).or_insert(Value::Null), value));
        }
        (into, more) => *into = more,
    }
}

fn pod(index: usize, more: Value) -> Pod {
    let mut pod = json!({
        "metadata": {
            "name": "p", "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": { "batch.kubernetes.io/job-completion-index": index.to_string() }
        },
        "spec": { "nodeName": "n1", "containers": [{ "name": "item", "resources": { "limits": { "memory": "80Mi" } } }] }
    });
    merge(&mut pod, more);
    serde_json::from_value(pod).unwrap()
}

fn ended(index: usize, terminated: Value) -> Pod {
    let status = json!({ "name": "item", "image": "", "imageID": "", "ready": false, "restartCount": 0,
                         "state": { "terminated": terminated } });
    pod(index, json!({ "status": { "phase": "Failed", "containerStatuses": [status] } }))
}

fn state(job: &Job, pods: &[Pod], item: ShardingItem) -> ItemState {
    states(job, pods).remove(&item).unwrap()
}

fn why(state: ItemState) -> String {
    match state {
        ItemState::Waiting { why, .. } | ItemState::Ended { outcome: Outcome::Lost { why }, .. } => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_item_without_a_pod_waits_for_one() {
    let states = states(&job(json!({})), []);
    assert_eq!(states.keys().copied().collect::<Vec<_>>(), [0, 2]);
    assert_eq!(states[&2], ItemState::waiting("its pod is being made"));
}

#[test]
fn what_the_job_says_of_an_index_stays_when_its_pod_is_gone() {
    let done = job(json!({ "status": { "completedIndexes": "0", "failedIndexes": "1-3" } }));
    assert_eq!(state(&done, &[], 0), Outcome::Succeeded.into());
    assert!(why(state(&done, &[], 2)).contains("was deleted"));
    let stopped = job(json!({
        "metadata": { "annotations": { "elasticjob/stopped-2": "true" } }, "status": { "failedIndexes": "1" }
    }));
    assert_eq!(state(&stopped, &[], 2), Outcome::Stopped.into());
}

#[test]
fn an_item_in_a_queue_says_in_which_and_ends_when_it_is_stopped_there() {
    let queued =
        json!({ "metadata": { "labels": { "kueue.x-k8s.io/queue-name": "night" } }, "spec": { "suspend": true } });
    assert!(why(state(&job(queued.clone()), &[], 0)).contains("'night'"));
    let mut stopped = queued;
    merge(&mut stopped, json!({ "metadata": { "annotations": { "elasticjob/stopped-0": "true" } } }));
    assert_eq!(state(&job(stopped.clone()), &[], 0), Outcome::Stopped.into());
    merge(&mut stopped, json!({ "spec": { "suspend": false, "parallelism": 0 } }));
    assert_eq!(state(&job(stopped), &[], 0), Outcome::Stopped.into());
}

#[test]
fn a_pod_that_runs_says_where_and_which_attempt_it_is() {
    let running = json!({ "name": "item", "image": "", "imageID": "", "ready": true, "restartCount": 0,
                          "state": { "running": { "startedAt": "2026-01-01T00:00:01Z" } } });
    let second = pod(
        0,
        json!({
            "metadata": { "name": "q", "creationTimestamp": "2026-01-01T00:00:09Z" },
            "status": { "phase": "Running", "containerStatuses": [running] }
        }),
    );
    let lost = LostPlace::new(1, Some("n1/p".to_owned()), "Evicted: The node had little disk");
    let running = ItemState::running("n1/q", 1_767_225_601_000).after(Some(lost));
    assert!(matches!(running, ItemState::Running { attempt: 2, .. }));
    assert_eq!(state(&job(json!({})), &[second.clone(), evicted()], 0), running);
    // Its pod is gone, and another scheduler looks.
    let (pods, of_first) = (evicted(), job(json!({})));
    let notes = crate::kubernetes::losses::missing(&of_first, &by_index([&pods]));
    let noted = job(json!({ "metadata": { "annotations": notes } }));
    assert_eq!(state(&noted, &[second], 0), running);
    let waits = state(&noted, &[], 0);
    assert_eq!((why(waits.clone()), waits.lost()), (BEING_MADE.to_owned(), running.lost()));
    // Without `failover` its index has failed by that.
    let failed = json!({ "metadata": { "annotations": notes }, "status": { "failedIndexes": "0" } });
    assert_eq!(why(state(&job(failed), &[], 0)), "Evicted: The node had little disk");
}

#[test]
fn the_end_of_a_program_is_told_in_its_own_words() {
    let job = job(json!({}));
    let outcome = |terminated: Value| state(&job, &[ended(1, terminated)], 2);
    let failed = |exit, text: &str| ItemState::from(Outcome::Failed { exit: Some(exit), text: text.to_owned() });
    let words = json!({ "exitCode": 3, "message": "no table\nof orders\n\u{1e}" });
    assert_eq!(outcome(words), failed(3, "no table\nof orders"));
    assert_eq!(outcome(json!({ "exitCode": 3, "message": "begun\nit is locked\n\n" })), failed(3, "it is locked"));
    assert_eq!(outcome(json!({ "exitCode": 137 })), failed(137, "it was killed by signal 9, and left no text"));
    assert_eq!(outcome(json!({ "exitCode": 137, "reason": "OOMKilled" })), Outcome::OutOfMemory { limit: 80 }.into());
}

#[test]
fn items_that_share_a_pod_end_each_for_itself() {
    let shared = job(json!({ "metadata": { "annotations": { "elasticjob/items": "[[4,5,6]]" } } }));
    let pods = [ended(0, json!({ "exitCode": 9, "message": "4 3 no table\u{1e}6 137 \u{1e}", "reason": "OOMKilled" }))];
    assert_eq!(state(&shared, &pods, 4), Outcome::Failed { exit: Some(3), text: "no table".to_owned() }.into());
    assert_eq!(state(&shared, &pods, 5), Outcome::Succeeded.into());
    assert_eq!(state(&shared, &pods, 6), Outcome::OutOfMemory { limit: 80 }.into());
    let killed = [ended(0, json!({ "exitCode": 137, "message": "end of the log" }))];
    assert!(matches!(state(&shared, &killed, 5), ItemState::Ended { outcome: Outcome::Failed { .. }, .. }));
}

fn evicted() -> Pod {
    pod(
        0,
        json!({ "status": { "phase": "Failed", "reason": "Evicted", "message": "The node had little disk", "conditions": [
        { "type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet" }] } }),
    )
}

#[test]
fn a_pod_that_the_cluster_ended_is_lost_or_runs_again() {
    assert_eq!(why(state(&job(json!({})), &[evicted()], 0)), "Evicted: The node had little disk");
    let replaces = job(json!({ "spec": { "podFailurePolicy": { "rules": [{ "action": "Ignore" }] } } }));
    let again = state(&replaces, &[evicted()], 0);
    assert!(again.outcome().is_none() && why(again.clone()).contains("run again"), "{again:?}");
    assert!(why(again.clone()).contains("The node had little disk") && again.lost().is_some(), "{again:?}");
}

#[test]
fn the_cause_of_a_stop_is_told_with_the_end_also_of_a_program_that_ended_well() {
    let cause = json!({ "cause": "timeLimit", "milliseconds": 5 }).to_string();
    let stopped = |note: &str, index: &str| {
        job(json!({
            "metadata": { "annotations": { "elasticjob/stopped-0": note } }, "status": { "completedIndexes": index }
        }))
    };
    let limit = StopCause::TimeLimit { milliseconds: 5 };
    let ended = |cause| ItemState::from(Outcome::Succeeded).stopped_for(cause);
    assert_eq!(state(&stopped(&cause, "0"), &[], 0), ended(Some(limit)));
    // An earlier release noted no cause.
    assert_eq!(state(&stopped("true", "0"), &[], 0), ended(None));
}

#[test]
fn a_pod_past_its_deadline_was_stopped() {
    let stopped = pod(0, json!({ "status": { "phase": "Failed", "reason": "DeadlineExceeded" } }));
    assert_eq!(state(&job(json!({})), &[stopped], 0), Outcome::Stopped.into());
}

#[test]
fn a_pod_that_was_deleted_before_it_began_was_stopped_where_that_was_asked() {
    let deleted = pod(0, json!({ "status": { "phase": "Failed" } }));
    let of = |job: Job| state(&job, std::slice::from_ref(&deleted), 0);
    assert!(matches!(of(job(json!({}))), ItemState::Ended { outcome: Outcome::Failed { exit: None, .. }, .. }));
    let stopped = job(json!({ "metadata": { "annotations": { "elasticjob/stopped-0": "true" } } }));
    assert_eq!(of(stopped), Outcome::Stopped.into());
}

#[test]
fn what_a_pod_waits_for_is_told() {
    let job = job(json!({}));
    let unschedulable = pod(
        0,
        json!({ "status": { "phase": "Pending", "conditions": [
        { "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes: Insufficient cpu" }] } }),
    );
    assert_eq!(why(state(&job, &[unschedulable], 0)), "no node takes it: 0/1 nodes: Insufficient cpu");
    let waiting = |reason: &str| {
        let status = json!({ "name": "item", "image": "a:1", "imageID": "", "ready": false, "restartCount": 0,
                             "state": { "waiting": { "reason": reason, "message": "no such image" } } });
        pod(0, json!({ "status": { "phase": "Pending", "containerStatuses": [status] } }))
    };
    assert_eq!(why(state(&job, &[waiting("ImagePullBackOff")], 0)), "ImagePullBackOff: no such image");
    assert_eq!(why(state(&job, &[waiting("ContainerCreating")], 0)), "its pod is being started on n1");
}

#[test]
fn a_silent_node_is_told_while_its_pod_is_not_given_up() {
    let silent = |metadata: Value| {
        let mut silent = json!({
            "metadata": { "deletionTimestamp": "2026-01-01T00:01:00Z" },
            "status": { "phase": "Running", "conditions": [{ "type": "DisruptionTarget", "status": "True",
                "reason": "DeletionByTaintManager", "lastTransitionTime": "2026-01-01T00:00:50Z" }] }
        });
        merge(&mut silent["metadata"], metadata);
        pod(0, silent)
    };
    let remedies = [
        (json!({}), "--lost-after gives up the items of later launches"),
        (json!({ "annotations": { "elasticjob/lost-after": "40" } }), "it counts as lost at 2026-01-01T00:01:05Z"),
        (json!({ "labels": { "elasticjob/daemon": "a" } }), "delete the node once it is certain that it is off"),
    ];
    for (metadata, remedy) in remedies {
        let why = why(alive(&silent(metadata)));
        assert!(why.contains("n1 does not answer since 2026-01-01T00:00:50Z") && why.contains(remedy), "{why}");
    }
}

#[test]
fn a_node_is_silent_since_its_pods_are_not_ready_and_not_since_they_are_deleted() {
    let silent = |containers: &str| {
        let condition = |type_: &str, status: &str, second: u32| json!({ "type": type_, "status": status, "lastTransitionTime": format!("2026-01-01T00:00:{second}Z") });
        let mut deleted = condition("DisruptionTarget", "True", 50);
        deleted["reason"] = "DeletionByTaintManager".into();
        let conditions = [condition("Ready", "False", 20), condition("ContainersReady", containers, 10), deleted];
        let pod = pod(
            0,
            json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:01:00Z" },
                    "status": { "phase": "Running", "conditions": conditions } }),
        );
        silent_since(&pod).unwrap().0.to_string()
    };
    assert_eq!(silent("True"), "2026-01-01T00:00:20Z");
    // The containers were not ready before.
    assert_eq!(silent("False"), "2026-01-01T00:00:50Z");
}

#[test]
fn a_package_that_is_not_to_be_had_fails_the_item_with_what_was_told() {
    let fetch = json!({ "name": "fetch", "image": "", "imageID": "", "ready": false, "restartCount": 0,
                        "state": { "terminated": { "exitCode": 1, "message": "'https://h/a' cannot be fetched" } } });
    let failed = pod(0, json!({ "status": { "phase": "Failed", "initContainerStatuses": [fetch] } }));
    let text = "'https://h/a' cannot be fetched".to_owned();
    assert_eq!(state(&job(json!({})), &[failed], 0), Outcome::Failed { exit: None, text }.into());
}

#[test]
fn indexes_are_read_as_kubernetes_writes_them() {
    let some = Indexes::parse("1,3-5,7");
    let contained: Vec<usize> = (0..9).filter(|index| some.contains(*index)).collect();
    assert_eq!(contained, [1, 3, 4, 5, 7]);
    assert_eq!(Indexes::parse(""), Indexes::default());
}
