//! The actions of operators in the decision log.

use std::sync::Mutex;

use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::*;
use crate::trace::{
    DecisionKind, JobDecisionEvent, JobEvent, Tracing, TracingConfiguration, TracingStorage, WriteError,
};

#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<JobDecisionEvent>>>);

impl TracingStorage for Told {
    fn type_name(&self) -> &str {
        "TOLD"
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        let decisions = events.iter().filter_map(|event| match event {
            JobEvent::Decision(decision) => Some(decision.clone()),
            _ => None,
        });
        self.0.lock().unwrap().extend(decisions);
        Ok(())
    }
}

/// From where the operator of these tests acts.
fn from() -> Origin {
    Origin::new(Surface::Rest).address(Some("203.0.113.9".to_owned())).request(Some("deploy-7".to_owned()))
}

const CONFIG: &str = "cron: 0 0 0 1 1 ?\nshardingTotalCount: 1\n";

/// The records of what an operator does with a job that has one instance.
async fn recorded(acts: impl AsyncFnOnce(&Operations)) -> Vec<JobDecisionEvent> {
    recorded_beside(&[], acts).await
}

/// The same, where there are these other nodes.
async fn recorded_beside(others: &[(&str, &str)], acts: impl AsyncFnOnce(&Operations)) -> Vec<JobDecisionEvent> {
    let desk = Desk::new();
    desk.write(&[
        ("/job/config", CONFIG),
        ("/job/instances/10.0.0.1@-@7", ""),
        ("/job/servers/10.0.0.1", "ENABLED"),
        ("/job/sharding/0/instance", "10.0.0.1@-@7"),
    ])
    .await;
    desk.write(others).await;
    let told = Told::default();
    let tracing = Tracing::start(TracingConfiguration::new(told.clone()), &Handle::current());
    let audit = Audit::new(tracing.clone(), "alice@build7").reason("disk full").origin(from());
    acts(&desk.operations.clone().audited(audit)).await;
    tracing.close(std::time::Duration::from_secs(20)).await;
    let records = told.0.lock().unwrap().clone();
    for record in &records {
        assert_eq!(record.kind, DecisionKind::Operator);
        assert_eq!((record.reason.as_str(), &record.detail["actor"]), ("disk full", &json!("alice@build7")));
        let origin = ["surface", "address", "request"].map(|name| record.detail[name].as_str().unwrap_or_default());
        assert_eq!(origin, ["rest", "203.0.113.9", "deploy-7"], "{record:?}");
    }
    records
}

fn detail(record: &JobDecisionEvent) -> Value {
    let mut detail = record.detail.clone();
    for name in ["actor", "surface", "address", "request"] {
        detail.remove(name);
    }
    detail.into()
}

#[tokio::test]
async fn each_action_is_recorded_with_what_it_changed_from_what_to_what() {
    let records = recorded(async |operations| {
        let job = name("job");
        let target = Target::Job(job.clone());
        operations.disable_item(&job, 0).await.unwrap();
        operations.disable_item(&job, 0).await.unwrap();
        operations.enable_item(&job, 0).await.unwrap();
        operations.disable_servers(&target).await.unwrap();
        operations.enable_servers(&Target::Server("10.0.0.1".to_owned())).await.unwrap();
        operations.trigger(&target).await.unwrap();
        let stored = operations.configuration(&job).await.unwrap();
        let settings = crate::config::JobSettings { sharding_total_count: Some(2), ..stored.configuration.settings() };
        operations.update_configuration(&stored, &settings).await.unwrap();
        operations.shut_down(&target).await.unwrap();
        operations.remove_servers(&target, Force::Yes).await.unwrap();
        operations.remove_job(&job, Force::No).await.unwrap();
    })
    .await;
    let server = json!(["server 10.0.0.1"]);
    let instance = json!(["instance 10.0.0.1@-@7"]);
    let expected = [
        json!({"action": "disable-item", "outcome": "done", "parts": ["item 0"], "before": "ENABLED", "after": "DISABLED"}),
        json!({"action": "disable-item", "outcome": "unchanged"}),
        json!({"action": "enable-item", "outcome": "done", "parts": ["item 0"], "before": "DISABLED", "after": "ENABLED"}),
        json!({"action": "disable-servers", "outcome": "done", "parts": server, "before": "ENABLED", "after": "DISABLED"}),
        json!({"action": "enable-servers", "outcome": "done", "parts": server, "before": "DISABLED", "after": "ENABLED"}),
        json!({"action": "trigger", "outcome": "done", "parts": instance}),
        json!({"action": "update-configuration", "outcome": "done", "changes": ["sharding-total-count: '1' -> '2'"]}),
        json!({"action": "shut-down", "outcome": "done", "parts": instance}),
        json!({"action": "remove-servers", "outcome": "done", "parts": server}),
    ];
    let details: Vec<Value> = records.iter().map(detail).collect();
    assert_eq!(details[..expected.len()], expected);
    assert_eq!((records[0].sharding_items.as_slice(), records[3].sharding_items.as_slice()), (&[0][..], &[][..]));
    let removed = &details[expected.len()];
    assert_eq!((&removed["action"], &removed["outcome"]), (&json!("remove-job"), &json!("done")));
    assert_eq!(details.len(), expected.len() + 1);
}

