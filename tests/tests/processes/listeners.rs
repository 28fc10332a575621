//! Listeners of both kinds in real processes, and a process that is killed between the calls of a fire.

use std::sync::Arc;

use elasticjob::fire::{ExecutionSource, Hook};
use elasticjob_tests::records::{History, Listener, Round, Run, now_us};
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{ITEMS, JOB, LIMIT, Three};

/// How many fires are looked at.
const FIRES: usize = 3;

/// A job whose runs are caught in their midst, and that has time for its calls between two fires.
async fn start(server: Arc<ZookeeperServer>, namespace: &'static str) -> Three {
    let cron = "0/3 * * * * ?".to_owned();
    let job = JobPlan { cron, failover: true, listeners: true, ..JobPlan::each_second(JOB, ITEMS, 1_500) };
    Three::start_with(server, namespace, job).await
}

pub async fn called(server: Arc<ZookeeperServer>) {
    let three = start(server, "listeners").await;
    whole_fires(&three, three.from_ms).await;
    no_violations(&three);
}

pub async fn killed(server: Arc<ZookeeperServer>) {
    let mut three = start(server, "listeners-killed").await;
    let leader = three.leader().await;
    three.mid_run(leader).await;
    three.group.kill(&[leader]);
    let killed_ms = now_us() / 1_000;
    let lost = three.run_again(&[leader]).await;
    let lost_ms = lost[0].scheduled_ms;
    let is_closed = |history: &History| {
        let rounds = history.rounds(JOB);
        rounds[&lost_ms].calls(Listener::Once, Hook::After, None).next().cloned()
    };
    let closed = three.group.wait("the end of the fire of who was killed", LIMIT, is_closed).await;

    let moved = three.split(&three.others(&[leader]), killed_ms).await;
    whole_fires(&three, moved).await;
    no_violations(&three);
    let history = three.group.history();
    let round = &history.rounds(JOB)[&lost_ms];
    let taken_over: Vec<&Run> =
        round.runs.iter().copied().filter(|run| run.source == ExecutionSource::Failover).collect();
    // The process may be killed after it began an item and before it wrote that down.
    let is_run_again = |run: &Run| taken_over.iter().filter(|again| again.item == run.item).count() == 1;
    assert!(lost.iter().all(is_run_again), "{round:?}");
    for run in round.runs.iter().filter(|run| run.pid != leader) {
        assert!(run.end.is_some_and(|(ended_us, _)| ended_us <= closed.at_us), "{run:?}, {closed:?}");
    }
    let by_dead = |listener, hook| round.calls(listener, hook, Some(leader)).count();
    assert_eq!((by_dead(Listener::EveryInstance, Hook::Before), by_dead(Listener::EveryInstance, Hook::After)), (1, 0));
    assert_eq!(round.calls(Listener::Once, Hook::Before, None).count(), 1);
}

/// Waits for fires with all of their runs and calls, and fails when a whole one between them has not all of its calls.
async fn whole_fires(three: &Three, from_ms: i64) {
    let is_complete = |(_, round): &(&i64, &Round<'_>)| round.is_whole(ITEMS) && round.missing().is_empty();
    let find = |history: &History| {
        let rounds = history.rounds(JOB);
        let complete = rounds.range(from_ms..).filter(is_complete).map(|(at, _)| *at);
        let complete: Vec<i64> = complete.collect();
        complete.get(FIRES - 1).copied()
    };
    let last_ms = three.group.wait("fires with all of their calls", LIMIT, find).await;
    let history = three.group.history();
    for (at, round) in history.rounds(JOB).range(from_ms..last_ms) {
        let missing = if round.is_whole(ITEMS) { round.missing() } else { vec![] };
        assert!(missing.is_empty(), "{at}: {missing:?}\n{}", three.group.logs());
    }
}

/// Fails when a call came twice, at the wrong time or for nothing, or anything is wrong with the runs.
fn no_violations(three: &Three) {
    let history = three.group.full_history();
    let rounds = history.rounds(JOB);
    let calls =
        rounds.iter().flat_map(|(at, round)| round.violations().into_iter().map(move |wrong| format!("{at}: {wrong}")));
    let wrong: Vec<String> = calls.chain(history.check(&[], &[]).violations()).collect();
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), three.group.logs());
}
