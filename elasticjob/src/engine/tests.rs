//! The main paths of an engine, transaction by transaction.

mod cancel;
mod cause;
mod clock;
mod deadlines;
mod depend;
mod failover;
mod foreign;
mod group;
mod handed_over;
mod in_parts;
mod java_peers;
mod joining;
mod late;
mod left;
mod listeners;
mod lost_data;
mod misfire;
mod once;
mod own_strategy;
mod reconcile;
mod rerun;
mod retry;
mod room;
mod same_items;
mod sessionless;
mod single_balance;
mod static_sharding;
mod status;
mod stop;
mod sweep;
mod triggers;
mod watch_scope;

use std::time::Duration;

use group::{EPOCH, Group, Lost, every_five, job};

use super::{Event, Notice};
use crate::config::{JobConfiguration, wire};
use crate::fire::{CancelReason, ExecutionSource, Fire, FireRecord, FireState, ItemEnd, SkipReason};
use crate::ident::{InstanceId, ShardingItem};
use crate::job_status::Activity;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, SessionId, Transaction};

const FIRST: Fire = Fire::Scheduled(EPOCH + 5_000);

fn record_of(group: &Group, item: ShardingItem) -> FireRecord {
    FireRecord::parse(group.text(&JobPath::fire(item)).unwrap().as_bytes())
}

#[test]
fn the_first_instance_writes_the_layout() {
    let configuration = every_five(2);
    let mut group = Group::new();
    let host = group.join("10.0.0.1", &configuration);
    let yaml = wire::to_yaml(&configuration);
    let me = "jobInstanceId: 10.0.0.1@-@7\nserverIp: 10.0.0.1\n# elasticjob for Rust\n";
    assert_eq!(
        group.hosts[host].commits,
        [
            format!(
                "+/; +config {yaml}; +servers; +servers/10.0.0.1 ENABLED; +instances; \
                 +~instances/10.0.0.1@-@7 {me}; =instances/10.0.0.1@-@7 {me}"
            ),
            "+leader; +leader/election; +leader/election/latch; +#leader/election/latch/_c_candidate0-latch-"
                .to_owned(),
            "+~leader/election/instance 10.0.0.1@-@7; -leader/election/latch/_c_candidate0-latch-0000000000".to_owned(),
            "?leader/election/instance; +leader/sharding; +leader/sharding/necessary".to_owned(),
            "?leader/election/instance; +sharding {\"schedule\":{\"cron\":\"0/5 * * * * ?\",\"since\":1700000001000}}; \
             +sharding/0; +sharding/0/instance 10.0.0.1@-@7; +sharding/0/fire; \
             +sharding/1; +sharding/1/instance 10.0.0.1@-@7; +sharding/1/fire; -leader/sharding/necessary"
                .to_owned(),
        ]
    );
    assert_eq!(group.hosts[host].engine.status().activity, Activity::Idle);
    assert!(group.hosts[host].engine.status().leader);
}

