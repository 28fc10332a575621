//! Processes that are killed in the midst of their runs.

use std::sync::Arc;
use std::time::Duration;

use elasticjob_tests::records::{Ending, Run, now_us};
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{EVERY_MS, LIMIT, RUN, SESSION_TIMEOUT, Three};

pub async fn one(server: Arc<ZookeeperServer>) {
    let mut three = Three::start(server, "killed", Duration::from_millis(300), false).await;
    let leader = three.leader().await;
    three.mid_run(leader).await;
    three.group.kill(&[leader]);
    let killed_ms = now_us() / 1_000;
    let rest = three.others(&[leader]);
    let moved = three.split(&rest, killed_ms).await;
    // The next fire after the end of the session, or, on a busy machine, the one after that.
    let takeover_ms = SESSION_TIMEOUT.as_millis() as i64 + 2 * EVERY_MS;
    assert!(moved - killed_ms <= takeover_ms, "taken over after {} ms\n{}", moved - killed_ms, three.group.logs());

    let successor = three.group.start().await;
    let back = three.split(&[rest[0], rest[1], successor], moved).await;

    // Leaving in good order loses no fire.
    let left = three.group.end(successor, "TERM", LIMIT).await;
    assert!(left.success(), "{left}\n{}", three.group.logs());
    let until = three.split(&rest, back).await;
    for pid in rest {
        let left = three.group.end(pid, "TERM", LIMIT).await;
        assert!(left.success(), "{left}\n{}", three.group.logs());
    }
    let runs = three.group.history().runs;
    let finished = |run: &&Run| matches!(run.end, Some((_, Ending::Finished)));
    let cut_off: Vec<&Run> = runs.iter().filter(|run| run.pid != leader && !finished(run)).collect();
    assert!(cut_off.is_empty(), "{cut_off:?}\n{}", three.group.logs());
    three.check(until);
}

pub async fn all_but_one(server: Arc<ZookeeperServer>) {
    let mut three = Three::start(server, "killed-two", RUN, true).await;
    let leader = three.leader().await;
    let dead = [leader, three.others(&[leader])[0]];
    let rest = three.others(&dead);
    for pid in dead {
        three.mid_run(pid).await;
    }
    three.group.kill(&dead);
    let killed_ms = now_us() / 1_000;
    three.run_again(&dead).await;
    let moved = three.split(&rest, killed_ms).await;
    let successors = [three.group.start().await, three.group.start().await];
    let until = three.split(&[rest[0], successors[0], successors[1]], moved).await;
    three.check(until);
}

pub async fn all(server: Arc<ZookeeperServer>) {
    let mut three = Three::start(server, "killed-all", RUN, true).await;
    let dead = three.pids;
    three.mid_run(dead[0]).await;
    three.group.kill(&dead);
    let killed_ms = now_us() / 1_000;
    let successors = [three.group.start().await, three.group.start().await, three.group.start().await];
    three.run_again(&dead).await;
    let until = three.split(&successors, killed_ms).await;
    three.check(until);
}
