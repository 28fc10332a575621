//! Tests of `elasticjob why` for a past fire.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use elasticjob::api::{ShardingContext, item_handler};
use elasticjob::config::JobConfiguration;
use elasticjob::ident::JobName;
use elasticjob::operations::{Audit, Operations};
use elasticjob::registry::RegistryCenter;
use elasticjob::runtime::{JobEnvironment, ScheduleJobBootstrap, ShutdownMode};
use elasticjob::trace::{
    AnyTraceReader, DecisionFilter, DecisionKind, DecisionRecord, PageRequest, TraceReader, TracingConfiguration,
};
use serde_json::Value;
use tokio::time::{Duration, sleep, timeout};

use super::trace_database::TraceDatabase;
use crate::past::past;

/// Everything that a test waits for happens within this time, or never.
const LIMIT: Duration = Duration::from_secs(20);

struct Desk {
    operations: Operations,
    reader: AnyTraceReader,
    job: JobName,
}

impl Desk {
    async fn text(&self, item: Option<u32>, at: DateTime<Utc>) -> String {
        past(&self.operations, &self.reader, &self.job, item, at, false).await.unwrap()
    }

    async fn json(&self, at: DateTime<Utc>) -> Value {
        let json = past(&self.operations, &self.reader, &self.job, None, at, true).await.unwrap();
        serde_json::from_str(&json).unwrap()
    }

    /// The time of the first fire that item 1 was not run for.
    async fn skipped(&self) -> DateTime<Utc> {
        let mut filter = DecisionFilter::of_job(self.job.clone());
        filter.kinds = vec![DecisionKind::Skipped];
        loop {
            let page = self.reader.decisions(&filter, &PageRequest::default()).await.unwrap();
            // On a busy machine a fire of before the registration is skipped, too.
            let is_meant = |record: &&DecisionRecord| {
                record.sharding_items == [1] && record.detail.get("code").is_some_and(|code| code == "item-disabled")
            };
            if let Some(record) = page.records.iter().find(is_meant) {
                return record.scheduled_at.expect("it is of a fire");
            }
            sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test]
async fn a_fire_that_was_not_run_is_explained_when_all_is_over() {
    let database = TraceDatabase::new("past");
    let storage = database.storage().await;
    let environment = JobEnvironment::builder().build().unwrap().with_tracing(TracingConfiguration::new(storage));
    let registry: Arc<dyn RegistryCenter> = environment.embedded_registry();
    let tracing = environment.tracing().unwrap().clone();
    let audit = Audit::new(tracing, "alice@build7").reason("disk full");
    let operations = Operations::new(registry.clone()).audited(audit);
    let configuration = JobConfiguration::builder("tick", 2).cron("* * * * * ?").time_zone("UTC").build().unwrap();
    let handler = item_handler(|_: ShardingContext| async {});
    let mut job = ScheduleJobBootstrap::new(&environment, registry, configuration, handler).unwrap();
    job.schedule().await.unwrap();
    let mut status = job.handle().status();
    timeout(LIMIT, status.wait_for(|status| status.fires > 0)).await.unwrap().unwrap();
    let name = JobName::new("tick").unwrap();
    operations.disable_item(&name, 1).await.unwrap();
    let reader = database.reader().await;
    let desk = Desk { operations, reader, job: name };
    let fire = timeout(LIMIT, desk.skipped()).await.expect("the item is skipped");
    job.shutdown(ShutdownMode::Graceful).await;
    environment.tracing().unwrap().close(LIMIT).await;

    let text = desk.text(None, fire).await;
    let head = format!("job tick, fire of {}\n", fire.format("%Y-%m-%dT%H:%M:%S+00:00"));
    assert!(text.starts_with(&head), "{text}");
    for part in
        ["item 0\n  - NORMAL_TRIGGER on ", " succeeded after ", "item 1\n  ! ", ": not run here: the item is disabled"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let after = text.split("around it\n").nth(1).expect("the group has decided something");
    assert!(after.contains(": assigned the items: 0: ") && after.contains(": left the group"), "{text}");
    assert!(text.contains(" operator alice@build7: disable-item item 1, ENABLED -> DISABLED: disk full\n"), "{text}");
    assert!(!desk.text(Some(1), fire).await.contains("item 0"));

    let json = desk.json(fire).await;
    assert_eq!((&json["fire"], &json["inSchedule"]), (&fire.timestamp_millis().into(), &true.into()), "{json}");
    let skipped = &json["items"]["1"][0];
    assert_eq!((&skipped["kind"], &skipped["detail"]["code"]), (&"SKIPPED".into(), &"item-disabled".into()), "{json}");
    assert_eq!((&json["items"]["0"][0]["kind"], &skipped["obstacle"]), (&"RUN".into(), &true.into()), "{json}");

    // The job has an item more now: of that one nothing is recorded.
    let stored = desk.operations.configuration(&desk.job).await.unwrap();
    let mut settings = stored.configuration.settings();
    settings.sharding_total_count = Some(3);
    desk.operations.update_configuration(&stored, &settings).await.unwrap();
    let more = desk.text(None, fire).await;
    assert!(more.contains("item 2\n  ! no run and no decision is recorded for this item"), "{more}");
    assert!(desk.text(Some(2), fire).await.contains("item 2\n  ! no run"));

    // A time that is no fire means the next one.
    let before = fire - chrono::TimeDelta::milliseconds(400);
    assert_eq!(desk.json(before).await["fire"], json["fire"]);
    let nothing = desk.text(None, fire - chrono::TimeDelta::days(1)).await;
    assert!(nothing.contains("! no run and no decision is recorded for it"), "{nothing}");
    let to_come = desk.text(None, fire + chrono::TimeDelta::days(1)).await;
    assert!(to_come.contains("  - its time is to come\n") && !to_come.contains("is recorded for it"), "{to_come}");
}
