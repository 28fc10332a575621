//! A cluster of Kubernetes that loses requests and answers, and schedulers that are killed beside them.

use tokio::task::JoinSet;

use super::cluster::MOST;
use super::*;
use crate::kubernetes::tests::api_server::{ApiServer, Change, Connection, Fault};

/// A point of the life of a launch at which something is lost.
#[derive(Debug, Clone, Copy)]
struct Point {
    change: Change,
    fault: Fault,
    /// Whether the scheduler is killed there, and another one goes on.
    kills: bool,
    failover: bool,
}

/// All points.
fn points() -> Vec<Point> {
    let mut points = Vec::new();
    for change in [Change::CreateJob, Change::PatchJob, Change::PatchPod, Change::DeleteJob] {
        for fault in [Fault::RequestLost, Fault::Late, Fault::AnswerLost, Fault::Answered] {
            for kills in [false, true] {
                for failover in [false, true] {
                    // Without a kill nothing is wrong with an answer.
                    if kills || fault != Fault::Answered {
                        points.push(Point { change, fault, kills, failover });
                    }
                }
            }
        }
    }
    points
}

/// A launch whose request did not arrive before its scheduler was killed. The next one finds the note that it was on its way.
fn is_on_its_way(point: Point) -> bool {
    point.change == Change::CreateJob && point.kills && matches!(point.fault, Fault::RequestLost | Fault::Late)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_runs_once_wherever_a_request_or_its_answer_is_lost_and_a_scheduler_is_killed() {
    let mut plays = JoinSet::new();
    for point in points() {
        plays.spawn(play(point));
    }
    plays.join_all().await;
}

async fn play(point: Point) {
    let (cluster, server) = (Cluster::new(), Arc::new(ApiServer::default()));
    let first = Connection::new(&server, Some((point.change, point.fault)), point.kills);
    let one = cluster.scheduler_with(Arc::new(first.carrier())).await;
    let app = json!({ "appName": "work", "appURL": "oci://shop/work:1", "bootstrapScript": "run", "cpuCount": 0, "memoryMB": 16 });
    one.register(app, job("work", "work", json!({ "shardingTotalCount": 2, "failover": point.failover }))).await;
    one.trigger("work").await;
    if point.change != Change::CreateJob {
        until("it runs", || async { server.running() == 2 }).await;
    }
    match point.change {
        Change::CreateJob => {}
        Change::PatchJob | Change::PatchPod => one.scheduler.store().switch_job(&name("work"), false).await.unwrap(),
        Change::DeleteJob => {
            server.end_programs();
            one.until_last("work", FireState::Succeeded).await;
            one.scheduler.store().remove_job(&name("work")).await.unwrap();
        }
    }
    assert!(tokio::time::timeout(MOST, first.met()).await.is_ok(), "{point:?}: nothing was lost");
    let second = Connection::new(&server, None, false);
    let two = match point.kills {
        true => {
            cluster.kill(&one);
            Some(cluster.scheduler_with(Arc::new(second.carrier())).await)
        }
        false => None,
    };
    let goes_on = two.as_ref().unwrap_or(&one);
    // Items that may run twice are launched by the next scheduler; of others it cannot know that the request never arrived.
    let is_lost = is_on_its_way(point) && !point.failover;
    let is_done = || async {
        match point.change {
            Change::CreateJob if is_lost => {
                goes_on.last("work").await.is_some_and(|(state, _)| state == FireState::Failed)
            }
            Change::CreateJob => server.running() == 2,
            Change::PatchJob | Change::PatchPod => server.running() == 0,
            Change::DeleteJob => server.jobs() == 0,
        }
    };
    until(&format!("{point:?}: it goes on"), &is_done).await;
    if point.fault == Fault::Late {
        first.arrive();
        // A launch that counts as lost is checked by how often it began.
        assert!(is_lost || is_done().await, "{point:?}: the late request undid it");
    }
    if point.change == Change::CreateJob {
        server.end_programs();
        let ended = if is_lost { FireState::Failed } else { FireState::Succeeded };
        let error = goes_on.until_last("work", ended).await;
        assert_eq!(error.is_some_and(|why| why.contains("it was lost")), is_lost, "{point:?}");
    }
    let times = u32::from(!(is_lost && point.fault == Fault::RequestLost));
    let expected: Vec<(u32, u32)> = (0..2).filter(|_| times > 0).map(|item| (item, times)).collect();
    assert_eq!(server.begun().into_iter().collect::<Vec<_>>(), expected, "{point:?}");
    if let Some(two) = &two {
        two.scheduler.shutdown().await;
    } else {
        one.scheduler.shutdown().await;
    }
}
