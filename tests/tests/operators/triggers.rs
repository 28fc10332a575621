//! Manual triggers.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::registry::{CreateMode, Transaction};
use elasticjob_tests::records::{History, Run, now_us};
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{ITEMS, JOB, Operated, every_second};

/// Runs of a fire that no schedule has, since some time.
fn manual(history: &History, since_us: i64) -> Vec<&Run> {
    history.runs.iter().filter(|run| run.began_us >= since_us && run.scheduled_ms % 1_000 != 0).collect()
}

async fn trigger(operated: &Operated) -> i64 {
    // That of an instance that has just joined may still be there.
    operated.number_of("trigger", 0).await;
    let mut transaction = Transaction::new();
    if operated.node("trigger").await.is_none() {
        transaction.create(format!("/{JOB}/trigger"), "", CreateMode::Persistent);
    }
    for id in operated.children("instances").await {
        transaction.create(format!("/{JOB}/trigger/{id}"), "", CreateMode::Persistent);
    }
    // The time of a trigger is that of the server, and never that of a scheduled fire.
    while !(100_000..900_000).contains(&now_us().rem_euclid(1_000_000)) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let asked_us = now_us();
    operated.commit(transaction).await;
    asked_us
}

pub async fn triggered(server: Arc<ZookeeperServer>) {
    // By itself it fires at the turn of the year alone.
    let job = JobPlan { cron: "0 0 0 1 1 ?".to_owned(), ..every_second(2_000) };
    let operated = Operated::start_apart(&server, "triggered", job).await;
    operated.shared(ITEMS).await;

    let first_us = trigger(&operated).await;
    let running = |history: &History| (manual(history, first_us).len() == ITEMS as usize).then_some(());
    operated.wait("every item, by the first trigger", running).await;
    // While these run.
    let second_us = trigger(&operated).await;
    let all = |history: &History| (manual(history, second_us).len() == ITEMS as usize).then_some(());
    operated.wait("every item again, by the second trigger", all).await;
    let done = |history: &History| manual(history, first_us).iter().all(|run| run.end.is_some()).then_some(());
    operated.wait("the end of all", done).await;
    let history = operated.group.history();
    for item in 0..ITEMS {
        let mut of_item: Vec<&Run> = manual(&history, first_us).into_iter().filter(|run| run.item == item).collect();
        of_item.sort_by_key(|run| run.began_us);
        let [first, second] = of_item[..] else { panic!("{of_item:?}\n{}", operated.group.logs()) };
        assert_ne!(first.scheduled_ms, second.scheduled_ms);
        assert!(first.end.is_some_and(|(at, _)| at <= second.began_us), "{first:?} {second:?}");
    }
    assert_eq!(operated.children("trigger").await, Vec::<String>::new());
}
