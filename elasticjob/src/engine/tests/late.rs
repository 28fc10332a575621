//! Fires that no instance began in time: begun late, or given up with a reason.

mod disabled;
mod edits;
mod untold;

use super::group::{EPOCH, Group, Lost, every_five};
use crate::config::{JobConfiguration, JobConfigurationBuilder};
use crate::engine::{Event, Notice};
use crate::fire::{ExecutionSource, Fire, FireRecord, LateCause, SkipReason};
use crate::registry::layout::JobPath;
use crate::registry::{CreateMode, Transaction};

/// 40 s after the start of each test, once a day.
const NIGHTLY: &str = "0 14 22 * * ?";
const FIRE: Fire = Fire::Scheduled(EPOCH + 40_000);
const NORMAL: ExecutionSource = ExecutionSource::NormalTrigger;

fn nightly(total: u32) -> JobConfigurationBuilder {
    JobConfiguration::builder("job", total).cron(NIGHTLY).time_zone("UTC").failover(true)
}

/// A process ends now; the server ends its session later.
fn kill_and_expire(group: &mut Group, host: usize, at: u64) {
    group.hosts[host].killed = true;
    group.hosts[host].connected = false;
    group.run_until(at);
    let session = group.hosts[host].session;
    group.expire(session);
}

#[test]
fn a_fire_whose_owner_died_shortly_before_it_is_begun_when_its_session_has_ended() {
    let mut group = Group::settled(2, &nightly(2).build().unwrap());
    group.run_until(25_000);
    let lost: Vec<u32> = (0..2).filter(|item| group.owners(2)[*item as usize] == Some(0)).collect();
    kill_and_expire(&mut group, 0, 65_000);
    group.run_until(66_000);
    let of_lost: Vec<_> = group.starts(1).into_iter().filter(|(_, _, items)| *items == lost).collect();
    assert_eq!(of_lost, [(FIRE, NORMAL, lost)]);
}

#[test]
fn a_fire_that_falls_into_an_outage_of_the_registry_center_is_begun_after_it() {
    for new_session in [false, true] {
        let mut group = Group::settled(1, &nightly(2).build().unwrap());
        group.run_until(20_000);
        group.disconnect(0);
        group.run_until(360_000);
        assert_eq!(group.starts(0), []);
        if new_session {
            group.expire(group.hosts[0].session);
            group.connect_anew(0);
        } else {
            group.connect(0);
        }
        group.run_until(361_000);
        assert_eq!(group.starts(0), [(FIRE, NORMAL, vec![0, 1])], "in a new session: {new_session}");
    }
}

#[test]
fn a_fire_over_which_all_hosts_were_restarted_is_begun_by_those_that_come_back() {
    let configuration = nightly(2).build().unwrap();
    let mut group = Group::settled(2, &configuration);
    group.run_until(30_000);
    group.kill(0);
    group.kill(1);
    group.run_until(100_000);
    let back = group.join("10.0.0.3", &configuration);
    group.run_until(101_000);
    assert_eq!(group.starts(back), [(FIRE, NORMAL, vec![0, 1])]);
}

fn skips(group: &Group, host: usize) -> Vec<(Vec<u32>, SkipReason)> {
    let skips = group.hosts[host].notices.iter().filter_map(|notice| match notice {
        Notice::Skipped { fire: FIRE, items, reason } => Some((items.clone(), reason.clone())),
        _ => None,
    });
    skips.collect()
}

fn at(seconds: i64) -> Fire {
    Fire::Scheduled(EPOCH + 1_000 * seconds)
}

fn through(group: &Group, item: u32) -> Option<i64> {
    FireRecord::parse(group.text(&JobPath::fire(item)).unwrap().as_bytes()).through
}

/// The items of the first instance, which dies 15 s before the fire, and whose session ends 25 s after it.
fn owner_dies(configuration: &JobConfiguration) -> (Group, Vec<u32>) {
    let mut group = Group::settled(2, configuration);
    group.run_until(25_000);
    let lost = (0..2).filter(|item| group.owners(2)[*item as usize] == Some(0)).collect();
    kill_and_expire(&mut group, 0, 65_000);
    group.run_until(66_000);
    (group, lost)
}

