use super::*;

use crate::runtime::Activity;

#[tokio::test]
async fn a_trigger_runs_every_item_once_and_says_whom_it_asked() {
    let desk = Desk::new();
    let (handler, mut runs) = reporter();
    let job = desk.start(once_a_year("report", 2), handler).await;
    let me = job.handle().status().borrow().instance.clone();
    let outcome = desk.operations.trigger(&Target::Job(name("report"))).await.unwrap().instances;
    assert_eq!(outcome.changed.iter().map(|one| &one.instance).collect::<Vec<_>>(), [&me]);
    assert_eq!(outcome.unchanged, []);
    let mut items =
        [soon(runs.recv()).await.unwrap().sharding_item(), soon(runs.recv()).await.unwrap().sharding_item()];
    items.sort_unstable();
    assert_eq!(items, [0, 1]);
}

#[tokio::test]
async fn who_was_asked_and_has_not_begun_is_not_asked_again() {
    let desk = Desk::new();
    desk.write(&[
        ("/job/servers/10.0.0.1", "ENABLED"),
        ("/job/servers/10.0.0.2", "DISABLED"),
        ("/job/instances/10.0.0.1@-@7", "jobInstanceId: 10.0.0.1@-@7\nserverIp: 10.0.0.1\n"),
        ("/job/instances/10.0.0.2@-@7", ""),
    ])
    .await;
    let first = desk.operations.trigger(&Target::Job(name("job"))).await.unwrap().instances;
    let second = desk.operations.trigger(&Target::Job(name("job"))).await.unwrap().instances;
    assert_eq!((first.changed.len(), first.unchanged.len()), (1, 0));
    assert_eq!((second.changed.len(), second.unchanged), (0, first.changed));
    assert_eq!(desk.operations.names("/job/trigger".into()).await.unwrap(), ["10.0.0.1@-@7"]);
}

