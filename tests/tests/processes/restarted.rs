//! Processes that leave in good order and come back, as in a deployment.

use std::sync::Arc;
use std::time::Duration;

use elasticjob_tests::records::{Ending, Expected};
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{EVERY_MS, ITEMS, JOB, LIMIT, Three};

pub async fn all(server: Arc<ZookeeperServer>) {
    let mut three = Three::start(server, "restarted", Duration::from_millis(300), true).await;
    let mut pids = three.pids;
    let mut until = three.from_ms;
    for place in 0..pids.len() {
        three.mid_run(pids[place]).await;
        let left = three.group.end(pids[place], "TERM", LIMIT).await;
        assert!(left.success(), "{left}\n{}", three.group.logs());
        pids[place] = three.group.start().await;
        until = three.split(&pids, until).await;
    }
    three.check(until);

    let history = three.group.full_history();
    let verdict = history.check(&[Expected::every(EVERY_MS, JOB, ITEMS, three.from_ms, until)], &[]);
    assert_eq!(verdict.begun, verdict.fires, "{:?}\n{}", verdict.explained, three.group.logs());
    let cut_off = |end| matches!(end, Some((_, Ending::Cancelled | Ending::Dropped)));
    assert!(!history.runs.iter().any(|run| cut_off(run.end)), "{:?}\n{}", history.runs, three.group.logs());
}