#[test]
fn what_begins_late_says_so_and_counts_once() {
    let (mut group, lost) = owner_dies(&nightly(2).build().unwrap());
    let late = Notice::BegunLate { fire: FIRE, items: lost.clone(), seconds: 25, why: LateCause::Acquired };
    assert!(group.hosts[1].notices.contains(&late), "{:?}", group.hosts[1].notices);
    group.end_items(1, &[0, 1]);
    group.run_until(70_000);
    assert_eq!(group.hosts[1].engine.status().fires, 1);
}

#[test]
fn items_that_come_after_the_run_of_their_fire_do_not_count_it_again() {
    let mut group = Group::settled(2, &nightly(2).failover(false).build().unwrap());
    group.run_until(41_000);
    let (own, other) = (group.starts(1)[0].2.clone(), group.starts(0)[0].2.clone());
    group.end_items(1, &own);
    // As if its owner had not come to the fire.
    group.set(&JobPath::fire(other[0]), "{}");
    let session = group.hosts[0].session;
    group.hosts[0].killed = true;
    group.expire(session);
    group.run_until(70_000);
    group.end_items(1, &other);
    group.run_until(80_000);
    let starts = group.starts(1);
    assert_eq!((starts.len(), group.hosts[1].engine.status().fires), (2, 1), "{starts:?}");
}

#[test]
fn a_limit_that_is_over_is_said_by_the_new_owner() {
    let limited = nightly(2).max_late_begin_seconds(20).build().unwrap();
    let no_misfire = nightly(2).misfire(false).build().unwrap();
    for (configuration, limit) in [(limited, 20), (no_misfire, 10)] {
        let (group, lost) = owner_dies(&configuration);
        assert!(group.starts(1).iter().all(|(_, _, items)| *items != lost), "{:?}", group.starts(1));
        assert_eq!(skips(&group, 1), [(lost, SkipReason::TooLate { seconds: 25, limit })]);
    }
    let (group, lost) = owner_dies(&nightly(2).misfire(false).max_late_begin_seconds(30).build().unwrap());
    assert!(group.starts(1).iter().any(|(_, _, items)| *items == lost), "{:?}", group.starts(1));
}

#[test]
fn what_was_given_up_is_said_once_and_what_was_not_said_is_said_before_the_next_fire() {
    // Fires 20, 40 and 80 s after the start; then one after 60 s, too.
    for (seconds, from) in [("0/40", None), ("0/20", Some(EPOCH + 40_000))] {
        let job = JobConfiguration::builder("job", 2).cron(format!("{seconds} * * * * ?")).max_late_begin_seconds(2);
        let mut group = Group::settled(2, &job.build().unwrap());
        group.run_until(21_000);
        let (own, lost) = (group.starts(1)[0].2.clone(), group.starts(0)[0].2.clone());
        group.end_items(0, &lost);
        group.end_items(1, &own);
        group.hosts[0].killed = true;
        group.hosts[0].connected = false;
        for second in [40, 60] {
            group.run_until(1_000 * second + 1_000);
            if group.starts(1).contains(&(at(second as i64), NORMAL, own.clone())) {
                group.end_items(1, &own);
            }
        }
        group.run_until(65_000);
        let session = group.hosts[0].session;
        group.expire(session);
        group.run_until(81_000);
        assert!(group.starts(1).contains(&(at(80), NORMAL, vec![0, 1])), "{:?}", group.starts(1));
        let notices = group.hosts[1].notices.iter();
        let said: Vec<_> = notices.filter(|notice| matches!(notice, Notice::NotBegun { .. })).cloned().collect();
        let from = from.map(|from| Notice::NotBegun { items: lost, from, before: EPOCH + 80_000 });
        assert_eq!(said, Vec::from_iter(from), "{seconds}");
    }
}

