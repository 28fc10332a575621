use super::*;

use crate::ident::InstanceId;
use crate::registry::layout::instance_yaml;

const CONFIG: &str = "cron: 0 0 0 1 1 ?\ndescription: d\nshardingTotalCount: 2\ntimeZone: GMT\n";

/// The record of an item whose last run ended.
fn ended(state: &str, more: &str) -> String {
    let begun = r#""at":5000,"instance":"10.0.0.1@-@7","attempt":"2a-1","began":5003"#;
    format!(r#"{{"through":5000,"last":{{{begun},"state":"{state}","ended":5011,"took":7{more}}}}}"#)
}

#[tokio::test]
async fn the_status_of_a_job_is_the_first_that_holds() {
    let desk = Desk::new();
    desk.write(&[("/job/config", CONFIG), ("/nothing", "")]).await;
    let status = || async { desk.operations.job(&name("job")).await.unwrap().status };
    assert_eq!(status().await, JobState::Crashed);
    desk.write(&[("/job/instances/10.0.0.1@-@7", "")]).await;
    assert_eq!(status().await, JobState::ShardingFlag, "a job without servers is not disabled");
    desk.write(&[("/job/servers/10.0.0.1", "DISABLED")]).await;
    assert_eq!(status().await, JobState::Disabled);
    desk.write(&[("/job/servers/10.0.0.1", "ENABLED"), ("/job/sharding/0/instance", "10.0.0.1@-@7")]).await;
    assert_eq!(status().await, JobState::Ok);
    desk.write(&[("/job/sharding/1/instance", "10.0.0.2@-@7")]).await;
    assert_eq!(status().await, JobState::ShardingFlag);
    desk.write(&[("/job/instances/10.0.0.2@-@7", "")]).await;
    assert_eq!(status().await, JobState::Ok);
    desk.write(&[("/job/sharding/1/fire", &ended("SUCCEEDED", ""))]).await;
    assert_eq!(status().await, JobState::Ok);
    desk.write(&[("/job/sharding/1/fire", &ended("FAILED", r#","error":"no disk""#))]).await;
    assert_eq!(status().await, JobState::Failing);
    assert_eq!(desk.operations.snapshot(&name("job")).await.unwrap().state(), JobState::Failing);
    let jobs = desk.operations.jobs().await.unwrap();
    let [job] = &jobs[..] else { panic!("{jobs:?}") };
    assert_eq!((job.description.as_str(), job.cron.as_deref()), ("d", Some("0 0 0 1 1 ?")));
    assert_eq!((job.instance_count, job.sharding_total_count, &job.problem), (2, 2, &None));
    assert_eq!(job.failed_items, [(1, "no disk".to_owned())].into());
    assert_eq!(desk.operations.job_count().await.unwrap(), 1, "what has no configuration is no job");
}

#[tokio::test]
async fn a_job_that_was_disabled_stays_so_when_its_processes_are_stopped() {
    let desk = Desk::new();
    desk.write(&[("/job/config", CONFIG), ("/job/servers/10.0.0.1", "DISABLED")]).await;
    assert_eq!(desk.operations.job(&name("job")).await.unwrap().status, JobState::Disabled);
    let overview = desk.operations.snapshot(&name("job")).await.unwrap().overview(0);
    assert_eq!(overview.state, JobState::Disabled);
    let disabled = overview.obstacles.iter().find(|finding| finding.code() == "all-servers-disabled");
    assert!(disabled.is_some_and(|finding| finding.since.is_some()), "{:?}", overview.obstacles);
}

#[tokio::test]
async fn a_run_that_no_instance_finished_has_failed_unless_an_instance_looks_at_it() {
    for state in ["RUNNING", "CANCELLED"] {
        let desk = Desk::new();
        desk.write(&[
            ("/job/config", CONFIG),
            ("/job/instances/10.0.0.1@-@7", &instance_yaml(&InstanceId::of_process("10.0.0.1", 7))),
            ("/job/servers/10.0.0.1", "ENABLED"),
            ("/job/sharding/0/instance", "10.0.0.1@-@7"),
            ("/job/sharding/0/fire", &ended(state, "")),
        ])
        .await;
        let failed = async || {
            let brief = desk.operations.job(&name("job")).await.unwrap();
            let row = desk.operations.snapshot(&name("job")).await.unwrap().overview(6_000);
            assert_eq!((brief.status, &brief.failed_items), (row.state, &row.failed));
            brief.failed_items
        };
        assert_eq!(failed().await, [(0, String::new())].into(), "{state}");
        desk.write(&[("/job/leader/failover/items/0", "")]).await;
        assert_eq!(failed().await, [].into(), "it waits for a takeover");
    }
}

#[tokio::test]
async fn a_job_whose_configuration_cannot_be_read_does_not_hide_the_others() {
    let desk = Desk::new();
    desk.write(&[("/job/config", CONFIG), ("/odd/config", "a: [")]).await;
    let jobs = desk.operations.jobs().await.unwrap();
    assert_eq!(jobs.len(), 2);
    assert!(jobs[0].problem.is_none() && jobs[1].problem.is_some(), "{jobs:?}");
}

#[tokio::test]
async fn servers_are_told_over_all_jobs() {
    let desk = Desk::new();
    desk.write(&[
        ("/a/servers/10.0.0.1", "ENABLED"),
        ("/a/instances/10.0.0.1@-@7", ""),
        ("/b/servers/10.0.0.1", "DISABLED"),
        ("/b/instances/10.0.0.1@-@7", ""),
        // A leader of another release removed the server of an instance.
        ("/b/instances/10.0.0.2@-@7", ""),
    ])
    .await;
    let servers = desk.operations.servers().await.unwrap();
    let [one, two] = &servers[..] else { panic!("{servers:?}") };
    assert_eq!((one.server.as_str(), one.instances.len(), one.jobs.len(), one.disabled_jobs), ("10.0.0.1", 1, 2, 1));
    assert_eq!(desk.operations.server_count().await.unwrap(), 2);
    assert_eq!((two.server.as_str(), two.instances.len(), two.jobs.len(), two.disabled_jobs), ("10.0.0.2", 1, 1, 0));
    let jobs = desk.operations.jobs_of_server("10.0.0.1").await.unwrap();
    let told: Vec<_> = jobs.iter().map(|job| (job.job.as_str(), job.status, job.instance_count)).collect();
    assert_eq!(told, [("a", ServerStatus::Enabled, 1), ("b", ServerStatus::Disabled, 1)]);
    assert_eq!(desk.operations.jobs_of_server("10.0.0.3").await.unwrap(), []);
    let servers = desk.operations.servers_of_job(&name("b")).await.unwrap();
    let told: Vec<_> = servers.iter().map(|one| (one.server.as_str(), one.status, one.instances.len())).collect();
    assert_eq!(told, [("10.0.0.1", Some(ServerStatus::Disabled), 1), ("10.0.0.2", None, 1)]);
    assert!(desk.operations.servers_of_job(&name("c")).await.is_err());
}

#[tokio::test]
async fn an_item_that_nobody_may_run_has_no_next_fire() {
    let desk = Desk::new();
    desk.write(&[
        ("/job/config", CONFIG),
        ("/job/servers/10.0.0.1", "DISABLED"),
        ("/job/instances/10.0.0.1@-@7", ""),
        ("/job/sharding/0/instance", "10.0.0.1@-@7"),
    ])
    .await;
    let has_one = async || desk.operations.shards(&name("job"), 0).await.unwrap()[0].next_fire.is_some();
    assert!(!has_one().await, "its server is disabled");
    desk.write(&[("/job/servers/10.0.0.2", "ENABLED"), ("/job/instances/10.0.0.2@-@7", "")]).await;
    assert!(has_one().await, "another one takes it over");
    desk.write(&[("/job/config", &format!("{CONFIG}staticSharding: true\n"))]).await;
    assert!(!has_one().await, "it stays with its owner");
    desk.write(&[("/job/servers/10.0.0.1", "ENABLED")]).await;
    assert!(has_one().await);
}

#[tokio::test]
async fn items_are_told_also_those_of_an_owner_that_is_gone() {
    let desk = Desk::new();
    desk.write(&[
        ("/job/config", &format!("{CONFIG}shardingItemParameters: 0=Beijing\n")),
        ("/job/servers/10.0.0.1", "ENABLED"),
        ("/job/instances/10.0.0.1@-@7", ""),
        ("/job/sharding/0/instance", "10.0.0.1@-@7"),
        ("/job/sharding/0/fire", &ended("SUCCEEDED", "")),
        ("/job/sharding/1/instance", "10.0.0.2@-@7"),
        ("/job/sharding/1/failovering", "10.0.0.1@-@7"),
        ("/job/sharding/2/disabled", ""),
        ("/job/sharding/10/running", "10.0.0.1@-@7"),
    ])
    .await;
    let shards = desk.operations.shards(&name("job"), 0).await.unwrap();
    let told: Vec<_> = shards.iter().map(|shard| (shard.item, shard.status, shard.server.as_deref())).collect();
    let expected = [
        (0, ShardState::Pending, Some("10.0.0.1")),
        (1, ShardState::ShardingFlag, Some("10.0.0.2")),
        (2, ShardState::Disabled, None),
        (10, ShardState::Running, None),
    ];
    assert_eq!(told, expected);
    let last = shards[0].last.as_ref().unwrap();
    assert_eq!((last.began, last.ended, last.took), (Some(5_003), Some(5_011), Some(7)));
    assert_eq!(shards[0].parameter.as_deref(), Some("Beijing"));
    assert!(shards[1].failover);
    // The turn of the year after 1970-01-01.
    assert_eq!((shards[0].next_fire, shards[2].next_fire), (Some(31_536_000_000), None));
}

#[tokio::test]
async fn a_running_job_is_ok_and_its_items_are_told_with_their_last_run() {
    let desk = Desk::new();
    let (handler, mut runs) = reporter();
    let job = desk.start(JobConfiguration::builder("job", 1).cron("* * * * * ?"), handler).await;
    soon(runs.recv()).await.unwrap();
    soon(job.handle().status().wait_for(|status| status.fires >= 1)).await.unwrap();
    assert_eq!(desk.operations.job(&name("job")).await.unwrap().status, JobState::Ok);
    let shards = desk.operations.shards(&name("job"), 0).await.unwrap();
    let id: InstanceId = job.handle().status().borrow().instance.clone();
    assert_eq!(shards[0].instance.as_ref(), Some(&id));
    assert_eq!(shards[0].last.as_ref().unwrap().instance, id);
}

#[tokio::test]
async fn a_dump_has_every_node_without_secrets_and_on_demand_without_addresses() {
    let desk = Desk::new();
    desk.write(&[
        ("/job/config", "props:\n  email.password: hunter2\n"),
        ("/job/foreign/deep", "10.0.0.9"),
        ("/job/servers/10.0.0.1", "ENABLED"),
        ("/job/sharding/0/fire", r#"{"last":{"error":"GET http://sa:hunter2@h/x?access_token=hunter2 failed"}}"#),
    ])
    .await;
    let shown = desk.operations.dump(&name("job"), dump::Addresses::Shown).await.unwrap();
    let expected = "/job/sharding | \n/job/sharding/0 | \n/job/sharding/0/fire | {\"last\":{\"error\":\"GET http://***@h/x?access_token=*** failed\"}}\n/job/servers | \n/job/servers/10.0.0.1 | ENABLED\n/job/foreign | \n/job/foreign/deep | 10.0.0.9\n/job/config | props:\n  email.password: '***'\n\n";
    assert_eq!(shown, expected);
    let hidden = desk.operations.dump(&name("job"), dump::Addresses::Hidden).await.unwrap();
    assert_eq!(hidden, expected.replace("10.0.0.1", "ip1").replace("10.0.0.9", "ip2"));
    assert!(desk.operations.dump(&name("none"), dump::Addresses::Shown).await.is_err());
}
