//! Registrations that this version cannot read: a newer scheduler wrote a field, or a hand made a mistake.

use super::*;
use crate::scheduler::nodes::Node;

/// Adds a field to a registration that no scheduler of this version knows.
async fn spoil(member: &Member, node: Node) {
    let path = node.path();
    let mut value: Value =
        serde_json::from_str(member.center.get(&path).await.unwrap().unwrap().data.text().unwrap()).unwrap();
    value["fieldOfTomorrow"] = json!(1);
    write(member, &path, &value).await;
}

/// Takes the field out again.
async fn mend(member: &Member, node: Node) {
    let path = node.path();
    let mut value: Value =
        serde_json::from_str(member.center.get(&path).await.unwrap().unwrap().data.text().unwrap()).unwrap();
    value.as_object_mut().unwrap().remove("fieldOfTomorrow").unwrap();
    write(member, &path, &value).await;
}

async fn write(member: &Member, path: &str, value: &Value) {
    let mut transaction = Transaction::new();
    transaction.set(path, value.to_string().as_str(), None);
    member.center.commit(transaction).await.unwrap();
}

async fn until_told(member: &Member, job: &str) {
    until("it is told why the registration is not followed", || async {
        member.scheduler.troubles().get(&name(job)).is_some_and(|why| why.contains("fieldOfTomorrow"))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_goes_on_as_it_was_when_its_registration_cannot_be_read() {
    for of_app in [false, true] {
        let cluster = Cluster::new();
        let one = cluster.scheduler("a").await;
        let node = || if of_app { Node::App("long".to_owned()) } else { Node::Job(name("long")) };
        cluster.run_long(&one).await;
        spoil(&one, node()).await;
        until_told(&one, "long").await;
        // A scheduler that starts then knows no earlier registration: it runs nothing, and stops nothing.
        one.scheduler.shutdown().await;
        let next = cluster.scheduler("a").await;
        until_told(&next, "long").await;
        assert_eq!(next.running("long").await, 1, "of the app: {of_app}");
        mend(&next, node()).await;
        next.until_online("long", 1).await;
        assert!(next.scheduler.troubles().is_empty());
        spoil(&next, node()).await;
        until_told(&next, "long").await;
        fs::write(cluster.file("end"), "").unwrap();
        next.until_last("long", FireState::Succeeded).await;
        assert_eq!(cluster.lines("runs"), ["begun"], "of the app: {of_app}");
        // The mark of an operator counts all the same.
        next.scheduler.store().switch_job(&name("long"), false).await.unwrap();
        until("no instance is online", || async {
            next.operations().snapshot(&name("long")).await.unwrap().instances().count() == 0
        })
        .await;
        next.scheduler.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_of_a_daemon_go_on_when_its_registration_cannot_be_read() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let daemon = json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?" });
    let app = cluster.app("resident", "echo $$ >>$DIR/pids; exec sleep 600");
    one.scheduler.store().add_app(app).await.unwrap();
    one.scheduler.store().add_job(job("resident", "resident", daemon)).await.unwrap();
    until("it is there", || async { !cluster.lines("pids").is_empty() }).await;
    spoil(&one, Node::Job(name("resident"))).await;
    until_told(&one, "resident").await;
    one.scheduler.shutdown().await;
    let next = cluster.scheduler("a").await;
    until_told(&next, "resident").await;
    let kept = async || next.scheduler.carrier().kept(&name("resident")).await.unwrap();
    assert_eq!(kept().await.len(), 1);
    mend(&next, Node::Job(name("resident"))).await;
    until("it is looked after again", || async { next.scheduler.troubles().is_empty() }).await;
    assert_eq!(cluster.lines("pids").len(), 1);
    spoil(&next, Node::Job(name("resident"))).await;
    until_told(&next, "resident").await;
    next.scheduler.store().remove_app("resident").await.unwrap();
    until("it is ended", || async { kept().await.is_empty() }).await;
    next.scheduler.shutdown().await;
}
