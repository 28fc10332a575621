//! A process that is frozen in the midst of its runs.

use std::sync::Arc;

use elasticjob_tests::records::{Ending, Run, now_us};
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{JOB, LIMIT, RUN, SESSION_TIMEOUT, Three, now};

pub async fn for_long(server: Arc<ZookeeperServer>) {
    let mut three = Three::start(server, "frozen", RUN, false).await;
    let leader = three.leader().await;
    three.mid_run(leader).await;
    three.group.freeze(leader);
    let frozen_ms = now_us() / 1_000;
    let stale = three.open_runs(&[leader]);
    assert!(!stale.is_empty(), "frozen in the midst of a run\n{}", three.group.logs());

    let moved = three.split(&three.others(&[leader]), frozen_ms).await;
    let has_moved_on = |run: &Run| three.fence.token(JOB, run.item).expect("the fence can be read") > run.token;
    let find = |_: &_| stale.iter().all(has_moved_on).then_some(());
    three.group.wait("writes of the new owners", LIMIT, find).await;

    let thawed_us = three.group.thaw(leader);
    let stale = three
        .group
        .wait("the end of the stale runs", LIMIT, |history| {
            let now: Vec<Run> = stale.iter().filter_map(|run| now(history, run)).cloned().collect();
            now.iter().all(|run| run.end.is_some()).then_some(now)
        })
        .await;
    for run in stale {
        // No grace is left after its session: it is dropped at its next await, and what it wrote before that is refused.
        let stopped = matches!(run.end, Some((_, Ending::Cancelled | Ending::Dropped)));
        assert!(stopped, "{run:?}\n{}", three.group.logs());
    }

    let until = three.split(&three.pids, moved.max(thawed_us / 1_000)).await;
    let history = three.group.history();
    let anew: Vec<&Run> = history.runs.iter().filter(|run| run.pid == leader && run.began_us > thawed_us).collect();
    let instance = three.node(&format!("/{JOB}/instances/{}", anew[0].instance)).await;
    let registered = instance.expect("the process is registered again").stat.czxid;
    for run in anew {
        assert!(run.token > Some(registered), "{run:?} began before transaction {registered}\n{}", three.group.logs());
    }
    let refused: Vec<&Run> = history.runs.iter().filter(|run| run.refused > 0 && run.pid != leader).collect();
    assert!(refused.is_empty(), "{refused:?}");
    three.check(until);
}

pub async fn for_a_moment(server: Arc<ZookeeperServer>) {
    let mut three = Three::start(server, "frozen-for-a-moment", RUN, false).await;
    let pid = three.pids[0];
    three.mid_run(pid).await;
    three.group.freeze(pid);
    let frozen = three.open_runs(&[pid]);
    assert!(!frozen.is_empty(), "frozen in the midst of a run\n{}", three.group.logs());
    tokio::time::sleep(SESSION_TIMEOUT / 5).await;
    three.group.thaw(pid);
    let until = three.split(&three.pids, now_us() / 1_000).await;
    let history = three.group.history();
    for run in &frozen {
        let ended = now(&history, run).and_then(|run| run.end);
        assert!(matches!(ended, Some((_, Ending::Finished))), "{run:?} ended with {ended:?}\n{}", three.group.logs());
    }
    three.check(until);
}
