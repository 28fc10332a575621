//! A scheduler that let go of an item starts it no more, also where the item waits for room on its host.

use std::fs;
use std::sync::Arc;

use elasticjob::fire::Attempt;
use elasticjob::registry::{SessionId, SessionState};
use serde_json::json;

use super::cluster::{Cluster, Member, job, name, until};
use super::{ItemState, LaunchId, UNTIL_TOLD};
use crate::process::{MemoryLimit, ProcessCarrier, ProcessOptions};

/// A scheduler of a host with one CPU.
async fn scheduler(cluster: &Cluster, host: &str) -> Member {
    let options = ProcessOptions::new(cluster.file(host), "tests");
    let options = ProcessOptions { cpus: Some(1.0), memory: MemoryLimit::Off, ..options };
    cluster.scheduler_with(Arc::new(ProcessCarrier::new(options).unwrap())).await
}

/// The state of item 0 of the only launch of a job, as the carrier of this scheduler has it.
async fn state(member: &Member, job: &str) -> Option<ItemState> {
    let carrier = member.scheduler.carrier();
    let ids: Vec<LaunchId> = carrier.launches_of(&name(job)).await.unwrap();
    carrier.states(ids.first()?).await.unwrap()?.remove(&0)
}

/// The session of a scheduler, while it is connected.
fn session(member: &Member) -> Option<SessionId> {
    match *member.center.session().borrow() {
        SessionState::Connected { id, .. } => Some(id),
        _ => None,
    }
}

/// The attempt that began the last run of item 0.
async fn begun(member: &Member, job: &str) -> Attempt {
    member.record(job).await.unwrap().last.unwrap().attempt
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_waits_for_room_is_not_started_once_another_scheduler_has_it() {
    let cluster = Cluster::new();
    let first = scheduler(&cluster, "a").await;
    first.register(cluster.app("busy", UNTIL_TOLD), job("busy", "busy", json!({ "cpuCount": 1 }))).await;
    first.trigger("busy").await;
    until("the host is full", || async { cluster.lines("runs").len() == 1 }).await;
    let late = cluster.app("late", "echo begun >>$DIR/late; while [ ! -e $DIR/end-late ]; do sleep 0.05; done");
    first.register(late, job("late", "late", json!({ "cpuCount": 1, "failover": true }))).await;
    first.trigger("late").await;
    until("it waits for room", || async { matches!(state(&first, "late").await, Some(ItemState::Waiting { .. })) })
        .await;
    let second = scheduler(&cluster, "b").await;
    until("both are online", || async {
        second.operations().snapshot(&name("late")).await.unwrap().instances().count() == 2
    })
    .await;
    // Where the first one is back before the second one has heard of it, it takes the item over itself, and loses it again.
    while cluster.lines("late").is_empty() {
        let before = begun(&first, "late").await;
        until("the first host is connected", || async { session(&first).is_some() }).await;
        session(&first).into_iter().for_each(|id| cluster.registry.expire(id));
        until("it is taken over", || async { begun(&first, "late").await != before }).await;
        if session(&second) == begun(&first, "late").await.session() {
            until("the other host runs it", || async { cluster.lines("late").len() == 1 }).await;
        }
    }
    // The first host has room again.
    fs::write(cluster.file("end"), "").unwrap();
    until("the first host is idle", || async {
        state(&first, "busy").await.is_none_or(|state| state.outcome().is_some())
    })
    .await;
    until("the first host does not wait with it", || async {
        !matches!(state(&first, "late").await, Some(ItemState::Waiting { .. }))
    })
    .await;
    assert_eq!(state(&first, "late").await, Some(ItemState::LetGo));
    assert_eq!(cluster.lines("late"), ["begun"]);
    fs::write(cluster.file("end-late"), "").unwrap();
    second.until_last("late", elasticjob::fire::FireState::Succeeded).await;
    for member in [first, second] {
        member.scheduler.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_waits_for_room_runs_after_an_update_though_it_may_not_run_twice() {
    let cluster = Cluster::new();
    let one = scheduler(&cluster, "a").await;
    one.register(cluster.app("busy", UNTIL_TOLD), job("busy", "busy", json!({ "cpuCount": 1 }))).await;
    one.trigger("busy").await;
    until("the host is full", || async { cluster.lines("runs").len() == 1 }).await;
    one.register(cluster.app("late", "echo begun >>$DIR/late"), job("late", "late", json!({ "cpuCount": 1 }))).await;
    one.trigger("late").await;
    until("it waits for room", || async { matches!(state(&one, "late").await, Some(ItemState::Waiting { .. })) }).await;
    let before = begun(&one, "late").await;
    one.scheduler.store().change_job(json!({ "jobName": "late", "cpuCount": 0.5 })).await.unwrap();
    until("it is begun again, as the update has restarted its job", || async { begun(&one, "late").await != before })
        .await;
    fs::write(cluster.file("end"), "").unwrap();
    one.until_last("late", elasticjob::fire::FireState::Succeeded).await;
    assert_eq!(cluster.lines("late"), ["begun"]);
    one.scheduler.shutdown().await;
}