#[tokio::test]
async fn an_action_that_is_refused_is_recorded_with_why() {
    let records = recorded(async |operations| {
        let job = name("job");
        operations.disable_item(&job, 9).await.unwrap_err();
        operations.remove_job(&job, Force::No).await.unwrap_err();
        let stored = operations.configuration(&job).await.unwrap();
        let settings = crate::config::JobSettings { sharding_total_count: Some(0), ..stored.configuration.settings() };
        operations.update_configuration(&stored, &settings).await.unwrap_err();
        operations.rerun(&job, i64::from(u32::MAX)).await.unwrap_err();
    })
    .await;
    let told: Vec<[&str; 2]> = records
        .iter()
        .map(|record| ["action", "outcome"].map(|name| record.detail[name].as_str().unwrap_or_default()))
        .collect();
    let refused = ["disable-item", "remove-job", "update-configuration", "rerun"];
    assert_eq!(told, refused.map(|action| [action, "refused"]));
    assert!(records[0].detail["error"].as_str().unwrap().contains("no item 9"), "{:?}", records[0]);
    assert!(records[3].detail["error"].as_str().unwrap().contains("nothing was run again"), "{:?}", records[3]);
}

#[tokio::test]
async fn an_action_on_a_whole_server_that_is_refused_is_recorded_at_its_jobs() {
    let records = recorded(async |operations| {
        let server = Target::Server("10.0.0.1".to_owned());
        operations.remove_servers(&server, Force::No).await.unwrap_err();
    })
    .await;
    assert_eq!(told(&records), [("job", "remove-servers", "refused")]);
    assert!(records[0].detail["error"].as_str().unwrap().contains("10.0.0.1@-@7"), "{:?}", records[0]);
}

/// Job, action and outcome of each record.
fn told(records: &[JobDecisionEvent]) -> Vec<(&str, &str, &str)> {
    let mut told = Vec::new();
    for record in records {
        let word = |name: &str| record.detail[name].as_str().unwrap_or_default();
        told.push((record.job_name.as_str(), word("action"), word("outcome")));
    }
    told
}

#[tokio::test]
async fn an_action_on_a_whole_server_that_changes_nothing_is_recorded_at_its_jobs() {
    let records = recorded(async |operations| {
        operations.enable_servers(&Target::Server("10.0.0.1".to_owned())).await.unwrap();
    })
    .await;
    assert_eq!(told(&records), [("job", "enable-servers", "unchanged")]);
    assert_eq!(records[0].detail["parts"], json!(["server 10.0.0.1"]));
}

/// Two further jobs on the server of the job.
const TWO_OTHERS: [(&str, &str); 4] = [
    ("/a/config", CONFIG),
    ("/a/servers/10.0.0.1", "ENABLED"),
    ("/b/config", CONFIG),
    ("/b/servers/10.0.0.1", "ENABLED"),
];

#[tokio::test]
async fn an_action_on_a_server_that_is_refused_for_many_jobs_is_one_record() {
    let records = recorded_beside(&TWO_OTHERS, async |operations| {
        let server = Target::Server("10.0.0.1".to_owned());
        operations.remove_servers(&server, Force::No).await.unwrap_err();
    })
    .await;
    assert_eq!(told(&records), [("*", "remove-servers", "refused")]);
    assert_eq!(records[0].detail["parts"], json!(["server 10.0.0.1", "job a", "job b", "job job"]));
    assert!(records[0].detail["error"].as_str().unwrap().contains("10.0.0.1@-@7"), "{:?}", records[0]);
}

