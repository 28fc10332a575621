//! The server is taken away under its processes.

use std::sync::Arc;
use std::time::Duration;

use elasticjob_tests::records::{Ending, FaultKind, History, Run, now_us};
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{LIMIT, SESSION_TIMEOUT, Three, was_cancelled_in_time};

pub async fn restarted(server: ZookeeperServer) {
    let mut three = Three::start(Arc::new(server), "server", Duration::from_millis(600), false).await;
    three.mid_run(three.pids[0]).await;
    let stopped_us = now_us();
    three.group.note(FaultKind::Outage, stopped_us);
    three.server.restart().expect("the server starts again");
    three.group.note_end(FaultKind::Outage);
    let until = three.split(&three.pids, now_us() / 1_000).await;

    let given_away_us = stopped_us + SESSION_TIMEOUT.as_micros() as i64;
    for run in three.group.history().runs.iter().filter(|run| run.began_us < stopped_us) {
        let in_time = matches!(run.end, Some((at, Ending::Finished | Ending::Cancelled)) if at < given_away_us);
        assert!(in_time, "{run:?}, server stopped at {stopped_us}\n{}", three.group.logs());
    }
    three.check(until);
}

/// The server loses its data with all sessions: the processes register the job again as it was, and go on.
pub async fn lost_its_data(server: ZookeeperServer) {
    let mut three = Three::start(Arc::new(server), "lost-data", Duration::from_millis(300), true).await;
    let config = "/worker/config";
    let before = three.node(config).await.expect("the job is registered");
    three.group.note(FaultKind::Outage, now_us());
    three.server.lose_data().expect("the server starts again");
    three.group.note_end(FaultKind::Outage);
    let started_ms = now_us() / 1_000;
    three.split(&three.pids, started_ms).await;
    let after = three.node(config).await.expect("the job is registered again");
    assert_eq!(after.data, before.data);
    assert!(after.stat.ctime >= started_ms - 1_000, "{:?}", after.stat);
    let logs = three.group.logs();
    assert_eq!(logs.matches("the registry center has lost the data of the job").count(), 1, "{logs}");
    // A fire from before is not begun once more, and each item of a fire by one process.
    let history = three.group.full_history();
    let mut begun: Vec<_> = history.runs.iter().map(|run| (run.item, run.scheduled_ms)).collect();
    let all = begun.len();
    begun.sort_unstable();
    begun.dedup();
    assert_eq!(begun.len(), all, "{logs}");
}

pub async fn stopped_for_long(server: ZookeeperServer) {
    away(server, ZookeeperServer::stop, |server| server.resume().expect("the server starts again")).await;
}

pub async fn frozen_for_long(server: ZookeeperServer) {
    let freeze = |server: &ZookeeperServer| server.freeze().expect("the server can be frozen");
    away(server, freeze, |server| server.thaw().expect("the server goes on")).await;
}

/// Runs that take longer than a session can last without the server.
async fn away(server: ZookeeperServer, take: impl Fn(&ZookeeperServer), give_back: impl Fn(&ZookeeperServer)) {
    let mut three = Three::start(Arc::new(server), "away", LIMIT, false).await;
    for pid in three.pids {
        three.mid_run(pid).await;
    }
    let stopped_us = now_us();
    three.group.note(FaultKind::Outage, stopped_us);
    take(&three.server);
    let from_ms = three.from_ms;
    let find = |history: &History| {
        let runs = history.runs.iter().filter(|run| run.scheduled_ms >= from_ms);
        runs.clone().all(|run| run.end.is_some()).then(|| runs.cloned().collect())
    };
    let ended: Vec<Run> = three.group.wait("the end of all runs", LIMIT, find).await;
    for run in ended {
        let in_time = was_cancelled_in_time(&run, stopped_us);
        assert!(in_time, "{run:?}, server stopped at {stopped_us}\n{}", three.group.logs());
    }
    give_back(&three.server);
    three.group.note_end(FaultKind::Outage);
    // Not all of the same fire: they come back one after the other.
    let is_back =
        |history: &History, pid: u32| history.runs.iter().any(|run| run.pid == pid && run.began_us > stopped_us);
    let find = |history: &History| three.pids.iter().all(|pid| is_back(history, *pid)).then_some(());
    three.group.wait("runs of all", LIMIT, find).await;
    let violations = three.group.full_history().check(&[], &[]).violations();
    assert!(violations.is_empty(), "{violations:?}\n{}", three.group.logs());
}