#[test]
fn a_fire_is_one_transaction_to_begin_and_one_to_finish() {
    let mut group = Group::settled(1, &every_five(2));
    group.run_until(5_000);
    let at = EPOCH + 5_000;
    let record = |state: &str| {
        let attempt = r#""instance":"10.0.0.1@-@7","attempt":"2-00000007.1""#;
        format!(r#"{{"through":{at},"last":{{"at":{at},{attempt},"began":{at},"state":"{state}}}}}"#)
    };
    let begun = record("RUNNING\"");
    let mark = |item| format!("=sharding/{item}/fire {begun}; +~sharding/{item}/running 10.0.0.1@-@7");
    assert_eq!(group.hosts[0].commits, [format!("{}; {}", mark(0), mark(1))]);
    let [start] = &group.hosts[0].started[..] else { panic!("{:?}", group.hosts[0].started) };
    assert_eq!(start.key.fire, FIRST);
    let token = group.tree.get("/job/sharding/0/fire").unwrap().unwrap().stat.mzxid;
    assert_eq!(start.items, [(0, Some(token)), (1, Some(token))]);

    group.hosts[0].clear();
    group.end_items(0, &[0, 1]);
    let ended = record(&format!("SUCCEEDED\",\"ended\":{at},\"took\":3"));
    let end = |item| format!("=sharding/{item}/fire {ended}; -sharding/{item}/running");
    assert_eq!(group.hosts[0].commits, [format!("{}; {}", end(0), end(1))]);
    assert_eq!(group.hosts[0].engine.status().fires, 1);
}

#[test]
fn an_item_that_ends_early_is_written_within_a_second() {
    let mut group = Group::settled(1, &every_five(2));
    group.run_until(5_000);
    group.hosts[0].clear();
    group.end_items(0, &[1]);
    assert_eq!(group.hosts[0].commits.len(), 0);
    group.run_until(6_000);
    assert_eq!(group.hosts[0].commits.len(), 1);
    assert_eq!(group.text(&JobPath::running(1)), None);
    assert!(group.text(&JobPath::running(0)).is_some());
}

#[test]
fn without_monitoring_a_fire_asks_the_registry_nothing() {
    let configuration = JobConfiguration::builder("job", 2).cron("0/5 * * * * ?").monitor_execution(false);
    let mut group = Group::settled(1, &configuration.build().unwrap());
    group.run_until(5_000);
    assert_eq!(group.hosts[0].started[0].items, [(0, None), (1, None)]);
    group.end_items(0, &[0, 1]);
    assert_eq!((group.hosts[0].commits.len(), group.hosts[0].reads), (0, 0));
    assert_eq!(group.hosts[0].engine.status().fires, 1);
}

#[test]
fn an_instance_without_items_asks_the_registry_nothing() {
    let mut group = Group::settled(2, &every_five(1));
    group.run_until(5_000);
    let (with, without) = if group.hosts[0].started.is_empty() { (1, 0) } else { (0, 1) };
    group.end_items(with, &[0]);
    // The first fire after a change reads the owners of the items; from then on they are known.
    group.hosts[without].clear();
    group.run_until(10_000);
    assert_eq!(group.hosts[with].started.len(), 2);
    let idle = &group.hosts[without];
    assert_eq!((idle.started.len(), idle.commits.len(), idle.reads), (0, 0, 0));
    assert_eq!(idle.engine.status().fires, 2);
}

#[test]
fn without_misfire_a_fire_that_falls_into_a_running_one_is_skipped() {
    let configuration = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").misfire(false).build().unwrap();
    let mut group = Group::settled(1, &configuration);
    group.run_until(10_000);
    let second = Fire::Scheduled(EPOCH + 10_000);
    let skipped = Notice::Skipped { fire: second, items: vec![], reason: SkipReason::StillRunning { since: FIRST } };
    assert!(group.hosts[0].notices.contains(&skipped), "{:?}", group.hosts[0].notices);
    group.end_items(0, &[0]);
    assert!(group.text(&JobPath::fire(0)).unwrap().contains(&format!("\"through\":{}", EPOCH + 10_000)));
    assert_eq!(group.hosts[0].started.len(), 1);
    group.run_until(15_000);
    assert_eq!(group.hosts[0].started.len(), 2);
}

#[test]
fn what_the_registry_would_not_take_at_once_is_written_in_several_transactions() {
    const TOTAL: u32 = 1_600;
    let mut group = Group::settled(1, &every_five(TOTAL));
    group.run_until(5_000);
    assert_eq!(group.hosts[0].started[0].items.len(), TOTAL as usize);
    group.hosts[0].clear();
    let now = group.now();
    for item in 0..TOTAL {
        let end = ItemEnd { state: FireState::Failed, took: 3, error: Some("é".repeat(2_000)) };
        group.hosts[0].engine.note(now, Event::ItemEnded { item, end });
    }
    group.tell(0, Event::Tick);
    assert_eq!(group.hosts[0].commits.len(), 3);
    assert!((0..TOTAL).all(|item| group.text(&JobPath::fire(item)).unwrap().contains("FAILED")));
}

#[test]
fn what_is_noted_is_decided_on_with_the_next_event() {
    let mut group = Group::settled(1, &every_five(2));
    group.run_until(5_000);
    group.hosts[0].clear();
    let now = group.now();
    for item in 0..2 {
        let end = ItemEnd { state: FireState::Succeeded, took: 3, error: None };
        group.hosts[0].engine.note(now, Event::ItemEnded { item, end });
        assert!(group.hosts[0].engine.poll_action().is_none());
    }
    group.tell(0, Event::Tick);
    assert_eq!(group.hosts[0].commits.len(), 1);
}

#[test]
fn an_item_that_stayed_where_it_ran_moves_with_the_next_assignment_also_when_it_runs_again() {
    let mut group = Group::settled(1, &every_five(2));
    group.run_until(5_000);
    let joiner = group.join("10.0.0.2", &every_five(2));
    assert_eq!(group.owners(2), [Some(0), Some(0)]);
    let mut request = Transaction::new();
    request.create("/job/leader/sharding/necessary", "", CreateMode::Persistent);
    group.operate(&request, false);
    assert!(group.owners(2).contains(&Some(joiner)), "{:?}", group.owners(2));
    // The run is not disturbed, and the new owner waits for its end.
    group.run_until(10_000);
    assert_eq!(group.starts(joiner), []);
    group.end_items(0, &[0, 1]);
    let [(fire, source, items)] = &group.starts(joiner)[..] else { panic!("{:?}", group.starts(joiner)) };
    assert_eq!((*fire, *source, items.len()), (Fire::Scheduled(EPOCH + 10_000), ExecutionSource::Misfire, 1));
}

#[test]
fn runs_are_cancelled_and_dropped_before_the_server_gives_them_away() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(5_000);
    group.disconnect(0);
    group.run_until(11_999);
    assert!(group.hosts[0].cancelled.is_empty());
    group.run_until(12_000);
    assert_eq!((&group.hosts[0].cancelled[..], &group.hosts[0].aborted[..]), (&[0][..], &[][..]));
    let why = Notice::RunsCancelled { items: vec![0], reason: CancelReason::SessionUnproven };
    assert!(group.hosts[0].notices.contains(&why));
    group.run_until(14_000);
    assert_eq!(group.hosts[0].aborted, [0]);
}

