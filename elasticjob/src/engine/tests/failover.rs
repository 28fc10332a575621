//! Failover, transaction by transaction.

use std::time::Duration;

use super::group::{EPOCH, Group, job};
use crate::config::{JobConfiguration, wire};
use crate::engine::{Event, Notice};
use crate::fire::{ExecutionSource, Fire, FireRecord, FireState, ItemEnd, SkipReason};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, SessionId, Transaction, WatchEvent};

const FIRST: Fire = Fire::Scheduled(EPOCH + 5_000);
const FAILOVER: ExecutionSource = ExecutionSource::Failover;

fn with_failover(total: u32, failover: bool) -> JobConfiguration {
    JobConfiguration::builder("job", total).cron("0/5 * * * * ?").failover(failover).build().unwrap()
}

fn settled(instances: u32, total: u32) -> Group {
    Group::settled(instances, &with_failover(total, true))
}

/// The items a host has started, by whatever cause.
fn items(group: &Group, host: usize) -> Vec<ShardingItem> {
    group.starts(host).into_iter().flat_map(|(_, _, items)| items).collect()
}

/// Of three hosts, the one that runs an item.
fn runner(group: &Group, item: ShardingItem) -> usize {
    (0..group.hosts.len()).find(|host| items(group, *host).contains(&item)).unwrap()
}

fn record(group: &Group, item: ShardingItem) -> FireRecord {
    FireRecord::parse(group.text(&JobPath::fire(item)).unwrap().as_bytes())
}

#[test]
fn the_mark_of_a_run_outlives_its_instance_and_a_node_tells_of_its_session() {
    let mut group = settled(1, 1);
    group.run_until(5_000);
    let begun = group.hosts[0].commits.last().unwrap();
    assert!(begun.ends_with("; +sharding/0/running 10.0.0.1@-@7; +sessions; +~sessions/2 10.0.0.1@-@7"), "{begun}");
    group.end_items(0, &[0]);
    assert!(group.hosts[0].commits.last().unwrap().ends_with("; -sharding/0/running"));
    group.run_until(10_000);
    let begun = group.hosts[0].commits.last().unwrap();
    assert!(begun.ends_with("; +sharding/0/running 10.0.0.1@-@7"), "{begun}");
}

#[test]
fn a_lost_item_is_taken_in_one_transaction_the_moment_its_instance_is_gone() {
    let mut group = settled(2, 2);
    group.run_until(5_000);
    let (dead, survivor) = (runner(&group, 0), runner(&group, 1));
    let token = group.hosts[dead].started[0].items[0].1;
    group.hosts[survivor].clear();
    group.kill(dead);
    // It is busy with its own item, and does not wait for that.
    assert_eq!(group.starts(survivor), [(FIRST, FAILOVER, vec![0])]);
    let taken = &group.hosts[survivor].commits[0];
    let me = group.hosts[survivor].engine.instance().to_string();
    let ends = format!(
        "; -sharding/0/running; +sharding/0/running {me}; +~sharding/0/failover {me}; +sharding/0/failovering {me}"
    );
    assert!(taken.starts_with("=sharding/0/fire {") && taken.ends_with(&ends), "{taken}");
    assert!(group.hosts[survivor].started[0].items[0].1 > token, "the fencing token grows");
    let from = Some(InstanceId::of_process(&format!("10.0.0.{}", dead + 1), 7));
    let told = Notice::TakenOver { fire: FIRST, item: 0, from };
    assert!(group.hosts[survivor].notices.contains(&told), "{:?}", group.hosts[survivor].notices);

    group.hosts[survivor].clear();
    group.end_items(survivor, &[0]);
    let ended = group.hosts[survivor].commits.iter().find(|commit| commit.contains("/fire")).unwrap();
    let ends = "; -sharding/0/running; -sharding/0/failover; -sharding/0/failovering";
    assert!(ended.ends_with(ends), "{ended}");
    group.end_items(survivor, &[1]);
    group.run_until(9_000);
    assert!(group.hosts[survivor].started.is_empty(), "nothing is run twice");
}

#[test]
fn lost_items_are_spread_over_the_survivors() {
    let mut group = settled(3, 6);
    group.run_until(5_000);
    let dead = runner(&group, 0);
    let lost = items(&group, dead);
    assert_eq!(lost.len(), 2);
    group.hosts.iter_mut().for_each(|host| host.clear());
    group.kill(dead);
    let taken: Vec<_> = (0..3).filter(|host| *host != dead).map(|host| items(&group, host)).collect();
    assert_eq!(taken.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1], "{taken:?}");
}