#[tokio::test]
async fn what_is_asked_of_many_jobs_and_changes_none_is_one_record_for_each_end() {
    let records = recorded_beside(&TWO_OTHERS, async |operations| {
        let many = operations.on_many_jobs();
        let off = |job: &str| Target::Job(name(job));
        many.disable_servers(&off("job")).await.unwrap();
        for job in ["a", "b"] {
            many.enable_servers(&off(job)).await.unwrap();
        }
        for job in ["none", "nor-this"] {
            many.enable_servers(&off(job)).await.unwrap_err();
        }
        many.trigger(&off("a")).await.unwrap_err();
        drop(many);
        operations.enable_servers(&off("a")).await.unwrap();
    })
    .await;
    let expected = [
        ("job", "disable-servers", "done"),
        ("*", "enable-servers", "refused"),
        ("*", "enable-servers", "unchanged"),
        ("a", "trigger", "refused"),
        ("a", "enable-servers", "unchanged"),
    ];
    assert_eq!(told(&records), expected);
    let why = |job: &str| format!("job {job}: there is no job '{job}' in the namespace");
    assert_eq!(records[1].detail["parts"], json!([why("none"), why("nor-this")]));
    let both = "there is no job 'none' in the namespace; there is no job 'nor-this' in the namespace";
    assert_eq!(records[1].detail["error"], json!(both));
    assert_eq!(records[2].detail["parts"], json!(["job a", "job b"]));
}

#[tokio::test]
async fn what_may_have_changed_jobs_is_recorded_at_each_of_them() {
    let records = recorded(async |operations| {
        let many = operations.on_many_jobs();
        let lost = ["a", "b"].map(|job| (name(job), Some("no answer".into())));
        many.audit.as_ref().unwrap().post_ended("trigger", "unknown", None, lost.into());
    })
    .await;
    assert_eq!(told(&records), [("a", "trigger", "unknown"), ("b", "trigger", "unknown")]);
    assert_eq!(records[0].detail["error"], json!("no answer"));
}

#[tokio::test]
async fn an_action_on_a_server_that_changes_nothing_of_many_jobs_is_one_record() {
    let records = recorded_beside(&TWO_OTHERS, async |operations| {
        let server = Target::Server("10.0.0.1".to_owned());
        operations.enable_servers(&server).await.unwrap();
        operations.disable_servers(&Target::ServerOfJob(name("a"), "10.0.0.1".to_owned())).await.unwrap();
        operations.disable_servers(&Target::ServerOfJob(name("b"), "10.0.0.1".to_owned())).await.unwrap();
        operations.enable_servers(&server).await.unwrap();
    })
    .await;
    let expected = [("*", "enable-servers", "unchanged")];
    assert_eq!(told(&records)[..1], expected);
    assert_eq!(records[0].detail["parts"], json!(["server 10.0.0.1", "job a", "job b", "job job"]));
    let rest =
        [("a", "enable-servers", "done"), ("b", "enable-servers", "done"), ("job", "enable-servers", "unchanged")];
    assert_eq!(told(&records)[3..], rest, "one job alone has its own record");
}

#[tokio::test]
async fn an_action_on_a_server_that_no_job_has_is_recorded_at_all_jobs() {
    let records = recorded(async |operations| {
        let nowhere = Target::Server("10.9.9.9".to_owned());
        operations.disable_servers(&nowhere).await.unwrap_err();
        operations.shut_down(&nowhere).await.unwrap_err();
    })
    .await;
    assert_eq!(told(&records), [("*", "disable-servers", "refused"), ("*", "shut-down", "refused")]);
    for record in &records {
        assert!(record.detail["error"].as_str().unwrap().contains("10.9.9.9"), "{record:?}");
        assert_eq!(record.detail["parts"], json!(["server 10.9.9.9"]));
    }
}