#[test]
fn an_engine_that_ends_by_a_bug_gives_its_runs_no_more_grace_than_their_session() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(5_000);
    group.disconnect(0);
    // The runs would be dropped at the fourteenth second.
    group.run_until(13_500);
    assert_eq!(group.hosts[0].engine.drop_at(group.now()) - group.now().mono, Duration::from_millis(500));
}

#[test]
fn a_job_that_was_never_connected_is_not_back() {
    let mut group = Group::new();
    group.join("10.0.0.1", &every_five(1));
    group.run_until(1_000);
    group.disconnect(0);
    group.connect_anew(0);
    let backs = group.hosts[0].notices.iter().filter_map(|notice| match notice {
        Notice::RegistryBack { first, .. } => Some(*first),
        _ => None,
    });
    assert_eq!(backs.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_run_whose_session_is_proven_goes_on() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(60_000);
    assert!(group.hosts[0].cancelled.is_empty());
}

#[test]
fn an_item_that_is_refused_does_not_hold_back_the_others() {
    let mut group = Group::settled(1, &every_five(3));
    let mut foreign = Transaction::new();
    foreign.create("/job/sharding/1/running", "10.0.0.9@-@1", CreateMode::Ephemeral);
    group.operate(&foreign, true);
    group.run_until(6_000);
    let items: Vec<u32> = group.hosts[0].started.iter().flat_map(|start| &start.items).map(|(item, _)| *item).collect();
    assert_eq!(items, [0, 2]);
    let by = Some(InstanceId::of_process("10.0.0.9", 1));
    let skipped = Notice::Skipped { fire: FIRST, items: vec![1], reason: SkipReason::RunsElsewhere { by } };
    assert!(group.hosts[0].notices.contains(&skipped), "{:?}", group.hosts[0].notices);
}

#[test]
fn a_begin_whose_answer_got_lost_is_adopted_or_repeated() {
    for (lost, attempt) in [(Lost::AfterItWasApplied, "2-00000007.1"), (Lost::BeforeItArrived, "2-00000007.2")] {
        let mut group = Group::settled(1, &every_five(2));
        group.hosts[0].lost = lost;
        group.run_until(7_000);
        assert_eq!(group.hosts[0].commits.len(), 1, "{lost:?}");
        let record = group.text(&JobPath::fire(0)).unwrap();
        assert!(record.contains(attempt), "{record}");
        let [start] = &group.hosts[0].started[..] else { panic!("{:?}", group.hosts[0].started) };
        let token = group.tree.get("/job/sharding/0/fire").unwrap().unwrap().stat.mzxid;
        assert_eq!(start.items, [(0, Some(token)), (1, Some(token))]);
    }
}

#[test]
fn an_instance_that_leaves_takes_its_nodes_along_once_its_run_has_ended() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(5_000);
    group.hosts[0].clear();
    group.tell(0, Event::Shutdown { grace: Duration::from_secs(5) });
    assert_eq!(group.hosts[0].engine.status().activity, Activity::Leaving);
    assert_eq!(group.hosts[0].commits.len(), 0);
    group.end_items(0, &[0]);
    assert_eq!(group.hosts[0].commits[1..], ["-instances/10.0.0.1@-@7; -leader/election/instance"]);
    assert!(group.hosts[0].stopped);
}

