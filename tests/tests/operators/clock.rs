//! A host whose clock goes wrong.

use std::path::Path;
use std::sync::Arc;

use elasticjob_tests::group::{Group, Program, WorkerProgram};
use elasticjob_tests::records::{History, now_us};
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::wrong_clock::WrongClock;
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{ITEMS, JOB, LIMIT, SESSION_TIMEOUT, every_second};

/// How far it goes wrong, in seconds, and how far it may.
const AHEAD: i64 = 5;
const ALLOWED: u32 = 2;

pub async fn wrong(server: Arc<ZookeeperServer>, clock: WrongClock) {
    let job = JobPlan { max_time_diff_seconds: Some(ALLOWED), ..every_second(100) };
    let worker: (&str, &[&str]) = (env!("CARGO_BIN_EXE_worker"), &[]);
    let program = WorkerProgram::new(worker, server.connect_string(), "clock", vec![job], SESSION_TIMEOUT);
    let mut group = Group::new(program);
    let right = group.start().await;
    let with_clock = |program: &WorkerProgram, records: &Path, registry: Option<&str>| {
        clock.give(program.command(records, registry))
    };
    let wrong = group.start_command(with_clock).await;
    let both = [right, wrong];
    group.wait_split(JOB, ITEMS, &both, 0, LIMIT).await;

    clock.set(AHEAD);
    let said = "fires are skipped until the clocks agree";
    group.wait_logged(said, LIMIT).await;
    let from_us = now_us();
    let begun = |history: &History, pid: u32| {
        history.runs.iter().filter(|run| run.pid == pid && run.began_us > from_us).count()
    };
    group.wait("fires of the other one", LIMIT, |history| (begun(history, right) >= 6).then_some(())).await;
    assert_eq!(begun(&group.history(), wrong), 0, "{}", group.logs());
    // A process that starts with such a clock is not let in.
    let refused = group.start_command(with_clock).await;
    let status = group.exited(refused, LIMIT).await;
    assert_eq!(status.code(), Some(1), "{}", group.logs());
    group.wait_logged(&format!("`max-time-diff-seconds` allows {ALLOWED}"), LIMIT).await;

    clock.set(0);
    group.wait_split(JOB, ITEMS, &both, now_us() / 1_000, LIMIT).await;
}
