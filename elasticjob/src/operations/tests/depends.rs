use super::*;
use crate::config::JobSettings;

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
    let error = desk.operations.update_configuration(&stored, &change).await.unwrap_err().to_string();
    assert!(error.contains("depends-on") && error.contains("b -> c -> b"), "{error}");
    let other = JobSettings { depends_on: Some(vec!["d".to_owned()]), ..stored.configuration.settings() };
    let changed = desk.operations.update_configuration(&stored, &other).await.unwrap();
    assert_eq!(changed.changes, ["depends-on: 'a' -> 'd'"]);
}
