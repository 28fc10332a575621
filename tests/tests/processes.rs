//! Real processes that share a job on a real ZooKeeper: killed, frozen, and with the server restarted under them.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob::registry::{NodeData, RegistryCenter};
use elasticjob_tests::fence::Fence;
use elasticjob_tests::group::{Group, Program, WorkerProgram};
use elasticjob_tests::harness::Harness;
use elasticjob_tests::records::{Ending, FaultKind, History, Run, now_us};
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::{ZookeeperBackend, ZookeeperServer};
use tokio::runtime::Handle;

const JOB: &str = "worker";
const ITEMS: u32 = 6;
const SESSION_TIMEOUT: Duration = Duration::from_secs(2);

/// Everything that is waited for happens within this, or never.
const LIMIT: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let mut harness = Harness::new();
    harness.on_zookeeper("the_items_of_a_killed_process_move_and_come_back_to_its_successor", |server| async move {
        killed(&server).await;
    });
    harness.on_zookeeper("a_frozen_process_loses_its_items_and_its_late_writes_are_refused", |server| async move {
        frozen(&server).await;
    });
    harness.on_own_zookeeper("a_restart_of_the_server_stops_nobody_for_long", server_restarted);
    harness
        .on_own_zookeeper("runs_are_cancelled_before_a_server_that_is_away_could_give_their_items_away", server_away);
    harness.run()
}

async fn killed(server: &Arc<ZookeeperServer>) {
    let (mut group, fence) = group(server, "killed", Duration::from_millis(300));
    let pids = [group.start().await, group.start().await, group.start().await];
    let from = group.wait_split(JOB, ITEMS, &pids, 0, LIMIT).await;

    let leader = leader(server, "killed").await;
    mid_run(&group, &fence, leader, from).await;
    group.kill(&[leader]);
    let killed_ms = now_us() / 1_000;
    let rest: Vec<u32> = pids.into_iter().filter(|pid| *pid != leader).collect();
    let moved = group.wait_split(JOB, ITEMS, &rest, killed_ms, LIMIT).await;
    let takeover_ms = SESSION_TIMEOUT.as_millis() as i64 + 2_000;
    assert!(moved - killed_ms <= takeover_ms, "taken over after {} ms\n{}", moved - killed_ms, group.logs());

    let successor = group.start().await;
    let all = [rest[0], rest[1], successor];
    let back = group.wait_split(JOB, ITEMS, &all, moved, LIMIT).await;

    // Leaving in good order loses no fire.
    let left = group.end(successor, "TERM", LIMIT).await;
    assert!(left.success(), "{left}\n{}", group.logs());
    let until = group.wait_split(JOB, ITEMS, &rest, back, LIMIT).await;
    for pid in rest {
        let left = group.end(pid, "TERM", LIMIT).await;
        assert!(left.success(), "{left}\n{}", group.logs());
    }
    let runs = group.history().runs;
    let cut_off: Vec<&Run> =
        runs.iter().filter(|run| run.pid != leader && !matches!(run.end, Some((_, Ending::Finished)))).collect();
    assert!(cut_off.is_empty(), "{cut_off:?}\n{}", group.logs());
    group.check(JOB, ITEMS, from, until);
}

async fn frozen(server: &Arc<ZookeeperServer>) {
    let (mut group, fence) = group(server, "frozen", Duration::from_millis(600));
    let pids = [group.start().await, group.start().await, group.start().await];
    let from = group.wait_split(JOB, ITEMS, &pids, 0, LIMIT).await;

    let leader = leader(server, "frozen").await;
    mid_run(&group, &fence, leader, from).await;
    group.freeze(leader);
    let frozen_ms = now_us() / 1_000;
    let open = |run: &&Run| run.pid == leader && run.end.is_none();
    let stale: Vec<Run> = group.history().runs.iter().filter(open).cloned().collect();
    assert!(!stale.is_empty(), "frozen in the midst of a run\n{}", group.logs());

    let rest: Vec<u32> = pids.into_iter().filter(|pid| *pid != leader).collect();
    let moved = group.wait_split(JOB, ITEMS, &rest, frozen_ms, LIMIT).await;
    let has_moved_on = |run: &Run| fence.token(JOB, run.item).expect("the fence can be read") > run.token;
    group.wait("writes of the new owners", LIMIT, |_| stale.iter().all(has_moved_on).then_some(())).await;

    let thawed_us = group.thaw(leader);
    let stale = group
        .wait("the end of the stale runs", LIMIT, |history| {
            let find =
                |run: &Run| history.runs.iter().find(|now| now.token == run.token && now.item == run.item).cloned();
            let now: Vec<Run> = stale.iter().filter_map(find).collect();
            now.iter().all(|run| run.end.is_some()).then_some(now)
        })
        .await;
    for run in stale {
        assert!(matches!(run.end, Some((_, Ending::Cancelled))) && run.refused > 0, "{run:?}\n{}", group.logs());
    }

    let until = group.wait_split(JOB, ITEMS, &pids, moved.max(thawed_us / 1_000), LIMIT).await;
    let history = group.history();
    let anew: Vec<&Run> = history.runs.iter().filter(|run| run.pid == leader && run.began_us > thawed_us).collect();
    let instance = node(server, "frozen", &format!("/worker/instances/{}", anew[0].instance)).await;
    let registered = instance.expect("the process is registered again").stat.czxid;
    for run in anew {
        assert!(run.token > Some(registered), "{run:?} began before transaction {registered}\n{}", group.logs());
    }
    let refused: Vec<&Run> = history.runs.iter().filter(|run| run.refused > 0 && run.pid != leader).collect();
    assert!(refused.is_empty(), "{refused:?}");
    group.check(JOB, ITEMS, from, until);
}

