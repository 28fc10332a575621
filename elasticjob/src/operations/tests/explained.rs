use super::*;

use crate::ident::InstanceId;
use crate::registry::layout::instance_yaml;

const CONFIG: &str = "cron: 0 0 0 1 1 ?\nmonitorExecution: true\nshardingTotalCount: 1\ntimeZone: GMT\n";

fn me() -> InstanceId {
    InstanceId::of_process("10.0.0.1", 7)
}

/// A job that could run at any time.
async fn ready() -> Desk {
    let desk = Desk::new();
    desk.write(&[
        ("/job/config", CONFIG),
        ("/job/instances/10.0.0.1@-@7", ""),
        ("/job/servers/10.0.0.1", "ENABLED"),
        ("/job/leader/election/instance", "10.0.0.1@-@7"),
        ("/job/sharding/0/instance", "10.0.0.1@-@7"),
    ])
    .await;
    desk
}

async fn job(desk: &Desk) -> Vec<Finding> {
    desk.operations.snapshot(&name("job")).await.unwrap().findings(0)
}

async fn item(desk: &Desk) -> Vec<Finding> {
    desk.operations.snapshot(&name("job")).await.unwrap().findings_of(0, 0)
}

fn record(state: &str) -> String {
    format!(r#"{{"through":5000,"last":{{"at":5000,"instance":"10.0.0.1@-@7","attempt":"2a-1","state":"{state}"}}}}"#)
}

#[tokio::test]
async fn nothing_keeps_a_ready_job_from_running() {
    let desk = ready().await;
    assert_eq!(job(&desk).await, []);
    assert_eq!(item(&desk).await, [Finding::NeverRun]);
}

#[tokio::test]
async fn an_instance_that_no_session_owns_does_not_count_and_is_told() {
    let desk = ready().await;
    let copied: InstanceId = "10.0.0.1@-@copied".parse().unwrap();
    desk.write(&[("/job/instances/10.0.0.1@-@copied", ""), ("/job/sharding/0/instance", "10.0.0.1@-@copied")]).await;
    assert_eq!(job(&desk).await, [Finding::SessionlessInstances(vec![copied.clone()])]);
    assert_eq!(item(&desk).await, [Finding::OwnerOffline(copied), Finding::NeverRun]);
    let brief = desk.operations.job(&name("job")).await.unwrap();
    assert_eq!((brief.instance_count, brief.status), (1, JobState::ShardingFlag));
}

#[tokio::test]
async fn what_keeps_a_job_from_running_is_told() {
    let cases: [(&str, &str, Finding); 7] = [
        ("/job/servers/10.0.0.1", "DISABLED", Finding::AllServersDisabled),
        ("/job/leader/sharding/necessary", "", Finding::Resharding),
        ("/job/leader/sharding/processing", "", Finding::Resharding),
        ("/job/trigger/10.0.0.1@-@7", "", Finding::Triggered(vec![me()])),
        ("/job/config", "monitorExecution: true\nshardingTotalCount: 1\n", Finding::OneOff),
        ("/job/config", "cron: 0 0 0 1 1 ?\nshardingTotalCount: 1\ntimeZone: GMT\n", Finding::NotMonitored),
        (
            "/job/config",
            "shardingTotalCount: 0\n",
            Finding::ConfigurationRefused("sharding-total-count: 0 is not possible: a fire has at least 1 item".into()),
        ),
    ];
    for (path, data, finding) in cases {
        let desk = ready().await;
        desk.write(&[(path, data)]).await;
        assert_eq!(job(&desk).await, [finding]);
    }
    let desk = Desk::new();
    desk.write(&[("/job", "")]).await;
    assert_eq!(job(&desk).await, [Finding::NoConfiguration, Finding::NoInstance]);
    let desk = Desk::new();
    desk.write(&[("/job/config", CONFIG), ("/job/instances/10.0.0.1@-@7", ""), ("/job/servers/10.0.0.1", "ENABLED")])
        .await;
    assert_eq!(job(&desk).await, [Finding::NoLeader, Finding::NotAssignedYet]);
}

#[tokio::test]
async fn a_schedule_that_has_ended_is_told() {
    let desk = ready().await;
    desk.write(&[(
        "/job/config",
        "cron: 0 0 0 1 1 ? 1971\nmonitorExecution: true\nshardingTotalCount: 1\ntimeZone: GMT\n",
    )])
    .await;
    let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
    assert_eq!(snapshot.findings(0), []);
    assert_eq!(snapshot.findings(31_536_000_000), [Finding::NeverFiresAgain]);
}

#[tokio::test]
async fn what_keeps_an_item_from_running_is_told() {
    let cases: [(&str, &str, Finding); 4] = [
        ("/job/sharding/0/disabled", "", Finding::ItemDisabled),
        ("/job/sharding/0/instance", "10.0.0.2@-@7", Finding::OwnerOffline(InstanceId::of_process("10.0.0.2", 7))),
        ("/job/sharding/0/instance", "", Finding::NoOwner),
        ("/job/servers/10.0.0.1", "DISABLED", Finding::OwnerDisabled(me())),
    ];
    for (path, data, finding) in cases {
        let desk = ready().await;
        desk.write(&[(path, data)]).await;
        assert_eq!(item(&desk).await, [finding, Finding::NeverRun]);
    }
    let desk = ready().await;
    let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
    assert_eq!(snapshot.findings_of(1, 0), [Finding::NoSuchItem(1)]);
}

#[tokio::test]
async fn a_run_lives_is_lost_waits_or_is_left_undone() {
    let desk = ready().await;
    desk.write(&[("/job/sharding/0/running", "10.0.0.1@-@7"), ("/job/sharding/0/fire", &record("RUNNING"))]).await;
    // The session of its attempt has no node, though an instance with the same id is online again.
    assert_eq!(item(&desk).await, [Finding::RunLost { instance: Some(me()), failover: Some(false) }]);
    desk.write(&[("/job/config", &format!("{CONFIG}failover: true\n"))]).await;
    assert_eq!(item(&desk).await, [Finding::RunLost { instance: Some(me()), failover: Some(true) }]);
    desk.write(&[("/job/config", "failover: [")]).await;
    let told = item(&desk).await;
    assert_eq!(told, [Finding::RunLost { instance: Some(me()), failover: None }]);
    assert!(!told[0].to_string().contains("failover is off"), "{}", told[0]);
    desk.write(&[("/job/config", &format!("{CONFIG}failover: true\n"))]).await;
    desk.write(&[("/job/sessions/2a", "10.0.0.1@-@7"), ("/job/sharding/0/failovering", "10.0.0.1@-@7")]).await;
    let found = item(&desk).await;
    assert!(matches!(found[..], [Finding::Running { taken_over: true, .. }]), "{found:?}");

    let desk = ready().await;
    desk.write(&[("/job/sharding/0/fire", &record("CANCELLED"))]).await;
    let found = item(&desk).await;
    assert!(matches!(found[..], [Finding::LeftUndone(_)]), "{found:?}");
    desk.write(&[("/job/leader/failover/items/0", "")]).await;
    assert_eq!(item(&desk).await, [Finding::AwaitsFailover]);
    assert!(Finding::AwaitsFailover.is_obstacle());
}

#[tokio::test]
async fn a_mark_of_a_java_instance_lives_with_that_instance() {
    let desk = ready().await;
    desk.write(&[("/job/sharding/0/running", "10.0.0.1@-@7")]).await;
    assert!(matches!(item(&desk).await[..], [Finding::Running { .. }]));
    desk.write(&[("/job/sharding/0/running", "10.0.0.2@-@7")]).await;
    assert!(matches!(item(&desk).await[..], [Finding::RunLost { .. }]));
}

#[tokio::test]
async fn a_missed_fire_and_the_end_of_a_run_are_told_with_their_times() {
    let desk = ready().await;
    let record = r#"{"through":5000,"missed":9000,"last":{"at":5000,"instance":"10.0.0.1@-@7","attempt":"2a-1","began":5003,"state":"FAILED","ended":5015,"took":12,"error":"no disk"}}"#;
    desk.write(&[("/job/sharding/0/misfire", ""), ("/job/sharding/0/fire", record)]).await;
    let told: Vec<String> = item(&desk).await.iter().map(ToString::to_string).collect();
    let expected = [
        "its last run, NORMAL_TRIGGER for the fire of 1970-01-01T00:00:05+00:00 on 10.0.0.1@-@7 begun at 1970-01-01T00:00:05.003+00:00, failed after 12 ms at 1970-01-01T00:00:05.015+00:00: no disk",
        "the fire of 1970-01-01T00:00:09+00:00 fell into a running one, and is made up for after it",
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_fire_that_no_instance_began_is_told_until_the_next_begin() {
    let desk = ready().await;
    desk.write(&[
        ("/job/instances/10.0.0.1@-@7", &instance_yaml(&me())),
        ("/job/sharding/0/fire", &record("SUCCEEDED")),
        ("/job/config", &format!("{CONFIG}misfire: true\n")),
    ])
    .await;
    let found = async |now: i64| {
        let findings = desk.operations.snapshot(&name("job")).await.unwrap().findings_of(0, now);
        findings.into_iter().find(|finding| matches!(finding, Finding::NotBegun { .. }))
    };
    let written = chrono::Utc::now().timestamp_millis();
    let first = desk.operations.snapshot(&name("job")).await.unwrap().next_fire(written).unwrap();
    let not_begun = |limit, given_up| Some(Finding::NotBegun { first, more: false, limit, given_up });
    assert_eq!(found(first + 1_999).await, None);
    assert_eq!(found(first + 2_000).await, not_begun(None, false));
    desk.write(&[("/job/sharding/0/fire", "{}")]).await;
    assert_eq!(found(first + 2_000).await, not_begun(None, false), "also the first fire of all");
    let year = 366 * 24 * 3_600_000;
    assert_eq!(found(first + year).await, Some(Finding::NotBegun { first, more: true, limit: None, given_up: true }));
    desk.write(&[("/job/config", CONFIG)]).await;
    assert_eq!(found(first + 10_000).await, not_begun(Some(10), false));
    assert_eq!(found(first + 10_001).await, not_begun(Some(10), true));
    // The other reasons.
    for (path, data) in [
        ("/job/sharding/0/disabled", ""),
        ("/job/sharding/0/running", "10.0.0.1@-@7"),
        ("/job/leader/failover/items/0", ""),
        // Data of a Java instance.
        ("/job/instances/10.0.0.2@-@7", ""),
    ] {
        desk.write(&[(path, data)]).await;
        assert_eq!(found(first + 10_001).await, None, "{path}");
        let mut deleted = Transaction::new();
        deleted.delete(path, None);
        desk.operations.registry.commit(deleted).await.unwrap();
        assert_eq!(found(first + 10_001).await, not_begun(Some(10), true));
    }
}

#[tokio::test]
async fn the_schedule_is_followed_since_the_note_of_the_leader_where_it_is_of_that_schedule() {
    let desk = ready().await;
    let since = async || desk.operations.snapshot(&name("job")).await.unwrap().followed_since;
    let edited = desk.operations.registry.get("/job/config").await.unwrap().unwrap().stat.mtime;
    assert_eq!(since().await, Some(edited));
    for (zone, expected) in [("UTC", edited), ("GMT", 7)] {
        let note = format!(r#"{{"schedule":{{"cron":"0 0 0 1 1 ?","since":7,"timeZone":"{zone}"}}}}"#);
        desk.write(&[("/job/sharding", &note)]).await;
        assert_eq!(since().await, Some(expected), "noted for {zone}");
    }
}
