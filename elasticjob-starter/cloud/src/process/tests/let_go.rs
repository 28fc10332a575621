//! Items that a scheduler lets go of before they begin.

use super::*;
use crate::carrier::Permit;

/// How often an item is let go of while its states are read.
const TIMES: i64 = 300;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_is_let_go_of_is_known_in_each_moment() {
    let host = Host { scratch: Scratch::new(), memory: MemoryLimit::Off };
    let carrier = Arc::new(host.connect());
    // So that no item begins.
    let _all = carrier.shared.budget.occupy(carrier.shared.budget.total());
    let app = Arc::new(host.app("late", "true"));
    let job = json!({ "jobName": "late", "appName": "late", "jobExecutionType": "TRANSIENT", "cpuCount": 0.01,
                      "memoryMB": 16, "shardingTotalCount": 1 });
    let job = Arc::new(CarriedJob::from_json(job).unwrap());
    for at in 0..TIMES {
        let id = LaunchId { job: job.job_name.clone(), fire: Fire::Scheduled(at) };
        let permit = Permit::default();
        let item = LaunchItem { permit: permit.clone(), ..LaunchItem::new(0, None) };
        carrier.launch(Launch::new(id.clone(), vec![item], app.clone(), job.clone())).await.unwrap();
        let (reader, of) = (carrier.clone(), id.clone());
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
