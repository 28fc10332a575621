use std::sync::Arc;
use std::time::Duration;

use elasticjob::api::{ItemHandler, ItemWork};
use elasticjob::config::JobSettings;
use elasticjob::ident::JobName;
use elasticjob::operations::alarms::Concern;
use elasticjob::operations::{CarriedWait, Operations, Target};
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{RegistryCenter, SessionState, Transaction};
use elasticjob::runtime::ShutdownMode;
use elasticjob::trace::JobEvent;
use serde_json::{Value, json};

use super::*;
use crate::access::{Grant, Identity};
use crate::testing::traced::{Folder, here, run};
use crate::testing::{call, console_of, cookie_of, job_settings, json as send, request, start_job, start_job_with};

const ALARMS: &str = "/api/v1/registries/default/alarms";

async fn alarms_for(console: &crate::Console, cookie: &str) -> Vec<Value> {
    let answer = call(console, request("GET", ALARMS, Some(cookie))).await;
    let parsed: Value = serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{}", answer.body));
    parsed.as_array().cloned().unwrap_or_else(|| panic!("{}", answer.body))
}

#[tokio::test]
async fn an_alarm_is_acknowledged_by_those_who_may_operate_its_job() {
    let memory = MemoryRegistry::new();
    let _well = start_job(&memory, "well", &JobSettings::default()).await;
    let mut gone = start_job(&memory, "gone", &JobSettings::default()).await;
    gone.shutdown(ShutdownMode::Graceful).await;
    let console = console_of(&memory);
    let (viewer, operator) = (cookie_of(&console, "viewer").await, cookie_of(&console, "operator").await);
    let [alarm] = &alarms_for(&console, &viewer).await[..] else { panic!("one job has no instance") };
    assert_eq!(
        (&alarm["kind"], &alarm["job"], &alarm["acknowledged"]),
        (&json!("crashed"), &json!("gone"), &Value::Null)
    );
    let path = format!("{ALARMS}/{}/acknowledgement", alarm["id"].as_str().expect("an id"));
    let body = json!({"reason": "the host is on its way"});
    let refused = call(&console, send("PUT", &path, &viewer, &body)).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    let taken = call(&console, send("PUT", &path, &operator, &body)).await;
    assert_eq!(taken.status, 200, "{}", taken.body);
    let [alarm] = &alarms_for(&console, &viewer).await[..] else { panic!("it lasts") };
    let by = &alarm["acknowledged"];
    assert_eq!((&by["by"], &by["reason"]), (&json!("operator"), &json!("the host is on its way")));
    let unknown = call(&console, send("PUT", &format!("{ALARMS}/crashed-x/acknowledgement"), &operator, &body)).await;
    assert!(unknown.status == 404 && unknown.body.contains("no-such-alarm"), "{}", unknown.body);

    let page = call(&console, request("GET", "/r/default/alarms", Some(&operator))).await.body;
    assert!(page.contains("Without an instance") && page.contains("the host is on its way"), "{page}");
    assert!(!page.contains(">Acknowledge</button>"), "it is acknowledged: {page}");
}

#[tokio::test]
async fn the_button_of_a_page_acknowledges_an_alarm() {
    let memory = MemoryRegistry::new();
    let mut gone = start_job(&memory, "gone", &JobSettings::default()).await;
    gone.shutdown(ShutdownMode::Graceful).await;
    let console = console_of(&memory);
    let (viewer, operator) = (cookie_of(&console, "viewer").await, cookie_of(&console, "operator").await);
    let page = call(&console, request("GET", "/r/default/alarms", Some(&operator))).await.body;
    let id = page.split("name=\"alarm\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a button");
    let form = |cookie: &str| {
        let mut request = request("POST", "/r/default/alarms", Some(cookie));
        let kind = "application/x-www-form-urlencoded".parse().expect("a value");
        request.headers_mut().insert(axum::http::header::CONTENT_TYPE, kind);
        *request.body_mut() = axum::body::Body::from(format!("alarm={id}&reason=seen"));
        request
    };
    assert_eq!(call(&console, form(&viewer)).await.status, 403);
    assert_eq!(call(&console, form(&operator)).await.status, 303);
    let page = call(&console, request("GET", "/r/default/alarms", Some(&viewer))).await.body;
    assert!(page.contains("seen") && !page.contains("name=\"alarm\""), "{page}");
}

