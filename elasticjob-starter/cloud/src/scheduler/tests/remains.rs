//! What stays of launches.

use elasticjob::fire::Fire;

use super::*;
use crate::carrier::LaunchItem;

impl Away {
    /// Runs an item to its end, as an earlier scheduler did.
    async fn play(&self, app: &Value, job: &Value, fire: Fire) -> LaunchId {
        let (app, job) = (App::from_json(app.clone()).unwrap(), CarriedJob::from_json(job.clone()).unwrap());
        let id = LaunchId { job: job.job_name.clone(), fire };
        let items = vec![LaunchItem { item: 0, fencing_token: None }];
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