#[test]
fn an_idle_survivor_is_asked_before_a_busy_one() {
    let mut group = settled(3, 2);
    group.run_until(5_000);
    let (dead, busy) = (runner(&group, 0), runner(&group, 1));
    let idle = (0..3).find(|host| ![dead, busy].contains(host)).unwrap();
    group.hosts.iter_mut().for_each(|host| host.clear());
    group.kill(dead);
    assert_eq!((items(&group, idle), items(&group, busy)), (vec![0], vec![]));
}

#[test]
fn whoever_comes_next_takes_what_the_first_one_leaves() {
    let mut group = settled(3, 2);
    group.run_until(5_000);
    let (dead, busy) = (runner(&group, 0), runner(&group, 1));
    let idle = (0..3).find(|host| ![dead, busy].contains(host)).unwrap();
    group.hosts[busy].clear();
    // The one whose turn it is does not know yet that its connection is dead.
    group.hosts[idle].killed = true;
    group.kill(dead);
    assert!(items(&group, busy).is_empty());
    group.run_until(5_200);
    assert_eq!(items(&group, busy), [0]);
}

#[test]
fn regular_items_and_items_already_taken_over_are_both_lost_again() {
    let mut group = settled(3, 3);
    group.run_until(5_000);
    let first = runner(&group, 0);
    group.kill(first);
    let second = (0..3).find(|host| *host != first && items(&group, *host).contains(&0)).unwrap();
    assert_eq!(items(&group, second).len(), 2, "its own item, and the one it took");
    let third = (0..3).find(|host| ![first, second].contains(host)).unwrap();
    group.kill(second);
    group.run_until(6_000);
    let mut all = items(&group, third);
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2]);
    assert!(group.starts(third)[1..].iter().all(|(fire, source, _)| (*fire, *source) == (FIRST, FAILOVER)));
}

#[test]
fn after_a_total_crash_whoever_comes_back_takes_everything_over() {
    let mut group = settled(2, 4);
    group.run_until(5_000);
    group.kill(0);
    group.kill(1);
    group.run_until(6_000);
    let configuration = with_failover(4, true);
    // Same address, same process id: the marks bear the ids of the newcomers.
    let back = [group.join("10.0.0.1", &configuration), group.join("10.0.0.2", &configuration)];
    group.run_until(7_000);
    let mut all: Vec<_> = back.iter().flat_map(|host| items(&group, *host)).collect();
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3]);
    for host in back {
        assert!(group.starts(host).iter().all(|(fire, source, _)| (*fire, *source) == (FIRST, FAILOVER)));
        let items = items(&group, host);
        group.end_items(host, &items);
    }
    group.run_until(11_000);
    let begun: usize = back.iter().map(|host| items(&group, *host).len()).sum();
    assert_eq!(begun, 8, "the next fire is run as if nothing had happened");
}

#[test]
fn an_owner_that_is_back_leaves_its_item_to_the_taker_until_that_has_ended() {
    let mut group = settled(2, 2);
    group.run_until(5_000);
    let (dead, survivor) = (runner(&group, 0), runner(&group, 1));
    group.kill(dead);
    group.end_items(survivor, &[1]);
    let back = group.join(&format!("10.0.0.{}", dead + 1), &with_failover(2, true));
    group.run_until(10_000);
    assert!(!items(&group, back).contains(&0));
    group.end_items(survivor, &[0]);
    group.run_until(10_001);
    let second = Fire::Scheduled(EPOCH + 10_000);
    let made_up = [back, survivor].map(|host| group.starts(host)).concat();
    assert!(made_up.contains(&(second, ExecutionSource::Misfire, vec![0])), "{made_up:?}");
}

#[test]
fn a_fire_that_comes_while_a_taken_item_runs_has_an_owner_who_makes_up_for_it() {
    let mut group = settled(2, 2);
    group.run_until(5_000);
    let (dead, survivor) = (runner(&group, 0), runner(&group, 1));
    group.end_items(survivor, &[1]);
    group.kill(dead);
    group.run_until(10_000);
    assert!(group.exists(&JobPath::Item(0, ItemNode::Misfire)));
    group.end_items(survivor, &[0]);
    group.end_items(survivor, &[1]);
    let second = Fire::Scheduled(EPOCH + 10_000);
    assert!(
        group.starts(survivor).contains(&(second, ExecutionSource::Misfire, vec![0])),
        "{:?}",
        group.starts(survivor)
    );
}

