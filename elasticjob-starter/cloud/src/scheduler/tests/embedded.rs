//! Registrations of an embedded registry center, which are in a file.

use std::path::Path;

use elasticjob::registry::CreateMode;
use futures_util::future::join_all;

use super::*;
use crate::scheduler::nodes::Node;

/// A scheduler with an embedded registry center of its own that keeps the registrations in this file.
async fn start(cluster: &Cluster, copy: &Path) -> Member {
    let environment = JobEnvironment::builder().build().unwrap();
    let center: Arc<dyn RegistryCenter> = Arc::new(MemoryRegistry::new().connect());
    let carrier = ProcessCarrier::new(ProcessOptions::new(cluster.file("work"), "tests")).unwrap();
    let options = SchedulerOptions {
        embedded: Some(copy.to_owned()),
        ..SchedulerOptions::new(environment, center.clone(), Arc::new(carrier))
    };
    Member { scheduler: Scheduler::start(options).await.unwrap(), center }
}

#[tokio::test]
async fn registrations_of_an_embedded_registry_outlive_the_process() {
    let cluster = Cluster::new();
    // Of a carrier without a folder of its own: it is made.
    let copy = cluster.file("kept/registrations.json");
    let first = start(&cluster, &copy).await.scheduler;
    first.store().add_app(cluster.app("long", "true")).await.unwrap();
    first.store().add_job(job("long", "long", json!({ "disabled": true }))).await.unwrap();
    // They have the variables of applications and jobs, which may be secrets.
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(cluster.file("kept")).unwrap().permissions().mode() & 0o777, 0o700);
    let before = first.store().registrations().await.unwrap();
    first.shutdown().await;
    let second = start(&cluster, &copy).await.scheduler;
    assert_eq!(second.store().registrations().await.unwrap(), before);
    assert!(before.is_disabled(&before.jobs[&name("long")]));
    second.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn registrations_that_come_at_the_same_time_are_all_kept() {
    let cluster = Cluster::new();
    let copy = cluster.file("registrations.json");
    let first = start(&cluster, &copy).await.scheduler;
    let store = first.store();
    let names: Vec<String> = (0..40).map(|number| format!("app-{number}")).collect();
    let adds = names.iter().map(|name| {
        tokio::spawn({
            let (store, app) = (store.clone(), cluster.app(name, "true"));
            async move { store.add_app(app).await }
        })
    });
    join_all(adds).await.into_iter().for_each(|added| added.unwrap().unwrap());
    first.shutdown().await;
    let second = start(&cluster, &copy).await.scheduler;
    assert_eq!(second.store().registrations().await.unwrap().apps.len(), names.len());
    second.shutdown().await;
}

#[tokio::test]
async fn a_registration_that_cannot_be_used_here_stays_in_the_file() {
    let cluster = Cluster::new();
    let copy = cluster.file("registrations.json");
    let first = start(&cluster, &copy).await;
    let (path, newer) = (Node::Job(name("newer")).path(), json!({ "jobName": "newer", "shardingTotalCount": "many" }));
    let mut transaction = Transaction::new();
    transaction.create(path.as_str(), newer.to_string().as_str(), CreateMode::Persistent);
    first.center.commit(transaction).await.unwrap();
    first.scheduler.store().add_app(cluster.app("other", "true")).await.unwrap();
    first.scheduler.shutdown().await;
    let second = start(&cluster, &copy).await;
    let kept = second.center.get(&path).await.unwrap().unwrap();
    assert_eq!(kept.data.text(), Some(newer.to_string().as_str()));
    second.scheduler.shutdown().await;
}