#[tokio::test]
async fn an_alarm_that_began_after_it_was_acknowledged_is_open_again() {
    let memory = MemoryRegistry::new();
    let mut here = here(&console_of(&memory));
    here.identity = Identity::user("zhang", vec![Grant::everywhere(Role::Operator)]);
    let alarm = |kind, since| Alarm::of(&here, Wrong { kind, job: None, since, usual: None });
    let kind = AlarmKind::Concern(Concern::Failing);
    let id = alarm(kind, Some(7)).id;
    let by = Acknowledged { by: "zhang".to_owned(), at: 10, reason: String::new() };
    here.app.acknowledgements.put("default", &id, by).await.expect("memory takes it");
    let is_acknowledged = |since| alarm(kind, since).acknowledged.is_some();
    assert!(is_acknowledged(Some(10)) && is_acknowledged(None) && !is_acknowledged(Some(11)));
    assert_ne!(id, alarm(AlarmKind::RunsLong, None).id);
}

/// The alarms, once there are so many: what has changed in the registry is heard of a moment later.
async fn once_they_are(here: &Here, count: usize) -> Vec<Alarm> {
    let waiting = async {
        loop {
            let all = alarms(here).await.expect("they are read");
            if all.len() == count {
                return all;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), waiting).await.expect("so many alarms")
}

#[tokio::test]
async fn an_acknowledgement_ends_with_its_alarm() {
    let memory = MemoryRegistry::new();
    let mut gone = start_job(&memory, "gone", &JobSettings::default()).await;
    gone.shutdown(ShutdownMode::Graceful).await;
    let mut here = here(&console_of(&memory));
    here.identity = Identity::user("zhang", vec![Grant::everywhere(Role::Operator)]);
    let crashed = once_they_are(&here, 1).await.remove(0);
    acknowledge(&here, &crashed.id, "on its way").await.expect("it is acknowledged");
    assert!(alarms(&here).await.expect("they are read")[0].acknowledged.is_some());
    let back = start_job(&memory, "gone", &JobSettings::default()).await;
    once_they_are(&here, 0).await;
    let mut again = back;
    again.shutdown(ShutdownMode::Graceful).await;
    let crashed = once_they_are(&here, 1).await.remove(0);
    assert_eq!(crashed.acknowledged, None, "it began again");
}

#[tokio::test]
async fn who_acknowledges_an_alarm_is_recorded() {
    let (memory, folder) = (MemoryRegistry::new(), Folder::new("acknowledged"));
    let mut gone = start_job(&memory, "gone", &JobSettings::default()).await;
    gone.shutdown(ShutdownMode::Graceful).await;
    let data = crate::DataFile::open(folder.0.join("console.db")).await.expect("it is made");
    let options = crate::ConsoleOptions { data: Some(data.clone()), ..crate::ConsoleOptions::default() };
    let registry = crate::Registry::new("default", Arc::new(memory.connect()));
    let console = crate::Console::new(options, [registry]).expect("it starts");
    let mut here = here(&console);
    here.identity = Identity::user("zhang", vec![Grant::everywhere(Role::Operator)]);
    let id = alarms(&here).await.expect("they are read").remove(0).id;
    acknowledge(&here, &id, "on its way").await.expect("it is acknowledged");
    here.registry.close_kept(Duration::from_secs(20)).await;
    let reader = here.registry.action_reader().expect("the data file has them");
    let filter = elasticjob::trace::DecisionFilter::of_job(JobName::new("gone").expect("a name"));
    let page = elasticjob::trace::TraceReader::decisions(reader, &filter, &Default::default()).await;
    let records = page.expect("they are read").records;
    let told: Vec<_> =
        records.iter().map(|it| (&it.detail["action"], &it.detail["actor"], it.reason.as_str())).collect();
    assert_eq!(told, [(&json!("acknowledge-alarm"), &json!("zhang"), "on its way")]);
}

#[tokio::test]
async fn who_acknowledges_that_the_registry_center_is_lost_is_in_the_audit_of_all_jobs() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let center = memory.connect();
    let SessionState::Connected { id, .. } = *center.session().borrow() else { panic!("it is connected") };
    let registry = crate::Registry::new("default", Arc::new(center));
    let console = crate::Console::new(crate::testing::with_users(), [registry]).expect("the options are right");
    let operator = cookie_of(&console, "operator").await;
    assert_eq!(alarms_for(&console, &operator).await, [] as [Value; 0]);
    memory.suspend(id);
    let catalogue = console.app().registries["default"].catalogue();
    let mut changes = catalogue.changes();
    while catalogue.lost_since().is_none() {
        changes.changed().await.expect("the registry center is there");
    }
    let [alarm] = &alarms_for(&console, &operator).await[..] else { panic!("it is lost") };
    assert_eq!((&alarm["kind"], &alarm["job"]), (&json!("registry-lost"), &Value::Null));
    let path = format!("{ALARMS}/{}/acknowledgement", alarm["id"].as_str().expect("an id"));
    let taken = call(&console, send("PUT", &path, &operator, &json!({"reason": "the network is mended"}))).await;
    assert_eq!(taken.status, 200, "{}", taken.body);
    console.app().registries["default"].close_kept(Duration::from_secs(20)).await;
    let audit = call(&console, request("GET", "/api/v1/registries/default/audit", Some(&operator))).await.body;
    let audit: Value = serde_json::from_str(&audit).expect("JSON");
    let record = &audit["records"][0];
    assert_eq!(
        [&record["action"], &record["job"], &record["who"], &record["reason"], &record["parts"]],
        [
            &json!("acknowledge-alarm"),
            &json!("*"),
            &json!("operator"),
            &json!("the network is mended"),
            &json!(["alarm registry-lost"])
        ]
    );
}

