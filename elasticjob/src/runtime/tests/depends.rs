use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::StartError;
use super::*;
use crate::api::{JobError, JobResult};
use crate::fire::Fire;

/// A job after these ones.
fn after(name: &str, jobs: &[&str]) -> JobConfigurationBuilder {
    JobConfiguration::builder(name, 2).depends_on(jobs.iter().copied())
}

#[tokio::test]
async fn a_job_runs_once_after_each_fire_of_the_job_before_it_with_its_scheduled_time() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let (handler, mut children) = reporter();
    let _child = scheduled(&environment, &registry, after("child", &["parent"]), handler).await;
    let (handler, mut parents) = reporter();
    let _parent = scheduled(&environment, &registry, each_second("parent", 2), handler).await;
    let mut ran = BTreeSet::new();
    while ran.len() < 6 {
        let run = soon(children.recv()).await.unwrap();
        assert!(ran.insert((run.fire(), run.sharding_item())), "{ran:?}");
    }
    let mut before = BTreeSet::new();
    while let Ok(run) = parents.try_recv() {
        before.insert((run.fire(), run.sharding_item()));
    }
    assert!(ran.is_subset(&before), "{ran:?} {before:?}");
}

#[tokio::test]
async fn how_the_job_before_has_to_end_decides() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let is_odd = |fire: Fire| fire.at() / 1_000 % 2 == 1;
    let (well, mut after_well) = reporter();
    let (badly, mut after_badly) = reporter();
    let _well = scheduled(&environment, &registry, after("well", &["parent"]), well).await;
    let _badly = scheduled(&environment, &registry, after("badly", &["parent when failed"]), badly).await;
    let handler = item_handler(move |context: ShardingContext| async move {
        let result: JobResult = if is_odd(context.fire()) { Err(JobError::message("odd")) } else { Ok(()) };
        result
    });
    let parent = each_second("parent", 1).job_error_handler_type("IGNORE");
    let _parent = scheduled(&environment, &registry, parent, handler).await;
    for _ in 0..3 {
        assert!(!is_odd(soon(after_well.recv()).await.unwrap().fire()));
        assert!(is_odd(soon(after_badly.recv()).await.unwrap().fire()));
    }
}

#[tokio::test]
async fn an_item_begins_before_the_other_items_of_the_job_before_it_have_ended() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let (handler, mut children) = reporter();
    let _child = scheduled(&environment, &registry, after("child", &["parent items same"]), handler).await;
    let (go_on, wait) = tokio::sync::watch::channel(false);
    let slow = item_handler(move |context: ShardingContext| {
        let mut wait = wait.clone();
        async move {
            if context.sharding_item() == 1 {
                wait.wait_for(|goes_on| *goes_on).await.unwrap();
            }
        }
    });
    // No fire comes right after the first: on a slow machine it would take its place before the job after looks.
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let parent = JobConfiguration::builder("parent", 2).cron(format!("{}/15 * * * * ?", (seconds + 3) % 15));
    let _parent = scheduled(&environment, &registry, parent, slow).await;
    let first = soon(children.recv()).await.unwrap();
    assert_eq!(first.sharding_item(), 0);
    go_on.send(true).unwrap();
    let second = soon(children.recv()).await.unwrap();
    assert_eq!((second.fire(), second.sharding_item()), (first.fire(), 1));
}

#[tokio::test]
async fn a_new_job_that_cannot_follow_another_one_item_by_item_does_not_start() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let (handler, _runs) = reporter();
    let _parent = scheduled(&environment, &registry, each_second("parent", 3), handler.clone()).await;
    let configuration = after("child", &["parent items same"]).build().unwrap();
    let mut unequal = ScheduleJobBootstrap::new(&environment, registry.clone(), configuration, handler).unwrap();
    match unequal.schedule().await {
        Err(StartError::Unsupported { refused, .. }) => {
            assert!(refused[0].contains("job 'parent' has: that has 3 and this one 2"), "{refused:?}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(registry.get("/child").await.unwrap(), None);
}

#[tokio::test]
async fn jobs_that_would_wait_for_each_other_do_not_start() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let (handler, _runs) = reporter();
    let _b = scheduled(&environment, &registry, after("b", &["c"]), handler.clone()).await;
    let _c = scheduled(&environment, &registry, after("c", &["a when ended"]), handler.clone()).await;
    let configuration = after("a", &["x", "b"]).build().unwrap();
    let mut closing = ScheduleJobBootstrap::new(&environment, registry.clone(), configuration, handler).unwrap();
    match closing.schedule().await {
        Err(StartError::Unsupported { refused, .. }) => {
            assert!(refused[0].starts_with("depends-on: ") && refused[0].contains("a -> b -> c -> a"), "{refused:?}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(registry.get("/a").await.unwrap(), None);
}