#[test]
fn whoever_takes_a_run_over_says_what_nobody_began_since() {
    for (misfire, is_busy, begun) in [(true, false, 40), (true, true, 40), (false, false, 50)] {
        let job = JobConfiguration::builder("job", 2).cron("0/10 * * * * ?").failover(true).misfire(misfire);
        let mut group = Group::settled(2, &job.build().unwrap());
        group.run_until(10_000);
        let (own, lost) = (group.starts(1)[0].2.clone(), group.starts(0)[0].2.clone());
        group.hosts[0].killed = true;
        group.hosts[0].connected = false;
        for second in [20, 30, 40, 45] {
            group.run_until(1_000 * second - 1_000);
            if !is_busy {
                group.end_items(1, &own);
            }
            group.run_until(1_000 * second);
        }
        let session = group.hosts[0].session;
        group.expire(session);
        group.run_until(46_000);
        assert!(group.starts(1).contains(&(at(10), ExecutionSource::Failover, lost.clone())), "{:?}", group.starts(1));
        group.run_until(49_000);
        group.end_items(1, &lost);
        group.end_items(1, &own);
        group.run_until(50_000);
        let is_begun = |(fire, _, items): &(Fire, _, Vec<u32>)| *fire == at(begun) && items.ends_with(&lost);
        assert!(group.starts(1).iter().any(is_begun), "{misfire}, {is_busy}: {:?}", group.starts(1));
        let notices = group.hosts[1].notices.iter();
        let said: Vec<_> = notices.filter(|notice| matches!(notice, Notice::NotBegun { .. })).cloned().collect();
        let expected = Notice::NotBegun { items: lost, from: EPOCH + 20_000, before: EPOCH + 1_000 * begun };
        assert_eq!(said, [expected], "{misfire}, {is_busy}");
    }
}

#[test]
fn what_the_records_cover_is_not_begun_by_those_that_start_later_and_nothing_is_said() {
    let configuration = nightly(2).build().unwrap();
    let mut group = Group::settled(1, &configuration);
    group.run_until(40_000);
    group.end_items(0, &[0, 1]);
    group.kill(0);
    group.run_until(100_000);
    let back = group.join("10.0.0.3", &configuration);
    group.run_until(110_000);
    assert_eq!((group.starts(back), skips(&group, back)), (vec![], vec![]));
    assert_eq!(group.hosts[back].engine.status().fires, 0);
}

#[test]
fn a_new_job_does_not_run_a_fire_of_before() {
    let configuration = nightly(2).build().unwrap();
    let mut group = Group::new();
    group.run_until(50_000);
    let host = group.join("10.0.0.1", &configuration);
    // The instance that comes next finds the configuration there, and items that no instance has begun.
    let next = group.join("10.0.0.2", &configuration);
    group.run_until(100_000);
    assert_eq!((group.starts(host), group.starts(next)), (vec![], vec![]));
    assert_eq!((skips(&group, host), skips(&group, next)), (vec![], vec![]));
}

#[test]
fn of_several_fires_of_an_outage_the_last_is_begun_and_the_others_are_said() {
    let configuration = JobConfiguration::builder("job", 1).cron("0/20 * * * * ?").build().unwrap();
    let mut group = Group::settled(1, &configuration);
    group.run_until(20_000);
    group.end_items(0, &[0]);
    group.disconnect(0);
    group.run_until(85_000);
    group.connect(0);
    assert_eq!(group.starts(0)[1..], [(at(80), NORMAL, vec![0])]);
    for lost in [40, 60] {
        let said = Notice::Skipped { fire: at(lost), items: vec![], reason: SkipReason::RegistryLost };
        assert!(group.hosts[0].notices.contains(&said), "{lost}: {:?}", group.hosts[0].notices);
    }
}