#[test]
fn what_is_finished_is_never_run_again() {
    let mut group = settled(2, 2);
    group.run_until(5_000);
    let (dead, survivor) = (runner(&group, 0), runner(&group, 1));
    group.end_items(dead, &[0]);
    group.hosts[survivor].clear();
    group.kill(dead);
    group.run_until(9_000);
    assert!(items(&group, survivor).is_empty());
}

#[test]
fn an_item_that_a_shutdown_cuts_off_is_handed_over() {
    let mut group = settled(2, 2);
    group.run_until(5_000);
    let (leaver, survivor) = (runner(&group, 0), runner(&group, 1));
    group.hosts[survivor].clear();
    group.tell(leaver, Event::Shutdown { grace: Duration::ZERO });
    group.hosts[leaver].clear();
    group.cut_off_items(leaver, &[0]);
    let handed = group.hosts[leaver].commits[0].clone();
    assert!(handed.contains(r#""state":"CANCELLED""#), "{handed}");
    assert!(handed.contains("; -sharding/0/running; +leader/failover"), "{handed}");
    assert!(handed.ends_with("; +leader/failover/items/0"), "{handed}");
    assert_eq!(group.starts(survivor), [(FIRST, FAILOVER, vec![0])]);
    assert!(!group.exists(&JobPath::FailoverItem(0)));
    assert!(group.hosts[leaver].notices.contains(&Notice::HandedOver { fire: FIRST, items: vec![0] }));
}

#[test]
fn what_a_shutdown_cuts_off_is_handed_over_by_an_instance_that_has_not_heard_that_failover_is_on() {
    let mut group = Group::settled(2, &with_failover(2, false));
    group.run_until(5_000);
    let (leaver, survivor) = (runner(&group, 0), runner(&group, 1));
    group.hosts[survivor].clear();
    let mut switched_on = Transaction::new();
    let configuration = wire::to_yaml(&with_failover(2, true));
    switched_on.set(JobPath::Config.absolute(&job()), configuration.as_str(), None);
    group.operate(&switched_on, true);
    group.tell(leaver, Event::Shutdown { grace: Duration::ZERO });
    group.cut_off_items(leaver, &[0]);
    group.run_until(7_000);
    assert_eq!(group.starts(survivor), [(FIRST, FAILOVER, vec![0])]);
}

#[test]
fn what_was_cut_off_is_taken_over_before_its_new_owner_makes_up_for_a_later_fire() {
    let mut group = settled(3, 3);
    group.run_until(5_000);
    let leaver = runner(&group, 1);
    let survivors: Vec<usize> = (0..3).filter(|host| *host != leaver).collect();
    group.tell(leaver, Event::Shutdown { grace: Duration::from_secs(20) });
    group.run_until(10_000);
    for host in &survivors {
        let mine = items(&group, *host);
        group.end_items(*host, &mine);
    }
    group.run_until(12_000);
    // It is the turn of one, and the other becomes the owner.
    let owner = survivors.iter().copied().find(|host| group.hosts[*host].engine.status().leader).unwrap();
    let first = survivors.into_iter().find(|host| *host != owner).unwrap();
    group.hosts[owner].clear();
    group.disconnect(first);
    group.cut_off_items(leaver, &[1]);
    assert_eq!(group.owners(2)[1], Some(owner));
    assert_eq!(group.starts(owner), []);
    group.run_until(12_200);
    assert_eq!(group.starts(owner), [(FIRST, FAILOVER, vec![1])]);
    group.end_items(owner, &[1]);
    let missed = Fire::Scheduled(EPOCH + 10_000);
    assert_eq!(group.starts(owner)[1..], [(missed, ExecutionSource::Misfire, vec![1])]);
}

#[test]
fn what_a_leaving_instance_owns_while_it_runs_a_lost_item_is_said_not_to_run() {
    let mut group = settled(2, 2);
    group.run_until(5_000);
    let (dead, survivor) = (runner(&group, 0), runner(&group, 1));
    group.kill(dead);
    group.end_items(survivor, &[1]);
    group.tell(survivor, Event::Shutdown { grace: Duration::from_secs(20) });
    group.run_until(10_000);
    let skipped = Notice::Skipped { fire: Fire::Scheduled(EPOCH + 10_000), items: vec![], reason: SkipReason::Leaving };
    assert!(group.hosts[survivor].notices.contains(&skipped), "{:?}", group.hosts[survivor].notices);
    group.end_items(survivor, &[0]);
    assert!(group.hosts[survivor].stopped);
}

#[test]
fn a_run_that_gives_up_when_it_is_told_to_is_handed_over_and_one_that_gets_done_is_not() {
    for (state, handed_over) in [(FireState::Failed, true), (FireState::Succeeded, false)] {
        let mut group = settled(2, 2);
        group.run_until(5_000);
        let (leaver, survivor) = (runner(&group, 0), runner(&group, 1));
        group.hosts[survivor].clear();
        group.tell(leaver, Event::Shutdown { grace: Duration::ZERO });
        group.tell(leaver, Event::ItemEnded { item: 0, end: ItemEnd { state, took: 3, error: None } });
        assert_eq!(items(&group, survivor).contains(&0), handed_over, "{state:?}");
    }
}

#[test]
fn an_item_that_a_java_peer_is_about_to_run_is_left_to_it() {
    let mut group = settled(1, 1);
    let mut java = Transaction::new();
    java.create("/job/sharding/0/failover", "10.0.0.9@-@1", CreateMode::Ephemeral);
    group.operate(&java, false);
    group.run_until(6_000);
    assert!(items(&group, 0).is_empty());
}

#[test]
fn an_operator_that_removes_an_instance_makes_nobody_run_its_items_beside_it() {
    let mut group = settled(2, 2);
    group.run_until(5_000);
    let (removed, survivor) = (runner(&group, 0), runner(&group, 1));
    group.hosts[survivor].clear();
    let mut transaction = Transaction::new();
    transaction.delete(JobPath::Instance(group.hosts[removed].engine.instance().clone()).absolute(&job()), None);
    group.operate(&transaction, false);
    group.run_until(9_000);
    assert!(items(&group, survivor).is_empty());
    group.end_items(removed, &[0]);
    assert!(group.hosts[removed].stopped);
    group.run_until(9_500);
    assert!(items(&group, survivor).is_empty());
}

#[test]
fn only_enabled_servers_take_over() {
    let mut group = settled(2, 2);
    group.run_until(5_000);
    let (dead, survivor) = (runner(&group, 0), runner(&group, 1));
    group.end_items(survivor, &[1]);
    group.hosts[survivor].clear();
    let server = JobPath::Server(format!("10.0.0.{}", survivor + 1).into());
    group.set(&server, "DISABLED");
    group.kill(dead);
    group.run_until(8_000);
    assert!(items(&group, survivor).is_empty());
    group.set(&server, "ENABLED");
    group.run_until(8_100);
    assert_eq!(group.starts(survivor)[0], (FIRST, FAILOVER, vec![0]));
}

#[test]
fn switched_off_it_leaves_nothing_behind() {
    let mut group = settled(2, 2);
    group.run_until(5_000);
    let (dead, survivor) = (runner(&group, 0), runner(&group, 1));
    let server = JobPath::Server(format!("10.0.0.{}", survivor + 1).into());
    group.set(&server, "DISABLED");
    group.kill(dead);
    let mut foreign = Transaction::new();
    foreign.create("/job/leader/failover", "", CreateMode::Persistent);
    foreign.create("/job/leader/failover/items", "", CreateMode::Persistent);
    foreign.create("/job/leader/failover/items/1", "", CreateMode::Persistent);
    foreign.create("/job/sharding/0/failovering", "10.0.0.9@-@1", CreateMode::Persistent);
    group.operate(&foreign, true);
    group.set(&JobPath::Config, &wire::to_yaml(&with_failover(2, false)));
    group.set(&server, "ENABLED");
    group.connect_anew(survivor);
    group.run_until(6_000);
    for path in [JobPath::running(0), JobPath::FailoverItem(1), JobPath::Item(0, ItemNode::Failovering)] {
        assert!(!group.exists(&path), "{path}");
    }
}

#[test]
fn a_run_of_a_java_peer_is_taken_over_with_the_time_at_which_it_began() {
    let mut group = settled(1, 1);
    let mut java = Transaction::new();
    java.create(
        "/job/instances/10.0.0.9@-@1",
        "jobInstanceId: 10.0.0.9@-@1\nserverIp: 10.0.0.9\n",
        CreateMode::Ephemeral,
    );
    java.create("/job/sharding/0/running", "10.0.0.9@-@1", CreateMode::Persistent);
    group.operate(&java, false);
    group.run_until(4_500);
    assert!(items(&group, 0).is_empty());
    let mut dies = Transaction::new();
    dies.delete("/job/instances/10.0.0.9@-@1", None);
    group.operate(&dies, false);
    // It may only be creating its node again.
    group.run_until(7_400);
    assert!(group.starts(0).is_empty());
    group.run_until(7_600);
    assert_eq!(group.starts(0), [(Fire::Scheduled(EPOCH + 4_000), FAILOVER, vec![0])]);
}

#[test]
fn a_process_that_comes_back_with_a_new_session_hands_its_cut_off_run_over() {
    let mut group = settled(1, 1);
    group.run_until(5_000);
    let old = group.hosts[0].session;
    assert_eq!(old, SessionId(2));
    group.disconnect(0);
    group.run_until(14_500);
    group.cut_off_items(0, &[0]);
    group.expire(old);
    group.connect_anew(0);
    group.run_until(14_900);
    assert_eq!(group.starts(0)[1], (FIRST, FAILOVER, vec![0]));
    assert!(record(&group, 0).running().is_some());
}

#[test]
fn what_a_process_handed_over_runs_before_its_next_fire_though_its_mark_is_there_still() {
    // Begun with failover off, the mark ends with its session, and that may be later than the run.
    let mut group = Group::settled(1, &with_failover(1, false));
    group.run_until(5_000);
    group.set(&JobPath::Config, &wire::to_yaml(&with_failover(1, true)));
    let old = group.hosts[0].session;
    group.disconnect(0);
    group.run_until(9_000);
    group.cut_off_items(0, &[0]);
    group.connect_anew(0);
    group.run_until(10_500);
    assert_eq!(group.starts(0).len(), 1, "{:?}", group.starts(0));
    assert!(group.exists(&JobPath::FailoverItem(0)));
    group.expire(old);
    group.run_until(11_000);
    assert_eq!(group.starts(0)[1], (FIRST, FAILOVER, vec![0]));
    group.end_items(0, &[0]);
    assert_eq!(group.starts(0)[2].1, ExecutionSource::Misfire);
}

#[test]
fn who_got_another_id_meanwhile_takes_its_mark_away() {
    let mut group = settled(1, 1);
    group.run_until(5_000);
    let before = group.hosts[0].engine.instance().clone();
    let session = group.hosts[0].session;
    group.disconnect(0);
    group.expire(session);
    let mut foreign = Transaction::new();
    foreign.create(JobPath::Instance(before.clone()).absolute(&job()), "", CreateMode::Ephemeral);
    group.operate(&foreign, true);
    group.tell(0, Event::Watch(WatchEvent::Gap));
    group.connect_anew(0);
    group.run_until(5_500);
    assert_ne!(*group.hosts[0].engine.instance(), before, "{:?}", group.hosts[0].notices);
    assert_eq!(group.text(&JobPath::running(0)).as_deref(), Some(before.as_str()));
    group.end_items(0, &[0]);
    group.run_until(7_000);
    assert_eq!(group.text(&JobPath::running(0)), None);
    assert_eq!(group.starts(0).len(), 1);
}

#[test]
fn what_was_handed_over_before_the_item_was_removed_does_not_run_when_it_is_there_again() {
    let mut group = settled(2, 1);
    let mut operator = Transaction::new();
    for path in [JobPath::LeaderFailover, JobPath::FailoverItems, JobPath::FailoverItem(1)] {
        operator.create(path.absolute(&job()), "", CreateMode::Persistent);
    }
    operator.set(JobPath::Config.absolute(&job()), wire::to_yaml(&with_failover(2, true)), None);
    group.operate(&operator, false);
    assert!((0..2).all(|host| group.starts(host).is_empty()));
    assert!(group.owners(2).iter().all(Option::is_some));
    group.run_until(4_900);
    assert!(!group.exists(&JobPath::FailoverItem(1)));
}
