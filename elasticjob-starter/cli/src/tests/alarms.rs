//! Tests of `elasticjob alarms`.

use std::sync::Arc;

use elasticjob::ident::JobName;
use elasticjob::operations::Audit;
use elasticjob::registry::memory::{MemoryRegistry, MemoryRegistryCenter};
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use elasticjob::trace::{AnyTraceReader, Tracing, TracingConfiguration};
use serde_json::{Value, json};
use tokio::time::Duration;

use super::trace_database::TraceDatabase;
use super::*;

const CONFIG: &str = "cron: 0 0 0 1 1 ?\nshardingTotalCount: 1\ntimeZone: GMT\n";

/// A job without an instance, and one whose item has failed, with the session of its instance.
async fn jobs() -> (MemoryRegistry, MemoryRegistryCenter) {
    let registry = MemoryRegistry::new();
    let failed = r#"{"through":7,"last":{"at":7,"instance":"10.0.0.1@-@7","attempt":"2a-1","began":7,"state":"FAILED","ended":9,"took":2,"error":"no disk"}}"#;
    let mut nodes = Transaction::new();
    for (path, data) in [
        ("/gone", ""),
        ("/gone/config", CONFIG),
        ("/gone/servers", ""),
        ("/gone/servers/10.0.0.1", "ENABLED"),
        ("/tick", ""),
        ("/tick/config", CONFIG),
        ("/tick/servers", ""),
        ("/tick/servers/10.0.0.1", "ENABLED"),
        ("/tick/instances", ""),
        ("/tick/instances/10.0.0.1@-@7", ""),
        ("/tick/leader", ""),
        ("/tick/leader/election", ""),
        ("/tick/leader/election/instance", "10.0.0.1@-@7"),
        ("/tick/sharding", ""),
        ("/tick/sharding/0", ""),
        ("/tick/sharding/0/instance", "10.0.0.1@-@7"),
        ("/tick/sharding/0/fire", failed),
    ] {
        let lives = path.contains("@-@") && path.starts_with("/tick/instances/");
        nodes.create(path, data, if lives { CreateMode::Ephemeral } else { CreateMode::Persistent });
    }
    let instance = registry.connect();
    instance.commit(nodes).await.unwrap();
    (registry, instance)
}

async fn says(registry: &MemoryRegistry, reader: Option<&AnyTraceReader>, as_json: bool) -> String {
    crate::alarms::alarms(Arc::new(registry.connect()), reader, as_json).await.unwrap().0
}

#[tokio::test]
async fn what_is_wrong_is_told_with_the_names_of_the_rest_api_the_most_urgent_first() {
    let (registry, _instance) = jobs().await;
    let table = says(&registry, None, false).await;
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines[0].starts_with("KIND     JOB   SINCE") && lines[0].ends_with("WHY"), "{table}");
    assert!(lines[1].starts_with("crashed  gone  ") && lines[1].contains("no instance"), "{table}");
    assert!(lines[2].starts_with("failing  tick  ") && lines[2].contains("item 0: no disk"), "{table}");
    let told: Value = serde_json::from_str(&says(&registry, None, true).await).unwrap();
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&told[0]), ["disabledBy", "failedItems", "job", "kind", "obstacles", "since", "usual"], "{told}");
    assert_eq!((&told[0]["failedItems"], &told[1]["failedItems"]), (&json!({}), &json!({ "0": "no disk" })), "{told}");
    let obstacle = &told[0]["obstacles"][0];
    assert_eq!(names(obstacle), ["arguments", "code", "item", "obstacle", "remedy", "since", "text"], "{told}");
    assert_eq!(
        (&told[0]["kind"], &told[0]["job"], &told[1]["kind"]),
        (&json!("crashed"), &json!("gone"), &json!("failing"))
    );
    assert_eq!(says(&MemoryRegistry::new(), None, false).await, "KIND  JOB  SINCE  WHY\n", "nothing is wrong");
}

#[tokio::test]
async fn an_alarm_names_the_operator_who_disabled_an_item_of_its_job() {
    let (registry, _instance) = jobs().await;
    let database = TraceDatabase::new("alarms");
    let tracing =
        Tracing::start(TracingConfiguration::new(database.storage().await), &tokio::runtime::Handle::current());
    let audit = Audit::new(tracing.clone(), "alice@build7").reason("the disk is full");
    let operations = Operations::new(Arc::new(registry.connect())).audited(audit);
    operations.disable_item(&JobName::new("tick").unwrap(), 0).await.unwrap();
    tracing.close(Duration::from_secs(20)).await;
    let reader = database.reader().await;
    let told: Value = serde_json::from_str(&says(&registry, Some(&reader), true).await).unwrap();
    assert_eq!(told[1]["disabledBy"], json!({"actor": "alice@build7", "reason": "the disk is full"}), "{told}");
    let table = says(&registry, Some(&reader), false).await;
    assert!(table.contains("item 0: the item is disabled (since "), "{table}");
    assert!(table.trim_end().ends_with("; disabled by alice@build7: the disk is full"), "{table}");
}

#[tokio::test]
async fn a_database_that_is_away_is_a_remark_and_a_wrong_setting_of_it_an_error() {
    let traced =
        [("ELASTICJOB_TRACING_TYPE", "RDB"), ("ELASTICJOB_TRACING_DATA_SOURCE_URL", "sqlite:/no/such/trace.db")];
    let (code, stdout, stderr) = elasticjob(&["alarms"], &traced).await;
    assert_eq!((code, stdout.as_str()), (2, ""), "there is no registry center: {stderr}");
    assert!(stderr.contains("note: which runs take long, and who disabled a job, is not known: "), "{stderr}");

    let (code, stdout, stderr) = elasticjob(&["alarms"], &[("ELASTICJOB_TRACING_TYPE", "NOWHERE")]).await;
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    assert!(stderr.contains("NOWHERE") && !stderr.contains("note: "), "{stderr}");
}