#[tokio::test]
async fn what_is_asked_of_a_server_in_chosen_jobs_names_the_server_in_each_record() {
    let records = recorded_beside(&TWO_OTHERS, async |operations| {
        let at = |job: &str, server: &str| Target::ServerOfJob(name(job), server.to_owned());
        let many = operations.on_many_jobs();
        for job in ["a", "b"] {
            many.enable_servers(&at(job, "10.0.0.1")).await.unwrap();
            many.enable_servers(&at(job, "10.9.9.9")).await.unwrap_err();
        }
        many.disable_servers(&at("job", "10.9.9.9")).await.unwrap_err();
        drop(many);
        operations.trigger(&at("job", "10.9.9.9")).await.unwrap_err();
    })
    .await;
    let expected = [
        ("job", "disable-servers", "refused"),
        ("*", "enable-servers", "refused"),
        ("*", "enable-servers", "unchanged"),
        ("job", "trigger", "refused"),
    ];
    assert_eq!(told(&records), expected);
    let parts = |at: usize| records[at].detail["parts"].as_array().unwrap().clone();
    assert_eq!(parts(0), ["server 10.9.9.9"]);
    assert_eq!(parts(1)[0], "server 10.9.9.9");
    assert_eq!(parts(1).len(), 3, "and both jobs: {:?}", records[1]);
    let why = |at: usize| &records[1].detail["partMessages"][at];
    assert_eq!(why(0), &json!(null), "the server was not refused");
    for (at, job) in [(1, "a"), (2, "b")] {
        assert_eq!((&why(at)["code"], &why(at)["arguments"]["job"]), (&json!("no-match-of-job-at"), &json!(job)));
    }
    assert!(!records[2].detail.contains_key("partMessages"), "nothing was refused: {:?}", records[2]);
    assert_eq!(parts(2), ["server 10.0.0.1", "job a", "job b"]);
    assert_eq!(parts(3), ["server 10.9.9.9"]);
}

#[tokio::test]
async fn the_record_of_a_refusal_names_no_other_job() {
    let desk = Desk::new();
    desk.write(&[("/payroll/config", CONFIG)]).await;
    let told = Told::default();
    let tracing = Tracing::start(TracingConfiguration::new(told.clone()), &Handle::current());
    let operations = desk.operations.clone().audited(Audit::new(tracing.clone(), "alice@build7"));
    let refused = operations.trigger(&Target::Job(name("billing"))).await.unwrap_err();
    assert!(refused.to_string().contains("payroll"), "who operates is told what there is: {refused}");
    let behind = OperationError::NotRerun { job: name("billing"), why: NotRerun::FollowerIsBehind(name("payroll")) };
    assert!(behind.to_string().contains("payroll") && !behind.of_its_job().as_str().contains("payroll"));
    tracing.close(std::time::Duration::from_secs(20)).await;
    let records = told.0.lock().unwrap().clone();
    let error = records[0].detail["error"].as_str().unwrap();
    assert_eq!((records[0].job_name.as_str(), error), ("billing", "there is no job 'billing' in the namespace"));
    let as_data = json!([{ "code": "no-such-job", "arguments": { "job": "billing" } }]);
    assert_eq!(records[0].detail["errorMessages"], as_data);
}

#[tokio::test]
async fn an_action_of_another_part_of_the_program_keeps_its_cause_as_data() {
    let records = recorded(async |operations| {
        let why = OperationError::ChangedMeanwhile { job: name("job") }.message();
        operations.record_action("update-configuration", &name("job"), Vec::new(), ActionEnd::Refused(why));
        operations.record_action("update-configuration", &name("job"), Vec::new(), ActionEnd::Done);
    })
    .await;
    let action = "update-configuration";
    assert_eq!(told(&records), [("job", action, "refused"), ("job", action, "done")]);
    let as_data = json!([{ "code": "changed-meanwhile", "arguments": { "job": "job" } }]);
    assert_eq!(records[0].detail["errorMessages"], as_data);
    assert!(!records[1].detail.contains_key("error") && !records[1].detail.contains_key("errorMessages"));
}

#[tokio::test]
async fn an_operator_without_a_name_records_nothing_and_does_the_same() {
    let desk = Desk::new();
    desk.write(&[("/job/config", CONFIG), ("/job/sharding/0", "")]).await;
    assert_eq!(desk.operations.disable_item(&name("job"), 0).await.unwrap().changed.len(), 1);
    assert!(desk.operations.audit.is_none());
}
