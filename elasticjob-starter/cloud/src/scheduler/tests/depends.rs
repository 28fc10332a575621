//! Jobs that run after others: carried jobs after carried ones and after jobs of programs.

use std::collections::BTreeMap;
use std::sync::Mutex;

use elasticjob::api::{ItemHandler, ShardingContext, item_handler};
use elasticjob::config::JobConfiguration;
use elasticjob::operations::Reason;
use elasticjob::runtime::{ScheduleJobBootstrap, ShutdownMode};

use super::*;
use crate::model::Problems;

/// Notes the job, the time of the fire and the item.
const NOTE: &str = "echo \"$ELASTICJOB_JOB_NAME $ELASTICJOB_SCHEDULED_AT $ELASTICJOB_SHARDING_ITEM\" >>$DIR/runs";

/// It fires next year.
const NEVER: &str = "0 0 3 1 1 ? 2225";

async fn refused(stored: Result<(), StoreError>) -> String {
    match stored {
        Err(StoreError::Invalid(Problems(problems))) => {
            assert!(problems.iter().all(|problem| problem.field == "dependsOn"), "{problems:?}");
            problems.iter().map(|problem| problem.reason.as_str()).collect::<Vec<_>>().join("; ")
        }
        other => panic!("it is not refused by its content: {other:?}"),
    }
}

/// The fires of a job that ran, each with its items.
fn fires(cluster: &Cluster, job: &str) -> BTreeMap<String, Vec<String>> {
    let mut fires: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in cluster.lines("runs") {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] == job {
            fires.entry(words[1].to_owned()).or_default().push(words[2].to_owned());
        }
    }
    fires.values_mut().for_each(|items| items.sort_unstable());
    fires
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_runs_all_its_items_once_after_each_fire_of_the_job_before_it() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let store = one.scheduler.store();
    store.add_app(cluster.app("a", NOTE)).await.unwrap();
    let failing = "echo \"bad $ELASTICJOB_SCHEDULED_AT 0\" >>$DIR/runs; exit 1";
    store.add_app(cluster.app("bad", failing)).await.unwrap();
    // They are registered before the job that they follow. Where a run is slow, the fires that fell into it collapse into the latest.
    let after = json!({ "dependsOn": [{ "job": "first" }], "shardingTotalCount": 2, "misfire": true });
    store.add_job(job("second", "a", after)).await.unwrap();
    store.add_job(job("bad", "bad", json!({ "dependsOn": "second", "misfire": true }))).await.unwrap();
    let sorry = json!({ "dependsOn": "bad when failed, second", "misfire": true });
    store.add_job(job("sorry", "a", sorry)).await.unwrap();
    store.add_job(job("never", "a", json!({ "dependsOn": "bad" }))).await.unwrap();
    let first = job("first", "a", json!({ "cron": "0/2 * * * * ?", "shardingTotalCount": 3 }));
    store.add_job(first).await.unwrap();
    until("the last job of the chain ran three times", || async { fires(&cluster, "sorry").len() >= 3 }).await;
    store.change_job(json!({ "jobName": "first", "cron": NEVER })).await.unwrap();
    until("it fires no more, and none of its items runs", || async {
        let snapshot = one.operations().snapshot(&name("first")).await.unwrap();
        let configuration = snapshot.configuration.as_ref().and_then(|it| it.as_ref().ok());
        let cron = configuration.and_then(|it| it.settings().cron);
        cron.as_deref() == Some(NEVER) && snapshot.items.values().all(|item| item.record.running().is_none())
    })
    .await;
    let last = |job| fires(&cluster, job).into_keys().next_back();
    until("the latest fire is followed", || async { last("first") == last("sorry") }).await;
    let expected: [(&str, &[&str]); 4] =
        [("first", &["0", "1", "2"]), ("second", &["0", "1"]), ("bad", &["0"]), ("sorry", &["0"])];
    let lines = cluster.lines("runs");
    for (before, (job, items)) in [None, Some("first"), Some("second"), Some("bad")].into_iter().zip(expected) {
        for (at, ran) in fires(&cluster, job) {
            assert_eq!(ran, items, "{job} at {at}: {lines:?}");
            let of = |job: &str| lines.iter().position(|line| line.starts_with(&format!("{job} {at}")));
            assert!(before.is_none_or(|before| of(before).is_some_and(|place| Some(place) < of(job))), "{lines:?}");
        }
    }
    assert_eq!(fires(&cluster, "never").len(), 0);
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_is_launched_when_the_item_before_it_has_ended_while_others_go_on() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let store = one.scheduler.store();
    let slow =
        format!("{NOTE}; if [ $ELASTICJOB_SHARDING_ITEM = 1 ]; then while [ ! -e $DIR/end ]; do sleep 0.05; done; fi");
    store.add_app(cluster.app("slow", &slow)).await.unwrap();
    let after = json!({ "dependsOn": "first items same", "shardingTotalCount": 3 });
    one.register(cluster.app("a", NOTE), job("second", "a", after)).await;
    // One fire: the next one of an item may hide from the job after it how the item ended.
    let soon = (chrono::Utc::now() + chrono::TimeDelta::seconds(5)).format("%-S %-M %-H %-d %-m ? %Y").to_string();
    let first = job("first", "slow", json!({ "cron": soon, "timeZone": "UTC", "shardingTotalCount": 3 }));
    store.add_job(first).await.unwrap();
    until("items 0 and 2 of the second job ran", || async {
        fires(&cluster, "second").into_values().next().is_some_and(|items| items == ["0", "2"])
    })
    .await;
    // Item 1 of the first job runs all the time.
    let first = fires(&cluster, "first").into_keys().next().unwrap();
    assert_eq!(fires(&cluster, "second").into_keys().collect::<Vec<_>>(), [first.as_str()]);
    fs::write(cluster.file("end"), "").unwrap();
    until("item 1 follows", || async {
        fires(&cluster, "second").get(&first).is_some_and(|items| items == &["0", "1", "2"])
    })
    .await;
    one.scheduler.shutdown().await;
}

