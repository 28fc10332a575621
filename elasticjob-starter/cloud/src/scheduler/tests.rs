use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use elasticjob::fire::{CancelRequest, ExecutionSource, Fire, FireState};
use elasticjob::operations::JobState;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{RegistryCenter, SessionState, Transaction};
use elasticjob::runtime::JobEnvironment;
use serde_json::{Value, json};

use super::nodes::LAUNCHED;
use super::{ItemTask, Scheduler, SchedulerOptions, StoreError};
use crate::carrier::{Carrier, ItemState, Launch, LaunchId};
use crate::model::{App, CarriedJob};
use crate::process::{ProcessCarrier, ProcessOptions};
use away::Away;
use cluster::{Cluster, Member, job, name, until};

pub(crate) mod away;
mod cluster;
mod daemons;
mod depends;
mod embedded;
mod failing_daemons;
mod leaving;
#[cfg(feature = "kubernetes")]
mod left_behind;
#[cfg(feature = "kubernetes")]
mod lost_answers;
mod lost_places;
mod news;
mod not_given;
mod one_carrier;
mod remains;
mod removal;
mod stops;
mod time_limits;
mod triggers;
mod unreadable;
mod unstartable;
mod waiting_launches;
mod withdrawn;

/// Says that it runs, and runs until the test lets it end.
const UNTIL_TOLD: &str = "echo begun >>$DIR/runs; while [ -d $DIR ] && [ ! -e $DIR/end ]; do sleep 0.05; done";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registered_job_fires_and_its_items_run_as_processes() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let app = cluster.app("hello", "echo \"$ELASTICJOB_SHARDING_ITEM $ELASTICJOB_SHARDING_PARAMETER\" >>$DIR/items");
    let more = json!({ "cron": "* * * * * ?", "shardingTotalCount": 2, "shardingItemParameters": "0=a,1=b" });
    one.register(app, job("hello", "hello", more)).await;
    until("both items ran twice", || async {
        let lines = cluster.lines("items");
        ["0 a", "1 b"].iter().all(|item| lines.iter().filter(|line| line == item).count() >= 2)
    })
    .await;
    one.until_last("hello", FireState::Succeeded).await;
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_item_says_in_its_record_why() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let app = cluster.app("bad", "echo 'the table is locked' >&2; exit 3");
    one.register(app, job("bad", "bad", json!({}))).await;
    one.trigger("bad").await;
    let error = one.until_last("bad", FireState::Failed).await.unwrap();
    assert_eq!(error, "it ended with exit code 3: the table is locked");
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_a_scheduler_loses_its_session_another_one_adopts_what_it_launched() {
    let cluster = Cluster::new();
    let members = [cluster.scheduler("a").await, cluster.scheduler("a").await];
    members[0].register(cluster.app("long", UNTIL_TOLD), job("long", "long", json!({}))).await;
    until("both are online", || async {
        members[0].operations().snapshot(&name("long")).await.unwrap().instances().count() == 2
    })
    .await;
    members[0].trigger("long").await;
    until("it runs", || async { cluster.lines("runs").len() == 1 }).await;
    let snapshot = members[0].operations().snapshot(&name("long")).await.unwrap();
    let first = snapshot.items[&0].record.last.clone().unwrap();
    for member in &members {
        let session = *member.center.session().borrow();
        if let SessionState::Connected { id, .. } = session
            && first.attempt.is_of(id)
        {
            cluster.registry.expire(id);
        }
    }
    until("another begin", || async {
        let snapshot = members[1].operations().snapshot(&name("long")).await.unwrap();
        snapshot.items[&0].record.last.as_ref().is_some_and(|last| last.attempt != first.attempt)
    })
    .await;
    fs::write(cluster.file("end"), "").unwrap();
    members[1].until_last("long", FireState::Succeeded).await;
    assert_eq!(cluster.lines("runs"), ["begun"]);
    for member in members {
        member.scheduler.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_host_launched_is_lost_where_it_may_not_run_twice() {
    for (failover, state, runs) in [(false, FireState::Failed, 1), (true, FireState::Succeeded, 2)] {
        let cluster = Cluster::new();
        let first = cluster.scheduler("a").await;
        first.register(cluster.app("once", UNTIL_TOLD), job("once", "once", json!({ "failover": failover }))).await;
        first.trigger("once").await;
        until("it runs", || async { cluster.lines("runs").len() == 1 }).await;
        let second = cluster.scheduler("b").await;
        until("both are online", || async {
            second.operations().snapshot(&name("once")).await.unwrap().instances().count() == 2
        })
        .await;
        first.scheduler.shutdown().await;
        if failover {
            until("it runs again", || async { cluster.lines("runs").len() == 2 }).await;
        }
        fs::write(cluster.file("end"), "").unwrap();
        let error = second.until_last("once", state).await;
        assert_eq!(error.is_some_and(|why| why.contains("it was lost")), !failover);
        assert_eq!(cluster.lines("runs").len(), runs);
        second.scheduler.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_is_disabled_or_removed_has_its_processes_stopped() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    cluster.run_long(&one).await;
    let store = one.scheduler.store();
    store.switch_job(&name("long"), false).await.unwrap();
    until("it is stopped", || async { one.running("long").await == 0 }).await;
    until("no instance is online", || async {
        one.operations().snapshot(&name("long")).await.unwrap().instances().count() == 0
    })
    .await;
    let is_told = async || {
        let (state, error) = one.last("long").await.unwrap();
        assert!(state == FireState::Failed && error.unwrap().contains("its job was disabled or removed"));
    };
    is_told().await;
    assert_eq!(one.operations().job(&name("long")).await.unwrap().status, JobState::Disabled);
    store.switch_job(&name("long"), true).await.unwrap();
    until("it is scheduled again", || async {
        one.operations().snapshot(&name("long")).await.unwrap().instances().count() == 1
    })
    .await;
    is_told().await;
    assert!(
        one.record("long").await.unwrap().last.unwrap().source == ExecutionSource::NormalTrigger,
        "it is not taken over"
    );
    store.remove_job(&name("long")).await.unwrap();
    until("its nodes are removed", || async { one.operations().snapshot(&name("long")).await.is_err() }).await;
    assert!(matches!(store.remove_job(&name("long")).await, Err(StoreError::NoSuchJob(_))));
    store.remove_app("long").await.unwrap();
    assert!(store.registrations().await.unwrap().apps.is_empty());
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_that_the_carrier_does_not_take_is_tried_again_until_it_is_done() {
    for is_removed in [false, true] {
        let cluster = Cluster::new();
        let away = Arc::new(Away::of(&cluster));
        let one = cluster.scheduler_with(away.clone()).await;
        cluster.run_long(&one).await;
        away.is_away.store(true, Ordering::SeqCst);
        match is_removed {
            true => one.scheduler.store().remove_job(&name("long")).await.unwrap(),
            false => one.scheduler.store().switch_job(&name("long"), false).await.unwrap(),
        }
        until("the stop is not taken", || async { away.refused.load(Ordering::SeqCst) > 0 }).await;
        assert_eq!(one.running("long").await, 1);
        away.is_away.store(false, Ordering::SeqCst);
        until("it is stopped", || async { one.running("long").await == 0 }).await;
        if is_removed {
            until("its nodes are removed", || async { one.operations().snapshot(&name("long")).await.is_err() }).await;
        }
        one.scheduler.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_keeps_the_other_fields_and_what_runs() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    one.register(cluster.app("long", UNTIL_TOLD), job("long", "long", json!({ "description": "before" }))).await;
    one.trigger("long").await;
    until("it runs", || async { cluster.lines("runs").len() == 1 }).await;
    let store = one.scheduler.store();
    store.change_job(json!({ "jobName": "long", "description": "after" })).await.unwrap();
    until("the change is in force", || async {
        let snapshot = one.operations().snapshot(&name("long")).await.unwrap();
        let configuration = snapshot.configuration.as_ref().and_then(|it| it.as_ref().ok());
        configuration.and_then(|it| it.settings().description).as_deref() == Some("after")
            && snapshot.instances().count() == 1
    })
    .await;
    fs::write(cluster.file("end"), "").unwrap();
    one.until_last("long", FireState::Succeeded).await;
    assert_eq!(cluster.lines("runs"), ["begun"]);
    store.change_app(json!({ "appName": "long", "appCacheEnable": false })).await.unwrap();
    let app = store.registrations().await.unwrap().apps["long"].clone();
    assert!(!app.app_cache_enable && app.bootstrap_script == "long.sh");
    one.scheduler.shutdown().await;
}

/// Goes on when it is asked to end, until the test lets it end, and says when it does.
const DEAF_UNTIL_TOLD: &str = "trap '' TERM; echo begun >>$DIR/runs; while [ -d $DIR ] && [ ! -e $DIR/end ]; do sleep 0.05; done; \
                               echo ended >>$DIR/runs";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_is_launched_when_a_cancelled_run_has_ended_also_that_of_an_earlier_scheduler() {
    for restarts in [false, true] {
        let cluster = Cluster::new();
        let mut member = cluster.scheduler("a").await;
        let long = job("long", "long", json!({ "gracePeriodSeconds": 60 }));
        member.register(cluster.app("long", DEAF_UNTIL_TOLD), long).await;
        member.trigger("long").await;
        until("it runs", || async { cluster.lines("runs").len() == 1 }).await;
        member.operations().cancel(&name("long"), None, &CancelRequest::new("operator", "it is wrong")).await.unwrap();
        until("it is recorded", || async {
            member.last("long").await.is_some_and(|(state, _)| state != FireState::Running)
        })
        .await;
        let registered = member.scheduler.registrations().borrow().jobs[&name("long")].clone();
        until("its process is listed as one that is being stopped", || async {
            let task = member.scheduler.tasks(&registered).await.unwrap().items.remove(&0);
            matches!(task, Some(ItemTask::Running { stopping: true, .. }))
        })
        .await;
        if restarts {
            member.scheduler.shutdown().await;
            member = cluster.scheduler("a").await;
            until("an instance is online", || async {
                member.operations().snapshot(&name("long")).await.is_ok_and(|job| job.instances().count() > 0)
            })
            .await;
        }
        member.trigger("long").await;
        until("it says what it waits for", || async {
            let snapshot = member.operations().snapshot(&name("long")).await.unwrap();
            let fire = snapshot.items[&0].record.last_fire();
            let id = fire.map(|fire| LaunchId { job: name("long"), fire });
            id.is_some_and(|id| matches!(member.scheduler.launches.waiting(&id).get(&0), Some(ItemState::Waiting { why, .. }) if why.contains("has not ended")))
        })
        .await;
        assert_eq!(cluster.lines("runs"), ["begun"], "restarts: {restarts}");
        fs::write(cluster.file("end"), "").unwrap();
        member.until_last("long", FireState::Succeeded).await;
        assert_eq!(cluster.lines("runs"), ["begun", "ended", "begun", "ended"], "restarts: {restarts}");
        member.scheduler.shutdown().await;
    }
}

#[tokio::test]
async fn carriers_are_told_the_registry_center_by_what_no_other_one_has() {
    let centers = async |cluster: &Cluster| {
        let carriers = [Arc::new(Away::of(cluster)), Arc::new(Away::of(cluster))];
        for carrier in &carriers {
            cluster.scheduler_with(carrier.clone()).await.scheduler.shutdown().await;
        }
        carriers.map(|carrier| carrier.center.get().cloned().unwrap())
    };
    let cluster = Cluster::new();
    let [first, second] = centers(&cluster).await;
    assert_eq!(first, second);
    until("a center of a later time is another one", || async {
        let [other, _] = centers(&Cluster::new()).await;
        other != first
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_registered_is_refused_with_every_reason() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let store = one.scheduler.store();
    let app = cluster.app("a", "true");
    store.add_app(app.clone()).await.unwrap();
    assert!(matches!(store.add_app(app).await, Err(StoreError::AppExists(_))));
    assert!(matches!(store.add_job(job("j", "b", json!({}))).await, Err(StoreError::NoSuchApp(_))));
    assert!(matches!(store.add_job(job("config", "a", json!({}))).await, Err(StoreError::Invalid(_))));
    let too_much = json!({ "cpuCount": 100_000, "memoryMB": 1e12, "queueName": "q" });
    let Err(StoreError::Invalid(problems)) = store.add_job(job("j", "a", too_much)).await else {
        panic!("it is refused")
    };
    let fields: Vec<&str> = problems.0.iter().map(|problem| problem.field.as_str()).collect();
    assert_eq!(fields, ["cpuCount", "memoryMB", "queueName"]);
    store.add_job(job("j", "a", json!({}))).await.unwrap();
    assert!(matches!(store.add_job(job("j", "a", json!({}))).await, Err(StoreError::JobExists(_))));
    assert!(matches!(store.change_job(json!({ "jobName": "none" })).await, Err(StoreError::NoSuchJob(_))));
    assert!(matches!(store.change_app(json!({ "appName": "a", "cpuCount": -1 })).await, Err(StoreError::Invalid(_))));
    // What an application needs counts with each of its jobs.
    let Err(StoreError::Invalid(problems)) = store.change_app(json!({ "appName": "a", "cpuCount": 100_000 })).await
    else {
        panic!("it is refused")
    };
    assert_eq!(problems.0.len(), 1);
    assert!(problems.0[0].field == "cpuCount" && problems.0[0].reason.as_str().contains("job 'j'"), "{problems}");
    // What is the same for several jobs is told once.
    for (more, named) in [(1, "jobs 'j', 'j1': "), (6, "jobs 'j', 'j1', 'j2', 'j3', 'j4' and 2 more: ")] {
        for number in 1..=more {
            let _ = store.add_job(job(&format!("j{number}"), "a", json!({}))).await;
        }
        let Err(StoreError::Invalid(problems)) = store.change_app(json!({ "appName": "a", "cpuCount": 100_000 })).await
        else {
            panic!("it is refused")
        };
        assert_eq!(problems.0.len(), 1, "{problems}");
        assert!(problems.0[0].reason.as_str().starts_with(named), "{problems}");
    }
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_items_that_an_operator_cancelled_are_asked_to_end_before_the_first_one_has() {
    let cluster = Cluster::new();
    let away = Arc::new(Away::of_host(&cluster, "a"));
    let member = cluster.scheduler_with(away.clone()).await;
    let deaf = "trap 'echo asked >>$DIR/asked' TERM; echo begun >>$DIR/runs; while [ -d $DIR ] && [ ! -e $DIR/end ]; do sleep 0.05; done";
    let long = job("long", "long", json!({ "gracePeriodSeconds": 60, "shardingTotalCount": 3 }));
    member.register(cluster.app("long", deaf), long).await;
    member.trigger("long").await;
    until("all items run", || async { cluster.lines("runs").len() == 3 }).await;
    // The next scheduler knows no stop of them, as its carrier took none.
    away.is_away.store(true, Ordering::SeqCst);
    member.operations().cancel(&name("long"), None, &CancelRequest::new("operator", "it is wrong")).await.unwrap();
    until("no stop is taken", || async { away.refused.load(Ordering::SeqCst) >= 3 }).await;
    until("their ends are recorded", || async {
        let snapshot = member.operations().snapshot(&name("long")).await.unwrap();
        snapshot.items.values().all(|item| item.record.running().is_none())
    })
    .await;
    member.scheduler.shutdown().await;
    let next = cluster.scheduler("a").await;
    until("an instance is online", || async {
        next.operations().snapshot(&name("long")).await.is_ok_and(|job| job.instances().count() > 0)
    })
    .await;
    next.trigger("long").await;
    until("all items are asked to end", || async { cluster.lines("asked").len() == 3 }).await;
    assert!(!cluster.file("end").exists());
    fs::write(cluster.file("end"), "").unwrap();
    next.until_last("long", FireState::Succeeded).await;
    next.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fire_that_a_later_one_has_overtaken_is_not_launched_any_more() {
    let cluster = Cluster::new();
    let away = Arc::new(Away::of(&cluster));
    let one = cluster.scheduler_with(away.clone()).await;
    one.register(cluster.app("long", "echo begun >>$DIR/runs"), job("long", "long", json!({}))).await;
    away.is_unreachable.store(true, Ordering::SeqCst);
    one.trigger("long").await;
    until("the launch is not taken", || async { away.unlaunched.load(Ordering::SeqCst) > 0 }).await;
    // While this scheduler stands still, another one launches the item for a later fire, and that one is forgotten again.
    let later = LaunchId { job: name("long"), fire: Fire::manual(99, i64::MAX, None) };
    let mut transaction = Transaction::new();
    let note = json!({ "0": format!("{later} {}", i64::MAX) }).to_string();
    transaction.set(format!("{LAUNCHED}/long"), note.as_str(), None);
    one.center.commit(transaction).await.unwrap();
    away.is_unreachable.store(false, Ordering::SeqCst);
    let error = one.until_last("long", FireState::Failed).await.unwrap();
    assert!(error.contains("a later run"), "{error}");
    assert_eq!(cluster.lines("runs"), [""; 0]);
    one.scheduler.shutdown().await;
}
