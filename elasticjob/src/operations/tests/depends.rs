use super::*;
use crate::config::JobSettings;
use crate::registry::watched::WatchedRegistry;

/// A job after another one.
fn after(job: &str, parent: &str) -> JobConfigurationBuilder {
    JobConfiguration::builder(job, 1).depends_on([parent])
}

#[tokio::test]
async fn the_graph_has_the_jobs_that_run_after_others_and_says_where_they_stand() {
    let desk = Desk::new();
    let (handler, _runs) = reporter();
    let _extract = desk.start(once_a_year("extract", 1), handler.clone()).await;
    let _alone = desk.start(once_a_year("alone", 1), handler.clone()).await;
    let _load = desk.start(after("load", "extract"), handler.clone()).await;
    let _tell = desk.start(after("tell", "load when failed"), handler).await;
    let graph = desk.operations.graph(None).await.unwrap();
    let jobs: Vec<&str> = graph.jobs.iter().map(|one| one.job.as_str()).collect();
    assert_eq!((jobs, graph.cycles.len()), (vec!["extract", "load", "tell"], 0));
    assert_eq!(graph.jobs[2].depends_on[0].when, crate::config::When::Failed);
    assert!(graph.jobs.iter().all(|one| one.exists && one.latest.is_none()), "{graph:?}");
    assert_eq!(desk.operations.graph(Some(&name("load"))).await.unwrap(), graph);
    assert_eq!(desk.operations.graph(Some(&name("alone"))).await.unwrap().jobs.len(), 1);

    let skipped = r#"{"through":7,"decided":[{"at":7,"skipped":{"job":"extract","when":"succeeded","end":"failed"}}]}"#;
    soon(async {
        while desk.text("/load/dependencies").await.is_none() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    desk.write(&[("/load/dependencies", skipped)]).await;
    let graph = desk.operations.graph(Some(&name("load"))).await.unwrap();
    let latest = graph.jobs[1].latest.clone().unwrap();
    assert_eq!((latest.at, latest.state), (7, GraphState::Skipped));
    let why = "job 'extract' failed, and this job runs when it succeeded";
    assert_eq!(latest.why, why);
    let found = reasons(&desk.operations.snapshot(&name("load")).await.unwrap());
    assert!(found.contains(&Reason::AfterJobs(vec!["extract".to_owned()])), "{found:?}");
    assert!(found.contains(&Reason::SkippedAfter { at: 7, why: why.to_owned() }), "{found:?}");
}

#[tokio::test]
async fn a_change_that_closes_a_cycle_is_refused_and_named() {
    let desk = Desk::new();
    let (handler, _runs) = reporter();
    let _b = desk.start(after("b", "a"), handler.clone()).await;
    let _c = desk.start(after("c", "b"), handler).await;
    let stored = desk.operations.configuration(&name("b")).await.unwrap();
    let change = JobSettings { depends_on: Some(vec!["c".to_owned()]), ..stored.configuration.settings() };
    let error = desk.operations.update_configuration(&stored, &change).await.unwrap_err();
    assert_eq!(desk.operations.try_configuration(&stored, &change).await.unwrap_err(), error, "before it is written");
    let error = error.to_string();
    assert!(error.contains("depends-on") && error.contains("b -> c -> b"), "{error}");
    let other = JobSettings { depends_on: Some(vec!["d".to_owned()]), ..stored.configuration.settings() };
    let changed = desk.operations.update_configuration(&stored, &other).await.unwrap();
    assert_eq!(changed.changes, ["depends-on: 'a' -> 'd'"]);
}

/// Jobs with these settings, which no instance runs.
fn config(total: u32, text: &str) -> String {
    format!("shardingTotalCount: {total}\nmonitorExecution: true\n{text}")
}

#[tokio::test]
async fn what_becomes_of_items_that_follow_items_is_told() {
    let desk = Desk::new();
    let open = r#"{"through":8999,"due":{"at":9000,"since":9100},"items":{"released":[{"since":9100,"items":"0"}],"skipped":[{"items":"1","job":"extract","when":"succeeded","end":"failed"}]}}"#;
    desk.write(&[
        ("/extract/config", &config(3, "cron: 0/5 * * * * ?\n")),
        ("/load/config", &config(3, "props:\n  elasticjob.depends-on: extract items same\n")),
        ("/load/sharding/0/instance", "a@-@1"),
        ("/load/sharding/1/instance", "a@-@1"),
        ("/load/sharding/2/instance", "a@-@1"),
        ("/load/dependencies", open),
    ])
    .await;
    let snapshot = desk.operations.snapshot(&name("load")).await.unwrap();
    let of_item = |item| snapshot.findings_of(item, 0).into_iter().map(|finding| finding.reason).collect::<Vec<_>>();
    let skipped =
        "the item of job 'extract' with its number failed, and this one runs when that one succeeded".to_owned();
    let waits = Reason::WaitsForItem { at: 9_000, jobs: vec!["extract".to_owned()] };
    assert!(!of_item(0).contains(&waits) && of_item(2).contains(&waits), "{:?}", of_item(2));
    assert!(of_item(1).contains(&Reason::SkippedAfter { at: 9_000, why: skipped.clone() }), "{:?}", of_item(1));
    let graph = desk.operations.graph(None).await.unwrap();
    let latest = graph.jobs[1].latest.clone().unwrap();
    assert_eq!((latest.at, latest.state, latest.why), (9_000, GraphState::Due, format!("items 1: {skipped}")));
    assert!(reasons(&snapshot).iter().all(|reason| !matches!(reason, Reason::TotalsDiffer { .. })));
}

#[tokio::test]
async fn totals_that_differ_are_refused_and_told() {
    let desk = Desk::new();
    desk.write(&[
        ("/extract/config", &config(4, "cron: 0/5 * * * * ?\n")),
        ("/load/config", &config(3, "props:\n  elasticjob.depends-on: extract\n")),
    ])
    .await;
    let stored = desk.operations.configuration(&name("load")).await.unwrap();
    let same =
        JobSettings { depends_on: Some(vec!["extract items same".to_owned()]), ..stored.configuration.settings() };
    let error = desk.operations.update_configuration(&stored, &same).await.unwrap_err().to_string();
    assert!(error.contains("job 'extract' has: that has 4 and this one 3"), "{error}");
    let both = JobSettings { sharding_total_count: Some(4), ..same };
    desk.operations.update_configuration(&stored, &both).await.unwrap();
    let stored = desk.operations.configuration(&name("extract")).await.unwrap();
    let fewer = JobSettings { sharding_total_count: Some(2), ..stored.configuration.settings() };
    desk.operations.update_configuration(&stored, &fewer).await.unwrap();
    let found = reasons(&desk.operations.snapshot(&name("load")).await.unwrap());
    assert!(found.contains(&Reason::TotalsDiffer { job: "extract".to_owned(), of_job: 2, own: 4 }), "{found:?}");
}

#[tokio::test]
async fn a_run_has_the_jobs_of_a_group_for_one_fire_and_nothing_of_jobs_that_the_caller_does_not_see() {
    let desk = Desk::new();
    let config = |text: &str| format!("shardingTotalCount: 1\nmonitorExecution: true\n{text}");
    let after = |job: &str| config(&format!("props:\n  elasticjob.depends-on: {job}\n"));
    let record = |at: i64, state: &str| {
        format!(r#"{{"through":{at},"last":{{"at":{at},"instance":"a@-@1","attempt":"1-1","state":"{state}"}}}}"#)
    };
    let skipped =
        r#"{"through":9000,"decided":[{"at":9000,"skipped":{"job":"load","when":"succeeded","end":"failed"}}]}"#;
    desk.write(&[
        ("/extract/config", &config("cron: 0/5 * * * * ?\n")),
        ("/extract/sharding/0/fire", &record(9_000, "SUCCEEDED")),
        ("/load/config", &after("extract")),
        ("/load/sharding/0/fire", &record(9_000, "FAILED")),
        ("/load/dependencies", r#"{"through":9000,"decided":[{"at":4000},{"at":9000}]}"#),
        ("/tidy/config", &after("load")),
        ("/tidy/dependencies", skipped),
        ("/other/config", &after("gone")),
    ])
    .await;
    let runs = desk.operations.graph_runs(None, None, |_| true).await.unwrap();
    let jobs = |run: &GraphRun| -> Vec<String> { run.jobs.iter().map(|one| one.job.job.to_string()).collect() };
    assert_eq!(runs.iter().map(jobs).collect::<Vec<_>>(), [vec!["extract", "load", "tidy"], vec!["gone", "other"]]);
    assert_eq!((runs[0].at, &runs[0].fires[..], runs[1].at), (Some(9_000), &[9_000, 4_000][..], None));
    let states = |run: &GraphRun| -> Vec<Option<GraphState>> {
        run.jobs.iter().map(|one| one.fire.as_ref().map(|fire| fire.state)).collect()
    };
    let ended = [GraphState::Succeeded, GraphState::Failed, GraphState::Skipped].map(Some);
    assert_eq!(states(&runs[0]), ended);
    assert!(runs[1].jobs.iter().all(|one| one.fire.is_none() && one.job.exists == (one.job.job.as_str() == "other")));

    let catalogue = Catalogue::new(WatchedRegistry::new(Arc::new(desk.memory.connect())));
    let listed = catalogue.graph_runs(None, None, 9, |_| true).await.unwrap();
    assert_eq!((&listed.runs, listed.total), (&runs, 2));
    let first = catalogue.graph_runs(None, None, 1, |_| true).await.unwrap();
    assert_eq!((&first.runs[..], first.total), (&runs[..1], 2), "a group that is left out is counted");
    let of_one = catalogue.graph_runs(Some(&name("tidy")), None, 1, |_| true).await.unwrap();
    assert_eq!((&of_one.runs[..], of_one.total), (&runs[..1], 1));
    let unknown = catalogue.graph_runs(Some(&name("none")), None, 1, |_| true).await.unwrap_err();
    assert!(matches!(unknown, OperationError::NoSuchJob { .. }), "{unknown}");

    let earlier = desk.operations.graph_runs(Some(&name("tidy")), Some(4_000), |_| true).await.unwrap();
    assert_eq!((earlier.len(), earlier[0].at), (1, Some(4_000)));
    assert_eq!(states(&earlier[0]), [GraphState::NoFire, GraphState::Past, GraphState::NoFire].map(Some));

    let seen = desk.operations.graph_runs(None, None, |job| job.as_str() == "tidy").await.unwrap();
    assert_eq!(seen.iter().map(jobs).collect::<Vec<_>>(), [["load", "tidy"]]);
    assert_eq!((seen[0].jobs[0].fire.is_none(), seen[0].jobs[0].job.depends_on.len()), (true, 0));
}