/// A job of a program, which notes in which fires it ran.
async fn lite(
    cluster: &Cluster,
    configuration: JobConfiguration,
    ran: Arc<Mutex<Vec<String>>>,
) -> ScheduleJobBootstrap {
    let environment = JobEnvironment::builder().build().unwrap();
    let handler: ItemHandler = item_handler(move |context: ShardingContext| {
        ran.lock().unwrap().push(context.scheduled_at().timestamp().to_string());
        async {}
    });
    let center: Arc<dyn RegistryCenter> = Arc::new(cluster.registry.connect());
    let mut started = ScheduleJobBootstrap::new(&environment, center, configuration, handler).unwrap();
    started.schedule().await.unwrap();
    started
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn carried_jobs_and_jobs_of_programs_follow_each_other() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let store = one.scheduler.store();
    let (ran, ran_last) = (Arc::default(), Arc::<Mutex<Vec<String>>>::default());
    let of = |name: &str| JobConfiguration::builder(name, 2);
    let mut before = lite(&cluster, of("before").cron("0/2 * * * * ?").build().unwrap(), Arc::clone(&ran)).await;
    store.add_app(cluster.app("a", NOTE)).await.unwrap();
    store.add_job(job("carried", "a", json!({ "dependsOn": "before" }))).await.unwrap();
    let last = of("last").depends_on(["carried when ended"]).build().unwrap();
    let mut last = lite(&cluster, last, ran_last.clone()).await;
    until("the last job has run", || async { ran_last.lock().unwrap().len() >= 2 }).await;
    assert!(!fires(&cluster, "carried").is_empty());
    let known = ran.lock().unwrap().clone();
    assert!(ran_last.lock().unwrap().iter().all(|at| known.contains(at)));
    before.shutdown(ShutdownMode::Now).await;
    last.shutdown(ShutdownMode::Now).await;
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cycle_is_refused_at_registration_and_at_a_change_also_through_jobs_of_programs_and_disabled_ones() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let store = one.scheduler.store();
    store.add_app(cluster.app("a", "true")).await.unwrap();
    let add = |name: &'static str, more: Value| store.add_job(job(name, "a", more));
    add("extract", json!({ "cron": NEVER, "disabled": true })).await.unwrap();
    add("load", json!({ "dependsOn": "extract", "disabled": true })).await.unwrap();
    let change = json!({ "jobName": "extract", "cron": null, "dependsOn": ["load when ended"] });
    let why = refused(store.change_job(change.clone()).await).await;
    assert!(why.contains("extract -> load -> extract"), "{why}");
    // A job of a program is in between.
    let between = JobConfiguration::builder("between", 1).depends_on(["load"]).build().unwrap();
    let mut between = lite(&cluster, between, Arc::default()).await;
    let through = json!({ "jobName": "extract", "cron": null, "dependsOn": "between" });
    let why = refused(store.change_job(through).await).await;
    assert!(why.contains("extract -> between -> load -> extract"), "{why}");
    // Nobody knows it yet: it is waited for, and may not close a cycle itself.
    add("tidy", json!({ "dependsOn": "later when failed" })).await.unwrap();
    let why = refused(add("later", json!({ "dependsOn": ["extract", "tidy"] })).await).await;
    assert!(why.contains("later -> tidy -> later"), "{why}");
    // What is taken out of the cycle first makes room.
    store.change_job(json!({ "jobName": "load", "dependsOn": null })).await.unwrap();
    store.change_job(change).await.unwrap();
    between.shutdown(ShutdownMode::Now).await;
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_registrations_at_the_same_time_that_close_a_cycle_one_is_refused() {
    let cluster = Cluster::new();
    let (one, two) = (cluster.scheduler("a").await, cluster.scheduler("a").await);
    one.scheduler.store().add_app(cluster.app("a", "true")).await.unwrap();
    let after = |name: &str, before: &str| job(name, "a", json!({ "dependsOn": before, "disabled": true }));
    for round in 0..30 {
        let (a, b) = (format!("a{round}"), format!("b{round}"));
        let (first, second) =
            tokio::join!(one.scheduler.store().add_job(after(&a, &b)), two.scheduler.store().add_job(after(&b, &a)),);
        let ended = [first, second];
        assert_eq!(ended.iter().filter(|ended| ended.is_ok()).count(), 1, "{ended:?}");
    }
    one.scheduler.shutdown().await;
    two.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn item_by_item_needs_as_many_items_and_names_both_jobs() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let store = one.scheduler.store();
    store.add_app(cluster.app("a", "true")).await.unwrap();
    store.add_job(job("extract", "a", json!({ "cron": NEVER, "shardingTotalCount": 3 }))).await.unwrap();
    let same = json!({ "dependsOn": "extract items same", "shardingTotalCount": 2 });
    let why = refused(store.add_job(job("load", "a", same)).await).await;
    assert!(
        why.contains("job 'extract' has: that has 3 and this one 2; change shardingTotalCount of 'extract'"),
        "{why}"
    );
    let same = json!({ "dependsOn": "extract items same", "shardingTotalCount": 3 });
    store.add_job(job("load", "a", same)).await.unwrap();
    refused(store.change_job(json!({ "jobName": "load", "shardingTotalCount": 4 })).await).await;
    one.until_online("load", 1).await;
    // The job before it is changed first. While they differ, other changes of the job after it are taken, and `why` says so.
    store.change_job(json!({ "jobName": "extract", "shardingTotalCount": 4 })).await.unwrap();
    store.change_job(json!({ "jobName": "load", "description": "it waits" })).await.unwrap();
    until("why says that the totals differ", || async {
        let Ok(snapshot) = one.operations().snapshot(&name("load")).await else { return false };
        let findings = snapshot.findings(chrono::Utc::now().timestamp_millis());
        findings.iter().any(|finding| matches!(finding.reason, Reason::TotalsDiffer { of_job: 4, own: 3, .. }))
    })
    .await;
    store.change_job(json!({ "jobName": "load", "shardingTotalCount": 4 })).await.unwrap();
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_past_fire_is_run_again_with_the_jobs_after_it() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let store = one.scheduler.store();
    store.add_app(cluster.app("a", NOTE)).await.unwrap();
    store.add_job(job("second", "a", json!({ "dependsOn": "first" }))).await.unwrap();
    store.add_job(job("first", "a", json!({ "cron": "0/3 * * * * ?" }))).await.unwrap();
    until("the second job ran", || async { !fires(&cluster, "second").is_empty() }).await;
    let at = fires(&cluster, "second").into_keys().next().unwrap();
    let fire = chrono::DateTime::parse_from_rfc3339(&at).unwrap().timestamp_millis();
    one.operations().rerun(&name("first"), fire).await.unwrap();
    for job in ["first", "second"] {
        until("both ran a second time for this fire", || async {
            fires(&cluster, job).get(&at).is_some_and(|items| items == &["0", "0"])
        })
        .await;
    }
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_waits_for_one_that_is_removed_until_it_is_registered_again() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let store = one.scheduler.store();
    store.add_app(cluster.app("a", NOTE)).await.unwrap();
    store.add_job(job("second", "a", json!({ "dependsOn": "first" }))).await.unwrap();
    let first = job("first", "a", json!({ "cron": "* * * * * ?" }));
    store.add_job(first.clone()).await.unwrap();
    until("the second job ran", || async { !fires(&cluster, "second").is_empty() }).await;
    store.remove_job(&name("first")).await.unwrap();
    until("its nodes are removed", || async { one.operations().snapshot(&name("first")).await.is_err() }).await;
    let graph = one.operations().graph(None).await.unwrap();
    let gone = graph.jobs.iter().find(|job| job.job == name("first")).unwrap();
    assert!(!gone.exists);
    let before = fires(&cluster, "first").len();
    store.add_job(first).await.unwrap();
    until("the second job follows again", || async {
        let of_first: Vec<String> = fires(&cluster, "first").into_keys().skip(before).collect();
        let of_second = fires(&cluster, "second");
        of_first.iter().any(|at| of_second.contains_key(at))
    })
    .await;
    one.scheduler.shutdown().await;
}
