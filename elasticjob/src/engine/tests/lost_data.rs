//! The registry center loses its data, or an operator removes the job, while instances run.

use super::group::{EPOCH, Group, Host, every_five, job};
use crate::config::{JobConfiguration, wire};
use crate::engine::Notice;
use crate::fire::{ExecutionSource, Fire, SkipReason};
use crate::registry::Transaction;
use crate::registry::layout::JobPath;

/// The data are lost, and all instances come back.
fn lose_and_come_back(group: &mut Group) {
    group.lose_data();
    (0..group.hosts.len()).for_each(|host| group.connect_anew(host));
}

/// Hosts that said that the data were lost.
fn told(group: &Group) -> usize {
    group.hosts.iter().filter(|host| host.notices.contains(&Notice::DataLost)).count()
}

/// The items of a fire that began, of all hosts.
fn begun(group: &Group, at: i64) -> Vec<u32> {
    let of_fire = |host| group.starts(host).into_iter().filter(move |(fire, ..)| *fire == Fire::Scheduled(EPOCH + at));
    let mut items: Vec<u32> = (0..group.hosts.len()).flat_map(of_fire).flat_map(|(.., items)| items).collect();
    items.sort_unstable();
    items
}

#[test]
fn instances_that_come_back_register_the_job_again_and_one_says_so() {
    let mut group = Group::settled(2, &every_five(2));
    let before = group.text(&JobPath::Config);
    group.run_until(6_000);
    for host in 0..2 {
        let own: Vec<u32> = group.starts(host).into_iter().flat_map(|(.., items)| items).collect();
        group.end_items(host, &own);
    }
    lose_and_come_back(&mut group);
    group.run_until(10_500);
    assert_eq!((group.text(&JobPath::Config), told(&group)), (before, 1));
    assert_eq!(begun(&group, 10_000), [0, 1]);
    let server = |host: &Host| group.exists(&JobPath::Server(host.engine.instance().server_ip().into()));
    assert!(group.hosts.iter().all(server));
}

#[test]
fn what_an_operator_edited_is_what_is_written_again() {
    let mut group = Group::settled(2, &every_five(2));
    let edited = "# edited\ncron: 0/10 * * * * ?\njobName: job\nshardingTotalCount: 3\n";
    group.set(&JobPath::Config, edited);
    lose_and_come_back(&mut group);
    group.run_until(10_500);
    assert_eq!(group.text(&JobPath::Config).as_deref(), Some(edited));
    assert_eq!((begun(&group, 5_000), begun(&group, 10_000)), (vec![], vec![0, 1, 2]));
}

#[test]
fn a_configuration_that_could_not_be_used_is_not_written_again() {
    let mut group = Group::settled(1, &every_five(1));
    group.set(&JobPath::Config, "cron: nonsense\njobName: job\nshardingTotalCount: 1\n");
    lose_and_come_back(&mut group);
    group.run_until(5_500);
    assert_eq!(group.text(&JobPath::Config), Some(wire::to_yaml(&every_five(1).for_registry(None))));
    assert_eq!(begun(&group, 5_000), [0]);
}

#[test]
fn a_fire_from_before_the_loss_is_not_run_again() {
    let failover = JobConfiguration::builder("job", 2).cron("0/5 * * * * ?").failover(true);
    let mut group = Group::settled(2, &failover.build().unwrap());
    group.run_until(6_000);
    assert_eq!(begun(&group, 5_000), [0, 1]);
    group.lose_data();
    // One comes back at once, the other one later; what they run is cut off.
    group.hosts.iter_mut().for_each(Host::clear);
    group.connect_anew(0);
    group.run_until(6_500);
    group.connect_anew(1);
    for host in 0..2 {
        let cancelled = std::mem::take(&mut group.hosts[host].cancelled);
        group.cut_off_items(host, &cancelled);
    }
    group.run_until(9_900);
    assert_eq!(begun(&group, 5_000), [] as [u32; 0]);
    group.run_until(10_500);
    assert_eq!(begun(&group, 10_000), [0, 1]);
    let sources = (0..2).flat_map(|host| group.starts(host)).map(|(_, source, _)| source);
    assert!(sources.into_iter().all(|source| source == ExecutionSource::NormalTrigger));
}

