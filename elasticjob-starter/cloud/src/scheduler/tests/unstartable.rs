//! Registrations of jobs that this program cannot start, as it does not have what they name.

use super::*;
use crate::scheduler::nodes::Node;

fn fields(refused: Result<(), StoreError>) -> Vec<String> {
    match refused {
        Err(StoreError::Invalid(problems)) => problems.0.into_iter().map(|problem| problem.field).collect(),
        other => panic!("it is not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_job_that_could_not_be_started_is_refused_with_the_field_that_is_wrong() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let store = one.scheduler.store();
    store.add_app(cluster.app("a", "true")).await.unwrap();
    let unknown = json!({ "jobErrorHandlerType": "WECHATT" });
    assert_eq!(fields(store.add_job(job("j", "a", unknown.clone())).await), ["jobErrorHandlerType"]);
    store.add_job(job("j", "a", json!({}))).await.unwrap();
    let changed = |handler: &str| json!({ "jobName": "j", "jobErrorHandlerType": handler });
    assert_eq!(fields(store.change_job(changed("WECHATT")).await), ["jobErrorHandlerType"]);
    store.change_job(changed("THROW")).await.unwrap();
    let handlers = JobEnvironment::builder().build().unwrap().catalog().error_handlers().clone();
    if handlers.get("WECHAT").is_ok() {
        assert_eq!(fields(store.change_job(changed("WECHAT")).await), ["props.wechat.webhook"]);
    }
    // The program of a DAEMON job has handlers of its own.
    let daemon =
        json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?", "disabled": true, "jobErrorHandlerType": "OWN" });
    store.add_job(job("d", "a", daemon)).await.unwrap();
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_goes_on_as_it_was_when_its_change_cannot_be_started() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    one.register(cluster.app("short", "echo begun >>$DIR/runs"), job("short", "short", json!({}))).await;
    let path = Node::Job(name("short")).path();
    let good = one.center.get(&path).await.unwrap().unwrap();
    // As a scheduler wrote it that has such a handler.
    let mut other: Value = serde_json::from_str(good.data.text().unwrap()).unwrap();
    other["jobErrorHandlerType"] = json!("OWN");
    let write = async |text: &str| {
        let mut transaction = Transaction::new();
        transaction.set(path.as_str(), text, None);
        one.center.commit(transaction).await.unwrap();
    };
    write(&other.to_string()).await;
    until("it is told", || async {
        one.scheduler.troubles().get(&name("short")).is_some_and(|why| why.contains("goes on as it was before"))
    })
    .await;
    one.trigger("short").await;
    one.until_last("short", FireState::Succeeded).await;
    write(good.data.text().unwrap()).await;
    until("nothing is wrong any more", || async { one.scheduler.troubles().is_empty() }).await;
    one.trigger("short").await;
    until("it runs again", || async { cluster.lines("runs").len() == 2 }).await;
    one.scheduler.shutdown().await;
}