#[test]
fn a_blocking_run_does_not_keep_an_instance_from_leaving() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(5_000);
    group.tell(0, Event::Shutdown { grace: Duration::from_secs(5) });
    group.run_until(30_000);
    assert_eq!((&group.hosts[0].cancelled[..], &group.hosts[0].aborted[..]), (&[0][..], &[0][..]));
    assert!(group.hosts[0].stopped);
    assert!(group.hosts[0].notices.contains(&Notice::RunsAbandoned { items: vec![0] }));
    assert_eq!(group.text(&JobPath::Instance(InstanceId::of_process("10.0.0.1", 7))), None);
    assert!(group.text(&JobPath::running(0)).is_some(), "the mark is true as long as the process lives");
}

#[test]
fn a_configuration_that_cannot_be_used_leaves_the_last_good_one_in_force() {
    let mut group = Group::settled(1, &every_five(1));
    group.set(&JobPath::Config, "jobName: job\nshardingTotalCount: 0\n");
    assert!(
        matches!(group.hosts[0].notices[..], [Notice::ConfigurationRefused { .. }]),
        "{:?}",
        group.hosts[0].notices
    );
    group.run_until(5_000);
    assert_eq!(group.hosts[0].started[0].items.len(), 1);
    group.set(&JobPath::Config, &wire::to_yaml(&every_five(2)));
    let changes = vec!["sharding-total-count: '1' -> '2'".to_owned()];
    assert!(group.hosts[0].notices.contains(&Notice::ConfigurationChanged { changes }), "{:?}", group.hosts[0].notices);
    group.end_items(0, &[0, 1]);
    group.run_until(10_000);
    assert_eq!(group.hosts[0].started.last().unwrap().items.len(), 2);
}

#[test]
fn an_id_that_is_taken_gets_a_suffix_and_a_ghost_of_the_own_one_is_replaced() {
    let mut group = Group::settled(1, &every_five(1));
    let twin = group.join("10.0.0.1", &every_five(1));
    assert_eq!(group.hosts[twin].engine.status().instance.as_str(), "10.0.0.1@-@7-00ab");
    group.connect_anew(0);
    assert_eq!(group.hosts[0].engine.status().instance.as_str(), "10.0.0.1@-@7");
    let instance = JobPath::Instance(InstanceId::of_process("10.0.0.1", 7)).absolute(&job());
    let owner = group.tree.get(&instance).unwrap().unwrap().stat.ephemeral_owner;
    assert_eq!(owner, Some(group.hosts[0].session));
    assert_ne!(owner, Some(SessionId(2)));
}

#[test]
fn a_host_without_ipv4_takes_part() {
    let mut group = Group::new();
    for ip in ["2001:db8::30", "10.0.0.1"] {
        group.join(ip, &every_five(2));
    }
    assert_eq!(group.owners(2), [Some(0), Some(1)]);
    assert_eq!(group.text(&JobPath::Server("2001:db8::30".into())).as_deref(), Some("ENABLED"));
}

