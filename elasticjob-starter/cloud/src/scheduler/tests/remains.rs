//! The remains of launches: in the carrier, and as notes in the registry center.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use elasticjob::fire::Fire;
use elasticjob::registry::{CreateMode, Transaction};

use super::*;
use crate::carrier::LaunchItem;
use crate::scheduler::nodes::{CARRIED, LAUNCHED};

impl Away {
    /// Runs an item to its end, as an earlier scheduler did.
    async fn play(&self, app: &Value, job: &Value, fire: Fire) -> LaunchId {
        let (app, job) = (App::from_json(app.clone()).unwrap(), CarriedJob::from_json(job.clone()).unwrap());
        let id = LaunchId { job: job.job_name.clone(), fire };
        let items = vec![LaunchItem::new(0, None)];
        self.carrier.launch(Launch::new(id.clone(), items, Arc::new(app), Arc::new(job))).await.unwrap();
        until("it has ended", || async {
            let states = self.carrier.states(&id).await.unwrap().unwrap_or_default();
            states.get(&0).is_some_and(|state| state.outcome().is_some())
        })
        .await;
        id
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn launches_of_earlier_schedulers_are_forgotten_also_where_the_carrier_was_away_at_the_start() {
    let cluster = Cluster::new();
    let away = Arc::new(Away::of(&cluster));
    let (app, quick) = (cluster.app("quick", "true"), job("quick", "quick", json!({})));
    let mut earlier = Vec::new();
    for at in 0..11 {
        earlier.push(away.play(&app, &quick, Fire::Scheduled(at)).await);
    }
    away.is_deaf.store(true, Ordering::SeqCst);
    let one = cluster.scheduler_with(away.clone()).await;
    until("the carrier has not answered twice", || async { away.asked.load(Ordering::SeqCst) >= 2 }).await;
    away.is_deaf.store(false, Ordering::SeqCst);
    let asked = away.asked.load(Ordering::SeqCst);
    until("the carrier has answered", || async { away.asked.load(Ordering::SeqCst) > asked }).await;
    one.register(app, quick).await;
    one.trigger("quick").await;
    one.until_last("quick", FireState::Succeeded).await;
    until("the oldest ones are forgotten", || async {
        let known = away.carrier.launches().await.unwrap();
        earlier.iter().filter(|id| known.contains(id)).count() == 9
    })
    .await;
    assert_eq!(away.asked.load(Ordering::SeqCst), asked + 1, "it is not asked again once it has answered");
    one.scheduler.shutdown().await;
}

impl Member {
    /// The items of which a launch is noted.
    async fn noted(&self, job: &str) -> Option<Vec<String>> {
        let node = self.center.get(&format!("{LAUNCHED}/{job}")).await.unwrap()?;
        let note: Value = serde_json::from_str(node.data.text().unwrap()).unwrap();
        Some(note.as_object().unwrap().keys().cloned().collect())
    }

    /// Runs all items, each to its end.
    async fn play(&self, job: &str) {
        let fire = async || self.record(job).await?.last_fire();
        let before = fire().await;
        let begun = || until("it is begun", || async { fire().await != before });
        self.trigger(job).await;
        // A trigger is left out, with a line in the log, in the moment in which the run of before has ended in the registry center
        // and its scheduler does not know that yet.
        if tokio::time::timeout(Duration::from_secs(2), begun()).await.is_err() {
            self.trigger(job).await;
            begun().await;
        }
        self.until_last(job, FireState::Succeeded).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_note_of_a_launch_is_left_of_a_job_that_is_removed_alone_or_with_its_app() {
    for with_app in [false, true] {
        let cluster = Cluster::new();
        let one = cluster.scheduler("a").await;
        one.register(cluster.app("quick", "true"), job("quick", "quick", json!({}))).await;
        one.play("quick").await;
        assert_eq!(one.noted("quick").await, Some(vec!["0".to_owned()]));
        match with_app {
            true => one.scheduler.store().remove_app("quick").await.unwrap(),
            false => one.scheduler.store().remove_job(&name("quick")).await.unwrap(),
        }
        assert_eq!(one.noted("quick").await, None, "with its app: {with_app}");
        one.scheduler.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_note_of_an_item_that_a_job_has_no_more_goes_when_its_process_has_ended() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    let script = format!("[ $ELASTICJOB_SHARDING_ITEM = 0 ] && exit 0; {UNTIL_TOLD}");
    one.register(cluster.app("fewer", &script), job("fewer", "fewer", json!({ "shardingTotalCount": 2 }))).await;
    one.play("fewer").await;
    until("item 1 runs", || async { cluster.lines("runs").len() == 1 }).await;
    one.scheduler.store().change_job(json!({ "jobName": "fewer", "shardingTotalCount": 1 })).await.unwrap();
    let is_changed = || async {
        let snapshot = one.operations().snapshot(&name("fewer")).await.unwrap();
        let configuration = snapshot.configuration.as_ref().and_then(|it| it.as_ref().ok());
        configuration.is_some_and(|it| it.sharding_total_count() == 1) && snapshot.instances().count() == 1
    };
    until("the change is in force", is_changed).await;
    one.play("fewer").await;
    assert_eq!(one.noted("fewer").await, Some(vec!["0".to_owned(), "1".to_owned()]), "item 1 still runs");
    fs::write(cluster.file("end"), "").unwrap();
    until("it has ended", || async { one.running("fewer").await == 0 }).await;
    one.play("fewer").await;
    assert_eq!(one.noted("fewer").await, Some(vec!["0".to_owned()]));
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_note_of_an_item_that_a_job_has_no_more_goes_when_its_place_has_not_known_the_launch_for_long() {
    let hour_ago = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() - 3_600_000;
    for (at, elsewhere, stays) in [(1_000, false, false), (1_000, true, true), (hour_ago, false, true)] {
        let cluster = Cluster::new();
        let one = cluster.scheduler("a").await;
        one.register(cluster.app("quick", "true"), job("quick", "quick", json!({}))).await;
        let mut notes = Transaction::new();
        let launched = json!({ "1": format!("quick/scheduled@{at}") }).to_string();
        notes.create(format!("{LAUNCHED}/quick"), launched.as_str(), CreateMode::Persistent);
        if elsewhere {
            notes.create(format!("{CARRIED}/0123456789abcdef-quick"), "", CreateMode::Persistent);
        }
        one.center.commit(notes).await.unwrap();
        one.play("quick").await;
        let items = if stays { vec!["0".to_owned(), "1".to_owned()] } else { vec!["0".to_owned()] };
        assert_eq!(one.noted("quick").await, Some(items), "at {at}, elsewhere: {elsewhere}");
        one.scheduler.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_removed_job_runs_is_forgotten_when_it_has_ended_and_not_asked_for_before() {
    let cluster = Cluster::new();
    let away = Arc::new(Away::of(&cluster));
    let one = cluster.scheduler_with(away.clone()).await;
    // Longer than the pause after which a carrier that is away is asked again.
    let script = "trap 'sleep 7; exit 0' TERM; echo begun >>$DIR/runs; while :; do sleep 0.05; done";
    let slow = job("slow", "slow", json!({ "gracePeriodSeconds": 60 }));
    one.register(cluster.app("slow", script), slow).await;
    one.trigger("slow").await;
    until("it runs", || async { cluster.lines("runs").len() == 1 }).await;
    let asked = away.asked.load(Ordering::SeqCst);
    one.scheduler.store().remove_job(&name("slow")).await.unwrap();
    until("it is forgotten", || async { away.carrier.launches().await.unwrap().is_empty() }).await;
    // To stop it, to see that it still runs, and to forget it.
    assert_eq!(away.asked.load(Ordering::SeqCst) - asked, 3);
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_launch_that_outlives_the_removal_of_its_job_is_forgotten_like_those_of_the_next_job_of_its_name() {
    let cluster = Cluster::new();
    let away = Arc::new(Away::of(&cluster));
    let one = cluster.scheduler_with(away.clone()).await;
    let long = job("long", "long", json!({ "gracePeriodSeconds": 60 }));
    one.register(cluster.app("long", DEAF_UNTIL_TOLD), long.clone()).await;
    one.trigger("long").await;
    until("it runs", || async { cluster.lines("runs").len() == 1 }).await;
    let known = async || away.carrier.launches().await.unwrap();
    let first = known().await.remove(0);
    // Until the one before has left, its instance is online, and a trigger for it would be dropped.
    let is_scheduled = || one.scheduler.scheduled.borrow().contains_key(&name("long"));
    one.scheduler.store().remove_job(&name("long")).await.unwrap();
    until("it is stopped", || async { !is_scheduled() }).await;
    one.scheduler.store().add_job(long).await.unwrap();
    until("it is scheduled again", || async { is_scheduled() }).await;
    fs::write(cluster.file("end"), "").unwrap();
    // A trigger beside its run would be left out, with a line in the log.
    one.until_last("long", FireState::Succeeded).await;
    for _ in 0..10 {
        assert!(known().await.contains(&first));
        one.play("long").await;
    }
    until("the oldest one is forgotten", || async { !known().await.contains(&first) }).await;
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scheduler_starts_and_runs_jobs_beside_a_carrier_that_does_not_list_its_launches() {
    let cluster = Cluster::new();
    let silent = Arc::new(Away::of(&cluster));
    silent.is_silent.store(true, Ordering::SeqCst);
    let one = cluster.scheduler_with(silent.clone()).await;
    one.register(cluster.app("quick", "true"), job("quick", "quick", json!({}))).await;
    one.trigger("quick").await;
    one.until_last("quick", FireState::Succeeded).await;
    one.scheduler.shutdown().await;
}
