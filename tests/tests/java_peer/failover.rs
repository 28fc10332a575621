//! A process that is killed in the midst of its runs, beside one of the other kind.

use std::sync::Arc;

use elasticjob_tests::java_peer::JavaPeer;
use elasticjob_tests::records::{Ending, History, Run, now_us};
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{ITEMS, JOB, Kind, LIMIT, Mixed};

/// Long enough to be killed in their midst. Two of them, one after the other, end before the next fire: Java makes up for a
/// missed one after the next regular run, and would miss that one's successor otherwise, and so on.
const RUN_MS: u64 = 1_500;

pub async fn killed(server: Arc<ZookeeperServer>, peer: Arc<JavaPeer>, victim: Kind) {
    let cron = "0/5 * * * * ?".to_owned();
    let job = JobPlan { cron, failover: true, ..JobPlan::each_second(JOB, ITEMS, RUN_MS) };
    let (mut mixed, [rust, java]) = Mixed::pair(&server, &peer, &format!("killed-{victim:?}"), job).await;
    let (dead, survivor) = if victim == Kind::Rust { (rust, java) } else { (java, rust) };

    let after_us = now_us();
    let open = |history: &History| {
        let is_open = |run: &&Run| run.pid == dead && run.began_us > after_us && run.end.is_none();
        let open: Vec<Run> = history.runs.iter().filter(is_open).cloned().collect();
        (open.len() == ITEMS as usize / 2).then_some(open)
    };
    let lost = mixed.group.wait("runs that go on", LIMIT, open).await;
    mixed.group.kill(&[dead]);
    let killed_us = now_us();
    let again = |history: &History| {
        let is_again = |run: &&Run| {
            let is_whole = matches!(run.end, Some((_, Ending::Finished)));
            run.pid == survivor && run.began_us > killed_us && is_whole && is_of_no_schedule(victim, run, &lost)
        };
        let again: Vec<Run> = history.runs.iter().filter(is_again).cloned().collect();
        lost.iter().all(|lost| again.iter().any(|run| run.item == lost.item)).then_some(again)
    };
    let again = mixed.group.wait("the lost runs again", LIMIT, again).await;
    // A Java instance that is late also makes up for a fire of the items that have come to it meanwhile, in runs that look the same.
    if victim == Kind::Java {
        assert_eq!(again.len(), lost.len(), "each of them once: {again:?}\n{}", mixed.group.logs());
    }
    mixed.split(ITEMS, &[survivor], killed_us / 1_000).await;
    let markers = async || {
        let mut left = Vec::new();
        for item in 0..ITEMS {
            for name in ["failover", "failovering"] {
                let path = format!("sharding/{item}/{name}");
                left.extend(mixed.node(JOB, &path).await.map(|_| path));
            }
        }
        left.is_empty().then_some(())
    };
    mixed.until("nothing left of the failover", markers).await;
}

/// Whether a run takes the place of a lost one. Java tells its jobs neither the fire nor that it is a failover: such a
/// run has the time at which it was asked for, as one has by which Java makes up for a missed fire of an item of its own.
fn is_of_no_schedule(victim: Kind, run: &Run, lost: &[Run]) -> bool {
    match victim {
        Kind::Rust => run.scheduled_ms % 5_000 != 0 && lost.iter().any(|lost| lost.item == run.item),
        Kind::Java => lost.iter().any(|lost| (lost.item, lost.scheduled_ms) == (run.item, run.scheduled_ms)),
    }
}
