//! Processes of `DAEMON` jobs.

use super::*;
use crate::scheduler::Running;
use crate::scheduler::nodes::KEPT;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_of_a_daemon_live_as_long_as_it_is_registered_and_enabled() {
    let cluster = Cluster::new();
    let members = [cluster.scheduler("a").await, cluster.scheduler("b").await];
    let daemon = json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?", "instances": 2 });
    let store = members[0].scheduler.store();
    store.add_app(cluster.app("resident", "exec sleep 600")).await.unwrap();
    store.add_job(job("resident", "resident", daemon)).await.unwrap();
    let resident = name("resident");
    let kept = async || {
        let mut kept = 0;
        for member in &members {
            kept += member.scheduler.carrier().kept(&resident).await.unwrap().len();
        }
        kept
    };
    until("both processes are there", || async { kept().await == 2 }).await;
    store.switch_app("resident", false).await.unwrap();
    until("none is there", || async { kept().await == 0 }).await;
    store.switch_app("resident", true).await.unwrap();
    until("they are there again", || async { kept().await == 2 }).await;
    store.remove_job(&resident).await.unwrap();
    until("none is there any more", || async { kept().await == 0 }).await;
    for member in members {
        member.scheduler.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_of_a_removed_daemon_are_ended_by_the_next_scheduler_of_their_place() {
    let cluster = Cluster::new();
    let first = cluster.scheduler("a").await;
    let daemon = json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?" });
    let app = cluster.app("resident", "echo $$ >$DIR/pid; exec sleep 600");
    first.scheduler.store().add_app(app).await.unwrap();
    first.scheduler.store().add_job(job("resident", "resident", daemon)).await.unwrap();
    until("it is there", || async { !cluster.lines("pid").is_empty() }).await;
    let pid = cluster.lines("pid").remove(0);
    let is_alive = || PathBuf::from("/proc").join(&pid).exists();
    first.scheduler.shutdown().await;
    assert!(is_alive(), "it goes on");
    // A scheduler of another place cannot end it.
    let other = cluster.scheduler("b").await;
    other.scheduler.store().remove_job(&name("resident")).await.unwrap();
    let next = cluster.scheduler("a").await;
    until("it is ended", || async { !is_alive() }).await;
    until("no note is left", || async { next.center.children(KEPT).await.unwrap() == Some(Vec::new()) }).await;
    for member in [next, other] {
        member.scheduler.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_of_a_daemon_that_becomes_another_type_are_ended() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let daemon = json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?" });
    let store = one.scheduler.store();
    store.add_app(cluster.app("resident", "exec sleep 600")).await.unwrap();
    store.add_job(job("resident", "resident", daemon)).await.unwrap();
    let resident = name("resident");
    let kept = async || one.scheduler.carrier().kept(&resident).await.unwrap().len();
    until("it is there", || async { kept().await == 1 }).await;
    store.change_job(json!({ "jobName": "resident", "jobExecutionType": "TRANSIENT" })).await.unwrap();
    until("it is ended", || async { kept().await == 0 }).await;
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_of_a_daemon_are_ended_and_started_again_where_that_is_wished_and_nothing_changes() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let daemon = json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?", "instances": 2 });
    let store = one.scheduler.store();
    store.add_app(cluster.app("resident", "echo $$ >>$DIR/pids; exec sleep 600")).await.unwrap();
    store.add_job(job("resident", "resident", daemon)).await.unwrap();
    until("both are there", || async { cluster.lines("pids").len() == 2 }).await;
    let is_alive = |pid: &String| PathBuf::from("/proc").join(pid).exists();
    for times in 1..=2 {
        let before = cluster.lines("pids");
        let change = json!({ "jobName": "resident" });
        store.change_job_and(change, Running::IsStopped).await.unwrap();
        until("they are started again", || async { cluster.lines("pids").len() == 2 * (times + 1) }).await;
        assert!(!before.iter().any(is_alive), "none goes on");
    }
    // A scheduler that takes over finds the wish obeyed.
    one.scheduler.shutdown().await;
    let next = cluster.scheduler("a").await;
    until("it has them", || async { next.scheduler.carrier().kept(&name("resident")).await.unwrap().len() == 2 }).await;
    next.scheduler.store().change_job(json!({ "jobName": "resident", "description": "other" })).await.unwrap();
    until("the change starts them again", || async { cluster.lines("pids").len() == 8 }).await;
    next.scheduler.store().remove_job(&name("resident")).await.unwrap();
    until("they are ended", || async { !cluster.lines("pids").iter().any(is_alive) }).await;
    next.scheduler.shutdown().await;
}