#[test]
fn of_several_fires_over_a_restart_the_last_is_begun_and_the_others_are_said() {
    let configuration = JobConfiguration::builder("job", 1).cron("0/20 * * * * ?").build().unwrap();
    let mut group = Group::settled(1, &configuration);
    group.run_until(20_000);
    group.end_items(0, &[0]);
    group.kill(0);
    group.run_until(85_000);
    let back = group.join("10.0.0.3", &configuration);
    group.run_until(86_000);
    assert_eq!(group.starts(back), [(at(80), NORMAL, vec![0])]);
    let said = Notice::NotBegun { items: vec![0], from: EPOCH + 40_000, before: EPOCH + 80_000 };
    assert!(group.hosts[back].notices.contains(&said), "{:?}", group.hosts[back].notices);
}

#[test]
fn beside_a_java_instance_nothing_begins_late() {
    let mut group = Group::settled(2, &nightly(2).build().unwrap());
    let mut java = Transaction::new();
    java.create("/job/servers/10.0.0.9", "DISABLED", CreateMode::Persistent);
    let node = "jobInstanceId: 10.0.0.9@-@1\nserverIp: 10.0.0.9\n";
    java.create("/job/instances/10.0.0.9@-@1", node, CreateMode::Ephemeral);
    group.operate(&java, false);
    group.run_until(25_000);
    let lost: Vec<u32> = (0..2).filter(|item| group.owners(2)[*item as usize] == Some(0)).collect();
    kill_and_expire(&mut group, 0, 65_000);
    group.run_until(66_000);
    assert_eq!(skips(&group, 1), [(lost, SkipReason::MaybeRunByJava)]);
}

#[test]
fn an_item_that_a_java_leader_assigned_since_is_not_begun_late() {
    let configuration = nightly(1).build().unwrap();
    let mut group = Group::settled(1, &configuration);
    group.run_until(20_000);
    group.kill(0);
    group.run_until(50_000);
    let mut java = Transaction::new();
    java.delete("/job/sharding/0/instance", None);
    java.create("/job/sharding/0/instance", "10.0.0.9@-@1", CreateMode::Persistent);
    group.operate(&java, false);
    let back = group.join("10.0.0.3", &configuration);
    group.run_until(60_000);
    assert_eq!((group.starts(back), skips(&group, back)), (vec![], vec![(vec![0], SkipReason::MaybeRunByJava)]));
}

#[test]
fn static_items_of_an_owner_that_died_before_the_fire_are_said_by_the_leader() {
    let configuration = JobConfiguration::builder("job", 2).cron("0/40 * * * * ?").time_zone("UTC");
    let mut group = Group::settled(2, &configuration.static_sharding(true).build().unwrap());
    // The items are assigned with the first fire. The leader stays.
    group.run_until(20_000);
    let (own, lost) = (group.starts(0)[0].2.clone(), group.starts(1)[0].2.clone());
    group.end_items(0, &own);
    group.end_items(1, &lost);
    group.run_until(25_000);
    kill_and_expire(&mut group, 1, 65_000);
    let owner = group.hosts[1].engine.instance().clone();
    assert_eq!(skips(&group, 0), [(lost, SkipReason::OwnerGone { owner })]);
}

#[test]
fn a_manual_run_meanwhile_does_not_take_the_place_of_the_fire() {
    let mut group = Group::settled(2, &nightly(2).build().unwrap());
    group.run_until(25_000);
    let lost: Vec<u32> = (0..2).filter(|item| group.owners(2)[*item as usize] == Some(0)).collect();
    let own: Vec<u32> = (0..2).filter(|item| !lost.contains(item)).collect();
    group.hosts[0].killed = true;
    group.run_until(41_000);
    group.end_items(1, &own);
    group.tell(1, Event::Trigger(1, None));
    group.end_items(1, &own);
    assert!(matches!(group.starts(1)[1], (Fire::Manual { .. }, _, _)), "{:?}", group.starts(1));
    kill_and_expire(&mut group, 0, 65_000);
    group.run_until(66_000);
    // It was asked of the instance that died, too, and goes on with the fire after it.
    assert!(
        matches!(group.starts(1)[2], (Fire::Manual { .. }, ExecutionSource::Failover, ref items) if *items == lost)
    );
    group.end_items(1, &lost);
    group.run_until(68_000);
    assert_eq!(group.starts(1)[3..], [(FIRE, ExecutionSource::Misfire, lost)]);
}