async fn server_restarted(server: ZookeeperServer) {
    let server = Arc::new(server);
    let (mut group, fence) = group(&server, "restarted", Duration::from_millis(600));
    let pids = [group.start().await, group.start().await, group.start().await];
    let from = group.wait_split(JOB, ITEMS, &pids, 0, LIMIT).await;

    mid_run(&group, &fence, pids[0], from).await;
    let stopped_us = now_us();
    group.note(FaultKind::Outage, stopped_us);
    server.restart().expect("the server starts again");
    group.note_end(FaultKind::Outage);
    let until = group.wait_split(JOB, ITEMS, &pids, now_us() / 1_000, LIMIT).await;

    let runs = group.history().runs;
    let given_away_us = stopped_us + SESSION_TIMEOUT.as_micros() as i64;
    for run in runs.iter().filter(|run| run.began_us < stopped_us) {
        let in_time = matches!(run.end, Some((at, Ending::Finished | Ending::Cancelled)) if at < given_away_us);
        assert!(in_time, "{run:?}, server stopped at {stopped_us}\n{}", group.logs());
    }
    group.check(JOB, ITEMS, from, until);
}

async fn server_away(server: ZookeeperServer) {
    let server = Arc::new(server);
    let (mut group, fence) = group(&server, "away", LIMIT);
    let pids = [group.start().await, group.start().await, group.start().await];
    group.wait_split(JOB, ITEMS, &pids, 0, LIMIT).await;
    mid_run(&group, &fence, pids[0], 0).await;

    server.stop();
    let stopped_us = now_us();
    group.note(FaultKind::Outage, stopped_us);
    let ended = group
        .wait("the end of all runs", LIMIT, |history| {
            history.runs.iter().all(|run| run.end.is_some()).then(|| history.runs.clone())
        })
        .await;
    let given_away_us = stopped_us + SESSION_TIMEOUT.as_micros() as i64;
    for run in ended {
        let in_time = matches!(run.end, Some((at, Ending::Cancelled)) if at < given_away_us);
        assert!(in_time, "{run:?}, server stopped at {stopped_us}\n{}", group.logs());
    }
    server.resume().expect("the server starts again");
    group.note_end(FaultKind::Outage);
    // Not all of the same fire: they come back one after the other.
    let is_back =
        |history: &History, pid: u32| history.runs.iter().any(|run| run.pid == pid && run.began_us > stopped_us);
    group.wait("runs of all", LIMIT, |history| pids.iter().all(|pid| is_back(history, *pid)).then_some(())).await;
    let violations = group.full_history().check(&[], &[]).violations();
    assert!(violations.is_empty(), "{violations:?}\n{}", group.logs());
}

fn group(server: &Arc<ZookeeperServer>, namespace: &str, run: Duration) -> (Group<WorkerProgram>, Fence) {
    let run_ms = u64::try_from(run.as_millis()).expect("a short run");
    let (name, cron) = (JOB.to_owned(), "* * * * * ?".to_owned());
    let job = JobPlan { name, items: ITEMS, cron, run_ms: (run_ms, run_ms), failover: false, stubborn: false };
    let worker: (&str, &[&str]) = (env!("CARGO_BIN_EXE_worker"), &[]);
    let program = WorkerProgram::new(worker, server.connect_string(), namespace, vec![job], SESSION_TIMEOUT);
    let fence = program.fence();
    (Group::new(program), fence)
}

/// Waits until a process is in the midst of a run: one that has written, and has more to write.
async fn mid_run<P: Program>(group: &Group<P>, fence: &Fence, pid: u32, after_ms: i64) {
    let has_written = |run: &Run| fence.token(JOB, run.item).expect("the fence can be read") == run.token;
    let find = |run: &&Run| run.pid == pid && run.scheduled_ms >= after_ms && run.end.is_none() && has_written(run);
    group.wait("a run that has written", LIMIT, |history| history.runs.iter().find(find).map(|_| ())).await;
}

async fn node(server: &Arc<ZookeeperServer>, namespace: &str, path: &str) -> Option<NodeData> {
    let config = ZookeeperBackend::new(server.clone(), namespace).config(server.connect_string());
    let center = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects");
    let node = center.get(path).await.expect("the registry answers");
    center.close().await;
    node
}

/// The process that leads.
async fn leader(server: &Arc<ZookeeperServer>, namespace: &str) -> u32 {
    let leader = node(server, namespace, "/worker/leader/election/instance").await.expect("somebody leads");
    let leader = String::from_utf8(leader.data).expect("an instance id is text");
    leader.split("@-@").nth(1).and_then(|pid| pid.parse().ok()).expect("an instance id names the process")
}
