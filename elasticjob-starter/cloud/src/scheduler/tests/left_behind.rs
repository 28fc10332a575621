//! Runs that a scheduler with an embedded registry center left behind: the records and the notes are gone with it.

use super::*;
use crate::kubernetes::tests::api_server::{ApiServer, Connection};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_later_fire_waits_for_what_runs_without_a_note() {
    let server = Arc::new(ApiServer::default());
    let started = async |cluster: &Cluster| {
        let kept = cluster.file("registrations.json");
        let carrier = Connection::new(&server, None, false).carrier();
        let one = cluster.scheduler_of(Arc::new(carrier), |options| options.embedded = Some(kept)).await;
        let app = json!({ "appName": "work", "appURL": "oci://shop/work:1", "bootstrapScript": "run", "cpuCount": 0, "memoryMB": 16 });
        one.register(app, job("work", "work", json!({}))).await;
        one.trigger("work").await;
        one
    };
    let (before, after) = (Cluster::new(), Cluster::new());
    let killed = started(&before).await;
    until("it runs", || async { server.running() == 1 }).await;
    before.kill(&killed);
    let next = started(&after).await;
    until("it is told what the later fire waits for", || async {
        let job = next.operations().snapshot(&name("work")).await.unwrap();
        job.findings_of(0, 0).iter().any(|finding| finding.to_string().contains("has not ended"))
    })
    .await;
    assert_eq!(server.begun()[&0], 1);
    server.end_programs();
    until("the later fire runs", || async { server.begun()[&0] == 2 }).await;
    server.end_programs();
    next.until_last("work", FireState::Succeeded).await;
    next.scheduler.shutdown().await;
}