#[test]
fn an_item_that_comes_to_a_busy_instance_is_made_up_for_after_its_run() {
    let configuration = JobConfiguration::builder("job", 2).cron("0/40 * * * * ?").time_zone("UTC").build().unwrap();
    let mut group = Group::settled(2, &configuration);
    group.run_until(20_000);
    let own = group.starts(1)[0].2.clone();
    let lost: Vec<u32> = (0..2).filter(|item| !own.contains(item)).collect();
    group.end_items(0, &lost);
    // Its process dies, and the other one runs on over the next fire.
    group.run_until(35_000);
    kill_and_expire(&mut group, 0, 65_000);
    group.run_until(66_000);
    assert_eq!(group.owners(2), [Some(1); 2]);
    group.end_items(1, &own);
    assert_eq!(group.starts(1)[1..], [(FIRE, ExecutionSource::Misfire, vec![0, 1])]);
}

#[test]
fn a_manual_trigger_holds_up_a_scheduled_fire_for_its_run_and_no_longer() {
    let mut group = Group::settled(2, &nightly(2).build().unwrap());
    group.run_until(25_000);
    let (lost, own): (Vec<u32>, Vec<u32>) = (0..2).partition(|item| group.owners(2)[*item as usize] == Some(0));
    group.hosts[0].killed = true;
    group.hosts[0].connected = false;
    group.run_until(41_000);
    group.end_items(1, &own);
    group.tell(1, Event::Trigger(1, None));
    group.end_items(1, &own);
    let is_manual = |(fire, ..): &(Fire, ExecutionSource, Vec<u32>)| matches!(fire, Fire::Manual { .. });
    assert_eq!(group.starts(1).iter().filter(|start| is_manual(start)).count(), 1);
    group.expire(group.hosts[0].session);
    group.run_until(42_000);
    // First the trigger, which was written for the instance that is gone too: its items are taken over, once.
    let last = group.starts(1).last().cloned().unwrap();
    assert!(is_manual(&last) && last.1 == ExecutionSource::Failover && last.2 == lost, "{last:?}");
    group.end_items(1, &lost);
    group.run_until(43_000);
    assert_eq!(group.starts(1).last(), Some(&(FIRE, ExecutionSource::Misfire, lost.clone())));
    group.end_items(1, &lost);
    group.run_until(60_000);
    assert_eq!(group.starts(1).iter().filter(|start| is_manual(start)).count(), 2);
}

#[test]
fn a_fire_after_one_that_did_not_begin_without_an_answer_is_due() {
    let off = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").misfire(false).build().unwrap();
    // The later of two fires takes the place of the other one.
    for (back, begins) in [(12_000, 10), (17_000, 15)] {
        let mut group = Group::settled(1, &off);
        group.hosts[0].lost = Lost::BeforeItArrived;
        group.run_until(5_000);
        group.disconnect(0);
        group.run_until(back);
        group.connect(0);
        group.run_until(back + 1_000);
        let fire = Fire::Scheduled(EPOCH + begins * 1_000);
        assert_eq!(group.starts(0), [(fire, ExecutionSource::NormalTrigger, vec![0])]);
        let given_up = |notice: &&Notice| matches!(notice, Notice::Skipped { reason: SkipReason::BeginUnknown, .. });
        assert_eq!(group.hosts[0].notices.iter().filter(given_up).count(), usize::from(begins == 15));
        group.end_items(0, &[0]);
        assert_eq!(group.hosts[0].engine.status().fires, begins as u64 / 5);
    }
}

#[test]
fn a_fire_that_came_while_a_begin_was_unknown_is_decided_before_the_next_one() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(6_000);
    group.end_items(0, &[0]);
    group.disconnect(0);
    // Its begin is known by now, and the rules were not asked since.
    group.hosts[0].engine.fires.undecided = Some(EPOCH + 9_000);
    group.run_until(10_500);
    group.connect_anew(0);
    group.run_until(11_000);
    assert_eq!(group.starts(0)[1].0, Fire::Scheduled(EPOCH + 10_000));
}
