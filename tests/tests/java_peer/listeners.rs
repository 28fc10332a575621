//! Listeners of both kinds in a group of both kinds.

use std::sync::Arc;

use elasticjob::fire::Hook;
use elasticjob_tests::java_peer::JavaPeer;
use elasticjob_tests::records::Listener;
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{ITEMS, JOB, Mixed};

pub async fn called(server: Arc<ZookeeperServer>, peer: Arc<JavaPeer>) {
    // Java's once-listener waits for items of others, which do not register with it, to its time-outs of 1.5 s each.
    let cron = "0/5 * * * * ?".to_owned();
    let job = JobPlan { cron, listeners: true, ..JobPlan::each_second(JOB, ITEMS, 100) };
    let (mixed, [rust, java]) = Mixed::pair(&server, &peer, "listeners", job).await;
    let last = mixed.split(ITEMS, &[rust, java], 0).await;
    let history = mixed.group.history();
    let rounds = history.rounds(JOB);
    let whole: Vec<_> = rounds.range(last - 10_000..last).collect();
    assert_eq!(whole.len(), 2, "{:?}", rounds.keys());
    for (at, round) in whole {
        // Java begins its items when its time-out is over, whatever the listener of Rust does.
        let of_java = format!("began before the call returned: Run {{ pid: {java},");
        let wrong: Vec<String> = round.violations().into_iter().filter(|wrong| !wrong.starts_with(&of_java)).collect();
        assert_eq!(wrong, [""; 0], "{at}\n{}", mixed.group.logs());
        for hook in [Hook::Before, Hook::After] {
            let calls = |listener, pid| round.calls(listener, hook, Some(pid)).count();
            let every = [rust, java].map(|pid| calls(Listener::EveryInstance, pid));
            let once = [rust, java].map(|pid| calls(Listener::Once, pid));
            assert_eq!((every, once), ([1, 1], [1, 0]), "{at}, {hook:?}: Rust and Java\n{}", mixed.group.logs());
        }
    }
    let log = mixed.group.logs();
    assert!(log.contains("Job timeout"), "Java says so:\n{log}");
}
