//! Runs that a scheduler with an embedded registry center left behind: the records and the notes are gone with it.

use std::path::Path;

use super::*;
use crate::kubernetes::tests::api_server::{ApiServer, Change, Connection, Fault};
use crate::scheduler::Running;

/// A scheduler with an embedded registry center that keeps the registrations in this file.
async fn scheduler(cluster: &Cluster, connection: &Arc<Connection>, kept: &Path) -> Member {
    let carrier = Arc::new(connection.carrier());
    cluster.scheduler_of(carrier, |options| options.embedded = Some(kept.to_owned())).await
}

/// One that has begun a run.
async fn started(cluster: &Cluster, connection: &Arc<Connection>) -> Member {
    let one = scheduler(cluster, connection, &cluster.file("registrations.json")).await;
    let app = json!({ "appName": "work", "appURL": "oci://shop/work:1", "bootstrapScript": "run", "cpuCount": 0, "memoryMB": 16 });
    one.register(app, job("work", "work", json!({}))).await;
    one.trigger("work").await;
    one
}

/// A scheduler of `after` whose fire waits for a run that a killed one of another cluster left on the server, and of which its registry
/// center has no note.
async fn behind_a_run_without_a_note(server: &Arc<ApiServer>, after: &Cluster) -> (Cluster, Member, Member) {
    let connection = Connection::new(server, None, false);
    let before = Cluster::new();
    let killed = started(&before, &connection).await;
    until("it runs", || async { server.running() == 1 }).await;
    before.kill(&killed);
    let next = started(after, &connection).await;
    until_later_fire_waits(&next).await;
    (before, killed, next)
}

async fn until_later_fire_waits(next: &Member) {
    until("it is told what the later fire waits for", || async {
        let job = next.operations().snapshot(&name("work")).await.unwrap();
        job.findings_of(0, 0).iter().any(|finding| finding.to_string().contains("has not ended"))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_later_fire_waits_for_what_runs_without_a_note() {
    let server = Arc::new(ApiServer::default());
    let after = Cluster::new();
    let (_before, _killed, next) = behind_a_run_without_a_note(&server, &after).await;
    assert_eq!(server.begun()[&0], 1);
    server.end_programs();
    until("the later fire runs", || async { server.begun()[&0] == 2 }).await;
    server.end_programs();
    next.until_last("work", FireState::Succeeded).await;
    next.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_stops_what_runs_without_a_note() {
    let server = Arc::new(ApiServer::default());
    let after = Cluster::new();
    let (_before, _killed, next) = behind_a_run_without_a_note(&server, &after).await;
    let change = json!({ "jobName": "work", "description": "changed" });
    next.scheduler.store().change_job_and(change, Running::IsStopped).await.unwrap();
    // The fire that waits has not begun: it runs with the new settings.
    until("it is stopped, and the later fire runs", || async { server.begun()[&0] == 2 }).await;
    server.end_programs();
    next.until_last("work", FireState::Succeeded).await;
    next.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_stops_what_its_scheduler_could_not_stop_before_it_was_killed_and_nothing_that_begins_later() {
    let server = Arc::new(ApiServer::default());
    let (first, second, third) = (Cluster::new(), Cluster::new(), Cluster::new());
    let kept = first.file("registrations.json");
    let killed_by_the_stop = Connection::new(&server, Some((Change::PatchJob, Fault::RequestLost)), true);
    let one = started(&first, &killed_by_the_stop).await;
    until("it runs", || async { server.running() == 1 }).await;
    let change = json!({ "jobName": "work", "description": "changed" });
    one.scheduler.store().change_job_and(change, Running::IsStopped).await.unwrap();
    assert!(tokio::time::timeout(cluster::MOST, killed_by_the_stop.met()).await.is_ok(), "no stop is tried");
    first.kill(&one);
    assert_eq!(server.running(), 1);
    let connection = Connection::new(&server, None, false);
    let two = scheduler(&second, &connection, &kept).await;
    until("it is stopped", || async { server.running() == 0 }).await;
    two.until_online("work", 1).await;
    two.trigger("work").await;
    until("the next one runs", || async { server.running() == 1 }).await;
    second.kill(&two);
    let three = scheduler(&third, &connection, &kept).await;
    three.until_online("work", 1).await;
    three.trigger("work").await;
    until_later_fire_waits(&three).await;
    assert_eq!(server.running(), 1, "the wish is older than its fire");
    server.end_programs();
    until("the last one runs", || async { server.begun()[&0] == 3 }).await;
    server.end_programs();
    three.until_last("work", FireState::Succeeded).await;
    three.scheduler.shutdown().await;
}