#[test]
fn a_leader_that_no_session_owns_is_replaced() {
    let mut group = Group::settled(1, &every_five(1));
    let mut transaction = Transaction::new();
    transaction.delete("/job/leader/election/instance", None);
    transaction.create("/job/leader/election/instance", "192.0.2.9@-@1", CreateMode::Persistent);
    group.operate(&transaction, false);
    group.run_until(5_000);
    assert_eq!(group.text(&JobPath::LeaderInstance).as_deref(), Some("10.0.0.1@-@7"));
    assert!(group.hosts[0].engine.status().leader);
}

#[test]
fn an_instance_that_an_operator_deleted_leaves() {
    let mut group = Group::settled(1, &every_five(1));
    let mut transaction = Transaction::new();
    transaction.delete("/job/instances/10.0.0.1@-@7", None);
    group.operate(&transaction, false);
    assert!(group.hosts[0].notices.contains(&Notice::RemovedByOperator));
    assert!(group.hosts[0].stopped);
}

#[test]
fn an_instance_that_an_operator_deleted_takes_the_trigger_along_that_waited_for_it() {
    let mut group = Group::settled(1, &every_five(1));
    group.run_until(5_000);
    group.tell(0, Event::Trigger(1, None));
    let mut transaction = Transaction::new();
    transaction.delete("/job/instances/10.0.0.1@-@7", None);
    group.operate(&transaction, false);
    group.end_items(0, &[0]);
    assert!(group.hosts[0].stopped);
    assert!(!group.exists(&JobPath::Trigger(InstanceId::of_process("10.0.0.1", 7))));
}

#[test]
fn an_instance_whose_id_another_process_took_after_an_operator_deleted_it_leaves_that_one_alone() {
    let mut group = Group::settled(1, &every_five(1));
    let me = "/job/instances/10.0.0.1@-@7";
    let mut transaction = Transaction::new();
    transaction.delete(me, None);
    transaction.create(me, "theirs", CreateMode::Ephemeral);
    group.operate(&transaction, false);
    assert!(group.hosts[0].notices.contains(&Notice::RemovedByOperator));
    assert!(group.hosts[0].stopped);
    assert_eq!(group.tree.get(me).unwrap().unwrap().data.text(), Some("theirs"));
}

#[test]
fn an_item_made_anew_is_not_begun_for_a_fire_of_before() {
    let mut group = Group::settled(1, &every_five(2));
    group.run_until(5_000);
    group.end_items(0, &[0, 1]);
    group.set(&JobPath::Config, &wire::to_yaml(&every_five(1)));
    assert_eq!(group.text(&JobPath::Item(1, ItemNode::Dir)), None);
    let floor = format!(r#"{{"through":{}}}"#, EPOCH + 5_000);
    let noted =
        format!(r#"{{"through":{},"schedule":{{"cron":"0/5 * * * * ?","since":{}}}}}"#, EPOCH + 5_000, EPOCH + 1_000);
    assert_eq!(group.text(&JobPath::Sharding), Some(noted));
    group.set(&JobPath::Config, &wire::to_yaml(&every_five(2)));
    assert_eq!(group.text(&JobPath::fire(1)), Some(floor));
    assert_eq!(group.hosts[0].started.len(), 1);
    group.run_until(10_000);
    assert_eq!(group.hosts[0].started[1].items.len(), 2);
}

#[test]
fn an_item_made_anew_while_nobody_monitored_it_goes_on_where_those_before_it_ended() {
    let unmonitored = |total| {
        let builder = JobConfiguration::builder("job", total).cron("0/5 * * * * ?").monitor_execution(false);
        wire::to_yaml(&builder.build().unwrap())
    };
    let mut group = Group::settled(1, &every_five(2));
    group.tell(0, Event::Trigger(1, None));
    group.end_items(0, &[0, 1]);
    let before = FireRecord::parse(group.text(&JobPath::fire(1)).unwrap().as_bytes());
    assert!(before.triggered.is_some());
    group.set(&JobPath::Config, &unmonitored(1));
    group.set(&JobPath::Config, &unmonitored(2));
    assert_eq!(group.text(&JobPath::fire(1)), None);
    group.set(&JobPath::Config, &wire::to_yaml(&every_five(2)));
    group.run_until(5_000);
    let begun = FireRecord::parse(group.text(&JobPath::fire(1)).unwrap().as_bytes());
    assert_eq!((begun.through, begun.triggered), (Some(EPOCH + 5_000), before.triggered));
}
