//! Items that a scheduler lets go of before they begin.

use super::*;
use crate::carrier::Permit;

/// How often an item is let go of while its states are read.
const TIMES: i64 = 300;

/// A launch of an item, and the permit of the item.
fn launch_of(host: &Host, at: i64) -> (Launch, Permit) {
    let app = Arc::new(host.app("late", "true"));
    let job = json!({ "jobName": "late", "appName": "late", "jobExecutionType": "TRANSIENT", "cpuCount": 0.01,
                      "memoryMB": 16, "shardingTotalCount": 1 });
    let job = Arc::new(CarriedJob::from_json(job).unwrap());
    let permit = Permit::default();
    let item = LaunchItem { permit: permit.clone(), ..LaunchItem::new(0, None) };
    (Launch::new(LaunchId { job: job.job_name.clone(), fire: Fire::Scheduled(at) }, vec![item], app, job), permit)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_is_let_go_of_is_known_in_each_moment() {
    let host = Host { scratch: Scratch::new(), memory: MemoryLimit::Off };
    let carrier = Arc::new(host.connect());
    // So that no item begins.
    let _all = carrier.shared.budget.occupy(carrier.shared.budget.total());
    for at in 0..TIMES {
        let (launch, permit) = launch_of(&host, at);
        let (reader, of) = (carrier.clone(), launch.id.clone());
        carrier.launch(launch).await.unwrap();
        let reading = tokio::spawn(async move {
            loop {
                let states = reader.states(&of).await.unwrap();
                match states.as_ref().and_then(|states| states.get(&0)) {
                    Some(ItemState::LetGo) => return,
                    Some(ItemState::Waiting { .. }) => {}
                    _ => panic!("{of}: {states:?}"),
                }
            }
        });
        tokio::task::yield_now().await;
        permit.withdraw();
        tokio::time::timeout(std::time::Duration::from_secs(60), reading).await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_whose_lock_is_taken_and_given_back_is_started() {
    let host = Host { scratch: Scratch::new(), memory: MemoryLimit::Off };
    let carrier = host.connect();
    let (launch, _) = launch_of(&host, 0);
    let claim = carrier.shared.slot(&launch.id, &launch.job, &launch.app, 0).claim().unwrap().unwrap();
    carrier.launch(launch.clone()).await.unwrap();
    // It is looked at meanwhile, each 100 ms.
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    drop(claim);
    let ended = async {
        loop {
            let states = carrier.states(&launch.id).await.unwrap().unwrap();
            if let Some(ItemState::Ended { outcome, .. }) = states.get(&0) {
                return outcome.clone();
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    assert_eq!(tokio::time::timeout(std::time::Duration::from_secs(60), ended).await.unwrap(), Outcome::Succeeded);
}
