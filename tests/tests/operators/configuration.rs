//! Configurations that change while the job runs.

use std::sync::Arc;

use elasticjob::fire::ExecutionSource;
use elasticjob_tests::records::{Ending, History, Run};
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{ITEMS, JOB, LIMIT, Operated, every_second};

pub async fn rescheduled(server: Arc<ZookeeperServer>) {
    let operated = Operated::start(&server, "rescheduled", every_second(100)).await;
    let changed = operated.configure(&[("cron", "'1/2 * * * * ?'"), ("shardingTotalCount", "6")]).await;
    // A fire that was due at that very moment may have been begun.
    let first = operated.split(6, &operated.pids, changed + 1_000).await;
    let third = operated.next_fire(operated.next_fire(first).await).await;
    let fires = operated.group.history().fires(JOB);
    let are_odd = fires.range(first..=third).all(|fire| fire % 2_000 == 1_000);
    assert!(are_odd, "{fires:?} from {first} on\n{}", operated.group.logs());

    let changed = operated.configure(&[("cron", "'* * * * * ?'"), ("shardingTotalCount", "2")]).await;
    let fire = operated.split(2, &operated.pids, changed).await;
    let even = |history: &History| history.fires(JOB).range(fire..).any(|fire| fire % 2_000 == 0).then_some(());
    operated.wait("a fire of an even second", even).await;
    let items = operated.children("sharding").await;
    assert_eq!(items.len(), 2, "what is beyond the total count is gone: {items:?}");
}

pub async fn invalid(server: Arc<ZookeeperServer>) {
    let operated = Operated::start(&server, "invalid", every_second(100)).await;
    let changed = operated.configure(&[("cron", "'0 0 0 30 2 ?'"), ("shardingTotalCount", "5")]).await;
    let fire = operated.split(ITEMS, &operated.pids, changed + 1_000).await;
    let fire = operated.split(ITEMS, &operated.pids, fire).await;
    assert_eq!(operated.group.history().owners(JOB, fire).len(), ITEMS as usize);
    let log = operated.group.logs();
    assert!(log.contains("0 0 0 30 2 ?"), "it names what it refuses\n{log}");
    // What comes after it is taken.
    let changed = operated.configure(&[("cron", "'* * * * * ?'"), ("shardingTotalCount", "6")]).await;
    operated.split(6, &operated.pids, changed).await;
}

pub async fn balanced(server: Arc<ZookeeperServer>) {
    let job = JobPlan { items: 1, ..every_second(100) };
    let operated = Operated::start_apart(&server, "balanced", job).await;
    operated.next_fire(0).await;
    let changed = operated.configure(&[("jobShardingStrategyType", "SINGLE_SHARDING_BALANCE")]).await;
    let alternate = |history: &History| {
        let fires: Vec<i64> = history.fires(JOB).range(changed + 1_000..).copied().collect();
        let pids: Vec<u32> = fires.iter().filter_map(|fire| history.owners(JOB, *fire).get(&0).copied()).collect();
        pids.windows(4).any(|four| four[0] == four[2] && four[1] == four[3] && four[0] != four[1]).then_some(())
    };
    operated.wait("four fires in turn", alternate).await;
}

pub async fn misfire(server: Arc<ZookeeperServer>) {
    let operated = Operated::start_apart(&server, "misfire", every_second(2_300)).await;
    let made_up = |history: &History| {
        let runs = history.runs.iter().filter(|run| run.item == 0);
        let pairs: Vec<_> = runs.clone().zip(runs.skip(1)).collect();
        pairs.into_iter().find_map(|(before, run)| {
            let ended = before.end?.0;
            // At once after the run that the fire fell into.
            let at_once = run.source == ExecutionSource::Misfire && (0..500_000).contains(&(run.began_us - ended));
            at_once.then_some(())
        })
    };
    operated.wait("a fire that is made up for", made_up).await;
    operated.until("sharding/0/misfire", |mark| mark.is_some()).await;

    let off = operated.configure(&[("misfire", "false")]).await;
    operated.until("sharding/0/misfire", |mark| mark.is_none()).await;
    let off_us = off * 1_000;
    // The second one that begins after it knows.
    let normal = |history: &History| {
        let after = history.runs.iter().filter(|run| run.item == 0 && run.began_us > off_us + 3_000_000);
        after.clone().nth(1).map(|_| after.map(|run| run.source).collect::<Vec<_>>())
    };
    let sources = operated.wait("runs without misfire", normal).await;
    assert!(sources.iter().all(|source| *source == ExecutionSource::NormalTrigger), "{sources:?}");
    for item in 0..ITEMS {
        assert_eq!(operated.node(&format!("sharding/{item}/misfire")).await, None);
    }
}

pub async fn failover(server: Arc<ZookeeperServer>) {
    let mut job = every_second(1_500);
    job.failover = true;
    let mut operated = Operated::start_apart(&server, "failover-off", job).await;
    let [dead, rest] = operated.pids;
    let runs = |history: &History| history.runs.iter().any(|run| run.pid == dead && run.end.is_none()).then_some(());
    operated.wait("a run of the process", runs).await;
    operated.group.kill(&[dead]);
    // Before any process can know that it is gone.
    let off = operated.configure(&[("failover", "false")]).await;
    operated.split(ITEMS, &[rest], off).await;
    let history = operated.group.history();
    let taken: Vec<_> = history.runs.iter().filter(|run| run.source == ExecutionSource::Failover).collect();
    assert!(taken.is_empty(), "{taken:?}\n{}", operated.group.logs());
    // Every run is over, so nothing may be left of any.
    let left = operated.group.end(rest, "TERM", LIMIT).await;
    assert!(left.success(), "{left}\n{}", operated.group.logs());
    let finished = |run: &&Run| matches!(run.end, Some((_, Ending::Finished)));
    assert!(operated.group.history().runs.iter().filter(|run| run.pid == rest).all(|run| finished(&run)));
    for item in 0..ITEMS {
        for node in ["running", "failover", "failovering"] {
            assert_eq!(operated.node(&format!("sharding/{item}/{node}")).await, None, "{node} of {item}");
        }
    }
    assert_eq!(operated.children("leader/failover/items").await, Vec::<String>::new());
    assert_eq!(operated.children("sessions").await, Vec::<String>::new());
}