#[tokio::test]
async fn a_job_is_no_alarm_on_the_day_it_was_disabled() {
    let memory = MemoryRegistry::new();
    let _off = start_job(&memory, "off", &JobSettings::default()).await;
    let operations = Operations::new(Arc::new(memory.connect()));
    let target = Target::Job(JobName::new("off").expect("a name"));
    operations.disable_servers(&target).await.expect("it is disabled");
    let console = console_of(&memory);
    let viewer = cookie_of(&console, "viewer").await;
    assert_eq!(alarms_for(&console, &viewer).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_carried_run_that_does_not_start_is_a_concern_at_once_and_an_alarm_after_five_minutes() {
    let memory = MemoryRegistry::new();
    let handler = ItemHandler::new(|_| ItemWork::Async(Box::pin(std::future::pending())));
    let _job = start_job_with(&memory, "settle", &JobSettings::default(), handler).await;
    let job = JobName::new("settle").expect("a name");
    let center = Arc::new(memory.connect());
    let SessionState::Connected { id: session, .. } = *center.session().borrow() else { panic!("not connected") };
    let operations = Operations::new(center);
    operations.trigger(&Target::Job(job.clone())).await.expect("it is triggered");
    let fire = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            let snapshot = operations.snapshot(&job).await.expect("it is there");
            if let Some(fire) = snapshot.items.get(&1).and_then(|item| item.record.last_fire()) {
                return fire;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let fire = fire.await.expect("it begins");
    let console = console_of(&memory);
    let viewer = cookie_of(&console, "viewer").await;
    for (age, is_alarm) in [(60_000, false), (5 * 60_000, true)] {
        let wait = CarriedWait::new(fire, [1], "KUBERNETES", "1 Insufficient cpu", now() - age);
        operations.note_waits(&job, session, &[wait]).await.expect("it is noted");
        let shown = tokio::time::timeout(Duration::from_secs(20), async {
            loop {
                let page = call(&console, request("GET", "/r/default", Some(&viewer))).await.body;
                let alarms = alarms_for(&console, &viewer).await;
                let told = alarms.iter().any(|alarm| alarm["kind"] == "carried-waits");
                if told == is_alarm && page.contains("Launched and not started") {
                    return page;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        let page = shown.await.unwrap_or_else(|_| panic!("{age}: {is_alarm}"));
        assert!(page.contains("KUBERNETES") && page.contains("1 Insufficient cpu"), "{page}");
    }
}

#[tokio::test]
async fn a_run_that_takes_much_longer_than_others_is_an_alarm() {
    let memory = MemoryRegistry::new();
    let folder = Folder::new("long");
    let runs =
        (0..20).map(|number| JobEvent::Execution(run("settle", 0, None, number * 10_000, Some(number * 10_000 + 500))));
    folder.write(runs).await;
    let handler = ItemHandler::new(|_| ItemWork::Async(Box::pin(std::future::pending())));
    let settings = job_settings(|settings| settings.sharding_total_count = Some(1));
    let _job = start_job_with(&memory, "settle", &settings, handler).await;
    let job = JobName::new("settle").expect("a name");
    Operations::new(Arc::new(memory.connect())).trigger(&Target::Job(job)).await.expect("it is triggered");
    let here = here(&folder.console(&memory).await);
    let running = tokio::time::timeout(Duration::from_secs(20), async {
        let mut changes = here.registry.catalogue().changes();
        loop {
            let listed = here.registry.catalogue().jobs().await.expect("they are read");
            if listed.jobs.iter().any(|job| job.running_since.is_some()) {
                return listed;
            }
            changes.changed().await.expect("the catalogue lives");
        }
    });
    let listed = running.await.expect("it begins");
    let since = listed.jobs[0].running_since.expect("it runs");
    let at = async |now| wrong_now(&listed, here.registry.trace_reader(), here.registry.usual_durations(), now).await;
    assert_eq!(at(since + 59_999).await.len(), 0, "not yet");
    let [long] = &at(since + 60_000).await[..] else { panic!("one job runs") };
    let told = (long.kind, long.job.as_ref().map(|job| job.job.as_str()), long.since, long.usual);
    assert_eq!(told, (AlarmKind::RunsLong, Some("settle"), Some(since), Some(500)));
}

#[tokio::test]
async fn a_configuration_that_the_program_of_an_instance_cannot_use_is_an_alarm_that_names_it() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let registry = memory.connect();
    let config = registry.get("/settle/config").await.expect("it is read").expect("it is there");
    let config = format!("{}jobShardingStrategyType: OF_ANOTHER_PROGRAM\n", config.data.text().expect("it is text"));
    let mut transaction = Transaction::new();
    transaction.set("/settle/config", config, None);
    registry.commit(transaction).await.expect("it is written");
    let console = console_of(&memory);
    let viewer = cookie_of(&console, "viewer").await;
    let told = tokio::time::timeout(Duration::from_secs(20), async {
        while !alarms_for(&console, &viewer).await.iter().any(|alarm| alarm["kind"] == "configuration-refused") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    told.await.expect("it is told");
    let page = call(&console, request("GET", "/r/default", Some(&viewer))).await.body;
    assert!(page.contains("goes on with the last one that it could") && page.contains("OF_ANOTHER_PROGRAM"), "{page}");
    let metrics = call(&console, request("GET", "/metrics", Some(&viewer))).await.body;
    assert!(
        metrics.contains("elasticjob_job_refusing_instances{job_name=\"settle\",registry=\"default\"} 1.0"),
        "{metrics}"
    );
}