#[tokio::test]
async fn a_trigger_and_a_re_run_have_the_trace_of_their_caller_and_else_nothing_of_one() {
    const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let desk = Desk::new();
    let config = "cron: 0 0 0 1 1 ?\ntimeZone: UTC\nshardingTotalCount: 1\nmonitorExecution: true\n";
    for job in ["plain", "traced", "again"] {
        let nodes = ["config", "servers/10.0.0.1", "instances/10.0.0.1@-@7"].map(|node| format!("/{job}/{node}"));
        desk.write(&[(&nodes[0], config), (&nodes[1], "ENABLED"), (&nodes[2], "")]).await;
    }
    let traced = desk.operations.clone().caused_by(TraceParent::parse(CALLER));
    desk.operations.trigger(&Target::Job(name("plain"))).await.unwrap();
    traced.trigger(&Target::Job(name("traced"))).await.unwrap();
    let asked = traced.rerun(&name("again"), 1_767_225_600_000).await.unwrap().rerun;
    let data = async |job: &str| desk.text(&format!("/{job}/trigger/10.0.0.1@-@7")).await.unwrap();
    assert_eq!(data("plain").await, "");
    assert_eq!(data("traced").await, format!(r#"{{"traceparent":"{CALLER}"}}"#));
    let again = format!(r#"{{"of":1767225600000,"asked":{},"traceparent":"{CALLER}"}}"#, asked.asked);
    assert_eq!(data("again").await, again);
}

#[tokio::test]
async fn a_trigger_is_for_a_job_for_a_server_or_for_a_server_of_a_job() {
    let desk = Desk::new();
    for job in ["a", "b"] {
        for ip in ["10.0.0.1", "10.0.0.2"] {
            let nodes = [format!("/{job}/servers/{ip}"), format!("/{job}/instances/{ip}@-@7")];
            desk.write(&[(&nodes[0], "ENABLED"), (&nodes[1], "")]).await;
        }
    }
    let of = |outcome: TriggerOutcome| -> [Vec<String>; 2] {
        let text = |one: &InstanceOfJob| format!("{}:{}", one.job, one.server);
        [outcome.instances.changed, outcome.instances.unchanged].map(|list| list.iter().map(text).collect())
    };
    let by_both = Target::ServerOfJob(name("a"), "10.0.0.1".into());
    assert_eq!(of(desk.operations.trigger(&by_both).await.unwrap()), [vec!["a:10.0.0.1"], vec![]]);
    assert_eq!(desk.operations.names("/a/trigger".into()).await.unwrap(), ["10.0.0.1@-@7"]);
    let by_server = Target::Server("10.0.0.1".into());
    assert_eq!(of(desk.operations.trigger(&by_server).await.unwrap()), [vec!["b:10.0.0.1"], vec!["a:10.0.0.1"]]);
    assert_eq!(desk.operations.names("/b/trigger".into()).await.unwrap(), ["10.0.0.1@-@7"]);

    let nobody = Target::ServerOfJob(name("a"), "10.0.0.9".into());
    let error = desk.operations.trigger(&nobody).await.unwrap_err().to_string();
    assert_eq!(error, "nothing was triggered: no instance is online on server '10.0.0.9' of job 'a'; start one");
    desk.write(&[("/a/servers/10.0.0.2", "DISABLED")]).await;
    let disabled = Target::ServerOfJob(name("a"), "10.0.0.2".into());
    let error = desk.operations.trigger(&disabled).await.unwrap_err().to_string();
    assert_eq!(error, "nothing was triggered: server '10.0.0.2' of job 'a' is disabled; enable it");
}

#[tokio::test]
async fn a_trigger_that_nobody_would_take_is_an_error_that_says_why() {
    let desk = Desk::new();
    desk.write(&[("/job/servers/10.0.0.1", "DISABLED")]).await;
    let error = desk.operations.trigger(&Target::Job(name("job"))).await.unwrap_err().to_string();
    assert!(error.contains("no instance of job 'job' is online"), "{error}");
    desk.write(&[("/job/instances/10.0.0.1@-@7", "")]).await;
    let error = desk.operations.trigger(&Target::Job(name("job"))).await.unwrap_err().to_string();
    assert!(error.contains("are disabled; enable one"), "{error}");
    let error = desk.operations.trigger(&Target::Job(name("nightly"))).await.unwrap_err().to_string();
    assert_eq!(error, "there is no job 'nightly' in the namespace; known: job");
}

#[tokio::test]
async fn a_mistyped_job_is_an_error_that_names_the_nearest_one_of_many() {
    let desk = Desk::new();
    for number in 0..20 {
        desk.write(&[(&format!("/archive-{number}/servers/10.0.0.1"), "ENABLED")]).await;
    }
    desk.write(&[("/settlement/servers/10.0.0.1", "ENABLED")]).await;
    let error = desk.operations.trigger(&Target::Job(name("setlement"))).await.unwrap_err().to_string();
    assert_eq!(error, "there is no job 'setlement' in the namespace; did you mean 'settlement'?");
    let error = desk.operations.trigger(&Target::Job(name("export"))).await.unwrap_err().to_string();
    assert!(error.contains("it has 21, among them archive-0, "), "{error}");
}

#[tokio::test]
async fn servers_are_disabled_by_job_by_address_and_by_both() {
    let desk = Desk::new();
    for job in ["a", "b"] {
        for ip in ["10.0.0.1", "10.0.0.2"] {
            desk.write(&[(&format!("/{job}/servers/{ip}"), "ENABLED")]).await;
        }
    }
    desk.write(&[("/c/servers/10.0.0.2", "ENABLED")]).await;
    let of = |outcome: Outcome<ServerOfJob>| {
        let text = |one: &ServerOfJob| format!("{}:{}", one.job, one.server);
        (outcome.changed.iter().map(text).collect::<Vec<_>>(), outcome.unchanged.iter().map(text).collect::<Vec<_>>())
    };
    let by_both = Target::ServerOfJob(name("a"), "10.0.0.1".into());
    assert_eq!(of(desk.operations.disable_servers(&by_both).await.unwrap()).0, ["a:10.0.0.1"]);
    let by_job = desk.operations.disable_servers(&Target::Job(name("a"))).await.unwrap();
    assert_eq!(of(by_job), (vec!["a:10.0.0.2".to_owned()], vec!["a:10.0.0.1".to_owned()]));
    let by_server = desk.operations.enable_servers(&Target::Server("10.0.0.1".into())).await.unwrap();
    assert_eq!(of(by_server), (vec!["a:10.0.0.1".to_owned()], vec!["b:10.0.0.1".to_owned()]));
    assert_eq!(desk.text("/a/servers/10.0.0.2").await.as_deref(), Some("DISABLED"));
    assert_eq!(desk.text("/c/servers/10.0.0.2").await.as_deref(), Some("ENABLED"));

    for (target, text) in [
        (Target::Server("10.0.0.9".into()), "nothing was done: no job has any server at '10.0.0.9'"),
        (Target::ServerOfJob(name("a"), "10.0.0.9".into()), "nothing was done: job 'a' has no server at '10.0.0.9'"),
    ] {
        let error = desk.operations.disable_servers(&target).await.unwrap_err();
        assert_eq!(error.to_string(), text);
        assert_eq!(error, OperationError::NothingMatched { target, what: "server" });
    }
}

#[tokio::test]
async fn a_shut_down_instance_leaves_and_the_others_stay() {
    let desk = Desk::new();
    let (handler, _runs) = reporter();
    let leaving = desk.start(once_a_year("job", 1), handler.clone()).await;
    let _other = desk.start(once_a_year("other", 1), handler).await;
    let outcome = desk.operations.shut_down(&Target::Job(name("job"))).await.unwrap();
    let id = leaving.handle().status().borrow().instance.clone();
    assert_eq!(outcome.changed.iter().map(|one| &one.instance).collect::<Vec<_>>(), [&id]);
    let mut status = leaving.handle().status();
    soon(status.wait_for(|status| status.activity == Activity::Stopped)).await.unwrap();
    assert_eq!(desk.operations.names("/other/instances".into()).await.unwrap().len(), 1);
    let error = desk.operations.shut_down(&Target::Job(name("job"))).await.unwrap_err().to_string();
    assert_eq!(error, "nothing was done: job 'job' has no instance that is online");
}

#[tokio::test]
async fn a_removed_server_is_forgotten_with_its_instances() {
    let desk = Desk::new();
    desk.write(&[
        ("/job/servers/10.0.0.1", "DISABLED"),
        ("/job/servers/10.0.0.2", "ENABLED"),
        // Its data name another server than its id does.
        ("/job/instances/host@-@7", "jobInstanceId: host@-@7\nserverIp: 10.0.0.1\n"),
        ("/job/instances/10.0.0.2@-@7", ""),
    ])
    .await;
    let outcome = desk.operations.remove_servers(&Target::Server("10.0.0.1".into()), Force::Yes).await.unwrap();
    let removed: Vec<String> = outcome.changed.iter().map(ToString::to_string).collect();
    assert_eq!(removed, ["instance host@-@7 of job 'job'", "server 10.0.0.1 of job 'job'"]);
    assert_eq!(desk.operations.names("/job/servers".into()).await.unwrap(), ["10.0.0.2"]);
    assert_eq!(desk.operations.names("/job/instances".into()).await.unwrap(), ["10.0.0.2@-@7"]);
}

#[tokio::test]
async fn an_item_is_disabled_and_enabled_again_if_there_is_such_an_item() {
    let desk = Desk::new();
    desk.write(&[("/job/sharding/0", ""), ("/job/sharding/1", "")]).await;
    let job = name("job");
    for (outcome, expected) in [
        (desk.operations.disable_item(&job, 1).await.unwrap(), (1, 0)),
        (desk.operations.disable_item(&job, 1).await.unwrap(), (0, 1)),
        (desk.operations.enable_item(&job, 1).await.unwrap(), (1, 0)),
        (desk.operations.enable_item(&job, 1).await.unwrap(), (0, 1)),
    ] {
        assert_eq!((outcome.changed.len(), outcome.unchanged.len()), expected);
    }
    let error = desk.operations.disable_item(&job, 2).await.unwrap_err().to_string();
    assert_eq!(error, "job 'job' has no item 2; its items are 0 to 1");
    let error = desk.operations.disable_item(&name("nobody"), 0).await.unwrap_err().to_string();
    assert!(error.starts_with("there is no job 'nobody'"), "{error}");
    assert_eq!(desk.text("/job/sharding/2").await, None, "nothing was made");
}