#[test]
fn a_run_that_ends_after_the_loss_leaves_the_record_of_another_run_as_it_is() {
    let failover = JobConfiguration::builder("job", 2).cron("0/5 * * * * ?").failover(true);
    let mut group = Group::settled(2, &failover.build().unwrap());
    group.run_until(5_500);
    let owned: Vec<u32> = group.starts(1).into_iter().flat_map(|(.., items)| items).collect();
    group.lose_data();
    group.cut_off_items(0, &[1 - owned[0]]);
    group.connect_anew(0);
    group.run_until(6_000);
    group.trigger(0);
    let running = group.text(&JobPath::fire(owned[0])).unwrap();
    assert!(running.contains("RUNNING"), "{running}");
    // The record has the version that it had before the loss.
    group.cut_off_items(1, &owned);
    group.connect_anew(1);
    group.run_until(7_000);
    assert_eq!(group.text(&JobPath::fire(owned[0])).unwrap(), running);
    assert!(group.exists(&JobPath::running(owned[0])));
    assert_eq!(group.starts(1).len(), 1);
}

/// A new job looks the same as one that the registry center has lost.
#[test]
fn a_clock_that_is_behind_begins_no_fire_from_before_the_job_was_registered_and_says_so() {
    let mut group = Group::new();
    group.run_until(11_000);
    // Here it is 00:03 by its own clock.
    group.clock_offset = -8_000;
    group.join("10.0.0.1", &every_five(1));
    group.run_until(19_000);
    assert_eq!((begun(&group, 5_000), begun(&group, 10_000)), (vec![], vec![]));
    let skipped = |at, milliseconds| Notice::Skipped {
        fire: Fire::Scheduled(EPOCH + at),
        items: vec![0],
        reason: SkipReason::RegisteredSince { milliseconds },
    };
    let notices = &group.hosts[0].notices;
    assert!([skipped(5_000, 6_000), skipped(10_000, 1_000)].iter().all(|skip| notices.contains(skip)), "{notices:?}");
    group.run_until(23_500);
    assert_eq!(begun(&group, 15_000), [0]);
}

#[test]
fn nor_one_whose_items_have_no_record_as_execution_was_not_monitored_when_they_were_made() {
    let mut group = Group::new();
    group.run_until(11_000);
    group.clock_offset = -8_000;
    let unmonitored = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").monitor_execution(false);
    group.join("10.0.0.1", &unmonitored.build().unwrap());
    assert!(!group.exists(&JobPath::fire(0)));
    group.set(&JobPath::Config, &wire::to_yaml(&every_five(1)));
    group.run_until(19_000);
    assert_eq!((begun(&group, 5_000), begun(&group, 10_000)), (vec![], vec![]));
    group.run_until(23_500);
    assert_eq!(begun(&group, 15_000), [0]);
}

#[test]
fn what_a_trigger_asked_for_before_the_loss_is_not_run_again() {
    let mut group = Group::settled(1, &every_five(1));
    group.trigger(0);
    assert_eq!(manual(&group), 1);
    lose_and_come_back(&mut group);
    group.run_until(4_500);
    group.end_items(0, &[0]);
    group.run_until(9_500);
    assert_eq!((manual(&group), begun(&group, 5_000)), (1, vec![0]));
}

#[test]
fn a_trigger_in_the_millisecond_in_which_the_job_is_registered_is_run() {
    let mut group = Group::new();
    group.join("10.0.0.1", &every_five(1));
    group.trigger(0);
    group.run_until(2_000);
    let made = |node: String| group.tree.get(&node).unwrap().unwrap().stat.ctime;
    assert_eq!(made(JobPath::Config.absolute(&job())), made(JobPath::Triggers.absolute(&job())));
    assert_eq!(manual(&group), 1);
}

/// How often the first host began what an operator triggered.
fn manual(group: &Group) -> usize {
    group.starts(0).iter().filter(|(fire, ..)| matches!(fire, Fire::Manual { .. })).count()
}

#[test]
fn a_job_that_an_operator_removes_in_a_session_that_goes_on_stays_removed() {
    let mut group = Group::settled(2, &every_five(2));
    let mut removal = Transaction::new();
    nodes_below(&group, JobPath::Root.absolute(&job())).into_iter().rev().for_each(|node| {
        removal.delete(node, None);
    });
    group.operate(&removal, false);
    group.run_until(12_000);
    assert!(group.hosts.iter().all(|host| host.stopped && host.notices.contains(&Notice::RemovedByOperator)));
    assert!(!group.exists(&JobPath::Config) && told(&group) == 0);
}

/// A node and all below it, each after its parent.
fn nodes_below(group: &Group, node: String) -> Vec<String> {
    let children = group.tree.children(&node).unwrap().unwrap_or_default();
    let below: Vec<String> = children.iter().flat_map(|name| nodes_below(group, format!("{node}/{name}"))).collect();
    [node].into_iter().chain(below).collect()
}
