//! Items that a scheduler noted and its carrier was not given: the scheduler that takes them over launches them.

use super::*;

/// A scheduler that has an item whose engine it does not reach, and has said so; and one of the same folder that reaches it.
async fn unreachable(cluster: &Cluster) -> (Member, Member) {
    let away = Arc::new(Away::of_host(cluster, "a"));
    let one = cluster.scheduler_with(away.clone()).await;
    one.register(cluster.app("long", "echo begun >>$DIR/runs"), job("long", "long", json!({}))).await;
    away.is_unreachable.store(true, Ordering::SeqCst);
    one.trigger("long").await;
    until("the launch is not taken", || async { away.unlaunched.load(Ordering::SeqCst) > 1 }).await;
    let other = cluster.scheduler("a").await;
    other.until_online("long", 2).await;
    (one, other)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_scheduler_that_leaves_has_not_given_runs_at_the_next_one() {
    let cluster = Cluster::new();
    let (one, other) = unreachable(&cluster).await;
    one.scheduler.shutdown().await;
    other.until_last("long", FireState::Succeeded).await;
    assert_eq!(cluster.lines("runs"), ["begun"]);
    other.scheduler.shutdown().await;
}

#[cfg(feature = "kubernetes")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_scheduler_that_is_killed_has_not_given_runs_at_the_next_one() {
    let cluster = Cluster::new();
    let (one, other) = unreachable(&cluster).await;
    until("it is noted", || async {
        let note = one.center.get(&format!("{LAUNCHED}/long")).await.unwrap().unwrap();
        note.data.text().unwrap().contains(" not-given")
    })
    .await;
    cluster.kill(&one);
    other.until_last("long", FireState::Succeeded).await;
    assert_eq!(cluster.lines("runs"), ["begun"]);
    other.scheduler.shutdown().await;
}
